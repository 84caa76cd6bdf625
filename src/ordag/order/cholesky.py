"""The kernel: Cholesky factorisation with the smallest pivot first, blocked, and aware of its own rounding.

A float64 Gram matrix holds conditional variances only down to about 1e-16 of the variances it was formed from.
The factorisation therefore watches how far each remaining variance has fallen since the Gram matrix was formed,
stops in time, and goes on from a Gram matrix of residuals, which starts with all its digits again.
docs/numerics.md derives the bounds used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ordag.arrays import Array, Mask
from ordag.linalg import add_products, triangle
from ordag.order.triangles import Triangles

SPENT = 1e-6
"""A variance that has fallen to this share of its first value leaves about ten of its sixteen digits."""

TIE = 1e-10
"""Variances this close (relatively) agree in every digit that SPENT guarantees: the earlier column goes first."""

BLOCK = 48
"""Pivots in a block: between blocks the rest of the matrix is brought up to date."""

LARGE, LARGE_BLOCK = 3000, 96
"""From so many columns on the rest no longer stays in a processor's cache, and larger blocks are quicker."""


class Pivoted(NamedTuple):
    """Columns in the order of their pivots, and the factor, not yet inverted: `L @ L.T` is the Gram matrix in that order.

    `runner_up[k]` is the smallest remaining variance of those *not* chosen at step k (infinite where there is none).
    """

    order: NDArray[np.intp]
    triangles: Triangles
    runner_up: Array
    refreshes: int


class Partial(NamedTuple):
    """The first steps of a factorisation: row k of `rows` is column k of L, over the columns as they came."""

    order: NDArray[np.intp]
    rows: Array
    runner_up: Array


