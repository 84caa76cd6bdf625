// The page of the workbench: puts everything in its place, and lets all of it follow the bench.

import { createActions } from "./actions.js";
import { createBench } from "./bench.js";
import { createCard } from "./card.js";
import { createColumns } from "./columns.js";
import { acceptDrops } from "./drops.js";
import { createFiles } from "./files.js";
import { createHint } from "./hint.js";
import { createJobs } from "./jobs.js";
import { createKeys } from "./keys.js";
import { createKnowledge } from "./knowledge.js";
import { createOrder } from "./order.js";
import { writeAgain, writeData, writeFound, writeVerdict } from "./panels.js";
import { createSearch } from "./search.js";
import { ask } from "./server.js";
import { createSettings, verdictInPageWords } from "./settings.js";
import { createStage, createTheme } from "./stage.js";
import { createTable } from "./table.js";
import { element, named, refill } from "./text.js";
import { createTip } from "./tip.js";
import { createTold } from "./told.js";
import { createWelcome } from "./welcome.js";
import { createWhatIf } from "./whatif.js";

const AFTER = 20; // ms from the frame of the graph to what stands below it: the frame is on its way by then
const at = (id) => document.getElementById(id);
const say = (words) => {
  at("live").textContent = words;
};

async function begin() {
  at("trouble").hidden = true;
  at("waiting").hidden = false;
  try {
    showBench(createBench(await ask("api/start")));
  } catch (error) {
    at("trouble").hidden = false;
    at("waiting").hidden = true;
    refill(at("trouble"), error.message, " ", element("button", { type: "button", onclick: begin }, "try again"));
  }
}

/** Let a bench have this page. */
function showBench(bench) {
  const welcome = createWelcome(at("welcome"), at("welcome-body"), bench);
  let stage = null,
    actions = null;

  /** What is made once, with the first table. */
  function build() {
    const { page } = bench;
    stage = createStage(at, page, createTip(at("tip"), page));
    at("help").hidden = false;
    createKeys(at("keys"), at("keys-body"), at("help"), page, stage, {
      "Ctrl+Z": ["undo", bench.undo],
      "Ctrl+Shift+Z": ["redo", bench.redo],
    });
    createSteps(bench);
    createKnowledge(at("knowledge-body"), bench);
    actions = createActions(bench, createWhatIf(at("whatif-body"), bench));
    createJobs(at, bench);
    page.subscribe((changed) => {
      if (!changed.has("document")) stage.update(changed);
    }, true);
  }

  /** What is made for every table. */
  function fill() {
    const { page } = bench;
    if (!stage) build();
    welcome.hide();
    at("bench").hidden = false;
    refill(at("table"), named(bench.data.shown));
    createSearch(at("search"), page);
    createCard(at("card"), page, actions);
    createTable(at("arrows-body"), behind(page), say);
    createOrder(at("order-body"), behind(page));
    stage.draw();
  }

  function headings() {
    const sections = [...document.querySelectorAll(".below section")].filter((one) => !one.hidden);
    refill(at("contents"), ...sections.map((one) => element("a", { href: `#${one.id}` }, one.querySelector("h2").textContent)));
  }

  function verdict() {
    const doc = verdictInPageWords(bench.page.doc);
    writeFound(doc, at);
    at("title").textContent = bench.data.shown;
    at("badge").hidden = false;
    writeVerdict(doc, at);
    at("forecast").textContent = {
      "": "",
      searching: "A first graph, quickly found; the search for the last one goes on …",
      pending: "working out how often this would be wrong …",
      failed: "How often this would be wrong could not be worked out.",
    }[bench.forecast];
  }

  /** The same state for what stands below the graph: it is told of an answer after the graph is painted. */
  function behind(page) {
    const subscribe = (listener, lasting) =>
      page.subscribe((changed) => {
        if (changed.has("answer") || changed.has("marks")) delayed.set(listener, new Set([...(delayed.get(listener) ?? []), ...changed]));
        else listener(changed);
        if (changed.has("marks")) soon();
      }, lasting);
    return Object.create(page, { subscribe: { value: subscribe } });
  }

  const delayed = new Map();
  let later = 0,
    asked = false;

  function soon() {
    if (!later) later = requestAnimationFrame(() => setTimeout(below, AFTER));
  }

  /** What stands below the graph. */
  function below() {
    later = 0;
    for (const [listener, changed] of delayed) listener(changed);
    delayed.clear();
    if (asked) {
      const { doc } = bench.page;
      writeData(doc, at);
      writeAgain(doc, at, say);
      headings();
    }
    asked = false;
    if (!bench.busy) at("bench").setAttribute("aria-busy", "false");
  }

  function answered() {
    verdict();
    asked = true;
    soon();
  }

  function trouble() {
    at("trouble").hidden = !bench.trouble;
    if (bench.trouble)
      refill(
        at("trouble"),
        bench.trouble.message,
        " ",
        element("button", { type: "button", onclick: bench.again }, "try again"),
        " ",
        element("button", { type: "button", class: "quiet", onclick: bench.cancel }, "leave it"),
      );
  }

  createHint(at("hint"), bench); // before the graph, which is drawn to the room that is left
  bench.subscribe((changed) => {
    if (changed.has("opened")) fill();
    if (changed.has("answer")) answered();
    else if (changed.has("verdict") && bench.page) verdict();
    if (changed.has("busy") && bench.busy) at("bench").setAttribute("aria-busy", "true");
    if (changed.has("refused") || changed.has("kept") || changed.has("trouble")) soon();
    if (changed.has("busy")) at("waiting").hidden = !bench.busy || bench.page !== null;
    if (changed.has("trouble")) trouble();
    if (changed.has("words")) say(bench.said);
  });
  createTheme(at("theme"), () => stage?.update(new Set(["theme"])));
  createSettings(at("settings-body"), bench);
  createColumns(at("columns-body"), bench);
  createTold(at, bench);
  acceptDrops(welcome);
  createFiles({ header: at("files"), told: at("files-told"), exports: at("exports") }, bench);
  at("unfold").addEventListener("click", () => {
    const open = at("opening").classList.toggle("open");
    at("unfold").setAttribute("aria-expanded", String(open));
    at("unfold").textContent = open ? "less" : "more";
  });
  if (bench.data) bench.open(bench.data).then((error) => error && welcome.show(error));
  else {
    at("waiting").hidden = true;
    welcome.show();
  }
}

/** Undo, redo and tidying up. */
function createSteps(bench) {
  const undo = element("button", { type: "button", id: "undo", "aria-label": "Undo", onclick: () => bench.undo() }, "↶");
  const redo = element("button", { type: "button", id: "redo", "aria-label": "Redo", onclick: () => bench.redo() }, "↷");
  refill(at("steps"), undo, redo);
  at("tidy").addEventListener("click", () => bench.tidy());
  const paint = () => {
    undo.disabled = !bench.canUndo();
    redo.disabled = !bench.canRedo();
    undo.title = `undo${bench.nextUndo() ? `: ${bench.nextUndo()}` : ""} (Ctrl+Z)`;
    redo.title = `redo${bench.nextRedo() ? `: ${bench.nextRedo()}` : ""} (Ctrl+Shift+Z)`;
  };
  bench.subscribe((changed) => {
    if (changed.has("answer")) paint();
  });
  paint();
}

begin();
