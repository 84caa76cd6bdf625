// The start page: a file to drop or choose, or a built-in table.

import { Refusal, isAbort } from "./server.js";
import { element, refill } from "./text.js";

export function createWelcome(section, body, bench) {
  const { unread } = bench.start;
  let first = unread && new Refusal(unread.error, unread.kind, 422, unread), // the refusal of the command line's table, until one is open
    reading = null; // aborts the reading of a table
  const field = element("input", {
    type: "file",
    id: "file",
    class: "unseen",
    accept: ".csv,.tsv,.txt,.gz,.bz2,.zst,.parquet,.feather,.arrow,.moments,.json",
    onchange: () => field.files[0] && take(field.files[0]),
  });
  const told = element("div", { role: "alert" });
  const most = Math.floor(bench.start.most_bytes / 2 ** 20);
  const drop = element(
    "div",
    { class: "drop" },
    element("p", { class: "lead" }, "Drop a table here"),
    element(
      "p",
      { class: "soft" },
      `CSV (compressed too), Parquet or Feather, up to ${most} MB: one row per case, one column of numbers per variable. Or a saved workbench (.ordag.json).`,
    ),
    element("label", { for: "file", class: "button" }, "choose a file"),
    field,
    element(
      "p",
      { class: "soft" },
      "The file stays on this computer. It is read into the memory of the program that you started, and is gone when that ends.",
    ),
  );
  const cards = bench.start.builtin.map(({ name, title }) =>
    element(
      "button",
      {
        type: "button",
        class: "offer",
        "data-table": name,
        onclick: () => open((signal) => bench.ask("api/data", { builtin: name }, { signal })),
      },
      element("b", {}, name),
      element("span", {}, title),
    ),
  );
  const back = element("button", { type: "button", class: "quiet", onclick: hide }, "back to the graph");
  refill(body, told, drop, element("h2", {}, "Or try a built-in table"), element("div", { class: "offers" }, ...cards), back);

  /** Open the table that `fetched(signal)` gives. A later call cancels one that is still reading. */
  async function open(fetched) {
    reading?.abort();
    const mine = (reading = new AbortController());
    refill(told, element("p", { class: "soft" }, "reading …"));
    try {
      const data = await fetched(mine.signal);
      if (reading !== mine) return;
      const error = await bench.begin(data);
      if (error) throw error;
      first = null;
      if (reading === mine) refill(told);
    } catch (error) {
      if (!isAbort(error) && reading === mine) show(error);
    }
  }

  async function take(file) {
    reading?.abort();
    for (const taker of bench.takers) if (await taker(file)) return;
    if (file.size > bench.start.most_bytes)
      show(
        new Error(
          `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB; this server takes up to ${most}. Start it with --most-mb to allow more.`,
        ),
      );
    else open((signal) => bench.upload(file, signal));
  }

  /** The remedies of a refused table, as buttons. */
  function remedies({ unread, remedies: words = [] }) {
    const button = (said, choice) =>
      element("button", { type: "button", onclick: () => open((signal) => bench.ask("api/data", { unread, choice }, { signal })) }, said);
    return words.length ? element("div", { class: "row" }, ...words.map(button)) : null;
  }

  function show(error = first) {
    section.hidden = false;
    back.hidden = !bench.page;
    document.getElementById("bench").hidden = true;
    refill(told, error ? element("p", { class: "warning" }, error.message) : null, remedies(error?.said ?? {}));
    field.value = "";
  }

  function hide() {
    reading?.abort();
    section.hidden = true;
    refill(told);
    if (bench.page) document.getElementById("bench").hidden = false;
  }

  bench.take = take;
  return { show, hide, take };
}
