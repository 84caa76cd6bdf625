"""Backward elimination for one of very many variables: most predecessors go at once, and may come back."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from ordag.arrays import Array, Mask
from ordag.parents.elimination import Kept, eliminate
from ordag.parents.regressions import Indices, Regressions

SCREEN = 0.25
"""Predecessors whose statistic among all predecessors is below this share of the penalty go at once."""

SINGLY = 6
"""So many that are below the penalty go one by one."""


def screened_elimination(
    regressions: Regressions,
    m: int,
    r: Array,
    weight: float,
    penalty: float,
    allowed: Mask | None = None,
    required: Mask | None = None,
) -> Kept:
    r"""The elimination of `eliminate` for variable m from all its predecessors, with the weakest dropped in one go.

    r are the partial correlations of m with each predecessor given the others. They give the statistic of every single
    drop from the whole set, $-w \log(1 - r_j^2)$, with w the `weight`. Those far below the penalty are dropped together.
    Of the rest, while more than a few are below it, the weaker half of these goes in one go; then one goes at a time.
    What went wrongly, because it was weak only beside others that went too, comes back: while a predecessor outside would
    lower the residual sum of squares by g with $-w \log(1 - g / \mathrm{RSS})$ from the penalty on, the best is taken
    in, and the elimination goes on.

    Every single step lowers w log RSS + penalty · |S| for the parents S, so there is an end, where neither one more
    parent nor one fewer is better.
    """
    outside = np.ones(m, dtype=bool) if allowed is None else allowed
    stay = np.zeros(m, dtype=bool) if required is None else required
    parents: Indices = np.flatnonzero(outside & (r * r >= -math.expm1(-SCREEN * penalty / weight)) | stay)
    enough = -math.expm1(-penalty / weight)
    low = high = math.inf
    for _ in range(m + 1):
        parents, dropped, high = _dropped(regressions.root(m, parents), parents, weight, penalty, stay)
        gains, rss = regressions.gains(m, parents, enough)
        gains[~outside] = 0.0
        best = int(gains.argmax())
        share = float(gains[best]) / rss
        if share < enough:
            low = max(dropped, -weight * math.log1p(-share))
            break
        parents = np.union1d(parents, best)
    kept = np.zeros(m, dtype=bool)
    kept[parents] = True
    return Kept(kept, low, high)


def _dropped(U: Array, parents: Indices, weight: float, penalty: float, stay: Mask) -> tuple[Indices, float, float]:
    """What drops leave of the parents, the largest statistic of a drop, and the smallest of those left; U is their root,
    with that of the variable last."""
    largest = -math.inf
    while len(parents):
        k = len(parents)
        T, _ = lapack.dtrtri(U[:k, :k])
        rss = float(U[k, k]) ** 2
        statistics = weight * np.log1p((T @ U[:k, k]) ** 2 / np.einsum("ij,ij->i", T, T) / rss)
        statistics[stay[parents]] = math.inf
        weak = int((statistics < penalty).sum())
        if weak <= SINGLY:
            kept = eliminate(T, U[:k, k], rss, weight, penalty, np.zeros(k, dtype=bool), stay[parents])
            return parents[kept.parents], max(largest, kept.low), kept.high
        ranked = np.argsort(statistics, kind="stable")
        largest = max(largest, float(statistics[ranked[weak // 2 - 1]]))
        left = np.sort(ranked[weak // 2 :])
        U = np.triu(lapack.dgeqrf(U[:, np.append(left, k)])[0][: len(left) + 1])
        parents = parents[left]
    return parents, largest, math.inf
