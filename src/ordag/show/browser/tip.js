// The tip: a few facts beside the pointer.

import { equationOf, figuresOf, meaningOf, neighboursOf, sureness, titleOf } from "./facts.js";
import { element, named, refill } from "./text.js";

const GAP = 16; // pixels between the pointer and the tip
const EDGE = 4; // pixels between the tip and the edge of the window

export function createTip(node, state) {
  return {
    show(event, what) {
      if (event.pointerType === "touch") return;
      const { doc } = state;
      if (what.pair !== undefined) {
        const figures = figuresOf(doc, what.pair)
          .map(([name, value]) => `${name} ${value}`)
          .join(" · ");
        refill(
          node,
          element("p", { class: "strong" }, ...titleOf(doc, what.pair)),
          element("p", {}, ...meaningOf(doc, what.pair, state.relations)),
          element("p", { class: "soft" }, figures),
          element("p", { class: "soft" }, ...sureness(doc, what.pair)),
          equationOf(doc, doc.pairs.target[what.pair], state.relations),
        );
      } else {
        refill(
          node,
          element("p", { class: "strong" }, named(doc.names[what.variable], 80)),
          equationOf(doc, what.variable, state.relations),
          element("p", { class: "soft" }, neighboursOf(what.variable, state.relations)),
        );
      }
      node.hidden = false;
      while (node.scrollHeight > node.clientHeight && node.childElementCount > 1) node.lastElementChild.remove(); // in a low window
      this.move(event);
    },
    move(event) {
      if (node.hidden) return;
      const { width, height } = node.getBoundingClientRect(),
        { clientWidth, clientHeight } = document.documentElement;
      node.style.left = `${beside(event.clientX, width, clientWidth)}px`;
      node.style.top = `${beside(event.clientY, height, clientHeight)}px`;
    },
    hide() {
      node.hidden = true;
    },
  };
}

/** Where a tip of this length starts: after the pointer, else before it, else at the end of the window; never outside. */
function beside(pointer, length, room) {
  if (pointer + GAP + length <= room) return pointer + GAP;
  return pointer - GAP - length >= EDGE ? pointer - GAP - length : Math.max(EDGE, room - length - EDGE);
}
