"""Test whether rows come from two populations: mixtures of two Gaussian distributions that differ in means or covariances."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.special import bdtr, expit, ndtri

from ordag.assess.dependence import levels
from ordag.common.arrays import Array

MOST_ROWS = 4000
"""Rows to look at; of more every second, fourth, …"""

DISCRETE = 10
"""Columns of fewer values are not mixed: two values are two groups by themselves, and what they cause is in groups too."""

STEPS, STARTS = 40, 8

VALLEY = 0.001
"""Level of the test that rows are rarer between the two means than at each of them."""


FEWER_ROWS, MOST_COLUMNS = 1000, 20
"""Rows and columns to look at for two covariance matrices."""

RIDGE, TOLERANCE = 1e-3, 0.01
"""Added to the variances of a group, and what a step of EM has to gain."""

BETTER = 50.0
"""The least improvement in BIC for two covariance matrices."""

OPPOSED = 10.0
"""The ratio of variances between two groups that some directions have to have one way and others the other way: heavy tails look like
two groups too, but one of these varies more in every direction."""


SMALLEST = 0.1
"""The smallest share of a group with its own covariance matrix."""


class Split(NamedTuple):
    """Two groups: the share of the smaller, how far apart in standard deviations, and by column how far the means are apart.

    gain: twice the log likelihood above that of one group, less what Gaussian rows of one group would reach. valley: the p-value of
    as many rows at the middle as at one of the means.
    """

    share: float
    apart: float
    differences: Array
    gain: float
    valley: float

    @property
    def found(self) -> bool:
        return self.gain > 0.0 and self.valley < VALLEY


class Mixture(NamedTuple):
    """Two groups in whitened rows: the direction between their means, its projections of both means, the first one's share, the
    variance within groups along it, and twice the log likelihood above that of one group."""

    direction: Array
    means: tuple[float, float]
    share: float
    within: float
    gain: float


def two_groups(X: Array, seed: int = 0) -> Split | None:
    """Split the rows into two groups of one covariance matrix, given the columns of few values; None if no others are left.

    Rounded values are spread evenly over what they were rounded from, with random numbers.
    """
    X = X[:: -(-len(X) // MOST_ROWS)]
    codes, counts = levels(X)
    many = counts >= DISCRETE
    if not many.any():
        return None
    n = len(X)
    Y = spread(X[:, many], codes[:, many], np.random.default_rng(seed))
    Y = Y - Y.mean(axis=0)
    Y = Y / np.sqrt(np.square(Y).mean(axis=0))
    if not many.all():
        dummies = np.column_stack([codes[:, j] == v for j in np.flatnonzero(~many) for v in range(counts[j])])
        Q, R = np.linalg.qr(np.column_stack([np.ones(n), dummies[:, : n // 5]]).astype(np.float64))
        Q = Q[:, np.abs(np.diagonal(R)) > 1e-9 * math.sqrt(n)]
        Y = Y - Q @ (Q.T @ Y)
    values, vectors = np.linalg.eigh(Y.T @ Y / n)
    sound = values > 1e-9
    Z = Y @ (vectors[:, sound] / np.sqrt(values[sound]))
    if n < 3 * Z.shape[1] or not sound.any():
        return None
    best = mixture(Z)
    t = Z @ best.direction
    first = expit(_log_odds(t, best))
    weights = np.column_stack([first, 1.0 - first])
    means = (weights.T @ X) / weights.sum(axis=0)[:, None]
    deviations = np.sqrt(np.square(X - X.mean(axis=0)).mean(axis=0))
    return Split(
        min(best.share, 1.0 - best.share),
        abs(best.means[0] - best.means[1]) / math.sqrt(best.within),
        np.where(many, np.abs(means[0] - means[1]) / deviations, 0.0),
        best.gain - bound(Z.shape[1]),
        valley(t, *best.means),
    )


class Models(NamedTuple):
    """Two groups of other covariances: the smaller one's share, the BIC above that of one, the `OPPOSED` ratio, and the two
    columns whose correlation differs most, with both correlations."""

    share: float
    gain: float
    opposed: float
    pair: tuple[int, int]
    correlations: tuple[float, float]

    @property
    def found(self) -> bool:
        return self.gain > BETTER and self.opposed > OPPOSED and self.share > SMALLEST


def two_models(X: Array, seed: int = 0) -> Models | None:
    r"""Split the rows into two groups of different covariance matrices, as of two structural equation models; None if too few rows.

    Columns are replaced by their normal scores first, which takes their own skewness and heavy tails away. Of z, these with
    covariance I, a mixture of two covariances has the fourth cumulants of one matrix M, the difference of both:
    $E[(z^\top M z)\, z z^\top] - 2M - \mathrm{tr}(M)\,I \propto M$. So M is found by power iteration, without its part along I, which is
    that of heavy tails; the rows are split at the median and at the lower quartile of zᵀMz, and EM goes on from there. In heavy
    tails one group varies more in every direction; groups with equations of their own vary more in some and less in others.
    """
    X = X[:: -(-len(X) // FEWER_ROWS)]
    codes, counts = levels(X)
    many = np.flatnonzero(counts >= DISCRETE)
    n, p = len(X), len(many)
    if not 2 <= p <= MOST_COLUMNS or n < 2 * p * (p + 3):
        return None
    Y = np.column_stack([normal_scores(codes[:, j]) for j in many])
    values, vectors = np.linalg.eigh(Y.T @ Y / n)
    if values[0] < 1e-9:
        return None
    Z = Y @ (vectors / np.sqrt(values))
    M = _traceless(np.random.default_rng(seed).standard_normal((p, p)))
    for _ in range(STEPS):
        q = np.einsum("ij,ij->i", Z @ M, Z)
        M = _traceless((Z * q[:, None]).T @ Z / n - 2.0 * M)
    q = np.einsum("ij,ij->i", Z @ M, Z)
    splits = [_two_covariances(Z, np.where(q > np.quantile(q, cut), 0.9, 0.1)) for cut in (0.5, 0.25)]
    likelihood, first = max(splits, key=lambda split: split[0])
    share = float(first.mean())
    one, other = _covariance(Y, first), _covariance(Y, 1.0 - first)
    ratios = eigh(one, other, eigvals_only=True)
    r1, r2 = (C / np.sqrt(np.outer(np.diagonal(C), np.diagonal(C))) for C in (one, other))
    a, b = (int(k) for k in np.unravel_index(int(np.argmax(np.abs(r1 - r2))), r1.shape))
    return Models(
        min(share, 1.0 - share),
        likelihood + n * p - (p * (p + 3) / 2 + 1) * math.log(n),
        float(min(1.0 / ratios[0], ratios[-1])),
        (int(many[min(a, b)]), int(many[max(a, b)])),
        (float(r1[a, b]), float(r2[a, b])),
    )


def normal_scores(codes: NDArray[np.intp]) -> Array:
    """Return the normal scores of a column from its average ranks, with mean 0 and variance 1."""
    size = np.bincount(codes)
    scores = ndtri((np.cumsum(size) - size / 2.0) / len(codes))[codes]
    scores = scores - scores.mean()
    return np.asarray(scores / np.sqrt(np.square(scores).mean()))


def _traceless(M: Array) -> Array:
    """Return the symmetric, traceless part of M, normalised to length 1."""
    M = M + M.T
    M = M - np.trace(M) / len(M) * np.eye(len(M))
    return np.asarray(M / np.sqrt(np.square(M).sum()))


def _covariance(Z: Array, weights: Array) -> Array:
    D = Z - (weights @ Z) / weights.sum()
    p = Z.shape[1]
    return np.asarray((D * weights[:, None]).T @ D / weights.sum() + RIDGE * np.eye(p))


def _two_covariances(Z: Array, first: Array) -> tuple[float, Array]:
    """Return twice the log likelihood of two Gaussian groups, up to a constant, and each row's chance of the first, by EM."""
    likelihood = -math.inf
    for _ in range(STEPS):
        logs = []
        for weights in (first, 1.0 - first):
            share = weights.mean()
            L = cholesky(_covariance(Z, weights), lower=True)
            y = solve_triangular(L, (Z - (weights @ Z) / weights.sum()).T, lower=True)
            logs.append(math.log(share) - np.square(y).sum(axis=0) / 2.0 - np.log(np.diagonal(L)).sum())
        both = np.logaddexp(*logs)
        first = np.clip(np.exp(logs[0] - both), 1e-12, 1.0 - 1e-12)
        before, likelihood = likelihood, 2.0 * float(both.sum())
        if likelihood - before < TOLERANCE:
            break
    return likelihood, first


