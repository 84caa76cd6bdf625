// Steps on their way to the server. The wanted history moves at once; only its last state is asked for, one question at a time.
//
// A step is { move, words, since, key, opens, tidy }: `move(history, id)` goes from one history (history.js) to the next, and may be
// called more than once. The history whose state has its answer is `here`; what all steps that wait make of it is `wanted`.

import { Refusal, isAbort } from "./server.js";

const PATIENCE = 300; // ms for which a step waits for the answer to the one before

/** Make a queue; it calls these functions:
 *
 * question({ to, steps }, signal): ask for the state of the history `to`, to which the steps lead; gives a promise of the answer.
 * waits(): a question is on its way. moved(): what is wanted is another. taken({ from, to, steps, answer }): `to` is here now.
 * kept(): nothing is awaited any more, and the state is what it was. refused(error, step). stuck(error): there was no answer; the steps
 * wait for another `send`. Steps have numbers, their `id`.
 *
 * A promise of `push` gives { done: true }, { refused: error } or, where a later step has taken its place, { replaced: true }.
 */
export function createQueue({ question, waits, moved, taken, kept, refused, stuck }) {
  let here = null,
    wanted = null,
    waiting = [],
    oneByOne = false, // after several steps were refused together, to find the one at fault
    running = null,
    sent = 0,
    hurry = 0,
    count = 0;

  const after = (steps) => steps.reduce((history, step) => step.move(history, step.id), here);

  /** Keep these steps waiting, and no others. */
  function keep(steps) {
    wanted = after(steps);
    waiting = steps;
    oneByOne = oneByOne && steps.length > 0;
    moved();
  }

  /** Whether the steps lead back to where they began. A new layout is asked for all the same. */
  const isHere = () => wanted.state === here?.state && !waiting.some((step) => step.tidy);

  function push(step) {
    return new Promise((settle) => {
      keep([...waiting, { key: null, ...step, settle, id: (count += 1) }]);
      if (running && !isHere()) {
        clearTimeout(hurry);
        hurry = setTimeout(next, Math.max(0, sent + PATIENCE - performance.now()));
      } else next();
    });
  }

  function next() {
    if (!waiting.length) return;
    if (!isHere()) {
      send();
      return;
    }
    here = wanted;
    drop();
    kept();
  }

  /** Ask for the wanted state. */
  async function send() {
    halt();
    const goneOn = waiting.filter((step, i) => step.key !== null && waiting[i + 1]?.key === step.key);
    keep(waiting.filter((step) => !goneOn.includes(step)));
    goneOn.forEach((step) => step.settle({ replaced: true }));
    const mine = (running = new AbortController()),
      steps = oneByOne ? waiting.slice(0, 1) : waiting,
      to = oneByOne ? after(steps) : wanted;
    sent = performance.now();
    waits();
    let answer;
    try {
      answer = await question({ to, steps }, mine.signal);
    } catch (error) {
      if (running === mine && !isAbort(error)) failed(error, steps);
      return;
    }
    if (running !== mine) return;
    running = null;
    const from = here;
    here = to;
    keep(waiting.filter((step) => !steps.includes(step)));
    steps.forEach((step) => step.settle({ done: true }));
    reported(() => taken({ from, to, steps, answer }));
    next();
  }

  /** A step that is refused alone is taken out, and those beside it are asked for without it. */
  function failed(error, steps) {
    running = null;
    if (!(error instanceof Refusal)) {
      stuck(error);
      return;
    }
    oneByOne = steps.length > 1;
    if (!oneByOne) {
      const [step] = steps;
      keep(waiting.filter((one) => one !== step));
      step.settle({ refused: error });
      refused(error, step);
    }
    next();
  }

  function halt() {
    clearTimeout(hurry);
    running?.abort();
    running = null;
  }

  /** Drop all waiting steps. */
  function drop() {
    halt();
    const steps = waiting;
    keep([]);
    steps.forEach((step) => step.settle({ replaced: true }));
  }

  return { push, send, drop, wanted: () => wanted, last: () => count };
}

/** Do something; what it throws is reported as an error of the page. */
export function reported(work) {
  try {
    work();
  } catch (error) {
    reportError(error);
  }
}
