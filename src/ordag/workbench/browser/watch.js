// Check now and then whether the server is still there, so that its end is noticed before the next change.

import { Silence, isThere } from "./server.js";

const EVERY = 15000; // ms between two looks while the page is visible

/** Look when the page gets the focus, and regularly while it is visible. */
export function watchServer(bench) {
  let looking = false;

  async function look() {
    if (looking || document.hidden || bench.busy) return; // the awaited answer will show it
    looking = true;
    const there = await isThere();
    looking = false;
    bench.heard(there ? null : new Silence(), look);
  }

  setInterval(look, EVERY);
  window.addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
}
