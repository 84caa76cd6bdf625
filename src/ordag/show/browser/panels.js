// The panels of text and tables: sentences, verdict, checks, units, other methods, data, how to reproduce the answer.

import { drawChart } from "./charts.js";
import { holesMap, overviewTable } from "./overview.js";
import { categoryOf } from "./relations.js";
import { rowTable } from "./rows.js";
import { toClipboard } from "./table.js";
import { counted, element, named, number, refill, sentence } from "./text.js";

const LEVELS = { warning: "warning", look: "worth a look", fine: "fine", unchecked: "not checked" };

const TITLES_OF_FINDINGS = { mardia: "Gaussian rows (Mardia’s test)" };

export function writeFound(doc, at) {
  at("title").textContent = doc.title;
  at("heading").textContent = doc.heading;
  refill(at("sentences"), ...doc.found.map((sentence, i) => element("p", { class: i === 0 ? "lead" : "" }, sentence)));
  at("badge").textContent = doc.verdict.badge;
  at("badge").className = `badge ${doc.verdict.light}`;
  const parts = doc.verdict.short.split(" · ");
  refill(at("short"), ...parts.flatMap((part, i) => [element("span", {}, i < parts.length - 1 ? `${part} ·` : part), " "]));
}

/** A table that can be folded away; nothing where it has no rows. */
function folded(title, heads, rows) {
  if (!rows?.length) {
    return null;
  }
  const cells = (tag, row) => element("tr", {}, ...row.map((text) => element(tag, {}, text)));
  return element(
    "details",
    { class: "rows", open: "" },
    element("summary", {}, title),
    element("table", {}, element("thead", {}, cells("th", heads)), element("tbody", {}, ...rows.map((row) => cells("td", row)))),
  );
}

export function writeVerdict(doc, at) {
  refill(
    at("verdict-body"),
    element("p", { class: `verdict ${doc.verdict.light}` }, ...sentence(doc.verdict.sentence)),
    doc.verdict.help ? element("details", {}, element("summary", {}, "What this rests on"), element("p", {}, doc.verdict.help)) : null,
    folded("Equations that differ between environments", ["equation of", "in", "differs", "p"], doc.changes),
    folded("Within and between clusters", ["", "", "within", "between", "r within", "r between"], doc.levels),
    doc.aside ? element("p", { class: "soft" }, ...sentence(`${doc.aside}.`)) : null,
    ...doc.warnings.map((said) => element("p", { class: "warning" }, element("b", {}, "Warning. "), ...sentence(said))),
  );
}

function finding(one) {
  return element(
    "article",
    { class: `finding ${one.level}` },
    element(
      "div",
      {},
      element("h3", {}, TITLES_OF_FINDINGS[one.key] ?? one.title, " ", element("span", { class: `state ${one.level}` }, LEVELS[one.level])),
      element("p", {}, ...sentence(one.sentence)),
    ),
    one.chart ? drawChart(one.chart) : null,
  );
}

export function writeChecks(doc, at) {
  const checks = doc.findings.filter((one) => !one.scale),
    scales = doc.findings.filter((one) => one.scale);
  if (doc.unchecked) {
    refill(at("checks-body"), element("p", {}, doc.unchecked));
    at("scales").hidden = true;
    return;
  }
  const counts = Object.entries(LEVELS)
    .map(([level, words]) => [checks.filter((one) => one.level === level).length, words])
    .filter(([count]) => count);
  const pressing = checks.filter((one) => one.level === "warning" || one.level === "look"),
    calm = checks.filter((one) => one.level === "fine"),
    not = checks.filter((one) => one.level === "unchecked");
  const fold = (title, list) =>
    list.length ? element("details", {}, element("summary", {}, title), element("div", { class: "findings" }, ...list.map(finding))) : null;
  refill(
    at("checks-body"),
    element(
      "p",
      { class: "soft" },
      `The assumptions of the method, checked one by one: ${counts.map(([count, words]) => `${count} ${words}${words === "warning" && count > 1 ? "s" : ""}`).join(", ")}.`,
    ),
    element("div", { class: "findings" }, ...pressing.map(finding)),
    fold(`${calm.length} fine`, calm),
    fold(`${not.length} not checked`, not),
  );
  at("scales").hidden = !scales.length;
  refill(
    at("scales-body"),
    element(
      "p",
      { class: "soft" },
      "Causes do not depend on units, but arrows directed by variances can. The table was learned again after each of these changes.",
    ),
    element("div", { class: "findings" }, ...scales.map(finding)),
  );
}

