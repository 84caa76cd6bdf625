"""`Factor`: a lower triangular matrix and its inverse in the memory of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.linalg import invert, multiply_upper, upper_part

Selector: TypeAlias = int | slice | Indices

CACHE_NUMBERS = 2**18
"""Numbers that are summed at a time: what stays in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Factor:
    """Lower triangular L, with $LL^\\top$ the scatter in some order, and its inverse W.

    `both` has p + 1 rows and p columns, and is stored by columns. Below its diagonal lies L, one row further down than in a matrix of its
    own; from the diagonal up lies Wᵀ. So a column holds a row of W up to the diagonal, and then a column of L from the diagonal on.
    """

    both: Array

    @classmethod
    def empty(cls, p: int) -> Factor:
        """Allocate memory for p variables: write L into `lower`, then call `invert`."""
        return cls(np.empty((p + 1, p), order="F"))

    @classmethod
    def of(cls, L: Array) -> Factor:
        """Copy and invert L, which has no zero on its diagonal."""
        factor = cls.empty(len(L))
        factor.lower[:] = L
        factor.invert()
        return factor

    def __len__(self) -> int:
        return int(self.both.shape[1])

    @property
    def lower(self) -> Array:
        """The matrix whose lower triangle is L."""
        return self.both[1:]

    @property
    def upper(self) -> Array:
        """The matrix whose upper triangle is Wᵀ."""
        return self.both[:-1]

    def invert(self, progress: Callable[[int], None] | None = None, count: int | None = None) -> None:
        """Compute W, or that of the first `count` variables alone; call `progress` with the number of rows done."""
        invert(self.lower[:count, :count], self.upper[:count, :count], progress)

    @property
    def L(self) -> Array:
        """A copy of L, zeros above the diagonal."""
        return np.tril(self.lower)

    @property
    def W(self) -> Array:
        """A copy of W, zeros above the diagonal."""
        return np.tril(self.upper.T)

    @property
    def L_diagonal(self) -> Array:
        return self.lower.diagonal()

    @property
    def W_diagonal(self) -> Array:
        return self.upper.diagonal()

    def L_at(self, row: Selector, column: Selector) -> Array:
        """Entries of L on or below its diagonal."""
        return np.asarray(self.lower[row, column])

    def W_at(self, row: Selector, column: Selector) -> Array:
        """Entries of W on or below its diagonal."""
        return np.asarray(self.upper[column, row])

    def L_columns(self, start: int, stop: int) -> Array:
        """Copy columns of L from row `start` on, each as a row, zeros above the diagonal."""
        columns = self.lower[start:, start:stop].T.copy()
        columns[:, : stop - start].T[upper_part(stop - start, 1)] = 0.0
        return columns

    def W_rows(self, start: int, stop: int) -> Array:
        """Copy rows of W up to column `stop`, zeros above the diagonal."""
        rows = self.upper[:stop, start:stop].T.copy()
        rows[:, start:][upper_part(stop - start, 1)] = 0.0
        return rows

    def condition(self, scale: Array) -> Array:
        """c_m = Σ_j |W_mj| ‖x_j‖ from the lengths of the columns in order, for as many rows m as there are lengths."""
        c = np.empty(len(scale))
        step = max(1, CACHE_NUMBERS // (4 * max(1, len(scale))))
        for start in range(0, len(scale), step):  # a few rows at a time: |W| whole would be one more p × p matrix
            rows = self.W_rows(start, min(start + step, len(scale)))
            c[start : start + step] = np.einsum("ij,j->i", np.abs(rows, out=rows), scale[: rows.shape[1]])
        return c

    def times_W(self, columns: Array) -> Array:
        """W times a matrix."""
        product: Array = np.array(columns, order="F")
        multiply_upper(self.upper, product, turn=b"T")
        return product

    def tail_sums(self, first: int = 0) -> Iterator[tuple[int, Array]]:
        r"""Yield `start` and $\sum_{i \ge m} L_{bi}^2$ at [m - start, b - start], for a few m at a time and the one after them, from the
        last to the `first`: the scatter of b given all before m, as a sum of squares in which nothing cancels."""
        p = len(self)
        size, below = max(1, CACHE_NUMBERS // p), np.zeros(p)
        for stop in range(p, first, -size):
            start = max(0, stop - size)
            sums = np.empty((stop - start + 1, p - start))
            sums[-1], sums[:-1] = below[start:], self.L_columns(start, stop)
            np.square(sums[:-1], out=sums[:-1])
            for k in range(stop - start - 1, -1, -1):
                sums[k] += sums[k + 1]
            below[start:] = sums[0]
            yield start, sums

    def precision_sums(self) -> Iterator[tuple[int, Array]]:
        r"""Yield `start` and $\sum_{i < m} W_{ib}^2$ at [m - start, b], for a few m at a time and the one after them: the precision of b
        among the first m variables."""
        p = len(self)
        size, above = max(1, CACHE_NUMBERS // p), np.zeros(p)
        for start in range(0, p, size):
            stop = min(start + size, p)
            sums = np.empty((stop - start + 1, stop))
            sums[0], sums[1:] = above[:stop], self.W_rows(start, stop)
            np.square(sums[1:], out=sums[1:])
            for k in range(stop - start):
                sums[k + 1] += sums[k]
            above[:stop] = sums[-1]
            yield start, sums

    def tails(self, a: Indices, b: Indices) -> Array:
        """For pairs a < b the scatter of b given everything before a, and that given a too."""
        tails = np.empty((2, len(a)))
        by_step = np.argsort(a, kind="stable")
        steps = a[by_step]
        for start, sums in self.tail_sums(int(steps[0])) if len(a) else ():
            first, last = np.searchsorted(steps, (start, start + len(sums) - 1))
            at = by_step[first:last]
            rows, columns = a[at] - start, b[at] - start
            tails[0, at], tails[1, at] = sums[rows, columns], sums[rows + 1, columns]
        return tails
