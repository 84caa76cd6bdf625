"""`python -m benchmarks estimators`: conditional variances estimated otherwise than by least squares, into docs/estimators/."""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.covariance import MinCovDet
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.curved import Curved
from benchmarks.high_dimension import tau
from benchmarks.timing import machine, table
from ordag import Moments, hamming, simulate
from ordag.common.arrays import Array, Mask
from ordag.data.covariance_estimators import robust_moments, shrinkage_moments
from ordag.order.lasso import lasso_forward
from ordag.order.least_squares import forward
from ordag.order.ordering import Steps
from ordag.order.sparse import sparse_forward, usual_width
from ordag.parents.row_tests import distance_correlation, row_p_values

FIRST = 1000
"""Seeds from here on were used for nothing but these tables."""

FIRST_ROBUST = 2000
"""Those from 1000 on decided where MinCovDet is a start."""

FIRST_CURVED = 3000
"""Those below chose the designs."""

LINEAR = ("chain", "hub", "hub5", "er2", "er4", "er2w3")
"""Designs of `simulate`; rs40 has a size of its own."""

PAGES = Path(__file__).parents[1] / "docs" / "estimators"


def f1(found: Mask, truth: Mask) -> float:
    return 2.0 * float((found & truth).sum()) / max(int(found.sum() + truth.sum()), 1)


def arrows(found: Steps) -> Mask:
    mask = np.zeros((len(found.order),) * 2, dtype=bool)
    for j, parents in zip(found.order, found.parent_sets, strict=True):
        mask[parents, j] = True
    return mask


def timed(function: Callable[..., Any], *given: Any, **settings: Any) -> tuple[Any, float]:
    """What a call gives, and the processor time that it took."""
    start = time.process_time()
    return function(*given, **settings), time.process_time() - start


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
    return table(["design, p/n", "5 % outliers", *estimators], rows)


def shrinkage(seeds: int = 40) -> str:
    rows = []
    for design in LINEAR:
        for p, n in [(50, 60), (100, 120), (200, 220)]:
            values = []
            for seed in range(FIRST, FIRST + seeds):
                drawn = simulate(design, p, n, seed)
                plain, shrunk = Moments.from_rows(drawn.X, drawn.names), shrinkage_moments(drawn.X, drawn.names)
                orders = (forward(plain).order, forward(shrunk).order, np.argsort(drawn.X.var(axis=0)))
                values.append([tau(order, drawn.dag.adjacency) for order in orders])
            gain = np.diff(np.array(values)[:, :2], axis=1)
            error = gain.std(ddof=1) / np.sqrt(seeds)
            means = [f"{t:.3f}" for t in np.mean(values, axis=0)]
            rows.append([f"{design} {p}/{n}", *means, f"{gain.mean():+.3f} ± {error:.3f}"])
    return table(["design, p/n", "least squares", "shrinkage", "sorting by variance", "gain by shrinkage"], rows)


def lasso(seeds: int = 6) -> str:
    """The lasso beside sparse, on the same tables."""
    rows: list[list[object]] = []
    for cases in ([(one, 60, 60) for one in LINEAR], [(one, 60, 30) for one in LINEAR], [("rs40", 40, 100)]):
        means = []
        for case in cases:
            jobs = (delayed(linear_scores)(*case, seed) for seed in range(FIRST, FIRST + seeds))
            means.append(np.mean(Parallel(2)(jobs), axis=0))
            rows.append([f"{case[0]} {case[1]}/{case[2]}", *_written(means[-1])])
            print(rows[-1], file=sys.stderr, flush=True)
        if len(means) > 1:
            rows.append([f"mean of these {len(means)}", *_written(np.mean(means, axis=0))])
    head = ["design, p/n", "τ lasso", "F1 lasso", "τ sparse", "F1 sparse", "τ by variance", "seconds lasso", "sparse"]
    return table(head, rows)


def linear_scores(design: str, p: int, n: int, seed: int) -> list[float]:
    """As in the head of the table."""
    with threadpool_limits(1):
        drawn = simulate(design, p, n, seed)
        S, truth = np.cov(drawn.X, rowvar=False), drawn.dag.adjacency
        by_lasso, seconds = timed(lasso_forward, S, n)
        sparse, fewer = timed(sparse_forward, S, n, width=usual_width(p))
        taus = [tau(order, truth) for order in (by_lasso.order, sparse.order, np.argsort(S.diagonal()))]
        found = [f1(arrows(one), truth) for one in (by_lasso, sparse)]
        return [taus[0], found[0], taus[1], found[1], taus[2], seconds, fewer]


