r"""Test by Bartlett's test whether the error variances along the learned order are equal.

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

Where regressions on all variables are out of reach (n < p + 2), the residual variances are those given the learned parents, and missed
parents do make some of them too large. So the fifth with the largest is left out, and the others are tested as if they were all: where
fewer have lost a parent, the test rejects less often than its level says.
With still fewer rows more than a fifth of the variables lose parents, and nothing is tested (`untestable`).

The order is learned from the same rows. That hardly matters here: $\sum\log$ of the residual sums of squares is the log
determinant of the scatter, the same for every order, and of orders that fit equally well the choice among them changes little.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, chndtrinc

from ordag.assess.finding import Finding, Level, unchecked
from ordag.common.arrays import Array
from ordag.common.words import amount, chance, counted
from ordag.data.table_checks import least_squares_rows
from ordag.learners.found import Found
from ordag.learners.sparse_parents import least_correlation
from ordag.order.least_squares import with_factor

LEVEL = 0.01
"""The level of the test that separates the first tier from the second; it does not depend on `alpha`."""

DOUBTFUL = 0.05
"""Equality with a p-value between `LEVEL` and this one is reported as "only just not rejected"."""


LEFT_OUT = 0.2
"""The share of variables, those with the largest error variances, that may have lost a parent for want of rows."""

SHOWN = 0.5
"""If partial correlations up to this one go undetected, too many parents are missed for the test."""

LEAST_KURTOSIS, FEWEST_ROWS = -1.5, 20
"""The least kurtosis that is used (two values have -2), and the fewest rows that it is estimated from."""


class EqualVariances(NamedTuple):
    """The test, the largest fitted error variance over the smallest, the ratio that it would likely have noticed, the
    excess kurtosis of the residuals that it allows for, and the share of the variables, those with the largest error
    variances, that it leaves out."""

    statistic: float
    p_value: float
    spread: float
    detectable: float
    kurtosis: float
    left_out: float = 0.0

    @property
    def rejected(self) -> bool:
        return self.p_value < LEVEL

    @property
    def doubtful(self) -> bool:
        return LEVEL <= self.p_value < DOUBTFUL

    @property
    def numbers(self) -> str:
        """Write the p-value and the spread."""
        which = ", the fifth of the variables with the largest left out" if self.left_out else ""
        return f"{chance(self.p_value)}, largest over smallest {amount(self.spread)}{which}"


def bartlett(variances: Array, df: Array, kurtosis: float = 0.0) -> tuple[float, float]:
    """Return M/C divided by 1 + κ/2, and its p-value, for independent variances with these degrees of freedom."""
    f, k = float(df.sum()), len(df)
    M = f * math.log(float((df * variances).sum()) / f) - float((df * np.log(variances)).sum())
    C = 1.0 + (float((1.0 / df).sum()) - 1.0 / f) / (3.0 * (k - 1))
    statistic = max(M, 0.0) / C / (1.0 + kurtosis / 2.0)
    return statistic, float(chdtrc(k - 1.0, statistic))


def detectable_ratio(df: Array, kurtosis: float = 0.0) -> float:
    r"""Return the ratio of two error variances, the others between them, that the test detects with power 0.8.

    For log-variances $\pm\frac12\log\rho$ around the others' the statistic is nearly noncentral chi-square with
    noncentrality $\lambda = f \log^2\rho / (4 + 2\kappa)$, f the degrees of freedom of each; λ is the one with power 0.8.
    """
    k = len(df)
    noncentrality = float(chndtrinc(float(chdtri(k - 1.0, LEVEL)), k - 1.0, 0.2))
    return math.exp(2.0 * math.sqrt(noncentrality * (1.0 + kurtosis / 2.0) / float(df.min())))


def trimmed_bartlett(variances: Array, df: Array, kurtosis: float = 0.0) -> tuple[float, float]:
    """Test the smallest four fifths of the variances as if they were all; conservative where none of the others is too large."""
    least = np.argsort(variances, kind="stable")[: len(df) - int(LEFT_OUT * len(df))]
    return bartlett(variances[least], df[least], kurtosis)


def untestable(found: Found) -> str:
    """Return why equal error variances cannot be tested, as part of a sentence; "" if they can."""
    n, p = found.n, len(found.names)
    if not found.method_settings.linear:
        return f"not available with variance={found.settings['variance']!r}, whose equations need not be linear"
    if found.settings.get("variance") == "shrinkage":
        return "not available with variance='shrinkage', which draws the error variances apart"
    if n < least_squares_rows(p) and least_correlation(n, p, LEVEL) > SHOWN:
        return f"{counted(n, 'row')} are too few for {p} variables, and the parents that they do not show make error variances unequal"
    return ""


def equality_test(found: Found) -> EqualVariances | None:
    """Test equal error variances along the order or, for a Dag without one, over its equations.

    None for a Cpdag without an order, and where the test is not possible.
    """
    n, p, ordering = found.n, len(found.names), found.ordering
    if untestable(found) or (ordering is None and found.refit is None):
        return None
    kurtosis = residual_kurtosis(found)
    if ordering is not None and n >= least_squares_rows(p):
        df = np.asarray(n - 1.0 - np.arange(p), dtype=np.float64)
        factor = (ordering if ordering.factor is not None else with_factor(ordering)).known_factor
        variances = factor.L_diagonal**2 / df
    else:
        assert found.refit is not None
        df, variances = found.refit.residual_df.astype(np.float64), found.refit.sem.omega
    detectable = detectable_ratio(df, kurtosis)
    if n >= least_squares_rows(p):
        spread = float(variances.max()) / float(variances.min())  # infinite where no float64 holds it
        return EqualVariances(*bartlett(variances, df, kurtosis), spread, detectable, kurtosis)
    kept = np.sort(variances)[: p - int(LEFT_OUT * p)]
    test = trimmed_bartlett(variances, df, kurtosis)
    return EqualVariances(*test, float(kept[-1] / kept[0]), detectable, kurtosis, LEFT_OUT)


def residual_kurtosis(found: Found) -> float:
    """Return the excess kurtosis of the residuals, averaged over the variables; 0 without rows."""
    rows = None if found.profile is None else found.profile.complete.rows
    if rows is None or len(rows) < FEWEST_ROWS:
        return 0.0
    centred = rows - rows.mean(axis=0)
    if found.factor is not None:
        residuals = found.factor.times_W(centred[:, found.known_ordering.order].T).T * found.factor.L_diagonal
    else:
        assert found.sem is not None
        residuals = centred - found.sem.by_parents(centred)
    squares = (residuals / np.abs(residuals).max(axis=0)) ** 2
    kurtosis = float(np.mean(np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2)) - 3.0
    n = len(squares)
    if found.n < least_squares_rows(len(found.names)):
        # of Gaussian rows that is -6/(n + 1) on average, which adds up where there are more variables than rows
        kurtosis = (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * kurtosis + 6.0)
    return max(kurtosis, LEAST_KURTOSIS)


def equality_finding(found: Found) -> Finding:
    """Report whether the fitted error variances are equal."""
    test = equality_test(found)
    if test is None:
        return unchecked("equal_variances", f"{untestable(found)}.")
    numbers = test._asdict()
    apart = test.numbers if test.left_out else f"largest over smallest {amount(test.spread)}, {chance(test.p_value)}"
    if test.rejected:
        sentence = f"Equal error variances are rejected along the learned order ({apart})."
        return Finding("equal_variances", "look", sentence, numbers)
    just = "only just " if test.doubtful else ""
    sentence = f"Equal error variances are {just}not rejected along the learned order ({apart})"
    if test.left_out:
        sentence += ", but with so few rows a missed parent looks like a larger error variance"
    elif test.detectable > 3.0:
        sentence += f", but with so few rows a factor below {test.detectable:.2g} would often pass"
    level: Level = "look" if test.doubtful or test.left_out or test.detectable > 3.0 else "fine"
    return Finding("equal_variances", level, f"{sentence}.", numbers)
