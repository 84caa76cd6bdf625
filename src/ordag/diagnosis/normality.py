r"""Are the rows Gaussian? The kurtosis test of Kankainen, Taskinen & Oja (2007).

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
from scipy.special import gammaincc, ndtr

from ordag.arrays import Array
from ordag.errors import CollinearError, DataError, NonFiniteError, TooFewRowsError
from ordag.linalg import EPSILON, lengths
from ordag.words import counted


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
    r"""The chance that $\frac{4(p+4)}{(p+2)^2}\chi^2_q + \frac{8}{p+2}\chi^2_1$ exceeds w, where q = p(p + 1)/2 − 1.

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
