// The workbench: the user's choices, S, with the answer of the server. Every change is a step of a queue, which asks the server.
//
// S is one plain object (see `freshState`). Nothing edits it: `bench.change(edit, words)` edits a copy, asks, and keeps the copy only
// if the server could answer. Names in S are raw column names; documents have the same names in `raw`, by number.

import { changed, freshState, onlyGoesOn, opened, redone, undone } from "./history.js";
import { measure } from "./painted.js";
import { createQueue, reported } from "./queue.js";
import { ask, file, isAbort, stream } from "./server.js";
import { createState } from "./state.js";

const IDLE = 250; // ms without a change before the forecast is asked for
const MARKED = 6000; // ms for which changes are marked
const MOST_PLACED = 300; // variables up to which the server computes a layout
const MOST_SAID = 3; // steps that are named when several are answered together

/** A workbench; `start` is the first answer of the server (api/start).
 *
 * bench.data: the description of the table, or null. bench.state: S, or null without a table.
 * bench.page: what is drawn (state.js), or null before the first answer; bench.page.doc is the document of S.
 * bench.scales: what the units have changed, or null. bench.changes: what the last answer changed, with `words` on why; or null
 * for the first about a table, of which `bench.opening` has the words.
 * bench.busy: whether an answer to a change is awaited. bench.progress: how far it is, in words, or "". bench.forecast: "", "pending" or "failed", how far the verdict is.
 * bench.trouble: an Error that stands in the way, with `bench.again()` to try once more; or null. bench.lost: whether it stands in the way of nothing
 * yet, because the server was only looked for.
 *
 * bench.subscribe(listener): the listener is called with a Set of: "opened" (another table is there), "answer" (S has its document), "verdict", "busy",
 * "trouble", "refused" (bench.refused is the error), "kept" (what was awaited was given up), "history" (what can be undone and
 * redone), "words" (bench.said), "progress".
 */
