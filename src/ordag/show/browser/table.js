// The table of arrows: sort, filter, copy as CSV.

import { isNearTie, reasonOf } from "./facts.js";
import { rowTable } from "./rows.js";
import { chance, counted, element, named, number, percent, refill } from "./text.js";

const COLUMNS = [
  ["weight", "weight", (value) => number(value), "of the fitted model"],
  ["std_error", "s.e.", (value) => number(value, 2), "standard error of the weight"],
  ["standardised", "standardised", (value) => number(value), "the weight in standard deviations of both ends"],
  ["edge_probability", "edge", percent, "probability that the two are joined"],
  ["probability", "arrow", percent, "probability that they are joined in this direction"],
  ["p_value", "p edge", chance, "p-value of the edge"],
  ["q_value", "q edge", chance, "least false-discovery rate at which it is found"],
  ["direction_p_value", "p direction", chance, "small if the direction is clear"],
  [
    "robustness",
    "robust",
    percent,
    "share of the residual variance of both ends that a hidden common cause would have to explain to reduce the weight to zero",
  ],
  ["support", "support", percent, "share of resamples with the edge"],
  ["direction_support", "same direction", percent, "of the resamples that join the two, the share in this direction"],
];

const CHANGED = { appeared: "new", turned: "reversed", opened: "open now", directed: "directed now" };

export function createTable(box, state, say) {
  let doc, pairs, place, own, columns, rows;
  let sorted = null,
    wanted = "";
  const mark = (k) => {
    const arrow = pairs.kind[k] === "line" ? "—" : "→",
      changed = state.markOf(k);
    return changed ? element("span", { class: `changed ${changed}` }, `${arrow} ${CHANGED[changed]}`) : arrow;
  };
  const reason = (k) => (pairs.kind[k] === "line" ? "open" : isNearTie(pairs, k) ? `${pairs.reason[k]}, near a tie` : pairs.reason[k]);
  const why = (k) => (pairs.kind[k] === "line" ? "its direction is open" : reasonOf(pairs, k));

  /** The document that is shown now; the table is built anew only where it has other columns. */
  function take() {
    ({ doc } = state);
    ({ pairs } = doc);
    place = new Map(doc.order.map((j, at) => [j, at]));
    note.textContent = doc.notes.map((said) => `${said[0].toUpperCase()}${said.slice(1)}.`).join(" ");
    note.hidden = !doc.notes.length;
    const has = COLUMNS.filter(([key]) => pairs[key] && !(key === "p_value" && pairs.edge_probability));
    if (own && has.map(([key]) => key).join() === own.map(([key]) => key).join()) return;
    const by = sorted && columns[sorted[0]].title;
    own = has;
    columns = [
      { title: "from", text: true, value: (k) => named(doc.names[pairs.source[k]]), key: (k) => place.get(pairs.source[k]) },
      { title: "", text: true, sort: false, value: mark },
      { title: "to", text: true, value: (k) => named(doc.names[pairs.target[k]]), key: (k) => place.get(pairs.target[k]) },
      ...own.map(([key, title, write, explained]) => ({
        title,
        explained,
        value: (k) => write(pairs[key][k]),
        key: (k) => pairs[key][k] ?? -Infinity,
      })),
      {
        title: "direction",
        text: true,
        explained: "what decides the direction",
        value: (k) => element("span", { title: why(k) }, reason(k)),
        key: (k) => pairs.reason[k],
      },
    ];
    const at = columns.findIndex((column) => column.title === by);
    sorted = by && at >= 0 ? [at, sorted[1]] : null;
    rows = rowTable(columns, { caption: "Arrows of the graph", onsort, onrow: (k) => state.set({ chosen: { pair: k } }) });
    refill(box, element("div", { class: "toolbar" }, filter, copy, count), rows.element, note);
  }

  function onsort(at) {
    const down = at > 2 && columns[at].title !== "direction" && !columns[at].title.startsWith("p ");
    sorted = [at, sorted && sorted[0] === at ? -sorted[1] : down ? -1 : 1];
    paint();
  }

  const filter = element("input", {
    type: "search",
    id: "arrow-filter",
    placeholder: "filter by name",
    "aria-label": "Filter arrows by name",
    oninput: () => {
      wanted = filter.value.toLowerCase();
      paint();
    },
  });
  const copy = element("button", { type: "button", id: "copy", onclick: copied }, "copy as CSV");
  const count = element("span", { class: "soft", id: "arrow-count" });
  const note = element("p", { class: "soft" });

  function chosen() {
    const found = state.present.flatMap((is, k) =>
      is && [pairs.source[k], pairs.target[k]].some((j) => doc.names[j].toLowerCase().includes(wanted)) ? [k] : [],
    );
    if (!sorted) return found;
    const { key } = columns[sorted[0]],
      compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return found.sort((a, b) => sorted[1] * compare(key(a), key(b)));
  }

  function paint() {
    const found = chosen(),
      all = state.present.filter(Boolean).length;
    count.textContent = found.length === all ? counted(all, "edge") : `${found.length} of ${counted(all, "edge")}`;
    rows.show(found, sorted);
  }

  async function copied() {
    const cell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const head = ["source", "target", "kind", ...own.map(([key]) => key), "reason"];
    const lines = chosen().map((k) => [
      doc.names[pairs.source[k]],
      doc.names[pairs.target[k]],
      pairs.kind[k] === "line" ? "line" : "arrow",
      ...own.map(([key]) => pairs[key][k] ?? ""),
      pairs.reason[k],
    ]);
    const text = [head, ...lines].map((line) => line.map((value) => cell(String(value))).join(",")).join("\n") + "\n";
    const done = await toClipboard(text);
    say(done ? `${counted(lines.length, "row")} copied` : "This browser does not allow the page to copy.");
    copy.textContent = done ? "copied" : "could not copy";
    copy.addEventListener(
      "blur",
      () => {
        copy.textContent = "copy as CSV";
      },
      { once: true },
    );
  }

  state.subscribe((changed) => {
    if (changed.has("answer")) take();
    if (changed.has("present") || changed.has("marks")) paint();
  });
  take();
  paint();
}

/** Put text on the clipboard; where a page from disk may not, by way of a field that is selected. */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