def minimum_pivot(
    gram: Array,
    before: Mask | None = None,
    *,
    place: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Partial:
    r"""Factorise `gram` by smallest remaining diagonal entry, as far as its digits go.

    With C the columns chosen so far, the diagonal of the Schur complement
    $S_{jj} - S_{jC} S_{CC}^{-1} S_{Cj}$ is the variance of column j given C (times n): the smallest goes next
    (Park & Kim, Algorithm 1, Step 1). Only the lower triangle of `gram` is read. The result stops after the step
    at which a remaining variance first falls below `SPENT` times the diagonal entry that it started from.
    With a partial order `before` ([i, j]: i before j) only columns compete of which all earlier ones are chosen.

    One matrix serves: its first rows hold what is done, the rest the upper triangle of what is left, in which the pivots of a block
    have moved to the front. It is the `place` given, by columns or a part of such a matrix, which may be `gram` itself; else a copy.
    `progress` is told how many columns are chosen.
    """
    p = len(gram)
    M = np.empty((p, p)) if place is None else place.T
    if place is not gram:
        M[:] = gram.T
    remaining = M.diagonal().copy()
    limit = SPENT * remaining
    columns = np.arange(p)
    order = np.empty(p, np.intp)
    runner_up = np.empty(p)
    queue = None if before is None else Queue(before)
    most = p if p <= 1.5 * BLOCK else BLOCK if p < LARGE else LARGE_BLOCK
    done = 0
    while done < p:
        at_first = remaining.copy()
        left = M[done:, done:]
        panel, picks, second = _panel(left, remaining, limit, min(most, p - done), columns, queue)
        steps = len(picks)
        exhausted = bool(steps < min(most, p - done) or (remaining < limit).any())
        if exhausted:
            steps = _steps_with_digits(at_first, limit, panel, picks)
        order[done : done + steps] = columns[picks[:steps]]
        runner_up[done : done + steps] = second[:steps]
        if not exhausted and done + steps < p:
            rest, kept = _exchange(left, picks)
            panel_of_rest = panel.take(kept, axis=1)
            add_products(rest.T, panel_of_rest.T, alpha=-1.0)
        finished = M[done : done + steps]
        finished[:] = 0.0
        finished[:, columns] = panel[:steps]
        done += steps
        if progress is not None:
            progress(done)
        if exhausted or done == p:
            break
        remaining, limit, columns = remaining[kept], limit[kept], columns[kept]
    return Partial(order[:done], M[:done], runner_up[:done])


def _exchange(left: Array, picks: list[int]) -> tuple[Array, NDArray[np.intp]]:
    """Move the columns that were not picked out of the front of a symmetric matrix, to the places of those that were, further back.

    Gives the part behind the front, and the columns that it holds now. Only the upper triangle counts.
    """
    q, width = len(left), len(picks)
    kept = np.arange(q)
    picked = np.zeros(q, dtype=bool)
    picked[picks] = True
    front, back = np.flatnonzero(~picked[:width]), np.flatnonzero(picked[width:]) + width
    kept[back] = front
    kept = kept[width:]
    if len(front):
        moved = left[front]  # rows from their diagonals on; what comes before is in the columns of the front
        corner = left[:width, :width]
        moved[:, :width] = (np.triu(corner) + np.triu(corner, 1).T)[front]
        moved = moved.take(kept, axis=1)
        places = back - width
        rest = left[width:, width:]
        rest[:, places] = moved.T
        rest[places] = moved
    return left[width:, width:], kept


class Queue:
    """Who may be chosen while a partial order holds the others back: those of whom all earlier ones are chosen."""

    def __init__(self, before: Mask) -> None:
        self.before = before
        self._waits = before.sum(axis=0)

    def rivals(self, remaining: Array, columns: NDArray[np.intp]) -> Array:
        """A copy, infinite where a column has to wait."""
        return np.where(self._waits[columns] > 0, math.inf, remaining)

    def release(self, column: int) -> None:
        """This column is chosen: nobody has to wait for it any more."""
        self._waits -= self.before[column]


def _panel(
    A: Array,
    remaining: Array,
    limit: Array,
    steps: int,
    columns: NDArray[np.intp],
    queue: Queue | None,
) -> tuple[Array, list[int], list[float]]:
    """Choose up to `steps` pivots without touching A; `remaining` is brought up to date (infinite where chosen).

    Row t of the panel is the t-th new column of L: the row of A at the pivot, less what the panel's earlier
    rows explain of it. Only the upper triangle of A is read; `columns` says which columns stand there, of which the first
    goes first where variances are equal. (All products go through SciPy's BLAS: NumPy brings one of its own, and two of them in turn keep
    each other's threads waiting.)
    """
    q = len(A)
    least = np.minimum.reduce  # what remaining.min() calls, without the call
    panel = np.empty((steps, q))
    squares = np.empty(q)
    picks: list[int] = []
    second: list[float] = []
    for t in range(steps):
        rivals = remaining if queue is None else queue.rivals(remaining, columns)
        j = int(rivals.argmin())
        pivot = float(rivals[j])
        rivals[j] = math.inf
        runner_up = float(least(rivals))
        if runner_up <= pivot * (1 + TIE):
            rivals[j] = pivot
            tied = np.flatnonzero(rivals <= pivot * (1 + TIE))
            j = int(tied[columns[tied].argmin()])
            pivot = float(rivals[j])
            rivals[j] = math.inf
            runner_up = float(least(rivals))
        if pivot < limit[j]:
            remaining[j] = pivot
            return panel[:t], picks, second
        if queue is not None:
            remaining[j] = math.inf
            queue.release(int(columns[j]))
        row = panel[t]
        row[:j] = A[:j, j]
        row[j:] = A[j, j:]
        if t:
            blas.dgemv(-1.0, panel[:t].T, panel[:t, j], beta=1.0, y=row, overwrite_y=1)
        row *= 1 / math.sqrt(pivot) if pivot > 0.0 else 0.0  # nothing at all is left of this column
        np.multiply(row, row, out=squares)
        remaining -= squares
        picks.append(j)
        second.append(runner_up)
    return panel, picks, second


def _steps_with_digits(at_first: Array, limit: Array, panel: Array, picks: list[int]) -> int:
    """How many of the panel's steps were chosen while every candidate still had its digits."""
    remaining = at_first - np.cumsum(panel**2, axis=0)
    for t, j in enumerate(picks):
        remaining[t:, j] = math.inf
    exhausted = (remaining < limit).any(axis=1)
    return int(exhausted.argmax()) + 1 if exhausted.any() else len(picks)


def factorise(root: Array, before: Mask | None = None) -> Pivoted:
    """Order the columns of `root` by least remaining variance, refreshing the digits as often as it takes.

    `root` is any matrix whose Gram matrix `root.T @ root` is to be factorised. Where the digits of one Gram
    matrix are spent, the columns left are replaced by their residuals (the trailing block of a QR factorisation)
    and the factorisation goes on with those. The factor then comes from a QR of the columns in the order found.
    `before` is a partial order to keep to, as in `minimum_pivot`.
    """
    p = root.shape[1]
    order = np.arange(p)
    runner_up = np.empty(p)
    residuals = root
    triangles = Triangles.empty(p)
    done = refreshes = 0
    while True:
        rest = order[done:]
        waits = None if before is None else before[np.ix_(rest, rest)]
        part = minimum_pivot(residuals.T @ residuals, waits, place=triangles.lower[: len(rest), : len(rest)])
        chosen = np.zeros(p - done, dtype=bool)
        chosen[part.order] = True
        sequence = np.concatenate([part.order, np.flatnonzero(~chosen)])
        order[done:] = order[done:][sequence]
        runner_up[done : done + len(part.order)] = part.runner_up
        done += len(part.order)
        if done == p:
            break
        residuals = triangle(residuals[:, sequence])[len(part.order) :, len(part.order) :]
        refreshes += 1
    if refreshes:
        triangles.lower[:] = triangle(root[:, order]).T
    else:
        into_order(part)
    return Pivoted(order, triangles, runner_up, refreshes)


def into_order(part: Partial) -> None:
    """Of a complete factorisation the columns of every row are put into the order of the pivots: what lies in the upper triangle of
    `part.rows` is then the transposed factor."""
    U, p = part.rows, len(part.order)
    for start in range(0, p, BLOCK):
        stop = min(start + BLOCK, p)
        U[start:stop, start:] = U[start:stop].take(part.order[start:], axis=1)
