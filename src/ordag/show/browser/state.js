// One object with everything that can change, and those who want to know. Drawings read it, and draw again when told.

import { joined } from "./level.js";
import { relations } from "./relations.js";

/** The state of a page about a document.
 *
 * level, correction, support: where the sliders stand; level null is the graph as learned.
 * chosen: { variable } or { pair }, by number; centre: the variable of the neighbourhood. look: graph, matrix or neighbourhood.
 * places: where somebody has put variables, by name, so that another document keeps them.
 */
export function createState(doc) {
  let listeners = [];
  const state = { look: doc.look, chosen: null, hovered: null, centre: null, places: new Map(), appeared: [], vanished: [] };

  function settle() {
    const before = state.present;
    Object.assign(state, joined(state.doc, state.level, state.correction, state.support));
    state.relations = relations(state.doc, state.present);
    if (before && before.length === state.present.length) {
      state.appeared = state.present.flatMap((is, k) => (is && !before[k] ? [k] : []));
      state.vanished = state.present.flatMap((is, k) => (!is && before[k] ? [k] : []));
    }
  }

  function tell(...changed) {
    const names = new Set(changed);
    for (const [listener] of listeners) listener(names);
  }

  /** Another document, from the start or later: what is selected goes, places stay, and only those who last are told. */
  state.open = (content) => {
    listeners = listeners.filter(([, lasting]) => lasting);
    Object.assign(state, { doc: content, level: null, support: 0, chosen: null, hovered: null, present: null, appeared: [], vanished: [] });
    state.correction = content.level ? content.level.correction : "none";
    state.look = content.look;
    settle();
    state.centre = state.relations.busiest;
    tell("document", "present", "chosen", "look", "centre");
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
