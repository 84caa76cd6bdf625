// The history of choices: plain values, and pure functions from one to the next.
//
// A history is { data, state, past, future }: the description of a table, the state S of the page about it, and the steps that lead to S
// and on from it. A step has the state on its other side, `words` that say it, a `key`, and an `id` of its own.

const MOST_PAST = 500;

/** The state of a new table. */
export function freshState(data) {
  const { id, name, rows, names, digest, builtin, reading, transform } = data;
  return {
    format: "ordag-workbench",
    version: 1,
    data: { id, name, rows, names, digest, builtin, reading },
    method: "auto",
    settings: {},
    columns: null,
    transform: { ...transform },
    left_out: [],
    knowledge: { tiers: [], required: [], forbidden: [], roots: [], sinks: [] },
    view: {},
  };
}

/** A saved state, for this table. */
export function adopted(S, data) {
  const state = freshState(data);
  for (const name of Object.keys(state)) if (name !== "data") state[name] = S[name] ?? state[name];
  return state;
}

/** Whether a saved state is about this table, read in the same way. */
export const isAbout = (S, data) => S.data.digest === data?.digest && S.data.names.join("\n") === data.names.join("\n");

/** What an answer depends on, as text: all of S but the view. */
export function keyOfState({ data, method, settings, columns, transform, left_out, knowledge }) {
  return JSON.stringify([data.id, method, settings, columns, transform, left_out, knowledge]);
}

/** A table with a state of it, from the start. */
export const opened = (data, state) => ({ data, state, past: [], future: [] });

/** Add a step: `edit(S)` edits a copy. A step with the same key as the last one extends that. */
export function changed(history, edit, { id, words, key = null }) {
  const copy = structuredClone(history.state),
    state = edit(copy) ?? copy,
    last = history.past.at(-1);
  const goesOn = key !== null && last?.key === key;
  const past = goesOn
    ? [...history.past.slice(0, -1), { ...last, id, words }]
    : [...history.past, { id, words, key, state: history.state }];
  return { ...history, state, past: past.slice(-MOST_PAST), future: [] };
}

/** Undo the last step, if it still has this id: it may have been refused meanwhile. */
export const undone = (history, id) => moved(history, id, "past", "future");

/** Redo the step that was undone last, if it still has this id. */
export const redone = (history, id) => moved(history, id, "future", "past");

function moved(history, id, from, to) {
  const step = history[from].at(-1);
  if (step?.id !== id) return history;
  return { ...history, state: step.state, [from]: history[from].slice(0, -1), [to]: [...history[to], { ...step, state: history.state }] };
}

/** Whether the last step was only extended from one history to another, as while a slider is dragged. */
export function onlyGoesOn(from, to) {
  const [last, next] = [from.past.at(-1), to.past.at(-1)];
  return from !== to && next !== undefined && next.key !== null && next.key === last?.key && next.state === last.state;
}
