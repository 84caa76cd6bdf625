"""Are the probabilities of arrows right? Of those given 90 %, nine in ten should be there."""

from __future__ import annotations

import numpy as np

import ordag
from benchmarks.timing import table
from ordag.common.arrays import Array, Mask
from ordag.paper.simulations import seed

TABLES = 30
BINS = [(0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)]
SIZES = [(5, 150, 2.0), (10, 300, 2.0), (20, 400, 3.0)]
NORMAL = "equal, normal weights"
KINDS: dict[str, tuple[float, float]] = {
    "equal": (1.0, 1.0),
    "×4": (4.0, 1.0),
    "×30": (30.0, 1.0),
    "random units": (1.0, 10.0),
    NORMAL: (1.0, 1.0),
}
"""How far apart the error variances are, and the largest factor of a unit (the smallest is its reciprocal)."""


def rows(kind: str, p: int, n: int, degree: float, number: int) -> tuple[Array, Mask]:
    """A table with weights of size 0.2 to 0.9, or normal ones, and the true arrows. The accuracy page has no such weights."""
    apart, unit = KINDS[kind]
    random = np.random.default_rng(seed(kind, p, n, number, "probabilities"))
    order = random.permutation(p)
    B = np.zeros((p, p))
    joined = np.triu(random.random((p, p)) < degree / (p - 1), 1)
    sizes = random.uniform(0.2, 0.9, (p, p)) * random.choice([-1.0, 1.0], (p, p))
    if kind == NORMAL:
        sizes = random.normal(0.0, 0.5, (p, p))
    B[np.ix_(order, order)] = np.where(joined, sizes, 0.0)
    deviations = np.exp(random.uniform(0.0, np.log(apart), p) / 2.0)
    X = random.standard_normal((n, p)) * deviations @ np.linalg.inv(np.eye(p) - B)
    return X * unit ** random.uniform(-1.0, 1.0, p), B != 0


def reliability(kind: str, p: int, n: int, degree: float) -> tuple[Array, Mask, Array, Mask]:
    """Probabilities of all arrows and whether they are there; of all edges and whether they are."""
    arrows, truths, edges, joined = [], [], [], []
    upper = np.triu_indices(p, 1)
    for number in range(TABLES):
        X, truth = rows(kind, p, n, degree, number)
        found = ordag.learn(X, method="pooled").probabilities
        assert found is not None
        off = ~np.eye(p, dtype=bool)
        arrows.append(found.arrows[off])
        truths.append(truth[off])
        edges.append(found.joined[upper])
        joined.append((truth | truth.T)[upper])
    return np.concatenate(arrows), np.concatenate(truths), np.concatenate(edges), np.concatenate(joined)


def run() -> str:
    found = {(p, kind): reliability(kind, p, n, degree) for p, n, degree in SIZES for kind in KINDS}
    lines = []
    for title, keys in (
        *((f"p = {p}, n = {n}, all", [(p, kind) for kind in KINDS if kind != NORMAL]) for p, n, _ in SIZES),
        *((f"{kind}, all p", [(p, kind) for p, _, _ in SIZES]) for kind in KINDS),
    ):
        said, was = (np.concatenate([found[key][k] for key in keys]) for k in (0, 1))
        lines.append([title, *(_cell(said, was, low, high) for low, high in BINS)])
    for title, normal in (("edges, either direction", False), ("edges, normal weights", True)):
        said, was = (np.concatenate([found[key][k] for key in found if (key[1] == NORMAL) == normal]) for k in (2, 3))
        lines.append([title, *(_cell(said, was, low, high) for low, high in BINS)])
    heads = [f"{100 * low:.0f}–{min(100 * high, 100):.0f} %" for low, high in BINS]
    return f"""## Probabilities of arrows

Arrows by the probability that `method="pooled"` gives them, over {TABLES} tables for each of {len(found)} designs that nothing was
chosen on (weights ±0.2 to 0.9, or normal; error variances equal, up to 4 and up to 30 times apart, and equal with each column in a unit of
its own between 1/10 and 10). One row per kind of table. In every cell: the mean probability that was said, the share of arrows
that were there, and how many arrows it is about. With five variables the probabilities are exact, with 10 and 20 sampled.

The last two rows are about edges, whichever way they point. The score takes small weights for possible. In tables whose weights
are all at least 0.2 in size, pairs of middling probability are therefore less often joined than it says; in tables whose weights
are normal around zero, with standard deviation 0.5, they are joined about as often as it says.

{table(["tables", *heads], lines)}"""


def _cell(said: Array, was: Mask, low: float, high: float) -> str:
    here = (said >= low) & (said < high)
    return f"{said[here].mean():.2f} / {was[here].mean():.2f} ({here.sum():,})" if here.any() else "–"
