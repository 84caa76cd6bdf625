// Files dropped anywhere on the page.

import { element } from "./text.js";

/** Take a file that is dropped anywhere on the page: else the browser would open it in its place. */
export function acceptDrops(welcome) {
  const veil = element("div", { class: "veil", hidden: true }, element("p", {}, "Drop the file here: it stays on this computer."));
  document.body.append(veil);
  const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    veil.hidden = true;
    const [file] = event.dataTransfer.files;
    if (!file) return;
    welcome.take(file);
  });
}
