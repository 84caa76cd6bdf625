// The graph in layers, causes above effects: drag variables, pan, zoom, walk along edges with the arrow keys.

import { createCamera } from "./camera.js";
import { TALL, edgeShapes, headLength, looks, uprightPath } from "./edges.js";
import { otherEnd, reached } from "./relations.js";
import { element, refill, shape, shortened, widthOf } from "./text.js";

const SMALLEST = 12;
const TEXT = 14;

/** Draw into a box; gives { zoom(factor), fit(), focus(j) }. `tip` shows words beside the pointer. */
export function drawGraph(box, state, tip) {
  const { doc } = state;
  if (!doc.layout) {
    refill(
      box,
      element(
        "p",
        { class: "empty" },
        `A picture of ${doc.names.length.toLocaleString("en")} variables at once shows nothing. The neighbourhood shows one of them with all that is joined to it, the matrix shows all pairs.`,
      ),
    );
    return { zoom() {}, fit() {}, focus() {}, update() {} };
  }
  const labels = doc.names.map((name) => shortened(name, 18));
  const half = labels.map((label) => Math.max(widthOf(label) / 2 + 12, 28));
  const place = doc.names.map((name, j) => state.places.get(name) ?? doc.layout.places[j]);
  const moved = doc.names.map((name) => state.places.has(name));
  const routes = new Map(
    doc.layout.routes.map(([a, b, ...flat]) => [`${a},${b}`, flat.flatMap((x, i) => (i % 2 ? [] : [[x, flat[i + 1]]]))]),
  );
  const edgeLayer = shape("g", { class: "edges" }),
    nodeLayer = shape("g", { class: "nodes" });
  const world = shape("g", {}, edgeLayer, nodeLayer);
  const svg = shape(
    "svg",
    { class: "graph", role: "group", "aria-label": "Graph, causes above effects. Arrow keys walk along its edges." },
    world,
  );
  refill(box, svg);
  let nodes = [],
    current = doc.order[0];

  const rank = new Map(doc.order.map((j, at) => [j, at]));
  const camera = createCamera(svg, world, (scale) => nodeLayer.setAttribute("font-size", Math.max(TEXT, SMALLEST / scale).toFixed(2)));

  function fit() {
    const xs = place.map((spot) => spot[0]),
      ys = place.map((spot) => spot[1]);
    const sides = {
      left: Math.min(...xs.map((x, j) => x - half[j])),
      right: Math.max(...xs.map((x, j) => x + half[j])),
      top: Math.min(...ys) - TALL,
      bottom: Math.max(...ys) + TALL,
    };
    camera.fit(sides, place[doc.order[0]][0], SMALLEST / TEXT, 1.1);
  }

  /** Where the edges of every variable meet its box: side by side, in the order of their other ends. */
  function ports() {
    const found = new Map();
    for (const [side, lists] of [
      ["in", state.relations.into],
      ["out", state.relations.out],
    ]) {
      lists.forEach((list, j) => {
        const sorted = [...list].sort((a, b) => nextPoint(a, j)[0] - nextPoint(b, j)[0]);
        const step = Math.min(15, (2 * half[j] - 20) / Math.max(sorted.length - 1, 1));
        sorted.forEach((k, at) => found.set(`${side}${k}`, (at - (sorted.length - 1) / 2) * step));
      });
    }
    return found;
  }

  function route(k) {
    const a = doc.pairs.source[k],
      b = doc.pairs.target[k];
    return moved[a] || moved[b] ? null : (routes.get(`${a},${b}`) ?? null);
  }

  function nextPoint(k, j) {
    const way = route(k);
    if (!way) return place[otherEnd(doc, k, j)];
    return doc.pairs.source[k] === j ? way[1] : way[way.length - 2];
  }

  function edge(k, port, extra = "") {
    const { source, target, kind } = doc.pairs;
    const a = source[k],
      b = target[k],
      look = looks(doc, k),
      long = look.head ? headLength(look.width) : 0;
    const [xa, ya] = place[a],
      [xb, yb] = place[b];
    let parts;
    if (yb - ya > TALL + 24) {
      const x0 = xa + (port.get(`out${k}`) ?? 0),
        x1 = xb + (port.get(`in${k}`) ?? 0);
      const between = (route(k) ?? []).slice(1, -1);
      const points = [[x0, ya + TALL / 2], ...between, [x1, yb - TALL / 2 - long]];
      parts = edgeShapes(doc, k, uprightPath(points), x1, yb - TALL / 2, Math.PI / 2);
    } else {
      const dx = xb - xa,
        dy = yb - ya,
        length = Math.hypot(dx, dy) || 1;
      const bow = Math.min(60, 0.25 * length) * (yb < ya ? -1 : 1);
      const cx = (xa + xb) / 2 - (dy / length) * bow,
        cy = (ya + yb) / 2 + (dx / length) * bow;
      const [x0, y0] = border(a, cx, cy),
        [x1, y1] = border(b, cx, cy);
      const angle = Math.atan2(y1 - cy, x1 - cx);
      const end = [x1 - long * Math.cos(angle), y1 - long * Math.sin(angle)];
      const path = `M${x0.toFixed(1)},${y0.toFixed(1)} Q${cx.toFixed(1)},${cy.toFixed(1)} ${end.map((z) => z.toFixed(1))}`;
      parts = edgeShapes(doc, k, path, x1, y1, angle);
    }
    return shape(
      "g",
      {
        class: `edge ${kind[k]} ${extra}`,
        "data-pair": k,
        onpointerenter: (event) => {
          state.set({ hovered: { pair: k } });
          tip.show(event, { pair: k });
        },
        onpointermove: (event) => tip.move(event),
        onpointerleave: () => {
          state.set({ hovered: null });
          tip.hide();
        },
        onclick: () => state.set({ chosen: { pair: k } }),
      },
      ...parts,
    );
  }

  /** Where a line from the middle of a variable's box to a point leaves the box. */
  function border(j, x, y) {
    const [px, py] = place[j],
      dx = x - px,
      dy = y - py;
    const share = 1 / Math.max(Math.abs(dx) / (half[j] + 2), Math.abs(dy) / (TALL / 2 + 2), 1e-9);
    return share >= 1 ? [x, y] : [px + dx * share, py + dy * share];
  }

  function drawEdges() {
    const port = ports(),
      appeared = new Set(state.appeared);
    const gone = state.vanished.map((k) => edge(k, port, "gone"));
    const there = state.present.flatMap((is, k) => (is ? [edge(k, port, appeared.has(k) ? "appeared" : "")] : []));
    for (const one of gone) one.addEventListener("animationend", () => one.remove());
    refill(edgeLayer, ...gone, ...there);
    mark();
  }

  function drawNodes() {
    nodes = doc.names.map((name, j) => {
      const node = shape(
        "g",
        {
          class: "node",
          tabindex: j === current ? 0 : -1,
          role: "button",
          "data-variable": j,
          "aria-label": name,
          onpointerenter: (event) => {
            state.set({ hovered: { variable: j } });
            tip.show(event, { variable: j });
          },
          onpointermove: (event) => tip.move(event),
          onpointerleave: () => {
            state.set({ hovered: null });
            tip.hide();
          },
          onfocus: () => {
            current = j;
          },
        },
        shape("rect", { x: -half[j], y: -TALL / 2, width: 2 * half[j], height: TALL, rx: 8 }),
        shape("text", { "text-anchor": "middle", "dominant-baseline": "central", y: 1 }, labels[j]),
      );
      node.setAttribute("transform", `translate(${place[j][0]} ${place[j][1]})`);
      drag(node, j);
      return node;
    });
    refill(nodeLayer, ...nodes);
  }

  function drag(node, j) {
    let from = null;
    node.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.stopPropagation();
      node.setPointerCapture(event.pointerId);
      from = { x: event.clientX, y: event.clientY, place: [...place[j]], far: false };
    });
    node.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from.x,
        dy = event.clientY - from.y;
      if (!from.far && Math.hypot(dx, dy) < 5) return;
      from.far = true;
      tip.hide();
      place[j] = [from.place[0] + dx / camera.view.k, from.place[1] + dy / camera.view.k];
      moved[j] = true;
      state.places.set(doc.names[j], place[j]);
      node.setAttribute("transform", `translate(${place[j][0]} ${place[j][1]})`);
      requestAnimationFrame(drawEdges);
    });
    node.addEventListener("pointerup", () => {
      if (from && !from.far) choose(j);
      from = null;
    });
    node.addEventListener("pointercancel", () => {
      from = null;
    });
  }

  function choose(j) {
    current = j;
    nodes.forEach((node, i) => node.setAttribute("tabindex", i === j ? 0 : -1));
    state.set({ chosen: { variable: j } });
  }

  /** Bring out what is chosen or under the pointer, with all that leads to it and all it leads to. */
  function mark() {
    const what = state.hovered ?? state.chosen;
    svg.classList.toggle("calm", !what);
    const bright = new Set();
    if (what && what.variable !== undefined) {
      bright.add(what.variable);
      for (const j of reached(doc, state.relations, what.variable)) bright.add(j);
      for (const j of reached(doc, state.relations, what.variable, true)) bright.add(j);
      for (const k of state.relations.lines[what.variable]) bright.add(otherEnd(doc, k, what.variable));
    } else if (what) {
      bright.add(doc.pairs.source[what.pair]).add(doc.pairs.target[what.pair]);
    }
    nodes.forEach((node, j) => {
      node.classList.toggle("bright", bright.has(j));
      node.classList.toggle("chosen", state.chosen?.variable === j);
      node.setAttribute("aria-pressed", state.chosen?.variable === j);
    });
    for (const one of edgeLayer.children) {
      const k = Number(one.dataset.pair);
      const both = bright.has(doc.pairs.source[k]) && bright.has(doc.pairs.target[k]);
      one.classList.toggle("bright", what && what.pair !== undefined ? what.pair === k : both);
      one.classList.toggle("chosen", state.chosen?.pair === k);
    }
  }

  function focus(j) {
    current = j;
    camera.show(...place[j]);
  }

  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: "down", ArrowUp: "up", ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(current);
      return;
    }
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = walk(steps[event.key]);
    if (next === undefined) return;
    choose(next);
    focus(next);
    nodes[next].focus({ preventScroll: true });
  });

  /** The next variable downwards or upwards along an edge, or beside on the same layer. */
  function walk(step) {
    const by = (k) => Math.abs(doc.pairs.standardised?.[k] ?? 1);
    if (step === "down" || step === "up") {
      const edges = [...(step === "down" ? state.relations.out : state.relations.into)[current]].sort((a, b) => by(b) - by(a));
      const lines = state.relations.lines[current].filter(
        (k) => rank.get(otherEnd(doc, k, current)) > rank.get(current) === (step === "down"),
      );
      const k = edges[0] ?? lines[0];
      return k === undefined ? undefined : otherEnd(doc, k, current);
    }
    const row = doc.names
      .map((_, j) => j)
      .filter((j) => Math.abs(place[j][1] - place[current][1]) < TALL)
      .sort((a, b) => place[a][0] - place[b][0]);
    return row[row.indexOf(current) + step];
  }

  svg.addEventListener("click", (event) => {
    if (event.target === svg) state.set({ chosen: null });
  });

  svg.style.height = `${Math.round(Math.min(Math.max(doc.layout.height * 1.1 + 24, 300), Math.max(0.68 * innerHeight, 360)))}px`;
  drawNodes();
  drawEdges();
  fit();
  return {
    zoom: (factor) => camera.zoom(factor),
    fit,
    focus,
    update(changed) {
      if (changed.has("present")) drawEdges();
      else if (changed.has("chosen") || changed.has("hovered")) mark();
      if (changed.has("chosen") && state.chosen?.variable !== undefined) {
        nodes.forEach((node, i) => node.setAttribute("tabindex", i === state.chosen.variable ? 0 : -1));
        focus(state.chosen.variable);
      }
    },
  };
}
