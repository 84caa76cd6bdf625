// Jobs in the background: resamples, checks, other methods. Each can be stopped. A result belongs to the state that it was started with:
// it is shown as old for another state, and comes back with its own.

import { keyOfState } from "./history.js";
import { writeChecks, writeMethods } from "./panels.js";
import { isAbort } from "./server.js";
import { element, refill } from "./text.js";

const MOST_KEPT = 8; // results of each kind
const REPLICATES = 100;
const OF_SAMPLES = ["pairs", "level", "fixed", "found", "verdict", "again"]; // the parts of a document that support changes

/** Write the forms and results of the jobs into the page's parts for support, checks, scales and methods; `at` finds parts by id. */
export function createJobs(at, bench) {
  const now = () => keyOfState(bench.state);

  /** One kind of job: a form to start it, its progress, and its results by state. */
  function createJob({ path, title, words, inputs, asked, begin, again, parts, found }) {
    const kept = new Map();
    let running = null,
      problem = "",
      written = null; // the result that is on the page
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
        state = structuredClone(bench.state),
        { names } = bench.page.doc;
      problem = "";
      bar.removeAttribute("value");
      told.textContent = "starting …";
      paint();
      try {
        const result = await bench.stream(
          path,
          { state, ...asked() },
          ({ share, words: said }) => {
            if (share === null || share === undefined) bar.removeAttribute("value");
            else bar.value = share;
            told.textContent = `${said}${key === now() ? "" : " (for an earlier state)"}`;
          },
          mine.signal,
        );
        if (running !== mine) return;
        kept.delete(key);
        kept.set(key, { names, ...result });
        if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
        running = null;
        told.textContent = "";
        bench.say(`${title}: done.`);
        bench.redress();
      } catch (error) {
        if (running !== mine) return;
        running = null;
        told.textContent = "";
        problem = isAbort(error) ? "" : error.message;
        bench.say(problem ? `${title}: ${problem}` : `${title}: stopped.`);
        paint();
      }
    }

    /** Show the result of the present state, or else the last one, marked as old. */
    function paint() {
      const result = kept.get(now()),
        last = result ?? [...kept.values()].at(-1);
      button.textContent = last ? again : begin;
      button.disabled = running !== null;
      stop.hidden = bar.hidden = running === null;
      const words = problem || (last && !result ? "This is the result of an earlier state: undo the changes since, or run it again." : "");
      old.hidden = !words;
      old.textContent = words;
      if (last !== written) found(last ?? null);
      written = last;
      for (const part of parts) part.classList.toggle("stale", last !== undefined && !result);
    }

    /** Drop everything, for another table. */
    function forget() {
      running?.abort();
      running = null;
      problem = told.textContent = "";
      kept.clear();
    }
    return { form, paint, forget, of: (key) => kept.get(key) };
  }

  const number = (label, value, least, most) =>
    element("input", { type: "number", "aria-label": label, value, min: least, max: most, step: 1, required: true });
  const labelled = (words, input) => element("label", {}, `${words} `, input);

  const replicates = number("How many resamples", REPLICATES, 10, 100000);
  const resampled = element("p", { class: "soft fresh" });
  const support = createJob({
    path: "api/jobs/bootstrap",
    title: "Resamples",
    words: "Learn again from resamples of the rows: how often is each arrow found?",
    inputs: [labelled("resamples", replicates)],
    asked: () => ({ replicates: Number(replicates.value) }),
    begin: "start",
    again: "run again",
    parts: [resampled],
    found(result) {
      resampled.textContent = result
        ? `Arrows show the support of ${result.replicates.toLocaleString("en")} resamples (seed ${result.seed}): on the card, in the list, and by how faint they are drawn.`
        : "";
    },
  });

  const checks = createJob({
    path: "api/jobs/check",
    title: "Checks",
    words: "The assumptions of the method, checked one by one, with charts.",
    inputs: [],
    asked: () => ({}),
    begin: "check",
    again: "check again",
    parts: [at("checks-body"), at("scales-body")],
    found(result) {
      if (result) writeChecks({ findings: result.findings }, at);
      else refill(at("checks-body"));
      at("scales").hidden = !result || at("scales").hidden;
    },
  });

  const known = bench.start.methods.filter((one) => one.name !== "auto"),
    own = new Map(bench.page.doc.again.settings).get("method");
  const choices = known.map(({ name }) => element("input", { type: "checkbox", value: name, checked: name !== "gds" && name !== own }));
  const methods = createJob({
    path: "api/jobs/compare",
    title: "Methods side by side",
    words: "Other methods on the same columns, with the same knowledge and default settings.",
    inputs: choices.map((box) => element("label", {}, box, ` ${box.value}`)),
    asked: () => ({ methods: choices.filter((box) => box.checked).map((box) => box.value) }),
    begin: "compare",
    again: "compare again",
    parts: [at("methods-body")],
    found(result) {
      const part = at("methods-body");
      if (result) writeMethods(result, (id) => (id === "methods" ? part : at(id)));
      else refill(part);
    },
  });

  refill(at("support-body"), support.form, resampled);
  refill(at("checks-jobs"), checks.form);
  refill(at("methods-jobs"), methods.form);

  /** The document of a state with the results of its jobs. */
  bench.dress = (doc, S) => {
    const key = keyOfState(S),
      sampled = support.of(key),
      checked = checks.of(key);
    const dressed = { ...doc };
    for (const name of sampled ? OF_SAMPLES : []) dressed[name] = sampled.document[name];
    if (checked) Object.assign(dressed, { found: checked.found, verdict: checked.verdict });
    return dressed;
  };

  /** The number of resamples of the support that is shown, or null. */
  bench.replicates = () => support.of(now())?.replicates ?? null;

  const jobs = [support, checks, methods];
  bench.subscribe((changed) => {
    if (changed.has("opened")) jobs.forEach((job) => job.forget());
    if (changed.has("answer")) jobs.forEach((job) => job.paint());
  });
  jobs.forEach((job) => job.paint());
}
