// Files: saving and opening the whole state, and exporting the answer.

import { adopted } from "./history.js";
import { isAbort } from "./server.js";
import { counted, element, named, refill } from "./text.js";

const MOST_BYTES = 4e6; // of a saved state

/** Download something as a file. */
function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Ask the server for the answer in some format, and download it. */
export async function exported(bench, form) {
  const { blob, name } = await bench.file("api/export", { state: bench.state, form, replicates: bench.replicates() });
  download(name || `graph${form.startsWith(".") ? form : ".txt"}`, blob);
}

/** A saved state from the text of a file; an Error says what is wrong with it. */
function readState(text) {
  let S;
  try {
    S = JSON.parse(text);
  } catch {
    throw new Error("This file is not a saved workbench: it is not JSON.");
  }
  if (S?.format !== "ordag-workbench" || typeof S.data !== "object" || S.data === null || !Array.isArray(S.data.names))
    throw new Error("This file is not a saved workbench: those end in .ordag.json and are written by “save”.");
  if (S.version !== 1)
    throw new Error(`This workbench was saved by a later version of Ordag (its format is ${JSON.stringify(S.version)}, this one reads 1).`);
  const { places, look } = S.view ?? {};
  const known = Object.entries(places ?? {}).filter(([, spot]) => Array.isArray(spot) && spot.length === 2 && spot.every(Number.isFinite));
  return { ...S, view: { look, places: Object.fromEntries(known) } };
}

/** Write "save" and "open" into the header, messages under it, and exports into a menu of the header and beside the code. */
export function createFiles({ header, told, exports }, bench) {
  let waiting = null; // a saved state whose table is not open

  function say(...parts) {
    told.hidden = !parts.length;
    const close = element("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => say() }, "×");
    refill(told, ...parts, parts.length ? close : null);
  }

  /** Do something, and show its error. */
  async function attempt(work) {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error)) say(error.message, " ");
    }
  }

  function save() {
    const S = bench.saved(),
      name = `${stemOf(S.data.name)}.ordag.json`;
    download(name, new Blob([JSON.stringify(S, null, 1)], { type: "application/json" }));
    bench.say(`saved as ${name}`);
  }

  /** Open a saved state. Its table is the one that is open, or built in, or else it is asked for. */
  async function load(file) {
    waiting = null;
    say();
    if (file.size > MOST_BYTES) throw new Error(`${file.name} is too large for a saved workbench.`);
    const S = readState(await file.text());
    if (S.data.builtin) await open(await bench.builtin(S.data.builtin), S);
    else if (bench.data && bench.data.digest === S.data.digest) await open(await asSaved(bench.data, S), S);
    else ask(S);
  }

  /** The table with the roles of columns that it had when the state was saved. */
  async function asSaved(data, S) {
    const { reading } = S.data;
    if (!reading || JSON.stringify(reading) === JSON.stringify(data.reading)) return data;
    return bench.ask("api/data", { recast: data.id, reading });
  }

  async function open(data, S) {
    const { refused, done } = await bench.open(data, adopted(S, data));
    if (refused) throw refused;
    if (!done) return; // something else was opened instead, or it was cancelled
    waiting = null;
    say();
    bench.say("The saved state is open.");
  }

  function ask(S) {
    waiting = S;
    const names = S.data.names.slice(0, 6).flatMap((one, at) => [at ? ", " : "", named(String(one), 20)]);
    say(
      "This state is about the table ",
      named(String(S.data.name ?? "without a name"), 60),
      ` (${counted(Number(S.data.rows) || 0, "row")}: `,
      ...names,
      S.data.names.length > 6 ? " …" : "",
      "), which is not open. Open that file, and the state follows. ",
      element("button", { type: "button", onclick: () => table.click() }, "open its table"),
      " ",
    );
  }

  /** A table has come while a saved state waits for one: with it, if it is the one. */
  bench.begin = async (data) => {
    if (!waiting) return (await bench.open(data)).refused ?? null;
    const S = waiting;
    if (data.digest === S.data.digest) {
      try {
        await open(await asSaved(data, S), S);
      } catch (error) {
        return error;
      }
      return null;
    }
    const { refused, done } = await bench.open(data);
    if (!done) return refused ?? null;
    const lacking = S.data.names.filter((one) => !data.names.includes(one));
    say(
      named(data.shown, 60),
      " is not the table that the state was saved with. ",
      lacking.length
        ? `It lacks ${counted(lacking.length, "column")} of that one, so the state cannot be used with it. `
        : element("button", { type: "button", onclick: () => attempt(() => open(data, S)) }, "use the state with it anyway"),
      " ",
    );
    return null;
  };

  bench.takers.push(async (file) => {
    if (!file.name.toLowerCase().endsWith(".json")) return false;
    await attempt(() => load(file));
    return true;
  });

  const chooser = (label, accept, take) => {
    const input = element("input", {
      type: "file",
      class: "unseen",
      tabindex: -1,
      accept,
      "aria-label": label,
      onchange: () => {
        const [file] = input.files;
        if (file) attempt(() => take(file));
        input.value = "";
      },
    });
    return input;
  };
  const state = chooser("A saved workbench", ".json,application/json", load);
  const table = chooser("The table of the saved workbench", "", (file) => bench.take(file));

  const menu = element("details", { class: "menu" }, element("summary", {}, "export"));
  const entry = ({ form, title }) =>
    element(
      "button",
      {
        type: "button",
        class: "quiet",
        "data-form": form,
        onclick: () => {
          menu.open = false;
          attempt(() => exported(bench, form));
        },
      },
      title,
    );
  menu.append(element("div", {}, ...bench.start.forms.map(entry)));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  const saving = element("button", { type: "button", class: "quiet", onclick: save, title: "Save the whole state in one file" }, "save");
  const opening = element("button", { type: "button", class: "quiet", onclick: () => state.click(), title: "Open a saved state" }, "open");
  refill(header, saving, opening, menu, state, table);
  const choice = element(
    "select",
    { "aria-label": "Format" },
    ...bench.start.forms.map(({ form, title }) => element("option", { value: form }, title)),
  );
  refill(
    exports,
    element(
      "form",
      {
        class: "row",
        "aria-label": "Export",
        onsubmit: (event) => {
          event.preventDefault();
          attempt(() => exported(bench, choice.value));
        },
      },
      choice,
      element("button", { type: "submit" }, "export"),
    ),
  );

  const paint = () => {
    saving.hidden = menu.hidden = !bench.state;
  };
  bench.subscribe((changed) => {
    if (changed.has("opened")) paint();
  });
  paint();
}

/** The name of a table without its ending, as a file may have it. */
function stemOf(name) {
  return name.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}_-]+/gu, "-") || "workbench";
}
