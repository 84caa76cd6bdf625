// The state in the tab's storage, which brings it back after a reload. Each tab has its own.

import { adopted, isAbout } from "./history.js";

const KEPT = "ordag-workbench";
const LATER = 200; // ms after an answer: it is painted first

/** Keep the state of every answer, and the view when the page is left. */
export function keepInTab(bench) {
  const keep = () => {
    if (!bench.page) return;
    const data = bench.data.id === bench.start.data?.id ? null : bench.data; // the server describes its own table
    try {
      sessionStorage.removeItem(KEPT); // no state is better than an older one, if there is no room for this one
      sessionStorage.setItem(KEPT, JSON.stringify({ address: location.pathname, data, state: bench.saved() }));
    } catch {
      // storage is full or forbidden: a reload starts anew
    }
  };
  let later = 0;
  bench.subscribe((changed) => {
    if (!changed.has("answer")) return;
    clearTimeout(later);
    later = setTimeout(keep, LATER);
  });
  window.addEventListener("pagehide", keep);
}

/** What the tab has kept for this server, as { data, state }, or null. */
export function keptInTab(start) {
  const kept = read();
  if (!kept?.state?.data) return null;
  const isFirst = isAbout(kept.state, start.data);
  const data = isFirst ? start.data : kept.address === location.pathname ? kept.data : null;
  return data && { data, state: adopted(kept.state, data) };
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}
