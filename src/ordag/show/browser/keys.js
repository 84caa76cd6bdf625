// The keyboard, and the list of its keys.

import { element, refill } from "./text.js";

const KEYS = [
  ["/", "search for a variable"],
  ["g  m  n", "graph, matrix, neighbourhood"],
  ["↑ ↓", "in the graph: to the strongest cause or effect"],
  ["← →", "in the graph: to the variable beside"],
  ["Enter", "select the focused variable"],
  ["+  −  0", "zoom in, zoom out, fit"],
  ["Esc", "clear the selection"],
  ["?", "this list"],
];

/** Let keys do things. more: others with Ctrl, as { "Ctrl+Z": [words, what to do] }. */
export function createKeys(dialog, body, button, state, zoom, more = {}) {
  refill(
    body,
    element(
      "table",
      { class: "keys" },
      element(
        "tbody",
        {},
        ...[...Object.entries(more).map(([key, [words]]) => [key, words]), ...KEYS].map(([key, words]) =>
          element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, words)),
        ),
      ),
    ),
    element("button", { type: "button", onclick: () => dialog.close() }, "close"),
  );
  button.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) {
      const held = more[`Ctrl+${event.shiftKey ? "Shift+" : ""}${event.key.toUpperCase()}`];
      if (!held || event.altKey || dialog.open || (writing && writing.type !== "range" && writing.type !== "checkbox")) return;
      event.preventDefault();
      held[1]();
      return;
    }
    if (event.key === "Escape" && !writing && !dialog.open) state.set({ chosen: null });
    if (writing || dialog.open) return;
    const looks = { g: "graph", m: "matrix", n: "neighbourhood" };
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search-field").focus();
    } else if (event.key === "?") {
      event.preventDefault();
      dialog.showModal();
    } else if (event.key in looks) state.set({ look: looks[event.key] });
    else if (event.key === "+" || event.key === "=") zoom.zoom(1.25);
    else if (event.key === "-" || event.key === "−") zoom.zoom(0.8);
    else if (event.key === "0") zoom.fit();
  });
}
