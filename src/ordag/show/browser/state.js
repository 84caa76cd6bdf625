// One object with everything that can change, and those who want to know. Drawings read it, and draw again when told.

import { difference, keyOf, placesIn } from "./changes.js";
import { joined } from "./level.js";
import { meetNames } from "./names.js";
import { relations } from "./relations.js";

const UNCHANGED = { appeared: [], vanished: [], turned: [], opened: [], directed: [] };

const MARKS = ["appeared", "turned", "opened", "directed"];

/** The state of a page about a document.
 *
 * level, correction, support: where the sliders stand; level null is the graph as learned.
 * chosen: { variable }, { pair } or, of two that no pair of the document joins, { ends }, by number; centre: the variable of the
 * neighbourhood. look: graph, matrix or neighbourhood. camera: where the graph is looked at from.
 * layout: the places and ways that were worked out; places: where the user has put variables. Both are by name, for the next document.
 * appeared, vanished, turned, opened, directed: what is other than before, as `difference` has it. marked: whether to point at it.
 */
export function createState(doc) {
  let listeners = [];
  const state = { look: doc.look, chosen: null, hovered: null, centre: null, places: new Map(), marked: false, ...UNCHANGED };

  function settle() {
    const before = state.present;
    Object.assign(state, joined(state.doc, state.level, state.correction, state.support));
    state.relations = relations(state.doc, state.present);
    if (!before || before.length !== state.present.length) return;
    const { source, target } = state.doc.pairs;
    state.appeared = state.present.flatMap((is, k) => (is && !before[k] ? [k] : []));
    state.vanished = state.present.flatMap((is, k) =>
      !is && before[k] ? [{ from: state.doc, k, source: source[k], target: target[k] }] : [],
    );
  }

  function tell(...changed) {
    const names = new Set(changed);
    for (const [listener] of listeners) listener(names);
  }

  function show(content) {
    Object.assign(state, { doc: content, level: null, hovered: null, present: null, marked: false, ...UNCHANGED });
    state.correction = content.level ? content.level.correction : "none";
    settle();
  }

  /** Another document, from the start or later: what is selected goes, places stay, and only lasting listeners are called. */
  state.open = (content) => {
    listeners = listeners.filter(([, lasting]) => lasting);
    meetNames(content.names);
    Object.assign(state, { support: 0, chosen: null, camera: null, layout: layoutOf(content), look: content.look });
    show(content);
    state.centre = state.relations.busiest;
    tell("document", "present", "chosen", "look", "centre");
  };

  /** The next answer about the same variables, or about some of them: everything on the screen stays as it is.
   *
   * With `tidy` its layout replaces the places that there are. Gives what has changed, as `difference` has it, against the answer
   * before or another, `base`.
   */
  state.follow = (content, { tidy = false, base = null } = {}) => {
    const before = { doc: state.doc, present: state.present };
    const { chosen, centre } = state,
      to = placesIn(before.doc, content);
    if (tidy) state.places.clear();
    if (content.layout && (tidy || !state.layout)) state.layout = layoutOf(content);
    show(content);
    const changes = difference(base ?? before, { doc: content, present: state.present });
    Object.assign(state, changes, { marked: true });
    state.chosen = followed(chosen, before.doc, content, to);
    state.centre = to[centre] ?? state.relations.busiest;
    tell("answer", "present", "chosen", "centre", ...(tidy ? ["tidy"] : []));
    return changes;
  };

  /** How a pair is other than before: "appeared", "turned", "opened", "directed" or "". */
  state.markOf = (k) => (state.marked ? (MARKS.find((name) => state[name].includes(k)) ?? "") : "");

  /** No more pointing at what has changed. */
  state.unmark = () => {
    if (!state.marked) return;
    Object.assign(state, { marked: false, ...UNCHANGED });
    tell("marks");
  };

  state.set = (changes) => {
    const names = Object.keys(changes).filter((name) => state[name] !== changes[name]);
    if (!names.length) return;
    Object.assign(state, changes);
    if (changes.chosen && changes.chosen.variable !== undefined && state.centre !== changes.chosen.variable) {
      state.centre = changes.chosen.variable;
      names.push("centre");
    }
    if (names.some((name) => ["level", "correction", "support"].includes(name))) {
      settle();
      names.push("present");
    }
    tell(...names);
  };

  /** Be told of changes, as a set of names: until another document comes, or lastingly. */
  state.subscribe = (listener, lasting = false) => listeners.push([listener, lasting]);
  state.tell = tell;
  state.open(doc);
  return state;
}

/** What was selected, in another document. */
function followed(chosen, before, doc, to) {
  if (!chosen) return null;
  if (chosen.variable !== undefined) return to[chosen.variable] === undefined ? null : { variable: to[chosen.variable] };
  const ends = chosen.ends ?? [before.pairs.source[chosen.pair], before.pairs.target[chosen.pair]];
  const [a, b] = ends.map((j) => to[j]);
  if (a === undefined || b === undefined) return null;
  return pairOf(doc, a, b);
}

/** Two variables as a selection: the pair that joins them, in either direction, or else the two. */
export function pairOf(doc, a, b) {
  const { source, target } = doc.pairs;
  const k = source.findIndex((one, at) => (one === a && target[at] === b) || (one === b && target[at] === a));
  return k < 0 ? { ends: [a, b] } : { pair: k };
}

/** The layout of a document by the names of its variables: places, the points that long edges pass, and which edges it knew. */
function layoutOf(doc) {
  if (!doc.layout) return null;
  const way = (a, b) => JSON.stringify([keyOf(doc, a), keyOf(doc, b)]);
  const { source, target, kind } = doc.pairs;
  return {
    height: doc.layout.height,
    places: new Map(doc.layout.places.map((place, j) => [keyOf(doc, j), place])),
    routes: new Map(doc.layout.routes.map(([a, b, ...flat]) => [way(a, b), flat.flatMap((x, i) => (i % 2 ? [] : [[x, flat[i + 1]]]))])),
    edges: new Set(kind.flatMap((what, k) => (what === "absent" ? [] : [way(source[k], target[k])]))),
  };
}
