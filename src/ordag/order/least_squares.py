"""The rules "forward" and "backward", by least squares on all variables before, or on all others; and many tables in step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.linalg import inverse, triangle
from ordag.order.cholesky import SPENT, TIE, factorise, into_order, minimum_pivot
from ordag.order.digits import NEGLIGIBLE, checked_factor, column_lengths, noise
from ordag.order.ordering import Factor, Ordering, Rule
from ordag.order.triangles import Triangles
from ordag.words import News

TOLD = 1000
"""Columns from which on the steps of an ordering are told."""

QUICK = 1e-8
"""The relative uncertainty of a variance up to which a Gram matrix of the rows is as good as the rows."""

MANY, QUICK_OF_MANY = 8192, 1e-6
"""With so many variables up to this: going through the rows again would take hours. Tests that rounding could decide are named then."""


def forward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by least conditional variance, causes first (Park & Kim, Algorithm 1, Step 1).

    `before` is a partial order to keep to, with [i, j] for i before j: a step then chooses among the variables of which
    all earlier ones have been chosen.
    """
    found = factorise(moments.R, before)
    factor = checked_factor(moments, found.order, found.triangles, before, False, found.refreshes)
    return Ordering.along(found.order, moments, factor, found.runner_up)


def quick_forward(
    moments: Moments, before: Mask | None = None, tell: Callable[[News], None] | None = None
) -> Ordering | None:
    """The forward ordering straight from a Gram matrix of the rows, or None where that has too few digits.

    `tell` hears how far things are, where there are so many columns that it takes a second or more.
    """
    assert moments.scatter is not None
    p = moments.p
    tell = None if tell is None or p < TOLD else tell
    ordered, regressed = (None if tell is None else partial(_told, tell, what, p) for what in ("ordered", "regressed"))
    triangles = Triangles.empty(p)
    part = minimum_pivot(moments.scatter, before, place=triangles.lower, progress=ordered)
    if len(part.order) < p:
        return None
    into_order(part)
    triangles.invert(regressed)
    uncertainty = noise(triangles.condition(column_lengths(moments)[part.order]), squared=True)
    if not enough_digits(uncertainty):
        return None
    return Ordering.along(part.order, moments, Factor(triangles, uncertainty), part.runner_up)


def enough_digits(uncertainty: Array) -> bool:
    """Whether an order from a Gram matrix may stand, by the uncertainty of every variance."""
    return bool(uncertainty.max() <= (QUICK if len(uncertainty) < MANY else QUICK_OF_MANY))


def _told(tell: Callable[[News], None], what: str, p: int, done: int) -> None:
    """How many of the variables are done. The rest of a triangular matrix takes the cube of its share of the work, if it shrinks."""
    left = 1.0 - done / p
    tell(News(f"{done:,} of {p:,} variables {what}", 1.0 - left**3 if what == "ordered" else (done / p) ** 3))


def with_factor(ordering: Ordering) -> Ordering:
    """The same ordering with the factor along it, for tests given all variables before."""
    moments, order = ordering.moments, ordering.order
    triangles = Triangles.of(triangle(moments.R[:, order]).T)
    uncertainty = noise(triangles.condition(column_lengths(moments)[order]), squared=moments.squared)
    return replace(ordering, factor=Factor(triangles, uncertainty))


def _find(table: Table, before: Mask | None) -> Ordering:
    """By way of a Gram matrix where that carries the digits, and from R where it does not."""
    quick = None if table.gram_moments is None else quick_forward(table.gram_moments, before, table.tell)
    return quick if quick is not None else forward(table.qr_moments, before)


FORWARD = Rule("forward", "causes first: the least variance given those before", _find)


def backward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by largest variance given all others, effects first, and return causes first.

    That variance is the reciprocal of a diagonal entry of S⁻¹ = WᵀW, and leaving a variable out leaves a Schur
    complement: the kernel of `forward` on WᵀW. Where digits are scarce, WᵀW is formed anew each time an eighth of the
    variables has been chosen (docs/numerics.md). `before` is as for `forward`.
    """
    ahead = forward(moments)
    rest = ahead.order
    scarce = ahead.uncertainty.max() > NEGLIGIBLE
    chosen: list[NDArray[np.intp]] = []
    runner_up: list[Array] = []
    W = ahead.W
    while True:
        part = minimum_pivot(W.T @ W, None if before is None else before.T[np.ix_(rest, rest)])
        steps = min(len(part.order), max(1, len(rest) // 8)) if scarce else len(part.order)
        chosen.append(rest[part.order[:steps]])
        runner_up.append(part.runner_up[:steps])
        rest = np.delete(rest, part.order[:steps])
        if not len(rest):
            break
        W = inverse(triangle(moments.R[:, rest]).T)
    order = np.concatenate(chosen)[::-1]
    triangles = Triangles.empty(len(order))
    triangles.lower[:] = triangle(moments.R[:, order]).T
    factor = checked_factor(moments, order, triangles, before, True, len(chosen) - 1)
    return Ordering.along(order, moments, factor, np.concatenate(runner_up)[::-1], "backward")


BACKWARD = Rule(
    "backward", "effects first: the largest variance given all others", lambda t, before: backward(t.moments, before)
)


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
