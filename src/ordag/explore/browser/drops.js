// Files dropped anywhere on the page.

import { element } from "./text.js";

/** Take a file that is dropped. */
export function acceptDrops(box, welcome) {
  const veil = element("div", { class: "veil", hidden: true }, element("p", {}, "Drop the file here: it stays on this computer."));
  box.append(veil);
  const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  box.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  box.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  box.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    veil.hidden = true;
    const [file] = event.dataTransfer.files;
    if (!file) return;
    welcome.take(file);
  });
}
