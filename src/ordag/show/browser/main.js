// A page about one document: puts everything in its place, and lets all of it follow the state.

import { createCard } from "./card.js";
import { createControls } from "./controls.js";
import { legendOf } from "./edges.js";
import { drawGraph } from "./graph.js";
import { createKeys } from "./keys.js";
import { drawMatrix } from "./matrix.js";
import { drawNeighbourhood } from "./neighbourhood.js";
import { createOrder } from "./order.js";
import { writeAgain, writeChecks, writeData, writeFound, writeMethods, writeVerdict } from "./panels.js";
import { createSearch } from "./search.js";
import { createState } from "./state.js";
import { createTable } from "./table.js";
import { element, refill } from "./text.js";
import { createTip } from "./tip.js";

const LOOKS = { graph: drawGraph, matrix: drawMatrix, neighbourhood: drawNeighbourhood };

/** Show a document in this page; gives its state, for whoever wants to change it. */
export function showReport(doc) {
  const at = (id) => document.getElementById(id);
  const state = createState(doc);
  const say = (words) => {
    at("live").textContent = words;
  };
  const tip = createTip(at("tip"), state);
  let drawing = null;

  function draw() {
    tip.hide();
    drawing = LOOKS[state.look](at("drawing"), state, tip);
    for (const tab of at("looks").children) {
      tab.setAttribute("aria-selected", String(tab.dataset.look === state.look));
      tab.tabIndex = tab.dataset.look === state.look ? 0 : -1;
    }
    at("zoom").classList.toggle("without", state.look === "neighbourhood");
    at("drawing").dataset.look = state.look;
    refill(at("legend"), ...legend());
  }

  function legend() {
    if (state.look === "matrix")
      return [
        element(
          "p",
          { class: "soft" },
          "A square raises, a disc lowers; the fuller the colour, the stronger. Pale with a dashed edge: the direction is near a tie or open. A dot: a pair that is not joined; the larger, the nearer to it.",
        ),
      ];
    const found = legendOf(state.doc, state.present).map(([picture, words]) => element("span", {}, picture, words));
    return state.look === "graph"
      ? [...found, element("span", { class: "hint" }, "drag to move; Ctrl and the wheel, or two fingers, to zoom")]
      : found;
  }

  refill(
    at("looks"),
    ...Object.keys(LOOKS).map((look) =>
      element(
        "button",
        {
          type: "button",
          role: "tab",
          "data-look": look,
          "aria-controls": "drawing",
          title: `${look} (${look[0]})`,
          onclick: () => state.set({ look }),
          onkeydown: (event) => {
            const names = Object.keys(LOOKS),
              step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            state.set({ look: names[(names.indexOf(state.look) + step + names.length) % names.length] });
            at("looks").querySelector('[aria-selected="true"]').focus();
          },
        },
        look,
      ),
    ),
  );
  const zoom = { zoom: (factor) => drawing.zoom(factor), fit: () => drawing.fit() };
  refill(
    at("zoom"),
    ...[
      ["−", "Farther", () => zoom.zoom(0.8)],
      ["+", "Nearer", () => zoom.zoom(1.25)],
      ["all", "All in sight", () => zoom.fit()],
    ].map(([text, label, onclick]) => element("button", { type: "button", "aria-label": label, title: label, onclick }, text)),
  );

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
    draw();
  }

  const dark = () => {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const themed = () => {
    at("theme").textContent = dark() ? "light" : "dark";
    at("theme").setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`);
    drawing.update(new Set(["theme"]));
  };

  fill();
  themed();
  at("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    themed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  createKeys(at("keys"), at("keys-body"), at("help"), state, zoom);
  state.subscribe((changed) => {
    if (changed.has("document")) fill();
    else if (changed.has("look")) draw();
    else drawing.update(changed);
    if (changed.has("present")) refill(at("legend"), ...legend());
  }, true);
  addEventListener("beforeprint", () => state.tell("print"));
  addEventListener("afterprint", () => state.tell("printed"));
  matchMedia("print").addEventListener("change", () => {
    drawing.update(new Set(["theme"]));
    drawing.fit();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawing.fit();
  });
  return state;
}

const block = document.getElementById("document");
if (block) showReport(JSON.parse(block.textContent));
