"""Pictures of series: the graph unrolled in time, one column for each time, and its summary with the lags on the arrows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ordag.common.words import counted
from ordag.data.series import Series
from ordag.errors import SettingError
from ordag.picture.layout import MARGIN, Point
from ordag.picture.scene import (
    GREY,
    SMALL,
    Curve,
    Scene,
    Stroke,
    Word,
    box_width,
    labels,
    name_box,
    stroke_curve,
    stroke_samples,
    text_width,
    with_legend,
    written_on,
)
from ordag.show.plots.graph import strokes
from ordag.show.view import View

HEIGHT, ROW, GAP = 30.0, 54.0, 96.0
"""Height of a box, from one row to the next, and between two columns."""

TALL = 42.0
"""Height of a box with a line on the variable's own past."""

MOST_VARIABLES = 60
"""Variables up to which series are drawn."""

ASIDE = 26.0
"""How far an arrow at the same time swings out for each row that it passes, up to three times as far."""


def unrolled(view: View, *, legend: bool = True) -> Scene:
    """Draw the times in columns, the earliest on the left, with all arrows that point to the last one."""
    series = _series(view)
    p, lags = series.p, series.lags
    row = {j: k for k, j in enumerate(j for j in view.order if j < p)}
    short = labels(series.names)
    wide = max(box_width(short[name]) for name in series.names)
    left, top = MARGIN, MARGIN + 30.0

    def centre(column: int) -> Point:
        j, lag = column % p, column // p
        return left + wide / 2 + (lags - lag) * (wide + GAP), top + HEIGHT / 2 + row[j] * ROW

    edges = strokes(view)
    boxes, words = [], []
    for column in range(p * (lags + 1)):
        name, lag = series.place(column)
        box, word = name_box(series.columns[column], short[name], *centre(column), wide, HEIGHT, faded=lag > 0)
        boxes.append(box)
        words.append(word)
    step = series.step or "step"
    for lag in range(lags + 1):
        when = (
            "now"
            if not lag
            else f"{counted(lag, step)} earlier"
            if not step[0].isdigit()
            else f"{lag} × {step} earlier"
        )
        words.append(Word(centre(lag * p)[0], MARGIN + 8.0, when, SMALL, GREY, bold=not lag))
    curves = [_arrow(one, _across(one, series, centre, wide, row)) for one in edges]
    away = max([0.0, *(x for curve in curves for x, _ in curve.points)]) - (centre(0)[0] + wide / 2)
    width = centre(0)[0] + wide / 2 + max(away, 0.0) + MARGIN
    about = f"Causal graph of {counted(p, 'variable')} over {counted(lags + 1, 'time')}, with {counted(len(edges), 'arrow')}"
    scene = Scene(width, top + p * ROW + MARGIN - (ROW - HEIGHT), about, (), curves, boxes, words)
    return with_legend(scene, stroke_samples(edges)) if legend else scene


STEPS_TAKEN = (lambda x, y: Curve([(x, y)], GREY, 0.0)), "number: steps of time from cause to effect"
"""What the legend of a summary graph says of the numbers on its arrows, with nothing drawn beside it."""


def summary(view: View, *, legend: bool = True) -> Scene:
    """Draw every variable once, on a circle: arrows have the steps that they take (0: none), and boxes those of their own past."""
    series = _series(view)
    p, short = series.p, labels(series.names)
    every: dict[tuple[int, int], list[tuple[int, Stroke]]] = {}
    for one in strokes(view):
        lag = max(one.source, one.target) // p
        every.setdefault((one.source % p, one.target % p), []).append((lag, one))
    order = [j for j in view.order if j < p]
    past = {j: sorted(lag for lag, _ in every.get((j, j), [])) for j in range(p)}
    told = {j: f"own past: {', '.join(map(str, lags))}" for j, lags in past.items() if lags}
    wide = max(box_width(short[name]) for name in series.names)
    wide = max([wide, *(text_width(text, SMALL) + 16.0 for text in told.values())])
    radius = max(p * (TALL + 60.0) / (2 * math.pi), 140.0) if p > 1 else 0.0
    stretch = 1.0 + wide / (2.0 * max(radius, 1.0))
    middle = (MARGIN + radius * stretch + wide / 2, MARGIN + radius + TALL)
    centres: dict[int, Point] = {}
    for k, j in enumerate(order):
        angle = 2.0 * math.pi * k / p - math.pi / 2.0
        centres[j] = middle[0] + stretch * radius * math.cos(angle), middle[1] + radius * math.sin(angle)
    boxes, words, curves, texts, drawn = [], [], [], [], []
    for j, name in enumerate(series.names):
        x, y = centres[j]
        box, word = name_box(name, short[name], x, y, wide, TALL)
        boxes.append(box)
        words.append(replace(word, y=y - 8.0) if j in told else word)
        if j in told:
            words.append(Word(x, y + 9.0, told[j], SMALL, GREY))
    for (i, j), own_strokes in every.items():
        if i == j:
            continue
        strongest = max(
            (one for _, one in own_strokes), key=lambda one: 0.0 if math.isnan(one.effect) else abs(one.effect)
        )
        title = "; ".join(one.title for _, one in own_strokes)
        stroke = replace(strongest, title=title)
        bend = 0.16 if (j, i) in every and strongest.directed else 0.06
        curves.append(_arrow(stroke, _between(centres[i], centres[j], wide, bend)))
        texts.append(", ".join(str(lag) for lag, _ in sorted(own_strokes, key=lambda one: one[0])))
        drawn.append(stroke)
    for box, word in written_on(curves, texts, boxes):
        boxes.append(box)
        words.append(word)
    about = f"Summary graph of {counted(p, 'variable')} in time, with the steps that each arrow takes"
    scene = Scene(2 * middle[0], 2 * middle[1] + 8.0, about, (), curves, boxes, words)
    return with_legend(scene, [*stroke_samples(drawn), STEPS_TAKEN]) if legend else scene


