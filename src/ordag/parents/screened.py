"""Backward elimination for one of very many variables: most predecessors go at once, and may come back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordag.arrays import Array, Mask
from ordag.parents.elimination import Kept, eliminate

SCREEN = 0.25
"""Predecessors whose statistic among all predecessors is below this share of the penalty go at once."""

SINGLY = 6
"""So many that are below the penalty go one by one."""


def screened_elimination(
    G: Array, m: int, r: Array, weight: float, penalty: float, may: Mask | None = None, must: Mask | None = None
) -> Kept:
    r"""The elimination of `eliminate` for variable m from all its predecessors, with the weakest dropped in one go.

    G is the scatter in the order, r the partial correlations of m with each predecessor given the others. These give the
    statistic of every single drop from the whole set, $-w \log(1 - r_j^2)$, with w the `weight`. Those far below the
    penalty are dropped together, the rest one by one. What went wrongly, because it was weak only beside others that
    went too, comes back: while a predecessor outside would lower the residual sum of squares by g with
    $-w \log(1 - g / \mathrm{RSS})$ from the penalty on, the best is taken in and the elimination goes on.
    With S the parents, $G_{SS} = U^\top U$ and $B = U^{-\top} G_{S\cdot}$, the gains of all predecessors at once are
    $g_k = (G_{mk} - B_m^\top B_k)^2 / (G_{kk} - \|B_k\|^2)$.

    Every step lowers w log RSS + penalty · |S|, so there is an end, where neither one more parent nor one fewer is
    better. The cost is m |S|² instead of the m³ of dropping one by one.
    """
    outside = np.ones(m, dtype=bool) if may is None else may.copy()
    least = -math.expm1(-SCREEN * penalty / weight)
    chosen = outside & (r * r >= least)
    stay = np.zeros(m, dtype=bool) if must is None else must
    parents: NDArray[np.intp] = np.flatnonzero(chosen | stay)
    to_gain = -math.expm1(-penalty / weight)
    diagonal = G.diagonal()[:m]
    low = high = math.inf
    for _ in range(m + 1):
        parents, dropped, high = _dropped(G, m, parents, weight, penalty, stay)
        gains, rss = _gains(G, m, parents, diagonal)
        gains[~outside] = 0.0
        best = int(gains.argmax())
        share = float(gains[best]) / rss
        if share < to_gain:
            low = max(dropped, -weight * math.log1p(-share))
            break
        parents = np.union1d(parents, best)
    kept = np.zeros(m, dtype=bool)
    kept[parents] = True
    return Kept(kept, low, high)


def _dropped(
    G: Array, m: int, parents: NDArray[np.intp], weight: float, penalty: float, stay: Mask
) -> tuple[NDArray[np.intp], float, float]:
    """What drops leave of these parents, the largest statistic of a drop, and the smallest of those left.

    While more than a few are below the penalty, the weaker half of them goes in one go; then one goes at a time.
    """
    largest = -math.inf
    while len(parents):
        k = len(parents)
        columns = np.append(parents, m)
        U, info = lapack.dpotrf(G[columns[:, None], columns])
        assert info == 0, "a scatter without digits was let through"
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
        parents = np.sort(parents[ranked[weak // 2 :]])
    return parents, largest, math.inf


def _gains(G: Array, m: int, parents: NDArray[np.intp], diagonal: Array) -> tuple[Array, float]:
    """By how much each predecessor of m would lower its residual sum of squares beside these parents; and that sum."""
    rss = float(G[m, m])
    products, left = G[m, :m], diagonal
    if len(parents):
        U, _ = lapack.dpotrf(G[parents[:, None], parents])
        B, _ = lapack.dtrtrs(U, G[parents, : m + 1], trans=1)
        own = B[:, m]
        B = B[:, :m]
        products = products - own @ B
        left = diagonal - np.einsum("ij,ij->j", B, B)
        rss -= float(own @ own)
    gains: Array = np.divide(products * products, left, out=np.zeros(m), where=left > 0.0)
    gains[parents] = 0.0
    return gains, rss
