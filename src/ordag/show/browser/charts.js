// One small picture of numbers, from a record { kind, title, x_label, y_label, x, y, labels, slope, intercept, guide, marked }.

import { shortened } from "./names.js";
import { SMALL, element, number, percent, shape, widthOf } from "./text.js";

const CHART_WIDTH = 340;
const CHART_HEIGHT = 220;

/** A figure with its title; the numbers are in a description for those who do not see it. */
export function drawChart(chart) {
  const painters = { points, bars, shares, histogram };
  const said =
    chart.kind === "shares" || chart.kind === "bars"
      ? chart.labels
          .map((label, i) => `${label} ${chart.kind === "shares" ? percent(chart.y[i]) : number(chart.y[i])}`)
          .slice(0, 12)
          .join(", ")
      : `${chart.y.length} values`;
  const picture = painters[chart.kind](chart);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `${chart.title}: ${said}`);
  return element("figure", { class: "chart" }, element("figcaption", {}, chart.title), picture);
}

/** Round numbers within a range. */
function ticks(least, most, count = 4) {
  const span = most - least || 1,
    rough = span / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= count + 0.5) ?? 10 * power;
  const found = [];
  for (let value = Math.ceil(least / step) * step; value <= most + 1e-9 * span; value += step)
    found.push(Math.abs(value) < 1e-12 * span ? 0 : value);
  return found;
}

