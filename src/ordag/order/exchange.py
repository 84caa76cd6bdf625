"""Small regressions within a correlation matrix, and the exchange of members until no single one lowers the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array

Positions = NDArray[np.intp]

ALONE = 1e-10
"""A variable that keeps less than this share of its variance, given the members beside it, is not a member."""
LEAST = 1e-14
"""A residual variance below this share of the variable's own has no digits."""
FALL = 1e-9
"""Scores that differ by less than this, per row, are equal."""
TIE = 1e-10
"""Variances and gains that differ by less than this share are equal."""


class Small(NamedTuple):
    """The regression of a variable of variance 1 on members A: its rest, and with R_AA = L Lᵀ the arrays v = L⁻¹ r and M = L⁻¹.

    Sums over v have the digits of r; those over the coefficients β = Mᵀ v lose as many as the members hang together.
    """

    rest: float
    v: Array
    M: Array


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
        return float(self.n * np.log(rest) + self.each * size)

    def rest_below(self, score: Array, size: int) -> Array:
        """The rest that a support of this size must stay below to have a lower score than the given one."""
        return np.exp((score - self.fall - self.each * size) / self.n)


def regression(R: Array, r: Array) -> Small | None:
    """Regress a variable whose correlations with the members are r on them; None where a member does not stand alone."""
    k = len(r)
    if not k:
        return Small(1.0, r, R)
    try:
        L = np.linalg.cholesky(R)
    except np.linalg.LinAlgError:
        return None
    M = np.zeros((k, k))
    for i in range(k):
        M[i, i] = 1.0
        M[i, :i] = -(L[i, :i, None] * M[:i, :i]).sum(axis=0)
        M[i] /= L[i, i]
    if not (M * M).sum(axis=0).max() * ALONE <= 1.0:
        return None
    v = (M * r).sum(axis=1)
    return Small(max(1.0 - float((v * v).sum()), LEAST), v, M)


def exchanged(K: Array, r: Array, A: Positions, small: Small, price: Price) -> tuple[Positions, Small]:
    """Add, drop or swap one member after another, each time the one that lowers the score most, to a local optimum.

    K[i] and r hold the correlations of candidate i and of the variable with all candidates; A is a support to start from.
    Of moves with equal scores the first counts: additions in the order of candidates, then for every member to leave it
    out and to put another in its place.
    """
    score = price.score(small.rest, len(A))
    while True:
        rests = _moves(K[A], r, small)
        sizes = np.repeat(len(A) - 1.0, rests.size).reshape(rests.shape)
        sizes[1:, :-1] += 1.0
        sizes[0, :] += 2.0
        rests[0, -1] = np.inf
        if len(A) == price.most:
            rests[0] = np.inf
        rests[0, A] = np.inf
        rests[1:, A] = np.inf
        scores = price.n * np.log(rests) + price.each * sizes
        while True:
            least = scores.min(initial=np.inf)
            if not least < score - price.fall:
                return A, small
            out, into = divmod(int((scores <= least + price.fall).argmax()), scores.shape[1])
            moved = A if out == 0 else np.delete(A, out - 1)
            if into < len(r):
                moved = np.sort(np.append(moved, into))
            made = regression(K[np.ix_(moved, moved)], r[moved])
            if made is not None and price.score(made.rest, len(moved)) < score - price.fall:
                break
            scores[out, into] = np.inf
        A, small, score = moved, made, price.score(made.rest, len(moved))


def _moves(V: Array, r: Array, small: Small) -> Array:
    """What is left after each move: row 0 adds a candidate, row 1 + i lets it replace member i; the last column adds none.

    With u = M V, d = 1 − uᵀu the candidates' own rests, x = r − vᵀu their partial covariances, c = Mᵀ u and β = Mᵀ v the
    coefficients, Q = Mᵀ M: without member i these are d + c_i²/Q_ii, x + c_i β_i/Q_ii, and the variable's rest grows by β_i²/Q_ii.
    """
    rest, v, M = small
    own = (M * M).sum(axis=0)[:, None]
    beta = (M * v[:, None]).sum(axis=0)[:, None]
    u = np.einsum("ij,jt->it", M, V)
    c = np.einsum("ji,jt->it", M, u)
    d, x = np.empty((2, len(v) + 1, len(r)))
    d[0] = 1.0 - np.einsum("it,it->t", u, u)
    x[0] = r - np.einsum("i,it->t", v, u)
    d[1:] = d[0] + c * c / own
    x[1:] = x[0] + c * (beta / own)
    left = np.concatenate([[[rest]], rest + beta**2 / own])
    alone = d >= ALONE
    x *= x
    x /= np.where(alone, d, 1.0)
    after = np.where(alone, np.maximum(left - x, LEAST), np.inf)
    return np.concatenate([after, left], axis=1)
