// The actions on the card of an arrow or a variable: require, forbid, turn round; root, sink, tier; leave the column out.

import { isAbort } from "./server.js";
import { forbidArrow, moveToTier, requireArrow, saidOf, tierOf, toggleEnd, unsay } from "./statements.js";
import { element, named } from "./text.js";

/** The actions for `createCard`; `whatIf.begin(j)` begins with a variable. */
export function createActions(bench, whatIf) {
  const view = bench.page;
  const intervals = new Map(); // of the total effects, by cause, for the state of now
  let asked = null;
  bench.subscribe((changed) => {
    if (!changed.has("answer")) return;
    intervals.clear();
    asked?.abort();
  });

  const names = (i, j) => `${view.doc.names[i]} → ${view.doc.names[j]}`;
  const button = (text, pressed, title, onclick) =>
    element("button", { type: "button", "aria-pressed": pressed === null ? null : String(pressed), title, onclick }, text);

  /** A button that adds or removes a statement about the arrow from i to j. */
  function say(i, j, what, text = what === "required" ? "require" : "forbid") {
    const [a, b] = [view.doc.raw[i], view.doc.raw[j]],
      is = saidOf(bench.state, a, b) === what;
    const title = what === "required" ? `Every graph must have ${names(i, j)}` : `No graph may have ${names(i, j)}`;
    return button(text, is, is ? "Remove this statement" : title, () =>
      bench.change(
        (S) => {
          if (is) unsay(S, a, b);
          else (what === "required" ? requireArrow : forbidArrow)(S, a, b);
        },
        is ? `${names(i, j)} no longer ${what}` : `${names(i, j)} ${what}`,
      ),
    );
  }

  function neither(i, j) {
    const [a, b] = [view.doc.raw[i], view.doc.raw[j]],
      is = [saidOf(bench.state, a, b), saidOf(bench.state, b, a)].every((said) => said === "forbidden");
    return button("forbid both ways", is, is ? "Remove this statement" : "The two may not be joined at all", () =>
      bench.change(
        (S) => {
          for (const ends of [
            [a, b],
            [b, a],
          ])
            (is ? unsay : forbidArrow)(S, ...ends);
        },
        `${view.doc.names[i]} and ${view.doc.names[j]} ${is ? "may be joined again" : "not joined"}`,
      ),
    );
  }

  function known(i, j) {
    const said = [
      [i, j],
      [j, i],
    ]
      .map(([a, b]) => [a, b, saidOf(bench.state, view.doc.raw[a], view.doc.raw[b])])
      .filter(([, , word]) => word);
    if (!said.length) return null;
    return element(
      "p",
      { class: "soft" },
      "You said: ",
      ...said.flatMap(([a, b, word], at) => [at ? ", " : "", named(view.doc.names[a]), " → ", named(view.doc.names[b]), ` is ${word}`]),
      ".",
    );
  }

  const group = (label, ...buttons) => element("div", { class: "actions", role: "group", "aria-label": label }, ...buttons);
  const LABEL = "What you know about this arrow";

  function pair(k) {
    const { source, target, kind } = view.doc.pairs,
      [i, j] = [source[k], target[k]];
    if (kind[k] !== "arrow") return ends(i, j);
    const turn = button("reverse", null, `Require ${names(j, i)} instead`, () =>
      bench.change((S) => requireArrow(S, view.doc.raw[j], view.doc.raw[i]), `${names(i, j)} reversed`),
    );
    return [group(LABEL, say(i, j, "required"), say(i, j, "forbidden"), turn, neither(i, j)), known(i, j)];
  }

  function ends(i, j) {
    const to = (a, b) => ["require ", named(view.doc.names[a], 12), " → ", named(view.doc.names[b], 12)];
    return [
      group(
        LABEL,
        say(i, j, "required", element("span", {}, ...to(i, j))),
        say(j, i, "required", element("span", {}, ...to(j, i))),
        say(i, j, "forbidden"),
        neither(i, j),
      ),
      known(i, j),
    ];
  }

  function variable(j) {
    const name = view.doc.raw[j],
      label = view.doc.names[j],
      S = bench.state,
      tiers = S.knowledge?.tiers ?? [],
      at = tierOf(S, name);
    const end = (list, word, title) => {
      const is = (S.knowledge?.[list] ?? []).includes(name);
      return button(word, is, is ? "Remove this statement" : title, () =>
        bench.change((next) => toggleEnd(next, list, name), `${label} ${is ? "no longer" : "is"} a ${word}`),
      );
    };
    const places = [
      ["in no tier", {}],
      ...tiers.map((_, i) => [`tier ${i + 1}`, { tier: i }]),
      [tiers.length ? "a new first tier" : "a first tier", { gap: 0 }],
      ...(tiers.length ? [["a new last tier", { gap: tiers.length }]] : []),
    ];
    const tier = element(
      "select",
      {
        "aria-label": "Its tier",
        onchange: () => bench.change((next) => moveToTier(next, [name], places[tier.value][1]), `${label} to ${places[tier.value][0]}`),
      },
      ...places.map(([text], value) => element("option", { value, selected: value === at + 1 }, text)),
    );
    const few = view.doc.names.length <= 2;
    return [
      group(
        "What you know about this variable",
        end("roots", "root", "Nothing here causes it"),
        end("sinks", "sink", "It causes nothing here"),
        tier,
        element(
          "button",
          {
            type: "button",
            disabled: few,
            title: few
              ? "Two columns are the least that a graph can be learned from"
              : "Learn without it; it comes back in the list of columns",
            onclick: () =>
              bench.change((next) => {
                next.columns = (next.columns ?? next.data.names).filter((one) => one !== name);
              }, `${label} left out`),
          },
          "leave this column out",
        ),
        element("button", { type: "button", title: "What changes if it were higher", onclick: () => whatIf.begin(j) }, "what if …"),
      ),
    ];
  }

  /** Ask for the intervals of the total effects of a variable; a later request cancels an earlier one. */
  async function askIntervals(j, tell) {
    const cause = view.doc.raw[j];
    if (!intervals.has(cause)) {
      asked?.abort();
      asked = new AbortController();
      try {
        intervals.set(cause, await bench.ask("api/effects", { state: bench.state, cause }, { signal: asked.signal }));
      } catch (error) {
        if (!isAbort(error)) tell(new Map());
        return;
      }
    }
    tell(new Map(intervals.get(cause).effects.map(({ variable: i, low, high }) => [i, [low, high]])));
  }

  return { pair, ends, variable, intervals: askIntervals };
}