def _series(view: View) -> Series:
    series = view.fit.series
    if series is None:
        raise SettingError(
            "kind: 'unrolled' and 'summary' draw rows in time, and this fit is of rows at one time.", ["kind"]
        )
    if series.p > MOST_VARIABLES:
        raise SettingError(
            f"kind: series are drawn up to {MOST_VARIABLES} variables, and there are {series.p}: use 'matrix', or 'neighbourhood' with "
            "variable=….",
            ["kind"],
        )
    return series


def _across(
    stroke: Stroke, series: Series, centre: Callable[[int], Point], wide: float, row: dict[int, int]
) -> list[Point]:
    """Return the path of an arrow between columns of boxes, in the gaps of those that it passes, or beside the last one."""
    p = series.p
    (x0, y0), (x1, y1) = centre(stroke.source), centre(stroke.target)
    lag = stroke.source // p
    if not lag:
        rows = abs(row[stroke.source % p] - row[stroke.target % p])
        out = x0 + wide / 2 + ASIDE * (1.0 + min(rows, 7) / 2.0)
        return [(x0 + wide / 2, y0), (out, y0), (out, y1), (x1 + wide / 2, y1)]
    points = [(x0 + wide / 2, y0)]
    side = math.copysign(ROW / 2.0, y1 - y0 if y1 != y0 else 1.0)
    for passed in range(lag - 1, 0, -1):
        x = centre(passed * p)[0]
        y = y0 + side
        start = points[-1]
        half = (x - wide / 2 - start[0]) / 2.0
        points += [(start[0] + half, start[1]), (x - wide / 2 - half, y), (x - wide / 2, y)]
        points += [(x - wide / 6, y), (x + wide / 6, y), (x + wide / 2, y)]
    start, end = points[-1], (x1 - wide / 2, y1)
    half = (end[0] - start[0]) / 2.0
    return [*points, (start[0] + half, start[1]), (end[0] - half, end[1]), end]


def _between(start: Point, end: Point, wide: float, bend: float) -> list[Point]:
    """Return a slightly bent path from the rim of one box to that of another."""
    a, b = np.array(start), np.array(end)
    along = b - a
    across = np.array([-along[1], along[0]]) * bend
    first, second = a + along / 3.0 + across, b - along / 3.0 + across
    out = _rim(a, first, wide), _rim(b, second, wide)
    return [out[0], (float(first[0]), float(first[1])), (float(second[0]), float(second[1])), out[1]]


def _rim(centre: np.ndarray, towards: np.ndarray, wide: float) -> Point:
    """Return where the line from the centre of a box leaves it, with a little room."""
    away = towards - centre
    scale = min(
        (wide / 2 + 3.0) / max(abs(float(away[0])), 1e-9), (TALL / 2 + 3.0) / max(abs(float(away[1])), 1e-9), 1.0
    )
    return float(centre[0] + away[0] * scale), float(centre[1] + away[1] * scale)


def _arrow(stroke: Stroke, points: Sequence[Point]) -> Curve:
    """Return an edge whose head points the way that the path arrives."""
    plain = stroke_curve(replace(stroke, directed=False), points)
    curve = replace(plain, dashed=stroke.tied and stroke.directed, hollow=stroke.effect < 0)
    if not stroke.directed:
        return curve
    tip = np.array(points[-1])
    way = tip - np.array(points[-2])
    way = way / max(float(np.hypot(*way)), 1e-9)
    side = np.array([-way[1], way[0]])
    long, broad = 7.5 + 1.6 * plain.thickness, 3.1 + 0.95 * plain.thickness
    base = tip - long * way
    head = [tuple(map(float, one)) for one in (tip, base + broad * side, base - broad * side)]
    stop = tip - (long - 0.6) * way
    return replace(curve, head=head, points=[*points[:-1], (float(stop[0]), float(stop[1]))])  # type: ignore[arg-type]
