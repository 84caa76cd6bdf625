// Ways of edges between boxes that may stand anywhere: bent no more than it takes to pass by the others.

import { TALL, uprightPath } from "./edges.js";

const APART = 5;
const STEP = 46;
const TRIES = 9;

/** The least bent of the ways that `way(bend)` gives which passes through no box, else the one through the fewest.
 *
 * A way is { path, points, … }: what is drawn, and points along it. boxes: { left, right, top, bottom } each, without those of its ends.
 */
export function clearWay(way, boxes) {
  let best = null,
    fewest = Infinity;
  for (let i = 0; i < TRIES; i++) {
    const one = way(Math.ceil(i / 2) * STEP * (i % 2 ? 1 : -1));
    const hits = boxes.reduce((count, box) => count + (passes(one.points, box) ? 1 : 0), 0);
    if (hits < fewest) [best, fewest] = [one, hits];
    if (!hits) break;
  }
  return best;
}

/** Points by which a way from one place down or up to another goes through the gaps between the boxes of every row that it passes. */
export function gapsBetween([x0, y0], [x1, y1], boxes, shift = 0) {
  const to = Math.sign(y1 - y0),
    [high, low] = [Math.min(y0, y1), Math.max(y0, y1)];
  const passed = boxes.filter(({ top, bottom }) => top > high && bottom < low).sort((a, b) => to * (a.top - b.top));
  const rows = [];
  for (const box of passed) {
    const row = rows.at(-1);
    if (row && Math.abs(row[0].top - box.top) < TALL) row.push(box);
    else rows.push([box]);
  }
  let [x, y] = [x0, y0];
  return rows.flatMap((row) => {
    const [top, bottom] = [Math.min(...row.map((box) => box.top)), Math.max(...row.map((box) => box.bottom))];
    const middle = (top + bottom) / 2;
    [x, y] = [gapNear(x + ((x1 - x) * (middle - y)) / (y1 - y), row, shift), middle];
    return (to > 0 ? [top, bottom] : [bottom, top]).map((at) => [x, at]);
  });
}

/** The place nearest to x that is in none of the boxes of a row. */
function gapNear(x, row, shift) {
  const beside = 2 * APART + shift;
  const free = (at) => row.every(({ left, right }) => at <= left - APART || at >= right + APART);
  if (free(x)) return x;
  const sides = row.flatMap(({ left, right }) => [left - beside, right + beside]).filter(free);
  return sides.reduce((best, at) => (Math.abs(at - x) < Math.abs(best - x) ? at : best), sides[0] ?? x);
}

export function passes(points, { left, right, top, bottom }) {
  for (const [x, y] of points) {
    if (x > left - APART && x < right + APART && y > top - APART && y < bottom + APART) return true;
  }
  return false;
}

/** A way that is upright at each of its points, and points along it. */
export function uprightWay(points) {
  const along = [points[0]];
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
    const middle = (y0 + y1) / 2;
    for (let s = 1; s <= 10; s++) along.push(cubic([x0, x0, x1, x1], [y0, middle, middle, y1], s / 10));
  }
  return { path: uprightPath(points), points: along };
}

function cubic(x, y, t) {
  const u = 1 - t,
    share = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  const sum = (values) => values.reduce((total, value, i) => total + share[i] * value, 0);
  return [sum(x), sum(y)];
}

/** A way in one bow by way of a point, and points along it. */
export function bowedWay([x0, y0], [cx, cy], [x1, y1]) {
  const at = (t) => [(1 - t) ** 2 * x0 + 2 * t * (1 - t) * cx + t * t * x1, (1 - t) ** 2 * y0 + 2 * t * (1 - t) * cy + t * t * y1];
  const written = (...numbers) => numbers.map((one) => one.toFixed(1)).join(",");
  return {
    path: `M${written(x0, y0)} Q${written(cx, cy)} ${written(x1, y1)}`,
    points: Array.from({ length: 17 }, (_, i) => at(i / 16)),
  };
}

/** The place nearest to a wish where a box touches no other. taken: { x, y, half } each. */
export function freePlace([x, y], half, taken) {
  const free = (px, py) => taken.every((one) => Math.abs(one.x - px) > one.half + half + 16 || Math.abs(one.y - py) > TALL + 18);
  for (let ring = 0; ring < 60; ring++) {
    const turns = Math.max(1, 6 * ring);
    for (let i = 0; i < turns; i++) {
      const angle = (2 * Math.PI * i) / turns;
      const [px, py] = [x + 34 * ring * Math.cos(angle), y + 34 * ring * Math.sin(angle)];
      if (free(px, py)) return [px, py];
    }
  }
  return [x, y];
}
