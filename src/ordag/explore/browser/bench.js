// The workbench: everything that a person has chosen, S, with its history; every change is one question to the server.
//
// S is one plain object (see `freshState`). Nothing edits it: `bench.change(edit, words)` edits a copy, asks, and keeps the copy only
// if the server could answer. Names in S are raw column names; documents have the same names in `raw`, by number.

import { createState } from "./state.js";
import { Refusal, ask, file, isAbort, stream } from "./server.js";

const PATIENCE = 300; // ms for which a change waits for the answer to the one before
const IDLE = 250; // ms without a change before the forecast is asked for
const MARKED = 6000; // ms for which changes are pointed at
const MOST_PAST = 500;
const MOST_PLACED = 300; // variables up to which the server lays a graph out

/** The state of a table about which nothing was chosen yet. */
export function freshState(data) {
  const { id, name, rows, names, digest, builtin, transform } = data;
  return {
    format: "ordag-workbench",
    version: 1,
    data: { id, name, rows, names, digest, builtin },
    method: "auto",
    settings: {},
    columns: null,
    transform: { ...transform },
    knowledge: { tiers: [], required: [], forbidden: [], roots: [], sinks: [] },
    view: {},
  };
}

/** A workbench; `start` is what the server says at first (api/start).
 *
 * bench.data: the description of the table, or null. bench.state: S, or null without a table.
 * bench.page: what is drawn (state.js), or null before the first answer; bench.page.doc is the document of S.
 * bench.scales: what the units have changed, or null. bench.changes: what the last answer changed, with `words` on why.
 * bench.busy: whether an answer to a change is awaited. bench.forecast: "", "searching" (the document is that of the first graph of a
 * search that goes on), "pending" or "failed", how far the verdict is.
 * bench.trouble: an Error that stands in the way, with `bench.again()` to try once more; or null.
 *
 * bench.subscribe(listener) is told of a Set of: "opened" (another table is there), "answer" (S has its document), "verdict", "busy",
 * "trouble", "refused" (bench.refused is the error), "kept" (what was awaited was given up), "data", "words" (bench.said).
 */
