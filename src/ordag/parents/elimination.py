"""Backward elimination for one variable: literally, or for one of very many with most of them dropped at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr

from ordag.arrays import Array, Mask
from ordag.linalg import multiply, triangle
from ordag.order.factor import Factor

Indices = NDArray[np.intp]

SCREEN = 0.25
"""Predecessors whose statistic among all predecessors is below this share of the penalty go at once."""

BLOCK = 256
"""Columns of a scatter that are made at a time."""

SINGLY = 6
"""So many that are below the penalty go one by one."""


class Kept(NamedTuple):
    """The parents that were kept; any penalty above `low`, the largest statistic of those that went, and up to `high`, the
    smallest of those that stayed, would have kept just these; after `screened_elimination` others may have been left as well, as good."""

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


class Gains(NamedTuple):
    """By how much each predecessor would lower the residual sum of squares `rss`, as one more parent."""

    values: Array
    rss: float


class FromScatter:
    r"""From the scatter $G = LL^\top$ of the variables in `units`, at a cost of $m |S|^2$ for parents S.

    With $G_{SS} = U^\top U$ and $B = U^{-\top} G_{S\cdot}$ the gain of k is
    $(G_{mk} - B_m^\top B_k)^2 / (G_{kk} - \|B_k\|^2)$.
    """

    def __init__(self, factor: Factor, units: Array) -> None:
        p, L = len(factor), factor.lower
        G: Array = np.empty((p, p), order="F")
        for start in range(0, p, BLOCK):  # a block column below its diagonal, and the same as a block row
            stop = min(start + BLOCK, p)
            own = factor.L_columns(start, stop)
            multiply(own.T, own[:, : stop - start], G[start:, start:stop])
            if start:
                multiply(L[start:, :start], L[start:stop, :start].T, G[start:, start:stop], beta=1.0)
            G[start:, start:stop] /= units[start:, None] * units[start:stop]
            G[start:stop, stop:] = G[stop:, start:stop].T
        self.G = G.T  # symmetric, and by rows
        self.diagonal = self.G.diagonal()

    def root(self, m: int, parents: Indices) -> Array:
        """The triangular factor of the parents and m, in that order; the square of its last entry is the RSS of m."""
        columns = np.append(parents, m)
        U: Array
        U, info = lapack.dpotrf(self.G[columns[:, None], columns])
        assert info == 0, "a scatter without digits was let through"
        return U

    def gains(self, m: int, parents: Indices, share: float) -> Gains:
        """The gains of all predecessors. Those below `share` of the RSS may be upper bounds that are below it too."""
        G, rss = self.G, float(self.G[m, m])
        products, left = G[m, :m], self.diagonal[:m]
        if len(parents):
            U, _ = lapack.dpotrf(G[parents[:, None], parents])
            B, _ = lapack.dtrtrs(U, G[parents, : m + 1], trans=1)
            own, B = B[:, m], B[:, :m]
            products = products - own @ B
            left = left - np.einsum("ij,ij->j", B, B)
            rss -= float(own @ own)
        values: Array = np.divide(products * products, left, out=np.zeros(m), where=left > 0.0)
        values[parents] = 0.0
        return Gains(values, rss)


class FromRoot:
    r"""From the rows of L, the variables in orthogonal coordinates, at a cost of $m^2$.

    With e the residual of m on its parents and $e_k$ that of k, the gain of k is $(e \cdot x_k)^2 / \|e_k\|^2$. Only those
    are worked out for which the bound with $\|e_k\|^{-2} \le \sum_{i<m} W_{ik}^2$ (all other predecessors in the place of the
    parents) is not below the share asked about.
    """

    def __init__(self, L: Array, W: Array) -> None:
        self.L, self.W = L, W

    def root(self, m: int, parents: Indices) -> Array:
        columns = self.L[np.append(parents, m), : m + 1].T
        return triangle(columns)

    def gains(self, m: int, parents: Indices, share: float) -> Gains:
        L, e = self.L[:m, :m], self.L[m, :m].copy()
        Q: Array = np.zeros((m, 0))
        if len(parents):
            Q = np.asarray(qr(L[parents].T, mode="economic", check_finite=False)[0], dtype=np.float64)
            for _ in range(2):
                e -= Q @ (Q.T @ e)
        rss = float(e @ e + self.L[m, m] ** 2)
        squares = np.square(L @ e)
        values: Array = squares * np.einsum("ij,ij->j", self.W[:m, :m], self.W[:m, :m])
        values[parents] = -1.0
        near = np.flatnonzero(values >= share * rss)
        if len(near):
            left: Array = L[near]
            for _ in range(2):
                left -= (left @ Q) @ Q.T
            values[near] = squares[near] / np.einsum("ij,ij->i", left, left)
        values[parents] = 0.0
        return Gains(values, rss)


def screened_elimination(
    regressions: FromScatter | FromRoot, m: int, r: Array, weight: float, penalty: float, allowed: Mask, stay: Mask
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
