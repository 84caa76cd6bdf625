// How an edge looks, in every drawing: width by standardised weight, colour and head by sign, opacity by how sure it is, dashes where
// its direction is near a tie, dots where a hidden common cause could explain it, no head where it has none, a ring at its start where
// knowledge gives the direction.

import { categoryOf } from "./relations.js";
import { shape } from "./text.js";

export const TALL = 32;

/** The sign of an edge that is other than it was before. */
export const BADGES = { appeared: "+", turned: "↻", opened: "—", directed: "→", gone: "×" };

const HEAD = 9;

/** What a pair looks like: its sign, width, opacity, and whether it has a direction and a sure one. */
export function looks(doc, k) {
  const { pairs } = doc;
  const size = pairs.standardised ? pairs.standardised[k] : null;
  const strength = pairs.strength ? pairs.strength[k] : 1;
  return {
    sign: size === null || size === undefined ? "none" : size < 0 ? "minus" : "plus",
    width: size === null || size === undefined ? 2 : 1.4 + 4.6 * Math.min(Math.abs(size), 1),
    opacity: 0.4 + 0.6 * Math.min(Math.max(strength ?? 1, 0), 1),
    dashed: pairs.kind[k] !== "line" && pairs.tied[k],
    dotted: pairs.reason?.[k] === "hidden",
    head: pairs.kind[k] !== "line",
    known: pairs.kind[k] === "arrow" && pairs.reason?.[k] === "knowledge" && !categoryOf(doc, pairs.source?.[k]),
  };
}

function dashes({ dashed, dotted, width }) {
  const [ink, gap] = dotted ? [width, 0.8 * width + 1.5] : [2.2 * width + 3, 1.2 * width + 3];
  return dashed || dotted ? `${ink.toFixed(1)} ${gap.toFixed(1)}` : null;
}

/** The shapes of an edge along a path that ends at (x, y) in direction `angle` (radians; downwards is π/2).
 *
 * The path itself should end `HEAD` before that point where there is a head. */
export function edgeShapes(doc, k, path, x, y, angle) {
  const look = looks(doc, k);
  const parts = [
    shape("path", { d: path, class: "hit" }),
    shape("path", {
      d: path,
      class: `line ${look.sign}`,
      "stroke-width": look.width.toFixed(2),
      "stroke-opacity": look.opacity.toFixed(2),
      "stroke-dasharray": dashes(look),
    }),
  ];
  if (look.head) {
    const wide = 3.6 + 0.7 * look.width,
      long = headLength(look.width);
    const at = (along, across) =>
      `${(x - along * Math.cos(angle) - across * Math.sin(angle)).toFixed(1)},${(y - along * Math.sin(angle) + across * Math.cos(angle)).toFixed(1)}`;
    parts.push(
      shape("polygon", {
        points: [at(0, 0), at(long, wide), at(long, -wide)].join(" "),
        class: `head ${look.sign}`,
        "stroke-opacity": look.opacity.toFixed(2),
        "fill-opacity": look.sign === "minus" ? null : look.opacity.toFixed(2),
      }),
    );
  }
  if (look.known) {
    const [x0, y0, x1, y1] = path.match(/-?[\d.]+/g).map(Number);
    const away = 7 / (Math.hypot(x1 - x0, y1 - y0) || 1);
    parts.push(
      shape("circle", {
        cx: (x0 + away * (x1 - x0)).toFixed(1),
        cy: (y0 + away * (y1 - y0)).toFixed(1),
        r: 4.5,
        class: `known ${look.sign}`,
      }),
    );
  }
  return parts;
}

/** A path through points that is upright at each of them. */
export function uprightPath(points) {
  const written = (...numbers) => numbers.map((one) => one.toFixed(1)).join(",");
  return points.reduce((path, [x, y], i) => {
    if (!i) return `M${written(x, y)}`;
    const [px, py] = points[i - 1];
    const middle = (py + y) / 2;
    return `${path} C${written(px, middle)} ${written(x, middle)} ${written(x, y)}`;
  }, "");
}

export function headLength(width) {
  return HEAD + 0.6 * width;
}

/** What the edges that are present look like, each with its meaning: [picture, words]. */
export function legendOf(doc, present) {
  const { pairs } = doc;
  const some = (column, test) => pairs[column]?.some((value, k) => present[k] && value !== null && test(value, k));
  const usual = {
    size: pairs.standardised ? 0.5 : null,
    strength: 1,
    kind: some("kind", (kind) => kind !== "line") ? "arrow" : "line",
    tied: false,
  };
  const kinds = [
    [some("standardised", (size) => size > 0), {}, "raises the effect; wider is stronger"],
    [some("standardised", (size) => size < 0), { size: -0.5 }, "lowers the effect (open head)"],
    [
      some("tied", (tied, k) => tied && !looks(doc, k).dotted && pairs.kind[k] !== "line"),
      { tied: true },
      "dashed: direction near a tie or open",
    ],
    [some("reason", (reason, k) => looks(doc, k).dotted), { reason: "hidden" }, "dotted: a hidden common cause could explain it"],
    [some("strength", (strength) => strength < 0.9), { strength: 0 }, "faint: the edge itself is uncertain"],
    [some("reason", (reason, k) => looks(doc, k).known), { reason: "knowledge" }, "ring: direction given by your knowledge"],
    [some("kind", (kind) => kind === "line"), { size: null, kind: "line" }, "no head: these data leave the direction open"],
  ];
  const found = kinds.filter(([is]) => is).map(([, changed, words]) => [example({ ...usual, ...changed }), words]);
  return doc.categories?.length ? [...found, [roundBox(), "round, dashed box: a category, which may be a cause and has none"]] : found;
}

function roundBox() {
  const box = shape("rect", { x: 6, y: 2, width: 38, height: 12, rx: 6 });
  return shape("svg", { width: 50, height: 16, viewBox: "0 0 50 16", "aria-hidden": "true" }, shape("g", { class: "node category" }, box));
}

function example({ size, strength, kind, tied, reason }) {
  const one = { pairs: { standardised: [size], strength: [strength], kind: [kind], tied: [tied], reason: [reason] } };
  const end = kind === "line" ? 46 : 46 - headLength(looks(one, 0).width);
  const line = edgeShapes(one, 0, `M3,8 L${end},8`, 46, 8, 0);
  return shape("svg", { width: 50, height: 16, viewBox: "0 0 50 16", "aria-hidden": "true" }, ...line);
}
