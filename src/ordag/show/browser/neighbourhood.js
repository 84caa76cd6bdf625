// One variable with its causes above and its effects below; of many variables, beside a list of all of them.

import { TALL, edgeShapes, headLength, looks, uprightPath } from "./edges.js";
import { variableList } from "./list.js";
import { shortened } from "./names.js";
import { otherEnd, reached } from "./relations.js";
import { counted, element, named, refill, shape, widthOf } from "./text.js";

const LISTED = 20;
const CELL = 148; // room for a name of 16 letters
const NEAR = 84;
const FAR = 66;

/** Draw into a box; gives { update(changed) } and empty zooms. */
export function drawNeighbourhood(box, state, tip) {
  let { doc } = state;
  const listed = doc.names.length > LISTED;
  const stage = element("div", { class: "near" });
  const list = listed ? variableList(state) : null;
  refill(box, element("div", { class: listed ? "beside" : "" }, list ? list.element : null, stage));
  if (list) list.paint(true);
  let focused = false;

  function paint() {
    const j = state.centre;
    const { into, out, lines } = state.relations;
    const width = Math.max(stage.clientWidth || 500, 280);
    const beside = Math.max(2, Math.floor(width / CELL));
    const by = (k) => -Math.abs(doc.pairs.standardised?.[k] ?? doc.pairs.strength?.[k] ?? 1);
    const sorted = (links) => [...links].sort((a, b) => by(a) - by(b));
    const above = sorted(into[j]);
    const below = sorted([...out[j], ...lines[j]]);
    const upper = inRows(above, beside);
    const lower = inRows(below, beside);
    const reach = (count) => (count ? NEAR + (count - 1) * FAR : 0);
    const middle = [width / 2, reach(upper.length) + TALL];
    const height = middle[1] + reach(lower.length) + TALL;
    const svg = shape("svg", {
      class: "graph calm",
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `${doc.names[j]} with its neighbours. Arrow keys walk along edges.`,
    });
    const edges = [];
    const nodes = [];
    for (const [rows, side] of [
      [upper, -1],
      [lower, 1],
    ]) {
      rows.forEach((links, row) =>
        links.forEach((k, at) => {
          const x = (width * (at + 0.5)) / links.length;
          const y = middle[1] + side * reach(row + 1);
          edges.push(edge(k, middle, [x, y], side, gaps(rows, row, x, width, at)));
          nodes.push(node(otherEnd(doc, k, j), x, y, ""));
        }),
      );
    }
    nodes.push(node(j, ...middle, "chosen bright"));
    svg.append(...edges, ...nodes);
    const hidden = above.length + below.length - [...upper, ...lower].flat().length;
    const before = reached(doc, state.relations, j, true).size;
    const after = reached(doc, state.relations, j).size;
    const words = [
      `${counted(above.length, "direct cause")} and ${counted(out[j].length, "direct effect")}`,
      lines[j].length ? `${counted(lines[j].length, "line")} without direction` : "",
      `with indirect ones ${counted(before, "cause")} and ${counted(after, "effect")}`,
      hidden ? `${counted(hidden, "weaker neighbour")} not drawn: see the selection` : "",
    ];
    refill(stage, svg, element("p", { class: "soft readout" }, named(doc.names[j]), `: ${words.filter(Boolean).join("; ")}.`));
    if (focused) svg.querySelector(".chosen").focus({ preventScroll: true });
  }

  /** An edge between the middle and a place above (side −1) or below it, by way of the gaps in the rows between. */
  function edge(k, middle, [x, y], side, between) {
    const look = looks(doc, k);
    const long = look.head ? headLength(look.width) : 0;
    const reach = halfWidth(state.centre) - 10; // an arrow ends at the box, however far away it begins
    const aside = Math.min(reach, Math.max(-reach, (x - middle[0]) * 0.12));
    const start = [middle[0] + aside, middle[1] + (side * TALL) / 2];
    const way = between.flatMap(([gap, row]) => {
      const at = middle[1] + side * (NEAR + row * FAR);
      return [-1, 1].map((end) => [gap, at + (side * end * TALL) / 2]);
    });
    const points = [start, ...way, [x, y - (side * TALL) / 2]];
    if (side < 0) points.reverse();
    const [endX, endY] = points[points.length - 1];
    points[points.length - 1] = [endX, endY - long];
    return shape(
      "g",
      {
        class: `edge ${doc.pairs.kind[k]} ${state.markOf(k)}`,
        "data-pair": k,
        onclick: () => state.set({ chosen: { pair: k } }),
        onpointerenter: (event) => tip.show(event, { pair: k }),
        onpointermove: (event) => tip.move(event),
        onpointerleave: () => tip.hide(),
      },
      ...edgeShapes(doc, k, uprightPath(points), endX, endY, Math.PI / 2),
    );
  }

  const halfWidth = (j) => Math.max(widthOf(shortened(doc.names[j], 16)) / 2 + 10, 26);

  function node(j, x, y, extra) {
    const label = shortened(doc.names[j], 16),
      half = halfWidth(j);
    return shape(
      "g",
      {
        class: `node ${extra}`,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        tabindex: extra ? 0 : -1,
        role: "button",
        "aria-label": doc.names[j],
        "data-variable": j,
        onclick: () => state.set({ chosen: { variable: j } }),
        onpointerenter: (event) => tip.show(event, { variable: j }),
        onpointermove: (event) => tip.move(event),
        onpointerleave: () => tip.hide(),
      },
      shape("rect", { x: -half, y: -TALL / 2, width: 2 * half, height: TALL, rx: 8 }),
      shape("text", { "text-anchor": "middle", "dominant-baseline": "central", y: 1 }, label),
    );
  }

  stage.addEventListener("keydown", (event) => {
    const { into, out, lines } = state.relations,
      j = state.centre;
    const by = (k) => -Math.abs(doc.pairs.standardised?.[k] ?? 1);
    const next = { ArrowUp: into[j], ArrowDown: [...out[j], ...lines[j]] }[event.key];
    const place = doc.order.indexOf(j);
    const beside = { ArrowLeft: doc.order[place - 1], ArrowRight: doc.order[place + 1] }[event.key];
    if (!next && beside === undefined) return;
    event.preventDefault();
    const k = next ? [...next].sort((a, b) => by(a) - by(b))[0] : undefined;
    const to = next ? (k === undefined ? undefined : otherEnd(doc, k, j)) : beside;
    focused = true;
    if (to !== undefined) state.set({ chosen: { variable: to } });
    focused = false;
  });

  paint();
  return {
    zoom() {},
    fit: paint,
    focus() {},
    update(changed) {
      doc = state.doc;
      if (["present", "centre", "marks"].some((name) => changed.has(name))) paint();
      if (list && (changed.has("present") || changed.has("centre"))) list.paint(true);
    },
  };
}

/** The strongest links in up to two rows, those of the first row next to the middle. */
function inRows(links, beside) {
  const shown = links.slice(0, 2 * beside);
  const count = Math.ceil(shown.length / beside);
  const size = Math.ceil(shown.length / Math.max(count, 1));
  return Array.from({ length: count }, (_, i) => shown.slice(i * size, (i + 1) * size));
}

/** Where a line to x in a row passes the rows before it: [x of the nearest gap between two variables, number of the row]. */
function gaps(rows, row, x, width, at) {
  return rows.slice(0, row).map((links, before) => {
    const places = links.map((_, i) => (width * i) / links.length).concat(width);
    const nearest = places.reduce((best, place) => (Math.abs(place - x) < Math.abs(best - x) ? place : best));
    return [Math.min(width - 10, Math.max(10, nearest)) + ((at % 3) - 1) * 5, before];
  });
}
