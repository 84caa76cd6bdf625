"""Pictures of boxes and arrows: the whole graph, and one variable with its neighbourhood."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ordag.common.checks import short
from ordag.common.words import counted, did_you_mean, listed, number, probability
from ordag.errors import ColumnError, SettingError
from ordag.graph.links import Links
from ordag.picture.layout import MARGIN
from ordag.picture.scene import (
    CATEGORY,
    SMALL,
    Scene,
    Stroke,
    Word,
    graph_scene,
    labels,
    moved,
    name_box,
    place,
    stroke_curve,
    stroke_samples,
    text_width,
    with_legend,
)
from ordag.show.view import MAX_PLACED_VARIABLES, View

MOST_FAR = 24
"""Distant variables that get a box, the nearest first; the others are counted."""

HEADING_HEIGHT = 26.0


def graph(view: View, *, legend: bool = True, numbers: bool = False) -> Scene:
    """Draw the whole graph, causes above effects.

    legend: whether to explain the looks of the arrows below. numbers: whether to write the weights on the arrows.
    """
    if view.layout is None:
        raise SettingError(
            f"kind='graph' draws up to {MAX_PLACED_VARIABLES} variables, and there are {len(view.names)}: use 'matrix', or "
            "'neighbourhood' with variable=…."
        )
    edges = strokes(view)
    weights = view.pairs.weight[: len(edges)].tolist() if numbers else []
    written = ["" if weight != weight else number(weight, 2) for weight in weights]
    return graph_scene(view.nodes, view.layout, edges, legend, written, view.categories)


def strokes(view: View) -> list[Stroke]:
    """Return the edges of the graph with their looks."""
    pairs = view.pairs
    return [
        Stroke(
            int(pairs.source[k]),
            int(pairs.target[k]),
            pairs.kind[k] == "arrow",
            float(pairs.standardised[k]),
            float(pairs.strength[k]),
            bool(pairs.tied[k]),
            title=title(view, k),
            hidden=pairs.reason[k] == "hidden",
        )
        for k in range(len(pairs))
        if pairs.kind[k] != "absent"
    ]


def title(view: View, k: int) -> str:
    """Write the tooltip of the k-th pair: its ends, weight, and the evidence for edge and direction."""
    pairs = view.pairs
    joint = "→" if pairs.kind[k] == "arrow" else "—"
    facts = [f"{view.names[pairs.source[k]]} {joint} {view.names[pairs.target[k]]}"]
    known = {
        "weight": number(pairs.weight[k], 3),
        "standardised": number(pairs.standardised[k], 2),
        "p edge": probability(pairs.p_value[k]),
        "edge probability": probability(pairs.edge_probability[k]),
        "p direction": probability(pairs.direction_p_value[k]),
        "probability": probability(pairs.probability[k]),
        "support": number(pairs.support[k], 2),
    }
    facts += [f"{name} {value}" for name, value in known.items() if value]
    return ", ".join(facts)


def neighbourhood(view: View, *, variable: str | None = None, legend: bool = True) -> Scene:
    """Draw one variable with its causes above and its effects below; paler, what lies further along the arrows.

    variable: its name; by default the variable with the most edges. legend: as for "graph".
    """
    centre = _chosen(view, variable)
    links, arrows = view.fit.whole_graph.links, view.fit.whole_graph.arrows
    up, down = _distances(arrows.turned, centre), _distances(arrows, centre)
    steps = np.fmin(np.where(up > 0, up, np.nan), np.where(down > 0, down, np.nan))
    children = set(links.row(centre).tolist())
    near = children | set(links.turned.row(centre).tolist())
    far = [j for j in np.argsort(steps, kind="stable").tolist() if steps[j] > 1 and j not in children]
    shown_far = set(far[:MOST_FAR])
    kept = [j for j in view.order if j == centre or j in near or j in shown_far]
    place_of = {j: k for k, j in enumerate(kept)}

    seen = []
    for stroke in strokes(view):
        a, b = stroke.source, stroke.target
        on_the_way = (a in shown_far or b in shown_far) and (min(up[a], up[b]) > 0 or min(down[a], down[b]) > 0)
        if a in place_of and b in place_of and (centre in (a, b) or on_the_way):
            seen.append(replace(stroke, source=place_of[a], target=place_of[b], faded=centre not in (a, b)))

    name, lines = view.names[centre], len(view.fit.whole_graph.neighbours(view.nodes[centre]))
    heading = f"{counted(int((up == 1).sum()), 'cause')}, {counted(int((down == 1).sum()), 'effect')}"
    heading += f", {counted(lines, 'edge')} without direction" if lines else ""
    heading += f"; further away {int((up > 1).sum())} above, {int((down > 1).sum())} below"
    heading += f" ({len(far) - len(shown_far)} not drawn)" if len(far) > len(shown_far) else ""

    dashed = {place_of[j] for j in view.categories if j in place_of}
    scene = _neighbourhood_scene([view.nodes[j] for j in kept], place_of[centre], seen, f"{name}: {heading}", dashed)
    if legend:
        scene = with_legend(scene, [*stroke_samples(seen), *([CATEGORY] if dashed else [])])
    wide = text_width(heading, SMALL) + 2 * MARGIN
    below = moved(scene, max(wide - scene.width, 0.0) / 2, HEADING_HEIGHT)
    words = [*below.words, Word(MARGIN, MARGIN + 2.0, heading, SMALL, anchor="start")]
    return replace(below, width=max(scene.width, wide), words=words)


def _neighbourhood_scene(
    names: list[str], centre: int, seen: list[Stroke], about: str, dashed: Collection[int]
) -> Scene:
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for stroke in seen:
        adjacency[stroke.source, stroke.target] = True
        adjacency[stroke.target, stroke.source] |= not stroke.directed
    layout = place(names, adjacency, range(len(names)))
    near = {end for stroke in seen if not stroke.faded for end in (stroke.source, stroke.target)}
    boxes, words, short_names = [], [], labels(names)
    for k, (name, (x, y), size) in enumerate(zip(names, layout.centres, layout.sizes, strict=True)):
        faded = k != centre and k not in near
        box, word = name_box(name, short_names[name], x, y, *size, faded=faded, category=k in dashed)
        boxes.append(replace(box, thickness=2.4, fill="#dce7f2") if k == centre else box)
        words.append(replace(word, bold=True) if k == centre else word)
    curves = [
        stroke_curve(stroke, layout.curves[stroke.source, stroke.target])
        for stroke in sorted(seen, key=lambda stroke: not stroke.faded)
    ]
    return Scene(layout.width, layout.height, f"Neighbourhood of {about}", (), curves, boxes, words)


def _chosen(view: View, variable: str | None) -> int:
    names = view.nodes
    if variable is None:
        return int(np.argmax(view.fit.whole_graph.links.without_direction().in_columns))
    if variable not in names:
        hint = did_you_mean(variable, names) if isinstance(variable, str) else ""
        raise ColumnError(f"variable={short(variable)} is not among the variables.{hint} They are {listed(names)}.")
    return names.index(variable)


def _distances(arrows: Links, start: int) -> np.ndarray:
    """Return the number of arrows from `start` to every variable; -1 where there is no path."""
    steps = np.full(arrows.p, -1)
    frontier, k = np.array([start]), 0
    while len(frontier):
        steps[frontier] = k
        reached = np.concatenate([arrows.row(node) for node in frontier.tolist()])
        frontier = np.unique(reached[steps[reached] < 0])
        k += 1
    return steps
