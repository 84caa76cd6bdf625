"""Log residual variances of any variable on any others: from the correlation matrix where it is precise enough, else from R."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordag.common.arrays import Array
from ordag.common.bits import members
from ordag.common.linalg import EPSILON, inverse, lengths
from ordag.data.equations import Equations
from ordag.data.moments import Moments
from ordag.learners.regressions import Factors, Regressions

WELL_CONDITIONED = 1e-6
"""The least eigenvalue of a correlation matrix from which every residual variance has at least eight digits."""

SEARCHABLE = 1e-10
"""The least eigenvalue from which four digits are left, enough for a search whose results are scored again."""

LARGE = 500
"""Variables beyond which four digits must do for the scores as well: orthogonal transformations would take hours."""

ROWS_PER_PARENT = 4
"""Rows for each parent, where there are too few rows for regressions on all variables."""

LEAST_SHARE = 1e-14
"""The share of its own variance below which a residual variance has no digits."""

POWERS = 20
"""Power iterations for the largest eigenvalue of a matrix."""

MEMORY = 2**26
"""Bytes of cached factors; the least recently used are dropped first."""


class LogVariances(Protocol):
    """log(RSS / n) of a variable on sets of others, which are Python ints with bit k for variable k."""

    n: int
    p: int
    most: int

    def log_variance(self, node: int, parents: int) -> float:
        """Return log(RSS / n) of `node` on `parents`."""

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        """Return the variables that bring log(RSS / n) below `limit` as one more parent, best first, and its value with each.

        None beside `most` parents.
        """

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        """Return the parents, and log(RSS / n) of `node` without each of them."""

    def correlations(self) -> dict[str, Any]:
        """Return the arguments of `OrderSearch`: C, scale, most, alone and, where C has too few digits, root."""


def log_variances(moments: Moments, W: Array | None) -> LogVariances:
    """Return log variances from the correlations where every one of them has eight digits, else from the root of the scatter.

    W is the lower triangular inverse of Rᵀ; None where there are too few rows for it: sets of parents are small then, and no
    parent is nearly collinear with the others.
    """
    scale = lengths(moments.R)
    least = 1.0 if W is None else least_eigenvalue(W, scale)
    if least < (WELL_CONDITIONED if moments.p <= LARGE else SEARCHABLE):
        return RootRegressions(moments, searchable=least >= SEARCHABLE)
    columns = moments.R / scale
    C = np.ascontiguousarray(columns.T @ columns)
    np.fill_diagonal(C, 1.0)
    return GramRegressions(C, scale**2, moments.n, None if W is not None else max(moments.n // ROWS_PER_PARENT, 1))


def own_log_variances(equations: Equations, few: int) -> OwnVariances:
    """Return log variances of each variable in the moments of its own equation. few: rows below which sets of parents are small."""
    parts: list[LogVariances] = []
    for one in equations.distinct:
        if (np.abs(one.R.diagonal()) > EPSILON * lengths(one.R)).all():
            parts.append(log_variances(one, None if one.n < few else inverse(np.asfortranarray(one.R.T))))
        else:
            parts.append(RootRegressions(one))
    if any(one.correlations().get("root") is not None for one in parts):  # one of them needs it, so all have it
        parts = [RootRegressions(one) for one in equations.distinct]
    return OwnVariances(parts, equations.which)


def least_eigenvalue(W: Array, scale: Array) -> float:
    r"""Return a lower bound on the least eigenvalue of the correlation matrix C, $1/\operatorname{tr} C^{-1}$; an estimate if p is large.

    The variance of any variable given any others is at least that share of its own. W is the inverse factor of the scatter
    and `scale` the lengths of the columns, so that $C^{-1} = D W^\top W D$ with D = diag(scale). The trace of many variables is far
    above the largest eigenvalue of $C^{-1}$, which is found by powers of the matrix instead.
    """
    diagonal = (lengths(W) * scale) ** 2
    if len(W) <= LARGE:
        return 1.0 / float(diagonal.sum())
    x, largest = diagonal / np.linalg.norm(diagonal), 0.0
    for _ in range(POWERS):
        y = scale * (W.T @ (W @ (scale * x)))
        largest = float(np.linalg.norm(y))
        x = y / largest
    return 1.0 / (2.0 * largest)


class GramRegressions(Factors["_Residuals"]):
    r"""Residual sums of squares (RSS) of every variable on any set of others, from the correlation matrix C.

    For a set P of m variables with $C_{PP} = LL^\top$ and $Z = L^{-1} C_{P\cdot}$, the covariances given P are
    $C - Z^\top Z$: m × p numbers serve all variables, where `Regressions` keeps p × p. Sets are made one variable at a time,
    by a few small products: a factorisation by LAPACK may wait for threads longer than it works.

    most: parents at most, where there are too few rows for more. A variable that keeps less than `WELL_CONDITIONED` of its
    variance beside the parents then explains nothing more.
    """

    def __init__(self, C: Array, squares: Array, n: int, most: int | None = None) -> None:
        self.n = n
        self.p = len(C)
        self.most = self.p if most is None else most
        self._alone = 0.0 if most is None else WELL_CONDITIONED
        self._C, self._squares, self._few = C, squares, most
        self._scale: list[float] = np.log(squares / n).tolist()
        bare = _Residuals((), (), np.zeros((0, self.p)), np.ones(self.p))
        super().__init__(bare, max(64, MEMORY // (40 * self.p + 512)))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make these regressions again."""
        return {"C": self._C, "squares": self._squares, "n": self.n, "most": self._few}

    def log_variance(self, node: int, parents: int) -> float:
        return math.log(self._factor(parents).left[node]) + self._scale[node]

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        if parents.bit_count() >= self.most:
            return [], []
        residuals = self._factor(parents)
        partial = self._C[node] - residuals.Z[:, node] @ residuals.Z if parents else self._C[node].copy()
        own = float(residuals.left[node])
        partial[node] = 0.0
        partial *= partial
        partial /= residuals.left
        if self._alone:
            partial[residuals.left < self._alone] = 0.0
        now = math.log(own) + self._scale[node]
        if limit > now:  # even a variable that explains nothing, but for the parents and the node itself
            free = (residuals.left < math.inf) & (residuals.left >= self._alone)
            free[node] = False
            able = free.nonzero()[0]
        else:
            able = (partial > -own * math.expm1(limit - now)).nonzero()[0]
        if not len(able):
            return [], []
        left = np.maximum(own - partial[able], LEAST_SHARE)
        rank = left.argsort(kind="stable")
        return able[rank].tolist(), (np.log(left[rank]) + self._scale[node]).tolist()

    def correlations(self) -> dict[str, Any]:
        return {"C": self._C, "scale": np.array(self._scale), "most": self.most, "alone": self._alone}

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        residuals = self._factor(parents)
        T, _ = lapack.dtrtri(np.asfortranarray(residuals.Z[:, list(residuals.nodes)].T), lower=1)
        beta = residuals.Z[:, node] @ T
        rise = beta * beta / np.einsum("ij,ij->j", T, T)
        without = residuals.left[node] + np.concatenate([rise, np.zeros(len(residuals.idle))])
        return np.asarray(residuals.nodes + residuals.idle), np.log(without) + self._scale[node]

    def _extend(self, residuals: _Residuals, k: int) -> _Residuals:
        if residuals.left[k] < self._alone:
            left = residuals.left.copy()
            left[k] = math.inf
            return _Residuals(residuals.nodes, (*residuals.idle, k), residuals.Z, left)
        row = self._C[k] - residuals.Z[:, k] @ residuals.Z
        row /= math.sqrt(residuals.left[k])
        left = np.maximum(residuals.left - row * row, LEAST_SHARE)
        left[k] = math.inf
        m = len(residuals.nodes)
        Z = np.empty((m + 1, self.p))
        Z[:m] = residuals.Z
        Z[m] = row
        return _Residuals((*residuals.nodes, k), residuals.idle, Z, left)


