// The list of all variables, with a filter.

import { BEYOND } from "./rows.js";
import { element, named, refill } from "./text.js";

const LINE = 30;

/** All variables, those with most edges first or in causal order, with a filter. Only the lines in sight are there. */
export function variableList(state) {
  let wanted = "",
    busiest = true,
    found = state.doc.order,
    from = -1;
  const lines = element("div", { class: "lines", role: "listbox", "aria-label": "Variables", tabindex: 0 });
  const sizer = element("div", { class: "sizer" }, lines);
  const box = element("div", { class: "list" }, sizer);
  const filter = element("input", {
    type: "search",
    placeholder: "filter variables",
    "aria-label": "Filter variables",
    oninput: () => {
      wanted = filter.value.toLowerCase();
      paint(true);
    },
  });
  const sort = element(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: () => {
        busiest = !busiest;
        sort.textContent = busiest ? "most edges first" : "causes first";
        paint(true);
      },
    },
    "most edges first",
  );

  function paint(force) {
    const { doc } = state;
    if (force) {
      found = doc.order.filter((j) => doc.names[j].toLowerCase().includes(wanted));
      if (busiest) found = [...found].sort((a, b) => state.relations.degree(b) - state.relations.degree(a));
      sizer.style.height = `${found.length * LINE}px`;
    }
    const first = Math.max(0, Math.floor(box.scrollTop / LINE) - BEYOND);
    if (!force && first === from) return;
    from = first;
    const last = Math.min(found.length, first + Math.ceil((box.clientHeight || 500) / LINE) + 2 * BEYOND);
    lines.style.top = `${first * LINE}px`;
    refill(
      lines,
      ...found.slice(first, last).map((j) =>
        element(
          "div",
          {
            role: "option",
            class: "line",
            "aria-selected": j === state.centre,
            onclick: () => state.set({ chosen: { variable: j } }),
          },
          named(doc.names[j], 22),
          element("span", { class: "soft" }, `${state.relations.into[j].length} in · ${state.relations.out[j].length} out`),
        ),
      ),
    );
  }

  lines.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = found[Math.min(found.length - 1, Math.max(0, found.indexOf(state.centre) + step))];
    if (next === undefined) return;
    state.set({ chosen: { variable: next } });
    const top = found.indexOf(next) * LINE;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - LINE) box.scrollTop = top - box.clientHeight / 2;
  });
  box.addEventListener("scroll", () => requestAnimationFrame(() => paint(false)));
  return { element: element("div", { class: "listed" }, element("div", { class: "toolbar" }, filter, sort), box), paint };
}
