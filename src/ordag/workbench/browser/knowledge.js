// Prior knowledge: tiers as rows that variables are dragged into, required and forbidden arrows, roots and sinks.

import { createDragging } from "./dragging.js";
import { exported } from "./files.js";
import { createPicker } from "./picker.js";
import { pairOf } from "./state.js";
import { LISTS, countOf, knowledgeOf, moveToTier, tierOf, toggleEnd, unsay } from "./statements.js";
import { counted, element, keepFocus, named, refill } from "./text.js";

const MOST_FREE = 60;
const FILTERED = 20;

const KINDS = {
  required: "this arrow exists",
  forbidden: "this arrow does not exist",
  roots: "a root: nothing here causes it",
  sinks: "a sink: it causes nothing here",
};

/** Write the panel into a box. */
export function createKnowledge(box, bench) {
  const view = bench.page;
  const picked = new Set();
  let wanted = "";
  const refusal = element("p", { class: "warning", role: "alert", hidden: true });
  const tiers = element("div", { class: "tiers" });
  const moves = element("div", { class: "moves", role: "group", "aria-label": "Move the selected variables" });
  const lists = element("div", { class: "said" });
  const filter = element("input", {
    type: "search",
    placeholder: "filter variables",
    "aria-label": "Filter the variables that are in no tier",
    oninput: () => {
      wanted = filter.value.toLowerCase();
      paintTiers();
    },
  });

  const shownName = (name) => bench.data.columns.find((one) => one.name === name)?.shown ?? name;
  const inUse = () => view.doc.raw;

  /** Change the knowledge; the panel shows a refusal until the next change. */
  async function change(edit, words) {
    const { refused } = await bench.change(edit, words);
    if (refused) complain(refused.message);
    return !refused;
  }

  function complain(words) {
    refusal.hidden = false;
    refill(refusal, element("b", {}, "Not applied. "), words);
  }

  async function move(names, where) {
    const who = names.length === 1 ? shownName(names[0]) : counted(names.length, "variable");
    const to = where.tier !== undefined ? `tier ${where.tier + 1}` : where.gap !== undefined ? "a new tier" : "no tier";
    const byButton = moves.contains(document.activeElement);
    if (!(await change((S) => moveToTier(S, names, where), `${who} to ${to}`))) return;
    for (const name of names) picked.delete(name);
    paintTiers();
    if (byButton) tiers.querySelector(`[data-name="${CSS.escape(names[0])}"]`)?.focus();
  }

  function chip(name) {
    const node = element(
      "button",
      {
        type: "button",
        class: "chip variable",
        "data-name": name,
        "aria-pressed": String(picked.has(name)),
        title: "Drag into a tier; or select, and move with the buttons or the arrow keys",
        onkeydown: (event) => steer(event, name),
      },
      named(shownName(name), 20),
    );
    dragging.make(node, name);
    return node;
  }

  function toggle(name) {
    if (!picked.delete(name)) picked.add(name);
    for (const node of tiers.querySelectorAll("[data-name]")) node.setAttribute("aria-pressed", String(picked.has(node.dataset.name)));
    paintMoves();
  }

  /** Arrow keys move a variable up or down through the tiers; Delete takes it out of them. */
  function steer(event, name) {
    const known = knowledgeOf(structuredClone(bench.state)).tiers,
      at = tierOf(bench.state, name),
      alone = at >= 0 && known[at].length === 1,
      last = known.length - 1;
    let where = null;
    if (event.key === "ArrowUp")
      where = at < 0 ? (known.length ? { tier: last } : { gap: 0 }) : at > 0 ? { tier: at - 1 } : alone ? null : { gap: 0 };
    else if (event.key === "ArrowDown") where = at < 0 ? null : at < last ? { tier: at + 1 } : alone ? null : { gap: known.length };
    else if ((event.key === "Delete" || event.key === "Backspace") && at >= 0) where = {};
    else return;
    event.preventDefault();
    if (where) move([name], where);
  }

  const dragging = createDragging(tiers, {
    carried: (name) => (picked.has(name) ? [...picked] : [name]),
    words: (names) => [named(shownName(names[0]), 24), names.length > 1 ? ` and ${names.length - 1} more` : ""],
    drop: move,
    press: toggle,
  });
  view.carry = dragging.fromGraph((j) => view.doc.raw[j]);

  function paintTiers() {
    keepFocus(tiers, fillTiers);
    paintMoves();
  }

  function fillTiers() {
    const known = knowledgeOf(structuredClone(bench.state)).tiers,
      free = inUse().filter((name) => tierOf(bench.state, name) < 0);
    for (const name of picked) if (!bench.state.data.names.includes(name)) picked.delete(name);
    const gap = (at) =>
      known.length
        ? element(
            "div",
            { class: "gap", "data-zone": `gap ${at}`, "aria-hidden": "true" },
            at === known.length ? "a later tier" : at ? "a tier between" : "an earlier tier",
          )
        : element(
            "div",
            { class: "tier new", "data-zone": "gap 0" },
            element("span", { class: "soft" }, "Drop the earliest variables here."),
          );
    const row = (names, at) =>
      element(
        "div",
        { class: "tier", role: "group", "data-zone": `tier ${at}`, "aria-label": `Tier ${at + 1}${at ? "" : ", the earliest"}` },
        element("span", { class: "rank", "aria-hidden": "true" }, String(at + 1)),
        ...names.map(chip),
      );
    const matching = free.filter((name) => picked.has(name) || shownName(name).toLowerCase().includes(wanted));
    filter.hidden = free.length <= FILTERED && !wanted;
    refill(
      tiers,
      ...known.flatMap((names, at) => [gap(at), row(names, at)]),
      gap(known.length),
      filter,
      element(
        "div",
        { class: "tier free", role: "group", "data-zone": "free", "aria-label": "In no tier" },
        element("span", { class: "soft" }, known.length ? "in no tier:" : "variables:"),
        ...matching.slice(0, MOST_FREE).map(chip),
        matching.length > MOST_FREE ? element("span", { class: "soft" }, `and ${matching.length - MOST_FREE} more: filter them`) : null,
        free.length ? null : element("span", { class: "soft" }, "none"),
      ),
    );
  }

  function paintMoves() {
    const count = bench.state.knowledge?.tiers?.length ?? 0,
      names = [...picked];
    const words = counted(names.length, "variable");
    const to = (text, where) => element("button", { type: "button", onclick: () => move(names, where) }, text);
    moves.hidden = !names.length;
    refill(
      moves,
      element("span", { class: "soft" }, `${words} selected. Move to`),
      ...Array.from({ length: count }, (_, at) => to(`tier ${at + 1}`, { tier: at })),
      to(count ? "a new first tier" : "a first tier", { gap: 0 }),
      count ? to("a new last tier", { gap: count }) : null,
      to("no tier", {}),
    );
  }

  function paintLists() {
    const known = knowledgeOf(structuredClone(bench.state));
    const remove = (words, mutate) =>
      element(
        "button",
        {
          type: "button",
          class: "quiet small",
          "aria-label": `Remove: ${words}`,
          title: "remove",
          onclick: () => change(mutate, `removed: ${words}`),
        },
        "×",
      );
    const aside = (...names) =>
      names.every((name) => inUse().includes(name)) ? "" : element("span", { class: "soft" }, " (a column that is left out)");
    const arrows = (list, word) =>
      known[list].map(([a, b]) =>
        element(
          "li",
          {},
          element("span", { class: "soft" }, `${word} `),
          arrowButton(a, b),
          aside(a, b),
          remove(`${word} ${shownName(a)} → ${shownName(b)}`, (S) => unsay(S, a, b)),
        ),
      );
    const ends = (list, word) =>
      known[list].map((name) =>
        element(
          "li",
          {},
          element("span", { class: "soft" }, `${word} `),
          named(shownName(name), 26),
          aside(name),
          remove(`${word} ${shownName(name)}`, (S) => toggleEnd(S, list, name)),
        ),
      );
    const items = [
      ...arrows("required", "required"),
      ...arrows("forbidden", "forbidden"),
      ...ends("roots", "root"),
      ...ends("sinks", "sink"),
    ];
    refill(
      lists,
      element("h4", {}, "Arrows, roots and sinks"),
      items.length
        ? element("ul", { class: "plain" }, ...items)
        : element("p", { class: "soft" }, "Nothing yet. Select an arrow in the graph, or add a statement here."),
    );
    clear.disabled = !countOf(bench.state);
  }

  function arrowButton(a, b) {
    const [i, j] = [view.doc.raw.indexOf(a), view.doc.raw.indexOf(b)];
    const text = [named(shownName(a), 18), " → ", named(shownName(b), 18)];
    if (i < 0 || j < 0) return element("span", {}, ...text);
    return element("button", { type: "button", class: "chip", onclick: () => view.set({ chosen: pairOf(view.doc, i, j) }) }, ...text);
  }

  const kind = element(
    "select",
    { "aria-label": "What is known", onchange: () => (second.element.hidden = kind.value === "roots" || kind.value === "sinks") },
    ...Object.entries(KINDS).map(([value, words]) => element("option", { value }, words)),
  );
  const first = createPicker(view, { id: "known-first", label: "variable (cause)" });
  const second = createPicker(view, { id: "known-second", label: "effect" });

  async function add() {
    const [i, j] = [first.variable(), second.variable()],
      arrow = !second.element.hidden;
    if (i === null || (arrow && j === null)) {
      refusal.hidden = false;
      refill(refusal, arrow ? "Choose both variables from the lists first." : "Choose the variable from the list first.");
      return;
    }
    const a = view.doc.raw[i],
      b = arrow ? view.doc.raw[j] : null;
    const words = arrow ? `${view.doc.names[i]} → ${view.doc.names[j]} ${kind.value}` : `${view.doc.names[i]} in ${kind.value}`;
    const done = await change((S) => {
      const list = knowledgeOf(S)[kind.value];
      if (!arrow && !list.includes(a)) list.push(a);
      if (arrow && !list.some(([from, to]) => from === a && to === b)) list.push([a, b]);
    }, words);
    if (!done) return;
    first.set(null);
    second.set(null);
    first.field.focus();
  }

  const clear = element(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: () => change((S) => LISTS.forEach((list) => (knowledgeOf(S)[list] = [])), "all knowledge removed"),
    },
    "remove all",
  );
  const file = element("input", {
    type: "file",
    class: "unseen",
    tabindex: -1,
    "aria-label": "A knowledge file",
    onchange: async () => {
      const [chosen] = file.files;
      file.value = "";
      if (chosen) await load(chosen);
    },
  });

  /** Replace the knowledge by that of a file. */
  async function load(chosen) {
    try {
      const headers = { "X-Ordag-Name": encodeURIComponent(chosen.name) };
      const { knowledge } = await bench.ask("api/knowledge", chosen, { headers });
      await change((S) => {
        S.knowledge = knowledge;
      }, `knowledge from ${chosen.name}`);
    } catch (error) {
      complain(error.message);
    }
  }

  refill(
    box,
    refusal,
    element("h4", {}, "Tiers, the earliest on top"),
    element("p", { class: "soft" }, "Nothing in a lower row can cause anything in a row above it."),
    tiers,
    moves,
    lists,
    element(
      "form",
      {
        class: "add",
        onsubmit: (event) => {
          event.preventDefault();
          add();
        },
      },
      kind,
      first.element,
      second.element,
      element("button", { type: "submit" }, "add"),
    ),
    element(
      "div",
      { class: "row" },
      element("button", { type: "button", onclick: () => file.click() }, "load a file"),
      file,
      element(
        "button",
        { type: "button", onclick: () => exported(bench, "knowledge").catch((error) => complain(error.message)) },
        "save as a file",
      ),
      clear,
    ),
  );

  function paint() {
    paintTiers();
    keepFocus(lists, paintLists, (able, place) => able[Math.min(place, able.length - 1)] ?? kind);
  }
  bench.subscribe((changed) => {
    if (changed.has("answer") || changed.has("refused")) refusal.hidden = true; // `change` shows its own refusal after this
    if (changed.has("answer")) paint();
  });
  paint();
}
