"""The parent set of one variable: small regressions within a correlation matrix, exchange of members, and the best triples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from scipy.linalg import blas, lapack

from ordag.common.arrays import Array, Indices, Mask
from ordag.order.cholesky import TIE

ALONE = 1e-10
"""A variable that keeps less than this share of its variance, given the members beside it, is not a member."""
LEAST_VARIANCE = 1e-14
"""A residual variance below this share of the variable's own has no digits."""
EQUAL_SCORES = 1e-9
"""Scores that differ by less than this, per row, are equal."""
BLOCK_ROWS = 64
"""Rows of a table of pairs that the plain scan works on at once."""
COMPILED_FROM = 100
"""Chosen variables from which on compiling the scan pays."""

Scan: TypeAlias = Callable[[Array, Array, Array, Mask, bool, Array], None]


class Regression(NamedTuple):
    """The regression of a variable of variance 1 on members A: its rest, and with R_AA = L Lᵀ the arrays v = L⁻¹ r and M = L⁻¹.

    Sums over v have the digits of r; those over the coefficients β = Mᵀ v lose as many as the members hang together.
    """

    rest: float
    v: Array
    M: Array


class Correlations(NamedTuple):
    """Correlations among the chosen variables, by their positions: K[j, s] is that of column j with the s-th chosen one."""

    K: Array
    order: Indices

    def rows(self, A: Indices) -> Array:
        return self.K[self.order[A], : len(self.order)]

    def block(self, A: Indices) -> Array:
        return self.K[self.order[A][:, None], A]


@dataclass(frozen=True)
class Score:
    """The score n log rest + penalty·|A| of a parent set A, which has at most `most` members."""

    n: int
    penalty: float
    most: int

    @property
    def tolerance(self) -> float:
        """The difference below which scores are equal."""
        return EQUAL_SCORES * self.n

    def of(self, rest: float, size: int) -> float:
        return self.n * math.log(rest) + self.penalty * size

    def rest_below(self, score: Array, size: int) -> Array:
        """Return the rest that a parent set of this size must stay below to have a lower score than the given one."""
        return np.exp((score - self.tolerance - self.penalty * size) / self.n)


def regression(R: Array, r: Array) -> Regression | None:
    """Regress a variable whose correlations with the members are r on them; None where a member does not stand alone."""
    if not len(r):
        return Regression(1.0, r, R)
    L, failed = lapack.dpotrf(R, lower=1)
    if failed:
        return None
    v = blas.dtrsv(L, r, lower=1)
    M, failed = lapack.dtrtri(L, lower=1)
    if failed or not np.einsum("ij,ij->j", M, M).max() * ALONE <= 1.0:
        return None
    return Regression(max(1.0 - float((v * v).sum()), LEAST_VARIANCE), v, M)


def exchanged(K: Correlations, r: Array, A: Indices, fit: Regression, scored: Score) -> tuple[Indices, Regression]:
    """Add, drop or swap one member after another, each time what lowers the score most, to a local optimum.

    r holds the correlations of the variable with the candidates; A is the parent set to start from. Of moves with equal scores
    the first counts: additions in the order of candidates, then for each member to leave it out or to replace it.
    """
    while (better := _best_move(K, r, A, fit, scored)) is not None:
        A, fit = better
    return A, fit


def _best_move(
    K: Correlations, r: Array, A: Indices, fit: Regression, scored: Score
) -> tuple[Indices, Regression] | None:
    limit = scored.of(fit.rest, len(A)) - scored.tolerance
    left, after = _moves(K.rows(A), r, fit)
    after[:, A] = np.inf
    if len(A) == scored.most:
        after[0] = np.inf
    size = len(A)
    while True:
        into = after.argmin(axis=1)
        least = after[np.arange(size + 1), into]
        # row by row: to add; to drop the first, to swap the first; to drop the second, …
        scores = scored.n * np.log(np.concatenate([least, left[1:]])) + scored.penalty * np.array(
            [size + 1, *[size] * size, *[size - 1] * size]
        )
        best = scores.min()
        if not best < limit:
            return None
        which = int((scores <= best + scored.tolerance).argmax())
        if which > size:
            moved = np.delete(A, which - size - 1)
        else:
            first = int((after[which] <= least[which] * (1.0 + TIE)).argmax())
            moved = np.sort(np.append(np.delete(A, which - 1) if which else A, first))
        made = regression(K.block(moved), r[moved])
        if made is not None and scored.of(made.rest, len(moved)) < limit:
            return moved, made
        if which > size:
            left[which - size] = np.inf
        else:
            after[which, first] = np.inf


