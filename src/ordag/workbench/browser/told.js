// Sentences below the graph: what a change did, how far the awaited answer is, and what the server refused.

import { changeWords } from "./changes.js";
import { counted, element, refill } from "./text.js";

const PATIENCE = 400; // ms before the progress of an answer is shown
const OF_NAMES = 20; // letters: longer names may be shortened

/** Begin a sentence with a capital letter, unless it begins with a name. */
function begun(words, columns) {
  if (columns.some(({ shown }) => words.startsWith(shown.slice(0, OF_NAMES)))) return words;
  return `${words[0].toUpperCase()}${words.slice(1)}`;
}

/** How far the awaited answer is, and a button that gives it up. */
export function createProgress(bench) {
  const words = element("span");
  bench.subscribe((changed) => {
    if (changed.has("busy") || changed.has("progress")) words.textContent = `${bench.progress || "working"} …`;
  });
  return [words, " ", element("button", { type: "button", class: "quiet", onclick: bench.cancel }, "stop")];
}

export function createTold(at, bench) {
  let waiting = 0;
  const progress = createProgress(bench);

  function paint() {
    const { changes, page } = bench,
      words = changes ? changes.words : bench.opening;
    const upwards = page.upwards ?? 0;
    const edges = page.present.filter(Boolean).length;
    const parts = changes ? changeWords(page.doc, changes) : [];
    const lead = words ? element("b", {}, `${begun(words, bench.data.columns)}. `) : null;
    const rest = parts.length ? [...parts, "."] : [changes ? `The same ${counted(edges, "arrow")} as before.` : ""];
    refill(at("told"), element("p", {}, lead, ...rest));
    at("tidy").classList.toggle("wanted", upwards > 0);
    at("tidy").title = upwards
      ? `Lay the graph out again: ${counted(upwards, "arrow points", "arrows point")} upwards`
      : "Lay the graph out again, causes above effects";
  }

  function wait() {
    clearTimeout(waiting);
    if (!bench.busy || !bench.page) return;
    waiting = setTimeout(() => refill(at("told"), element("p", { class: "soft" }, ...progress)), PATIENCE);
  }

  function refused() {
    const close = element("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: hide }, "×");
    refill(at("refused"), element("p", {}, element("b", {}, "Not applied. "), bench.refused.message), close);
    at("refused").hidden = false;
  }

  function hide() {
    bench.refused = null;
    at("refused").hidden = true;
  }

  bench.subscribe((changed) => {
    if (changed.has("busy")) wait();
    if (bench.page && ["answer", "refused", "kept"].some((name) => changed.has(name))) paint();
    if (changed.has("refused")) refused();
    if (changed.has("answer") && !bench.refused) hide();
  });
}