export function createBench(start) {
  const listeners = [];
  const bench = { start, data: start.data, state: null, page: null, scales: null, changes: null };
  Object.assign(bench, { busy: false, forecast: "", trouble: null, refused: null, said: "", ask, file, stream });
  let bare = null, // the document of S as the server gave it
    past = [],
    future = [],
    pending = [],
    running = null,
    sent = 0,
    hurry = 0,
    against = null, // what the changes of the last answer are counted from
    forecasting = null,
    unfinished = null, // of S, if its document is that of the first graph of a search: the change that asked for it
    finishing = null,
    idle = 0,
    marking = 0,
    retry = null;

  /** The document of a state as it is shown: others add what they have found out about that state meanwhile. */
  bench.dress = (doc, S) => ({ ...doc });

  /** Every listener is told, whatever happens in another; a fault in one is an error of the page, not of the question. */
  const tell = (...changed) => listeners.forEach((listener) => reported(() => listener(new Set(changed))));
  bench.subscribe = (listener) => listeners.push(listener);
  bench.say = (words) => {
    bench.said = words;
    tell("words");
  };
  bench.canUndo = () => past.length > 0;
  bench.canRedo = () => future.length > 0;
  /** The words of the change that undo takes back, or redo brings. */
  bench.nextUndo = () => past.at(-1)?.words ?? "";
  bench.nextRedo = () => future.at(-1)?.words ?? "";

  /** A change: `edit(S)` edits a copy. `words` says it, for the history and beside what it did.
   *
   * key: changes in a row with the same key are one step of the history (a slider that is dragged). since: the time of the event that
   * asked for it. Gives { done: true }, { refused: error } or, where a later change has taken its place, { replaced: true }.
   */
  bench.change = (edit, words = "", { key = null, since = performance.now() } = {}) =>
    new Promise((settle) => {
      pending.push({ edit, words, key, since, settle });
      if (!running) send();
      else (clearTimeout(hurry), (hurry = setTimeout(send, Math.max(0, sent + PATIENCE - performance.now()))));
    });

  /** Ask for S with all changes that are pending. An answer that is on its way is waited for, if it does not take long. */
  async function send() {
    clearTimeout(hurry);
    running?.abort();
    const mine = (running = new AbortController());
    sent = performance.now();
    const asked = pending.filter((one, i) => one.key === null || pending[i + 1]?.key !== one.key);
    pending.filter((one) => !asked.includes(one)).forEach((one) => one.settle({ replaced: true }));
    pending = [...asked];
    const last = asked.at(-1);
    try {
      let wanted = structuredClone(bench.state);
      for (const one of asked) wanted = one.edit(wanted) ?? wanted;
      waits(true);
      const answer = await answered(wanted, mine.signal, { first: true });
      if (running !== mine) return;
      pending = pending.filter((one) => !asked.includes(one));
      take(wanted, answer, { words: last.words, since: last.since, base: step(asked) });
      asked.forEach((one) => one.settle({ done: true }));
      if (pending.length) send();
    } catch (error) {
      if (isAbort(error) || running !== mine) return;
      if (!(error instanceof Refusal)) {
        stuck(error, send);
        return;
      }
      pending = pending.filter((one) => one !== last);
      calm();
      refuse(error);
      last.settle({ refused: error });
      if (pending.length) send();
    }
  }

  /** A step of the history; a change with the key of the last one goes on with that. Gives what the answer is to be held against. */
  function step(asked) {
    const { key } = asked.at(-1),
      words = asked
        .map((one) => one.words)
        .filter(Boolean)
        .join("; ");
    future = [];
    if (asked.length === 1 && key !== null && past.at(-1)?.key === key) {
      past.at(-1).words = words;
      return against;
    }
    past = [...past, { state: bench.state, words, key }].slice(-MOST_PAST);
    return null;
  }

  /** first: the first graph of a search that takes long will do for now. */
  function answered(wanted, signal, { layout = needsLayout(wanted), first = false } = {}) {
    return ask("api/answer", { state: wanted, layout, first }, { signal });
  }

  /** Whether some variable would have no place: at first, and when columns come that were never drawn. */
  function needsLayout(wanted) {
    const names = wanted.columns ?? wanted.data.names;
    if (names.length > MOST_PLACED) return false;
    const { layout, places } = bench.page ?? {};
    return !layout || names.some((name) => !layout.places.has(name) && !places.has(name));
  }

  /** S with its answer: the one place where either changes. */
  function take(wanted, answer, { words = "", since = performance.now(), tidy = false, base = null } = {}) {
    Object.assign(bench, { state: wanted, refused: null });
    calm();
    against = base ?? { doc: bench.page.doc, present: bench.page.present };
    show(answer, { words, since, tidy });
    measure("change", since, words);
    forecast();
  }

  /** An answer of S. */
  function show(answer, { words, since, tidy = false }) {
    clearTimeout(marking);
    unfinished = answer.unfinished ? { words, since } : null;
    bare = answer.document;
    bench.scales = answer.scales;
    const changes = bench.page.follow(bench.dress(bare, bench.state), { tidy, base: against });
    bench.changes = { ...changes, words, milliseconds: answer.milliseconds, tidy };
    tell("answer");
    marking = setTimeout(() => bench.page.unmark(), MARKED);
  }

  /** When what is shown now is painted. */
  const painted = () =>
    new Promise((settle) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = settle;
        port2.postMessage(null);
      });
    });

  /** How long it took until what is shown now is painted, for whoever measures. */
  async function measure(name, since, words) {
    await painted();
    performance.measure(name, { start: since, end: performance.now(), detail: { words } });
  }

  /** What the search for S comes to in the end, in the place of its first graph. */
  async function finish() {
    const { words, since } = unfinished;
    waits(true);
    bench.forecast = "searching";
    tell("verdict");
    const mine = (finishing = new AbortController());
    await painted();
    if (finishing !== mine) return;
    try {
      const answer = await answered(bench.state, mine.signal, { layout: false });
      if (finishing !== mine) return;
      finishing = null;
      calm();
      show(answer, { words, since });
      measure("settled", since, words);
      forecast();
    } catch (error) {
      if (isAbort(error) || finishing !== mine) return;
      finishing = null;
      stuck(error, finish);
    }
  }

  /** No more of a forecast, or of a search: it takes time from an answer that is awaited, and is of the state before. */
  function hush() {
    clearTimeout(idle);
    forecasting?.abort();
    finishing?.abort();
    forecasting = finishing = null;
  }

  /** The rest of the search, or of the verdict when nothing has changed for a moment. */
  function forecast() {
    hush();
    if (!bench.page) return;
    if (unfinished) {
      finish();
      return;
    }
    bench.forecast = bench.page.doc.verdict.pending ? "pending" : "";
    tell("verdict");
    if (!bench.forecast) return;
    idle = setTimeout(async () => {
      const mine = (forecasting = new AbortController());
      try {
        const rest = await ask("api/verdict", { state: bench.state }, { signal: mine.signal });
        if (forecasting !== mine) return;
        const more = rest.pairs || rest.notes.length > bare.notes.length;
        Object.assign(bare, rest);
        bench.forecast = "";
        if (more) bench.redress();
        else Object.assign(bench.page.doc, bench.dress(bare, bench.state));
      } catch (error) {
        if (isAbort(error) || forecasting !== mine) return;
        bench.forecast = "failed";
      }
      tell("verdict");
    }, IDLE);
  }

  /** Show the document of S again, because more is known about it. */
  bench.redress = () => {
    const { marked } = bench.page;
    bench.page.follow(bench.dress(bare, bench.state), { base: marked ? against : null });
    if (!marked) bench.page.unmark();
    tell("answer", "verdict");
  };

  function waits(is) {
    if (is) hush();
    bench.busy = is;
    tell("busy");
  }

  function calm() {
    running = null;
    retry = null;
    const had = bench.trouble;
    bench.trouble = null;
    waits(false);
    if (had) tell("trouble");
  }

  function stuck(error, again) {
    running = null;
    retry = again;
    bench.trouble = error;
    waits(false);
    tell("trouble");
  }

  function refuse(error) {
    bench.refused = error;
    tell("refused");
    forecast();
  }

  /** Once more what the server did not answer. */
  bench.again = () => retry?.();

  /** Give up what is awaited: S stays as it is, or is again what it was before the search that is not finished. */
  bench.cancel = () => {
    if (unfinished && !running) {
      bench.undo();
      return;
    }
    rest();
    forecast();
  };

  function rest() {
    hush();
    running?.abort();
    clearTimeout(hurry);
    pending.splice(0).forEach((one) => one.settle({ replaced: true }));
    calm();
    tell("kept");
  }

  /** To a state without a new step of the history. */
  async function go(wanted, options, kept) {
    rest();
    const mine = (running = new AbortController());
    waits(true);
    try {
      const answer = await answered(wanted, mine.signal, { layout: options.tidy || undefined });
      kept?.();
      take(wanted, answer, options);
    } catch (error) {
      if (isAbort(error) || running !== mine) return;
      if (error instanceof Refusal) {
        calm();
        refuse(error);
      } else stuck(error, () => go(wanted, options, kept));
    }
  }

  const steps = (from, to, said) => () => {
    const step = from().at(-1);
    if (!step) return undefined;
    return go(step.state, { words: `${said}${step.words ? `: ${step.words}` : ""}` }, () => {
      from().pop();
      to().push({ ...step, state: bench.state });
    });
  };
  bench.undo = steps(() => past, () => future, "undone"); // prettier-ignore
  bench.redo = steps(() => future, () => past, "done again"); // prettier-ignore

  /** Places worked out afresh. */
  bench.tidy = () => go(bench.state, { words: "tidied up", tidy: true });

  /** Another table, or a saved state of it: from the start, with no past. Gives the error where the server refuses, else null. */
  bench.open = async (data, state = freshState(data)) => {
    rest();
    const mine = (running = new AbortController());
    waits(true);
    try {
      const answer = await answered(state, mine.signal, { layout: (state.columns ?? data.names).length <= MOST_PLACED });
      Object.assign(bench, { data, state, scales: answer.scales, refused: null, changes: null });
      past = [];
      future = [];
      unfinished = null;
      calm();
      bare = answer.document;
      place(bench.dress(bare, state), state.view ?? {});
      tell("opened", "data", "answer");
      forecast();
      return null;
    } catch (error) {
      if (isAbort(error) || running !== mine) return null;
      if (error instanceof Refusal) calm();
      else stuck(error, () => bench.open(data, state));
      return error;
    }
  };

  function place(doc, view) {
    if (bench.page) {
      bench.page.places.clear();
      bench.page.open(doc);
    } else bench.page = createState(doc);
    const isPlace = (spot) => Array.isArray(spot) && spot.length === 2 && spot.every((z) => Math.abs(z) < 1e5); // may be anybody's file
    for (const [name, spot] of Object.entries(view.places ?? {})) if (isPlace(spot)) bench.page.places.set(name, spot.map(Number));
    if (["graph", "matrix", "neighbourhood"].includes(view.look)) bench.page.look = view.look;
  }

  /** S with what is looked at, to be saved. */
  bench.saved = () => ({ ...structuredClone(bench.state), view: { look: bench.page.look, places: Object.fromEntries(bench.page.places) } });

  /** A file or a built-in table to the server: gives its description. */
  bench.upload = (file, signal) =>
    ask("api/data", file, {
      signal,
      headers: { "X-Ordag-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
    });
  bench.builtin = (name) => ask("api/data", { builtin: name });

  /** For files that are no tables: each is asked in turn, (file) → whether it has taken it. */
  bench.takers = [];

  /** A table that has just come; gives an error or null. Whoever waits for one may put something else here. */
  bench.begin = (data) => bench.open(data);

  /** The schema of a method, by name. */
  bench.method = (name) => start.methods.find((one) => one.name === name);
  return bench;
}

/** Do something; what it throws goes to the console and to whoever watches the page for errors. */
function reported(work) {
  try {
    work();
  } catch (error) {
    reportError(error);
  }
}
