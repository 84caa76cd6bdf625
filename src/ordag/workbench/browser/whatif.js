// What if a variable were higher: the expected changes appear in the graph, layer by layer. And the total effect of one variable on
// another, with its interval and its paths.

import { createPicker } from "./picker.js";
import { categoryOf, totalEffects } from "./relations.js";
import { isAbort } from "./server.js";
import { element, named, number, refill } from "./text.js";

const STEP = 500; // milliseconds between two layers
const MOST_LISTED = 20;
const MOST_PATHS = 12;
const WAIT = 250;

/** Write the panel into a box; gives { begin(j) }, which starts with a variable. */
export function createWhatIf(box, bench) {
  const view = bench.page;
  let running = null, // { name, timer }
    asking = null,
    waiting = null;
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  const cause = createPicker(view, { id: "what-if-cause", label: "variable to change" });
  const amount = element("input", { type: "number", step: "any", value: "1", "aria-label": "By how much" });
  const unit = element(
    "select",
    { "aria-label": "In which unit" },
    element("option", { value: "units" }, "units higher"),
    element("option", { value: "deviations" }, "standard deviations higher"),
  );
  const stop = element("button", { type: "button", class: "stop", hidden: true, onclick: () => end() }, "stop");
  stop.title = "Take the numbers off the graph (Esc)";
  const changes = element("div", { class: "changes" });

  const signed = (value) => `${value > 0 ? "+" : ""}${number(value)}`;
  const signOf = (value) => (value < 0 ? "minus" : "plus");

  function lay(overlay) {
    view.overlay = overlay;
    view.tell("overlay");
  }

  function end() {
    clearTimeout(running?.timer);
    running = null;
    stop.hidden = true;
    refill(changes);
    lay(null);
  }

  function begin(j) {
    if (j !== undefined) cause.set(j);
    put();
    if (j !== undefined) box.scrollIntoView({ block: "nearest" });
  }

  function put() {
    const start = cause.variable(),
      asked = Number(amount.value);
    if (start === null) return complain("Choose the variable from the list first.");
    if (categoryOf(view.doc, start)) return complain("A category has no units to change: its card has the differences between its groups.");
    if (!amount.value || !Number.isFinite(asked) || asked === 0) return complain("Give a number other than 0.");
    run(start, asked * (unit.value === "units" ? 1 : view.doc.model.spread[start]), !calm());
  }

  function complain(words) {
    end();
    refill(changes, element("p", { class: "warning", role: "alert" }, words));
  }

  /** Show what a change of a variable changes, nearest variables first. */
  function run(start, size, slowly) {
    clearTimeout(running?.timer);
    const effects = totalEffects(view.doc, start);
    if (!effects)
      return complain(
        "This graph leaves directions open, so what follows from a change is open too: learn with a method that directs every edge, or add what you know.",
      );
    const layer = layersFrom(view.doc, start),
      last = Math.max(0, ...layer.values());
    const numbers = new Map();
    running = { name: view.doc.raw[start], size, timer: 0 };
    stop.hidden = false;
    const show = (upTo) => {
      for (const [j, at] of layer) {
        if (at > upTo || numbers.has(j)) continue;
        const value = j === start ? size : effects.get(j) * size;
        numbers.set(j, { text: signed(value), sign: signOf(value), start: j === start });
      }
      lay({ numbers: new Map(numbers) });
      if (upTo < last) running.timer = setTimeout(() => show(upTo + 1), STEP);
    };
    list(start, size, effects, layer);
    show(slowly ? 0 : last);
  }

  function list(start, size, effects, layer) {
    const sorted = [...effects.keys()].sort((a, b) => layer.get(a) - layer.get(b) || deviations(b) - deviations(a));
    function deviations(j) {
      return Math.abs(effects.get(j) * size) / view.doc.model.spread[j];
    }
    const head = ["If ", named(view.doc.names[start]), ` is set ${number(Math.abs(size))} ${size < 0 ? "lower" : "higher"}`];
    if (!sorted.length) {
      refill(changes, element("p", { role: "status" }, ...head, ", nothing else is expected to change: no arrow leads on from it."));
      return;
    }
    refill(
      changes,
      element("p", { role: "status" }, ...head, ", these are expected to change, the nearest first:"),
      element(
        "table",
        { class: "effects" },
        element("caption", { class: "unseen" }, "Expected changes"),
        element(
          "tbody",
          {},
          ...sorted.slice(0, MOST_LISTED).map((j) => {
            const value = effects.get(j) * size;
            return element(
              "tr",
              {},
              element(
                "th",
                { scope: "row" },
                element(
                  "button",
                  { type: "button", class: "chip", onclick: () => view.set({ chosen: { variable: j } }) },
                  named(view.doc.names[j], 22),
                ),
              ),
              element("td", { class: `ink-${signOf(value)}` }, signed(value)),
              element("td", { class: "soft" }, `${number(deviations(j), 2)} SD`),
            );
          }),
        ),
      ),
      sorted.length > MOST_LISTED ? element("p", { class: "soft" }, `And ${sorted.length - MOST_LISTED} more.`) : null,
    );
  }

  const from = createPicker(view, { id: "effect-from", label: "from", onchoose: () => total() });
  const to = createPicker(view, { id: "effect-to", label: "to", onchoose: () => total() });
  const answer = element("div", { class: "total", "aria-live": "polite" });

  /** Ask for the total effect between the two that are chosen. */
  async function total() {
    asking?.abort();
    const [i, j] = [from.variable(), to.variable()];
    if (i === null || j === null) return refill(answer);
    if (i === j) return refill(answer, element("p", { class: "warning" }, "Choose two different variables."));
    asking = new AbortController();
    const { signal } = asking;
    refill(answer, element("p", { class: "soft" }, "computing …"));
    try {
      const body = { state: bench.state, cause: view.doc.raw[i], effect: view.doc.raw[j] };
      const found = await bench.ask("api/effect", body, { signal });
      if (!signal.aborted) refill(answer, ...written(found, i, j));
    } catch (error) {
      if (!isAbort(error)) refill(answer, element("p", { class: "warning", role: "alert" }, error.message));
    }
    return undefined;
  }

  function written(found, i, j) {
    const { total: size, low, high, sentence, paths, more_paths: more } = found;
    const title = element("p", {}, named(view.doc.names[i]), " → ", named(view.doc.names[j]), ": ");
    if (paths.length) title.append(element("b", {}, signed(size)), low === null ? "" : ` (${number(low)} to ${number(high)})`);
    return [
      title,
      element("p", { class: "soft" }, sentence),
      paths.length
        ? element(
            "h4",
            {},
            more
              ? `The ${paths.length} strongest of ${paths.length + more} paths`
              : paths.length === 1
                ? "One path"
                : `${paths.length} paths`,
          )
        : null,
      element("ul", { class: "plain paths" }, ...paths.slice(0, MOST_PATHS).map(path)),
      paths.length > MOST_PATHS ? element("p", { class: "soft" }, `And ${paths.length - MOST_PATHS} more.`) : null,
    ];
  }

  function path({ nodes, product }) {
    const arrows = new Set(nodes.slice(1).map((j, at) => `${nodes[at]},${j}`));
    let kept = false;
    const show = () => lay({ ...view.overlay, arrows });
    const hide = () => {
      if (kept) return;
      const { numbers } = view.overlay ?? {};
      lay(numbers ? { numbers } : null);
    };
    const node = element(
      "button",
      {
        type: "button",
        class: "chip",
        title: "Show this path in the graph",
        "aria-pressed": "false",
        onpointerenter: show,
        onpointerleave: hide,
        onfocus: show,
        onblur: hide,
        onclick: () => {
          kept = !kept;
          node.setAttribute("aria-pressed", String(kept));
          if (kept) show();
          else hide();
        },
      },
      ...nodes.flatMap((j, at) => [at ? " → " : "", named(view.doc.names[j], 16)]),
    );
    return element("li", {}, node, ` ${signed(product)}`);
  }

  refill(
    box,
    element(
      "form",
      {
        class: "row",
        onsubmit: (event) => {
          event.preventDefault();
          begin();
        },
      },
      cause.element,
      amount,
      unit,
      element("button", { type: "submit" }, "show"),
      stop,
    ),
    changes,
    element("h4", {}, "Total effect"),
    element("div", { class: "row" }, from.element, to.element),
    answer,
  );

  bench.subscribe((changed) => {
    if (!changed.has("answer")) return;
    if (view.overlay?.arrows) lay(view.overlay.numbers ? { numbers: view.overlay.numbers } : null);
    if (running) {
      const j = view.doc.raw.indexOf(running.name);
      if (j < 0) end();
      else run(j, running.size, false);
    }
    clearTimeout(waiting);
    if (from.variable() !== null && to.variable() !== null) waiting = setTimeout(total, WAIT);
    else refill(answer);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && running && !event.target.closest("input, select, dialog")) end();
  });
  return { begin };
}

/** The number of arrows from the start to each of its descendants, along the longest path. */
function layersFrom(doc, start) {
  const { source, target, kind, weight } = doc.pairs,
    layer = new Map([[start, 0]]);
  const into = doc.names.map(() => []);
  kind.forEach((what, k) => {
    if (what === "arrow" && weight[k] !== null) into[target[k]].push(source[k]);
  });
  for (const j of doc.order) {
    const before = into[j].filter((i) => layer.has(i));
    if (j !== start && before.length) layer.set(j, 1 + Math.max(...before.map((i) => layer.get(i))));
  }
  return layer;
}
