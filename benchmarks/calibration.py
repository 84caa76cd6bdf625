"""Are the numbers that speak of trust right as often as they say? Bootstrap support, edge tests, direction tests."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import stdtr
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import table
from ordag.bootstrapping import bootstrap
from ordag.common.arrays import Array, Mask
from ordag.common.linalg import inverse, triangle
from ordag.parents.tests import TESTS, p_values, partial_correlations

DESIGNS: list[tuple[str, str, int, dict[str, Any]]] = [
    ("Erdős–Rényi, equal variances, n = 200", "erdos-renyi", 200, {}),
    ("Erdős–Rényi, equal variances, n = 500", "erdos-renyi", 500, {}),
    ("the same with weak arrows (0.1 to 0.6), n = 200", "erdos-renyi", 200, {"weights": (0.1, 0.6)}),
    ("heterogeneous (dense), n = 500", "heterogeneous", 500, {}),
]
MODELS, REPLICATES, P = 60, 200, 10
BINS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0 + 1e-9]
ALPHA = 0.05


def run() -> str:
    with threadpool_limits(1):
        parts = [_support(), _edge_tests(), _direction_tests()]
    return "## Calibration\n\n" + "\n\n".join(parts)


def models(design: str, count: int, **options: Any) -> list[tuple[int, ordag.LinearSEM]]:
    """The first random models of a design that satisfy the condition of the theorem, with their seeds."""
    found: list[tuple[int, ordag.LinearSEM]] = []
    seed = 0
    while len(found) < count:
        sem = ordag.simulate(design, P, 1, seed=seed, **options).sem
        if ordag.identifiability(sem).holds:
            found.append((seed, sem))
        seed += 1
    return found


def _support() -> str:
    reliability, summary = [], []
    for title, design, n, options in DESIGNS:
        support: list[Array] = []
        right: list[Mask] = []
        learned: list[Mask] = []
        for seed, sem in models(design, MODELS, **options):
            result = bootstrap(sem.sample(n, seed=10_000 + seed), REPLICATES, seed=seed, workers=1)
            off = ~np.eye(P, dtype=bool)
            support.append(result.edge_support[off])
            right.append(sem.dag.adjacency[off])
            learned.append(result.fit.graph.adjacency[off])
        shares, truth, own = np.concatenate(support), np.concatenate(right), np.concatenate(learned)
        cells = []
        for low, high in pairwise(BINS):
            within = (shares >= low) & (shares < high)
            cells.append(f"{_percent(truth[within])} of {int(within.sum())}")
        reliability.append([title, *cells])
        strong = shares >= 0.9
        summary.append([title, _percent(truth[own]), _percent(truth[strong]), _percent(strong[truth])])
    heads = [f"{low:g}–{min(high, 1):g}" for low, high in pairwise(BINS)]
    return f"""### Bootstrap support

{MODELS} random models with p = {P} of each design, all of which satisfy the theorem's condition; {REPLICATES} replicates, level 0.01.
How many of the arrows are in the true graph, by their support:

{table(["design", *heads], reliability)}

{table(["design", "right, of all arrows learned", "right, of support ≥ 0.9", "true arrows with support ≥ 0.9"], summary)}"""


def _edge_tests() -> str:
    n, p, samples = 200, 10, 1500
    rejections: dict[tuple[str, float], list[float]] = {(name, a): [] for name in TESTS for a in (0.01, 0.05)}
    nulls = 0
    for seed in range(samples):
        sem, X = ordag.simulate("erdos-renyi", p, n, seed=seed)
        order = np.array(sem.order)
        L = triangle((X - X.mean(axis=0))[:, order]).T
        r = partial_correlations(inverse(np.asfortranarray(L)))
        null = np.tril(~sem.dag.adjacency[np.ix_(order, order)].T, -1)
        nulls += int(null.sum())
        for name, test in TESTS.items():
            values = p_values(r, n, test)[null]
            for a in (0.01, 0.05):
                rejections[name, a].append(float((values <= a).sum()))
    rows = []
    for name in TESTS:
        cells = []
        for a in (0.01, 0.05):
            counts = np.array(rejections[name, a])
            error = counts.std(ddof=1) * np.sqrt(samples) / nulls
            cells.append(f"{counts.sum() / nulls:.4f} ± {error:.4f}")
        rows.append([name, *cells])
    return f"""### Edge tests under the true order

{samples} Erdős–Rényi models with p = {p}, n = {n}: the share of the {nulls:,} pairs without an arrow for which the test finds one (± one
Monte-Carlo standard error).

{table(["test", "level 0.01", "level 0.05"], rows)}"""


def _direction_tests() -> str:
    n, given, samples = 100, 3, 10_000
    random = np.random.default_rng(1)
    rows = []
    for candidates in (2, 5, 10):
        # Given S the candidates have variance 1 and correlation 1/2; the residual scatter is Wishart with n − 1 − |S|.
        mixing = np.linalg.cholesky(0.5 * np.eye(candidates) + 0.5)
        rows_left = n - 1 - given
        Z = random.standard_normal((samples, rows_left, candidates)) @ mixing.T
        S = Z.transpose(0, 2, 1) @ Z
        v = np.einsum("sjj->sj", S)
        ranks = np.argsort(v, axis=1)
        pick = np.arange(samples)
        other = np.where(ranks[:, 0] == 0, 1, 0)  # a candidate that was fixed beforehand
        pairs = {
            "given pair": (np.zeros(samples, int), np.ones(samples, int)),
            "chosen, runner-up": (ranks[:, 0], ranks[:, 1]),
            "chosen, another": (ranks[:, 0], other),
            "chosen, last": (ranks[:, 0], ranks[:, -1]),
        }
        cells: list[object] = [candidates]
        for a, b in pairs.values():
            cells.append(f"{(_direction(S, v, a, b, pick, n - given - 2.0) <= ALPHA).mean():.3f}")
        one_sided = _direction(S, v, ranks[:, 0], other, pick, n - given - 2.0) / 2
        cells.append(f"{(one_sided <= ALPHA).mean():.3f}")
        rows.append(cells)
    head = ["candidates", "given pair", "chosen and runner-up", "chosen and a given other", "chosen and the last"]
    return f"""### Direction tests

Candidates with equal variances given a set S of {given}, correlation 1/2, n = {n}, {samples:,} samples: how often the two-sided p-value is
at most {ALPHA}. The last column is the one-sided p-value of the chosen one against a given other.

{table([*head, "one-sided"], rows)}"""


def _direction(S: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray, s: np.ndarray, d: float) -> np.ndarray:
    """Two-sided Pitman–Morgan p-values, written out."""
    t = np.abs(v[s, b] - v[s, a]) * np.sqrt(d / (4 * (v[s, a] * v[s, b] - S[s, a, b] ** 2)))
    return np.asarray(2 * stdtr(d, -t))


def _percent(flags: np.ndarray) -> str:
    return f"{100 * flags.mean():.1f} %" if len(flags) else "–"
