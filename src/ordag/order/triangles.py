"""`Triangles`: a lower triangular matrix and its inverse in the room of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.linalg import invert, multiply_upper, upper_part

Indices: TypeAlias = NDArray[np.intp]
Places: TypeAlias = int | slice | Indices

TOGETHER = 2**18
"""Numbers of a few columns of L that are added up at once: what stays in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """Lower triangular L and its inverse W: `both` has p + 1 rows and p columns, and is stored by columns.

    Below its diagonal lies L, one row further down than in a matrix of its own; from the diagonal up lies Wᵀ. So a column holds
    a row of W up to the diagonal, and then a column of L from the diagonal on. Whole matrices are made when asked for.
    """

    both: Array

    @classmethod
    def empty(cls, p: int) -> Triangles:
        """Room for p variables: L is to be written into `lower`, and then `invert` called."""
        return cls(np.empty((p + 1, p), order="F"))

    @classmethod
    def of(cls, L: Array) -> Triangles:
        """L and its inverse; there is no zero on its diagonal."""
        room = cls.empty(len(L))
        room.lower[:] = L
        room.invert()
        return room

    def __len__(self) -> int:
        return int(self.both.shape[1])

    @property
    def lower(self) -> Array:
        """Where L lies; above the diagonal is something else."""
        return self.both[1:]

    @property
    def upper(self) -> Array:
        """Where Wᵀ lies; below the diagonal is something else."""
        return self.both[:-1]

    def invert(self, progress: Callable[[int], None] | None = None, count: int | None = None) -> None:
        """W from L, or that of the first `count` variables alone; `progress` is told how many are done."""
        invert(self.lower[:count, :count], self.upper[:count, :count], progress)

    @property
    def L(self) -> Array:
        """L whole, zeros above the diagonal."""
        return np.tril(self.lower)

    @property
    def W(self) -> Array:
        """W whole, zeros above the diagonal."""
        return np.tril(self.upper.T)

    @property
    def L_diagonal(self) -> Array:
        return self.lower.diagonal()

    @property
    def W_diagonal(self) -> Array:
        return self.upper.diagonal()

    def L_at(self, row: Places, column: Places) -> Array:
        """Entries of L on or below its diagonal."""
        return np.asarray(self.lower[row, column])

    def W_at(self, row: Places, column: Places) -> Array:
        """Entries of W on or below its diagonal."""
        return np.asarray(self.upper[column, row])

    def L_columns(self, start: int, stop: int) -> Array:
        """A copy of some columns of L from row `start` on, each as a row, zeros above the diagonal."""
        columns = self.lower[start:, start:stop].T.copy()
        columns[:, : stop - start].T[upper_part(stop - start, 1)] = 0.0
        return columns

    def W_rows(self, start: int, stop: int) -> Array:
        """A copy of some rows of W up to column `stop`, zeros above the diagonal."""
        rows = self.upper[:stop, start:stop].T.copy()
        rows[:, start:][upper_part(stop - start, 1)] = 0.0
        return rows

    def condition(self, scale: Array) -> Array:
        """c_m = Σ_j |W_mj| ‖x_j‖ from the lengths of the columns in their order, for as many rows m as there are lengths."""
        c = np.empty(len(scale))
        step = max(1, TOGETHER // (4 * max(1, len(scale))))
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
        r"""$\sum_{i \ge m} L_{bi}^2$ at [m - start, b - start], with `start`: for some m at a time and the one after them, from the last
        to the `first`. It is the scatter of b given all before m, and as a sum of squares has nothing that cancels."""
        p = len(self)
        size, below = max(1, TOGETHER // p), np.zeros(p)
        for stop in range(p, first, -size):
            start = max(0, stop - size)
            sums = np.empty((stop - start + 1, p - start))
            sums[-1], sums[:-1] = below[start:], self.L_columns(start, stop)
            np.square(sums[:-1], out=sums[:-1])
            for k in range(stop - start - 1, -1, -1):
                sums[k] += sums[k + 1]
            below[start:] = sums[0]
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
