"""Cholesky factorisation with the smallest pivot first, in blocks, and stopped before rounding decides.

A float64 Gram matrix holds conditional variances only down to about 1e-16 of the variances it was formed from.
The factorisation therefore follows how far each remaining variance has fallen since the Gram matrix was formed,
stops in time, and goes on from a Gram matrix of residuals, which starts with all its digits again.
docs/numerics.md derives the bounds used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import add_products, triangle
from ordag.order.factor import Factor
from ordag.order.ordering import Queue

SPENT = 1e-6
"""The share of its first value at which a variance has about ten of its sixteen digits left."""

TIE = 1e-10
"""Variances this close (relatively) agree in every digit that SPENT guarantees: the earlier column goes first."""

BLOCK_PIVOTS = 48
"""Pivots after which the rest of the matrix is updated."""

LARGE_COLUMNS, LARGE_BLOCK_PIVOTS = 3000, 96
"""From so many columns on the rest no longer stays in a processor's cache, and larger blocks are quicker."""


class Pivots(NamedTuple):
    """Columns in the order of their pivots, and at each step the smallest remaining variance of those not chosen (or infinity)."""

    order: Indices
    runner_up: Array


def minimum_pivot(
    gram: Array, before: Mask | None = None, *, out: Array | None = None, progress: Callable[[int], None] | None = None
) -> Pivots:
    r"""Factorise `gram` by smallest remaining diagonal entry, as far as its digits go.

    With C the columns chosen so far, the diagonal of the Schur complement
    $S_{jj} - S_{jC} S_{CC}^{-1} S_{Cj}$ is the variance of column j given C (times n): the smallest goes next
    (Park & Kim, Algorithm 1, Step 1). Only the lower triangle of `gram` is read. The result ends with the step
    at which a remaining variance first falls below `SPENT` times the diagonal entry that it started from.
    With a partial order `before` ([i, j]: i before j) only columns compete of which all earlier ones are chosen.

    `out` is stored by columns, or a part of such a matrix, and may be `gram` itself; if all columns are chosen, its lower triangle becomes
    L with $LL^\top$ the Gram matrix in the order found. Within, M is its transpose: its first rows hold the finished rows of $L^\top$, the
    rest the upper triangle of the Schur complement, in which the pivots of a block have moved to the front.
    `progress` is called with the number of columns chosen.
    """
    p = len(gram)
    M = np.empty((p, p)) if out is None else out.T
    if out is not gram:
        M[:] = gram.T
    remaining = M.diagonal().copy()
    limit = SPENT * remaining
    columns = np.arange(p)
    order = np.empty(p, np.intp)
    runner_up = np.empty(p)
    queue = None if before is None else Queue(before, p)
    most = p if p <= 1.5 * BLOCK_PIVOTS else BLOCK_PIVOTS if p < LARGE_COLUMNS else LARGE_BLOCK_PIVOTS
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
    if done == p and out is not None:
        for start in range(0, p, BLOCK_PIVOTS):
            rows = M[start : start + BLOCK_PIVOTS]
            rows[:, start:] = rows.take(order[start:], axis=1)
    return Pivots(order[:done], runner_up[:done])


def _exchange(left: Array, picks: list[int]) -> tuple[Array, Indices]:
    """Move the columns that were not picked out of the front of a symmetric matrix, to the positions of those that were, further back.

    Returns the part behind the front, and the columns that it now holds. Only the upper triangle counts.
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
        rest = left[width:, width:]
        rest[:, back - width] = moved.T
        rest[back - width] = moved
    return left[width:, width:], kept


def _panel(
    A: Array, remaining: Array, limit: Array, steps: int, columns: Indices, queue: Queue | None
) -> tuple[Array, list[int], list[float]]:
    """Choose up to `steps` pivots without writing to A, and update `remaining` (infinite where chosen).

    Row t of the panel is the t-th new column of L: the row of A at the pivot, less what the panel's earlier
    rows explain of it. Only the upper triangle of A is read; `columns` are the numbers of its columns, of which the lowest
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
        row *= 1 / math.sqrt(pivot) if pivot > 0.0 else 0.0  # nothing is left of this column
        np.multiply(row, row, out=squares)
        remaining -= squares
        picks.append(j)
        second.append(runner_up)
    return panel, picks, second


def _steps_with_digits(at_first: Array, limit: Array, panel: Array, picks: list[int]) -> int:
    """Return the number of the panel's steps that were chosen while every candidate still had its digits."""
    remaining = at_first - np.cumsum(panel**2, axis=0)
    for t, j in enumerate(picks):
        remaining[t:, j] = math.inf
    exhausted = (remaining < limit).any(axis=1)
    return int(exhausted.argmax()) + 1 if exhausted.any() else len(picks)


def factorise(root: Array, before: Mask | None = None) -> tuple[Pivots, Factor, int]:
    """Order the columns of `root` by least remaining variance, refreshing the digits as often as needed.

    `root` is any matrix whose Gram matrix `root.T @ root` is to be factorised. Where the digits of one Gram
    matrix are spent, the columns left are replaced by their residuals (the trailing block of a QR factorisation)
    and the factorisation goes on with those. The factor, not yet inverted, then comes from a QR of the columns in the order found.
    The third result is the number of refreshes. `before` is a partial order to keep to, as in `minimum_pivot`.
    """
    p = root.shape[1]
    order = np.arange(p)
    runner_up = np.empty(p)
    residuals = root
    factor = Factor.empty(p)
    done = refreshes = 0
    while True:
        rest = order[done:]
        waits = None if before is None else before[np.ix_(rest, rest)]
        part = minimum_pivot(residuals.T @ residuals, waits, out=factor.lower[: len(rest), : len(rest)])
        steps = len(part.order)
        sequence = np.concatenate([part.order, np.setdiff1d(np.arange(p - done), part.order)])
        order[done:] = rest[sequence]
        runner_up[done : done + steps] = part.runner_up
        done += steps
        if done == p:
            break
        residuals = triangle(residuals[:, sequence])[steps:, steps:]
        refreshes += 1
    if refreshes:
        factor.lower[:] = triangle(root[:, order]).T
    return Pivots(order, runner_up), factor, refreshes
