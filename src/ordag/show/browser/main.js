// A page about one document: puts everything in its place, and lets all of it follow the state.

import { createCard } from "./card.js";
import { createControls } from "./controls.js";
import { createKeys } from "./keys.js";
import { createOrder } from "./order.js";
import { writeAgain, writeChecks, writeData, writeFound, writeMethods, writeVerdict } from "./panels.js";
import { createSearch } from "./search.js";
import { createStage, createTheme } from "./stage.js";
import { createState } from "./state.js";
import { createTable } from "./table.js";
import { element, refill } from "./text.js";
import { createTip } from "./tip.js";

/** Show a document in this page; returns its state, so that callers can change it. */
export function showReport(doc) {
  const at = (id) => document.getElementById(id);
  const state = createState(doc);
  const say = (words) => {
    at("live").textContent = words;
  };
  const stage = createStage(at, state, createTip(at("tip"), state));

  function fill() {
    const { doc } = state;
    writeFound(doc, at);
    writeVerdict(doc, at);
    createSearch(at("search"), state);
    createCard(at("card"), state);
    createControls(at("controls"), state, say);
    createTable(at("arrows-body"), state, say);
    createOrder(at("order-body"), state);
    writeChecks(doc, at);
    writeMethods(doc, at);
    writeData(doc, at);
    writeAgain(doc, at, say);
    const sections = [...document.querySelectorAll("main section")].filter(
      (one) => !one.hidden && one.id !== "found" && one.id !== "verdict",
    );
    refill(at("contents"), ...sections.map((one) => element("a", { href: `#${one.id}` }, one.querySelector("h2").textContent)));
    stage.draw();
  }

  fill();
  createTheme(at("theme"), () => stage.update(new Set(["theme"])));
  createKeys(at("keys"), at("keys-body"), at("help"), state, stage);
  state.subscribe((changed) => {
    if (changed.has("document")) fill();
    else stage.update(changed);
  }, true);
  return state;
}

const block = document.getElementById("document");
if (block) showReport(JSON.parse(block.textContent));
