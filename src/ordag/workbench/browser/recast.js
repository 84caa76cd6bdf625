// The columns of the table at the head of the page: what each is, and one click to make it something else.

import { adopted } from "./history.js";
import { overviewTable } from "./overview.js";
import { shortened } from "./names.js";
import { isAbort } from "./server.js";
import { counted, element, keepFocus, refill } from "./text.js";

/** A state for a table of which some columns have other roles now: new variables are in use, and those that are gone are not named. */
export function fitted(S, data) {
  const there = new Set(data.names),
    before = new Set(S.data.names),
    kept = (names) => names.filter((name) => there.has(name)),
    joined = (pairs) => pairs.filter((pair) => pair.every((name) => there.has(name)));
  const { tiers, required, forbidden, roots, sinks } = S.knowledge;
  const used = S.columns === null ? null : data.names.filter((name) => S.columns.includes(name) || !before.has(name));
  return adopted(
    {
      ...S,
      columns: used?.length === data.names.length ? null : used,
      transform: Object.fromEntries(Object.entries(S.transform).filter(([name]) => there.has(name))),
      knowledge: {
        tiers: tiers.map(kept).filter((tier) => tier.length),
        required: joined(required),
        forbidden: joined(forbidden),
        roots: kept(roots),
        sinks: kept(sinks),
      },
    },
    data,
  );
}

export function createOverview(fold, summary, box, bench) {
  let shown = null; // the description that is drawn
  const told = element("p", { class: "warning", role: "alert", hidden: true });

  const act = {
    roles: bench.start.roles,
    cast: (column, role) => send({ column: column.name, role }, `${shortened(column.shown, 24)}: ${bench.start.roles[role] ?? role}`),
    does(column, { words, role, na, unit }) {
      if (role) act.cast(column, role);
      else if (na) send({ na }, words);
      else if (unit)
        bench.change((state) => void (state.transform = units(state, column.name, unit)), `${shortened(column.shown, 24)}: ${words}`);
    },
  };

  /** The units with one more; made anew, because `transform.__proto__ = …` would set a prototype. */
  const units = ({ transform }, name, unit) => Object.fromEntries([...Object.entries(transform), [name, unit]]);

  /** Read the table again with a change, and show it with the same choices. */
  async function send(change, words) {
    told.hidden = true;
    try {
      const data = await bench.ask("api/data", { recast: bench.data.id, ...change });
      const { refused } = await bench.open(data, fitted(bench.state, data), words);
      if (refused) throw refused;
    } catch (error) {
      if (isAbort(error)) return;
      shown = null;
      paint();
      told.textContent = error.message;
      told.hidden = false;
    }
  }

  function paint() {
    const { overview } = bench.data;
    if (shown === bench.data) return;
    const first = shown === null && !box.childElementCount,
      inside = overview.filter(({ role }) => ["variable", "cause"].includes(role)).length,
      holed = overview.filter(({ missing }) => missing).length,
      remarks = overview.filter(({ remark }) => remark).length,
      aside = overview.length - inside;
    shown = bench.data;
    const parts = [`${counted(inside, "column")} in the graph`];
    if (aside) parts.push(`${aside} not`);
    if (holed) parts.push(`${holed} with missing values`);
    summary.textContent = parts.join(", ");
    if (first) fold.open = Boolean(aside || holed || remarks);
    keepFocus(box, () => refill(box, told, overviewTable(overview, act)));
  }

  bench.subscribe((changed) => {
    if (changed.has("opened")) {
      told.hidden = true;
      paint();
    }
  });
}
