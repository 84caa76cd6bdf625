"""Moments in, residual variances of any variable on any others out: from a Gram matrix where that has the digits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.bits import members
from ordag.data.moments import Moments
from ordag.learners.gram import WELL_CONDITIONED, GramRegressions, least_eigenvalue
from ordag.learners.pooled.trees import LogVariances
from ordag.learners.regressions import Regressions
from ordag.linalg import lengths


def log_variances(moments: Moments, W: Array) -> LogVariances:
    """Fast where every residual variance keeps eight digits, from the root of the scatter where not. W is the inverse of
    Rᵀ, which is a lower triangle here."""
    scale = lengths(moments.R)
    if least_eigenvalue(W, scale) < WELL_CONDITIONED:
        return RootRegressions(moments)
    columns = moments.R / scale
    C = np.ascontiguousarray(columns.T @ columns)
    np.fill_diagonal(C, 1.0)
    return GramRegressions(C, scale**2, moments.n)


class RootRegressions:
    """The same as `GramRegressions` from R, by orthogonal transformations."""

    def __init__(self, moments: Moments) -> None:
        self.n, self.p = moments.n, moments.p
        self._regressions = Regressions(moments.R, moments.n)

    def log_variance(self, node: int, parents: int) -> float:
        return math.log(self._regressions.rss(node, parents) / self.n)

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        values = np.log(self._regressions.rss_adding(node, parents) / self.n)
        values[[node, *members(parents)]] = np.inf
        able = np.flatnonzero(values < limit)
        best = able[values[able].argsort(kind="stable")]
        return best.tolist(), values[best].tolist()

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        nodes = np.array(members(parents))
        return nodes, np.log(self._regressions.rss_dropping(node, parents)[nodes] / self.n)
