// Whether the server is still there: looked at now and then, so that nobody learns it by the next change only.

import { Silence, isThere } from "./server.js";

const EVERY = 15000; // ms between two looks while the page is in sight

/** Look when somebody comes back to the page, and every now and then while they are there. */
export function watchServer(bench) {
  let looking = false;

  async function look() {
    if (looking || document.hidden || bench.busy) return; // an answer that is awaited tells by itself
    looking = true;
    const there = await isThere();
    looking = false;
    bench.heard(there ? null : new Silence(), look);
  }

  setInterval(look, EVERY);
  window.addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
}
