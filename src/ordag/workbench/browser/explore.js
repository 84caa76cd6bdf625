// The page of the workbench: builds all parts, and updates them when the bench changes.

import { createActions } from "./actions.js";
import { createBench } from "./bench.js";
import { createCard } from "./card.js";
import { createColumns } from "./columns.js";
import { createConditions } from "./conditions.js";
import { acceptDrops } from "./drops.js";
import { createFiles } from "./files.js";
import { createHint } from "./hint.js";
import { freshState, keyOfState } from "./history.js";
import { createJobs } from "./jobs.js";
import { createKeys } from "./keys.js";
import { createKnowledge } from "./knowledge.js";
import { createOrder } from "./order.js";
import { writeAgain, writeData, writeFound, writeVerdict } from "./panels.js";
import { createOverview } from "./recast.js";
import { keepInTab, keptInTab } from "./reload.js";
import { createSearch } from "./search.js";
import { ask } from "./server.js";
import { createSettings, verdictInPageWords } from "./settings.js";
import { createStage, createTheme } from "./stage.js";
import { createTable } from "./table.js";
import { element, named, refill } from "./text.js";
import { createTip } from "./tip.js";
import { createProgress, createTold } from "./told.js";
import { watchServer } from "./watch.js";
import { createWelcome } from "./welcome.js";
import { createWhatIf } from "./whatif.js";
import { createYours } from "./yours.js";

const AFTER = 20; // ms from the frame of the graph to the update of what is below it
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

/** Show a bench in this page. */
function showBench(bench) {
  const welcome = createWelcome(at("welcome"), at("welcome-body"), bench);
  let stage = null,
    actions = null;

  /** Build what is made once, with the first table. */
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
    createYours(at("yours-body"), bench);
    createJobs(at, bench);
    page.subscribe((changed) => {
      if (!changed.has("document")) stage.update(changed);
    }, true);
  }

  /** Build what is made for every table. */
  function fill() {
    const { page } = bench;
    if (!stage) build();
    delayed.clear(); // of the table before
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
      pending: "estimating how often this is wrong …",
      failed: "How often this is wrong could not be estimated.",
    }[bench.forecast];
  }

  /** The page state for what is below the graph: its listeners are called after the graph is painted. */
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

  /** Update what is below the graph. */
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

  /** The progress of the first graph; that of later ones is shown below the graph. */
  function waiting() {
    at("waiting").hidden = !bench.busy || bench.page !== null;
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
        bench.lost ? null : element("button", { type: "button", class: "quiet", onclick: bench.cancel }, "cancel"),
      );
  }

  refill(at("waiting"), ...createProgress(bench));
  createHint(at("hint"), bench); // before the graph, which is drawn to the room that is left
  bench.subscribe((changed) => {
    if (changed.has("opened")) fill();
    if (changed.has("answer")) answered();
    else if (changed.has("verdict") && bench.page) verdict();
    if (changed.has("busy") && bench.busy) at("bench").setAttribute("aria-busy", "true");
    if (changed.has("refused") || changed.has("kept") || changed.has("trouble")) soon();
    if (changed.has("busy")) waiting();
    if (changed.has("trouble")) trouble();
    if (changed.has("words")) say(bench.said);
  });
  createTheme(at("theme"), () => stage?.update(new Set(["theme"])));
  createSettings(at("settings-body"), bench);
  createColumns(at("columns-body"), bench);
  createOverview(at("overview"), at("overview-words"), at("overview-body"), bench);
  createConditions(at("conditions"), bench);
  createTold(at, bench);
  acceptDrops(welcome);
  createFiles({ header: at("files"), told: at("files-told"), exports: at("exports") }, bench);
  at("unfold").addEventListener("click", () => {
    const open = at("opening").classList.toggle("open");
    at("unfold").setAttribute("aria-expanded", String(open));
    at("unfold").textContent = open ? "less" : "more";
  });
  keepInTab(bench);
  watchServer(bench);
  openFirst(bench).then(({ refused }) => {
    at("waiting").hidden = true;
    if (!bench.page) welcome.show(refused);
  });
}

/** Open what the tab had before a reload, or else the table of the server, if any. */
async function openFirst(bench) {
  const kept = keptInTab(bench.start),
    { data } = bench.start;
  let outcome = {};
  if (kept) {
    const isFresh = keyOfState(kept.state) === keyOfState(freshState(kept.data));
    outcome = await bench.open(kept.data, kept.state, isFresh ? "" : "your choices from before the reload are back");
  }
  return outcome.done || !data ? outcome : bench.open(data);
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
    if (changed.has("answer") || changed.has("history")) paint();
  });
  paint();
}

begin();