def _written(means: Array) -> list[str]:
    return [*(f"{value:.3f}" for value in means[:5]), *(f"{value:.1f}" for value in means[5:])]


BOOSTING = HistGradientBoostingRegressor(max_iter=60, max_depth=3, min_samples_leaf=10)
SPLINED = ("sine", "quadratic", "Gaussian process")
SIZES = ((10, 500), (20, 500), (30, 1000))
DESIGNS = [
    *(Curved(kind, graph, p, n) for graph in ("chain", "sparse") for kind in SPLINED for p, n in SIZES),
    *(Curved(kind, "chain", 8, 500, BOOSTING) for kind in SPLINED),
    Curved("interaction", "chain", 8, 1000),
    Curved("interaction", "chain", 8, 1000, BOOSTING),
]


def regression(designs: Sequence[Curved] = DESIGNS) -> str:
    rows = []
    for design in designs:
        count = 10 if design.regressor is None and design.p <= 10 else 5 if design.p <= 20 else 4
        seeds = range(FIRST_CURVED, FIRST_CURVED + count)
        scores = np.array(Parallel(2)(delayed(curved_scores)(design, seed) for seed in seeds))
        means = scores.mean(axis=0)
        kind = "splines" if design.regressor is None else "boosting"
        written = [f"{value:.3f}" if np.isfinite(value) else "–" for value in means[:-1]]
        rows.append([f"{design.kind}, {design.graph} {design.p}/{design.n}", kind, count, *written, f"{means[-1]:.1f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    scores_of = ["τ", "F1", "F1 distance correlation", "τ linear", "F1 linear", "τ by variance"]
    return table(["design, p/n", "regressor", "tables", *scores_of, "seconds"], rows)


def curved_scores(design: Curved, seed: int) -> list[float]:
    """As in the head of the table."""
    with threadpool_limits(1):
        X, truth = design.draw(np.random.default_rng([seed, design.p]))
        variance = "regression" if design.regressor is None else design.regressor
        fit, seconds = timed(ordag.learn, X, "cvs", variance=variance)
        tested = design.p <= 10 and design.graph == "chain" and design.regressor is None
        of_rows = f1(by_distance_correlation(X, fit.column_order), truth) if tested else np.nan
        linear = ordag.learn(X, "cvs")
        taus = [
            tau(np.array(order), truth) for order in (fit.column_order, linear.column_order, np.argsort(X.var(axis=0)))
        ]
        found = [f1(one.graph.adjacency, truth) for one in (fit, linear)]
        return [taus[0], found[0], of_rows, taus[1], found[1], taus[2], seconds]


def by_distance_correlation(X: Array, order: Sequence[int], alpha: float = 0.01) -> Mask:
    """The arrows of `learn(…, test="distance-correlation")` along an order."""
    later, earlier = np.nonzero(row_p_values(X, order, distance_correlation) <= alpha)
    mask = np.zeros((len(order),) * 2, dtype=bool)
    mask[np.array(order)[earlier], np.array(order)[later]] = True
    return mask


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
    return table(
        ["n", "columns of Z", "sine: independent", "sine: dependent", "quadratic: independent", "quadratic: dependent"],
        rows,
    )


PARTS: dict[str, tuple[Callable[[], str], str]] = {
    "robust": (robust, "robust.md"),
    "shrinkage": (shrinkage, "shrinkage.md"),
    "lasso": (lasso, "lasso.md"),
    "regression": (regression, "regression.md"),
    "row_tests": (row_tests, "regression.md"),
}
"""Each table, and the page that it is written into."""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks estimators", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(PARTS)}; all unless named")
    chosen = parser.parse_args(arguments).tables or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        parser.error(f"no table {', '.join(unknown)}: there are {', '.join(PARTS)}")
    for name in chosen:
        print(f"measuring: {name} …", file=sys.stderr)
        measure, page = PARTS[name]
        with threadpool_limits(1):
            text = f"{measure()}\n\n*{machine()}*"
        print(text)
        write(PAGES / page, name, text)


def write(page: Path, name: str, text: str) -> None:
    """Put a table between the marks of its name on a page."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before = page.read_text(encoding="utf-8")
    after, count = re.subn(f"{begin}.*{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", before, flags=re.DOTALL)
    assert count == 1, f"{page.name} has no place for {name}"
    page.write_text(after, encoding="utf-8")
