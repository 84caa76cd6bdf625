// The order as a chart in a table: the variance at which every variable was chosen, its runner-up, and what it is tied with.

import { rowTable } from "./rows.js";
import { chance, element, named, number, refill, shape } from "./text.js";

const RATIO_WIDTH = 220;

export function createOrder(box, state) {
  state.subscribe((changed) => {
    if (changed.has("answer")) writeOrder(box, state);
  });
  writeOrder(box, state);
}

function writeOrder(box, state) {
  const { doc } = state,
    { steps, model } = doc;
  box.parentElement.querySelector("h2").textContent = doc.order_title;
  if (!steps && !doc.ordered) {
    refill(box, element("p", {}, "This method gives no order: a class of graphs leaves some of it open."));
    return;
  }
  const node = steps ? steps.node : doc.order;
  const variance = steps ? steps.variance : model.variance ? node.map((j) => model.variance[j]) : null;
  const runner = (i) => (steps && steps.margin[i] !== null ? variance[i] * (1 + steps.margin[i]) : null);
  const values = variance ? variance.flatMap((value, i) => [value, runner(i)]).filter((value) => value !== null && value > 0) : [1];
  const low = Math.log(Math.min(...values)),
    high = Math.log(Math.max(...values));
  const x = (value) => 8 + ((Math.log(value) - low) / (high - low || 1)) * (RATIO_WIDTH - 16);
  const picture = (i) => {
    const svg = shape(
      "svg",
      { width: RATIO_WIDTH, height: 18, "aria-hidden": "true" },
      shape("line", { class: "grid", x1: 0, x2: RATIO_WIDTH, y1: 9, y2: 9 }),
    );
    const next = runner(i);
    if (next !== null)
      svg.append(
        shape("line", { class: `way${steps.tied_count?.[i] ? " tied" : ""}`, x1: x(variance[i]), x2: x(next), y1: 9, y2: 9 }),
        shape("circle", { class: "runner", cx: x(next), cy: 9, r: 4.5 }),
      );
    if (variance[i] > 0) svg.append(shape("circle", { class: "winner", cx: x(variance[i]), cy: 9, r: 4.5 }));
    return svg;
  };
  const margin = (value) =>
    value === null || value === undefined ? "" : value < 1 ? `${number(100 * value, 2)} %` : `${number(value + 1)} ×`;
  const columns = [
    { title: "", value: (i) => String(i + 1) },
    {
      title: "variable",
      text: true,
      value: (i) =>
        element(
          "button",
          { type: "button", class: "chip", onclick: () => state.set({ chosen: { variable: node[i] } }) },
          named(doc.names[node[i]]),
        ),
    },
    ...(variance
      ? [
          { title: steps ? "variance given earlier" : "error variance", value: (i) => number(variance[i]) },
          { title: steps ? "chosen ● and runner-up ○" : "on a logarithmic scale", text: true, value: picture },
        ]
      : []),
    ...(steps
      ? [{ title: "lead", explained: "by how much the runner-up's variance is larger", value: (i) => margin(steps.margin[i]) }]
      : []),
    ...(steps && steps.runner_up
      ? [
          { title: "runner-up", text: true, value: (i) => (steps.runner_up[i] === null ? "" : named(doc.names[steps.runner_up[i]])) },
          { title: "p", explained: "p-value of equal variances", value: (i) => chance(steps.p_value[i]) },
          { title: "tied with", text: true, value: (i) => tied(i) },
        ]
      : []),
  ];
  const tied = (i) => {
    const group = steps.tied[i],
      rest = steps.tied_count[i] - Math.min(group.length, 3);
    if (!group.length) return "";
    const words = group.slice(0, 3).flatMap((j, at) => (at ? [", ", named(doc.names[j], 20)] : [named(doc.names[j], 20)]));
    return element(
      "span",
      {},
      ...words,
      rest > 0 ? ` and ${rest} more` : "",
      steps.matters[i]
        ? element("b", { title: "The graph has an edge among them: another choice could have given another graph" }, " · edges among them")
        : "",
    );
  };
  const rows = rowTable(columns, { caption: "The order with variances, runner-ups and ties", className: "order" });
  const said = steps
    ? "At each step the variable with the least conditional variance comes next. A long line between the dots is a clear choice; a dashed line is a tie that these rows do not settle."
    : "This method searches over whole orders instead of choosing step by step; these are the error variances along the order it found.";
  refill(box, element("p", { class: "soft" }, said), rows.element);
  rows.show(node.map((_, i) => i));
}
