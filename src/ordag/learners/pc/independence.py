"""Partial correlations and tests of independence of columns i and j given a set S, for many (i, j, S) at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import lengths
from ordag.common.words import listed, shown
from ordag.data.moments import Moments
from ordag.errors import CollinearError
from ordag.order.cholesky import SPENT
from ordag.order.rounding import HOPELESS, noise
from ordag.parents.tests import Test

Indices = NDArray[np.intp]
Progress = Callable[[int, int], None]

LARGEST_CORRELATION = float(np.nextafter(1.0, 0.0))
"""Tests take artanh of a correlation, or divide by 1 − r²."""

NUMBERS_PER_BATCH = 2**17
"""Numbers in the columns of one batch that is orthogonalised, so that they stay in the processor's cache."""


class PartialCorrelations:
    r"""Partial correlations of columns i and j given the columns S, for many (i, j, S) at a time.

    With A the correlation matrix of the columns S, i, j in this order, k steps of Cholesky's factorisation leave the
    Schur complement of S in the last two rows, and $r = A_{ij} / \sqrt{A_{ii} A_{jj}}$. That is quick, and good as
    long as the diagonal has not fallen too far below its start of one. Where it has, the columns of R themselves are
    orthogonalised instead, which loses half as many digits.
    """

    def __init__(self, moments: Moments) -> None:
        size = lengths(moments.R)
        self._moments = moments
        self._columns = np.ascontiguousarray((moments.R / size).T)
        self._correlations = self._columns @ self._columns.T
        # Rounding is relative to the columns as the rows hold them, their means included.
        self._blur = np.hypot(1.0, np.sqrt(moments.n) * np.abs(moments.mean) / size)

    def __call__(self, i: Indices, j: Indices, S: Indices) -> Array:
        """Return r for every row of S, whose indices are distinct and neither i nor j."""
        nodes = np.concatenate([S.T, i[None], j[None]])
        r, share = _eliminated(self._correlations[nodes[:, None], nodes[None]])
        spent = np.flatnonzero(share < SPENT)
        step = max(1, NUMBERS_PER_BATCH // (len(nodes) * len(self._columns)))
        for start in range(0, len(spent), step):
            few = spent[start : start + step]
            r[few] = self._orthogonalised(nodes[:, few])
        return np.clip(r, -LARGEST_CORRELATION, LARGEST_CORRELATION)

    def _orthogonalised(self, nodes: Indices) -> Array:
        """Apply modified Gram–Schmidt to the columns S, i, j; its triangle is as accurate as Householder's (Björck 1967).

        The last two columns of that triangle end in $\\rho_i$, the length of i given S, and in $(a, b)$: the components of j given S
        along i and orthogonal to it. So $r = a / \\sqrt{a^2 + b^2}$, which rounding cannot take beyond one.
        """
        columns = self._columns[nodes.T]
        blur = np.cumsum(self._blur[nodes], axis=0)
        along = np.empty(nodes.shape[1])
        for t in range(len(nodes) - 1):
            length = np.sqrt(np.einsum("mp,mp->m", columns[:, t], columns[:, t]))
            self._check(nodes, t, length, blur[t])
            direction = columns[:, t] / length[:, None]
            along = np.einsum("mp,mcp->mc", direction, columns[:, t + 1 :])
            columns[:, t + 1 :] -= along[:, :, None] * direction[:, None]
        a = along[:, 0]
        b = np.sqrt(np.einsum("mp,mp->m", columns[:, -1], columns[:, -1]))
        length = np.hypot(a, b)
        self._check(np.delete(nodes, -2, axis=0), len(nodes) - 2, length, blur[-1])
        return np.asarray(a / length)

    def _check(self, nodes: Indices, t: int, length: Array, blur: Array) -> None:
        """Raise if the column at t, given those before it, is rounding noise (see `ordag.order.rounding`)."""
        with np.errstate(divide="ignore"):
            uncertainty = noise(blur / length, squared=False)
            if self._moments.squared:
                uncertainty += noise((t + 1) / length, squared=True)
        hopeless = np.flatnonzero(uncertainty >= HOPELESS)
        if len(hopeless):
            name, *others = [self._moments.names[node] for node in nodes[t::-1, hopeless[0]]]
            what = f"a copy of {shown(others[0])}" if len(others) == 1 else f"a linear combination of {listed(others)}"
            raise CollinearError(
                f"Column {shown(name)} is {what}, to the last digit that float64 holds: leave one of these columns out."
            )


def _eliminated(A: Array) -> tuple[Array, Array]:
    """Return r from correlation matrices A[:, :, m], and the share of its precision that each r has kept.

    A pivot d within S lets rounding errors grow by 1/d, and a remaining variance v of i or j by another 1/v: the share is
    the smallest d times the smaller v.
    """
    k = len(A) - 2
    pivot = np.ones(A.shape[2])
    for t in range(k):
        np.minimum(pivot, A[t, t], out=pivot)
        row = A[t, t + 1 :] / np.sqrt(np.maximum(A[t, t], SPENT))
        A[t + 1 :, t + 1 :] -= row[:, None] * row[None]
    one, other = np.maximum(A[k, k], SPENT), np.maximum(A[k + 1, k + 1], SPENT)
    r = A[k, k + 1] / np.sqrt(one * other)
    return r, np.minimum(pivot * np.minimum(A[k, k], A[k + 1, k + 1]), pivot)


class Tester:
    """Test whether columns i and j are independent given S, and count the tests.

    `progress` is called with the number of sets tested and planned so far; the plan grows with the size of the sets.
    """

    def __init__(self, moments: Moments, test: Test, alpha: float, progress: Progress | None = None) -> None:
        self.alpha = alpha
        self.tests = 0
        self._n = moments.n
        self._correlation = PartialCorrelations(moments)
        self._test = test
        self._progress = progress
        self._planned = 0
        self._done = 0

    def __call__(self, i: Indices, j: Indices, S: Indices, skip: Mask | None = None) -> Array:
        """Return the p-values of i[b], j[b] given S[b, c] for all b and c; −1 where `skip` is set."""
        p_values = np.full(S.shape[:2], -1.0)
        wanted = np.ones(S.shape[:2], dtype=bool) if skip is None else ~skip
        row = np.nonzero(wanted)[0]
        if len(row):
            r = self._correlation(i[row], j[row], S[wanted])
            p_values[wanted] = self._test(r, self._n, np.array(float(S.shape[2])))
        self.tests += len(row)
        self._report(wanted.size)
        return p_values

    def plan(self, sets: int) -> None:
        """Announce the number of sets that come next; those planned before and not reached count as tested."""
        self._done = self._planned
        self._planned += sets
        self._report(0)

    def _report(self, sets: int) -> None:
        self._done += sets
        if self._progress is not None:
            self._progress(self._done, self._planned)