export function writeMethods(doc, at) {
  at("methods").hidden = !doc.comparison;
  if (!doc.comparison) return;
  const { titles, cells, problems, methods, pairs } = doc.comparison;
  const table = element(
    "table",
    {},
    element("caption", { class: "unseen" }, "Methods side by side"),
    element("thead", {}, element("tr", {}, ...titles.map((title, i) => element("th", { scope: "col", class: i ? "" : "words" }, title)))),
    element(
      "tbody",
      {},
      ...cells.map((row) =>
        element("tr", {}, ...row.map((cell, i) => element(i ? "td" : "th", { scope: i ? null : "row", class: i ? "" : "words" }, cell))),
      ),
    ),
  );
  const agree = (row) => new Set(row.slice(2)).size === 1;
  const marks = rowTable(
    [
      { title: "pair", text: true, value: (row) => element("span", {}, named(doc.names[row[0]]), ", ", named(doc.names[row[1]])) },
      ...methods.map((name, i) => ({ title: name, text: true, value: (row) => row[i + 2] || "·" })),
      { title: "", text: true, value: (row) => (agree(row) ? "all agree" : "") },
    ],
    { caption: "Marks of every method for the pairs that some method joins" },
  );
  const all = pairs.filter(agree).length;
  refill(
    at("methods-body"),
    element("div", { class: "rows" }, table),
    ...problems.map((problem) => element("p", { class: "warning" }, problem)),
    element(
      "p",
      {},
      `All methods agree on ${all} of ${counted(pairs.length, "pair")} that some method joins. → and ←: arrow between the first and the second; —: edge without direction; ·: no edge.`,
    ),
    marks.element,
  );
  marks.show(pairs);
}

export function writeData(doc, at) {
  const { data } = doc,
    all = doc.names.flatMap((_, j) => (categoryOf(doc, j) ? [] : [j]));
  const columns = [
    { title: "variable", text: true, value: (j) => named(doc.names[j]) },
    { title: "mean", value: (j) => number(data.mean[j]) },
    { title: "standard deviation", value: (j) => number(doc.model.spread[j]) },
    ...(data.least
      ? [
          { title: "minimum", value: (j) => number(data.least[j]) },
          { title: "maximum", value: (j) => number(data.most[j]) },
        ]
      : []),
  ];
  const rows = rowTable(columns, { caption: "The columns" });
  const dropped = data.dropped
    ? `, after ${counted(data.dropped, "row")} with missing values ${data.dropped === 1 ? "was" : "were"} left out`
    : "; no row was left out for missing values";
  const worth = data.count_for < data.rows ? ` They count for ${counted(data.count_for, "row")}.` : "";
  const sampled =
    data.sampled && data.stride > 1
      ? ` Histograms, and possibly minimum and maximum, are of one row in ${data.stride}: ${counted(data.sampled, "row")}.`
      : "";
  const none = data.least ? "" : " Only moments were given, so there are no ranges and no histograms.";
  refill(
    at("data-body"),
    element("p", {}, `${counted(data.rows, "row")} of ${counted(all.length, "variable")}${dropped}.${worth}${sampled}${none}`),
    data.columns ? overviewTable(data.columns) : null,
    data.holes ? holesMap(data.holes) : null,
    data.columns ? element("h3", { class: "next" }, "Means and ranges of the variables") : null,
    rows.element,
    data.histograms.length
      ? element("details", {}, element("summary", {}, "Histograms of the columns"), element("div", { class: "charts" }))
      : null,
  );
  rows.show(all);
  const fold = at("data-body").querySelector("details");
  fold?.addEventListener("toggle", () => refill(fold.querySelector(".charts"), ...data.histograms.map(drawChart)), { once: true });
}

export function writeAgain(doc, at, say) {
  const { again } = doc;
  const block = (title, text) => [
    element("h3", {}, title),
    element(
      "div",
      { class: "code" },
      element("pre", { tabindex: 0, "aria-label": title }, text),
      element(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: async () => say((await toClipboard(text)) ? "copied" : "This browser does not allow the page to copy."),
        },
        "copy",
      ),
    ),
  ];
  refill(
    at("again-body"),
    ...block("On the command line", again.command),
    ...block("In Python", again.python),
    ...(again.knowledge ? block("Knowledge, as a file", again.knowledge) : []),
    element("h3", {}, "Settings"),
    element(
      "dl",
      { class: "figures" },
      ...[["version", again.version], ...again.settings].flatMap(([name, value]) => [
        element("dt", {}, name),
        element("dd", {}, value === "null" ? "default" : value),
      ]),
    ),
    element("p", { class: "digest" }, `SHA-256 of ${again.digest_of}: `, element("code", {}, again.digest)),
  );
}
