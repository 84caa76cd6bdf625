"""Regressions of a variable on some of its predecessors, from the scatter where it has the digits, else from its root."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr

from ordag.arrays import Array
from ordag.linalg import triangle

Indices = NDArray[np.intp]


class Gains(NamedTuple):
    """By how much each predecessor would lower the residual sum of squares `rss`, as one more parent."""

    values: Array
    rss: float


class FromScatter:
    r"""From the scatter $G = LL^\top$, at a cost of $m |S|^2$ for parents S.

    With $G_{SS} = U^\top U$ and $B = U^{-\top} G_{S\cdot}$ the gain of k is
    $(G_{mk} - B_m^\top B_k)^2 / (G_{kk} - \|B_k\|^2)$.
    """

    def __init__(self, L: Array) -> None:
        # L Lᵀ from the routine for U Uᵀ: turn both the rows and the columns round.
        product, _ = lapack.dlauum(np.asfortranarray(L[::-1, ::-1]))
        self.G = np.ascontiguousarray((np.triu(product) + np.triu(product, 1).T)[::-1, ::-1])
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


Regressions: TypeAlias = FromScatter | FromRoot
