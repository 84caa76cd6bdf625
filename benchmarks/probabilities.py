"""Are the probabilities of arrows right? Of those given 90 %, nine in ten should be there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.common.arrays import Array, Mask

TABLES = {3: 35, 5: 26, 8: 26, 12: 26, 20: 21, 50: 10, 100: 3}
"""How many tables of so many variables."""

ROWS, DEGREES, APART = (100, 300, 1000), (2.0, 4.0, 6.0, 10.0), (1.0, 4.0, 30.0)
WEIGHTS = {"weights .1–.5": (0.1, 0.5), "weights .2–.9": (0.2, 0.9), "weights .5–2": (0.5, 2.0)}
UNITS = ("raw", "standardised", "random units")
MOST_JOINED = 0.8
"""The largest share of pairs that are joined on average, which limits the degree in small tables."""

BINS = [(0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 0.99), (0.99, 1.01)]


class Design(NamedTuple):
    """A kind of table, drawn by its number: error variances are log-uniform between 1 and `apart`."""

    p: int
    n: int
    degree: float
    weights: str
    apart: float
    units: str

    @property
    def joined(self) -> float:
        return min(self.degree / (self.p - 1), MOST_JOINED)


class Said(NamedTuple):
    """The probabilities of a table's arrows, the graph shown, that of the best score, and the true one."""

    design: Design
    arrows: Array
    shown: Mask
    best: Mask
    truth: Mask


def drawn(p: int, number: int) -> tuple[Design, Array, Array]:
    """One design, its rows, and the true weights in their units."""
    random = np.random.default_rng([24, p, number])
    degrees = [degree for degree in DEGREES if degree <= max(p - 1, DEGREES[0])]
    n, degree, weights, apart, units = (
        one[int(random.integers(len(one)))] for one in (ROWS, degrees, tuple(WEIGHTS), APART, UNITS)
    )
    design = Design(p, n, degree, weights, apart, units)
    order = random.permutation(p)
    B = np.zeros((p, p))
    joined = np.triu(random.random((p, p)) < design.joined, 1)
    sizes = random.uniform(*WEIGHTS[weights], (p, p)) * random.choice([-1.0, 1.0], (p, p))
    B[np.ix_(order, order)] = np.where(joined, sizes, 0.0)
    deviations = np.exp(random.uniform(0.0, np.log(apart), p) / 2.0)
    X = random.standard_normal((n, p)) * deviations @ np.linalg.inv(np.eye(p) - B)
    size = np.ones(p)
    if units == "random units":
        size = 10.0 ** random.uniform(-1.0, 1.0, p)
    elif units == "standardised":
        size = 1.0 / X.std(axis=0)
    return design, X * size, B / size[:, None] * size


def measured(p: int, number: int) -> Said:
    design, X, B = drawn(p, number)
    truth = B != 0
    fit = ordag.learn(X, method="pooled")
    assert fit.probabilities is not None
    best = fit.graph if fit.optimum is None else fit.optimum
    return Said(design, fit.probabilities.arrows, fit.graph.adjacency, best.adjacency, truth)


def run(first: int = 0, times: int = 1) -> str:
    """first: the number of the first table of each size. times: how many times as many tables as `TABLES` has."""
    with threadpool_limits(1):
        numbers = [(p, number) for p, count in TABLES.items() for number in range(first, first + times * count)]
        return page([measured(*one) for one in numbers])


def page(tables: list[Said]) -> str:
    kinds: dict[str, Callable[[Design], bool]] = {"all": lambda _: True}
    kinds |= {units: lambda one, units=units: one.units == units for units in UNITS}  # type: ignore[misc]
    kinds |= {weights: lambda one, weights=weights: one.weights == weights for weights in WEIGHTS}  # type: ignore[misc]
    kinds |= {f"degree {d:g}": lambda one, d=d: one.degree == d for d in DEGREES}  # type: ignore[misc]
    kinds |= {
        "at most 3 in 10 pairs joined": lambda one: one.joined <= 0.3,
        "more than half of the pairs": lambda one: one.joined > 0.5,
        "p = 3 and 5": lambda one: one.p <= 5,
        "p = 8 to 20": lambda one: 8 <= one.p <= 20,
        "p = 50": lambda one: one.p == 50,
        "p = 100": lambda one: one.p == 100,
    }
    lines: list[list[str]] = []
    for title, of in kinds.items():
        some = [one for one in tables if of(one.design)]
        lines.append([f"{title} ({len(some)})", *_cells(some), _shown(some)])
    edges = [one._replace(arrows=np.triu(one.arrows + one.arrows.T), truth=one.truth | one.truth.T) for one in tables]
    lines.append(["edges, either direction", *_cells(edges, upper=True), ""])
    shown, best = (
        np.array([int((getattr(one, which) != one.truth).sum()) for one in tables]) for which in ("shown", "best")
    )
    less = best - shown
    counts = ", ".join(f"{count} of {p}" for p, count in Counter(one.design.p for one in tables).items())
    rows = ", ".join(map(str, ROWS[:-1])) + f" or {ROWS[-1]}"
    heads = [f"{100 * low:.0f}–{min(100 * high, 100):.0f} %" for low, high in BINS]
    return f"""## Probabilities of arrows

Arrows by the probability that `method="pooled"` gives them, over {len(tables)} tables: {counts} columns. Each has {rows} rows,
a mean degree of 2, 4, 6 or 10 (at most 8 in 10 pairs joined), weights ± .1 to .5, .2 to .9 or .5 to 2, error variances equal or up to
4 or 30 times apart, and columns as they are, standardised, or each in a unit of its own between 1/10 and 10, all drawn at random. In
every cell: the mean probability in percent that was said / the share that was there, and how many arrows it is about. In the last
column the same for the arrows of the graph that is shown. It has {shown.mean():.1f} wrong entries on average, the graph of the best
score {best.mean():.1f} ({less.mean():.1f} ± {less.std() / np.sqrt(len(less)):.1f} fewer).

{table(["tables", *heads, "arrows shown"], lines)}"""


def _cells(tables: list[Said], *, upper: bool = False) -> list[str]:
    off = [
        np.triu(np.ones(one.truth.shape, bool), 1) if upper else ~np.eye(len(one.truth), dtype=bool) for one in tables
    ]
    said, was = (
        np.concatenate([getattr(one, which)[here] for one, here in zip(tables, off, strict=True)])
        for which in ("arrows", "truth")
    )
    return [_cell(said, was, (said >= low) & (said < high)) for low, high in BINS]


def _shown(tables: list[Said]) -> str:
    said, was = (np.concatenate([getattr(one, which)[one.shown] for one in tables]) for which in ("arrows", "truth"))
    return _cell(said, was, np.ones(len(said), bool))


def _cell(said: Array, was: Mask, here: Mask) -> str:
    return f"{100 * said[here].mean():.0f} / {100 * was[here].mean():.0f} ({here.sum():,})" if here.any() else "–"


if __name__ == "__main__":  # python -m benchmarks.probabilities FIRST TIMES
    print(run(*map(int, sys.argv[1:])))
