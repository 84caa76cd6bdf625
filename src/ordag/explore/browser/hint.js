// What to try first, for somebody who is here for the first time.

import { element, refill } from "./text.js";

const SEEN = "ordag-hint";

export function createHint(box, bench) {
  const close = element(
    "button",
    {
      type: "button",
      class: "quiet close",
      "aria-label": "Close the hint",
      onclick: () => {
        box.hidden = true;
        remember();
      },
    },
    "×",
  );
  const show = element(
    "button",
    {
      type: "button",
      onclick: () => {
        const field = document.querySelector("#columns .column");
        field?.scrollIntoView({ block: "nearest" });
        field?.querySelector("button")?.focus();
      },
    },
    "show me where",
  );
  refill(
    box,
    close,
    element(
      "p",
      {},
      element("b", {}, "Try: give a column another unit. "),
      "Say centimetres instead of metres: multiply it by 100. Causes cannot care, but watch the arrows.",
    ),
    show,
  );
  bench.subscribe((changed) => {
    if (changed.has("opened")) box.hidden = seen();
    if (changed.has("answer") && bench.scales) {
      box.hidden = true;
      remember();
    }
  });
}

/** Storage may be switched off in a browser: then the hint comes again. */
function seen() {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(SEEN, "seen");
  } catch {
    // it comes again
  }
}
