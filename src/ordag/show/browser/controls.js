// The sliders: level and support, with the expected number of false edges and what has changed, in words.

import { scaleOf } from "./level.js";
import { counted, element, number, refill } from "./text.js";

const CORRECTIONS = {
  none: "none: level of each test",
  bh: "Benjamini–Hochberg: share of false edges",
  bonferroni: "Bonferroni: chance of any false edge",
};

export function createControls(box, state, say) {
  const { doc } = state,
    rule = doc.level,
    { pairs } = doc;
  if (!rule && !pairs.support) {
    refill(box, element("p", { class: "soft" }, "This graph was found without p-values or probabilities, so there is no level to move."));
    return;
  }
  const scale = rule ? scaleOf(rule) : null;
  const start = rule ? (rule.stands_for ?? (rule.evidence === "edge_probability" ? 0.5 : 0.05)) : null;
  const parts = [];
  let slider, field, correction, supportSlider, supportField;
  if (rule) {
    const words = {
      p_value: "level: largest p-value of an edge",
      q_value: "level: largest false-discovery rate of an edge",
      edge_probability: "least probability of an edge",
    }[rule.evidence];
    slider = element("input", {
      type: "range",
      id: "level",
      min: 0,
      max: 1000,
      step: 1,
      "aria-label": words,
      oninput: () => move(scale.level(Number(slider.value))),
    });
    field = element("input", {
      type: "number",
      id: "level-field",
      min: 0,
      max: 1,
      step: "any",
      "aria-label": `${words}, as a number`,
      onchange: () => {
        const value = Number(field.value);
        if (value > 0 && value <= 1) move(value);
        else paint();
      },
    });
    parts.push(
      element("div", { class: "control" }, element("label", { for: "level" }, words), element("div", { class: "slide" }, slider, field)),
    );
    if (rule.evidence === "p_value" && !rule.learned_only) {
      correction = element(
        "select",
        { id: "correction", onchange: () => state.set({ correction: correction.value, level: state.level ?? start }) },
        ...Object.entries(CORRECTIONS).map(([name, said]) => element("option", { value: name }, said)),
      );
      parts.push(element("div", { class: "control" }, element("label", { for: "correction" }, "correction for many tests"), correction));
    }
  }
  if (pairs.support) {
    supportSlider = element("input", {
      type: "range",
      id: "support",
      min: 0,
      max: 100,
      step: 1,
      "aria-label": "least support",
      oninput: () => state.set({ support: Number(supportSlider.value) / 100 }),
    });
    supportField = element("output", { for: "support" });
    parts.push(
      element(
        "div",
        { class: "control" },
        element("label", { for: "support" }, "least support: share of resamples with the edge"),
        element("div", { class: "slide" }, supportSlider, supportField),
      ),
    );
  }
  const reset = element(
    "button",
    { type: "button", id: "reset", onclick: () => state.set({ level: null, support: 0, correction: rule ? rule.correction : "none" }) },
    "back to the graph as learned",
  );
  const told = element("p", { id: "change" }),
    false_ = element("p", { id: "expected" });
  refill(box, ...parts, element("div", { class: "control told" }, false_, told, reset));

  const move = (level) => state.set({ level });

  function paint() {
    const learned = pairs.kind.map((kind) => kind !== "absent");
    const more = state.present.filter((is, k) => is && !learned[k]).length,
      fewer = learned.filter((was, k) => was && !state.present[k]).length;
    const count = state.present.filter(Boolean).length,
      as = state.level === null && state.support === 0;
    if (slider) {
      const level = state.level ?? start;
      slider.value = Math.round(Math.min(1000, Math.max(0, scale.place(level))));
      field.value = Number(level.toPrecision(3));
      slider.setAttribute("aria-valuetext", number(level));
    }
    if (correction) correction.value = state.correction;
    if (supportSlider) {
      supportSlider.value = Math.round(100 * state.support);
      supportField.textContent = `${Math.round(100 * state.support)} %`;
    }
    reset.disabled = as && (!rule || state.correction === rule.correction);
    const parts = [more ? `${more} more` : "", fewer ? `${fewer} fewer` : ""].filter(Boolean).join(" and ");
    const cut = state.cut ? " This file does not hold the weakest pairs: there may be more." : "";
    told.textContent = as
      ? `${counted(count, "edge")}, as learned.`
      : `${counted(count, "edge")}: ${parts ? `${parts} than learned` : "the same as learned"}.${cut}`;
    refill(false_, element("b", {}, state.expected === null ? "–" : number(state.expected, 2)), " ", expectedWords());
  }

  function expectedWords() {
    if (!rule) return "";
    if (rule.evidence === "edge_probability") {
      const besides = pairs.reason.includes("hidden") ? "; those that hidden common causes make come on top" : "";
      return `false edges expected, by the probabilities of the edges shown${besides}`;
    }
    if (state.expected === null) return "false edges expected: not known, because these p-values come after the search chose its edges";
    const from =
      state.level === null
        ? ""
        : state.correction === "bh" || rule.evidence === "q_value"
          ? " (level × edges found)"
          : ` (largest p-value × ${counted(rule.pairs, "pair")} tested)`;
    return `false edges expected by chance alone${from}`;
  }

  state.subscribe((changed) => {
    if (!changed.has("present")) return;
    paint();
    const { appeared, vanished } = state;
    const words = [
      appeared.length ? `${counted(appeared.length, "edge")} new` : "",
      vanished.length ? `${counted(vanished.length, "edge")} gone` : "",
    ]
      .filter(Boolean)
      .join(", ");
    if (words) say(words);
  });
  paint();
}
