"""Backward elimination for one variable: literally, or for one of very many with most of them dropped at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ordag.arrays import Array, Mask
from ordag.parents.regressions import Indices, Regressions

SCREEN = 0.25
"""Predecessors whose statistic among all predecessors is below this share of the penalty go at once."""

SINGLY = 6
"""So many that are below the penalty go one by one."""


class Kept(NamedTuple):
    """The parents that were kept, and for which penalties the elimination would have kept just these.

    It would for every penalty above `low`, the largest statistic of those that went, and up to `high`, the smallest
    of those that stayed.
    """

    parents: Mask
    low: float
    high: float


def masks(p: int, allowed: Mask | None, required: Mask | None) -> tuple[Mask, Mask]:
    """Those given; where nothing is known every predecessor is allowed and none required."""
    allowed = np.tri(p, k=-1, dtype=bool) if allowed is None else allowed
    return allowed, np.zeros((p, p), dtype=bool) if required is None else required


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


def screened_elimination(
    regressions: Regressions, m: int, r: Array, weight: float, penalty: float, allowed: Mask, stay: Mask
) -> Kept:
    r"""The elimination of `eliminate` for variable m from all its predecessors, with the weakest dropped in one go.

    r are the partial correlations of m with each predecessor given the others, so that dropping j alone has the statistic
    $-w \log(1 - r_j^2)$, with w the `weight`. A predecessor outside that would lower the residual sum of squares by g comes back
    if $-w \log(1 - g / \mathrm{RSS})$ is not below the penalty, the best first. Every step lowers w log RSS + penalty · |S| for the
    parents S, so there is an end, where neither one more parent nor one fewer is better (docs/parents.md, "Many variables").
    """
    parents: Indices = np.flatnonzero(allowed & (r * r >= -math.expm1(-SCREEN * penalty / weight)) | stay)
    enough = -math.expm1(-penalty / weight)
    low = high = math.inf
    for _ in range(m + 1):
        parents, dropped, high = _dropped(regressions.root(m, parents), parents, weight, penalty, stay)
        gains, rss = regressions.gains(m, parents, enough)
        gains[~allowed] = 0.0
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
