// Where the graph is drawn: the ways to look at it, zoom, legend, and light or dark.

import { legendOf } from "./edges.js";
import { drawGraph } from "./graph.js";
import { drawMatrix } from "./matrix.js";
import { drawNeighbourhood } from "./neighbourhood.js";
import { element, refill } from "./text.js";

const LOOKS = { graph: drawGraph, matrix: drawMatrix, neighbourhood: drawNeighbourhood };

/** The stage of a page; `at` gives its elements by their ids. Gives { draw(), update(changed), zoom(factor), fit() }. */
export function createStage(at, state, tip) {
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

  function update(changed) {
    if (changed.has("look")) draw();
    else drawing?.update(changed);
    if (changed.has("present") || changed.has("marks")) refill(at("legend"), ...legend());
  }

  function legend() {
    if (state.look === "matrix")
      return [
        element(
          "p",
          { class: "soft" },
          "Square: raises the effect; disc: lowers it; a stronger colour is a stronger effect. Pale with a dashed outline: direction near a tie or open. Dot: no edge; the larger, the closer to one.",
        ),
      ];
    const found = legendOf(state.doc, state.present).map(([picture, words]) => element("span", {}, picture, words));
    return state.look === "graph" ? [...found, element("span", { class: "hint" }, "drag to move; Ctrl + wheel or pinch to zoom")] : found;
  }

  /** Where the card stands below the graph and out of sight, a tap on the graph brings its head into sight. */
  function showCard() {
    const head = at("card").querySelector("h3");
    if (!state.chosen || at("card").getBoundingClientRect().top < at("drawing").getBoundingClientRect().bottom) return;
    if (head.getBoundingClientRect().bottom > innerHeight) head.scrollIntoView({ block: "center" });
  }
  at("drawing").addEventListener("click", showCard);

  const stage = { draw, update, zoom: (factor) => drawing.zoom(factor), fit: () => drawing.fit() };

  function walk(event) {
    const names = Object.keys(LOOKS),
      step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    state.set({ look: names[(names.indexOf(state.look) + step + names.length) % names.length] });
    at("looks").querySelector('[aria-selected="true"]').focus();
  }
  const tab = (look) => ({
    type: "button",
    role: "tab",
    "data-look": look,
    "aria-controls": "drawing",
    title: `${look} (${look[0]})`,
    onclick: () => state.set({ look }),
    onkeydown: walk,
  });
  refill(at("looks"), ...Object.keys(LOOKS).map((look) => element("button", tab(look), look)));
  refill(
    at("zoom"),
    ...[
      ["−", "Zoom out", () => stage.zoom(0.8)],
      ["+", "Zoom in", () => stage.zoom(1.25)],
      ["fit", "Fit the whole graph", () => stage.fit()],
    ].map(([text, label, onclick]) => element("button", { type: "button", "aria-label": label, title: label, onclick }, text)),
  );

  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("main details:not([open])")];
    for (const fold of unfolded) {
      fold.open = true;
      fold.dispatchEvent(new Event("toggle")); // the browser's own comes too late for paper
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of unfolded) fold.open = false;
  });
  matchMedia("print").addEventListener("change", () => {
    drawing?.update(new Set(["theme"]));
    drawing?.fit();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawing?.fit();
  });
  return stage;
}

/** A button for light or dark colours; `changed` is called when others are there. */
export function createTheme(button, changed) {
  const dark = () => {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const themed = () => {
    button.textContent = dark() ? "light" : "dark";
    button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`);
    changed();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    themed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  themed();
}
