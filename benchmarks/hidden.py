"""How often does the comparison with factor models notice hidden common causes and measurement noise, and cry wolf?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.arrays import Array, Mask
from ordag.evidence.common_factor import common_factor

TABLES = 40
SIZES = [(6, 200), (10, 200), (10, 1000), (15, 500)]

Draw = Callable[[np.random.Generator, int, int], tuple[Array, Mask]]


def signed(random: np.random.Generator, low: float, high: float, shape: tuple[int, int]) -> Array:
    return np.asarray(random.uniform(low, high, shape) * random.choice([-1.0, 1.0], shape))


def drawn(
    random: np.random.Generator,
    p: int,
    n: int,
    *,
    degree: float = 2.0,
    weights: tuple[float, float] = (0.3, 1.0),
    spread: float = 1.0,
    causes: int = 0,
    share: float = 0.5,
    noise: float = 0.0,
) -> tuple[Array, Mask]:
    """Rows of a random DAG with hidden causes of a share of the columns and with measurement noise, and its arrows."""
    B = np.triu(random.random((p, p)) < degree / (p - 1), 1) * signed(random, *weights, (p, p))
    E = random.standard_normal((n, p)) * np.sqrt(np.exp(random.uniform(0.0, np.log(spread), p)))
    reach = (random.random((causes, p)) < share) * signed(random, 0.5, 1.5, (causes, p))
    X = (E + random.standard_normal((n, causes)) @ reach) @ np.linalg.inv(np.eye(p) - B)
    X = X + np.sqrt(noise) * random.standard_normal((n, p))
    mixed = random.permutation(p)
    return X[:, mixed], (B != 0)[np.ix_(mixed, mixed)]


def star(random: np.random.Generator, p: int, n: int) -> tuple[Array, Mask]:
    """One column causes all others."""
    B = np.zeros((p, p))
    B[0, 1:] = signed(random, 0.3, 1.0, (1, p - 1))
    return random.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - B), B != 0


DESIGNS: dict[str, Draw] = {
    "DAG": drawn,
    "DAG, error variances over a factor of 4": partial(drawn, spread=4.0, weights=(0.5, 1.5)),
    "DAG, weak arrows": partial(drawn, degree=3.0, weights=(0.1, 0.5)),
    "DAG, half of all pairs": partial(drawn, degree=5.0),
    "one column causes all others": star,
    "one factor, no arrow": partial(drawn, degree=0.0, causes=1, share=1.0),
    "two factors, no arrow": partial(drawn, degree=0.0, causes=2, share=1.0),
    "three factors, no arrow": partial(drawn, degree=0.0, causes=3, share=1.0),
    "two hidden causes of half the columns, no arrow": partial(drawn, degree=0.0, causes=2),
    "DAG and one hidden cause of half the columns": partial(drawn, causes=1),
    "DAG and two of them": partial(drawn, causes=2),
    "DAG with measurement noise": partial(drawn, weights=(0.5, 1.5), noise=1.0),
}


def line(title: str, draw: Draw, method: str, **settings: Any) -> list[object]:
    cells: list[object] = [title]
    wrong = arrows = 0
    for p, n in SIZES:
        better = nearly = 0
        for seed in range(TABLES):
            X, truth = draw(np.random.default_rng([11, seed, p, n]), p, n)
            fit = ordag.learn(X, method, **settings)
            found = common_factor(fit)
            assert found is not None
            better, nearly = better + found.explains, nearly + found.nearly
            wrong += int((fit.graph.adjacency & ~truth).sum())
            arrows += int(fit.graph.adjacency.sum())
        cells.append(f"{better / TABLES:.0%} + {nearly / TABLES:.0%}")
    return [*cells, f"{wrong / max(arrows, 1):.0%}"]


def run() -> str:
    with threadpool_limits(1):
        lines = [line(title, draw, "pooled", draws=0) for title, draw in DESIGNS.items()]
    head = ["tables", *(f"p = {p}, n = {n}" for p, n in SIZES), "wrong arrows"]
    return f"""## Hidden common causes

Shares of {TABLES} tables in which factor models explain better than the graph + nearly as well (pooled search), and the share of
learned arrows that are not in the truth. In the first five lines there is nothing hidden.

{table(head, lines)}"""
