// What the tab keeps of the bench, so that a reload, or the way back to the page, brings it again. Other tabs have their own.

import { adopted } from "./history.js";

const KEPT = "ordag-workbench";
const LATER = 200; // ms after an answer: it is painted first

/** Keep the state of every answer, and how it is looked at when the page goes. */
export function keepInTab(bench) {
  const keep = () => {
    if (!bench.page) return;
    const data = bench.data.id === bench.start.data?.id ? null : bench.data; // the server tells of its own table
    try {
      sessionStorage.removeItem(KEPT); // where there is no room for this state, none is better than an older one
      sessionStorage.setItem(KEPT, JSON.stringify({ address: location.pathname, data, state: bench.saved() }));
    } catch {
      // storage is full or forbidden: a reload begins anew
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

/** What the tab has kept for this server, as { data, state }: of the table that it began with, or of another that it was given; or null. */
export function keptInTab(start) {
  const kept = read();
  if (!kept?.state?.data) return null;
  const isFirst = start.data && kept.state.data.digest === start.data.digest;
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
