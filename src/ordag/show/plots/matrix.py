"""The matrix: causes down the side, effects along the top, both in causal order; a cell per pair. Dense graphs can be read in it."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np

from ordag.checks import check_choice
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
    Anchor,
    Area,
    Box,
    Curve,
    Scene,
    Word,
    labels,
    text_width,
)
from ordag.show.plots.graph import title
from ordag.show.view import View
from ordag.words import counted

Show = Literal["weight", "p_value", "support", "probability"]
SHOWS = ("weight", "p_value", "support", "probability")

LEAST = 2.0
"""Pixels of a cell, however many variables there are."""

AGAINST, LINES = "#eceff2", "#d3dae1"

WHAT = {
    "weight": "standardised weight",
    "p_value": "p-value of the edge",
    "support": "share of resamples with the arrow",
    "probability": "probability of the arrow",
}

COLUMNS = {"weight": "standardised", "p_value": "p_value", "support": "support", "probability": "probability"}

AGAINST_ORDER = "grey half: against the causal order"

MISSING = {
    "weight": "a class of graphs has no weights: learn with orient_by_order='class', or take show='p_value'",
    "p_value": "this method has no tests; take show='weight'",
    "support": "it needs resamples: learn with bootstrap=200, say",
    "probability": "only method='pooled' has probabilities; take show='p_value', or 'support' with a bootstrap",
}


def scene(view: View, *, show: Show | None = None) -> Scene:
    """show: what the cells tell: "weight" (unless the graph has none), "p_value", "support" or "probability"."""
    check_choice("show", show, (None, *SHOWS))
    pairs, p = view.pairs, len(view.names)
    joined = np.array([kind != "absent" for kind in pairs.kind], dtype=bool)
    if show is not None and joined.any() and np.isnan(getattr(pairs, COLUMNS[show])).all():
        raise SettingError(f"show={show!r}: {MISSING[show]}.")
    values = getattr(pairs, COLUMNS[show or "weight"])
    show = show or "weight"
    cell = _cell(p, show)
    short = labels(view.fit.names)
    names = [short[view.fit.names[j]] for j in view.order]
    every = max(1, math.ceil(15.0 / cell))
    labelled = list(range(0, p, every))
    longest = max((text_width(names[k]) for k in labelled), default=0.0)
    left = top = MARGIN + longest + 24.0
    position = np.argsort(view.order)

    words = [
        *(
            Word(left - 7.0, top + (k + 0.5) * cell, names[k], anchor="end", title=view.names[view.order[k]])
            for k in labelled
        ),
        *(
            Word(
                left + (k + 0.5) * cell,
                top - 7.0,
                names[k],
                anchor="start",
                turned=True,
                title=view.names[view.order[k]],
            )
            for k in labelled
        ),
        Word(MARGIN + 2.0, top + p * cell / 2, "cause", SMALL, GREY, "middle", True),
        Word(left + p * cell / 2, MARGIN + 2.0, "effect", SMALL, GREY, "middle"),
    ]
    stairs = [(left, top)]
    for k in range(p):
        stairs += [(left + (k + 1) * cell, top + k * cell), (left + (k + 1) * cell, top + (k + 1) * cell)]
    areas = [Area([*stairs, (left, top + p * cell)], AGAINST)]
    curves = _rulers(p, cell, left, top)
    boxes: list[Box] = []
    inside = cell - 1.0 if cell >= 8.0 else cell
    for k in range(len(pairs)):
        value = float(values[k])
        if not joined[k] and (show == "weight" or math.isnan(value)):
            continue
        row, column = int(position[pairs.source[k]]), int(position[pairs.target[k]])
        ends = sorted((row, column)) if pairs.kind[k] == "line" else (row, column)
        x, y = left + ends[1] * cell, top + ends[0] * cell
        fill = shade(value, show)
        thick = 1.4 if joined[k] and show != "weight" and cell >= 8.0 else 0.0
        boxes.append(
            Box(
                x + (cell - inside) / 2,
                y + (cell - inside) / 2,
                inside,
                inside,
                fill,
                INK,
                0.0,
                thick,
                title=title(view, k),
            )
        )
        mark = _written(value, show) if cell >= 30.0 else "−" if show == "weight" and value < 0 and cell >= 10.0 else ""
        if pairs.kind[k] == "line" and cell >= 10.0 and math.isnan(value):
            mark = "—"
        if mark:
            size = SMALL if cell >= 30.0 else NAME
            words.append(Word(x + cell / 2, y + cell / 2, mark, size, PAPER if _dark(fill) else INK))
    frame = [
        (left, top),
        (left + p * cell, top),
        (left + p * cell, top + p * cell),
        (left, top + p * cell),
        (left, top),
    ]
    curves += [_line(a, b, GREY) for a, b in itertools.pairwise(frame)]
    known = not np.isnan(values[joined]).all() or not joined.any()
    notes = [WHAT[show], *(["− for what lowers"] if show == "weight" and 10.0 <= cell < 30.0 else [])]
    notes += ["framed: in the graph"] if show != "weight" else []
    marks = ["— without direction"] if "line" in pairs.kind else []
    told = ["; ".join(notes)] if known else []
    below, bar, about = _scale(show, top + p * cell + 18.0, known, [*told, "; ".join([AGAINST_ORDER, *marks])])
    width = (
        max([left + p * cell, *(word.x + text_width(word.text, word.size) for word in about if word.anchor == "start")])
        + MARGIN
    )
    summary = f"Matrix of {counted(view.fit.graph.edge_count, 'edge')} between {counted(p, 'variable')}, causes down, effects across"
    return Scene(width, below, summary, areas, curves, [*boxes, *bar], [*words, *about])


def _cell(p: int, show: Show) -> float:
    """Room for two digits in each cell up to 25 variables, for every name up to 60, and never too small to see."""
    if p <= 25:
        return 34.0
    return 17.0 if p <= 60 else max(LEAST, round(1020.0 / p))


def shade(value: float, show: Show = "weight") -> str:
    """The colour of a cell: from white to blue for what raises, to vermilion for what lowers; grey where only a line is known."""
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


def _written(value: float, show: Show) -> str:
    if math.isnan(value):
        return ""
    if show == "p_value" and value < 0.01:
        return "<.01"
    digits = f"{abs(value):.2f}"
    return ("−" if value < 0 else "") + (digits.removeprefix("0") if abs(value) < 0.995 else f"{abs(value):.1f}")


def _line(a: tuple[float, float], b: tuple[float, float], colour: str) -> Curve:
    return Curve([a, a, b, b], colour, 0.8)


def _rulers(p: int, cell: float, left: float, top: float) -> list[Curve]:
    """A thin line after every cell where cells are large, else after every tenth."""
    step = 1 if cell >= 17.0 else 10
    size = p * cell
    rulers = []
    for k in range(step, p, step):
        rulers.append(_line((left + k * cell, top), (left + k * cell, top + size), LINES))
        rulers.append(_line((left, top + k * cell), (left + size, top + k * cell), LINES))
    return rulers


def _scale(show: Show, top: float, known: bool, notes: list[str]) -> tuple[float, list[Box], list[Word]]:
    """The colours with their values, where there are values, and what else is to be known, below the matrix."""
    left = MARGIN + 205.0 if known else MARGIN
    words = [Word(left, top + 6.0 + 17.0 * k, note, SMALL, GREY, "start") for k, note in enumerate(notes)]
    if not known:
        return top + 6.0 + 17.0 * len(notes) + MARGIN, [], words
    low = -1.0 if show == "weight" else 0.0
    steps = [low + (1.0 - low) * k / 20 for k in range(21)]
    shown = [10 ** (-6 * step) if show == "p_value" else step for step in steps]
    bar = [
        Box(
            MARGIN + 9.0 * k,
            top,
            9.0,
            12.0,
            PAPER if show == "weight" and not value else shade(value, show),
            thickness=0.0,
        )
        for k, value in enumerate(shown)
    ]
    ends = {"weight": ("−1", "0", "1"), "p_value": ("1", "0.001", "1e-6")}.get(show, ("0", "½", "1"))
    anchors: tuple[Anchor, ...] = ("start", "middle", "end")
    for k, (text, anchor) in enumerate(zip(ends, anchors, strict=True)):
        words.append(Word(MARGIN + 9.0 * 10.5 * k, top + 22.0, text, SMALL, GREY, anchor))
    return top + 26.0 + MARGIN, bar, words
