// The method and its settings, as controls made from the schemas of the server.

import { element, number, refill } from "./text.js";

const TITLES = new Map([
  ["alpha", "level"],
  ["min_effect", "least effect"],
  ["orient_by_order", "direct by the order"],
]);
const WORDS = new Map([
  ["bh", "Benjamini–Hochberg"],
  ["bonferroni", "Bonferroni"],
  ["bic", "BIC"],
  ["fisher-z", "Fisher’s z"],
  ["commensurable", "can be compared"],
]);
const FIRST = ["alpha", "penalty", "correction", "parents", "test", "direction", "units", "orient_by_order", "strategy", "min_effect"];
const [LOW, HIGH] = [-6, Math.log10(0.5)]; // powers of ten between which the level is moved

export const titleOf = (name) => TITLES.get(name) ?? name.replaceAll("_", " ");
const wordOf = (value) => WORDS.get(value) ?? String(value);

/** Settings of the rows that have no control, such as cluster='site' (--cluster site): they are given when the workbench is started. */
const AT_START = /(?:\b[a-z_]+=(?:'[^']*'|\d+)(?: and )?)+ \((--(?:cluster|environment|time|lags|difference)\b[^()]*)\)/;

/** Rewrite the settings in a sentence, such as units='commensurable' (--units commensurable), as the controls of this page. */
function inPageWords(text) {
  const start = AT_START.exec(text);
  if (start) {
    const rest = text.slice(start.index + start[0].length);
    return `${inPageWords(text.slice(0, start.index))}“ordag explore … ${start[1]}”${inPageWords(rest)}`;
  }
  return text
    .replaceAll("with knowledge (--knowledge)", "under “What you know”")
    .replace(/\b([a-z_]+)='([\w-]+)'(?: \(--[^()]*\))?/g, (_, name, value) =>
      name === "method" ? `the method ${value}` : `${titleOf(name)} set to “${wordOf(value)}” under Method`,
    )
    .replace(/\b([a-z_]+)=(\d+|…) \(--[^()]*\)/g, (_, name, value) => {
      return value === "…" ? `more ${titleOf(name)} under Method` : `${titleOf(name)} set to ${value} under Method`;
    })
    .replace(/--method \w+ (?=--)/g, "")
    .replace(/--([a-z-]+) ([\w.]*\w)/g, (_, name, value) => `${titleOf(name.replaceAll("-", "_"))} ${wordOf(value)}`);
}

/** Rewrite the sentences of a document likewise. */
export function verdictInPageWords(doc) {
  const { sentence, help } = doc.verdict;
  return {
    ...doc,
    found: doc.found.map(inPageWords),
    aside: inPageWords(doc.aside),
    warnings: doc.warnings.map(inPageWords),
    verdict: { ...doc.verdict, sentence: inPageWords(sentence), help: inPageWords(help) },
  };
}

/** The method that found the graph: the one that "auto" chose. */
const methodTaken = (bench) => bench.page?.doc.again.settings.find(([name]) => name === "method")?.[1] ?? bench.state.method;

export function createSettings(box, bench) {
  let drag = 0,
    shown = null,
    fields = new Map(),
    opened = false;

  /** Choose a method; settings that it has too stay. */
  function choose(name) {
    const has = new Set(bench.method(name).settings.map((one) => one.name));
    bench.change((state) => {
      state.method = name;
      for (const setting of Object.keys(state.settings)) if (!has.has(setting)) delete state.settings[setting];
    }, `method ${name}`);
  }

  function put(one, value, { key = null, since } = {}) {
    const usual = value === null || value === one.default;
    const words = `${titleOf(one.name)} ${usual ? "default" : typeof value === "number" ? number(value) : wordOf(value)}`;
    return bench
      .change(
        (state) => {
          if (usual) delete state.settings[one.name];
          else state.settings[one.name] = value;
        },
        words,
        { key, since },
      )
      .then((outcome) => outcome.refused && paint());
  }

  function build() {
    const { methods } = bench.start,
      taken = methodTaken(bench);
    const looked = bench.method(bench.state.method === "auto" ? taken : bench.state.method);
    shown = `${bench.state.method} ${taken}`;
    const radios = element(
      "div",
      { class: "methods", role: "radiogroup", "aria-label": "Method" },
      ...methods.map(({ name, about }) => {
        const is = name === bench.state.method;
        return element(
          "button",
          {
            type: "button",
            role: "radio",
            "aria-checked": is,
            tabindex: is ? 0 : -1,
            title: inPageWords(about),
            "data-method": name,
            onclick: () => choose(name),
            onkeydown: walk,
          },
          name,
        );
      }),
    );
    const { about } = bench.method(bench.state.method);
    const said =
      bench.state.method === "auto" ? `Here auto chose ${taken}, which ${looked.about}.` : `${about[0].toUpperCase()}${about.slice(1)}.`;
    fields = new Map();
    const rows = (list) => list.map((one) => row(one));
    const first = looked.settings.filter((one) => FIRST.includes(one.name)).sort((a, b) => FIRST.indexOf(a.name) - FIRST.indexOf(b.name));
    const rest = looked.settings.filter((one) => !FIRST.includes(one.name));
    const more = rest.length
      ? element(
          "details",
          { open: opened, ontoggle: (event) => (opened = event.target.open) },
          element("summary", {}, "more settings"),
          ...rows(rest),
        )
      : null;
    const usual = element(
      "button",
      { type: "button", id: "usual", onclick: () => bench.change((state) => void (state.settings = {}), "default settings") },
      "reset to defaults",
    );
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.method : null;
    refill(
      box,
      radios,
      element("p", { class: "soft about" }, inPageWords(said)),
      ...rows(first),
      element("div", { class: "ends" }, more, usual),
    );
    if (focused) radios.querySelector(`[aria-checked="true"]`).focus();
  }

  function walk(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const names = bench.start.methods.map((one) => one.name);
    choose(names[(names.indexOf(event.target.dataset.method) + step + names.length) % names.length]);
  }

  /** A setting: its title, its help behind a question mark, and its control. */
  function row(one) {
    const id = `set-${one.name}`;
    const control = CONTROLS[one.name === "alpha" ? "level" : one.kind](one, id);
    fields.set(one.name, { one, show: control.show });
    const ask = element(
      "button",
      { type: "button", class: "ask", "aria-label": `What is ${titleOf(one.name)}?`, "aria-describedby": `${id}-help` },
      "?",
    );
    return element(
      "div",
      { class: `setting ${one.kind}`, "data-setting": one.name },
      element("label", { for: id }, titleOf(one.name)),
      ask,
      element("p", { class: "help", id: `${id}-help`, role: "tooltip" }, `${one.help[0].toUpperCase()}${one.help.slice(1)}.`),
      ...control.parts,
    );
  }

  const CONTROLS = {
    level(one, id) {
      const place = (level) => Math.round((1000 * (Math.log10(level) - LOW)) / (HIGH - LOW));
      const levelAt = (at) => Number((10 ** (LOW + ((HIGH - LOW) * at) / 1000)).toPrecision(2));
      const slider = element("input", {
        type: "range",
        id,
        min: 0,
        max: 1000,
        step: 1,
        oninput: (event) => {
          const value = levelAt(Number(slider.value));
          field.value = value;
          slider.setAttribute("aria-valuetext", number(value));
          put(one, value, { key: `level ${drag}`, since: event.timeStamp });
        },
        onchange: () => (drag += 1),
      });
      const field = element("input", {
        type: "number",
        id: `${id}-number`,
        min: 0,
        max: 1,
        step: "any",
        "aria-label": "level, as a number",
        onchange: (event) => (field.value === "" ? put(one, null) : put(one, Number(field.value), { since: event.timeStamp })),
      });
      const show = (value) => {
        slider.value = place(value);
        slider.setAttribute("aria-valuetext", number(value));
        field.value = value;
      };
      return { parts: [element("div", { class: "slide" }, slider, field)], show };
    },
    choice(one, id) {
      const options = one.choices.map(({ value, help }) => element("option", { value, title: help || null }, wordOf(value)));
      if (one.default === null) options.unshift(element("option", { value: "" }, "default"));
      const select = element("select", { id, onchange: (event) => put(one, select.value || null, { since: event.timeStamp }) }, ...options);
      return { parts: [select], show: (value) => (select.value = value ?? "") };
    },
    flag(one, id) {
      const tick = element("input", { type: "checkbox", id, onchange: (event) => put(one, tick.checked, { since: event.timeStamp }) });
      return { parts: [tick], show: (value) => (tick.checked = value) };
    },
    number: (one, id) => figure(one, id, "any"),
    whole: (one, id) => figure(one, id, 1),
    text(one, id) {
      const read = () => {
        const text = field.value.trim();
        return text === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text;
      };
      const field = element("input", {
        type: "text",
        id,
        autocomplete: "off",
        onchange: (event) => put(one, read(), { since: event.timeStamp }),
      });
      return { parts: [field], show: (value) => (field.value = value ?? "") };
    },
  };

  function figure(one, id, step) {
    const field = element("input", {
      type: "number",
      id,
      step,
      min: one.least,
      max: one.most,
      placeholder: "default",
      onchange: (event) => put(one, field.value === "" ? null : Number(field.value), { since: event.timeStamp }),
    });
    return { parts: [field], show: (value) => (field.value = value ?? "") };
  }

  function paint() {
    if (!bench.state) return;
    if (shown !== `${bench.state.method} ${methodTaken(bench)}`) build();
    for (const { one, show } of fields.values()) show(bench.state.settings[one.name] ?? one.default);
    const changed = Object.keys(bench.state.settings);
    for (const [name] of fields) box.querySelector(`[data-setting="${name}"]`).classList.toggle("set", changed.includes(name));
    box.querySelector("#usual").disabled = !changed.length;
  }

  bench.subscribe((changed) => {
    if (["answer", "refused", "kept"].some((name) => changed.has(name))) paint();
  });
}
