// The matrix: variables in causal order on both axes, causes at the left, effects at the top, a cell for every pair.
// One canvas of the size of its window, with the names pinned, draws what is in sight: any number of variables stays quick.

import { BADGES, looks } from "./edges.js";
import { shortened } from "./names.js";
import { pairOf } from "./state.js";
import { SMALL, colour, element, lightness, named, number, refill, widthOf } from "./text.js";

const SIZES = [3, 5, 8, 12, 16, 20, 26, 40];
const NAMED = 16;
const WRITTEN = 40;

/** Draw into a box; gives { zoom(factor), fit(), update(changed) }. */
export function drawMatrix(box, state, tip) {
  let doc, p, rank, cells, labels, longest, ghosts;
  let cell,
    margin,
    cursor = null,
    ink = null;
  const canvas = element("canvas", { tabindex: 0, role: "img" });
  const sizer = element("div", { class: "sizer" });
  const scroller = element("div", { class: "scroller" }, canvas, sizer);
  const readout = element("p", { class: "readout soft" }, "Rows are causes, columns are effects, both in causal order. Point at a cell.");
  refill(box, scroller, readout);

  /** The document that is shown now. */
  function take() {
    ({ doc } = state);
    p = doc.names.length;
    rank = new Array(p);
    doc.order.forEach((j, at) => {
      rank[j] = at;
    });
    cells = new Map();
    doc.pairs.source.forEach((a, k) => {
      cells.set(rank[a] * p + rank[doc.pairs.target[k]], k);
      if (doc.pairs.kind[k] === "line") cells.set(rank[doc.pairs.target[k]] * p + rank[a], k);
    });
    labels = doc.order.map((j) => shortened(doc.names[j], 16));
    longest = Math.ceil(Math.max(...labels.map((label) => widthOf(label, SMALL)))) + 14;
    canvas.setAttribute(
      "aria-label",
      `Matrix of ${p} variables in causal order: a row per cause, a column per effect. The table of arrows has the same. Arrow keys move from cell to cell.`,
    );
  }

  const room = () => ({ width: scroller.clientWidth, height: scroller.clientHeight });

  function resize(next) {
    cell = next;
    margin = cell >= NAMED ? longest : 8;
    scroller.style.height = `${Math.round(Math.min(margin + p * cell + 18, Math.max(0.72 * innerHeight, 380)))}px`;
    sizer.style.width = `${margin + p * cell + 8}px`;
    sizer.style.height = `${margin + p * cell + 8}px`;
    paint();
  }

  function fit() {
    const width = scroller.clientWidth || 600;
    const most = (width - longest - 20) / p;
    const fitting = SIZES.filter((size) => size <= (size >= NAMED ? most : (width - 28) / p));
    const best = fitting.length ? fitting[fitting.length - 1] : SIZES[0];
    resize(p <= 60 ? Math.max(best, NAMED) : best);
  }

  function zoom(factor) {
    const at = SIZES.indexOf(cell),
      next = SIZES[Math.min(SIZES.length - 1, Math.max(0, at + (factor > 1 ? 1 : -1)))];
    if (next !== cell) resize(next);
  }

  function paint() {
    ink = {
      plus: colour("plus"),
      minus: colour("minus"),
      none: colour("soft"),
      text: colour("text"),
      line: colour("line"),
      paper: colour("paper"),
      soft: colour("soft"),
      mark: colour("mark"),
    };
    const { width, height } = room(),
      dense = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.fillStyle = ink.paper;
    pen.fillRect(0, 0, width, height);
    const left = scroller.scrollLeft,
      top = scroller.scrollTop;
    const first = Math.max(0, Math.floor(left / cell)),
      last = Math.min(p - 1, Math.ceil((left + width) / cell));
    const upper = Math.max(0, Math.floor(top / cell)),
      lower = Math.min(p - 1, Math.ceil((top + height) / cell));
    ghosts = new Set(state.vanished.map((one) => rank[one.source] * p + rank[one.target]));
    pen.save();
    pen.beginPath();
    pen.rect(margin, margin, width - margin, height - margin);
    pen.clip();
    pen.translate(margin - left, margin - top);
    pen.strokeStyle = ink.line;
    pen.lineWidth = 1;
    if (cell >= 8) {
      pen.beginPath();
      for (let i = first; i <= last + 1; i++) {
        pen.moveTo(i * cell + 0.5, upper * cell);
        pen.lineTo(i * cell + 0.5, (lower + 1) * cell);
      }
      for (let i = upper; i <= lower + 1; i++) {
        pen.moveTo(first * cell, i * cell + 0.5);
        pen.lineTo((last + 1) * cell, i * cell + 0.5);
      }
      pen.stroke();
    }
    pen.fillStyle = ink.line;
    for (let i = Math.max(first, upper); i <= Math.min(last, lower); i++) pen.fillRect(i * cell, i * cell, cell, cell);
    pen.strokeStyle = ink.line;
    pen.strokeRect(0.5, 0.5, p * cell, p * cell);
    for (let row = upper; row <= lower; row++) {
      for (let column = first; column <= last; column++) {
        const k = cells.get(row * p + column);
        if (k !== undefined) paintCell(pen, k, column * cell, row * cell);
        if (state.marked) paintMark(pen, ghosts.has(row * p + column) ? "gone" : state.present[k] ? state.markOf(k) : "", column, row);
      }
    }
    if (cursor) {
      pen.strokeStyle = ink.mark;
      pen.lineWidth = 2;
      pen.strokeRect(cursor[1] * cell, cursor[0] * cell, cell, cell);
    }
    pen.restore();
    if (cell >= NAMED) paintNames(pen, left, top, first, last, upper, lower, width, height);
  }

  /** A full square raises, a disc lowers, an open outline has its direction near a tie, a dot is a pair that is not joined. */
  function paintCell(pen, k, x, y) {
    const look = looks(doc, k),
      size = Math.abs(doc.pairs.standardised?.[k] ?? 0.6),
      middle = cell / 2;
    pen.fillStyle = pen.strokeStyle = ink[look.sign];
    if (!state.present[k]) {
      if (cell < 8) return;
      pen.globalAlpha = 0.35 + 0.4 * (doc.pairs.strength?.[k] ?? 0);
      pen.fillStyle = ink.soft;
      pen.beginPath();
      pen.arc(x + middle, y + middle, Math.max(1, cell * (0.04 + 0.08 * (doc.pairs.strength?.[k] ?? 0))), 0, 2 * Math.PI);
      pen.fill();
      pen.globalAlpha = 1;
      return;
    }
    const reach = Math.max(1.2, middle - (cell >= 12 ? 2 : cell >= 8 ? 1 : 0));
    pen.globalAlpha = cell < 8 ? 1 : 0.25 + 0.75 * Math.min(1, size);
    pen.beginPath();
    if (look.sign === "minus") pen.arc(x + middle, y + middle, reach, 0, 2 * Math.PI);
    else pen.rect(x + middle - reach, y + middle - reach, 2 * reach, 2 * reach);
    if (look.dashed && cell >= 12) {
      pen.globalAlpha *= 0.35;
      pen.fill();
      pen.globalAlpha = 1;
      pen.lineWidth = 2;
      pen.setLineDash([3, 2]);
      pen.stroke();
      pen.setLineDash([]);
      pen.lineWidth = 1;
    } else pen.fill();
    const painted = look.dashed && cell >= 12 ? 0.35 * (0.25 + 0.75 * Math.min(1, size)) : 0.25 + 0.75 * Math.min(1, size);
    pen.globalAlpha = 1;
    if (cell >= WRITTEN && doc.pairs.standardised?.[k] !== undefined && doc.pairs.standardised[k] !== null) {
      pen.fillStyle = readable(ink[look.sign], painted);
      pen.font = SMALL;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(
        doc.pairs.standardised[k]
          .toFixed(2)
          .replace("-", "−")
          .replace(/^(−?)0\./, "$1."),
        x + middle,
        y + middle + 1,
      );
    }
  }

  /** A frame and a sign for a cell that is other than before. */
  function paintMark(pen, mark, column, row) {
    if (!mark) return;
    const [x, y] = [column * cell, row * cell];
    pen.strokeStyle = ink.text;
    pen.lineWidth = 2;
    if (mark === "gone") pen.setLineDash([2, 2]);
    pen.strokeRect(x + 1, y + 1, cell - 1, cell - 1);
    pen.setLineDash([]);
    pen.lineWidth = 1;
    if (cell < NAMED) return;
    pen.font = SMALL;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const [across, down] = cell >= WRITTEN ? [9, 10] : [cell / 2, cell / 2];
    pen.lineWidth = 4;
    pen.strokeStyle = ink.paper;
    pen.strokeText(BADGES[mark], x + across, y + down);
    pen.fillStyle = ink.text;
    pen.fillText(BADGES[mark], x + across, y + down);
    pen.lineWidth = 1;
  }

  /** The colour of text, or that of the paper, whichever stands out more from another colour laid thinly over the paper. */
  function readable(over, alpha) {
    const behind = lightness(over, alpha, ink.paper);
    const contrast = (one) => (Math.max(lightness(one), behind) + 0.05) / (Math.min(lightness(one), behind) + 0.05);
    return contrast(ink.text) >= contrast(ink.paper) ? ink.text : ink.paper;
  }

  function paintNames(pen, left, top, first, last, upper, lower, width, height) {
    pen.fillStyle = ink.paper;
    pen.fillRect(0, 0, width, margin - 1);
    pen.fillRect(0, 0, margin - 1, height);
    pen.font = SMALL;
    pen.textBaseline = "middle";
    pen.fillStyle = ink.text;
    pen.save();
    pen.beginPath();
    pen.rect(0, margin, margin, height - margin);
    pen.clip();
    pen.textAlign = "right";
    for (let i = upper; i <= lower; i++) {
      pen.fillStyle = cursor && cursor[0] === i ? ink.mark : ink.text;
      pen.fillText(labels[i], margin - 6, margin - top + (i + 0.5) * cell);
    }
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(margin, 0, width - margin, margin);
    pen.clip();
    pen.textAlign = "left";
    for (let i = first; i <= last; i++) {
      pen.save();
      pen.translate(margin - left + (i + 0.5) * cell, margin - 6);
      pen.rotate(-Math.PI / 2);
      pen.fillStyle = cursor && cursor[1] === i ? ink.mark : ink.text;
      pen.fillText(labels[i], 0, 0);
      pen.restore();
    }
    pen.restore();
    pen.fillStyle = ink.soft;
    pen.textAlign = "right";
    if (margin > 70) {
      pen.fillText("cause ↓", margin - 6, margin - 10);
      pen.fillText("effect →", margin - 6, margin - 28);
    }
  }

  function at(event) {
    const corner = canvas.getBoundingClientRect();
    const x = event.clientX - corner.left - margin,
      y = event.clientY - corner.top - margin;
    if (x < 0 || y < 0) return null;
    const column = Math.floor((x + scroller.scrollLeft) / cell),
      row = Math.floor((y + scroller.scrollTop) / cell);
    return row < p && column < p ? [row, column] : null;
  }

  function read(where) {
    if (!where) return;
    const [row, column] = where,
      k = cells.get(row * p + column);
    const a = named(doc.names[doc.order[row]]),
      b = named(doc.names[doc.order[column]]);
    const back = cells.get(column * p + row);
    const said =
      row === column
        ? [a]
        : k === undefined && back === undefined
          ? [a, " and ", b, " are not joined."]
          : k === undefined
            ? [a, " does not point to ", b, "; it is the other way round."]
            : state.present[k]
              ? [
                  a,
                  doc.pairs.kind[k] === "line" ? " — " : " → ",
                  b,
                  doc.pairs.standardised?.[k] !== undefined && doc.pairs.standardised[k] !== null
                    ? `, standardised weight ${number(doc.pairs.standardised[k])}`
                    : "",
                ]
              : [a, " → ", b, " is not an arrow at this level."];
    refill(readout, ...said);
  }

  canvas.addEventListener("pointermove", (event) => {
    cursor = at(event);
    read(cursor);
    const k = cursor ? cells.get(cursor[0] * p + cursor[1]) : undefined;
    if (k !== undefined) tip.show(event, { pair: k });
    else tip.hide();
    paint();
  });
  canvas.addEventListener("pointerleave", () => {
    cursor = null;
    tip.hide();
    paint();
  });
  canvas.addEventListener("click", (event) => choose(at(event)));
  function choose(where) {
    if (!where) return;
    const k = cells.get(where[0] * p + where[1]);
    const [a, b] = where.map((at) => doc.order[at]);
    state.set({ chosen: a === b ? { variable: a } : k === undefined ? pairOf(doc, a, b) : { pair: k } });
  }
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") choose(cursor);
    if (!step) return;
    event.preventDefault();
    const from = cursor ?? [0, -1];
    cursor = [Math.min(p - 1, Math.max(0, from[0] + step[0])), Math.min(p - 1, Math.max(0, from[1] + step[1]))];
    const { width, height } = room();
    scroller.scrollLeft = Math.min(cursor[1] * cell, Math.max(scroller.scrollLeft, (cursor[1] + 1) * cell - (width - margin)));
    scroller.scrollTop = Math.min(cursor[0] * cell, Math.max(scroller.scrollTop, (cursor[0] + 1) * cell - (height - margin)));
    read(cursor);
    paint();
  });
  scroller.addEventListener("scroll", () => requestAnimationFrame(paint));
  take();
  fit();
  return {
    zoom,
    fit,
    focus(j) {
      cursor = [rank[j], rank[j]];
      scroller.scrollTo(rank[j] * cell - room().width / 2, rank[j] * cell - room().height / 2);
      paint();
    },
    update(changed) {
      if (changed.has("answer")) {
        take();
        cursor = null;
        resize(cell);
      } else if (changed.has("chosen") && state.chosen?.variable !== undefined) this.focus(state.chosen.variable);
      else if (["present", "theme", "marks"].some((name) => changed.has(name))) paint();
    },
  };
}
