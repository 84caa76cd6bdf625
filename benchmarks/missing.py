"""Missing values: wrong entries by what is done with incomplete rows, what the rows are taken to count for, calibration, and a large table.

`python -m benchmarks missing` writes the section of docs/benchmarks.md. ORDAG_TABLES is the number of tables of each kind.
"""

from __future__ import annotations

import os
import resource
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import ordag
from ordag.errors import OrdagError
from ordag.model.sem import LinearSEM

TABLES = int(os.environ.get("ORDAG_TABLES", "6"))
SIZES = ((6, 200), (12, 500), (20, 500))
KINDS = ("equal", "×20", "standardised")
MECHANISMS = {"completely at random": "mcar", "by an observed column": "mar", "by the value itself": "mnar"}
SHARES = (0.1, 0.2, 0.3, 0.4)
BIG = 400_000, 50


def drawn(kind: str, p: int, n: int, table: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table of a random graph with three neighbours on average, and its adjacency; columns in random order."""
    random = np.random.default_rng([71, KINDS.index(kind), p, n, table])
    A = np.triu(random.random((p, p)) < 3.0 / (p - 1), 1)
    B = np.where(A, random.uniform(0.4, 1.2, (p, p)) * random.choice([-1.0, 1.0], (p, p)), 0.0)
    omega = np.exp(random.uniform(0.0, np.log(20.0), p)) if kind == "×20" else np.ones(p)
    X = random.normal(size=(n, p)) * np.sqrt(omega) @ np.linalg.inv(np.eye(p) - B)
    order = random.permutation(p)
    X, A = X[:, order], A[np.ix_(order, order)]
    return (X - X.mean(axis=0)) / X.std(axis=0) if kind == "standardised" else X, A


def with_holes(X: np.ndarray, share: float, mechanism: str, seed: int) -> np.ndarray:
    """Return a copy without some values; rows without any value are left out."""
    random = np.random.default_rng([72, seed])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chance = np.full(X.shape, share)
    if mechanism != "mcar":
        chance = np.minimum(
            2.0 * share / (1.0 + np.exp(-2.0 * (Z[:, [0]] + 0.0 * Z if mechanism == "mar" else Z))), 0.95
        )
    gone = random.random(X.shape) < chance
    if mechanism == "mar":
        gone[:, 0] = False
    H = np.where(gone, np.nan, X)
    return H[~gone.all(axis=1)]


def ways(H: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Yield what is done with a table, and what is learned from then."""
    gone = np.isnan(H)
    moments = ordag.Moments.from_rows(H, missing="em")
    S, n = moments.covariance(), len(H)
    present = (~gone).astype(float)
    pairs = present.T @ present
    off = ~np.eye(len(S), dtype=bool)

    def counting(worth: float) -> ordag.Moments:
        return ordag.Moments.from_covariance(S, max(int(worth), len(S) + 3))

    yield "EM, triples (Ordag)", moments
    yield "EM, pairs", counting(pairs[off].mean())
    yield "EM, least pair", counting(pairs[off].min())
    yield "EM, share of values", counting(n * (1.0 - gone.mean()))
    yield "EM, as complete", counting(n)
    yield "rows dropped", H[~gone.any(axis=1)]
    yield "means", np.where(gone, np.nanmean(H, axis=0), H)
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    yield "IterativeImputer", IterativeImputer(max_iter=5, random_state=0).fit_transform(H)


def wrong_entries() -> dict[tuple[str, float], dict[str, list[int]]]:
    """Count wrong entries of the adjacency, by mechanism and share of holes."""
    found: dict[tuple[str, float], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for table in range(TABLES):
        for p, n in SIZES:
            for kind in KINDS:
                X, A = drawn(kind, p, n, table)
                for name, mechanism in MECHANISMS.items():
                    for share in SHARES if mechanism == "mcar" else (0.1, 0.3):
                        for way, data in ways(with_holes(X, share, mechanism, table)):
                            try:
                                graph = ordag.learn(data, method="pooled", graph="best", draws=0).graph
                            except OrdagError:
                                found[name, share][way].append(-1)
                                continue
                            found[name, share][way].append(int((graph.adjacency != A).sum()))
                complete = ordag.learn(X, method="pooled", graph="best", draws=0).graph
                found["no holes", 0.0]["complete"].append(int((complete.adjacency != A).sum()))
    return found


def calibration() -> dict[float, list[tuple[float, bool]]]:
    """Pair every probability of an arrow with whether it is there, by share of holes."""
    said: dict[float, list[tuple[float, bool]]] = defaultdict(list)
    for table in range(100, 100 + TABLES):
        for kind in KINDS:
            X, A = drawn(kind, 10, 400, table)
            for share in (0.0, 0.1, 0.3):
                found = ordag.learn(with_holes(X, share, "mcar", table)).probabilities
                assert found is not None
                said[share] += [(float(found.arrows[i, j]), bool(A[i, j])) for i, j in np.argwhere(found.arrows > 0.05)]
    return said


def large() -> tuple[float, float, float, float]:
    """Return CPU seconds for complete rows and for the same with 5 % holes, and the memory that each took beside the table, in MB."""
    n, p = BIG
    random = np.random.default_rng(0)
    sem = LinearSEM(np.triu(random.normal(size=(p, p)) * (random.random((p, p)) < 0.1), 1) * 0.5, np.ones(p))
    mixing, step = np.linalg.inv(np.eye(p) - sem.B), 100_000
    X = np.empty((n, p))
    for start in range(0, n, step):
        X[start : start + step] = random.normal(size=(step, p)) @ mixing
    times, peaks = [], []
    for holed in (False, True):
        if holed:
            for start in range(0, n, step):
                X[start : start + step][random.random((step, p)) < 0.05] = np.nan
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        ordag.Moments.scan(X)
        times.append(time.process_time() - start)
        peaks.append((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0)
    return times[0], times[1], peaks[0], peaks[1]


def run() -> str:
    """Measure everything, and write it down."""
    warnings.simplefilter("ignore")
    ordag.Moments.from_rows(with_holes(np.random.default_rng(0).normal(size=(50, 3)), 0.1, "mcar", 0), missing="em")
    found = wrong_entries()
    names = list(next(iter(found.values())))
    lines = [
        "## Missing values",
        "",
        f"Wrong entries of the graph of the best score, mean of {TABLES} tables of each of three sizes (6 variables and 200 rows, 12 and "
        "500, 20 and 500) and three kinds (equal error variances, up to 20 times apart, standardised). The first five differ in what the "
        "rows are taken to count for. A number in brackets is the share of tables that could not be learned from.",
        "",
        f"| holes | share | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for (mechanism, share), by in found.items():
        if mechanism != "no holes":
            lines.append(f"| {mechanism} | {share:.0%} | {' | '.join(_cell(by[name]) for name in names)} |")
    lines += ["", f"Without holes: {np.mean(found['no holes', 0.0]['complete']):.1f}.", ""]
    edges = (0.05, 0.3, 0.5, 0.7, 0.9, 0.97, 1.001)
    lines += [
        f"Probabilities of arrows, said and was in percent (number), {3 * TABLES} other tables of 10 variables and 400 rows, holes "
        "completely at random:",
        "",
        f"| holes | {' | '.join(f'{a:.2f} to {min(b, 1.0):.2f}' for a, b in pairwise(edges))} |",
        f"|---|{'---|' * (len(edges) - 1)}",
    ]
    for share, pairs in calibration().items():
        cells = []
        for a, b in pairwise(edges):
            inside = [(said, was) for said, was in pairs if a <= said < b]
            said, was = (np.mean(one) for one in zip(*inside, strict=True)) if inside else (np.nan, np.nan)
            cells.append(f"{100 * said:.0f} / {100 * was:.0f} ({len(inside)})")
        lines.append(f"| {share:.0%} | {' | '.join(cells)} |")
    complete, holed, memory, more = large()
    n, p = BIG
    lines += [
        "",
        f"{n:,} rows of {p} columns in memory, moments alone: complete {complete:.1f} CPU s and {memory:.0f} MB beside the table; with 5 % "
        f"holes at random (nine rows of ten are incomplete, nearly each with a pattern of its own) {holed:.1f} s and {more:.0f} MB more.",
    ]
    return "\n".join(lines)


def _cell(counts: list[int]) -> str:
    learned = [count for count in counts if count >= 0]
    failed = 1.0 - len(learned) / len(counts)
    return (f"{np.mean(learned):.1f}" if learned else "–") + (f" ({failed:.0%})" if failed else "")
