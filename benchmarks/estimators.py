"""Conditional variances estimated otherwise than by least squares: what robust, shrunk, lasso and nonlinear ones give, beside it."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.covariance import MinCovDet
from sklearn.ensemble import GradientBoostingRegressor
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag import Moments, hamming, simulate
from ordag.arrays import Array, Mask
from ordag.data.robust import robust_moments
from ordag.data.shrinkage import shrinkage_moments
from ordag.order.lasso import lasso_forward
from ordag.order.least_squares import forward
from ordag.order.regression import regression_forward
from ordag.order.supported import Supported
from ordag.parents.row_tests import distance_correlation

FIRST = 1000
"""Seeds from here on were used for nothing but these tables."""

FIRST_ROBUST = 2000
"""Those from 1000 on decided where MinCovDet is a start."""

Draw = Callable[[int, int, np.random.Generator], tuple[Array, Mask]]


def tau(order: Sequence[int], adjacency: Mask) -> float:
    """1 − 2 · (share of ancestor pairs in the wrong order)."""
    reach = adjacency.astype(float)
    for _ in range(max(1, int(np.ceil(np.log2(len(reach)))))):
        reach = np.minimum(reach + reach @ reach, 1.0)
    place = np.argsort(order)
    causes, effects = np.nonzero(reach)
    return 1.0 - 2.0 * float((place[causes] > place[effects]).mean()) if len(causes) else 1.0


def f1(found: Mask, adjacency: Mask) -> float:
    return 2.0 * float((found & adjacency).sum()) / max(int(found.sum() + adjacency.sum()), 1)


def arrows(found: Supported) -> Mask:
    mask = np.zeros((len(found.order),) * 2, dtype=bool)
    for j, parents in zip(found.order, found.support, strict=True):
        mask[parents, j] = True
    return mask


# ------------------------------------------------------------------------------------------------------------ designs


def linear(parents: Callable[[int, int, np.random.Generator], Sequence[int]], low: float) -> Draw:
    """Rows of equal error variances 1; weights of size `low` to 1, columns in any order."""

    def draw(p: int, n: int, random: np.random.Generator) -> tuple[Array, Mask]:
        B = np.zeros((p, p))
        X = random.standard_normal((n, p))
        for j in range(p):
            chosen = np.array(parents(j, p, random), dtype=np.intp)
            B[chosen, j] = random.uniform(low, 1.0, len(chosen)) * random.choice([-1.0, 1.0], len(chosen))
            X[:, j] += X @ B[:, j]
        mixed = random.permutation(p)
        return X[:, mixed], (B != 0.0)[np.ix_(mixed, mixed)]

    return draw


def any_earlier(j: int, p: int, random: np.random.Generator, *, degree: float) -> Sequence[int]:
    return [int(i) for i in np.flatnonzero(random.random(j) < degree / (p - 1))]


def of_a_hub(j: int, p: int, random: np.random.Generator) -> Sequence[int]:
    return sorted({j - 1, *random.choice(min(j, 10), min(j, 2), replace=False).tolist()} - {-1})


def of_a_chain(j: int, p: int, random: np.random.Generator) -> Sequence[int]:
    return sorted({j - 1, *random.choice(j, min(j, 2), replace=False).tolist()} - {-1}) if j else []


LINEAR = {
    "er2": linear(partial(any_earlier, degree=2.0), 0.5),
    "er4": linear(partial(any_earlier, degree=4.0), 0.5),
    "er2w3": linear(partial(any_earlier, degree=2.0), 0.3),
    "chain": linear(of_a_chain, 0.7),
    "hub": linear(of_a_hub, 0.7),
}
"""Erdős–Rényi of expected degree 2 and 4, with weaker arrows; predecessor and two earlier ones, or two of the first ten."""


def sine(z: Array, random: np.random.Generator) -> Array:
    return np.asarray(np.sin(2.0 * z))


def quadratic(z: Array, random: np.random.Generator) -> Array:
    return np.asarray(z**2)


def gaussian_process(z: Array, random: np.random.Generator) -> Array:
    """Smooth, with the kernel exp(−(z − z')²/2), from 200 random waves."""
    waves, phases, heights = (
        random.standard_normal(200),
        random.uniform(0.0, 2.0 * np.pi, 200),
        random.standard_normal(200),
    )
    return np.asarray(np.cos(np.outer(z, waves) + phases) @ heights)


def nonlinear(
    f: Callable[[Array, np.random.Generator], Array], p: int, n: int, random: np.random.Generator
) -> tuple[Array, Mask]:
    """Sums of f of the parents, each brought to a standard deviation of 0.7 to 1.3; errors N(0, 1); expected degree 2."""
    A = np.triu(random.random((p, p)) < 2.0 / (p - 1), 1)
    X = random.standard_normal((n, p))
    for j in range(p):
        for i in np.flatnonzero(A[:, j]):
            effect = f((X[:, i] - X[:, i].mean()) / X[:, i].std(), random)
            X[:, j] += random.uniform(0.7, 1.3) * (effect - effect.mean()) / effect.std()
    mixed = random.permutation(p)
    return X[:, mixed], A[np.ix_(mixed, mixed)]


NONLINEAR = {"sine": sine, "quadratic": quadratic, "Gaussian process": gaussian_process}


def outliers(X: Array, kind: str, random: np.random.Generator, share: float = 0.05) -> Array:
    """The same rows with a share of them, or of their cells, replaced."""
    n, p = X.shape
    X, spread = X.copy(), X.std(axis=0)
    rows = random.choice(n, round(share * n), replace=False)
    if kind == "rows, ten times as wide":
        X[rows] = 10.0 * spread * random.standard_normal((len(rows), p))
    elif kind == "rows at one place":
        values, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
        X[rows] = (
            X.mean(axis=0)
            + 10.0 * np.sqrt(p * values[0]) * vectors[:, 0]
            + 0.1 * random.standard_normal((len(rows), p))
        )
    elif kind == "cells":
        far = random.choice([-1.0, 1.0], (n, p)) * random.uniform(6.0, 14.0, (n, p)) * spread
        X = np.where(random.random((n, p)) < share, far, X)
    return X


OUTLIERS = ["none", "rows, ten times as wide", "rows at one place", "cells"]

# ------------------------------------------------------------------------------------------------------------- tables


def determinant(X: Array, names: Sequence[str]) -> Moments:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Moments.from_covariance(MinCovDet(random_state=0).fit(X).covariance_, len(X), names=names)


def robust(seeds: int = 20) -> str:
    rows = []
    estimators = {"least squares": Moments.from_rows, "robust": robust_moments, "MinCovDet": determinant}
    cases = [
        ("erdos-renyi", 10, 100),
        ("erdos-renyi", 20, 300),
        ("erdos-renyi", 50, 400),
        ("erdos-renyi", 100, 200),
        ("homogeneous", 20, 300),
    ]
    for design, p, n in cases:
        options = {"degree": 2.0, "weights": (0.5, 1.0)} if design == "erdos-renyi" else {}
        for kind in OUTLIERS:
            cells: list[list[tuple[float, int]]] = []
            for seed in range(FIRST_ROBUST, FIRST_ROBUST + seeds):
                drawn = simulate(design, p, n, seed, **options)  # type: ignore[arg-type]
                X = outliers(drawn.X, kind, np.random.default_rng([seed, 5]))
                found = [make(X, drawn.names) for make in estimators.values()]
                truth = drawn.dag.adjacency
                cells.append(
                    [(tau(forward(m).order, truth), hamming(ordag.learn(m, "cvs").graph, drawn.dag)) for m in found]
                )
            means = np.array(cells, dtype=float).mean(axis=0)
            rows.append([f"{design} {p}/{n}", kind, *(f"{t:.3f}, {h:.1f}" for t, h in means)])
    return "### Outliers: τ of the order, Hamming distance of the CVS graph\n\n" + table(
        ["design, p/n", "5 % outliers", *estimators], rows
    )


def shrinkage(seeds: int = 40) -> str:
    rows = []
    for name, draw in LINEAR.items():
        for p, n in [(50, 60), (100, 120), (200, 220)]:
            values = []
            for seed in range(FIRST, FIRST + seeds):
                X, truth = draw(p, n, np.random.default_rng([seed, p]))
                names = [f"X{j}" for j in range(p)]
                plain, shrunk = Moments.from_rows(X, names), shrinkage_moments(X, names)
                values.append(
                    [tau(forward(m).order, truth) for m in (plain, shrunk)] + [tau(np.argsort(X.var(axis=0)), truth)]
                )  # type: ignore[arg-type]
            means = np.mean(values, axis=0)
            gain = np.diff(np.array(values)[:, :2], axis=1)
            rows.append(
                [
                    f"{name} {p}/{n}",
                    *(f"{t:.3f}" for t in means),
                    f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(seeds):.3f}",
                ]
            )
    return "### Few more rows than columns: τ\n\n" + table(
        ["design, p/n", "least squares", "shrinkage", "sorting by variance", "gain by shrinkage"], rows
    )


def lasso(seeds: int = 10) -> str:
    rows = []
    for name, draw in LINEAR.items():
        for p, n in [(100, 100), (100, 50)]:
            values = []
            for seed in range(FIRST, FIRST + seeds):
                X, truth = draw(p, n, np.random.default_rng([seed, p]))
                start = time.perf_counter()
                found = lasso_forward(np.cov(X, rowvar=False), n)
                seconds = time.perf_counter() - start
                values.append(
                    [tau(found.order, truth), f1(arrows(found), truth), tau(np.argsort(X.var(axis=0)), truth), seconds]
                )  # type: ignore[arg-type]
            means = np.mean(values, axis=0)
            rows.append([f"{name} {p}/{n}", *(f"{value:.3f}" for value in means[:3]), f"{means[3]:.1f}"])
    return "### Lasso\n\n" + table(["design, p/n", "τ", "F1 of supports", "τ of sorting by variance", "seconds"], rows)


BOOSTING = GradientBoostingRegressor(n_estimators=60, max_depth=2, random_state=0)
SIZES = [(10, 500, None), (20, 500, None), (30, 500, None), (6, 500, BOOSTING)]


def regression(seeds: int = 12, sizes: Sequence[Any] = SIZES, designs: Sequence[str] = tuple(NONLINEAR)) -> str:
    rows = []
    for p, n, regressor in sizes:
        count = seeds if p == 10 else seeds // 4
        for name in designs:
            f = NONLINEAR[name]
            values = []
            for seed in range(FIRST, FIRST + count):
                X, truth = nonlinear(f, p, n, np.random.default_rng([seed, p]))
                start = time.perf_counter()
                found = regression_forward(X, regressor)
                seconds = time.perf_counter() - start
                fit = ordag.learn(X, "cvs")
                by_variance = tau(np.argsort(X.var(axis=0)), truth)  # type: ignore[arg-type]
                linear_order = forward(Moments.from_rows(X)).order
                values.append(
                    [
                        tau(found.order, truth),
                        f1(arrows(found), truth),
                        tau(linear_order, truth),
                        f1(fit.graph.adjacency, truth),
                        by_variance,
                        seconds,
                    ]  # type: ignore[arg-type]
                )
            means = np.mean(values, axis=0)
            kind = "splines" if regressor is None else "boosting"
            rows.append([f"{name} {p}/{n}", kind, count, *(f"{value:.3f}" for value in means[:5]), f"{means[5]:.1f}"])
            print(rows[-1], file=sys.stderr, flush=True)
    return "### Nonlinear equations\n\n" + table(
        ["design, p/n", "regressor", "tables", "τ", "F1", "τ linear", "F1 linear", "τ by variance", "seconds"], rows
    )


def row_tests(tables: int = 500) -> str:
    rows = []
    for n in (100, 300):
        for k in (0, 1, 3, 8):
            cells: list[object] = [n, k]
            for f, g in ((np.sin, np.cos), (np.square, np.square)):
                for strength in (0.0, 1.0):
                    rejected = 0
                    for seed in range(FIRST, FIRST + tables):
                        random = np.random.default_rng([seed, n, k])
                        Z, e = random.standard_normal((n, k)), random.standard_normal(n)
                        x = f(2.0 * Z).sum(axis=1) + e if f is np.sin else f(Z).sum(axis=1) + e
                        y = g(2.0 * Z).sum(axis=1) if g is np.cos else (Z + g(Z)).sum(axis=1)
                        y = y + strength * (np.sin(2.0 * e) if f is np.sin else 0.5 * e**2) + random.standard_normal(n)
                        rejected += distance_correlation(x, y, Z) <= 0.05
                    cells.append(f"{rejected / tables:.3f}")
            rows.append(cells)
    return "### Distance correlation of residuals: share rejected at 5 %\n\n" + table(
        ["n", "columns of Z", "sine: independent", "sine: dependent", "quadratic: independent", "quadratic: dependent"],
        rows,
    )


PARTS = {part.__name__: part for part in (robust, shrinkage, lasso, regression, row_tests)}


def run(names: Sequence[str] = ()) -> str:
    with threadpool_limits(1):
        return "## Other estimators of conditional variances\n\n" + "\n\n".join(
            PARTS[name]() for name in names or PARTS
        )


if __name__ == "__main__":
    print(run(sys.argv[1:]))
