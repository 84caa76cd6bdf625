"""Small regressions within a correlation matrix, and the exchange of members until no single one lowers the score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from ordag.arrays import Array
from ordag.order.cholesky import TIE

Positions = NDArray[np.intp]

ALONE = 1e-10
"""A variable that keeps less than this share of its variance, given the members beside it, is not a member."""
LEAST = 1e-14
"""A residual variance below this share of the variable's own has no digits."""
FALL = 1e-9
"""Scores that differ by less than this, per row, are equal."""


class Small(NamedTuple):
    """The regression of a variable of variance 1 on members A: its rest, and with R_AA = L Lᵀ the arrays v = L⁻¹ r and M = L⁻¹.

    Sums over v have the digits of r; those over the coefficients β = Mᵀ v lose as many as the members hang together.
    """

    rest: float
    v: Array
    M: Array


class Chosen(NamedTuple):
    """Correlations among the chosen variables, by their positions: K[j, s] is that of column j with the s-th chosen one."""

    K: Array
    order: Positions

    def rows(self, A: Positions) -> Array:
        return self.K[self.order[A], : len(self.order)]

    def block(self, A: Positions) -> Array:
        return self.K[self.order[A][:, None], A]


@dataclass(frozen=True)
class Price:
    """score = n log rest + each·|A|, for supports of at most `most` members."""

    n: int
    each: float
    most: int

    @property
    def fall(self) -> float:
        return FALL * self.n

    def score(self, rest: float, size: int) -> float:
        return self.n * math.log(rest) + self.each * size

    def rest_below(self, score: Array, size: int) -> Array:
        """The rest that a support of this size must stay below to have a lower score than the given one."""
        return np.exp((score - self.fall - self.each * size) / self.n)


def regression(R: Array, r: Array) -> Small | None:
    """Regress a variable whose correlations with the members are r on them; None where a member does not stand alone."""
    if not len(r):
        return Small(1.0, r, R)
    L, failed = lapack.dpotrf(R, lower=1)
    if failed:
        return None
    v = blas.dtrsv(L, r, lower=1)
    M, failed = lapack.dtrtri(L, lower=1)
    if failed or not np.einsum("ij,ij->j", M, M).max() * ALONE <= 1.0:
        return None
    return Small(max(1.0 - float((v * v).sum()), LEAST), v, M)


def exchanged(K: Chosen, r: Array, A: Positions, small: Small, price: Price) -> tuple[Positions, Small]:
    """Add, drop or swap one member after another, each time what lowers the score most, to a local optimum.

    r holds the correlations of the variable with the candidates; A is a support to start from. Of moves with equal scores
    the first counts: additions in the order of candidates, then for each member to leave it out or to put another in its place.
    """
    while (better := _best_move(K, r, A, small, price)) is not None:
        A, small = better
    return A, small


def _best_move(K: Chosen, r: Array, A: Positions, small: Small, price: Price) -> tuple[Positions, Small] | None:
    limit = price.score(small.rest, len(A)) - price.fall
    left, after = _moves(K.rows(A), r, small)
    after[:, A] = np.inf
    if len(A) == price.most:
        after[0] = np.inf
    size = len(A)
    while True:
        into = after.argmin(axis=1)
        least = after[np.arange(size + 1), into]
        # row by row: to add; to drop the first, to swap the first; to drop the second, …
        scores = price.n * np.log(np.concatenate([least, left[1:]])) + price.each * np.array(
            [size + 1, *[size] * size, *[size - 1] * size]
        )
        best = scores.min()
        if not best < limit:
            return None
        which = int((scores <= best + price.fall).argmax())
        if which > size:
            moved = np.delete(A, which - size - 1)
        else:
            first = int((after[which] <= least[which] * (1.0 + TIE)).argmax())
            moved = np.sort(np.append(np.delete(A, which - 1) if which else A, first))
        made = regression(K.block(moved), r[moved])
        if made is not None and price.score(made.rest, len(moved)) < limit:
            return moved, made
        if which > size:
            left[which - size] = np.inf
        else:
            after[which, first] = np.inf


def _moves(V: Array, r: Array, small: Small) -> tuple[Array, Array]:
    """What is left without each member, and after each move: row 0 adds a candidate, row 1 + i lets it replace member i.

    With u = M V, d = 1 − uᵀu the candidates' own rests, x = r − vᵀu their partial covariances, c = Mᵀ u and β = Mᵀ v the
    coefficients, Q = Mᵀ M: without member i these are d + c_i²/Q_ii, x + c_i β_i/Q_ii, and the variable's rest grows by β_i²/Q_ii.
    The first entry of what is left is the rest itself.
    """
    rest, v, M = small
    own = (M * M).sum(axis=0)
    beta = v @ M
    left = np.append(rest, rest + beta * beta / own)
    u = M @ V
    d, x = np.empty((2, len(v) + 1, len(r)))
    np.einsum("it,it->t", u, u, out=d[0])
    np.subtract(1.0, d[0], out=d[0])
    np.subtract(r, v @ u, out=x[0])
    c = M.T @ u
    np.multiply(c, (beta / own)[:, None], out=x[1:])
    x[1:] += x[0]
    c *= c
    np.divide(c, own[:, None], out=d[1:])
    d[1:] += d[0]
    x *= x
    together = d < ALONE
    d[together] = 1.0
    x /= d
    after = np.maximum(left[:, None] - x, LEAST)
    after[together] = np.inf
    return left, after
