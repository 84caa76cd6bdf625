"""The matrix picture, for dense graphs: a row per cause, a column per effect, both in causal order, a cell per pair."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ordag.common.checks import check_choice
from ordag.common.words import counted
from ordag.errors import SettingError
from ordag.picture.layout import MARGIN
from ordag.picture.scene import (
    BLUE,
    GREY,
    INK,
    NAME,
    PAPER,
    SMALL,
    VERMILION,
    Area,
    Box,
    Curve,
    Scene,
    Word,
    labels,
    text_width,
)  # fmt: skip
from ordag.show.plots.graph import title
from ordag.show.view import View

Show = Literal["weight", "p_value", "support", "probability"]


class Quantity(NamedTuple):
    """What cells can show: the column of `Pairs`, its label, the ends of its scale, and what to do where a fit lacks it."""

    column: str
    label: str
    scale: tuple[str, str, str]
    missing: str


QUANTITIES = {
    "weight": Quantity("standardised", "standardised weight", ("−1", "0", "1"),
                       "a class of graphs has no weights: learn with orient_by_order='class', or use show='p_value'"),
    "p_value": Quantity("p_value", "p-value of the edge", ("1", "0.001", "1e-6"),
                        "this method has no tests; use show='weight'"),
    "support": Quantity("support", "share of resamples with the arrow", ("0", "½", "1"),
                        "it needs resamples: learn with bootstrap=200, say"),
    "probability": Quantity("probability", "probability of the arrow", ("0", "½", "1"),
                            "only method='pooled' has probabilities; use show='p_value', or 'support' with a bootstrap"),
}  # fmt: skip

LEAST_CELL = 2.0
"""Least size of a cell, in pixels."""

DIGITS_CELL, SIGN_CELL, GAP_CELL = 30.0, 10.0, 8.0
"""Least size of a cell, in pixels, that has digits in it, a sign, and a gap around it."""

AGAINST, LINES = "#eceff2", "#d3dae1"


def matrix(view: View, *, show: Show | None = None) -> Scene:
    """Draw the matrix.

    show: what the cells hold: "weight" (the default), "p_value", "support" or "probability".
    """
    check_choice("show", show, (None, *QUANTITIES))
    pairs, p = view.pairs, len(view.names)
    joined = np.array([kind != "absent" for kind in pairs.kind], dtype=bool)
    if show is not None and joined.any() and np.isnan(getattr(pairs, QUANTITIES[show].column)).all():
        raise SettingError(f"show={show!r}: {QUANTITIES[show].missing}.")
    show = show or "weight"
    values = getattr(pairs, QUANTITIES[show].column)
    cell = 34.0 if p <= 25 else 17.0 if p <= 60 else max(LEAST_CELL, round(1020.0 / p))
    short = labels(view.nodes)
    names = [short[view.nodes[j]] for j in view.order]
    labelled = range(0, p, max(1, math.ceil(15.0 / cell)))
    left = top = MARGIN + max((text_width(names[k]) for k in labelled), default=0.0) + 24.0
    size = p * cell

    words: list[Word] = []
    for k in labelled:
        middle, full = top + (k + 0.5) * cell, view.names[view.order[k]]
        words.append(Word(left - 7.0, middle, names[k], anchor="end", title=full))
        words.append(Word(middle, top - 7.0, names[k], anchor="start", turned=True, title=full))
    words.append(Word(MARGIN + 2.0, top + size / 2, "cause", SMALL, GREY, "middle", True))
    words.append(Word(left + size / 2, MARGIN + 2.0, "effect", SMALL, GREY, "middle"))
    stairs = [(left, top)]
    for k in range(p):
        stairs += [(left + (k + 1) * cell, top + k * cell), (left + (k + 1) * cell, top + (k + 1) * cell)]
    area = Area([*stairs, (left, top + size)], AGAINST)

    boxes: list[Box] = []
    position = np.argsort(view.order)
    gap = 0.5 if cell >= GAP_CELL else 0.0
    for k in range(len(pairs)):
        value = float(values[k])
        if not joined[k] and (show == "weight" or math.isnan(value)):
            continue
        ends = int(position[pairs.source[k]]), int(position[pairs.target[k]])
        row, column = sorted(ends) if pairs.kind[k] == "line" else ends
        x, y, fill = left + column * cell, top + row * cell, shade(value, show)
        rim = 1.4 if joined[k] and show != "weight" and cell >= GAP_CELL else 0.0
        inside = cell - 2 * gap
        boxes.append(Box(x + gap, y + gap, inside, inside, fill, INK, 0.0, rim, title=title(view, k)))
        mark = _mark(value, show, cell, line=pairs.kind[k] == "line")
        if mark:
            letters = SMALL if cell >= DIGITS_CELL else NAME
            words.append(Word(x + cell / 2, y + cell / 2, mark, letters, PAPER if _dark(fill) else INK))
    corners = [(left, top), (left + size, top), (left + size, top + size), (left, top + size), (left, top)]
    curves = [*_rulers(p, cell, left, top), *(_line(a, b, GREY) for a, b in pairwise(corners))]

    known = not np.isnan(values[joined]).all() or not joined.any()
    notes = [QUANTITIES[show].label] if known else []
    if known and show == "weight" and SIGN_CELL <= cell < DIGITS_CELL:
        notes[0] += "; − for negative weights"
    if known and show != "weight":
        notes[0] += "; framed: in the graph"
    notes.append(f"grey half: against the causal order{'; — without direction' if 'line' in pairs.kind else ''}")
    bottom, bar, scale = _scale(show, top + size + 18.0, known, notes)
    right = max([left + size, *(word.x + text_width(word.text, word.size) for word in scale if word.anchor == "start")])
    about = f"Matrix of {counted(view.fit.whole_graph.edge_count, 'edge')} between {counted(p, 'variable')}, causes down, effects across"
    return Scene(right + MARGIN, bottom, about, [area], curves, [*boxes, *bar], [*words, *scale])


def shade(value: float, show: Show = "weight") -> str:
    """Return the colour of a cell: blue for positive, vermilion for negative, paler towards zero; grey without a value."""
    if math.isnan(value):
        return "#8795a3"
    if show == "p_value":
        return _mixed(BLUE, min(1.0, max(0.0, -math.log10(max(value, 1e-300))) / 6.0))
    if show == "weight":
        return _mixed(VERMILION if value < 0 else BLUE, 0.2 + 0.8 * min(1.0, abs(value)))
    return _mixed(BLUE, value)


def _mixed(colour: str, share: float) -> str:
    channels = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (one - 255) * share):02x}" for one in channels)


def _dark(colour: str) -> bool:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


def _mark(value: float, show: Show, cell: float, *, line: bool) -> str:
    """Return what is written in a cell: its value, or only the sign of a negative weight where there is little room."""
    if math.isnan(value):
        return "—" if line and cell >= SIGN_CELL else ""
    if cell < DIGITS_CELL:
        return "−" if show == "weight" and value < 0 and cell >= SIGN_CELL else ""
    if show == "p_value" and value < 0.01:
        return "<.01"
    digits = f"{abs(value):.2f}".removeprefix("0") if abs(value) < 0.995 else f"{abs(value):.1f}"
    return f"{'−' if value < 0 else ''}{digits}"


def _line(a: tuple[float, float], b: tuple[float, float], colour: str) -> Curve:
    return Curve([a, a, b, b], colour, 0.8)


def _rulers(p: int, cell: float, left: float, top: float) -> list[Curve]:
    """Return thin lines between large cells, and between every ten small ones."""
    step = 1 if cell >= 17.0 else 10
    size = p * cell
    rulers = []
    for k in range(step, p, step):
        rulers.append(_line((left + k * cell, top), (left + k * cell, top + size), LINES))
        rulers.append(_line((left, top + k * cell), (left + size, top + k * cell), LINES))
    return rulers


def _scale(show: Show, top: float, known: bool, notes: list[str]) -> tuple[float, list[Box], list[Word]]:
    """Return the bottom of the picture, and the scale of colours (where values are known) and notes below the matrix."""
    left = MARGIN + 205.0 if known else MARGIN
    words = [Word(left, top + 6.0 + 17.0 * k, note, SMALL, GREY, "start") for k, note in enumerate(notes)]
    if not known:
        return top + 6.0 + 17.0 * len(notes) + MARGIN, [], words
    bar = []
    for k in range(21):
        share = k / 20
        value = 2 * share - 1 if show == "weight" else 10 ** (-6 * share) if show == "p_value" else share
        fill = PAPER if show == "weight" and not value else shade(value, show)
        bar.append(Box(MARGIN + 9.0 * k, top, 9.0, 12.0, fill, thickness=0.0))
    low, middle, high = QUANTITIES[show].scale
    words.append(Word(MARGIN, top + 22.0, low, SMALL, GREY, "start"))
    words.append(Word(MARGIN + 94.5, top + 22.0, middle, SMALL, GREY, "middle"))
    words.append(Word(MARGIN + 189.0, top + 22.0, high, SMALL, GREY, "end"))
    return top + 26.0 + MARGIN, bar, words
