// Find a variable by its name.

import { element, named, refill } from "./text.js";

const MOST_MATCHES = 12;

export function createSearch(box, state) {
  let found = [],
    at = -1;
  const list = element("ul", { id: "matches", role: "listbox", "aria-label": "Variables", class: "matches", hidden: true });
  const field = element("input", {
    type: "search",
    id: "search-field",
    placeholder: "search a variable  /",
    role: "combobox",
    "aria-label": "Search a variable",
    "aria-controls": "matches",
    "aria-expanded": "false",
    autocomplete: "off",
    oninput: paint,
    onfocus: paint,
    onblur: () => setTimeout(hide, 150),
    onkeydown: (event) => {
      if (event.key === "Escape") {
        hide();
        field.blur();
      } else if (event.key === "Enter" && found.length) choose(found[Math.max(at, 0)]);
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        at = Math.min(found.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)));
        mark();
      }
    },
  });
  refill(box, field, list);

  function paint() {
    const { doc } = state,
      wanted = field.value.trim().toLowerCase();
    const starts = doc.order.filter((j) => doc.names[j].toLowerCase().startsWith(wanted));
    const within = doc.order.filter((j) => !doc.names[j].toLowerCase().startsWith(wanted) && doc.names[j].toLowerCase().includes(wanted));
    found = wanted ? [...starts, ...within].slice(0, MOST_MATCHES) : [];
    at = found.length ? 0 : -1;
    refill(
      list,
      ...found.map((j, i) =>
        element(
          "li",
          {
            role: "option",
            id: `match-${i}`,
            onpointerdown: (event) => {
              event.preventDefault();
              choose(j);
            },
          },
          named(doc.names[j], 40),
        ),
      ),
      wanted && !found.length ? element("li", { class: "soft" }, "no variable has this in its name") : null,
    );
    list.hidden = !wanted;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  }

  function mark() {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) field.setAttribute("aria-activedescendant", `match-${at}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function hide() {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }

  function choose(j) {
    hide();
    state.set({ chosen: { variable: j } });
  }
}
