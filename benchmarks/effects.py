"""How often do intervals of total effects hold the truth, when the graph was learned from the same rows?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.effects import total_effects
from ordag.model.effects import KINDS


class Design(NamedTuple):
    """Erdős–Rényi models with equal error variances."""

    title: str
    p: int
    degree: float
    weights: tuple[float, float]
    n: int


DESIGNS = [
    Design("weak arrows", 10, 3, (0.1, 0.5), 200),
    Design("strong arrows", 10, 2, (0.5, 1.5), 200),
    Design("middling arrows", 20, 2, (0.3, 1.0), 200),
]
METHODS: dict[str, tuple[dict[str, Any], int]] = {"cvs": ({"alpha": 0.01}, 200), "pooled": ({"draws": 0}, 30)}
"""Settings, and how many tables: the pooled search takes longer."""


def coverage(design: Design, method: str, tables: int) -> list[object]:
    """A line of the table: shares of intervals that hold the truth, by kind, over pairs with a path found and with an effect."""
    held = {kind: np.zeros(2) for kind in KINDS}
    pairs = np.zeros(2)
    for seed in range(tables):
        drawn = ordag.simulate(
            "erdos-renyi", design.p, design.n, seed=seed, degree=design.degree, weights=design.weights
        )
        truth = drawn.sem.total_effects()
        fit = ordag.learn(drawn.X, method, **METHODS[method][0])
        for kind in KINDS:
            effects = total_effects(fit, interval=kind, workers=1)
            among = [effects.path_found, truth != 0]
            inside = (effects.low <= truth) & (truth <= effects.high)
            held[kind] += [inside[where].sum() for where in among]
        pairs += [where.sum() for where in among]
    shares = [f"{share:.1%}" for kind in reversed(KINDS) for share in held[kind] / pairs]
    return [design.title, design.p, design.n, method, tables, *shares]


def run() -> str:
    head = ["design", "p", "n", "method", "tables", "given graph, found", "true", "bootstrap, found", "true"]
    with threadpool_limits(1):
        lines = [coverage(design, method, METHODS[method][1]) for method in METHODS for design in DESIGNS]
    return f"""## Intervals of total effects

Intervals at a nominal 95 % that hold the true effect, over pairs with a path in the learned graph (found) and over pairs with an
effect in truth (true). The first kind takes the learned graph for granted, the second learns it again from resamples.

{table(head, lines)}"""
