// The columns of a table: what each is, how its values are distributed, holes, and what to do. The report and the workbench show it.

import { counted, element, named, number, percent, refill, shape } from "./text.js";

const LITTLE_WIDE = 96;
const LITTLE_HIGH = 24;
const MOST_COLUMNS = 200;
const MOST_SHOWN_LEVELS = 3;

/** A little histogram, with its range in words. */
function littleHistogram({ counts, least, most, shown }) {
  const top = Math.max(...counts),
    wide = LITTLE_WIDE / counts.length;
  const words = `${shown}: ${number(least)} to ${number(most)}`;
  return shape(
    "svg",
    {
      class: "little",
      viewBox: `0 0 ${LITTLE_WIDE} ${LITTLE_HIGH}`,
      width: LITTLE_WIDE,
      height: LITTLE_HIGH,
      role: "img",
      "aria-label": words,
    },
    shape("title", {}, words),
    ...counts.map((count, i) => {
      const high = count ? Math.max(1.5, ((LITTLE_HIGH - 1) * count) / top) : 0;
      return shape("rect", { class: "bar", x: i * wide + 0.5, y: LITTLE_HIGH - high, width: Math.max(wide - 1, 0.6), height: high });
    }),
    shape("line", { class: "axis", x1: 0, x2: LITTLE_WIDE, y1: LITTLE_HIGH - 0.5, y2: LITTLE_HIGH - 0.5 }),
  );
}

/** The values: a histogram with its ends, or the commonest levels with their rows. */
function valuesOf(one) {
  if (one.counts.length)
    return element(
      "span",
      { class: "spread" },
      element("span", { class: "end", "aria-hidden": "true" }, number(one.least)),
      littleHistogram(one),
      element("span", { class: "end", "aria-hidden": "true" }, number(one.most)),
    );
  const some = one.levels.slice(0, MOST_SHOWN_LEVELS);
  const said = some.flatMap(([text, rows], i) => [i ? ", " : "", named(text, 16), element("span", { class: "soft" }, ` ${rows}`)]);
  return element("span", { class: "levels" }, ...said, one.levels.length > MOST_SHOWN_LEVELS ? " …" : "");
}

/** The missing values of a column; `whole` is the number of rows of the table, of which the first may be all that were looked at. */
function missingOf({ missing, rows }, whole) {
  if (missing === null) return "";
  if (missing && rows < whole) return `${missing.toLocaleString("en")} of the first ${rows.toLocaleString("en")}`;
  return missing ? `${missing.toLocaleString("en")} (${percent(missing / Math.max(rows, missing))})` : "–";
}

/** The reason and what is said of a column. */
function remarkOf(one, act) {
  const words = [one.reason, one.remark].filter(Boolean).join("; ");
  const buttons = act
    ? one.actions.map((action) => element("button", { type: "button", class: "chip", onclick: () => act.does(one, action) }, action.words))
    : [];
  const typed = act ? [] : one.typed.flatMap((text) => [" ", element("code", {}, text)]);
  return element("span", { class: "remark" }, words, ...typed, ...(words && buttons.length ? [" "] : []), ...buttons);
}

/** The table of the columns.
 *
 * columns: those of the document. act, in a page that can change them: { roles: words by role, cast(column, role), does(column, action) }.
 */
export function overviewTable(columns, act = null) {
  const head = ["column", "role", "values", "missing", "remark"];
  const choice = (one) => {
    const able = Object.entries(act.roles).filter(([role]) => one.number || role !== "variable");
    const own = able.some(([role]) => role === one.role) ? [] : [[one.role, one.word]];
    return element(
      "select",
      { "aria-label": `Role of ${one.shown}`, "data-name": one.name, onchange: (event) => act.cast(one, event.target.value) },
      ...[...own, ...able].map(([role, words]) => element("option", { value: role, selected: role === one.role }, words)),
    );
  };
  const whole = Math.max(...columns.map((one) => one.rows ?? 0));
  const row = (one) =>
    element(
      "tr",
      { class: ["variable", "cause"].includes(one.role) ? "" : "aside" },
      element("th", { scope: "row", class: "words" }, named(one.shown, 28)),
      element("td", { class: "words role" }, act && one.role !== "unusable" ? choice(one) : one.word),
      element("td", { class: "words" }, valuesOf(one)),
      element("td", {}, missingOf(one, whole)),
      element("td", { class: "words" }, remarkOf(one, act)),
    );
  const more = columns.length - MOST_COLUMNS;
  return element(
    "div",
    { class: "rows overview", tabindex: 0, role: "region", "aria-label": "The columns of the table" },
    element(
      "table",
      {},
      element("caption", { class: "unseen" }, "The columns: role, values, missing values and remarks"),
      element(
        "thead",
        {},
        element("tr", {}, ...head.map((title, i) => element("th", { scope: "col", class: i === 3 ? "" : "words" }, title))),
      ),
      element("tbody", {}, ...columns.slice(0, MOST_COLUMNS).map(row)),
    ),
    more > 0 ? element("p", { class: "soft" }, `and ${counted(more, "more column")}`) : null,
  );
}

/** The map of the holes: which columns are missing together, in how many rows. */
export function holesMap(map) {
  const { names, patterns, complete } = map;
  const rows = [[[], complete], ...patterns].filter(([, count]) => count),
    most = Math.max(...rows.map(([, count]) => count));
  const line = ([absent, count]) => {
    const gone = new Set(absent);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, count.toLocaleString("en")),
      element(
        "td",
        { class: "amount", "aria-hidden": "true" },
        shape("svg", { width: 60, height: 12 }, shape("rect", { class: "bar", width: Math.max(1, (60 * count) / most), height: 12 })),
      ),
      ...names.map((_, k) =>
        element("td", { class: gone.has(k) ? "hole" : "" }, gone.has(k) ? element("span", { class: "unseen" }, "missing") : ""),
      ),
    );
  };
  const table = element(
    "table",
    { class: "holes" },
    element("caption", { class: "unseen" }, "Which values are missing together: one line for each pattern, with its rows"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "rows"),
        element("th", { "aria-hidden": "true" }),
        ...names.map((name) => element("th", { scope: "col", class: "name" }, named(name, 14))),
      ),
    ),
    element("tbody", {}, ...rows.map(line)),
    element(
      "tfoot",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "row" }, "missing"),
        element("td", {}),
        ...map.missing.map((count) => element("td", {}, count.toLocaleString("en"))),
      ),
    ),
  );
  const more = [
    map.more_rows ? `${counted(map.more_rows, "row")} with other patterns` : "",
    map.more_names ? `${counted(map.more_names, "column")} with fewer holes` : "",
    map.empty ? `${counted(map.empty, "row")} without any value, or without a covariate` : "",
  ].filter(Boolean);
  return refill(
    element("div", {}),
    element("h3", { class: "next" }, "Where values are missing"),
    element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Map of the holes" }, table),
    more.length ? element("p", { class: "soft" }, `Not shown: ${more.join("; ")}.`) : null,
  );
}
