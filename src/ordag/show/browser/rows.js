// Tables of any length: of a long one only the rows in sight are there.

import { element, refill } from "./text.js";

const TALL_ROW = 32;
export const BEYOND = 12;

const ALL = 120;
const PRINTED = 3000;

const tables = new Set(); // those that may be printed

/** Call a method of every table that is still in the page. */
function each(method) {
  for (const one of tables) {
    if (one.element.isConnected) one[method]();
    else tables.delete(one);
  }
}
addEventListener("beforeprint", () => each("all"));
addEventListener("afterprint", () => each("again"));

/** A table in a box of its own that scrolls.
 *
 * columns: { title, explained, value(row) → text or element, text: true for words }. onsort(column number) makes headings buttons.
 * Gives { element, show(rows, sorted) }; `sorted` is [column number, 1 or -1].
 */
export function rowTable(columns, { caption, onsort, onrow, className = "" }) {
  const body = element("tbody");
  const heads = columns.map((column, at) => {
    const title =
      onsort && column.sort !== false ? element("button", { type: "button", onclick: () => onsort(at) }, column.title) : column.title;
    return element("th", { scope: "col", class: column.text ? "words" : "", title: column.explained ?? null }, title);
  });
  const table = element(
    "table",
    { class: className },
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...heads)),
    body,
  );
  const box = element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": caption }, table);
  let rows = [],
    from = -1,
    to = -1;

  function made(row, at) {
    const cells = columns.map((column, c) =>
      element(c === 0 ? "th" : "td", { scope: c === 0 ? "row" : null, class: column.text ? "words" : "" }, column.value(row, at)),
    );
    return element("tr", { "aria-rowindex": at + 2, class: onrow ? "chooses" : "", onclick: onrow ? () => onrow(row) : null }, ...cells);
  }

  function paint(force) {
    const long = rows.length > ALL;
    const first = long ? Math.max(0, Math.floor(box.scrollTop / TALL_ROW) - BEYOND) : 0;
    const last = long ? Math.min(rows.length, first + Math.ceil((box.clientHeight || 600) / TALL_ROW) + 2 * BEYOND) : rows.length;
    if (!force && first === from && last === to) return;
    [from, to] = [first, last];
    const space = (count) => {
      if (!count) return null;
      const cell = element("td", { colspan: columns.length });
      cell.style.height = `${count * TALL_ROW}px`;
      return element("tr", { "aria-hidden": "true", class: "space" }, cell);
    };
    refill(body, space(first), ...rows.slice(first, last).map((row, at) => made(row, first + at)), space(rows.length - last));
  }

  box.addEventListener("scroll", () => requestAnimationFrame(() => paint(false)));
  const self = {
    element: box,
    show(next, sorted = null) {
      rows = next;
      table.setAttribute("aria-rowcount", rows.length + 1);
      heads.forEach((head, at) => {
        if (sorted && sorted[0] === at) head.setAttribute("aria-sort", sorted[1] > 0 ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
      paint(true);
    },
    /** Every row, for paper; of more than a few thousand, how many more there are. */
    all() {
      const more = rows.length - PRINTED;
      const rest = more > 0 ? element("tr", {}, element("td", { colspan: columns.length, class: "words" }, `… and ${more} more`)) : null;
      refill(body, ...rows.slice(0, PRINTED).map(made), rest);
      from = to = -1;
    },
    again: () => paint(true),
  };
  tables.add(self);
  return self;
}