function frame(chart, [x0, x1], [y0, y1], { xTicks = true } = {}) {
  const left = 14 + Math.max(...ticks(y0, y1).map((value) => widthOf(number(value), SMALL))) + 18,
    bottom = CHART_HEIGHT - 40;
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (CHART_WIDTH - left - 10);
  const y = (value) => bottom - ((value - y0) / (y1 - y0 || 1)) * (bottom - 10);
  const svg = shape("svg", { viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`, width: CHART_WIDTH, height: CHART_HEIGHT });
  for (const value of ticks(y0, y1)) {
    svg.append(
      shape("line", { class: "grid", x1: left, x2: CHART_WIDTH - 10, y1: y(value), y2: y(value) }),
      shape("text", { x: left - 5, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, number(value)),
    );
  }
  if (xTicks)
    for (const value of ticks(x0, x1)) svg.append(shape("text", { x: x(value), y: bottom + 15, "text-anchor": "middle" }, number(value)));
  svg.append(shape("line", { class: "axis", x1: left, x2: CHART_WIDTH - 10, y1: bottom, y2: bottom }));
  svg.append(
    shape(
      "text",
      { class: "label", x: (left + CHART_WIDTH) / 2, y: CHART_HEIGHT - 6, "text-anchor": "middle" },
      shortened(chart.x_label, 46),
    ),
  );
  svg.append(
    shape(
      "text",
      { class: "label", transform: `translate(12 ${bottom / 2 + 4}) rotate(-90)`, "text-anchor": "middle" },
      shortened(chart.y_label, 28),
    ),
  );
  return { svg, x, y, left, bottom };
}

function range(values, ...more) {
  const known = [...values, ...more].filter((value) => value !== null && value !== undefined);
  const least = Math.min(...known),
    most = Math.max(...known);
  const pad = (most - least || Math.abs(most) || 1) * 0.04;
  return [least - pad, most + pad];
}

function points(chart) {
  const xs = chart.x.length ? chart.x : chart.y.map((_, i) => i + 1);
  const [x0, x1] = range(xs),
    [y0, y1] = range(chart.y, chart.guide);
  const { svg, x, y, left } = frame(chart, [x0, x1], [y0, y1]);
  const marked = new Set(chart.marked);
  chart.y.forEach((value, i) => {
    if (value === null || xs[i] === null) return;
    const point = marked.has(i)
      ? shape("path", { class: "point marked", d: `M${x(xs[i])},${y(value) - 5} l5,5 l-5,5 l-5,-5 z` })
      : shape("circle", { class: "point", cx: x(xs[i]).toFixed(1), cy: y(value).toFixed(1), r: chart.y.length > 400 ? 1.5 : 2.5 });
    if (chart.labels[i]) point.append(shape("title", {}, chart.labels[i]));
    svg.append(point);
  });
  if (chart.slope !== undefined) {
    const at = (value) => (chart.intercept ?? 0) + chart.slope * value;
    const ends = [x0, x1].map((value) => [x(value), Math.min(Math.max(y(at(value)), 0), CHART_HEIGHT - 40)]);
    svg.append(shape("line", { class: "guide", x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] }));
  }
  if (chart.guide !== undefined)
    svg.append(shape("line", { class: "guide", x1: left, x2: CHART_WIDTH - 10, y1: y(chart.guide), y2: y(chart.guide) }));
  return svg;
}

function bars(chart) {
  const [, y1] = range(chart.y, chart.guide, 0),
    least = Math.min(0, ...chart.y.filter((value) => value !== null));
  const { svg, x, y, left, bottom } = frame(chart, [0, chart.y.length], [least, y1], { xTicks: false });
  const marked = new Set(chart.marked),
    wide = (CHART_WIDTH - left - 10) / Math.max(chart.y.length, 1);
  const letter = 7.6,
    longest = Math.min(10, Math.max(0, ...chart.labels.map((label) => label.length))) + 1;
  // As many labels as have room; the title of a bar has the others.
  const step = Math.max(1, Math.ceil((longest * letter) / wide)),
    room = Math.max(3, Math.floor((step * wide) / letter));
  chart.y.forEach((value, i) => {
    if (value === null) return;
    const top = y(Math.max(value, 0)),
      height = Math.abs(y(value) - y(0));
    const bar = shape("rect", {
      class: marked.has(i) ? "bar marked" : "bar",
      x: x(i) + 0.12 * wide,
      y: top,
      width: Math.max(0.76 * wide, 1),
      height: Math.max(height, 0.5),
    });
    bar.append(shape("title", {}, `${chart.labels[i] ?? i + 1}: ${number(value)}`));
    svg.append(bar);
    if (chart.labels[i] && i % step === 0)
      svg.append(shape("text", { x: x(i + 0.5), y: bottom + 15, "text-anchor": "middle" }, shortened(chart.labels[i], room)));
  });
  if (chart.guide !== undefined)
    svg.append(shape("line", { class: "guide", x1: left, x2: CHART_WIDTH - 10, y1: y(chart.guide), y2: y(chart.guide) }));
  return svg;
}

function shares(chart) {
  const count = chart.y.length,
    high = 28 + 22 * count;
  const svg = shape("svg", { viewBox: `0 0 ${CHART_WIDTH} ${high}`, width: CHART_WIDTH, height: high });
  let from = 0;
  chart.y.forEach((value, i) => {
    const wide = Math.max(0, value ?? 0) * (CHART_WIDTH - 4),
      kind = `share share-${i % 4}`;
    svg.append(shape("rect", { class: kind, x: 2 + from, y: 2, width: wide, height: 20 }));
    from += wide;
    svg.append(
      shape("rect", { class: kind, x: 2, y: 31 + 22 * i, width: 13, height: 13 }),
      shape("text", { x: 22, y: 42 + 22 * i }, `${chart.labels[i] ?? ""} ${percent(value)}`),
    );
  });
  svg.append(shape("rect", { class: "outline", x: 2, y: 2, width: CHART_WIDTH - 4, height: 20 }));
  return svg;
}

function histogram(chart) {
  const { svg, x, y, bottom } = frame(chart, [chart.x[0], chart.x[chart.x.length - 1]], [0, Math.max(1, ...chart.y) * 1.05]);
  chart.y.forEach((value, i) => {
    const left = x(chart.x[i]),
      right = x(chart.x[i + 1]);
    const bar = shape("rect", {
      class: "bar",
      x: left + 0.5,
      y: y(value),
      width: Math.max(right - left - 1, 0.6),
      height: Math.max(bottom - y(value), 0),
    });
    bar.append(shape("title", {}, `${number(chart.x[i])} to ${number(chart.x[i + 1])}: ${value}`));
    svg.append(bar);
  });
  if (chart.guide !== undefined) svg.append(shape("line", { class: "guide", x1: x(chart.guide), x2: x(chart.guide), y1: 10, y2: bottom }));
  return svg;
}
