// The card of what is selected: an edge with its evidence, or a variable with its equation, causes, effects and total effects.

import { equationOf, figuresOf, groupsOf, meaningOf, neighboursOf, robustnessOf, sureness, titleOf } from "./facts.js";
import { categoryOf, otherEnd, reached, totalEffects } from "./relations.js";
import { element, keepFocus, named, number, refill, shape } from "./text.js";

const MOST_LISTED = 12;

/** Write the card into a box, and keep it to what is selected.
 *
 * more: what a page that can do something adds to it: { pair(k), ends(a, b), variable(j) } give elements for under the title, and
 * intervals(j, tell) calls tell(Map from variables to [low, high]) when it has the intervals of the total effects of j.
 */
export function createCard(box, state, more = null) {
  function paint() {
    const { chosen } = state;
    if (!chosen) refill(box, ...hint(state));
    else if (chosen.pair !== undefined) refill(box, ...aboutPair(state, chosen.pair, more));
    else if (chosen.ends !== undefined) refill(box, ...aboutEnds(state, ...chosen.ends, more));
    else refill(box, ...aboutVariable(state, chosen.variable, more));
  }
  state.subscribe((changed) => {
    if (changed.has("chosen") || changed.has("present")) keepFocus(box, paint);
  });
  paint();
}

function variableButton(state, j, ...after) {
  return element(
    "button",
    { type: "button", class: "chip", onclick: () => state.set({ chosen: { variable: j } }) },
    named(state.doc.names[j], 24),
    ...after,
  );
}

function hint(state) {
  const { doc } = state,
    size = (k) => Math.abs(doc.pairs.standardised?.[k] ?? doc.pairs.strength?.[k] ?? 0);
  const strongest = state.present
    .flatMap((is, k) => (is ? [k] : []))
    .sort((a, b) => size(b) - size(a))
    .slice(0, 6);
  return [
    element("h3", {}, "Nothing selected"),
    element("p", {}, "Select a variable to see its causes, effects and total effects, or an arrow to see the evidence for it."),
    strongest.length ? element("h4", {}, doc.pairs.standardised ? "Strongest edges" : "Most certain edges") : null,
    element(
      "ul",
      { class: "plain" },
      ...strongest.map((k) =>
        element(
          "li",
          {},
          element("button", { type: "button", class: "chip", onclick: () => state.set({ chosen: { pair: k } }) }, ...titleOf(doc, k)),
        ),
      ),
    ),
  ];
}

function close(state) {
  return element(
    "button",
    { type: "button", class: "quiet close", "aria-label": "Clear the selection", onclick: () => state.set({ chosen: null }) },
    "×",
  );
}

function aboutPair(state, k, more) {
  const { doc } = state;
  return [
    close(state),
    element("h3", {}, ...titleOf(doc, k)),
    ...(more?.pair(k) ?? []),
    element("p", {}, ...meaningOf(doc, k, state.relations)),
    element(
      "dl",
      { class: "figures" },
      ...figuresOf(doc, k).flatMap(([name, value, explained]) => [
        element("dt", {}, name),
        element("dd", {}, element("b", {}, value), " ", element("span", { class: "soft" }, explained)),
      ]),
    ),
    element("p", {}, ...sureness(doc, k)),
    robustnessOf(doc, k),
    ...(groupsOf(doc, doc.pairs.source[k], doc.pairs.target[k]) ?? []),
    element("h4", {}, "Equation of the effect"),
    equationOf(doc, doc.pairs.target[k], state.relations) ?? element("p", { class: "soft" }, "A class of graphs has no equations."),
    element("p", {}, "Ends: ", variableButton(state, doc.pairs.source[k]), " ", variableButton(state, doc.pairs.target[k])),
  ];
}

function aboutEnds(state, a, b, more) {
  const { doc } = state;
  return [
    close(state),
    element("h3", {}, named(doc.names[a]), ", ", named(doc.names[b])),
    ...(more?.ends(a, b) ?? []),
    element("p", {}, "The graph does not join these two, and this method keeps no evidence about such pairs."),
    element("p", {}, "Ends: ", variableButton(state, a), " ", variableButton(state, b)),
  ];
}

