// The graph in layers, causes above effects: drag variables, pan, zoom, walk along edges with the arrow keys.

import { createCamera } from "./camera.js";
import { keyOf } from "./changes.js";
import { BADGES, TALL, edgeShapes, headLength, looks } from "./edges.js";
import { shortened } from "./names.js";
import { categoryOf, otherEnd, reached } from "./relations.js";
import { element, refill, shape, widthOf } from "./text.js";
import { bowedWay, clearWay, freePlace, gapsBetween, passes, uprightWay } from "./ways.js";

const SMALLEST = 12;
const TEXT = 14;
const WALK = 450;
const OWN_HEAD = 11; // the length of the head of an arrow of the user's own
const MOST_CROSSINGS = 20000;

/** Draw into a box; gives { zoom(factor), fit(), focus(j), update(changed) }. `tip` shows words beside the pointer. */
export function drawGraph(box, state, tip) {
  if (!state.layout) return withoutLayout(box, state);
  let doc, labels, half, place, moved, rank, keys, current;
  let nodes = [];
  const edgeLayer = shape("g", { class: "edges" }),
    ownLayer = shape("g", { class: "own" }),
    nodeLayer = shape("g", { class: "nodes" });
  const world = shape("g", {}, edgeLayer, ownLayer, nodeLayer);
  const svg = shape(
    "svg",
    { class: "graph", role: "group", "aria-label": "Graph, causes above effects. Arrow keys walk along its edges." },
    world,
  );
  refill(box, svg);
  const camera = createCamera(svg, world, (view) => {
    state.camera = { ...view };
    nodeLayer.setAttribute("font-size", Math.max(TEXT, SMALLEST / view.k).toFixed(2));
  });

  /** The document that is shown now. Gives whether its variables are others than before. */
  function take() {
    const before = keys?.join("\n"),
      focused = keys?.[current];
    ({ doc } = state);
    keys = doc.names.map((_, j) => keyOf(doc, j));
    labels = doc.names.map((name) => shortened(name, 18));
    half = labels.map((label) => Math.max(widthOf(label) / 2 + 12, 28));
    rank = new Map(doc.order.map((j, at) => [j, at]));
    current = keys.includes(focused) ? keys.indexOf(focused) : doc.order[0];
    settlePlaces();
    return keys.join("\n") !== before;
  }

  /** The place of every variable: where the user has put it, where the layout has it, else a free one near its layer. */
  function settlePlaces() {
    const { places, layout } = state;
    const known = (key) => places.get(key) ?? layout.places.get(key);
    place = keys.map(known);
    const taken = () => place.flatMap((spot, j) => (spot ? [{ x: spot[0], y: spot[1], half: half[j] }] : []));
    keys.forEach((key, j) => {
      if (place[j]) return;
      place[j] = freePlace(wishOf(j), half[j], taken());
      places.set(key, place[j]);
    });
    moved = keys.map((key) => places.has(key));
  }

  /** Where a variable would stand, seen from those that have a place: by the document's own layout, else amid its neighbours. */
  function wishOf(j) {
    const { into, out, lines } = state.relations;
    const joined = [...into[j], ...out[j], ...lines[j]].map((k) => otherEnd(doc, k, j)).filter((i) => place[i]);
    const near = joined.length ? joined : doc.names.map((_, i) => i).filter((i) => place[i]);
    const own = doc.layout?.places;
    const mean = (of) => near.reduce((sum, i) => sum + of(i), 0) / Math.max(near.length, 1);
    const offset = (i, axis) => (own ? own[j][axis] - own[i][axis] : 0);
    return [0, 1].map((axis) => mean((i) => place[i][axis] + offset(i, axis)));
  }

  const wayKey = (a, b) => JSON.stringify([keys[a], keys[b]]);

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

  /** Whether an edge leaves the first of two for below (1) or above (−1), or sideways (0). */
  function side(a, b) {
    const down = place[b][1] - place[a][1];
    return Math.abs(down) > TALL + 24 ? Math.sign(down) : 0;
  }

  /** Where the edges of every variable meet its box, above and below: side by side, in the order of their other ends. */
  function ports() {
    const found = new Map();
    doc.names.forEach((_, j) => {
      const all = [...state.relations.into[j], ...state.relations.out[j]];
      for (const end of [-1, 1]) {
        const sorted = all
          .filter((k) => side(j, otherEnd(doc, k, j)) === end)
          .map((k) => [nextPoint(k, j)[0], k])
          .sort((one, other) => one[0] - other[0]);
        const step = Math.min(15, (2 * half[j] - 20) / Math.max(sorted.length - 1, 1));
        sorted.forEach(([, k], at) => found.set(`${j} ${k}`, (at - (sorted.length - 1) / 2) * step));
      }
    });
    return found;
  }

  /** The points that the layout has an edge pass, also one that has turned since; null where it says nothing. */
  function route(a, b) {
    if (moved[a] || moved[b]) return null;
    const { routes } = state.layout;
    return routes.get(wayKey(a, b)) ?? routes.get(wayKey(b, a))?.toReversed() ?? null;
  }

  function nextPoint(k, j) {
    const other = otherEnd(doc, k, j);
    return route(j, other)?.[1] ?? place[other];
  }

  const boxes = () => place.map(([x, y], j) => ({ left: x - half[j], right: x + half[j], top: y - TALL / 2, bottom: y + TALL / 2 }));

  /** How an edge runs: { path, points, x, y, angle } with the end of its head. The layout's own edges are clear of boxes already. */
  function wayOf({ from, k, source: a, target: b }, port, crossed) {
    const look = looks(from, k),
      long = look.head ? headLength(look.width) : 0;
    const [xa, ya] = place[a],
      [xb, yb] = place[b];
    const own = route(a, b),
      to = side(a, b);
    const others = own || !crossed ? [] : crossed.filter((_, j) => j !== a && j !== b);
    if (to) {
      const offset = (j) => (from === doc ? (port.get(`${j} ${k}`) ?? 0) : 0);
      const x0 = xa + offset(a),
        x1 = xb + offset(b),
        end = yb - (to * TALL) / 2;
      const through = (between) => uprightWay([[x0, ya + (to * TALL) / 2], ...between, [x1, end - to * long]]);
      let way = through(own ? own.slice(1, -1) : []);
      if (others.some((box) => passes(way.points, box)))
        way = through(gapsBetween([x0, ya + (to * TALL) / 2], [x1, end], others, 4 * (k % 3)));
      return { ...way, x: x1, y: end, angle: (to * Math.PI) / 2 };
    }
    return bowed(a, b, long, others);
  }

  /** A way straight from one variable to another, bowed where that keeps it clear of boxes. */
  function bowed(a, b, long, others) {
    const [xa, ya] = place[a],
      [xb, yb] = place[b];
    const dx = xb - xa,
      dy = yb - ya,
      length = Math.hypot(dx, dy) || 1;
    const usual = Math.min(60, 0.25 * length) * (yb < ya ? -1 : 1);
    return clearWay((bend) => {
      const bow = usual + bend;
      const cx = (xa + xb) / 2 - (dy / length) * bow,
        cy = (ya + yb) / 2 + (dx / length) * bow;
      const start = border(a, cx, cy),
        [x, y] = border(b, cx, cy);
      const angle = Math.atan2(y - cy, x - cx);
      return { ...bowedWay(start, [cx, cy], [x - long * Math.cos(angle), y - long * Math.sin(angle)]), x, y, angle };
    }, others);
  }

  /** An edge of the document, or one that went: `one` is { from, k, source, target }, `mark` how it is other than before. */
  function edge(one, port, crossed, mark = "") {
    const { from, k } = one,
      gone = mark === "gone";
    const way = wayOf(one, port, crossed);
    const parts = edgeShapes(from, k, way.path, way.x, way.y, way.angle);
    const sign = state.marked ? BADGES[mark] : null;
    if (sign) parts.unshift(shape("path", { d: way.path, class: "halo" }));
    if (sign) parts.push(badge(sign, ...way.points[way.points.length >> 1]));
    const group = shape("g", { class: `edge ${from.pairs.kind[k]} ${mark}`, "data-pair": gone ? null : k }, ...parts);
    if (gone) return group;
    const listeners = {
      pointerenter: (event) => {
        state.set({ hovered: { pair: k } });
        tip.show(event, { pair: k });
      },
      pointermove: (event) => tip.move(event),
      pointerleave: () => {
        state.set({ hovered: null });
        tip.hide();
      },
      click: () => state.set({ chosen: { pair: k } }),
    };
    for (const [name, listener] of Object.entries(listeners)) group.addEventListener(name, listener);
    return group;
  }

  function badge(sign, x, y) {
    return shape(
      "g",
      { class: "sign", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
      shape("circle", { r: 9 }),
      shape("text", { "text-anchor": "middle", "dominant-baseline": "central" }, sign),
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
      { source, target } = doc.pairs;
    const count = state.present.filter(Boolean).length;
    const all = count * doc.names.length <= MOST_CROSSINGS ? boxes() : null;
    const known = (a, b) => state.layout.edges.has(wayKey(a, b)) || state.layout.edges.has(wayKey(b, a));
    const crossed = (a, b) => (state.places.size || !known(a, b) ? all : null);
    const gone = state.vanished.map((one) => edge(one, port, crossed(one.source, one.target), "gone"));
    const there = state.present.flatMap((is, k) => {
      if (!is) return [];
      const mark = state.marked ? state.markOf(k) : state.appeared.includes(k) ? "appeared" : "";
      return [edge({ from: doc, k, source: source[k], target: target[k] }, port, crossed(source[k], target[k]), mark)];
    });
    for (const one of gone) one.addEventListener("animationend", () => one.remove());
    refill(edgeLayer, ...gone, ...there);
    state.upwards = state.present.filter(
      (is, k) => is && doc.pairs.kind[k] === "arrow" && place[target[k]][1] < place[source[k]][1],
    ).length;
    mark();
    drawOwn();
  }

  /** A graph of the user's own over the learned one: `state.own` has its arrows and lines, and the pairs of claims that are broken. */
  function drawOwn() {
    const { own } = state;
    svg.classList.toggle("tested", Boolean(own));
    if (!own) return void refill(ownLayer);
    const crossed = boxes();
    const way = ([a, b], long) =>
      bowed(
        a,
        b,
        long,
        crossed.filter((_, j) => j !== a && j !== b),
      );
    const arrow = (ends) => {
      const { path, x, y, angle } = way(ends, OWN_HEAD);
      const back = (turn) => `${(x - OWN_HEAD * Math.cos(angle + turn)).toFixed(1)} ${(y - OWN_HEAD * Math.sin(angle + turn)).toFixed(1)}`;
      return shape(
        "g",
        {},
        shape("path", { class: "line", d: path }),
        shape("path", { class: "head", d: `M${x} ${y}L${back(0.4)}L${back(-0.4)}Z` }),
      );
    };
    const broken = ([a, b, k]) =>
      shape("path", { class: k === own.bright ? "broken bright" : "broken", "data-claim": k, d: way([a, b], 0).path });
    refill(
      ownLayer,
      ...own.broken.map(broken),
      ...own.lines.map((ends) => shape("path", { class: "line", d: way(ends, 0).path })),
      ...own.arrows.map(arrow),
    );
  }

  function drawNodes() {
    nodes = doc.names.map((name, j) => {
      const node = shape(
        "g",
        {
          class: categoryOf(doc, j) ? "node category" : "node",
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
        shape("rect", { x: -half[j], y: -TALL / 2, width: 2 * half[j], height: TALL, rx: categoryOf(doc, j) ? TALL / 2 : 8 }),
        shape("text", { "text-anchor": "middle", "dominant-baseline": "central", y: 1 }, labels[j]),
      );
      node.setAttribute("transform", `translate(${place[j][0]} ${place[j][1]})`);
      drag(node, j);
      return node;
    });
    refill(nodeLayer, ...nodes);
    drawNumbers();
  }

  function drag(node, j) {
    let from = null;
    node.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.stopPropagation();
      node.setPointerCapture(event.pointerId);
      from = { x: event.clientX, y: event.clientY, place: [...place[j]], had: moved[j], far: false };
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
      state.places.set(keys[j], place[j]);
      node.setAttribute("transform", `translate(${place[j][0]} ${place[j][1]})`);
      state.carry?.over(j, event);
      requestAnimationFrame(drawEdges);
    });
    node.addEventListener("pointerup", (event) => {
      if (from && !from.far) choose(j);
      else if (from && state.carry?.drop(j, event)) putBack(from);
      from = null;
    });
    node.addEventListener("pointercancel", () => {
      from = null;
    });

    function putBack({ place: spot, had }) {
      if (had) state.places.set(keys[j], spot);
      else state.places.delete(keys[j]);
      [place[j], moved[j]] = [spot, had];
      node.setAttribute("transform", `translate(${spot[0]} ${spot[1]})`);
      requestAnimationFrame(drawEdges);
    }
  }

  function choose(j) {
    current = j;
    nodes.forEach((node, i) => node.setAttribute("tabindex", i === j ? 0 : -1));
    state.set({ chosen: { variable: j } });
  }

  /** Bring out what is chosen or under the pointer, with all that leads to it and all it leads to. */
  function mark() {
    const traced = state.overlay?.arrows,
      what = traced ?? state.hovered ?? state.chosen;
    svg.classList.toggle("calm", !what);
    const bright = new Set();
    const follows = (k) => traced.has(`${doc.pairs.source[k]},${doc.pairs.target[k]}`);
    if (traced) for (const ends of traced) for (const j of ends.split(",")) bright.add(Number(j));
    else if (what && what.variable !== undefined) {
      bright.add(what.variable);
      for (const j of reached(doc, state.relations, what.variable)) bright.add(j);
      for (const j of reached(doc, state.relations, what.variable, true)) bright.add(j);
      for (const k of state.relations.lines[what.variable]) bright.add(otherEnd(doc, k, what.variable));
    } else if (what) {
      for (const j of what.ends ?? [doc.pairs.source[what.pair], doc.pairs.target[what.pair]]) bright.add(j);
    }
    nodes.forEach((node, j) => {
      node.classList.toggle("bright", bright.has(j));
      node.classList.toggle("chosen", state.chosen?.variable === j);
      node.setAttribute("aria-pressed", state.chosen?.variable === j);
    });
    for (const one of edgeLayer.children) {
      const k = Number(one.dataset.pair ?? NaN);
      const both = bright.has(doc.pairs.source[k]) && bright.has(doc.pairs.target[k]);
      const only = traced ? follows(k) : what && what.variable === undefined ? what.pair === k : both;
      one.classList.toggle("bright", only);
      one.classList.toggle("chosen", state.chosen?.pair === k);
    }
  }

  /** Numbers laid over the variables: `state.overlay.numbers` is a Map from a variable to { text, sign }. */
  function drawNumbers() {
    const numbers = state.overlay?.numbers;
    nodes.forEach((node, j) => {
      const said = numbers?.get(j),
        had = node.querySelector(".change");
      node.classList.toggle("numbered", Boolean(said));
      node.setAttribute("aria-label", said ? `${doc.names[j]}, ${said.text}` : doc.names[j]);
      if (had?.dataset.text === said?.text) return;
      had?.remove();
      if (!said) return;
      const wide = widthOf(said.text, "700 12px system-ui, sans-serif") / 2 + 6;
      node.append(
        shape(
          "g",
          { class: `change ${said.sign}`, "data-text": said.text, transform: `translate(${half[j]} ${-TALL / 2})` },
          shape("rect", { x: -wide, y: -10, width: 2 * wide, height: 20, rx: 10 }),
          shape("text", { "text-anchor": "middle", "dominant-baseline": "central", y: 1 }, said.text),
        ),
      );
    });
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

  /** From where everybody stands to new places: at once, or in a short walk. */
  function tidy() {
    const from = place.map((spot) => [...spot]);
    settlePlaces();
    const to = place,
      began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    function step(now) {
      if (!svg.isConnected || place !== to) return;
      const share = still ? 1 : Math.min(1, (now - began) / WALK);
      const eased = share * (2 - share);
      nodes.forEach((node, j) => {
        const [x, y] = [0, 1].map((axis) => (from[j] ?? to[j])[axis] * (1 - eased) + to[j][axis] * eased);
        node.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      });
      svg.classList.toggle("walking", share < 1);
      if (share < 1) requestAnimationFrame(step);
    }
    svg.classList.toggle("walking", !still);
    step(began);
    drawEdges();
    fit();
  }

  /** Another answer: boxes stay where they are, and the one with the focus keeps it. */
  function answer(changed) {
    const inside = nodeLayer.contains(document.activeElement);
    if (take()) {
      drawNodes();
      if (inside) nodes[current].focus({ preventScroll: true });
    }
    if (changed.has("tidy")) tidy();
    else drawEdges();
  }

  take();
  const needed = (state.layout.height * SMALLEST) / TEXT + 24; // for all of it in the smallest type
  const most = Math.max(0.68 * innerHeight, Math.min(needed, innerHeight), 360);
  svg.style.height = `${Math.round(Math.min(Math.max(state.layout.height * 1.1 + 24, 300), most))}px`;
  drawNodes();
  drawEdges();
  if (state.camera) camera.look(state.camera);
  else fit();
  return {
    zoom: (factor) => camera.zoom(factor),
    fit,
    focus,
    update(changed) {
      if (changed.has("answer")) answer(changed);
      else if (changed.has("present") || changed.has("marks")) drawEdges();
      else if (changed.has("chosen") || changed.has("hovered") || changed.has("overlay")) mark();
      if (changed.has("overlay")) drawNumbers();
      if (changed.has("own")) drawOwn();
      if (changed.has("chosen") && !changed.has("answer") && state.chosen?.variable !== undefined) {
        nodes.forEach((node, i) => node.setAttribute("tabindex", i === state.chosen.variable ? 0 : -1));
        focus(state.chosen.variable);
      }
    },
  };
}

function withoutLayout(box, state) {
  const count = state.doc.names.length.toLocaleString("en");
  const words = `${count} variables are too many for one picture. The neighbourhood shows one variable with everything joined to it; the matrix shows all pairs.`;
  refill(box, element("p", { class: "empty" }, words));
  return { zoom() {}, fit() {}, focus() {}, update: (changed) => changed.has("answer") && state.layout && state.tell("look") };
}
