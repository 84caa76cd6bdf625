r"""Test whether the rows are Gaussian: the kurtosis test of Kankainen, Taskinen & Oja (2007).

A Gaussian vector has no more to its fourth moments than its covariance S says. Let $d_i^2$ be the squared Mahalanobis
distance of row i, $(x_i - \bar x)^\top S^{-1} (x_i - \bar x)$. The fourth-moment matrix

    $\mathrm{cov}_4 = \frac{1}{n(p+2)} \sum_i d_i^2\, (x_i - \bar x)(x_i - \bar x)^\top$

then estimates the same matrix as S, and the test asks how far $K = S^{-1/2}\,\mathrm{cov}_4\,S^{-1/2}$, which has the
eigenvalues of $S^{-1}\mathrm{cov}_4$, is from the identity:

    $W = n \lVert K - I \rVert^2$, the sum of squared entries.

**Its distribution for many Gaussian rows.** W does not change when the columns are shifted or mixed, so let x be standard
normal, and let $D = \frac1n\sum x_i x_i^\top - I$, small of order $n^{-1/2}$. Replacing x by $S^{-1/2}x$, about
$(I - D/2)x$, and using $\mathrm E\,|x|^2 xx^\top = (p+2)I$ and $\mathrm E\,(x^\top D x)\,xx^\top = 2D + \operatorname{tr}(D)I$
gives, up to smaller terms (the mean is among them: odd moments vanish),

    $K - I = \frac{1}{n}\sum_i \psi(x_i)$,
    $(p+2)\,\psi(x) = |x|^2 xx^\top - (p+4)\,xx^\top - (|x|^2 - p - 2)\,I$.

With x = ru, u on the unit sphere and independent of $r^2 \sim \chi^2_p$, ψ falls into two uncorrelated parts:

- without trace: $\frac{r^4 - (p+4)r^2}{p+2}\,(uu^\top - I/p)$. It has no preferred direction among the symmetric matrices
  without trace, a space of $q = p(p+1)/2 - 1$ dimensions, so its variance is the same in each of them: with
  $\mathrm E\,(r^4 - (p+4)r^2)^2 = 2p(p+2)(p+4)$ and $\lVert uu^\top - I/p \rVert^2 = 1 - 1/p$ it is $4(p+4)/(p+2)^2$.
- the trace: $(r^4 - 2(p+2)r^2 + p(p+2))/(p+2)$, with variance $8p/(p+2)$; in $\lVert\cdot\rVert^2$ it counts 1/p.

By the central limit theorem W tends to

    $\frac{4(p+4)}{(p+2)^2}\,\chi^2_q + \frac{8}{p+2}\,\chi^2_1$,    the two independent.

As in the R package ICS, S has the divisor n − 1 and cov₄ the divisor n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.linalg import qr
from scipy.special import chdtrc, gammaincc, ndtr

from ordag.assess.finding import Finding, Level, unchecked
from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths
from ordag.common.words import amount, chance, counted, shown
from ordag.errors import CollinearError, DataError, NonFiniteError, TooFewRowsError

HEAVY = 1.5
"""Mardia's kurtosis over its Gaussian value, from which standard errors are too small by a fifth and more."""
SKEW, EXCESS = 2.0, 7.0
"""Skewness and excess kurtosis of a column beyond which Gaussian theory is off (West, Finch & Curran 1995)."""
BLOCK_ROWS = 512


class KurtosisTest(NamedTuple):
    """W, and the share of Gaussian tables of many rows in which it is larger."""

    statistic: float
    p_value: float


def kurtosis_test(X: ArrayLike) -> KurtosisTest:
    """Test whether the rows of X (n, p) come from one multivariate normal distribution, by their fourth moments.

    A small p-value speaks against it. The distribution is that for many rows, and is reached slowly: of Gaussian tables
    with n = 88 and p = 5, 4% have a p-value below 5% and 2% one below 1%, but half of them one above 0.73.
    """
    rows = _checked(X)
    n, p = rows.shape
    Z = rows - rows.mean(axis=0)
    # The rows of Q are those of X with S = I/(n − 1), up to a rotation that W does not see: no inverse is needed.
    Q, R = qr(Z, mode="economic", check_finite=False)
    for j in np.flatnonzero(np.abs(np.diagonal(R)) <= n * EPSILON * lengths(rows)).tolist():
        raise CollinearError(f"Column {j + 1} is constant or a combination of the columns before it: leave it out.")
    K = (n - 1.0) ** 2 / (n * (p + 2.0)) * (Q.T @ (Q * np.square(Q).sum(axis=1)[:, None]))
    W = n * float(np.square(K - np.eye(p)).sum())
    return KurtosisTest(W, mixture_tail(W, p))


