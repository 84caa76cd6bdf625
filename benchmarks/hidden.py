"""How often are hidden common causes found at their place, and how often is one found where there is none?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.assess.hidden_causes import hidden_causes, hidden_caution
from ordag.common.arrays import Array

TABLES = 40
SCALES = ("× 5", "equal", "standardised")
ROWS = (300, 1000)


class Design(NamedTuple):
    """A random DAG over p columns with this mean number of neighbours, hidden causes of `sizes` columns each, and measurement noise.

    together: whether a column may be behind several hidden causes.
    """

    p: int = 12
    degree: float = 2.0
    sizes: Sequence[int] = ()
    together: bool = True
    noise: float = 0.0


DESIGNS = {
    "DAG, degree 2": Design(),
    "DAG, degree 4": Design(degree=4.0),
    "DAG, degree 6": Design(degree=6.0),
    "one hidden cause of five, degree 2": Design(sizes=(5,)),
    "two of four each, degree 2": Design(sizes=(4, 4)),
    "one of all twelve, no arrow": Design(degree=0.0, sizes=(12,)),
    "measurement noise, degree 2": Design(noise=0.5),
}
LARGE = {
    "five of six each, no arrow: p = 30, n = 500": (Design(p=30, degree=0.0, sizes=(6,) * 5, together=False), 500),
    "DAG, degree 4: p = 30, n = 500": (Design(p=30, degree=4.0), 500),
    "three of six, degree 4: p = 60, n = 1000": (Design(p=60, degree=4.0, sizes=(6,) * 3), 1000),
    "DAG, degree 4: p = 60, n = 1000": (Design(p=60, degree=4.0), 1000),
}


def signed(random: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    return np.asarray(random.uniform(low, high, shape) * random.choice([-1.0, 1.0], shape))


def drawn(design: Design, n: int, scale: str, random: np.random.Generator) -> tuple[Array, list[set[int]]]:
    """Rows of a design, and the columns behind each of its hidden causes."""
    p = design.p
    mixed = random.permutation(p)
    B = np.triu(random.random((p, p)) < design.degree / (p - 1), 1) * signed(random, 0.4, 1.2, (p, p))
    B = B[np.ix_(mixed, mixed)]
    variances = np.ones(p) if scale == "equal" else np.exp(random.uniform(0.0, np.log(5.0), p))
    E = random.standard_normal((n, p)) * np.sqrt(variances)
    sets: list[set[int]] = []
    free = random.permutation(p)
    for size in design.sizes:
        behind = random.choice(p, size, replace=False) if design.together else free[:size]
        free = free[size:]
        E[:, behind] += np.outer(random.standard_normal(n), signed(random, 0.5, 1.5, (size,)))
        sets.append(set(behind.tolist()))
    X = E @ np.linalg.inv(np.eye(p) - B)
    X += np.sqrt(design.noise) * random.standard_normal(X.shape)
    return (X / X.std(axis=0) if scale == "standardised" else X), sets


class Count(NamedTuple):
    """Of the tables the share with a caution, of the hidden causes the share found at their place, and seconds."""

    warned: float
    placed: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.warned:.0%}" if np.isnan(self.placed) else f"{self.warned:.0%}, {self.placed:.0%}"


def counted(design: Design, n: int, scale: str, tables: int = TABLES) -> Count:
    """Three or more of the variables of a hidden cause behind one that was found are its place."""
    warned, placed, seconds = [], [], 0.0
    for seed in range(tables):
        X, sets = drawn(design, n, scale, np.random.default_rng([24, seed, n, len(scale)]))
        fit = ordag.learn(X, draws=0)
        begun = time.process_time()
        found = hidden_causes(fit)
        seconds += time.process_time() - begun
        warned.append(hidden_caution(fit) is not None)
        behind = () if found is None else found.behind
        placed += [any(len(one & {*other}) >= 3 for other in behind) for one in sets]
    return Count(float(np.mean(warned)), float(np.mean(placed)) if placed else np.nan, seconds / tables)


def run() -> str:
    with threadpool_limits(1):
        counted(DESIGNS["one of all twelve, no arrow"], 300, "equal", 1)  # compiles
        cells = [(scale, n) for scale in SCALES for n in ROWS]
        counts = {title: [counted(design, n, scale) for scale, n in cells] for title, design in DESIGNS.items()}
        large = {title: counted(design, n, "× 5", TABLES // 4) for title, (design, n) in LARGE.items()}
    head = ["p = 12", *(f"{scale}, n = {n}" for scale, n in cells), "seconds"]
    lines = [[title, *row, f"{np.mean([one.seconds for one in row]):.2f}"] for title, row in counts.items()]
    more = [[title, one, f"{one.seconds:.2f}"] for title, one in large.items()]
    return f"""## Hidden common causes

Shares of {TABLES} tables with a caution of hidden causes, and of the hidden causes that were found at their place, that is with three or
more of its variables behind one that was found. Arrows of 0.4 to 1.2, effects of hidden causes of 0.5 to 1.5, hidden causes of variance
1, error variances equal or within a factor of 5, columns standardised or not. In the first three lines nothing is hidden, and every
caution is wrong. Seconds of one core, beside those of the search for the graph.

{table(head, lines)}

{TABLES // 4} tables each:

{table(["larger tables", "× 5", "seconds"], more)}"""