def _moves(V: Array, r: Array, fit: Regression) -> tuple[Array, Array]:
    """Return the variable's rest without each member, and after each move: row 0 adds a candidate, row 1 + i lets it replace member i.

    With u = M V, d = 1 − uᵀu the candidates' own rests, x = r − vᵀu their partial covariances, c = Mᵀ u and β = Mᵀ v the
    coefficients, Q the diagonal of Mᵀ M: without member i these are d + c_i²/Q_i, x + c_i β_i/Q_i, and the variable's rest grows by
    β_i²/Q_i. The first entry of the former is the rest as it is.
    """
    rest, v, M = fit
    Q = (M * M).sum(axis=0)
    beta = v @ M
    left = np.append(rest, rest + beta * beta / Q)
    u = M @ V
    d, x = np.empty((2, len(v) + 1, len(r)))
    np.einsum("it,it->t", u, u, out=d[0])
    np.subtract(1.0, d[0], out=d[0])
    np.subtract(r, v @ u, out=x[0])
    c = M.T @ u
    np.multiply(c, (beta / Q)[:, None], out=x[1:])
    x[1:] += x[0]
    c *= c
    np.divide(c, Q[:, None], out=d[1:])
    d[1:] += d[0]
    x *= x
    together = d < ALONE
    d[together] = 1.0
    x /= d
    after = np.maximum(left[:, None] - x, LEAST_VARIANCE)
    after[together] = np.inf
    return left, after


class PartialTable(NamedTuple):
    """For chosen a and b with correlation ρ given m: h = 1/√(1 − ρ²) and h·ρ, h = 0 where they are no pair beside m.

    reach: for each a, the most that a pair in which a has the larger |r| gains, as a multiple of r_a².
    """

    h: Array
    h_rho: Array
    reach: Array


def partial_table(C: Array, z: Array, w: Array) -> PartialTable:
    """The table from the correlations C of the chosen variables, z of them with m, and w = 1/√(1 − z²), or 0 where m leaves nothing."""
    rho = C - z[:, None] * z
    rho *= w
    rho *= w[:, None]
    np.fill_diagonal(rho, 0.0)
    h = 1.0 - rho * rho
    share = np.where(w > 0.0, 1.0 / np.maximum(w, 1.0) ** 2, 0.0)
    if h.min() * share.min() ** 2 < ALONE:  # of m, a and b each must keep its share given the other two
        no_pair = h * np.minimum(share, share[:, None]) < ALONE
        no_pair |= h * share * share[:, None] < ALONE * (1.0 - C * C)
        h[no_pair] = np.inf
        rho[no_pair] = 0.0
    # (r_a² + r_b² + 2|r_a r_b ρ|)/(1 − ρ²) ≤ 2 r_a²/(1 − |ρ|) where |r_b| ≤ |r_a|
    most = np.maximum(rho.max(axis=1), -rho.min(axis=1))
    np.sqrt(h, out=h)
    np.divide(1.0, h, out=h)
    np.fill_diagonal(h, 0.0)
    rho *= h
    return PartialTable(h, rho, 2.0 / np.maximum(1.0 - most, ALONE))


