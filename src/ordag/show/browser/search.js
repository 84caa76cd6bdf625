// Search for a variable by name.

import { element, named, refill } from "./text.js";

const MOST_MATCHES = 12;

export function createSearch(box, state) {
  const search = variableSearch(state, { choose: (j) => state.set({ chosen: { variable: j } }) });
  refill(box, ...search.parts);
}

/** A field to search among the variables of the document; gives { parts, field }.
 *
 * choose: called with the number of a variable. all: whether a field lists the first of them as long as nothing is typed.
 */
export function variableSearch(state, { choose, id = "search-field", label = "Search for a variable", hint = "search  /", all = false }) {
  let found = [],
    at = -1;
  const matches = id === "search-field" ? "matches" : `${id}-matches`;
  const list = element("ul", { id: matches, role: "listbox", "aria-label": "Variables", class: "matches", hidden: true });
  const field = element("input", {
    type: "search",
    id,
    placeholder: hint,
    role: "combobox",
    "aria-label": label,
    "aria-controls": matches,
    "aria-expanded": "false",
    autocomplete: "off",
    oninput: paint,
    onfocus: () => {
      if (all) field.select();
      paint();
    },
    onblur: () => setTimeout(hide, 150),
    onkeydown: (event) => {
      if (event.key === "Escape") {
        hide();
        field.blur();
      } else if (event.key === "Enter" && at >= 0 && !list.hidden) {
        event.preventDefault(); // it chooses; a form around the field is sent by the next one
        take(found[at]);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        at = Math.min(found.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)));
        mark();
      }
    },
  });

  function paint() {
    const { doc } = state,
      untouched = all && field.selectionEnd - field.selectionStart === field.value.length,
      wanted = untouched ? "" : field.value.trim().toLowerCase();
    found = wanted || all ? matching(doc, wanted).slice(0, MOST_MATCHES) : [];
    at = wanted && found.length ? 0 : -1;
    refill(
      list,
      ...found.map((j, i) =>
        element(
          "li",
          {
            role: "option",
            id: `${matches}-${i}`,
            onpointerdown: (event) => {
              event.preventDefault();
              take(j);
            },
          },
          named(doc.names[j], 40),
        ),
      ),
      wanted && !found.length ? element("li", { class: "soft" }, "no variable has this in its name") : null,
    );
    list.hidden = !wanted && !all;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  }

  function mark() {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) field.setAttribute("aria-activedescendant", `${matches}-${at}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function hide() {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }

  function take(j) {
    hide();
    choose(j);
  }
  return { parts: [field, list], field };
}

/** The variables with this in their names, in causal order: those with just this name first, then those that begin with it. */
function matching(doc, wanted) {
  const names = doc.names.map((name) => name.toLowerCase());
  const nearness = (j) => (names[j] === wanted ? 0 : names[j].startsWith(wanted) ? 1 : 2);
  return doc.order.filter((j) => names[j].includes(wanted)).sort((i, j) => nearness(i) - nearness(j));
}
