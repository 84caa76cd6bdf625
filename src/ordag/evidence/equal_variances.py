r"""Are the error variances equal along the learned order? Bartlett's test.

Let $s_m^2$ be the residual variance of the m-th variable of an order (m = 0, 1, …) regressed on *all* variables before it,
with $f_m = n - 1 - m$ degrees of freedom. In a true causal order of a Gaussian model these are independent, and
$f_m s_m^2/\omega_m$ is chi-square with $f_m$ degrees of freedom: exactly the setting of Bartlett (1937). With
$f = \sum f_m$ and $s^2 = \sum f_m s_m^2 / f$,

    $M = f\log s^2 - \sum_m f_m \log s_m^2$,    $C = 1 + \frac{1}{3(p-1)}\left(\sum_m \frac{1}{f_m} - \frac1f\right)$,

M/C is nearly chi-square with p − 1 degrees of freedom if all $\omega_m$ are equal and the errors are Gaussian. With errors of
excess kurtosis κ a log-variance varies by $(2 + \kappa)/f_m$ in place of $2/f_m$, so M/C is divided by $1 + \kappa/2$ (Box 1953),
κ the average over the residuals of the rows; without rows it is taken to be 0. M is (nearly) the likelihood ratio of
$p\log$ mean against $\sum\log$ of the variances. Variables are not regressed on their selected parents only: a parent missed by
the selection would make its child's error variance too large, and at p = 20, n = 200 every eighth equal-variance model would
be rejected at level 1%, where this form rejects one in a hundred (docs/trust.md).

The order is learned from the same rows. That hardly matters here: $\sum\log$ of the residual sums of squares is the log
determinant of the scatter, the same for every order, and of orders that fit equally well the choice among them changes little.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, chndtrinc

from ordag.arrays import Array
from ordag.evidence.finding import Finding, Level
from ordag.learners.found import Found
from ordag.words import amount, chance

LEVEL = 0.01
"""Of the test that decides between the first and the second tier, whatever level the user chose for the edges."""

DOUBTFUL = 0.05
"""Equality that is not rejected, but with a p-value below this, is said to pass only just."""


LEAST_KURTOSIS, FEWEST_ROWS = -1.5, 20
"""Bounds on what is believed of a kurtosis: that of two values is -2, and of a few rows it says nothing."""


class EqualVariances(NamedTuple):
    """The test, the largest fitted error variance over the smallest, the ratio that it would likely have noticed, and the
    excess kurtosis of the residuals that it allows for."""

    statistic: float
    p_value: float
    spread: float
    detectable: float
    kurtosis: float

    @property
    def rejected(self) -> bool:
        return self.p_value < LEVEL

    @property
    def doubtful(self) -> bool:
        return LEVEL <= self.p_value < DOUBTFUL


def bartlett(variances: Array, df: Array, kurtosis: float = 0.0) -> tuple[float, float]:
    """M/C over 1 + κ/2 and its p-value for independent variances with these degrees of freedom."""
    f, k = float(df.sum()), len(df)
    M = f * math.log(float((df * variances).sum()) / f) - float((df * np.log(variances)).sum())
    C = 1.0 + (float((1.0 / df).sum()) - 1.0 / f) / (3.0 * (k - 1))
    statistic = max(M, 0.0) / C / (1.0 + kurtosis / 2.0)
    return statistic, float(chdtrc(k - 1.0, statistic))


def detectable_ratio(df: Array, kurtosis: float = 0.0) -> float:
    r"""Two error variances this far apart, the others between them, are found unequal in four tables of five.

    For log-variances $\pm\frac12\log\rho$ around the others' the statistic is nearly noncentral chi-square with
    noncentrality $\lambda = f \log^2\rho / (4 + 2\kappa)$, f the degrees of freedom of each; λ is the one with power 0.8.
    """
    k = len(df)
    noncentrality = float(chndtrinc(float(chdtri(k - 1.0, LEVEL)), k - 1.0, 0.2))
    return math.exp(2.0 * math.sqrt(noncentrality * (1.0 + kurtosis / 2.0) / float(df.min())))


def equality_test(found: Found) -> EqualVariances | None:
    """The test along the fit's order or, for a Dag without one, over its equations. None for a Cpdag without an order."""
    if found.ordering is not None and found.ordering.factor is not None:
        df = np.asarray(found.n - 1.0 - np.arange(len(found.names)), dtype=np.float64)
        variances = np.diagonal(found.ordering.L) ** 2 / df
    elif found.refit is not None:
        df = found.refit.residual_df.astype(np.float64)
        variances = found.refit.sem.omega
    else:
        return None
    spread = float(variances.max() / variances.min())
    kurtosis = residual_kurtosis(found)
    return EqualVariances(*bartlett(variances, df, kurtosis), spread, detectable_ratio(df, kurtosis), kurtosis)


def residual_kurtosis(found: Found) -> float:
    """The excess kurtosis of the residuals, averaged over the variables; 0 without rows."""
    if found.profile is None or len(found.profile.rows) < FEWEST_ROWS:
        return 0.0
    centred = found.profile.rows - found.profile.rows.mean(axis=0)
    if found.ordering is not None and found.ordering.factor is not None:
        residuals = centred[:, found.ordering.order] @ (found.ordering.W * np.diagonal(found.ordering.L)[:, None]).T
    else:
        assert found.sem is not None
        residuals = centred - centred @ found.sem.B
    squares = (residuals / np.abs(residuals).max(axis=0)) ** 2
    kurtosis = np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2 - 3.0
    return max(float(kurtosis.mean()), LEAST_KURTOSIS)


def equality_finding(found: Found) -> Finding:
    """Are the fitted error variances equal?"""
    test = equality_test(found)
    assert test is not None
    numbers = test._asdict()
    apart = f"largest over smallest {amount(test.spread)}, {chance(test.p_value)}"
    if test.rejected:
        sentence = f"Equal error variances are rejected along the learned order ({apart})."
        return Finding("equal_variances", "look", sentence, numbers)
    just = "only just " if test.doubtful else ""
    sentence = f"Equal error variances are {just}not rejected along the learned order ({apart})"
    if test.detectable > 3.0:
        sentence += f", but with so few rows a factor below {test.detectable:.2g} would often pass"
    level: Level = "look" if test.doubtful or test.detectable > 3.0 else "fine"
    return Finding("equal_variances", level, f"{sentence}.", numbers)
