// Sentences and figures about an edge or a variable, for the tip and the card.

import { categoryOf, otherEnd } from "./relations.js";
import { chance, counted, element, named, number, percent } from "./text.js";

const REASONS = {
  variance: "its direction rests on variances",
  open: "its direction is open",
  hidden: "a hidden common cause could explain it",
  class: "its direction follows from the class, without variances",
  knowledge: "its direction is given by your knowledge",
  category: "its direction is given: a category has no causes",
  experiment: "its direction follows from experiments",
  environment: "its direction follows from what differs between environments",
  pending: "the evidence for its direction is being computed",
};

/** What directs a pair, with the conditions that act on one of its ends alone. */
export function reasonOf(pairs, k) {
  const reason = pairs.reason[k],
    conditions = pairs.conditions?.[k] ?? [];
  return `${REASONS[reason] ?? reason}${conditions.length ? ` (${conditions.join(", ")})` : ""}`;
}

/** Whether variances direct an arrow, but only just. */
export function isNearTie(pairs, k) {
  return pairs.tied[k] && pairs.reason[k] !== "open" && pairs.reason[k] !== "hidden";
}

/** The two ends with the mark between them. */
export function titleOf(doc, k) {
  const { source, target, kind } = doc.pairs;
  return [named(doc.names[source[k]]), kind[k] === "line" ? " — " : " → ", named(doc.names[target[k]])];
}

/** What the weight says, in a sentence. */
export function meaningOf(doc, k, related) {
  const { source, target, kind, weight } = doc.pairs;
  const a = named(doc.names[source[k]]),
    b = named(doc.names[target[k]]);
  if (categoryOf(doc, source[k])) return ["The groups of ", a, " differ in ", b, ", with the other causes of ", b, " held fixed."];
  if (kind[k] === "line") return ["These data join ", a, " and ", b, " but leave open which is the cause."];
  if (!weight || weight[k] === null) return ["An edge from ", a, " to ", b, " is not in the graph as learned, so it has no weight."];
  const change = `${number(Math.abs(weight[k]))} ${weight[k] < 0 ? "lower" : "higher"}`;
  const others = related.into[target[k]].length > 1 ? ", with its other causes held fixed" : "";
  const size = kind[k] === "absent" ? ", with all earlier variables held fixed" : others;
  return ["Where ", a, " is one unit higher, ", named(doc.names[target[k]]), ` is ${change} on average${size}.`];
}

/** Every figure there is about a pair: [name, value, explanation]. */
export function figuresOf(doc, k) {
  const { pairs } = doc,
    has = (name) => pairs[name] && pairs[name][k] !== null && pairs[name][k] !== undefined;
  const said = [];
  if (has("weight"))
    said.push([
      "weight",
      `${number(pairs.weight[k])}${has("std_error") ? ` ± ${number(pairs.std_error[k], 2)}` : ""}`,
      has("std_error") ? "with its standard error" : "given all earlier variables",
    ]);
  if (has("low"))
    said.push([
      "interval",
      `${number(pairs.low[k])} to ${number(pairs.high[k])}`,
      pairs.interval_level
        ? `${percent(pairs.interval_level)} of the resamples, where a missing arrow counts as 0`
        : "95 %, if the graph is right",
    ]);
  if (has("standardised")) said.push(["standardised", number(pairs.standardised[k]), "in standard deviations of both ends"]);
  if (has("edge_probability")) said.push(["edge", percent(pairs.edge_probability[k]), "probability that the two are joined"]);
  if (has("probability")) said.push(["arrow", percent(pairs.probability[k]), "probability that they are joined in this direction"]);
  const category = categoryOf(doc, pairs.source[k]);
  const test = category?.effects.find((one) => one.target === pairs.target[k]);
  if (test) said.push([`F(${test.df.join(", ")})`, `${number(test.f)}, p ${chance(test.p_value)}`, "test that all groups are alike"]);
  if (has("p_value") && !has("edge_probability") && !category) said.push(["p edge", chance(pairs.p_value[k]), "p-value of the edge"]);
  if (has("q_value")) said.push(["q edge", chance(pairs.q_value[k]), "least false-discovery rate at which it is found"]);
  if (has("direction_p_value")) said.push(["p direction", chance(pairs.direction_p_value[k]), "small if the direction is clear"]);
  if (has("support")) said.push(["support", percent(pairs.support[k]), "of the resamples have it"]);
  if (has("direction_support"))
    said.push(["same direction", percent(pairs.direction_support[k]), "of the resamples that join the two have this direction"]);
  return said;
}

