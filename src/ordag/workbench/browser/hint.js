// A hint on what to try first, until it was followed or closed.

import { firstCause } from "./relations.js";
import { element, named, refill } from "./text.js";

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
  const where = () => {
    const edit = document.querySelector("#columns .unit-edit:not([hidden])");
    (edit ?? document.querySelector("#columns .unit"))?.scrollIntoView({ block: "center" });
    (edit ?? document.querySelector("#columns .column")).querySelector("button").focus();
  };

  function paint() {
    const { doc, relations } = bench.page,
      cause = firstCause(doc, relations);
    box.hidden = seen() || !relations.out[cause].length; // where there is no arrow, none turns
    refill(
      box,
      close,
      element(
        "p",
        {},
        element("b", {}, "Try: give “", named(doc.names[cause], 20), "” another unit. "),
        "Multiply it by 100, as if it were counted in hundredths. No cause depends on a unit, but watch the arrows. ",
        element("button", { type: "button", onclick: where }, "show me where"),
      ),
    );
  }

  bench.subscribe((changed) => {
    if (changed.has("opened")) paint();
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
