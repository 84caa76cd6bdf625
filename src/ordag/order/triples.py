"""The best triples that contain a new variable m: for every waiting variable the best two chosen ones beside m."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias

import numpy as np

from ordag.arrays import Array, Mask
from ordag.order.exchange import ALONE, TIE

ROWS = 64
"""Rows of a table that the plain version works on at once."""
COMPILED_FROM = 100
"""Chosen variables from which on it pays to load a compiler."""

Scan: TypeAlias = Callable[[Array, Array, Array, Mask, Array], None]


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
    np.fill_diagonal(rho, 1.0)
    alone = 1.0 - rho * rho
    share = np.where(w > 0.0, 1.0 / np.maximum(w, 1.0) ** 2, 0.0)
    pair = alone * np.minimum(share, share[:, None]) >= ALONE
    h = np.where(pair, 1.0 / np.sqrt(np.where(pair, alone, 1.0)), 0.0)
    rho[~pair] = 0.0
    # (r_a² + r_b² + 2|r_a r_b ρ|)/(1 − ρ²) ≤ 2 r_a²/(1 − |ρ|) where |r_b| ≤ |r_a|
    reach = 2.0 / np.maximum(1.0 - np.abs(rho).max(axis=1), ALONE)
    return PartialTable(h, h * rho, reach)


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
    (scan or _scan)(r, table.h, table.h_rho, may, gains)
    gains += squares
    best = gains.max(axis=1)
    for i in np.flatnonzero(best > needed[some]):
        a = int((gains[i] >= best[i] * (1.0 - TIE)).argmax())
        u = r[i, :a] * table.h[a, :a] - r[i, a] * table.h_rho[a, :a]
        u *= u
        if not may[i, a]:
            u[~may[i, :a]] = 0.0
        if len(u):
            yield int(some[i]), int((u >= u.max() * (1.0 - TIE)).argmax()), a


def _scan(r: Array, h: Array, h_rho: Array, may: Mask, gains: Array) -> None:
    """gains[i, a] = max over b < a of (h r_b − h ρ r_a)², over pairs of which a or b may gain what is needed."""
    t = r.shape[1]
    for start in range(0, t, ROWS):
        stop = min(start + ROWS, t)
        rows = slice(start, stop)
        earlier = np.arange(stop) < np.arange(start, stop)[:, None]
        for i in np.flatnonzero(may[:, :stop].any(axis=1)):
            u = r[i, :stop] * h[rows, :stop]
            u -= r[i, rows, None] * h_rho[rows, :stop]
            u *= u
            u *= earlier
            some = may[i, rows]
            u[~some] *= may[i, :stop]
            gains[i, rows] = u.max(axis=1)


@cache
def _compiled() -> Scan | None:
    """The same compiled, with pairs that cannot gain left out; None without numba."""
    if find_spec("numba") is None:
        return None
    import numba

    @numba.njit(fastmath={"nnan", "nsz", "contract"})  # type: ignore[misc, unused-ignore]
    def scan(r, h, h_rho, may, gains):  # type: ignore[no-untyped-def]  # pragma: no cover
        count, t = r.shape
        some = np.empty((count, t), np.int32)
        found = np.zeros(count, np.int32)
        for a in range(t):
            for i in range(count):
                x = r[i, a]
                most = 0.0
                if may[i, a] or 4 * found[i] > a:
                    for b in range(a):
                        u = r[i, b] * h[a, b] - x * h_rho[a, b]
                        most = max(most, u * u)
                else:
                    for k in range(found[i]):
                        b = some[i, k]
                        u = r[i, b] * h[a, b] - x * h_rho[a, b]
                        most = max(most, u * u)
                gains[i, a] = most
                if may[i, a]:
                    some[i, found[i]] = a
                    found[i] += 1

    return scan
