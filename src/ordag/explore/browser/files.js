// Files in and out: the whole state in one file, the graph in many formats, and what to type to get the same again.

import { element, refill } from "./text.js";

const MOST_BYTES = 4e6; // of a saved state

/** Give something to the person as a file. */
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Ask the server for a form of the answer, and give it as a file. */
export async function exported(bench, form) {
  const { blob, name } = await bench.file("api/export", { state: bench.state, form });
  download(name || `graph${form.startsWith(".") ? form : ".txt"}`, blob);
}

/** A saved state from the text of a file; an Error says what is wrong with it. */
export function readState(text) {
  let S;
  try {
    S = JSON.parse(text);
  } catch {
    throw new Error("This file is no saved workbench: it is not JSON.");
  }
  if (S?.format !== "ordag-workbench" || typeof S.data !== "object" || S.data === null || !Array.isArray(S.data.names))
    throw new Error("This file is no saved workbench: those have the ending .ordag.json and are made by “save”.");
  if (S.version !== 1)
    throw new Error(`This workbench was saved by a later version of Ordag (its format is ${JSON.stringify(S.version)}, this one reads 1).`);
  return S;
}

/** Write the panel into a box; gives { load(file) } for a file that was dropped, and { offered(data) } for a table that has been opened. */
export function createFiles(box, bench) {
  const problem = element("p", { class: "warning", role: "alert", hidden: true });
  const told = element("p", { class: "soft", role: "status" });
  let waiting = null; // a saved state whose table is not open

  function complain(words) {
    problem.hidden = !words;
    problem.textContent = words;
  }

  function save() {
    const S = bench.saved(),
      name = `${S.data.name.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}_-]+/gu, "-") || "workbench"}.ordag.json`;
    download(name, new Blob([JSON.stringify(S, null, 1)], { type: "application/json" }));
    bench.say(`saved as ${name}`);
  }

  /** Open a saved state. Its table is the one that is open, or built in, or else it is asked for. */
  async function load(file) {
    complain("");
    waiting = null;
    refill(told);
    try {
      if (file.size > MOST_BYTES) throw new Error(`${file.name} is too large for a saved workbench.`);
      const S = readState(await file.text());
      if (S.data.builtin) await open(await bench.builtin(S.data.builtin), S);
      else if (bench.data?.digest === S.data.digest) await open(bench.data, S);
      else ask(S);
    } catch (error) {
      complain(error.message);
    }
  }

  async function open(data, S) {
    const { id, name, rows, names, digest, builtin } = data;
    const refused = await bench.open(data, { ...S, data: { id, name, rows, names, digest, builtin } });
    if (refused) throw refused;
    waiting = null;
    refill(told);
    bench.say("The saved state is open.");
  }

  function ask(S) {
    waiting = S;
    const few = S.data.names.slice(0, 6).map(String).join(", ");
    const more = S.data.names.length > 6 ? " …" : "";
    refill(
      told,
      `This state is about the table ${String(S.data.name)} (${Number(S.data.rows).toLocaleString("en")} rows; ${few}${more}), which is not open. Open that file, and the state follows. `,
      element("button", { type: "button", onclick: () => table.click() }, "open its table"),
    );
  }

  /** A table has been opened: is it the one that a saved state waits for? */
  async function offered(data) {
    if (!waiting) return false;
    const S = waiting;
    const fits = S.data.names.every((name) => data.names.includes(name));
    try {
      if (data.digest === S.data.digest) {
        await open(data, S);
        return true;
      }
    } catch (error) {
      complain(error.message);
      return false;
    }
    refill(
      told,
      `${data.name} is another table than the one that the state was saved with. `,
      fits
        ? element(
            "button",
            { type: "button", onclick: () => open(data, S).catch((error) => complain(error.message)) },
            "use the state with it all the same",
          )
        : "It lacks some of its columns, so the state cannot be used with it.",
    );
    return false;
  }

  const chooser = (label, accept, take) => {
    const input = element("input", {
      type: "file",
      class: "unseen",
      tabindex: -1,
      accept,
      "aria-label": label,
      onchange: () => {
        const [file] = input.files;
        input.value = "";
        if (file) take(file);
      },
    });
    return input;
  };
  const state = chooser("A saved workbench", ".json,application/json", load);
  const table = chooser("The table of the saved workbench", "", async (file) => {
    try {
      const data = await bench.upload(file);
      await offered(data);
    } catch (error) {
      complain(error.message);
    }
  });

  const form = element(
    "select",
    { "aria-label": "Format" },
    ...bench.start.forms.map(({ form: value, title }) => element("option", { value }, title)),
  );
  refill(
    box,
    element(
      "div",
      { class: "row" },
      element("button", { type: "button", onclick: save }, "save the workbench"),
      element("button", { type: "button", onclick: () => state.click() }, "open a saved one"),
      state,
      table,
    ),
    element(
      "form",
      {
        class: "row",
        "aria-label": "Export",
        onsubmit: async (event) => {
          event.preventDefault();
          complain("");
          try {
            await exported(bench, form.value);
          } catch (error) {
            complain(error.message);
          }
        },
      },
      form,
      element("button", { type: "submit" }, "export"),
    ),
    problem,
    told,
  );
  return { load, offered };
}