function aboutVariable(state, j, more) {
  const { doc, relations: related } = state,
    size = (k) => Math.abs(doc.pairs.standardised?.[k] ?? 0);
  const links = (title, list) => {
    if (!list.length) return [element("h4", {}, title), element("p", { class: "soft" }, "none")];
    const sorted = [...list].sort((a, b) => size(b) - size(a));
    const items = sorted
      .slice(0, MOST_LISTED)
      .map((k) =>
        element(
          "li",
          {},
          variableButton(state, otherEnd(doc, k, j)),
          " ",
          element(
            "button",
            { type: "button", class: "chip soft", title: "The evidence for this edge", onclick: () => state.set({ chosen: { pair: k } }) },
            doc.pairs.weight && doc.pairs.weight[k] !== null ? number(doc.pairs.weight[k]) : "evidence",
          ),
        ),
      );
    return [
      element("h4", {}, `${title} (${list.length})`),
      element(
        "ul",
        { class: "plain" },
        ...items,
        list.length > MOST_LISTED ? element("li", { class: "soft" }, `and ${list.length - MOST_LISTED} more`) : null,
      ),
    ];
  };
  if (categoryOf(doc, j)) return aboutCategory(state, j, links);
  const before = [...reached(doc, related, j, true)];
  const equation = equationOf(doc, j, related);
  return [
    close(state),
    element("h3", {}, named(doc.names[j], 60)),
    element("p", { class: "soft" }, neighboursOf(j, related)),
    ...(more?.variable(j) ?? []),
    equation ? element("h4", {}, "Equation") : null,
    equation,
    ...links("Direct causes", related.into[j]),
    ...links("Direct effects", related.out[j]),
    ...(related.lines[j].length ? links("Joined without direction", related.lines[j]) : []),
    element("h4", {}, `All causes, direct and indirect (${before.length})`),
    before.length
      ? element(
          "p",
          {},
          ...before.slice(0, MOST_LISTED).flatMap((i) => [variableButton(state, i), " "]),
          before.length > MOST_LISTED ? `and ${before.length - MOST_LISTED} more` : "",
        )
      : element("p", { class: "soft" }, "none"),
    ...effects(state, j, more),
  ];
}

/** A category: its groups, and their means of the variables that it has an effect on. */
function aboutCategory(state, j, links) {
  const { doc, relations: related } = state,
    { levels, effects: own } = categoryOf(doc, j);
  return [
    close(state),
    element("h3", {}, named(doc.names[j], 60)),
    element("p", { class: "soft" }, `a category of ${levels.length} groups, which may be a cause and has none`),
    ...links("Direct effects", related.out[j]),
    ...own.flatMap((one) => groupsOf(doc, j, one.target)),
  ];
}

/** The total effects of a variable along the learned arrows. */
function effects(state, j, more) {
  const { doc } = state,
    total = totalEffects(doc, j);
  if (!total) return [];
  const spread = doc.model.spread,
    size = (i) => (total.get(i) * spread[j]) / spread[i];
  const sorted = [...total.keys()].sort((a, b) => Math.abs(size(b)) - Math.abs(size(a)));
  const title = element("h4", {}, `Total effects of one unit more (${sorted.length})`);
  if (!sorted.length) return [title, element("p", { class: "soft" }, "none: no arrow leaves this variable")];
  const most = Math.max(...sorted.map((i) => Math.abs(size(i))));
  const ranges = new Map();
  const rows = sorted.slice(0, MOST_LISTED).map((i) => {
    if (more) ranges.set(i, element("td", { class: "soft" }, "…"));
    const long = (44 * Math.abs(size(i))) / most;
    const bar = shape(
      "svg",
      { width: 92, height: 14, "aria-hidden": "true" },
      shape("line", { x1: 46, x2: 46, y1: 0, y2: 14, class: "axis" }),
      shape("rect", {
        x: size(i) < 0 ? 46 - long : 46,
        y: 3,
        width: Math.max(long, 1),
        height: 8,
        class: size(i) < 0 ? "bar minus" : "bar plus",
      }),
    );
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, variableButton(state, i)),
      element("td", {}, number(total.get(i))),
      ranges.get(i) ?? element("td", {}, bar),
    );
  });
  more?.intervals(j, (found) => {
    for (const [i, cell] of ranges)
      cell.textContent = found.has(i)
        ? found
            .get(i)
            .map((end) => number(end))
            .join(" to ")
        : "";
  });
  return [
    title,
    element(
      "table",
      { class: "effects" },
      element("caption", { class: "unseen" }, more ? "Total effects with their intervals" : "Total effects; bars in standard deviations"),
      element("tbody", {}, ...rows),
    ),
    element(
      "p",
      { class: "soft" },
      `${sorted.length > MOST_LISTED ? `And ${sorted.length - MOST_LISTED} smaller ones. ` : ""}Sums over all paths of the learned graph; ${more ? "95 % intervals, if the graph is right" : "bars in standard deviations"}.`,
    ),
  ];
}
