"""The whole graph: boxes and arrows, causes above effects."""

from __future__ import annotations

from ordag.errors import SettingError
from ordag.picture.scene import Scene, Stroke, graph_scene
from ordag.show.view import MOST_PLACED, View
from ordag.words import number, probability


def scene(view: View, *, legend: bool = True, numbers: bool = False) -> Scene:
    """legend: whether to say below what the arrows look like, and why. numbers: whether to write the weights on the arrows."""
    if view.layout is None:
        raise SettingError(
            f"kind='graph' draws up to {MOST_PLACED} variables, and there are {len(view.names)}: take 'matrix', or "
            "'neighbourhood' with variable=…."
        )
    edges = strokes(view)
    weights = view.pairs.weight[: len(edges)].tolist() if numbers else []
    return graph_scene(view.fit.names, view.layout, edges, legend, [number(weight, 2) for weight in weights])


def strokes(view: View) -> list[Stroke]:
    """The edges of the graph with their looks."""
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
        )
        for k in range(len(pairs))
        if pairs.kind[k] != "absent"
    ]


def title(view: View, k: int) -> str:
    """What a pointer on the k-th pair is told: the ends, the weight, and how sure edge and direction are."""
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
