"""How often do intervals of total effects hold the truth, and is a path there as often as its probability says?"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.probabilities import drawn
from benchmarks.timing import table
from ordag.common.arrays import Array, Mask
from ordag.model.effects import Effects


class Design(NamedTuple):
    """Erdős–Rényi models of degree 2 with weights of 0.3 to 1, or of 0.1 to 0.5; `kind` says how error variances and units are."""

    kind: str
    p: int
    n: int

    def draw(self, seed: int) -> tuple[Array, Array]:
        """Rows, and the true total effects in their units."""
        drawn = ordag.simulate(
            "erdos-renyi",
            self.p,
            self.n,
            seed=seed,
            degree=2,
            weights=(0.1, 0.5) if self.kind == "weak" else (0.3, 1.0),
            variances=(1.0, 5.0) if self.kind == "× 5" else None,
        )
        size = drawn.X.std(axis=0) if self.kind == "standardised" else np.ones(self.p)
        return drawn.X / size, drawn.sem.total_effects() * size[:, None] / size


class Mixed(NamedTuple):
    """Tables of `benchmarks.probabilities`: weak and strong weights, sparse and dense, raw, standardised and in random units."""

    kind: str
    p: int
    n: str = "100 to 1000"

    def draw(self, seed: int) -> tuple[Array, Array]:
        """Rows, and the true total effects in their units."""
        _, X, B = drawn(self.p, seed)
        return X, ordag.LinearSEM(B, np.ones(self.p)).total_effects()


DESIGNS = [Design(kind, p, n) for kind in ("equal", "× 5", "standardised") for p in (6, 10) for n in (200, 1000)]
DESIGNS += [Design("weak", 6, 200)]
MIXED = [Mixed("all kinds", p) for p in (5, 8, 12, 20)]
METHODS: dict[str, tuple[dict[str, Any], int]] = {"pooled": ({}, 100), "cvs": ({"alpha": 0.01}, 100)}
"""Settings, and how many tables."""

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0 + 1e-9)
"""Of the probability of a path."""


class Tally:
    """What came out over all pairs of variables of several tables."""

    def __init__(self) -> None:
        self.held, self.pairs = np.zeros(3), np.zeros(3)
        self.said, self.true, self.count = np.zeros((3, len(BINS) - 1))

    def add(self, effects: Effects, given_graph: Effects, truth: Array) -> None:
        """Count the pairs of one table: intervals where there is a path in truth, shares with a path for all."""
        path, off = truth != 0, ~np.eye(len(truth), dtype=bool)
        known = path & np.isfinite(effects.low)
        shares = effects.probability if effects.interval == "posterior" else effects.path_support
        for k, (one, among) in enumerate(
            [
                (given_graph, given_graph.path_found),
                (effects, known),
                (effects, known & (shares >= 0.5)),
            ]
        ):
            inside: Mask = (one.low <= truth) & (truth <= one.high)
            self.held[k] += inside[among].sum()
            self.pairs[k] += among.sum()
        places = np.digitize(shares[off], BINS) - 1
        self.said += np.bincount(places, shares[off], len(BINS) - 1)
        self.true += np.bincount(places, path[off], len(BINS) - 1)
        self.count += np.bincount(places, minlength=len(BINS) - 1)

    def cells(self) -> list[str]:
        """Coverages, then said and true of every bin."""
        with np.errstate(invalid="ignore"):
            covered = [f"{share:.1%}" for share in self.held / self.pairs]
            bins = zip(self.said / self.count, self.true / self.count, self.count, strict=True)
        return covered + [f"{said:.2f} → {true:.2f} ({count:.0f})" if count else "" for said, true, count in bins]


def tally(design: Design | Mixed, method: str, tables: int, first: int = 0) -> Tally:
    """What the tables of a design give."""
    counts = Tally()
    for seed in range(first, first + tables):
        X, truth = design.draw(seed)
        fit = ordag.learn(X, method, **METHODS[method][0])
        given_graph = ordag.effects(fit, interval="given-graph")
        counts.add(ordag.effects(fit, workers=1), given_graph, truth)
    return counts


HEAD = ["design", "p", "n", "method", "tables", "given graph", "given a path", "… likely path"]
HEAD += [f"path {low:g}–{min(high, 1):g}" for low, high in pairwise(BINS)]


def run(tables: int | None = None) -> str:
    lines = []
    with threadpool_limits(1):
        for method, (_, usual) in METHODS.items():
            for design in [*DESIGNS, *MIXED] if method == "pooled" else [*DESIGNS[:4], DESIGNS[-1]]:
                count = usual if tables is None else tables
                lines.append([*design, method, count, *tally(design, method, count).cells()])
    return f"""## Intervals of total effects

Intervals at a nominal 95 % that hold the true effect: taking the learned graph for granted, over pairs with a path in it; given a path,
over pairs with a path in truth (all that have an interval, and those where at least half of the graphs have a path).
Then the probabilities of a path, said → true (pairs). "All kinds" are the tables of [probabilities](#probabilities-of-arrows).

{table(HEAD, lines)}"""


def main(first: int, tables: int) -> None:
    """Print the lines of the pooled method for tables from a number on: of the mixed designs and of the others, each with their sum."""
    with threadpool_limits(1):
        for designs in (MIXED, DESIGNS):
            together = Tally()
            for design in designs:
                one = tally(design, "pooled", tables, first)
                print(" | ".join(map(str, [*design, tables, *one.cells()])), flush=True)
                for name, numbers in vars(one).items():
                    getattr(together, name).__iadd__(numbers)
            print(" | ".join(["together", *together.cells()]), flush=True)


if __name__ == "__main__":  # python -m benchmarks.effects FIRST TABLES
    main(*map(int, sys.argv[1:]))
