// One variable with its causes above and its effects below; of many variables, beside a list of all of them.

import { TALL, edgeShapes, headLength, looks } from "./edges.js";
import { otherEnd, reached } from "./relations.js";
import { BEYOND } from "./rows.js";
import { counted, element, named, refill, shape, shortened, widthOf } from "./text.js";

const LISTED = 20;
const LINE = 30;

/** Draw into a box; gives { update(changed) } and empty zooms. */
export function drawNeighbourhood(box, state, tip) {
  const { doc } = state, listed = doc.names.length > LISTED;
  const stage = element("div", { class: "near" });
  const list = listed ? variableList(state) : null;
  refill(box, element("div", { class: listed ? "beside" : "" }, list ? list.element : null, stage));
  if (list) list.paint(true);
  let focused = false;

  function paint() {
    const j = state.centre, { into, out, lines } = state.relations;
    const width = Math.max(stage.clientWidth || 500, 280), each = 148;
    const most = Math.max(2, Math.floor(width / each)) * 2;
    const by = (k) => -Math.abs(doc.pairs.standardised?.[k] ?? doc.pairs.strength?.[k] ?? 1);
    const sorted = (links) => [...links].sort((a, b) => by(a) - by(b));
    const above = sorted(into[j]), below = sorted([...out[j], ...lines[j]]);
    const rows = (links) => {
      const shown = links.slice(0, most), count = Math.ceil(shown.length / Math.max(1, Math.floor(width / each)));
      const size = Math.ceil(shown.length / Math.max(count, 1));
      return Array.from({ length: count }, (_, i) => shown.slice(i * size, (i + 1) * size));
    };
    const upper = rows(above).reverse(), lower = rows(below);
    const top = 24, gap = 62, start = top + upper.length * gap + (upper.length ? 46 : 0);
    const middle = [width / 2, start + TALL / 2];
    const height = middle[1] + (lower.length ? 46 : 0) + lower.length * gap + 24;
    const svg = shape("svg", { class: "graph calm", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${doc.names[j]} with its neighbours. Arrow keys walk along edges.` });
    const edges = [], nodes = [];
    const spot = (row, count, at) => [(width * (at + 0.5)) / count, row];
    const put = (links, level, up) => links.forEach((k, at) => {
      const other = otherEnd(doc, k, j);
      const [x, y] = spot(up ? top + TALL / 2 + level * gap : middle[1] + 46 + TALL + level * gap - 8, links.length, at);
      const look = looks(doc, k), long = look.head ? headLength(look.width) : 0;
      const reach = (x - width / 2) * 0.12, x0 = up ? x : middle[0] + reach, y0 = up ? y + TALL / 2 : middle[1] + TALL / 2;
      const x1 = up ? middle[0] + reach : x, y1 = up ? middle[1] - TALL / 2 : y - TALL / 2;
      const bend = (y0 + y1) / 2;
      const path = `M${x0.toFixed(1)},${y0.toFixed(1)} C${x0.toFixed(1)},${bend.toFixed(1)} ${x1.toFixed(1)},${bend.toFixed(1)} ${x1.toFixed(1)},${(y1 - long).toFixed(1)}`;
      edges.push(shape("g", {
        class: `edge ${doc.pairs.kind[k]}`, "data-pair": k, onclick: () => state.set({ chosen: { pair: k } }),
        onpointerenter: (event) => tip.show(event, { pair: k }), onpointermove: (event) => tip.move(event), onpointerleave: () => tip.hide(),
      }, ...edgeShapes(doc, k, path, x1, y1, Math.PI / 2)));
      nodes.push(node(other, x, y, ""));
    });
    upper.forEach((links, level) => put(links, level, true));
    lower.forEach((links, level) => put(links, level, false));
    nodes.push(node(j, ...middle, "chosen bright"));
    svg.append(...edges, ...nodes);
    const hidden = above.length + below.length - Math.min(above.length, most) - Math.min(below.length, most);
    const before = reached(doc, state.relations, j, true).size, after = reached(doc, state.relations, j).size;
    const words = [
      `${counted(above.length, "cause")} and ${counted(out[j].length, "effect")} next to it`,
      lines[j].length ? `${counted(lines[j].length, "line")} without direction` : "",
      `${counted(before, "variable")} in all can reach it, and it can reach ${before === after ? "as many" : counted(after, "variable")}`,
      hidden ? `${hidden} weaker ones are in the list of what is selected` : "",
    ].filter(Boolean).join("; ");
    refill(stage, svg, element("p", { class: "soft readout" }, named(doc.names[j]), `: ${words}.`));
    if (focused) svg.querySelector(".chosen").focus({ preventScroll: true });
  }

  function node(j, x, y, extra) {
    const label = shortened(doc.names[j], 16), half = Math.max(widthOf(label) / 2 + 10, 26);
    return shape("g", {
      class: `node ${extra}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, tabindex: extra ? 0 : -1, role: "button", "aria-label": doc.names[j], "data-variable": j,
      onclick: () => state.set({ chosen: { variable: j } }),
      onpointerenter: (event) => tip.show(event, { variable: j }), onpointermove: (event) => tip.move(event), onpointerleave: () => tip.hide(),
    }, shape("rect", { x: -half, y: -TALL / 2, width: 2 * half, height: TALL, rx: 8 }), shape("text", { "text-anchor": "middle", "dominant-baseline": "central", y: 1 }, label));
  }

  stage.addEventListener("keydown", (event) => {
    const { into, out, lines } = state.relations, j = state.centre;
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
      if (changed.has("present") || changed.has("centre")) paint();
      if (list && (changed.has("present") || changed.has("centre"))) list.paint(true);
    },
  };
}

