"""Residual sums of squares from a Gram matrix: what `Regressions` gives, for data whose conditioning allows it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordag.arrays import Array
from ordag.bits import members
from ordag.linalg import lengths

WELL_CONDITIONED = 1e-6
"""The least eigenvalue of a correlation matrix from which every residual variance keeps eight digits and more."""

MEMORY = 2**26
"""Bytes of factors that are kept, the least recently used given up first."""


def least_eigenvalue(W: Array, scale: Array) -> float:
    r"""A lower bound on the least eigenvalue of the correlation matrix C: $1/\operatorname{tr} C^{-1}$.

    The variance of any variable given any others is at least that share of its own. W is the inverse factor of the scatter
    and `scale` the lengths of the columns, so that $C^{-1} = D W^\top W D$ with D = diag(scale).
    """
    return 1.0 / float(((lengths(W) * scale) ** 2).sum())


class GramRegressions:
    r"""Residual sums of squares (RSS) of every variable on any set of others, from the correlation matrix C.

    For a set P of m variables with $C_{PP} = LL^\top$ and $Z = L^{-1} C_{P\cdot}$, the covariances given P are
    $C - Z^\top Z$: m × p numbers serve all variables, where `Regressions` keeps p × p. Only the logarithms of RSS / n
    are given out. Sets of variables are Python ints, as in `Regressions`.
    """

    def __init__(self, C: Array, squares: Array, n: int) -> None:
        self.n = n
        self.p = len(C)
        self._C = C
        self._scale: list[float] = np.log(squares / n).tolist()
        self._given: dict[int, _Given] = {}
        self._bare = _Given((), np.zeros((0, self.p)), np.ones(self.p))
        self._capacity = max(64, MEMORY // (40 * self.p + 512))

    def log_variance(self, node: int, parents: int) -> float:
        """log(RSS / n) of `node` on `parents`."""
        return math.log(self._on(parents).left[node]) + self._scale[node]

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        """Who would bring log(RSS / n) below `limit` as one more parent, from the best on, and to what."""
        given = self._on(parents)
        partial = self._C[node] - given.Z[:, node] @ given.Z if parents else self._C[node].copy()
        own = float(given.left[node])
        partial[node] = 0.0
        partial *= partial
        partial /= given.left
        now = math.log(own) + self._scale[node]
        if limit > now:  # who explains nothing is able too, but for the parents and the node itself
            open_ = given.left < math.inf
            open_[node] = False
            able = open_.nonzero()[0]
        else:
            able = (partial > -own * math.expm1(limit - now)).nonzero()[0]
        if not len(able):
            return [], []
        left = own - partial[able]
        rank = left.argsort(kind="stable")
        return able[rank].tolist(), (np.log(left[rank]) + self._scale[node]).tolist()

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        r"""The parents, and log(RSS / n) of `node` without each of them."""
        given = self._on(parents)
        T, _ = lapack.dtrtri(given.root, lower=1)
        beta = given.Z[:, node] @ T
        rise = beta * beta / np.einsum("ij,ij->j", T, T)
        return np.asarray(given.nodes), np.log(given.left[node] + rise) + self._scale[node]

    def _on(self, parents: int) -> _Given:
        if not parents:
            return self._bare
        given = self._given.pop(parents, None) or self._make(parents)
        self._given[parents] = given
        if len(self._given) > self._capacity:
            del self._given[next(iter(self._given))]
        return given

    def _make(self, parents: int) -> _Given:
        nodes = members(parents)
        for k in nodes:
            smaller = self._bare if len(nodes) == 1 else self._given.get(parents & ~(1 << k))
            if smaller is not None:
                return self._extend(smaller, k)
        given = self._bare
        for k in nodes:  # a few small products: a factorisation by LAPACK may wait for threads longer than it works
            given = self._extend(given, k)
        return given

    def _extend(self, given: _Given, k: int) -> _Given:
        row = self._C[k] - given.Z[:, k] @ given.Z
        row /= math.sqrt(given.left[k])
        left = given.left - row * row
        left[k] = math.inf
        m = len(given.nodes)
        Z = np.empty((m + 1, self.p))
        Z[:m] = given.Z
        Z[m] = row
        return _Given((*given.nodes, k), Z, left)


class _Given:
    """What is left of every variable beside a set of parents (infinite at the parents themselves, who explain nothing more)."""

    __slots__ = ("Z", "left", "nodes")

    def __init__(self, nodes: tuple[int, ...], Z: Array, left: Array) -> None:
        self.nodes = nodes
        self.Z = Z
        self.left = left

    @property
    def root(self) -> Array:
        return np.asfortranarray(self.Z[:, list(self.nodes)].T)
