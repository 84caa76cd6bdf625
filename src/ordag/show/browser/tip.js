// The few words beside the pointer.

import { equationOf, figuresOf, meaningOf, neighboursOf, sureness, titleOf } from "./facts.js";
import { element, named, refill } from "./text.js";

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
      this.move(event);
    },
    move(event) {
      if (node.hidden) return;
      const { width, height } = node.getBoundingClientRect();
      const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
      const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
      node.style.left = `${Math.max(4, left)}px`;
      node.style.top = `${Math.max(4, top)}px`;
    },
    hide() {
      node.hidden = true;
    },
  };
}
