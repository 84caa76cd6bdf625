// Dragging variables with the pointer, within the tiers or from the graph onto a tier.

import { element } from "./text.js";

const FAR = 5; // pixels that a pointer moves before it drags

/** Dragging onto the zones of a box: elements with `data-zone`, which says "tier 2", "gap 0" (before the first tier) or "free".
 *
 * carried(name): the names that go along with one. words(names): what is shown of them at the pointer. drop(names, where): they were let
 * go over { tier }, { gap } or {}. press(name): it was pressed, and not dragged.
 */
export function createDragging(box, { carried, words, drop, press }) {
  function lift(names) {
    const ghost = element("div", { class: "ghost" }, ...words(names));
    document.body.append(ghost);
    box.classList.add("dragging");
    return ghost;
  }

  function follow(ghost, event) {
    ghost.style.left = `${event.clientX + 8}px`;
    ghost.style.top = `${event.clientY + 8}px`;
    const zone = zoneUnder(event);
    for (const one of box.querySelectorAll(".over")) one.classList.toggle("over", one === zone);
    zone?.classList.add("over");
  }

  function letGo(ghost) {
    ghost.remove();
    box.classList.remove("dragging");
    for (const one of box.querySelectorAll(".over")) one.classList.remove("over");
  }

  /** The zone of the box under the pointer, or null. */
  function zoneUnder(event) {
    const zone = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-zone]");
    return zone && box.contains(zone) ? zone : null;
  }

  function placeUnder(event) {
    const zone = zoneUnder(event);
    if (!zone) return null;
    const [kind, at] = zone.dataset.zone.split(" ");
    return kind === "free" ? {} : { [kind]: Number(at) };
  }

  /** Make an element draggable, with its name. */
  function make(node, name) {
    let from = null,
      ghost = null;
    node.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch") return;
      from = [event.clientX, event.clientY];
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (!ghost && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < FAR) return;
      ghost ??= lift(carried(name));
      follow(ghost, event);
    });
    const end = (event) => {
      const where = ghost && event.type === "pointerup" ? placeUnder(event) : null;
      if (ghost) letGo(ghost);
      else if (from && event.type === "pointerup") press(name);
      if (where) drop(carried(name), where);
      from = ghost = null;
    };
    node.addEventListener("pointerup", end);
    node.addEventListener("pointercancel", end);
    node.addEventListener("click", (event) => {
      if (event.detail === 0 || event.pointerType === "touch") press(name); // from the keyboard, or a finger
    });
  }

  /** `state.carry`, for variables that are dragged out of the graph, by number. */
  function fromGraph(nameOf) {
    let ghost = null;
    return {
      over(j, event) {
        if (!ghost && !zoneUnder(event)) return;
        ghost ??= lift([nameOf(j)]);
        follow(ghost, event);
      },
      drop(j, event) {
        if (!ghost) return false;
        letGo(ghost);
        ghost = null;
        const where = placeUnder(event);
        if (where) drop([nameOf(j)], where);
        return where !== null;
      },
    };
  }

  return { make, fromGraph };
}
