"""Orders by least squares on all variables before, or on all others; on robust or shrunk moments; and of many tables at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import inverse, triangle
from ordag.common.words import counted
from ordag.data.covariance_estimators import robust_moments, shrinkage_moments
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import check_size
from ordag.order.cholesky import SPENT, TIE, Pivots, factorise, minimum_pivot
from ordag.order.factor import Factor
from ordag.order.ordering import Ordering, Rule, progress_of
from ordag.order.rounding import NEGLIGIBLE, checked_ordering, column_lengths, noise

REPORTED_COLUMNS = 1000
"""Columns from which on the progress of an ordering is reported."""

GRAM_UNCERTAINTY = 1e-8
"""The relative uncertainty of a variance up to which a Gram matrix of the rows is as good as the rows."""

MANY_COLUMNS, GRAM_UNCERTAINTY_OF_MANY = 8192, 1e-6
"""With so many variables up to this: reading the rows again would take hours. Tests that rounding could decide are named then."""


def forward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by least conditional variance, causes first (Park & Kim, Algorithm 1, Step 1).

    `before` is a partial order to keep to, with [i, j] for i before j: a step then chooses among the variables of which
    all earlier ones have been chosen.
    """
    pivots, factor, refreshes = factorise(moments.R, before)
    return checked_ordering(moments, pivots, factor, before, "forward", refreshes)


def gram_forward(moments: Moments, before: Mask | None = None, table: Table | None = None) -> Ordering | None:
    """Return the forward ordering straight from a Gram matrix of the rows, or None where that has too few digits.

    Progress is reported to the `table`, where there are so many columns that this takes a second or more.
    """
    assert moments.scatter is not None
    ordered = regressed = None
    if table is not None and moments.p >= REPORTED_COLUMNS:
        # what is left to order shrinks and the inverse grows, both in work with the cube of their share
        ordered = progress_of(table, "variables ordered", lambda x: 1.0 - (1.0 - x) ** 3)
        regressed = progress_of(table, "variables regressed", lambda x: x**3)
    factor = Factor.empty(moments.p)
    pivots = minimum_pivot(moments.scatter, before, out=factor.lower, progress=ordered)
    if len(pivots.order) < moments.p:
        return None
    factor.invert(regressed)
    return gram_ordering(moments, pivots, factor)


def gram_ordering(moments: Moments, pivots: Pivots, factor: Factor) -> Ordering | None:
    """Return the ordering of a Gram matrix by its factor and inverse; None where a variance has too few digits."""
    uncertainty = noise(factor.condition(column_lengths(moments)[pivots.order]), squared=True)
    if not enough_digits(uncertainty):
        return None
    return Ordering.along(pivots.order, moments, factor, pivots.runner_up, uncertainty=uncertainty)


def enough_digits(uncertainty: Array) -> bool:
    """Return whether an order from a Gram matrix may stand, by the uncertainty of every variance."""
    many = len(uncertainty) >= MANY_COLUMNS
    return bool(uncertainty.max() <= (GRAM_UNCERTAINTY_OF_MANY if many else GRAM_UNCERTAINTY))


def with_factor(ordering: Ordering) -> Ordering:
    """Return the same ordering with the factor along it, for tests given all variables before."""
    moments, order = ordering.moments, ordering.order
    factor = Factor.of(triangle(moments.R[:, order]).T)
    uncertainty = noise(factor.condition(column_lengths(moments)[order]), squared=moments.squared)
    return replace(ordering, factor=factor, uncertainty=uncertainty)


def _forward(table: Table, before: Mask | None) -> Ordering:
    """Order by a Gram matrix where that has the digits, and from R where it does not."""
    quick = None if table.gram_moments is None else gram_forward(table.gram_moments, before, table)
    return quick if quick is not None else forward(table.qr_moments, before)


def backward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by largest variance given all others, effects first, and return causes first.

    That variance is the reciprocal of a diagonal entry of S⁻¹ = WᵀW, and leaving a variable out leaves a Schur
    complement: the kernel of `forward` on WᵀW. Where digits are scarce, WᵀW is formed anew each time an eighth of the
    variables has been chosen (docs/numerics.md). `before` is as for `forward`.
    """
    ahead = forward(moments)
    assert ahead.uncertainty is not None
    rest = ahead.order
    scarce = ahead.uncertainty.max() > NEGLIGIBLE
    chosen: list[Indices] = []
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
    pivots = Pivots(np.concatenate(chosen)[::-1], np.concatenate(runner_up)[::-1])
    factor = Factor.empty(moments.p)
    factor.lower[:] = triangle(moments.R[:, pivots.order]).T
    return checked_ordering(moments, pivots, factor, before, "backward", len(chosen) - 1)


def _on_other_moments(name: str, help: str, moments_of: Callable[[Array, Sequence[str]], Moments]) -> Rule:
    """Return the rule "forward" on other moments of the rows than the usual ones."""

    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        table.announce(f"{name} moments of {counted(len(rows.values), 'row')}")
        moments = moments_of(np.asarray(rows.values), table.names).counted_like(table.moments)
        check_size(moments.n, table.names)  # outliers are left out
        return forward(moments, before)

    return Rule(name, help, find, needs="rows")


FORWARD = Rule("forward", "causes first: the least variance given those before", _forward)
BACKWARD = Rule(
    "backward", "effects first: the largest variance given all others", lambda t, before: backward(t.moments, before)
)
ROBUST = _on_other_moments("robust", "least squares on moments that a few outliers hardly move", robust_moments)
SHRINKAGE = _on_other_moments(
    "shrinkage", "least squares on a covariance drawn towards a multiple of the identity", shrinkage_moments
)


class Stack(NamedTuple):
    """For every root its order, the inverse W of its triangular factor in that order, and whether the digits suffice."""

    order: Indices
    W: Array
    sound: Mask


def forward_stack(roots: Array) -> Stack:
    """Find the forward orderings of roots of the same size: `roots[b].T @ roots[b]` are the scatters.

    As in `minimum_pivot` the smallest remaining variance goes next, the earliest column where several are equal; a root is
    sound if no variance falls so far that its digits are spent, and none is uncertain beyond `GRAM_UNCERTAINTY`.
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
        sound &= noise(condition, squared=True).max(axis=1) <= GRAM_UNCERTAINTY
    return Stack(order, W, sound)


def _inverses(upper: Array) -> Array:
    """W = L⁻¹ row by row from the upper triangles of Lᵀ; what is below their diagonals is not read."""
    p = upper.shape[1]
    W = np.zeros_like(upper)
    for m in range(p):
        pivot = upper[:, m, m]
        if m:
            W[:, m, :m] = np.matmul(upper[:, None, :m, m], W[:, :m, :m])[:, 0] / -pivot[:, None]
        W[:, m, m] = 1.0 / pivot
    return W
