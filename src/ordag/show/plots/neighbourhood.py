"""One variable: what acts on it above, what it acts on below, and paler, farther off, what reaches it and what it reaches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ordag.checks import short
from ordag.errors import ColumnError
from ordag.graph.links import Links
from ordag.picture.layout import MARGIN
from ordag.picture.scene import (
    SMALL,
    Scene,
    Stroke,
    Word,
    labels,
    moved,
    name_box,
    place,
    stroke_curve,
    stroke_samples,
    text_width,
    with_legend,
)
from ordag.show.plots.graph import strokes
from ordag.show.view import View
from ordag.words import counted, did_you_mean, listed, shown

MOST_FAR = 24
"""Variables farther off that have a box, the nearest; the others are counted."""

HEADING = 26.0


def scene(view: View, *, variable: str | None = None, legend: bool = True) -> Scene:
    """variable: the one to look at; without a name, the one with the most edges. legend: as for "graph"."""
    centre = _chosen(view, variable)
    graph = view.fit.graph
    up, down = _distances(graph.arrows.turned, centre), _distances(graph.arrows, centre)
    steps = np.fmin(np.where(up > 0, up, np.nan), np.where(down > 0, down, np.nan))
    children = set(graph.links.row(centre).tolist())
    near = children | set(graph.links.turned.row(centre).tolist())
    far = [j for j in np.argsort(steps, kind="stable").tolist() if steps[j] > 1 and j not in children]
    shown_far = set(far[:MOST_FAR])
    kept = [j for j in view.order if j == centre or j in near or j in shown_far]
    number = {j: k for k, j in enumerate(kept)}

    seen = []
    for stroke in strokes(view):
        a, b = stroke.source, stroke.target
        on_the_way = (a in shown_far or b in shown_far) and (min(up[a], up[b]) > 0 or min(down[a], down[b]) > 0)
        if a in number and b in number and (centre in (a, b) or on_the_way):
            seen.append(replace(stroke, source=number[a], target=number[b], faded=centre not in (a, b)))
    return _drawn(view, kept, number[centre], seen, _heading(view, centre, up, down, len(far) - len(shown_far)), legend)


def _chosen(view: View, variable: str | None) -> int:
    names = view.fit.names
    if variable is None:
        return int(np.argmax(view.fit.graph.links.without_direction().in_columns))
    if variable not in names:
        hint = did_you_mean(variable, names) if isinstance(variable, str) else ""
        raise ColumnError(f"variable={short(variable)} is not among the variables.{hint} They are {listed(names)}.")
    return names.index(variable)


def _distances(arrows: Links, start: int) -> np.ndarray:
    """Steps along arrows from `start` to every variable; -1 where there is no way."""
    steps = np.full(arrows.p, -1)
    frontier, k = np.array([start]), 0
    while len(frontier):
        steps[frontier] = k
        reached = np.concatenate([arrows.row(node) for node in frontier.tolist()])
        frontier = np.unique(reached[steps[reached] < 0])
        k += 1
    return steps


def _heading(view: View, centre: int, up: np.ndarray, down: np.ndarray, hidden: int) -> list[str]:
    name = shown(view.fit.names[centre])
    near = f"{counted(int((up == 1).sum()), 'cause')}, {counted(int((down == 1).sum()), 'effect')}"
    lines = len(view.fit.graph.neighbours(view.fit.names[centre]))
    near += f", {counted(lines, 'edge')} without direction" if lines else ""
    far = f"farther off {int((up > 1).sum())} above, {int((down > 1).sum())} below"
    return [name, f"{near}; {far}{f' ({hidden} not drawn)' if hidden else ''}"]


def _drawn(view: View, kept: list[int], centre: int, seen: list[Stroke], heading: list[str], legend: bool) -> Scene:
    names = [view.fit.names[j] for j in kept]
    sub = np.zeros((len(kept), len(kept)), dtype=bool)
    for stroke in seen:
        sub[stroke.source, stroke.target] = True
        sub[stroke.target, stroke.source] |= not stroke.directed
    layout = place(names, sub, range(len(kept)))
    near = {stroke.source for stroke in seen if not stroke.faded} | {
        stroke.target for stroke in seen if not stroke.faded
    }
    boxes, words, short = [], [], labels(names)
    for k, (name, (x, y), size) in enumerate(zip(names, layout.places, layout.sizes, strict=True)):
        box, word = name_box(name, short[name], x, y, *size, faded=k != centre and k not in near)
        boxes.append(replace(box, thickness=2.4, fill="#dce7f2") if k == centre else box)
        words.append(replace(word, bold=True) if k == centre else word)
    curves = [
        stroke_curve(stroke, layout.curves[stroke.source, stroke.target])
        for stroke in sorted(seen, key=lambda stroke: not stroke.faded)
    ]
    about = f"Neighbourhood of {heading[0]}: {heading[1]}"
    scene = Scene(layout.width, layout.height, about, (), curves, boxes, words)
    if legend:
        scene = with_legend(scene, stroke_samples(seen))
    wide = text_width(heading[1], SMALL) + 2 * MARGIN
    below = moved(scene, max(wide - scene.width, 0.0) / 2, HEADING)
    return replace(
        below,
        width=max(scene.width, wide),
        words=[*below.words, Word(MARGIN, MARGIN + 2.0, heading[1], SMALL, anchor="start")],
    )
