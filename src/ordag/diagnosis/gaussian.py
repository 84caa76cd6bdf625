"""Are the rows Gaussian? All columns together by third and fourth moments, and each by itself.

The order and the weights need only variances; what suffers without normality are the p-values, and the claim that nothing but
variances could tell the directions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.special import chdtrc, ndtr

from ordag.arrays import Array
from ordag.diagnosis.normality import kurtosis_test
from ordag.evidence.finding import Finding, Level
from ordag.words import amount, chance, shown

HEAVY = 1.5
"""Mardia's kurtosis over its Gaussian value, from which standard errors are too small by a fifth and more."""
SKEW, EXCESS = 2.0, 7.0
"""Skewness and excess kurtosis of a column beyond which Gaussian theory is off (West, Finch & Curran 1995)."""
BLOCK = 512


class Mardia(NamedTuple):
    """Mardia's (1970) skewness and kurtosis, and their p-values."""

    skewness: float
    skewness_p_value: float
    kurtosis: float
    kurtosis_p_value: float


def mardia(X: Array) -> Mardia:
    r"""Multivariate skewness $b_1 = \frac{1}{n^2}\sum_{ij} (z_i^\top z_j)^3$ and kurtosis $b_2 = \frac1n\sum_i |z_i|^4$.

    z are the rows centred and whitened with the covariance of divisor n. $n b_1 k/6$ with
    $k = (p+1)(n+1)(n+3) / (n((n+1)(p+1) - 6))$ is nearly chi-square with p(p+1)(p+2)/6 degrees of freedom; $b_2$ has the
    mean $p(p+2)(n-1)/(n+1)$ and the variance $8p(p+2)(n-3)(n-p-1)(n-p+1) / ((n+1)^2(n+3)(n+5))$ under normality and is
    compared with a normal distribution (Mardia 1974).
    """
    n, p = X.shape
    Q = qr(X - X.mean(axis=0), mode="economic", check_finite=False)[0]
    Z = Q * math.sqrt(n)
    if n <= p * p:
        products = (Z[i : i + BLOCK] @ Z.T for i in range(0, n, BLOCK))
        cubes = sum(float((G * G * G).sum()) for G in products) / n**2
    else:  # the same sum, by the squared third moments
        cubes = sum(_cubes_from((Z[:, a:] * Z[:, [a]]).T @ Z[:, a:] / n) for a in range(p))
    k = (p + 1.0) * (n + 1.0) * (n + 3.0) / (n * ((n + 1.0) * (p + 1.0) - 6.0))
    kurtosis = float(np.square(np.square(Z).sum(axis=1)).mean())
    mean = p * (p + 2.0) * (n - 1.0) / (n + 1.0)
    variance = 8.0 * p * (p + 2.0) * (n - 3.0) * (n - p - 1.0) * (n - p + 1.0)
    variance /= (n + 1.0) ** 2 * (n + 3.0) * (n + 5.0)
    z = (kurtosis - mean) / math.sqrt(variance)
    degrees = p * (p + 1) * (p + 2) / 6
    return Mardia(cubes, float(chdtrc(degrees, n * cubes * k / 6.0)), kurtosis, float(2.0 * ndtr(-abs(z))))


def _cubes_from(M: Array) -> float:
    """The sum of squares of the third moments $m_{abc}$, in every sequence of a, b and c, whose least index is a; M has them by b and c."""
    within, along = np.square(M[1:, 1:]).sum(), np.square(M[0, 1:]).sum()
    return float(3.0 * (within + along) + M[0, 0] ** 2)


def kurtosis_finding(X: Array, alpha: float) -> Finding:
    """The test that the paper applies to the marks."""
    test = kurtosis_test(X)
    sentence = "do not look Gaussian" if test.p_value < alpha else "are compatible with a Gaussian distribution"
    level: Level = "look" if test.p_value < alpha else "fine"
    return Finding(
        "kurtosis", level, f"By their fourth moments the rows {sentence} ({chance(test.p_value)}).", test._asdict()
    )


def mardia_finding(X: Array, alpha: float) -> Finding:
    """Mardia's two tests, each at half the level."""
    p = X.shape[1]
    test = mardia(X)
    ratio = test.kurtosis / (p * (p + 2))
    numbers = {**test._asdict(), "kurtosis_ratio": ratio}
    p_value = min(1.0, 2.0 * min(test.skewness_p_value, test.kurtosis_p_value))
    apart = f"Mardia's skewness {chance(test.skewness_p_value)}, kurtosis {ratio:.2f} times the Gaussian"
    if p_value >= alpha:
        return Finding("mardia", "fine", f"Skewness and kurtosis are those of Gaussian rows ({apart}).", numbers)
    level: Level = "warning" if ratio > HEAVY else "look"
    return Finding(
        "mardia", level, f"The rows are not Gaussian ({apart}): take p-values with a grain of salt.", numbers
    )


def omnibus(skewness: Array, excess: Array, n: int) -> Array:
    r"""P-values of D'Agostino & Pearson's (1973) test of normality: $z_1^2 + z_2^2$ is nearly chi-square with two degrees of freedom.

    $z_1$ is the skewness made normal by D'Agostino (1970), $z_2$ the kurtosis by Anscombe & Glynn (1983); both have n in the divisor.
    """
    y = skewness * math.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0))
    w2 = math.sqrt(2.0 * (beta - 1.0)) - 1.0
    z1 = np.arcsinh(y / math.sqrt(2.0 / (w2 - 1.0))) / math.sqrt(0.5 * math.log(w2))
    mean = 3.0 * (n - 1.0) / (n + 1.0)
    variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    x = (excess + 3.0 - mean) / math.sqrt(variance)
    root = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    root *= math.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / root * (2.0 / root + math.sqrt(1.0 + 4.0 / root**2))
    z2 = (1.0 - 2.0 / (9.0 * a) - np.cbrt((1.0 - 2.0 / a) / (1.0 + x * math.sqrt(2.0 / (a - 4.0))))) / math.sqrt(
        2.0 / (9.0 * a)
    )
    return np.asarray(chdtrc(2.0, z1**2 + z2**2))


def columns_finding(X: Array, names: tuple[str, ...], alpha: float) -> Finding:
    """D'Agostino & Pearson's test of every column, by skewness and kurtosis, with Bonferroni's correction."""
    Z = X - X.mean(axis=0)
    Z /= np.sqrt(np.square(Z).mean(axis=0))
    squares = np.square(Z)
    skewness, excess = (squares * Z).mean(axis=0), np.square(squares).mean(axis=0) - 3.0
    p_values = omnibus(skewness, excess, len(X))
    rejected = p_values * len(names) < alpha
    worst = int(np.argmin(p_values))
    p_value = min(1.0, float(p_values[worst]) * len(names))
    numbers = {
        "p_value": p_value,
        "rejected": [names[j] for j in np.flatnonzero(rejected).tolist()],
        "worst": names[worst],
        "skewness": float(skewness[worst]),
        "excess_kurtosis": float(excess[worst]),
    }
    if not rejected.any():
        return Finding(
            "columns", "fine", f"Every column by itself looks Gaussian ({chance(p_value)} at least).", numbers
        )
    strong = bool(((np.abs(skewness) > SKEW) | (np.abs(excess) > EXCESS))[rejected].any())
    sentence = (
        f"{int(rejected.sum())} of {len(names)} columns are not Gaussian, {shown(names[worst])} the least "
        f"(skewness {amount(float(skewness[worst]))}, excess kurtosis {amount(float(excess[worst]))}): a transformation may be due."
    )
    return Finding("columns", "warning" if strong else "look", sentence, numbers)
