// Elements and words: the only place where elements are made. Text goes in as text, never as markup.

import { shortened } from "./names.js";

export const SMALL = "12px system-ui, sans-serif";

const SVG = "http://www.w3.org/2000/svg";
const ruler = document.createElement("canvas").getContext("2d");

/** An element with attributes and children; a string among the children is text. `on…` attributes are listeners. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for an element of a drawing. */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** A name that stands alone whatever its writing direction; the whole of it on hover. */
export function named(name, most = 28) {
  const short = shortened(name, most);
  return element("bdi", { title: short === name ? null : name, class: "name" }, short);
}

/** A sentence with each option of the command line, such as --cluster, on one line. */
export function sentence(text) {
  return text.split(/(--[a-z][\w-]*)/).map((part, i) => (i % 2 ? element("span", { class: "option" }, part) : part));
}

/** How wide a text is drawn, in pixels. */
export function widthOf(text, font = "14px system-ui, sans-serif") {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** A number to so many digits; nothing where there is none. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6))
    return value
      .toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e")
      .replaceAll("-", "−");
  const text = String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

export function chance(value) {
  if (value === null || value === undefined) return "";
  return value < 1e-16 ? "< 1e−16" : number(value, 2);
}

export function percent(value) {
  if (value === null || value === undefined) return "";
  const rounded = Math.round(100 * value);
  if (value < 1e-9) return "0 %";
  if (rounded === 100 && value < 1) return "> 99 %";
  if (rounded === 0 && value > 0) return "< 1 %";
  return `${rounded} %`;
}

export function counted(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/** A colour of the style sheet, as it is under the present theme: for what is painted and not styled. */
export function colour(name) {
  const probe = element("span", { class: `ink-${name}` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Empty an element and put these in. */
export function refill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** Fill a box anew, in which what had the focus keeps it: the one that says the same, or what `instead(able, place)` takes in its place. */
export function keepFocus(box, fill, instead = (able) => able[0]) {
  const able = () => [...box.querySelectorAll("button, input, select, summary")].filter((one) => !one.disabled);
  const words = (one) => one.dataset.name ?? one.getAttribute("aria-label") ?? one.textContent;
  const had = box.contains(document.activeElement) ? document.activeElement : null;
  const place = able().indexOf(had);
  fill();
  if (!had || box.contains(document.activeElement)) return;
  const now = able();
  (now.find((one) => words(one) === words(had)) ?? instead(now, place))?.focus({ preventScroll: true });
}

/** How light a colour is, from 0 to 1 (the relative luminance of WCAG 2), laid over another with an opacity. */
export function lightness(written, alpha = 1, under = written) {
  const parts = (text) => text.match(/[\d.]+/g).map(Number),
    below = parts(under);
  const [r, g, b] = parts(written)
    .map((part, i) => (alpha * part + (1 - alpha) * below[i]) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
