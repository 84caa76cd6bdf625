"""`DeviceFactor`: a triangular factor and its inverse that stay on a GPU, with what is computed there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.transfer import rows_at_once, to_host
from ordag.order.factor import Factor, Selector

if TYPE_CHECKING:
    import torch

INVERSE_ROWS, INVERSE_COLUMNS = 1024, 8192
"""Rows of the inverse at a time, and columns of them, so many that products run at the device's full rate."""

BLOCK_NUMBERS = 2**25
"""Numbers of a block of rows, a quarter of a gigabyte."""


class DeviceFactor(Factor):
    """L and W in one square matrix of PyTorch: Lᵀ from the diagonal up, and W below it; the diagonal of W is that of L inverted.

    Methods copy what they return to the host; `both` copies everything, for the few users of whole matrices.
    """

    matrix: torch.Tensor

    def __init__(self, upper: torch.Tensor) -> None:
        """Write W below the diagonal of Lᵀ."""
        object.__setattr__(self, "matrix", upper)
        invert_below(upper)

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def both(self) -> Array:
        """As in `Factor`: a row of the matrix is a column there, with one entry more at the diagonal."""
        p = len(self)
        room = np.empty((p, p + 1))
        step = rows_at_once(p + 1)
        to_host((room[start : start + step], partial(self._columns, start, step)) for start in range(0, p, step))
        return room.T

    def _columns(self, start: int, count: int) -> torch.Tensor:
        """Some columns of `both`, as rows."""
        import torch

        stop = min(start + count, len(self))
        rows = self.matrix.new_empty((stop - start, len(self) + 1))
        rows[:, start + 1 :] = torch.triu(self.matrix[start:stop, start:])
        rows[:, :start] = self.matrix[start:stop, :start]
        corner = rows[:, start:stop]
        W = self._W_rows(start, stop)[:, start:]
        corner.copy_(torch.where(torch.ones_like(corner, dtype=torch.bool).tril(), W, corner))
        return rows

    @property
    def L_diagonal(self) -> Array:
        return np.asarray(self.matrix.diagonal().cpu().numpy())

    @property
    def W_diagonal(self) -> Array:
        return 1.0 / self.L_diagonal

    def L_at(self, row: Selector, column: Selector) -> Array:
        return self._at(column, row)

    def W_at(self, row: Selector, column: Selector) -> Array:
        if not isinstance(row, np.ndarray) or not isinstance(column, np.ndarray):
            return super().W_at(row, column)
        values = self._at(row, column)
        return np.where(row == column, 1.0 / values, values)

    def _at(self, row: Selector, column: Selector) -> Array:
        at = (self._tensor(part) if isinstance(part, np.ndarray) else part for part in (row, column))
        return np.asarray(self.matrix[tuple(at)].cpu().numpy())

    def _tensor(self, values: Array | Indices) -> torch.Tensor:
        import torch

        return torch.from_numpy(np.array(values)).to(self.matrix.device)

    def L_columns(self, start: int, stop: int) -> Array:
        if "both" in vars(self):  # already copied
            return super().L_columns(start, stop)
        return np.array(self.matrix[start:stop, start:].triu().cpu().numpy())

    def W_rows(self, start: int, stop: int) -> Array:
        if "both" in vars(self):
            return super().W_rows(start, stop)
        return np.array(self._W_rows(start, stop).cpu().numpy())

    def _W_rows(self, start: int, stop: int) -> torch.Tensor:
        return _lower(self.matrix[start:stop, :stop], start, self.matrix.diagonal()[start:stop])

    def times_W(self, columns: Array) -> Array:
        import torch

        given = self._tensor(columns)
        parts = [self._W_rows(start, stop) @ given[:stop] for start, stop in self._blocks()]
        return np.asarray(torch.cat(parts).cpu().numpy())

    def tails(self, a: Indices, b: Indices) -> Array:
        import torch

        found = self.matrix.new_empty((2, len(a)))
        below = self.matrix.new_zeros((1, len(self)))
        steps, others = self._tensor(a), self._tensor(b)
        for start, stop in reversed(list(self._blocks())):
            squares = self.matrix[start:stop].triu(start).square_()
            sums = torch.cat([squares, below]).flip(0).cumsum(0).flip(0)
            at = ((steps >= start) & (steps < stop)).nonzero()[:, 0]
            rows, columns = steps[at] - start, others[at]
            found[0, at], found[1, at] = sums[rows, columns], sums[rows + 1, columns]
            below = sums[:1].clone()
        return np.asarray(found.cpu().numpy())

    def condition(self, scale: Array) -> Array:
        import torch

        lengths = self._tensor(scale)
        parts = [self._W_rows(start, stop).abs_() @ lengths[:stop] for start, stop in self._blocks()]
        return np.asarray(torch.cat(parts).cpu().numpy())

    def correlated(self, least: Array) -> Iterator[tuple[Indices, Indices, Array]]:
        """Yield (later, earlier) positions, some at a time, of the pairs whose partial correlation r, given all other predecessors of the
        later one, has the size `least[later]` or more; and r."""
        bounds = self._tensor(least)
        for start, r, _ in self._correlations():
            yield _found((r.abs() >= bounds[start : start + len(r), None]).tril_(start - 1), start, r)

    def in_doubt(
        self, least: Array, condition: Array, noise: Callable[[torch.Tensor], torch.Tensor]
    ) -> Iterator[tuple[Indices, Indices, Array]]:
        """Yield the pairs that `correlated` would decide otherwise within the rounding of r, and how far that may have moved r.

        noise: rounding, from the sum of the conditions of both ends as in `parents.tests.correlation_noise`.
        """
        bounds, c = self._tensor(least), self._tensor(condition)
        above = self.matrix.new_zeros(len(self))
        for start, r, lengths in self._correlations():
            stop = start + len(r)
            c_later = c[start:stop, None]
            summed = (self._W_rows(start, stop).abs_() * c_later).cumsum(0).add_(above[:stop])
            above[:stop] = summed[-1]
            moved = noise(summed.div_(lengths).add_(c_later))
            least_of, size = bounds[start:stop, None], r.abs_()
            joined = [(size + way * moved).clamp_max_(np.nextafter(1.0, 0.0)) >= least_of for way in (-1.0, 1.0)]
            yield _found((joined[0] != joined[1]).tril_(start - 1), start, moved)

    def correlations_of(self, later: Indices, earlier: Indices) -> Array:
        """Return the partial correlations of some pairs of positions."""
        found = self.matrix.new_empty(len(later))
        rows, columns = self._tensor(later), self._tensor(earlier)
        for start, r, _ in self._correlations():
            at = ((rows >= start) & (rows < start + len(r))).nonzero()[:, 0]
            found[at] = r[rows[at] - start, columns[at]]
        return np.asarray(found.cpu().numpy())

    def _correlations(self) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
        r"""Yield, for later variables from `start` on, $r_{mj} = -W_{mj} / \sqrt{\sum_{i=j}^m W_{ij}^2}$ with all earlier ones, and the
        divisors."""
        above = self.matrix.new_zeros(len(self))
        for start, stop in self._blocks():
            W = self._W_rows(start, stop)
            sums = (W * W).cumsum(0).add_(above[:stop])
            above[:stop] = sums[-1]
            lengths = sums.sqrt_().clamp_min_(1e-300)
            yield start, W.neg_().div_(lengths), lengths

    def _blocks(self) -> Iterator[tuple[int, int]]:
        p = len(self)
        step = max(16, BLOCK_NUMBERS // max(p, 1))
        return ((start, min(start + step, p)) for start in range(0, p, step))


def invert_below(U: torch.Tensor) -> None:
    r"""Write $W = L^{-1}$ below the diagonal of the upper triangular $U = L^\top$, block row by block row:
    $W_{j,:j} = -W_{jj} U_{:j,j}^\top W_{:j,:j}$."""
    import torch

    for start in range(0, len(U), INVERSE_ROWS):
        stop = min(start + INVERSE_ROWS, len(U))
        corner = U[start:stop, start:stop]
        unit = torch.eye(stop - start, dtype=U.dtype, device=U.device)
        inverse = torch.linalg.solve_triangular(corner.T.contiguous(), unit, upper=False)
        for left in range(0, start, INVERSE_COLUMNS):
            right = min(left + INVERSE_COLUMNS, start)
            W = _lower(U[left:right, left:right], 0, U.diagonal()[left:right])
            part = U[left:right, start:stop].T @ W
            if right < start:
                part.addmm_(U[right:start, start:stop].T, U[right:start, left:right])
            U[start:stop, left:right] = -inverse @ part
        corner.copy_(corner.triu() + inverse.tril(-1))


def _found(joined: torch.Tensor, start: int, values: torch.Tensor) -> tuple[Indices, Indices, Array]:
    """Return the rows, the columns and the values of a mask over rows from `start` on, on the host."""
    at = joined.nonzero(as_tuple=True)
    later, earlier, those = (part.cpu().numpy() for part in (at[0] + start, at[1], values[at]))
    return later.astype(np.intp, copy=False), earlier.astype(np.intp, copy=False), those


def _lower(rows: torch.Tensor, start: int, diagonal: torch.Tensor) -> torch.Tensor:
    """Copy rows of W, from `start` on, out of a matrix that has Lᵀ from the diagonal up; W has the inverse of its diagonal."""
    W = rows.tril(start - 1)
    W.diagonal(start).copy_(1.0 / diagonal)
    return W
