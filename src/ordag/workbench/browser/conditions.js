// The experiments or environments of the table, above the graph: a click leaves the rows of one out, another brings them back.

import { counted, element, named, refill } from "./text.js";

export function createConditions(box, bench) {
  const chips = new Map();

  function toggle({ label, shown }) {
    const out = bench.wanted().left_out.includes(label);
    bench.change(
      (state) => {
        state.left_out = out ? state.left_out.filter((one) => one !== label) : [...state.left_out, label];
      },
      `${out ? "with" : "without"} the rows of ${shown || "no experiment"}`,
    );
  }

  function build() {
    chips.clear();
    const conditions = bench.data.conditions;
    box.hidden = !conditions.length;
    for (const one of conditions) {
      const words = [one.shown ? named(one.shown, 24) : "untouched", ` ${counted(one.rows, "row")}`];
      const title = one.targets.length ? `Rows in which ${one.targets.join(" and ")} was acted on` : "";
      chips.set(one.label, element("button", { type: "button", class: "chip", title, onclick: () => toggle(one) }, ...words));
    }
    refill(box, ...chips.values());
  }

  function paint() {
    const out = new Set(bench.state.left_out);
    for (const [label, chip] of chips) chip.setAttribute("aria-pressed", String(!out.has(label)));
  }

  bench.subscribe((changed) => {
    if (changed.has("opened")) build();
    if (changed.has("opened") || changed.has("answer")) paint();
  });
}
