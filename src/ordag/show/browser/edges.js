// How an edge looks, in every drawing: width by standardised weight, colour and head by sign, opacity by how sure it is, dashes where
// its direction is near a tie, no head where it has none.

import { shape } from "./text.js";

export const TALL = 32;

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
    head: pairs.kind[k] !== "line",
  };
}

/** The shapes of an edge along a path that ends at (x, y) in direction `angle` (radians; downwards is π/2).
 *
 * The path itself should end `HEAD` before that point where there is a head. */
export function edgeShapes(doc, k, path, x, y, angle) {
  const look = looks(doc, k);
  const parts = [shape("path", { d: path, class: "hit" }), shape("path", {
    d: path, class: `line ${look.sign}`, "stroke-width": look.width.toFixed(2), "stroke-opacity": look.opacity.toFixed(2),
    "stroke-dasharray": look.dashed ? `${(2.2 * look.width + 3).toFixed(1)} ${(1.2 * look.width + 3).toFixed(1)}` : null,
  })];
  if (look.head) {
    const wide = 3.6 + 0.7 * look.width, long = headLength(look.width);
    const at = (along, across) => `${(x - along * Math.cos(angle) - across * Math.sin(angle)).toFixed(1)},${(y - along * Math.sin(angle) + across * Math.cos(angle)).toFixed(1)}`;
    parts.push(shape("polygon", {
      points: [at(0, 0), at(long, wide), at(long, -wide)].join(" "), class: `head ${look.sign}`, "stroke-opacity": look.opacity.toFixed(2),
      "fill-opacity": look.sign === "minus" ? null : look.opacity.toFixed(2),
    }));
  }
  return parts;
}

export function headLength(width) {
  return HEAD + 0.6 * width;
}

/** A few edges with what they mean, in words. */
export function legendOf(doc) {
  const example = (pair, words) => {
    const one = { pairs: { standardised: [pair.size], strength: [pair.strength ?? 1], kind: [pair.kind ?? "arrow"], tied: [pair.tied ?? false] } };
    const end = pair.kind === "line" ? 46 : 46 - headLength(looks(one, 0).width);
    const picture = shape("svg", { width: 50, height: 16, viewBox: "0 0 50 16", "aria-hidden": "true" }, ...edgeShapes(one, 0, `M3,8 L${end},8`, 46, 8, 0));
    return [picture, words];
  };
  const { pairs } = doc, kinds = new Set(pairs.kind), found = [];
  const some = (column, test) => pairs[column] && pairs[column].some((value, k) => pairs.kind[k] !== "absent" && value !== null && test(value));
  if (some("standardised", (value) => value > 0)) found.push(example({ size: 0.5 }, "raises; the wider, the stronger"));
  if (some("standardised", (value) => value < 0)) found.push(example({ size: -0.5 }, "lowers (open head)"));
  if (pairs.tied.some((tied, k) => tied && pairs.kind[k] === "arrow")) found.push(example({ size: pairs.standardised ? 0.5 : null, tied: true }, "dashed: its direction is near a tie or open"));
  if (some("strength", (value) => value < 0.9)) found.push(example({ size: pairs.standardised ? 0.5 : null, strength: 0, kind: kinds.has("arrow") ? "arrow" : "line" }, "faint: the edge itself is unsure"));
  if (kinds.has("line")) found.push(example({ size: null, kind: "line" }, "no head: these data leave the direction open"));
  return found;
}
