// The columns of the table: which are in use, in which units, and what the units change.

import { meetNames, shortened } from "./names.js";
import { firstCause } from "./relations.js";
import { pairOf } from "./state.js";
import { counted, element, named, number, refill } from "./text.js";

const SEARCHED = 20; // columns beyond which there is a search
const MOST_LISTED = 150;
const FACTORS = [
  ["×10", 10],
  ["×100", 100],
  ["÷10", 0.1],
  ["÷100", 0.01],
];

const WHY =
  "A unit changes how much a column varies. This method puts the variable that varies least, given the others, first: larger numbers move a column towards the end, smaller ones to the front.";

/** The change of a column's unit, in words. */
function unitWords(change) {
  if (change === undefined || change === 1) return "original unit";
  if (typeof change === "string") return change === "log" ? "logarithm" : "standardised";
  return change > 0 && change < 1 && Number.isInteger(1 / change) ? `÷ ${number(1 / change)}` : `× ${number(change)}`;
}

/** The change of a column's unit in a state, or undefined. Every object inherits names such as `constructor`: only its own count. */
const unitOf = ({ transform }, name) => (Object.hasOwn(transform, name) ? transform[name] : undefined);

/** Change the units of columns, or reset them with undefined. The object is made anew, because `transform.__proto__ = …` would set its prototype. */
function setUnits(state, names, change) {
  const units = new Map(Object.entries(state.transform));
  for (const name of names) {
    if (change === undefined) units.delete(name);
    else units.set(name, change);
  }
  state.transform = Object.fromEntries(units);
}

