"""`Triangles`: a lower triangular matrix and its inverse in the room of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.linalg import invert, turn_triangle, upper_part

Places: TypeAlias = int | slice | NDArray[np.intp]


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

    def set_W_rows(self, start: int, rows: Array) -> None:
        """The same the other way: rows of W from row `start` on, up to their diagonals."""
        stop = start + len(rows)
        self.upper[:start, start:stop] = rows[:, :start].T
        turn_triangle(rows[:, start:stop], self.upper[start:stop, start:stop])
