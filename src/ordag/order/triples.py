"""The best triples that contain a new variable m: for every waiting variable the best two chosen ones beside m."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from ordag.arrays import Array, Mask
from ordag.order.cholesky import TIE
from ordag.order.exchange import ALONE

ROWS = 64
"""Rows of a table that the plain version works on at once."""
COMPILED_FROM = 100
"""Chosen variables from which on it pays to load a compiler."""

Scan: TypeAlias = Callable[[Array, Array, Array, Mask, bool, Array], None]


class PartialTable(NamedTuple):
    """For chosen a and b with correlation ρ given m: h = 1/√(1 − ρ²) and h·ρ, h = 0 where they are no pair beside m.

    reach: for each a, how often its own r_a² a pair gains at most in which a has the larger |r|.
    """

    h: Array
    h_rho: Array
    reach: Array


def partial_table(C: Array, z: Array, w: Array) -> PartialTable:
    """C: correlations of the chosen ones; z: theirs with m; w = 1/√(1 − z²), or 0 for those that m leaves nothing of."""
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


def best_triples(
    r: Array, table: PartialTable, needed: Array, width: int | None, compiled: bool = True
) -> Iterator[tuple[int, int, int]]:
    """(i, b, a) with b < a for every row i of r where {m, a, b} gains more than needed[i], a and b being the best.

    r: correlations of waiting with chosen variables given m, not divided by the waiting one's own rest. The gain of a and b is
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
    scan = _compiled() if compiled and t >= COMPILED_FROM else None
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
    space = np.empty((2, ROWS, t))
    for start in range(0, t if len(many) else 0, ROWS):
        stop = min(start + ROWS, t)
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
    """The same compiled, with pairs that cannot gain left out; None without numba."""
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