class _Residuals(NamedTuple):
    """The variance `left` of every variable beside a set of parents, infinite at the parents. idle: parents that explain nothing."""

    nodes: tuple[int, ...]
    idle: tuple[int, ...]
    Z: Array
    left: Array


class RootRegressions(Regressions):
    """Log variances from R by orthogonal transformations. searchable: the correlations are precise enough for a search."""

    def __init__(self, moments: Moments, *, searchable: bool = False) -> None:
        super().__init__(moments.R, moments.n)
        self._searchable = searchable
        self.most = self.p
        self._moments, self._R = moments, moments.R

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make these regressions again."""
        return {"moments": self._moments, "searchable": self._searchable}

    def correlations(self) -> dict[str, Any]:
        size = lengths(self._R)
        root = np.ascontiguousarray((self._R / size).T)
        return {"C": root @ root.T, "scale": np.log(size**2 / self.n), "root": None if self._searchable else root}

    def log_variance(self, node: int, parents: int) -> float:
        return math.log(self.rss(node, parents) / self.n)

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        values = np.log(self.rss_adding(node, parents) / self.n)
        values[[node, *members(parents)]] = np.inf
        able = np.flatnonzero(values < limit)
        best = able[values[able].argsort(kind="stable")]
        return best.tolist(), values[best].tolist()

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        nodes = np.array(members(parents))
        return nodes, np.log(self.rss_dropping(node, parents)[nodes] / self.n)


class OwnVariances:
    """Log variances of each variable by its own regressions: those of the moments that its equation is fitted to.

    which: for every variable, the place of its own among the `parts`.
    """

    def __init__(self, parts: Sequence[LogVariances], which: Sequence[int]) -> None:
        self.parts, self.which = tuple(parts), tuple(which)
        self.p = len(self.which)
        self.n = min(one.n for one in self.parts)
        self.most = min(one.most for one in self.parts)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make these log variances again."""
        return {"parts": self.parts, "which": self.which}

    def log_variance(self, node: int, parents: int) -> float:
        return self.parts[self.which[node]].log_variance(node, parents)

    def candidates(self, node: int, parents: int, limit: float) -> tuple[list[int], list[float]]:
        if parents.bit_count() >= self.most:
            return [], []
        return self.parts[self.which[node]].candidates(node, parents, limit)

    def log_dropping(self, node: int, parents: int) -> tuple[NDArray[np.intp], Array]:
        return self.parts[self.which[node]].log_dropping(node, parents)

    def correlations(self) -> dict[str, Any]:
        each = [one.correlations() for one in self.parts]
        scale = np.array([one["scale"] for one in each])[list(self.which), np.arange(self.p)]
        root = None if each[0].get("root") is None else np.stack([one["root"] for one in each])
        alone = max(one.get("alone", 0.0) for one in each)
        given = {"C": np.stack([one["C"] for one in each]), "scale": scale, "which": self.which, "alone": alone}
        return given | {"most": self.most, "root": root}