def best_triples(r: Array, table: PartialTable, needed: Array, width: int | None) -> Iterator[tuple[int, int, int]]:
    """Yield (i, b, a) with b < a for every row i of r where {m, a, b} gains more than needed[i], a and b being the best.

    r: correlations of waiting with chosen variables given m, not divided by the rest of the waiting one. The gain of a and b is
    (r_a² + r_b² − 2 r_a r_b ρ)/(1 − ρ²) = r_a² + (h r_b − h ρ r_a)². Of equal gains the first by a, then by b, counts.
    width: the larger of |r_a| and |r_b| is among so many largest; None for all.
    """
    t = r.shape[1]
    squares = r * r
    may = squares * table.reach >= needed[:, None] * (1.0 - TIE)
    if width is not None and width < t:
        may &= squares >= np.partition(squares, t - width, axis=1)[:, t - width, None]
    some = np.flatnonzero(may.any(axis=1))
    if not len(some):
        return
    r, squares, may = r[some], squares[some], may[some]
    gains = np.zeros_like(r)
    scan = _compiled() if t >= COMPILED_FROM else None
    (scan or _scan)(r, table.h, table.h_rho, may, width is not None, gains)
    best = gains.max(axis=1)
    for i in np.flatnonzero(best > needed[some]):
        a = int((gains[i] >= best[i] * (1.0 - TIE)).argmax())
        u = r[i, :a] * table.h[a, :a] - r[i, a] * table.h_rho[a, :a]
        u *= u
        if not may[i, a]:
            u[~may[i, :a]] = 0.0
        if len(u):
            yield int(some[i]), int((u >= u.max() * (1.0 - TIE)).argmax()), a


def _scan(r: Array, h: Array, h_rho: Array, may: Mask, only: bool, gains: Array) -> None:
    """gains[i, a] = r_a² + max over b < a of (h r_b − h ρ r_a)². Pairs of which neither may gain enough are left out if `only`."""
    t = r.shape[1]
    few = may.sum(axis=1) * 4 < t
    for i in np.flatnonzero(few | only):
        some = np.flatnonzero(may[i])
        u = (r[i] * h[some] - r[i, some, None] * h_rho[some]) ** 2 + r[i, some, None] ** 2
        earlier = np.arange(t) < some[:, None]
        gains[i] = np.where(earlier, 0.0, u).max(axis=0)
        gains[i, some] = np.maximum(gains[i, some], np.where(earlier, u, 0.0).max(axis=1))
    many = np.flatnonzero(~(few | only))
    space = np.empty((2, BLOCK_ROWS, t))
    for start in range(0, t if len(many) else 0, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, t)
        rows = slice(start, stop)
        H, G = (np.tril(one[rows, :stop], start - 1) for one in (h, h_rho))
        u, v = space[:, : stop - start, :stop]
        for i in many:
            np.multiply(H, r[i, :stop], out=u)
            np.multiply(G, r[i, rows, None], out=v)
            np.subtract(u, v, out=u)
            gains[i, rows] = np.maximum(u.max(axis=1), -u.min(axis=1)) ** 2 + r[i, rows] ** 2


@cache
def _compiled() -> Scan | None:
    """`_scan` compiled, without pairs that cannot gain; None if numba is not installed."""
    if find_spec("numba") is None:
        return None
    import numba

    @numba.njit(fastmath={"nnan", "nsz", "contract"})  # type: ignore[misc, unused-ignore]
    def scan(r, h, h_rho, may, only, gains):  # type: ignore[no-untyped-def]  # pragma: no cover
        count, t = r.shape
        some = np.empty((count, t), np.int32)
        found = np.zeros(count, np.int32)
        for a in range(t):
            for i in range(count):
                x = r[i, a]
                most = 0.0
                if may[i, a] or (4 * found[i] > a and not only):
                    for b in range(a):
                        u = r[i, b] * h[a, b] - x * h_rho[a, b]
                        most = max(most, u * u)
                else:
                    for k in range(found[i]):
                        b = some[i, k]
                        u = r[i, b] * h[a, b] - x * h_rho[a, b]
                        most = max(most, u * u)
                gains[i, a] = x * x + most
                if may[i, a]:
                    some[i, found[i]] = a
                    found[i] += 1

    return cast(Scan, scan)