export function createBench(start) {
  const listeners = [];
  const bench = { start, data: start.data, state: null, page: null, scales: null, changes: null, opening: "" };
  Object.assign(bench, { busy: false, progress: "", forecast: "", trouble: null, lost: false, refused: null, said: "", ask, file, stream });
  let bare = null, // the document of S as the server gave it
    against = null, // the document that changes are counted against
    forecasting = null,
    idle = 0,
    marking = 0,
    retry = null,
    refusedAfter = 0; // the number of the last step when bench.refused came

  /** The document of a state as it is shown; jobs.js adds the results of jobs. */
  bench.dress = (doc, S) => ({ ...doc });

  /** Call every listener; what one of them throws is reported, and the others are called all the same. */
  const tell = (...told) => listeners.forEach((listener) => reported(() => listener(new Set(told))));
  bench.subscribe = (listener) => listeners.push(listener);
  bench.say = (words) => {
    bench.said = words;
    tell("words");
  };

  const queue = createQueue({
    question,
    waits: () => waits(true),
    moved: () => tell("history"),
    taken,
    kept,
    refused,
    stuck: (error) => stuck(error, queue.send),
  });

  /** Change S: `edit(S)` edits a copy; `words` describe the change, for the history and below the graph.
   *
   * key: changes in a row with the same key are one step of the history (a slider that is dragged). since: the time of the event that
   * asked for it. Gives { done: true }, { refused: error } or, where a later change has taken its place, { replaced: true }.
   */
  bench.change = (edit, words = "", { key = null, since = performance.now() } = {}) =>
    queue.push({ move: (history, id) => changed(history, edit, { id, words, key }), words, key, since });

  /** S with all changes that wait for their answer. */
  bench.wanted = () => queue.wanted().state;

  const lastOf = (list) => queue.wanted()?.[list].at(-1);
  bench.canUndo = () => lastOf("past") !== undefined;
  bench.canRedo = () => lastOf("future") !== undefined;
  /** The words of the change that undo takes back, or redo brings. */
  bench.nextUndo = () => lastOf("past")?.words ?? "";
  bench.nextRedo = () => lastOf("future")?.words ?? "";

  const steps = (list, move, said) => () => {
    const step = lastOf(list);
    if (step) queue.push({ move: (history) => move(history, step.id), words: `${said}${step.words ? `: ${step.words}` : ""}` });
  };
  bench.undo = steps("past", undone, "undone");
  bench.redo = steps("future", redone, "redone");

  /** Lay the graph out again. */
  bench.tidy = () => queue.push({ move: (history) => history, words: "tidied up", tidy: true });

  /** Another table, or a saved state of it: from the start, with no past; `words` say what it is. Gives what a change gives. */
  bench.open = (data, state = freshState(data), words = "") => queue.push({ move: () => opened(data, state), words, opens: true });

  function question({ to, steps }, signal) {
    const has = (what) => steps.some((step) => step[what]);
    const layout = has("tidy") || needsLayout(to.state, has("opens"));
    const progress = ({ words }) => {
      bench.progress = words;
      tell("progress");
    };
    return stream("api/answer", { state: to.state, layout }, progress, signal);
  }

  /** Whether some variable would have no place: at first, and when a column is drawn for the first time. */
  function needsLayout(state, opens) {
    const names = state.columns ?? state.data.names;
    if (names.length > MOST_PLACED) return false;
    const { layout, places } = bench.page ?? {};
    return opens || !layout || names.some((name) => !layout.places.has(name) && !places.has(name));
  }

  /** Take an answer: the one place where S changes. */
  function taken({ from, to, steps, answer }) {
    const opens = steps.some((step) => step.opens),
      { id, since = performance.now() } = steps.at(-1),
      words = wordsOf(steps);
    Object.assign(bench, { data: to.data, state: to.state });
    if (id > refusedAfter) bench.refused = null; // else the refused step waited with these
    calm();
    if (opens) lay(answer, words);
    else {
      if (!onlyGoesOn(from, to)) against = { doc: bench.page.doc, present: bench.page.present };
      show(
        answer,
        words,
        steps.some((step) => step.tidy),
      );
      measure("change", since, words);
    }
    forecast();
  }

  /** Show the first answer about a table. */
  function lay(answer, words) {
    hold(answer);
    bench.changes = against = null;
    bench.opening = words;
    place(bench.dress(bare, bench.state), bench.state.view ?? {});
    tell("opened", "answer");
  }

  /** Show a later answer about it. */
  function show(answer, words, tidy) {
    hold(answer);
    const changes = bench.page.follow(bench.dress(bare, bench.state), { tidy, base: against });
    bench.changes = { ...changes, words, tidy };
    tell("answer");
    marking = setTimeout(() => bench.page.unmark(), MARKED);
  }

  function hold(answer) {
    clearTimeout(marking);
    bare = answer.document;
    bench.scales = answer.scales;
  }

  /** Cancel the forecast: it belongs to the state before, and takes time from the awaited answer. */
  function hush() {
    clearTimeout(idle);
    forecasting?.abort();
    forecasting = null;
  }

  /** Ask for the rest of the verdict when nothing has changed for a moment. */
  function forecast() {
    hush();
    if (!bench.page) return;
    bench.forecast = bench.page.doc.verdict.pending ? "pending" : "";
    tell("verdict");
    if (bench.forecast) idle = setTimeout(foretell, IDLE);
  }

  async function foretell() {
    const mine = (forecasting = new AbortController());
    let rest = null;
    try {
      rest = await ask("api/verdict", { state: bench.state }, { signal: mine.signal });
    } catch (error) {
      if (isAbort(error)) return;
    }
    if (forecasting !== mine) return;
    bench.forecast = rest ? "" : "failed";
    if (rest) {
      const more = rest.pairs || rest.notes.length > bare.notes.length;
      Object.assign(bare, rest);
      if (more) bench.redress();
      else Object.assign(bench.page.doc, bench.dress(bare, bench.state));
    }
    tell("verdict");
  }

  /** Show the document of S again, after a job or the verdict has added to it. */
  bench.redress = () => {
    const { marked } = bench.page;
    bench.page.follow(bench.dress(bare, bench.state), { base: marked ? against : null });
    if (!marked) bench.page.unmark();
    tell("answer", "verdict");
  };

  function waits(is) {
    if (is) hush();
    Object.assign(bench, { busy: is, progress: "" });
    tell("busy");
  }

  function calm() {
    retry = null;
    bench.lost = false;
    const had = bench.trouble;
    bench.trouble = null;
    waits(false);
    if (had) tell("trouble");
  }

  function stuck(error, again, { lost = false } = {}) {
    retry = again;
    Object.assign(bench, { trouble: error, lost });
    waits(false);
    tell("trouble");
  }

  /** Report whether the server is there: null, or an error; `again` looks once more. */
  bench.heard = (error, again) => {
    if (bench.busy) return; // the awaited answer will show it
    if (error && !bench.trouble) stuck(error, again, { lost: true });
    else if (!error && bench.lost) calm();
  };

  function kept() {
    calm();
    tell("kept");
    forecast();
  }

  /** The refusal of an opening is shown by its caller. */
  function refused(error, step) {
    if (step.opens) {
      kept();
      return;
    }
    calm();
    bench.refused = error;
    refusedAfter = queue.last();
    tell("refused");
    forecast();
  }

  /** Repeat what the server did not answer. */
  bench.again = () => retry?.();

  /** Cancel the awaited answer: S stays as it is. */
  bench.cancel = () => {
    queue.drop();
    kept();
  };

  function place(doc, view) {
    if (bench.page) {
      bench.page.places.clear();
      bench.page.open(doc);
    } else bench.page = createState(doc);
    const isPlace = (spot) => Array.isArray(spot) && spot.length === 2 && spot.every((z) => Math.abs(z) < 1e5); // the file may come from anywhere
    for (const [name, spot] of Object.entries(view.places ?? {})) if (isPlace(spot)) bench.page.places.set(name, spot.map(Number));
    if (["graph", "matrix", "neighbourhood"].includes(view.look)) bench.page.look = view.look;
  }

  /** S with the view of the graph, to be saved. */
  bench.saved = () => ({ ...structuredClone(bench.state), view: { look: bench.page.look, places: Object.fromEntries(bench.page.places) } });

  /** Send a file, or the name of a built-in table, to the server; gives the description of the table. */
  bench.upload = (file, signal) =>
    ask("api/data", file, {
      signal,
      headers: { "X-Ordag-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
    });
  bench.builtin = (name) => ask("api/data", { builtin: name });

  /** Functions for files that are not tables, called in turn: (file) → whether it was taken. */
  bench.takers = [];

  /** Open a table that was read; gives an error or null. files.js replaces this while a saved state waits for its table. */
  bench.begin = async (data) => (await bench.open(data)).refused ?? null;

  /** The schema of a method, by name. */
  bench.method = (name) => start.methods.find((one) => one.name === name);
  return bench;
}

/** The words of steps that were answered together. */
function wordsOf(steps) {
  const said = steps.map((step) => step.words).filter(Boolean);
  return [...(said.length > MOST_SAID ? ["…"] : []), ...said.slice(-MOST_SAID)].join("; ");
}
