// A field for one variable: type a part of its name, or choose from the list. It keeps the column's name, by which a later document has it too.

import { shortened } from "./names.js";
import { variableSearch } from "./search.js";
import { element } from "./text.js";

/** Gives { element, variable(), set(j) }; `variable()` is a number in the present document, or null. */
export function createPicker(state, { id, label, onchoose = () => {} }) {
  let name = null;
  /** The number of the chosen variable, or of one whose whole name was typed. */
  const find = () => {
    const typed = field.value.trim().toLowerCase();
    const j = name === null ? state.doc.names.findIndex((one) => one.toLowerCase() === typed) : state.doc.raw.indexOf(name);
    return j < 0 ? null : j;
  };
  function set(j) {
    name = j === null ? null : state.doc.raw[j];
    field.value = j === null ? "" : shortened(state.doc.names[j], 40);
    field.title = j === null ? "" : state.doc.names[j];
  }
  const { parts, field } = variableSearch(state, {
    id,
    label,
    hint: label,
    all: true,
    choose: (j) => {
      set(j);
      onchoose(j);
    },
  });
  field.addEventListener("input", () => {
    name = null;
    if (!field.value) onchoose(null);
  });
  field.addEventListener("change", () => {
    if (name === null && find() !== null) onchoose(find());
  });
  return { element: element("div", { class: "search picker" }, ...parts), field, variable: find, set };
}
