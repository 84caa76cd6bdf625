"""Backward elimination of parents, and the rule "bic", which eliminates by the Bayesian information criterion."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import inverse, triangle, wishart_root
from ordag.common.words import counted
from ordag.parents.selection import ParentRule, Question, Selection, edges_of

MOST_DRAWS = 20
"""Tables drawn for the expected number of false edges; fewer with more than 22 variables, one from 71 on."""


class Kept(NamedTuple):
    """The parents kept by any penalty above `low`, the largest statistic of those dropped, and up to `high`, the smallest of those left.

    After `screened_elimination` another set may be as good.
    """

    parents: Mask
    low: float
    high: float


def eliminate(T: Array, target: Array, rss: float, weight: float, penalty: float, out: Mask, stay: Mask) -> Kept:
    """Start from all predecessors and drop the weakest as long as its statistic is below the penalty.

    With T the inverse root of the predecessors (their inverse Gram matrix is T Tᵀ) and `target` the variable in the
    coordinates of that root, the coefficients are β = T target. Dropping j raises the residual sum of squares `rss` to
    rss + β_j²/d_j with d_j = ‖T_j‖², and the statistic is weight · log(1 + β_j²/(d_j rss)).
    Those in `out` are dropped beforehand, those in `stay` never.

    Without variable j the inverse root is what is left of the other rows of T orthogonal to T_j: Gram–Schmidt, which
    keeps the digits that a downdate of T Tᵀ would lose. A drop costs m² for m predecessors.
    """
    left = np.arange(len(T))
    forced = int(out.sum())
    if forced:
        left = np.concatenate([left[out], left[~out]])
    T = np.array(T[left], order="C")
    free = ~stay[left]
    low, high = -math.inf, math.inf
    while len(left):
        beta = T @ target
        d = np.einsum("ij,ij->i", T, T)
        rise = beta * beta / d
        if forced:
            j, forced = 0, forced - 1
        else:
            j = int(np.where(free, rise, math.inf).argmin())
            statistic = weight * math.log1p(rise[j] / rss) if free[j] else math.inf
            if statistic >= penalty:
                high = statistic
                break
            low = max(low, statistic)
        rss += float(rise[j])
        direction = T[j] / math.sqrt(d[j])
        others = np.arange(len(left)) != j
        left, free, T = left[others], free[others], T[others]
        T -= np.multiply.outer(T @ direction, direction)
    kept = np.zeros(len(out), dtype=bool)
    kept[left] = True
    return Kept(kept, low, high)


def backward_elimination(L: Array, W: Array, n: int, allowed: Mask | None = None, required: Mask | None = None) -> Mask:
    """Start every variable from all predecessors and drop the weakest as long as that lowers BIC.

    Dropping j raises the residual sum of squares RSS to RSS + β_j²/d_j, with β the coefficients and d_j the j-th
    diagonal entry of the inverse Gram matrix, and lowers BIC when n log(1 + β_j²/(d_j RSS)) < log n.
    The result is at [later, earlier], and so are the masks: predecessors not `allowed` are dropped beforehand, `required` ones never.
    """
    p = len(L)
    allowed = np.tri(p, k=-1, dtype=bool) if allowed is None else allowed
    required = np.zeros((p, p), dtype=bool) if required is None else required
    kept = np.zeros((p, p), dtype=bool)
    for m in range(1, p):
        T, rss = W[:m, :m].T, float(L[m, m]) ** 2
        kept[m, :m] = eliminate(T, L[m, :m], rss, n, math.log(n), ~allowed[m, :m], required[m, :m]).parents
    return kept


def expected_false(L: Array, kept: Mask, n: int, allowed: Mask | None = None, required: Mask | None = None) -> float:
    """The number of false edges that elimination adds to a true graph like the one kept: the mean over tables drawn from its model.

    Elimination runs on them along the same order, and what it keeps beyond the graph is counted (docs/parents.md explains why no
    formula comes close). The random numbers are always the same.
    """
    p = len(L)
    root = _model_root(L, kept, n)
    random = np.random.default_rng(0)
    draws = max(1, min(MOST_DRAWS, 10_000 // p**2))
    added = 0
    for _ in range(draws):
        drawn = triangle(wishart_root(n, p, random) @ root).T
        found = backward_elimination(drawn, inverse(drawn), n, allowed, required)
        added += int((found & ~kept).sum())
    return added / draws


def _model_root(L: Array, kept: Mask, n: int) -> Array:
    """Return the upper root of the covariance of the model fitted along the order: T with rows scaled by the error deviations."""
    p = len(L)
    B = np.zeros((p, p))
    deviation = np.empty(p)
    for m in range(p):
        parents = np.flatnonzero(kept[m])
        U = triangle(L[np.append(parents, m), : m + 1].T)
        deviation[m] = U[-1, -1] / math.sqrt(max(n - 1 - len(parents), 1))
        B[parents, m] = solve_triangular(U[:-1, :-1], U[:-1, -1], check_finite=False) if len(parents) else 0.0
    effects: Array = inverse(np.asfortranarray((np.eye(p) - B).T)).T
    return deviation[:, None] * effects


def choose(question: Question) -> Selection:
    L, W, n = question.ordering.L, question.ordering.W, question.ordering.n
    L /= question.units[:, None]
    W *= question.units
    kept = backward_elimination(L, W, n, question.allowed, question.required)
    expected = partial(expected_false, L, kept, n, question.allowed, question.required)
    grounds = f"along this order (BIC at {counted(n, 'row')}, {counted(question.pairs, 'pair')})"
    return question.answer(edges_of(kept), expected, grounds)


BIC = ParentRule("bic", "BIC", "those that backward elimination by BIC keeps; no level to set", choose)