def mixture_tail(w: float, p: int) -> float:
    r"""Return the chance that $\frac{4(p+4)}{(p+2)^2}\chi^2_q + \frac{8}{p+2}\chi^2_1$ exceeds w, where q = p(p + 1)/2 − 1.

    Given the standard normal z whose square is the second term, the first has a known tail:
    $2\int_0^{c} \varphi(z)\, P(a\chi^2_q > w - bz^2)\,dz + 2\Phi(-c)$ with $c = \sqrt{w/b}$, integrated numerically.
    """
    q = p * (p + 1) / 2 - 1
    a, b = 4.0 * (p + 4) / (p + 2) ** 2, 8.0 / (p + 2)
    c = math.sqrt(max(w, 0.0) / b)
    beyond = 2.0 * float(ndtr(-c))
    if q == 0:
        return beyond

    def density(z: float) -> float:
        return math.exp(-z * z / 2.0) * float(gammaincc(q / 2.0, max(w - b * z * z, 0.0) / (2.0 * a)))

    within = quad(density, 0.0, c, epsabs=0.0, epsrel=1e-10, limit=200)[0]
    return min(1.0, math.sqrt(2.0 / math.pi) * within + beyond)


def _checked(X: ArrayLike) -> Array:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(f"The data have shape {rows.shape}: give a table with one row per observation.")
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0].tolist()
        raise NonFiniteError(f"Row {i + 1}, column {j + 1} is {rows[i, j]}: leave out rows with missing values.")
    n, p = rows.shape
    if n < p + 2:
        raise TooFewRowsError(f"{counted(n, 'row')} for {counted(p, 'column')}: fourth moments need at least {p + 2}.")
    return rows


class Mardia(NamedTuple):
    """Mardia's (1970) skewness and kurtosis with their p-values."""

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
        products = (Z[i : i + BLOCK_ROWS] @ Z.T for i in range(0, n, BLOCK_ROWS))
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
    """Return the sum of squares of the third moments $m_{abc}$ over all sequences of a, b, c with least index a; M holds them by b, c."""
    within, along = np.square(M[1:, 1:]).sum(), np.square(M[0, 1:]).sum()
    return float(3.0 * (within + along) + M[0, 0] ** 2)


def kurtosis_finding(X: Array, alpha: float) -> Finding:
    """Report the kurtosis test that the paper applies to the marks."""
    test = kurtosis_test(X)
    sentence = "are not Gaussian" if test.p_value < alpha else "are compatible with a Gaussian distribution"
    level: Level = "look" if test.p_value < alpha else "fine"
    return Finding(
        "kurtosis", level, f"By their fourth moments the rows {sentence} ({chance(test.p_value)}).", test._asdict()
    )


def mardia_finding(X: Array, alpha: float) -> Finding:
    """Report Mardia's two tests, each at half the level."""
    p = X.shape[1]
    test = mardia(X)
    ratio = test.kurtosis / (p * (p + 2))
    numbers = {**test._asdict(), "kurtosis_ratio": ratio}
    p_value = min(1.0, 2.0 * min(test.skewness_p_value, test.kurtosis_p_value))
    apart = f"Mardia's skewness {chance(test.skewness_p_value)}, kurtosis {ratio:.2f} times the Gaussian"
    if p_value >= alpha:
        return Finding("mardia", "fine", f"Skewness and kurtosis are compatible with Gaussian rows ({apart}).", numbers)
    level: Level = "warning" if ratio > HEAVY else "look"
    return Finding("mardia", level, f"The rows are not Gaussian ({apart}): p-values are only approximate.", numbers)


def omnibus(skewness: Array, excess: Array, n: int) -> Array:
    r"""Return p-values of D'Agostino & Pearson's (1973) test of normality: $z_1^2 + z_2^2$ is nearly chi-square with 2 degrees of freedom.

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
    """Report D'Agostino & Pearson's test of every column with more than two values, with Bonferroni's correction."""
    judged = ((X.min(axis=0) != X) & (X.max(axis=0) != X)).any(axis=0)
    if not judged.any():
        return unchecked("columns", "every column has two values.")
    X, names = X[:, judged], tuple(name for name, one in zip(names, judged, strict=True) if one)
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
        f"(skewness {amount(float(skewness[worst]))}, excess kurtosis {amount(float(excess[worst]))}): a transformation may help."
    )
    return Finding("columns", "warning" if strong else "look", sentence, numbers)