/** All variables, those with most edges first or in causal order, with a filter. Only the lines in sight are there. */
function variableList(state) {
  const { doc } = state;
  let wanted = "", busiest = true, found = doc.order, from = -1;
  const lines = element("div", { class: "lines", role: "listbox", "aria-label": "Variables", tabindex: 0 });
  const sizer = element("div", { class: "sizer" }, lines);
  const box = element("div", { class: "list" }, sizer);
  const filter = element("input", { type: "search", placeholder: "filter variables", "aria-label": "Filter variables", oninput: () => { wanted = filter.value.toLowerCase(); paint(true); } });
  const sort = element("button", { type: "button", class: "quiet", onclick: () => { busiest = !busiest; sort.textContent = busiest ? "most edges first" : "causes first"; paint(true); } }, "most edges first");

  function paint(force) {
    if (force) {
      found = doc.order.filter((j) => doc.names[j].toLowerCase().includes(wanted));
      if (busiest) found = [...found].sort((a, b) => state.relations.degree(b) - state.relations.degree(a));
      sizer.style.height = `${found.length * LINE}px`;
    }
    const first = Math.max(0, Math.floor(box.scrollTop / LINE) - BEYOND);
    if (!force && first === from) return;
    from = first;
    const last = Math.min(found.length, first + Math.ceil((box.clientHeight || 500) / LINE) + 2 * BEYOND);
    lines.style.top = `${first * LINE}px`;
    refill(lines, ...found.slice(first, last).map((j) => element("div", {
      role: "option", class: "line", "aria-selected": j === state.centre, onclick: () => state.set({ chosen: { variable: j } }),
    }, named(doc.names[j], 22), element("span", { class: "soft" }, `${state.relations.into[j].length} in · ${state.relations.out[j].length} out`))));
  }

  lines.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = found[Math.min(found.length - 1, Math.max(0, found.indexOf(state.centre) + step))];
    if (next === undefined) return;
    state.set({ chosen: { variable: next } });
    const top = found.indexOf(next) * LINE;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - LINE) box.scrollTop = top - box.clientHeight / 2;
  });
  box.addEventListener("scroll", () => requestAnimationFrame(() => paint(false)));
  return { element: element("div", { class: "listed" }, element("div", { class: "toolbar" }, filter, sort), box), paint };
}