def bound(p: int) -> float:
    """Return the most that `mixture` gained in Gaussian rows of one group, in 1,500 tables (p 1 to 50, n 60 to 4000)."""
    return 3.5 * p + 25.0


def spread(X: Array, codes: NDArray[np.intp], random: np.random.Generator) -> Array:
    """Move repeated values at random within the half-way points to their neighbours."""
    Y = X.copy()
    for j in range(X.shape[1]):
        distinct = np.unique(X[:, j])
        if len(distinct) < len(X):
            half = np.diff(distinct) / 2.0
            low, high = np.append(half[:1], half), np.append(half, half[-1:])
            k = codes[:, j]
            u = random.random(len(X))
            Y[:, j] += u * high[k] - (1.0 - u) * low[k]
    return Y


def mixture(Z: Array) -> Mixture:
    r"""Fit two groups of one covariance matrix to rows of mean 0 and covariance I, by EM.

    With the share π and mean m₁ of the first group, $\delta = m_1 - m_2 = m_1/(1-\pi)$ and $D = 1 - \pi(1-\pi)|\delta|^2$, the
    variance within groups along δ, the log odds of the first group are $\log\frac{\pi}{1-\pi} + \delta^\top (z - \frac{m_1+m_2}{2})/D$: all
    that counts is the projection on δ. Starts are the directions of the least and the greatest fourth moments.
    """
    n, p = Z.shape
    K = (Z * np.square(Z).sum(axis=1)[:, None]).T @ Z
    vectors = np.linalg.eigh(K)[1]
    picks = sorted({*range(min(p, STARTS - 2)), *range(max(p - 2, 0), p)})
    weights = (Z @ vectors[:, picks] > 0).astype(np.float64)
    pi = d = size = D = np.empty(0)
    for _ in range(STEPS):
        pi = np.clip(weights.mean(axis=0), 1.0 / n, 1.0 - 1.0 / n)
        d = (Z.T @ weights) / n / (pi * (1.0 - pi))
        size = np.sqrt(np.square(d).sum(axis=0))
        D = np.maximum(1.0 - pi * (1.0 - pi) * size**2, 1e-6)
        t = Z @ (d / size)
        weights = expit(np.log(pi / (1.0 - pi)) + (t - (0.5 - pi) * size) * size / D)
    t = Z @ (d / size)
    first, second = (1.0 - pi) * size, -pi * size
    gains = (
        np.logaddexp(np.log(pi) - (t - first) ** 2 / (2 * D), np.log(1.0 - pi) - (t - second) ** 2 / (2 * D))
        - 0.5 * np.log(D)
        + t**2 / 2.0
    ).sum(axis=0)
    k = int(np.argmax(gains))
    return Mixture(
        d[:, k] / size[k], (float(first[k]), float(second[k])), float(pi[k]), float(D[k]), 2.0 * float(gains[k])
    )


def _log_odds(t: Array, groups: Mixture) -> Array:
    first, second = groups.means
    middle = (first + second) / 2.0
    return np.asarray(math.log(groups.share / (1.0 - groups.share)) + (t - middle) * (first - second) / groups.within)


def valley(t: Array, first: float, second: float) -> float:
    """Return the p-value that as many values lie around the middle of two means as around one of them.

    A density with one peak has no less at the middle than at one of both sides. So if the counts N₀, N₁, N₂ of three intervals of the
    same width are given, one of the binomial tests of N₀ among N₀ + N₁ and among N₀ + N₂ keeps its level: the larger p-value counts.
    """
    half = abs(first - second) / 6.0
    side = [int((np.abs(t - centre) < half).sum()) for centre in (first, second)]
    middle = int((np.abs(t - (first + second) / 2.0) < half).sum())
    return max(float(bdtr(middle, middle + count, 0.5)) if middle + count else 1.0 for count in side)
