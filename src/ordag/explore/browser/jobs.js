// Work that takes a while, beside everything else: resamples, checks, other methods. Each can be stopped, and belongs to the state that it
// was begun with: of another state it is shown as old, and is there again when that state comes back.

import { writeChecks, writeMethods } from "./panels.js";
import { element, refill } from "./text.js";

const MOST_KEPT = 8; // results of each kind
const REPLICATES = 100;

/** What an answer depends on, as text: all of S but what is looked at. */
export function keyOfState({ data, method, settings, columns, transform, knowledge }) {
  return JSON.stringify([data.id, method, settings, columns, transform, knowledge]);
}

/** Fill the boxes { support, checks, scales, methods } of the page. */
export function createJobs(boxes, bench, view) {
  const now = () => keyOfState(bench.state);

  /** One kind of work: a form to begin it, how far it is, and its results by the state that they are of. */
  function createJob({ path, title, words, inputs, asked, begin, again, found }) {
    const kept = new Map();
    let running = null,
      problem = "";
    const form = element(
      "form",
      {
        class: "job",
        "aria-label": title,
        onsubmit: (event) => {
          event.preventDefault();
          run();
        },
      },
      words ? element("p", { class: "soft" }, words) : null,
    );
    const button = element("button", { type: "submit" }, begin);
    const stop = element("button", { type: "button", hidden: true, onclick: () => running?.abort() }, "stop");
    const bar = element("progress", { max: 1, hidden: true, "aria-label": title });
    const told = element("span", { class: "soft told" });
    const old = element("p", { class: "warning old", hidden: true });
    form.append(element("div", { class: "row" }, ...inputs, button, stop), element("div", { class: "row" }, bar, told), old);

    async function run() {
      running?.abort();
      const mine = (running = new AbortController()),
        key = now(),
        state = structuredClone(bench.state);
      problem = "";
      bar.removeAttribute("value");
      told.textContent = "beginning …";
      paint();
      try {
        const result = await bench.stream(
          path,
          { state, ...asked() },
          ({ share, words: said }) => {
            if (share === null || share === undefined) bar.removeAttribute("value");
            else bar.value = share;
            told.textContent = `${said}${key === now() ? "" : " (for the state before the last change)"}`;
          },
          mine.signal,
        );
        kept.delete(key);
        kept.set(key, result);
        if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
        bench.say(`${title}: done.`);
      } catch (error) {
        problem = error.name === "AbortError" ? "" : error.message;
        if (running === mine) bench.say(problem ? `${title}: ${problem}` : `${title}: stopped.`);
      }
      if (running !== mine) return;
      running = null;
      told.textContent = "";
      bench.redress();
    }

    /** How things stand; gives the result of now, or the last one, which is then old. */
    function paint() {
      const result = kept.get(now()),
        last = result ?? [...kept.values()].at(-1);
      button.textContent = last ? again : begin;
      button.disabled = running !== null;
      stop.hidden = bar.hidden = running === null;
      const words =
        problem || (last && !result ? "This is of an earlier state: something was changed since. Undo, or let it be made again." : "");
      old.hidden = !words;
      old.textContent = words;
      found(last ?? null, result !== undefined);
    }
    return { form, paint, of: (key) => kept.get(key) };
  }

  const number = (label, value, least, most) =>
    element("input", { type: "number", "aria-label": label, value, min: least, max: most, step: 1, required: true });
  const labelled = (words, input) => element("label", {}, `${words} `, input);

  const replicates = number("How many resamples", REPLICATES, 10, 100000),
    seed = number("Seed of the resamples", 0, 0, 2 ** 32 - 1);
  const resampled = element("p", { class: "soft" });
  const support = createJob({
    path: "api/jobs/bootstrap",
    title: "Resamples",
    words: "Learn again from resamples of the rows: how often is each arrow found?",
    inputs: [labelled("resamples", replicates), labelled("seed", seed)],
    asked: () => ({ replicates: Number(replicates.value), seed: Number(seed.value) }),
    begin: "begin",
    again: "once more",
    found(result, fresh) {
      resampled.textContent =
        result && fresh
          ? `The arrows have the support of ${result.replicates.toLocaleString("en")} resamples (seed ${result.seed}): in the card, in the list, and as how faint they are.`
          : "";
    },
  });

  const findings = element("div", { class: "result" }),
    checkParts = { "checks-body": findings, scales: boxes.scales.closest("section") ?? boxes.scales, "scales-body": boxes.scales };
  const checks = createJob({
    path: "api/jobs/check",
    title: "Checks",
    words: "What the method takes for granted, looked at one by one, with pictures.",
    inputs: [],
    asked: () => ({}),
    begin: "check",
    again: "check again",
    found(result, fresh) {
      if (result) writeChecks({ findings: result.findings, unchecked: result.unchecked ?? "" }, (id) => checkParts[id]);
      else refill(findings);
      if (!result) checkParts.scales.hidden = true;
      for (const part of [findings, boxes.scales]) part.classList.toggle("stale", Boolean(result) && !fresh);
    },
  });

  const known = bench.start.methods.filter((one) => one.name !== "auto");
  const choices = known.map((one) => element("input", { type: "checkbox", value: one.name, checked: one.name !== "gds" }));
  const beside = element("div", { class: "result" }),
    table = element("div"),
    methodParts = { methods: beside, "methods-body": table };
  beside.append(table);
  const methods = createJob({
    path: "api/jobs/compare",
    title: "Methods side by side",
    words: "Other methods on the same columns, with the same knowledge and their usual settings.",
    inputs: choices.map((box) => element("label", {}, box, ` ${box.value}`)),
    asked: () => ({ methods: choices.filter((box) => box.checked).map((box) => box.value) }),
    begin: "compare",
    again: "compare again",
    found(result, fresh) {
      beside.hidden = !result;
      if (result) writeMethods({ names: result.names ?? view.doc.names, comparison: result.comparison }, (id) => methodParts[id]);
      beside.classList.toggle("stale", Boolean(result) && !fresh);
    },
  });

  refill(boxes.support, support.form, resampled);
  refill(boxes.checks, checks.form, findings);
  refill(boxes.methods, methods.form, beside);

  /** The document of a state with what has been found about it meanwhile. */
  bench.dress = (doc, S) => {
    const key = keyOfState(S),
      sampled = support.of(key),
      checked = checks.of(key);
    const dressed = { ...doc };
    if (sampled) Object.assign(dressed, { pairs: sampled.document.pairs, again: sampled.document.again });
    if (checked) Object.assign(dressed, { found: checked.found, verdict: checked.verdict });
    return dressed;
  };

  function paint() {
    support.paint();
    checks.paint();
    methods.paint();
  }
  bench.subscribe((changed) => {
    if (changed.has("answer")) paint();
  });
  paint();
}
