r"""Test whether values are missing completely at random: Little's test (1988) on the means of rows with the same holes.

For pattern k with n_k rows, the observed columns o and their mean, $d^2 = \sum_k n_k (\bar x_{k,o} - \mu_o)^\top \Sigma_{oo}^{-1}
(\bar x_{k,o} - \mu_o)$, with the mean and the covariance estimated from all rows, is chi-square with $\sum_k p_k - p$ degrees of freedom.
Patterns of few rows are left out: their means are as far from Gaussian as their rows are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from ordag.assess.finding import Finding, unchecked
from ordag.common.arrays import Array
from ordag.common.words import chance, shown
from ordag.data.holes import pattern_codes
from ordag.learners.found import Found

FEWEST_ROWS = 5
"""Rows with the same holes, at least."""


class Little(NamedTuple):
    """The statistic, its degrees of freedom and p-value, the patterns that were compared and their rows."""

    statistic: float
    df: int
    p_value: float
    patterns: int
    rows: int


def little_test(rows: Array, mean: Array, S: Array, fewest: int = FEWEST_ROWS) -> Little | None:
    """Test rows, NaN where values are missing, against one mean for all patterns; None where fewer than two have enough rows."""
    _, numbers, counts = np.unique(pattern_codes(np.isnan(rows)), return_inverse=True, return_counts=True)
    usual = np.flatnonzero(counts >= fewest)
    statistic, df, used = 0.0, -rows.shape[1], 0
    for k in usual.tolist():
        part = rows[numbers == k]
        o = np.flatnonzero(~np.isnan(part[0]))
        away = part[:, o].mean(axis=0) - mean[o]
        statistic += len(part) * float(away @ np.linalg.solve(S[np.ix_(o, o)], away))
        df, used = df + len(o), used + len(part)
    if len(usual) < 2 or df < 1:
        return None
    return Little(statistic, df, float(chdtrc(df, statistic)), len(usual), used)


def missing_finding(found: Found, alpha: float) -> Finding:
    """Test whether values are missing completely at random."""
    key, rows = "missing_values", found.sample
    if rows is None or not np.isnan(rows).any():
        return unchecked(key, "incomplete rows were left out.")
    test = little_test(rows, found.moments.mean, found.moments.covariance())
    if test is None:
        return unchecked(key, f"fewer than two patterns of missing values come in {FEWEST_ROWS} rows or more.")
    numbers = test._asdict()
    if test.p_value > alpha:
        said = f"Nothing speaks against values that are missing completely at random (Little's test, {chance(test.p_value)})."
        return Finding(key, "fine", said, numbers)
    gone, other, far = _most_different(rows)
    example = (
        f": rows without {shown(found.names[gone])} have {'higher' if far > 0 else 'lower'} {shown(found.names[other])}"
    )
    sentence = (
        f"Values are not missing completely at random (Little's test, {chance(test.p_value)}){example}. The estimate allows for what "
        "the other columns explain; complete rows alone would not."
    )
    return Finding(key, "look", sentence, numbers)


def _most_different(rows: Array) -> tuple[int, int, float]:
    """Return the column whose missingness goes with the largest difference in another, in standard errors, and that difference."""
    absent = np.isnan(rows)
    values = np.where(absent, 0.0, rows - np.nanmean(rows, axis=0))
    present = (~absent).astype(np.float64)
    spread = np.sqrt((values**2).sum(axis=0) / present.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        gone, here = absent.astype(np.float64).T @ present, present.T @ present
        far = (absent.T @ values / gone - present.T @ values / here) / (spread * np.sqrt(1.0 / gone + 1.0 / here))
    far = np.where(np.isfinite(far), far, 0.0)
    i, j = (int(k) for k in np.unravel_index(int(np.abs(far).argmax()), far.shape))
    return i, j, float(far[i, j])