/** How sure an edge and its direction are, in words. */
export function sureness(doc, k) {
  const { pairs } = doc,
    words = [];
  if (pairs.kind[k] === "absent") words.push("not in the graph as learned");
  if (categoryOf(doc, pairs.source[k])) words.push(REASONS.category);
  else if (pairs.kind[k] !== "line") words.push(`${reasonOf(pairs, k)}${isNearTie(pairs, k) ? ", and they are near a tie" : ""}`);
  return words.length ? [`${words.join("; ").replace(/^./, (letter) => letter.toUpperCase())}.`] : [];
}

/** How strong a hidden common cause would have to be to explain the weight away; null where there is no weight. */
export function robustnessOf(doc, k) {
  const value = doc.pairs.robustness?.[k] ?? null;
  const words = `A hidden common cause would have to explain ${percent(value)} of the residual variance of both to reduce this weight to zero.`;
  return value === null ? null : element("p", {}, words);
}

/** The equation of a variable, as learned. */
export function equationOf(doc, j, related) {
  const { weight, kind, source } = doc.pairs,
    { intercept, variance } = doc.model;
  if (!weight || !intercept || categoryOf(doc, j)) return null;
  const parts = [element("b", {}, named(doc.names[j])), " = ", number(intercept[j])];
  const links = related.into[j]
    .filter((k) => kind[k] === "arrow" && weight[k] !== null)
    .sort((a, b) => Math.abs(doc.pairs.standardised[b]) - Math.abs(doc.pairs.standardised[a]));
  for (const k of links.slice(0, 12)) {
    parts.push(weight[k] < 0 ? " − " : " + ", `${number(Math.abs(weight[k]))} · `, named(doc.names[otherEnd(doc, k, j)], 20));
  }
  if (links.length > 12) parts.push(` + ${links.length - 12} more`);
  for (const k of related.into[j])
    if (categoryOf(doc, source[k])) parts.push(" + a number for each group of ", named(doc.names[source[k]], 20));
  parts.push(` + error of variance ${number(variance[j])}`);
  return element("p", { class: "equation" }, ...parts);
}

/** The means of the groups of a category in one variable, as a table; null where they are not known. */
export function groupsOf(doc, at, target) {
  const category = categoryOf(doc, at);
  const found = category?.effects.find((one) => one.target === target);
  if (!found) return null;
  const cell = (value) => element("td", {}, value);
  const head = ["", "rows", "mean", "difference"].map((title) => element("th", { scope: "col" }, title));
  const rows = category.levels.map((level, g) => {
    const error = found.std_errors[g];
    const apart = error === null ? "" : `${number(found.differences[g])} ± ${number(error, 2)}`;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, named(level, 24)),
      cell(found.rows[g]),
      cell(number(found.means[g], 4)),
      cell(apart),
    );
  });
  return [
    element("h4", {}, "Groups of ", named(doc.names[at], 24), " in ", named(doc.names[target], 24)),
    element("table", { class: "groups" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
    element(
      "p",
      { class: "soft" },
      "Differences are from the first group, with the other causes held fixed, and have their standard errors.",
    ),
  ];
}

/** A few words about a variable. */
export function neighboursOf(j, related) {
  const lines = related.lines[j].length ? ` · ${counted(related.lines[j].length, "line")}` : "";
  return `${counted(related.into[j].length, "cause")} · ${counted(related.out[j].length, "effect")}${lines}`;
}
