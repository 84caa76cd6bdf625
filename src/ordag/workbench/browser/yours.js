// A graph of the user's own: typed, loaded or drawn, tested on the table. Its broken claims are red dotted lines in the graph.

import { createPicker } from "./picker.js";
import { isAbort } from "./server.js";
import { chance, counted, element, number, refill } from "./text.js";

const MOST_BYTES = 1e6;
const MOST_LISTED = 12;
const DONE = { add: "add", drop: "take out", turn: "reverse" };
const NOTHING = { change: "", source: "", target: "" };

/** Write the panel into a box. */
export function createYours(box, bench) {
  const view = bench.page;
  let found = null,
    asking = null,
    before = []; // texts, to go back to
  let file = "";

  const text = element("textarea", {
    "aria-label": "Your graph",
    spellcheck: "false",
    placeholder: "a -> b <- c\n\nin the language of DAGitty, DOT or lavaan",
    oninput: () => {
      file = "";
    },
  });
  const answer = element("div", { "aria-live": "polite" });
  const from = createPicker(view, { id: "yours-from", label: "from" });
  const to = createPicker(view, { id: "yours-to", label: "to" });
  const input = element("input", {
    type: "file",
    class: "unseen",
    tabindex: -1,
    "aria-label": "File of a graph",
    onchange: async () => {
      const [one] = input.files;
      input.value = "";
      if (!one) return;
      if (one.size > MOST_BYTES) return void complain(`${one.name} is too large for a graph.`);
      before.push(text.value);
      text.value = await one.text();
      file = one.name;
      test();
    },
  });
  const button = (label, title, onclick, more = {}) => element("button", { type: "button", title, onclick, ...more }, label);
  const back = button("back", "To the graph before the last change", () => {
    text.value = before.pop() ?? "";
    file = "";
    test();
  });
  const stop = button("stop", "Show the learned graph alone", end, { class: "stop" });

  function complain(words) {
    refill(answer, element("p", { class: "warning", role: "alert" }, words));
  }

  function draw(bright = null) {
    view.own = found && {
      arrows: found.arrows,
      lines: found.lines,
      broken: found.claims.flatMap(({ ends, broken }, k) => (broken ? [[...ends, k]] : [])),
      bright,
    };
    view.tell("own");
  }

  function end() {
    asking?.abort();
    found = null;
    refill(answer);
    draw();
    paint();
  }

  function paint() {
    back.hidden = !before.length;
    stop.hidden = !found;
    answer.setAttribute("aria-busy", "false");
  }

  /** Test the graph, after one change of it. */
  async function test(change = NOTHING) {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking,
      had = text.value;
    answer.setAttribute("aria-busy", "true");
    try {
      const said = await bench.ask("api/own", { state: bench.state, graph: had, file, ...change }, { signal });
      if (signal.aborted) return;
      found = said;
      file = "";
      if (change.change) before.push(had);
      text.value = said.text;
      refill(answer, ...written());
      draw();
    } catch (error) {
      if (isAbort(error)) return;
      complain(error.message);
      found = null;
      draw();
    }
    paint();
  }

  function written() {
    const { sentence, light, claims, claimed, broken, mend, against } = found;
    const rows = claims.slice(0, MOST_LISTED).map((claim, k) => {
      const show = () => draw(k),
        hide = () => draw();
      return element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            class: "chip",
            title: "Show it in the graph",
            onpointerenter: show,
            onpointerleave: hide,
            onfocus: show,
            onblur: hide,
          },
          element("span", { class: claim.broken ? "broken" : null }, claim.words),
        ),
        claim.correlation === null
          ? ""
          : ` ${number(claim.correlation, 2)}, p ${claim.corrected < 1e-16 ? "" : "= "}${chance(claim.corrected)}`,
      );
    });
    return [
      element("p", { class: light === "red" ? "warning" : null }, sentence),
      mend
        ? element(
            "div",
            { class: "row" },
            button(
              `mend: ${DONE[mend.kind]} ${mend.source} → ${mend.target}`,
              `Lowers BIC by ${number(mend.bic)}`,
              () => test({ change: mend.kind, source: mend.source, target: mend.target }),
              {
                class: "mend",
              },
            ),
          )
        : null,
      claims.length ? element("h4", {}, `${counted(broken, "broken claim")} of ${claimed}, worst first`) : null,
      element("ul", { class: "plain claims" }, ...rows),
      claimed > MOST_LISTED ? element("p", { class: "soft" }, `And ${claimed - MOST_LISTED} more.`) : null,
      element("p", { class: "soft" }, against),
    ];
  }

  /** Change an arrow between the two variables that are chosen. */
  function arrow(change) {
    const [i, j] = [from.variable(), to.variable()];
    if (i === null || j === null || i === j) return void complain("Choose two different variables for the arrow.");
    test({ change, source: view.doc.raw[i], target: view.doc.raw[j] });
  }

  function learned() {
    const { source, target, kind } = view.doc.pairs,
      quoted = (j) => `"${view.doc.raw[j].replaceAll('"', '\\"')}"`;
    const edges = kind.flatMap((what, k) =>
      what === "absent" ? [] : [`${quoted(source[k])} ${what === "arrow" ? "->" : "--"} ${quoted(target[k])}`],
    );
    const nodes = view.doc.raw.map((_, j) => quoted(j));
    before.push(text.value);
    text.value = `${kind.includes("line") ? "pdag" : "dag"} {\n${[...nodes, ...edges].join("\n")}\n}`;
    file = "";
    test();
  }

  refill(
    box,
    element(
      "p",
      { class: "soft" },
      "Test a graph of your own on this table. Its arrows are black, those of the learned graph pale; a red dotted line is a claim that the table contradicts.",
    ),
    text,
    element(
      "div",
      { class: "row" },
      button("test", "Test this graph on the table", () => test(), { id: "yours-test" }),
      button("open a file", "DAGitty, lavaan, DOT, GraphML, GML, JSON or tables", () => input.click(), { class: "quiet" }),
      button("begin with the learned one", "Copy the learned graph, to change it", learned, { class: "quiet" }),
      back,
      stop,
      input,
    ),
    answer,
    element("h4", {}, "Draw"),
    element(
      "div",
      { class: "row" },
      from.element,
      to.element,
      button("add the arrow", "An arrow from the first to the second", () => arrow("add")),
      button("take it out", "No arrow from the first to the second", () => arrow("drop"), { class: "quiet" }),
    ),
  );
  paint();
  bench.subscribe((changed) => {
    if (changed.has("opened")) {
      before = [];
      text.value = "";
      end();
    } else if (changed.has("answer") && found) test();
  });
}
