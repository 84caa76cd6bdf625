"""Orderings of the variables, causes first, and what the factor says of every step and every pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.linalg import inverse, lengths, triangle
from ordag.order.cholesky import factorise, lower, minimum_pivot
from ordag.order.digits import NEGLIGIBLE, check_digits, condition, noise

Direction = Literal["forward", "backward"]

QUICK = 1e-8
"""The relative uncertainty of a variance up to which a Gram matrix of the rows is as good as the rows."""


@dataclass(frozen=True)
class Ordering:
    """The variables of `moments` in causal order, with the factor from which everything else follows.

    `L` is lower triangular with `L @ L.T` the scatter in this order, `W` its inverse. `runner_up[m]` is what step m
    compared with: the remaining scatter of the second-best candidate (forward), or the reciprocal of it (backward).
    `uncertainty[m]` bounds the relative rounding error of the variance of variable m given its predecessors;
    `undecided` has a sentence for every step whose choice lies within it.
    """

    order: NDArray[np.intp]
    moments: Moments
    L: Array
    W: Array
    runner_up: Array
    uncertainty: Array
    direction: Direction = "forward"
    refreshes: int = 0
    undecided: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.moments.n

    @cached_property
    def variances(self) -> Array:
        """Variance of each variable given its predecessors, in order, with divisor n − (number of predecessors)."""
        return np.diagonal(self.L) ** 2 / (self.n - np.arange(len(self.order)))

    @cached_property
    def margins(self) -> Array:
        """How far, relatively, the choice of each step was from the runner-up (nan where there was none)."""
        chosen = np.diagonal(self.L) ** 2 if self.direction == "forward" else np.diagonal(self.W) ** 2
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.runner_up), self.runner_up / chosen - 1.0, np.nan)

    def pair(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Scatter of a, of b, and between them, given everything before a; positions a < b in the order.

        In the factor these are $L_{aa}^2$, $\\sum_{i=a}^{b} L_{bi}^2$ and $L_{ba} L_{aa}$: sums of squares, so
        nothing cancels.
        """
        diagonal = np.diagonal(self.L)
        return diagonal[a] ** 2, self._tails(a, b), self.L[b, a] * diagonal[a]

    def _tails(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> Array:
        """Scatter of b given everything before a."""
        tails = np.empty(len(a))
        for row in np.unique(b):
            at = b == row
            tails[at] = np.cumsum(self.L[row, row::-1] ** 2)[row - a[at]]
        return tails

    def direction_p_values(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> Array:
        """Two-sided Pitman–Morgan p-values that a and b have the same variance given everything before a.

        For residual variances v_a, v_b and covariance c, the sum and the difference of the two are uncorrelated when
        v_a = v_b; their correlation is $r = (v_b - v_a) / \\sqrt{(v_a + v_b)^2 - 4c^2}$, and
        $r\\sqrt{d/(1-r^2)}$ has a t distribution with d = n − |S| − 2 degrees of freedom.
        """
        degrees = self.n - a - 2.0
        # r²/(1 − r²) = (v_b − v_a)²/4(v_a v_b − c²), and v_a v_b − c² is v_a times the scatter of b given a too.
        s_a, s_b = np.diagonal(self.L)[a], np.sqrt(self._tails(a, b))
        t = pitman_morgan(s_a, s_b, np.sqrt(self._tails(a + 1, b)), degrees)
        return np.asarray(2.0 * stdtr(degrees, -t))


def pitman_morgan(a: Array, b: Array, rest: Array, degrees: NDArray[np.floating[Any]]) -> Array:
    r"""The statistic of two equal variances from lengths of residuals: of a, of b, and of b given a too (`rest`).

    $t = |b^2 - a^2| \sqrt d / (2 a \cdot \text{rest})$, in quotients of lengths: no unit makes it overflow or vanish.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.abs(b - a) / a * ((b + a) / rest) * (np.sqrt(degrees) / 2.0))


def quick_forward(moments: Moments, before: Mask | None = None) -> Ordering | None:
    """The forward ordering straight from a Gram matrix of the rows, or None where that has too few digits."""
    assert moments.scatter is not None
    part = minimum_pivot(moments.scatter, before=before)
    if not part.complete:
        return None
    L = lower(part)
    W = inverse(L)
    uncertainty = noise(condition(W, column_lengths(moments)[part.order]), squared=True)
    if uncertainty.max() > QUICK:
        return None
    return Ordering(part.order, moments, L, W, part.runner_up, uncertainty)


def forward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by least conditional variance, causes first (Park & Kim, Algorithm 1, Step 1).

    `before` is a partial order to keep to, with [i, j] for i before j: a step then chooses among the variables of which
    all earlier ones have been chosen.
    """
    factor = factorise(moments.R, before)
    return _checked(moments, factor.order, factor.L, factor.runner_up, "forward", factor.refreshes, before)


def backward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by largest variance given all others, effects first, and return causes first.

    The variance of j given all others is the reciprocal of the j-th diagonal entry of the precision matrix
    S⁻¹ = WᵀW, and leaving j out leaves a Schur complement: the same kernel on WᵀW. W is taken in the forward order,
    in which the factor grows from row to row and its inverse keeps its digits. Errors that a precision matrix has
    from its last variables would stay behind when those have gone, so where digits are scarce it is formed anew from
    the columns of R that are left, each time an eighth of them has been chosen. `before` is as for `forward`.
    """
    ahead = forward(moments)
    rest = ahead.order
    scarce = ahead.uncertainty.max() > NEGLIGIBLE
    chosen: list[NDArray[np.intp]] = []
    runner_up: list[Array] = []
    W = ahead.W
    while True:
        part = minimum_pivot(W.T @ W, before=None if before is None else before.T[np.ix_(rest, rest)])
        steps = min(len(part.order), max(1, len(rest) // 8)) if scarce else len(part.order)
        chosen.append(rest[part.order[:steps]])
        runner_up.append(part.runner_up[:steps])
        rest = np.delete(rest, part.order[:steps])
        if not len(rest):
            break
        W = inverse(triangle(moments.R[:, rest]).T)
    order = np.concatenate(chosen)[::-1]
    L = triangle(moments.R[:, order]).T
    return _checked(moments, order, L, np.concatenate(runner_up)[::-1], "backward", len(chosen) - 1, before)


def _checked(
    moments: Moments,
    order: NDArray[np.intp],
    L: Array,
    runner_up: Array,
    direction: Direction,
    refreshes: int,
    before: Mask | None,
) -> Ordering:
    placed = None if before is None else before[np.ix_(order, order)]
    checked = check_digits(moments, order, L, column_lengths(moments)[order], direction, placed)
    return Ordering(
        order,
        moments,
        L,
        checked.W,
        runner_up,
        checked.uncertainty,
        direction,
        refreshes,
        checked.undecided,
    )


def column_lengths(moments: Moments) -> Array:
    """The length of every column as the rows hold it, its mean included: rounding is relative to that."""
    if moments.scatter is not None:
        return np.asarray(np.sqrt(moments.scatter.diagonal() + moments.n * moments.mean**2))
    return np.asarray(np.hypot(lengths(moments.R), np.sqrt(moments.n) * moments.mean))
