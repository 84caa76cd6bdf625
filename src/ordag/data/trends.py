r"""Test each series for a trend, a season, and drift without return.

For every variable over every long stretch of time, $x_t = a + b t + \varphi x_{t-1} + e_t$ is fitted by least squares, with and without b.
The t statistic of φ − 1 is that of Dickey and Fuller (1979); over K stretches its mean is held against what unit roots give (Im, Pesaran &
Shin 2003). That of b shows a trend, and the means of e at the places of a season are compared by their F statistic; of several stretches
the median counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices

FEWEST, MOST = 20, 50
"""Times of a stretch at least, and stretches at most that are looked at, the longest ones."""

LONGEST = 5000
"""Times of a stretch at most: its last ones are looked at."""

UNIT_ROOT = ((-1.53, 0.85), (-2.18, 0.75))
"""Mean and standard deviation of the t statistic of φ − 1 where φ is 1, without and with a trend."""

TENTH = -1.28
"""Standard deviations below that mean, over √K, down to which a unit root is not rejected: one in ten is missed. At 5 % a memory of 0.8
over 100 times would often be called one."""

BENT, TREND = 2.5, 4.0
"""The t statistic of b from which φ is that beside a trend, and from which a trend is said."""

SEASON = 12.0
"""Minus the logarithm of the p-value from which a season is said, with the number of variables taken off."""


class Trends(NamedTuple):
    """Numbers of the variables that drift without returning, that have a trend and that have a season; `period` is that of the season."""

    drifting: tuple[int, ...] = ()
    trending: tuple[int, ...] = ()
    seasonal: tuple[int, ...] = ()
    period: int | None = None
    looked: bool = False


NO_TRENDS = Trends()


def trends_of(values: Array, age: Indices, periods: Sequence[int], season: int | None) -> Trends:
    """Look at the long stretches of rows sorted by series and time; `age` counts the steps since the last gap."""
    starts = np.flatnonzero(age == 0)
    sizes = np.diff([*starts, len(age)])
    longest = np.argsort(-sizes, kind="stable")[:MOST]
    stretches = [values[starts[k] : starts[k] + sizes[k]][-LONGEST:] for k in longest if sizes[k] >= FEWEST]
    whole = [one[np.isfinite(one).all(axis=1)] for one in stretches]
    tested = [_Tested.of(one, periods) for one in whole if len(one) >= FEWEST]
    if not tested:
        return NO_TRENDS
    returns = np.mean([one.returns for one in tested], axis=0)
    trend = np.abs(np.median([one.trend for one in tested], axis=0))
    mean, sd = np.array(UNIT_ROOT)[(trend > BENT).astype(np.intp)].T
    drifting = returns[(trend > BENT).astype(np.intp), np.arange(len(trend))] > mean + TENTH * sd / np.sqrt(len(tested))
    p = len(drifting)
    known = {"drifting": tuple(np.flatnonzero(drifting).tolist()), "looked": True}
    known["trending"] = tuple(np.flatnonzero((trend > TREND) & ~drifting).tolist())
    surprise = np.median([one.seasons for one in tested], axis=0) - np.log(p * max(len(periods), 1))
    if season is None and surprise.size and surprise.max() > SEASON:
        most = int(surprise.sum(axis=1).argmax())
        seasonal = tuple(np.flatnonzero(surprise[most] > SEASON).tolist())
        known |= {"seasonal": seasonal, "period": periods[most] if seasonal else None}
    return Trends(**known)  # type: ignore[arg-type]


class _Tested(NamedTuple):
    """For every variable the t statistics of φ − 1, without and with a trend, and of b, and for every season minus the logarithm of its
    p-value."""

    returns: Array
    trend: Array
    seasons: Array

    @classmethod
    def of(cls, x: Array, periods: Sequence[int]) -> _Tested:
        n, p = len(x) - 1, x.shape[1]
        time = np.arange(n) - (n - 1) / 2.0
        returns, trend, left = np.zeros((2, p)), np.zeros(p), np.empty((n, p))
        for j in range(p):
            before = x[:-1, j] - x[:-1, j].mean()
            for beside, Z in enumerate(([np.ones(n), before], [np.ones(n), time, before])):
                fitted = _fit(np.column_stack(Z), x[1:, j])
                if fitted is None:  # it hardly moves, or is its trend
                    returns[beside, j], trend[j], left[:, j] = -np.inf, np.inf if np.ptp(x[:, j]) > 0.0 else 0.0, 0.0
                    continue
                beta, se, left[:, j] = fitted
                returns[beside, j] = (beta[-1] - 1.0) / se[-1]
                if beside:
                    trend[j] = beta[1] / se[1]
        return cls(returns, trend, np.array([_surprise(left, s) for s in periods]).reshape(-1, p))


def _fit(Z: Array, y: Array) -> tuple[Array, Array, Array] | None:
    """Return coefficients, their standard errors and what is left; None where the columns follow from one another."""
    Q, R = np.linalg.qr(Z)
    size = np.abs(np.diag(R))
    if size.min() <= 1e-10 * max(size.max(), 1e-300):
        return None
    beta = np.linalg.solve(R, Q.T @ y)
    left = y - Z @ beta
    variance = float(np.square(left).sum()) / max(len(y) - Z.shape[1], 1)
    se = np.sqrt(max(variance, 1e-300)) * np.linalg.norm(np.linalg.inv(R), axis=1)
    return beta, np.asarray(se), np.asarray(left)


def _surprise(left: Array, season: int) -> Array:
    """Return minus the logarithm of the p-value that the means at the places of a season are equal; 0 with fewer than three seasons."""
    from scipy.special import fdtrc

    n = len(left)
    if n < 3 * season:
        return np.zeros(left.shape[1])
    phase = np.arange(n) % season
    sizes = np.bincount(phase)
    means = np.stack([np.bincount(phase, column) for column in left.T], axis=1) / sizes[:, None]
    between = (sizes[:, None] * np.square(means - left.mean(axis=0))).sum(axis=0)
    within = np.maximum(np.square(left - left.mean(axis=0)).sum(axis=0) - between, 1e-300)
    F = (between / (season - 1)) / (within / (n - season))
    return np.asarray(-np.log(np.maximum(fdtrc(season - 1, n - season, F), 1e-300)))
