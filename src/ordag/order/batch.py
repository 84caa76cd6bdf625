"""Many small orderings at once: the kernel of `cholesky.py` over a stack of roots that go in step.

One ordering of fifty variables is mostly the cost of calling functions; a hundred of them together share the calls. Every
root is ordered by itself, so the answer does not depend on what else is in the stack. Those whose Gram matrix has too few
digits are marked, and have to go the exact way one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.order.cholesky import SPENT, TIE
from ordag.order.digits import noise
from ordag.order.ordering import QUICK


class Stack(NamedTuple):
    """For every root its order, the inverse W of its triangular factor in that order, and whether the digits suffice."""

    order: NDArray[np.intp]
    W: Array
    sound: Mask


def forward_stack(roots: Array) -> Stack:
    """The forward orderings of roots of the same size: `roots[b].T @ roots[b]` are the scatters.

    As in `minimum_pivot` the smallest remaining variance goes next, the earliest column where several are equal; a root is
    sound if no variance falls so far that its digits are spent, and none is uncertain beyond `QUICK`.
    """
    count, p = len(roots), roots.shape[2]
    every = np.arange(count)
    grams = np.matmul(roots.transpose(0, 2, 1), roots)
    remaining = np.einsum("bii->bi", grams).copy()
    scale = np.sqrt(remaining)
    limit = SPENT * remaining
    order = np.empty((count, p), np.intp)
    rows = np.empty((count, p, p))  # row t is column t of L, over the columns as they came
    sound = np.ones(count, dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for t in range(p):
            least = remaining.min(axis=1)
            chosen = (remaining <= (least * (1 + TIE))[:, None]).argmax(axis=1)
            row = grams[every, chosen]
            if t:
                row -= np.matmul(rows[every, None, :t, chosen], rows[:, :t])[:, 0]
            row /= np.sqrt(remaining[every, chosen])[:, None]
            rows[:, t] = row
            order[:, t] = chosen
            remaining -= row * row
            remaining[every, chosen] = np.inf
            sound &= (remaining >= limit).all(axis=1)
        rows = np.take_along_axis(rows, order[:, None, :], axis=2)
        W = _inverses(rows)
        condition = np.matmul(np.abs(W), np.take_along_axis(scale, order, axis=1)[:, :, None])[:, :, 0]
        sound &= noise(condition, squared=True).max(axis=1) <= QUICK
    return Stack(order, W, sound)


def _inverses(upper: Array) -> Array:
    """W = L⁻¹ row by row, where the upper triangles given are those of Lᵀ; what is below their diagonals is not read."""
    p = upper.shape[1]
    W = np.zeros_like(upper)
    for m in range(p):
        pivot = upper[:, m, m]
        if m:
            W[:, m, :m] = np.matmul(upper[:, None, :m, m], W[:, :m, :m])[:, 0] / -pivot[:, None]
        W[:, m, m] = 1.0 / pivot
    return W


def stacked_correlations(W: Array) -> Array:
    """`partial_correlations` of every W in a stack."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.tril(-W / np.sqrt(np.cumsum(W * W, axis=1)), -1)