export function createColumns(box, bench) {
  let open = null,
    wanted = "",
    rows = new Map();
  const scales = element("div", { class: "scales", role: "status" });
  const count = element("span", { class: "soft" });
  const filter = element("input", {
    type: "search",
    placeholder: "filter columns",
    "aria-label": "Filter columns",
    oninput: () => {
      wanted = filter.value.toLowerCase();
      build();
    },
  });
  const list = element("ul", { class: "plain columns-list" });
  const all = (words, edit, title) => element("button", { type: "button", title, onclick: () => bench.change(edit, words) }, words);
  const tools = element(
    "div",
    { class: "toolbar" },
    all(
      "standardise all",
      (state) => setUnits(state, state.columns ?? state.data.names, "standardise"),
      "Every column in standard deviations: what remains does not depend on units",
    ),
    all("original units", (state) => void (state.transform = {}), "Every column as it is in the table"),
    all("use all", (state) => void (state.columns = null), "Use every column"),
  );
  const [, , allIn] = tools.children,
    [, own] = tools.children;
  refill(
    box,
    element("p", { class: "soft" }, "Leave columns out, or change their units and see which arrows reverse."),
    filter,
    list,
    tools,
    count,
  );

  const used = () => new Set(bench.state.columns ?? bench.data.names);

  function change(name, to, event) {
    const words = `${shortened(bench.data.columns.find((one) => one.name === name).shown, 24)}: ${unitWords(to)}`;
    const edit = (state) => setUnits(state, [name], to === 1 ? undefined : to);
    return bench.change(edit, words, { since: event.timeStamp }).then((outcome) => outcome.refused && paint());
  }

  function toggle(column, event) {
    const into = event.target.checked;
    const edit = (state) => {
      const now = new Set(state.columns ?? state.data.names);
      if (into) now.add(column.name);
      else now.delete(column.name);
      state.columns = now.size === state.data.names.length ? null : state.data.names.filter((name) => now.has(name));
    };
    const words = `${shortened(column.shown, 24)} ${into ? "included" : "left out"}`;
    bench.change(edit, words, { since: event.timeStamp }).then((outcome) => outcome.refused && paint());
  }

  function row(column, at) {
    const { name } = column,
      id = `column-${at}`;
    const check = element("input", { type: "checkbox", id, onchange: (event) => toggle(column, event) });
    const unit = element("button", {
      type: "button",
      class: "unit",
      "aria-controls": `${id}-unit`,
      onclick: () => {
        open = open === name ? null : name;
        paint();
      },
    });
    const field = element("input", {
      type: "number",
      step: "any",
      class: "factor",
      "aria-label": `Factor of ${column.shown}`,
      onchange: (event) => change(name, field.value === "" ? undefined : Number(field.value), event),
    });
    const factor = () => {
      const now = unitOf(bench.wanted(), name); // also of a press that waits for its answer
      return typeof now === "number" ? now : 1;
    };
    const by = ([words, times]) =>
      element("button", { type: "button", onclick: (event) => change(name, Number((factor() * times).toPrecision(12)), event) }, words);
    const log = element(
      "button",
      {
        type: "button",
        disabled: !column.positive,
        title: column.positive ? "Take logarithms of its values" : "No logarithm: some values are not positive",
        onclick: (event) => change(name, "log", event),
      },
      "log",
    );
    const standard = element(
      "button",
      { type: "button", title: "In standard deviations", onclick: (event) => change(name, "standardise", event) },
      "standardise",
    );
    const reset = element(
      "button",
      { type: "button", title: "As it is in the table", onclick: (event) => change(name, undefined, event) },
      "reset",
    );
    const edit = element(
      "div",
      { class: "unit-edit", id: `${id}-unit` },
      element("span", { class: "slide" }, "×", field, ...FACTORS.map(by)),
      log,
      standard,
      reset,
      column.positive ? null : element("p", { class: "soft" }, "No logarithm here: some values are not positive."),
    );
    const item = element("li", { class: "column" }, check, element("label", { for: id }, named(column.shown, 22)), unit, edit);
    return { item, check, unit, edit, field, reset };
  }

  function build() {
    const found = bench.data.columns.filter((one) => one.shown.toLowerCase().includes(wanted));
    rows = new Map(found.slice(0, MOST_LISTED).map((column, at) => [column.name, row(column, at)]));
    const more = found.length - rows.size;
    refill(
      list,
      ...[...rows.values()].map((one) => one.item),
      more > 0 ? element("li", { class: "soft" }, `and ${more} more: filter by name`) : null,
    );
    paint();
  }

  function paint() {
    const now = used();
    for (const [name, one] of rows) {
      const unit = unitOf(bench.state, name);
      one.check.checked = now.has(name);
      one.item.classList.toggle("out", !now.has(name));
      one.unit.textContent = unitWords(unit);
      one.unit.classList.toggle("set", unit !== undefined);
      one.unit.setAttribute("aria-expanded", String(open === name));
      one.edit.hidden = open !== name;
      one.field.value = typeof unit === "number" || unit === undefined ? (unit ?? 1) : "";
      one.reset.disabled = unit === undefined;
    }
    count.textContent = `${now.size} of ${counted(bench.data.names.length, "column")} in use`;
    own.disabled = !Object.keys(bench.state.transform).length;
    allIn.disabled = bench.state.columns === null;
    paintScales();
  }

  /** What the units have changed, compared with the original ones. */
  function paintScales() {
    const { scales: found } = bench,
      near = bench.data.names.length <= SEARCHED && rows.get(open)?.edit;
    if (near) near.append(scales);
    else list.after(scales);
    scales.classList.toggle("turned", Boolean(found?.turned.length));
    if (!found) {
      refill(scales);
      return;
    }
    const { page } = bench,
      [count, ...more] = found.sentence.split(/(?<=\.) /),
      rests = more.join(" ");
    const turned = found.turned
      .slice(0, 8)
      .map(([i, j]) =>
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", class: "chip", onclick: () => page.set({ chosen: pairOf(page.doc, i, j) }) },
            named(page.doc.names[i], 16),
            " → ",
            named(page.doc.names[j], 16),
          ),
          element("span", { class: "soft" }, " was the other way round"),
        ),
      );
    refill(
      scales,
      element("p", {}, element("b", {}, count), ` ${found.turned.length ? WHY : rests}`),
      element("ul", { class: "plain" }, ...turned),
      found.turned.length > 8 ? element("p", { class: "soft" }, `and ${found.turned.length - 8} more`) : null,
      found.turned.length ? why(rests) : null,
    );
    // below the button that was pressed
    if (found.turned.length && near?.contains(document.activeElement)) scales.scrollIntoView({ block: "nearest" });
  }

  const why = (rests) =>
    element(
      "details",
      {},
      element("summary", {}, "Why a unit can reverse an arrow"),
      element("p", {}, rests),
      element(
        "p",
        {},
        "That two columns move together does not show which of them is the cause. This method decides by variances: it assumes that all errors are about equally large, so that a cause varies less than its effects.",
      ),
      element(
        "p",
        {},
        "A variance is in squared units. With a factor of 100 it is 10 000 times as large, and a cause then looks like an effect. The causes themselves have not changed.",
      ),
      element(
        "p",
        {},
        "So trust these directions only where the units of all columns can be compared. Where they cannot, standardise, use pc or ges, or add what you know.",
      ),
    );

  bench.subscribe((changed) => {
    if (changed.has("opened")) {
      meetNames(bench.data.columns.map(({ shown }) => shown)); // also of columns that are left out
      const { doc, relations } = bench.page;
      open = doc.raw[firstCause(doc, relations)]; // a change of its unit turns most arrows
      wanted = filter.value = "";
      filter.hidden = bench.data.names.length <= SEARCHED;
      list.classList.toggle("long", !filter.hidden);
      build();
    } else if (bench.state && ["answer", "refused", "kept"].some((name) => changed.has(name))) paint();
  });
}
