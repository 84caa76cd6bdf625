r"""Moments of rows with missing values: the maximum of the Gaussian likelihood of what was observed, by EM.

Complete rows enter once, by their sums. A step of EM (Dempster, Laird & Rubin 1977) visits the incomplete rows (`expectations`) and takes
the mean and the covariance of all rows, holes filled by their expectation, with the covariance that the filling leaves. Two steps and the
leap that they point at are a round of SQUAREM (Varadhan & Roland 2008); a leap that lowers the likelihood is not taken. Columns are
centred and scaled by their observed values before.

The observed log likelihood is, with $T = \sum (y - \mu)^\top (y - \mu)$ over filled rows y and h the number of holes,
$-\frac12 (n \log\det\Sigma + \sum \log\det K_{MM} + \operatorname{tr} K (T + \sum K_{MM}^{-1}) - h)$ but for a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ordag.common.arrays import Array, Integers
from ordag.common.compiling import allocating, inlined
from ordag.data.holes import pattern_codes


@inlined
def invert(A: Array, L: Array, m: int) -> float:
    """Replace the corner of A, of m rows, by its inverse; return the logarithm of its determinant. L is room for as much."""
    logarithm = 0.0
    for k in range(m):
        for i in range(k, m):
            total = A[i, k]
            for a in range(k):
                total -= L[i, a] * L[k, a]
            if i == k:
                pivot = math.sqrt(total)
                L[k, k] = pivot
                logarithm += 2.0 * math.log(pivot)
            else:
                L[i, k] = total / pivot
    for k in range(m):  # L becomes its own inverse
        L[k, k] = 1.0 / L[k, k]
        for i in range(k + 1, m):
            total = 0.0
            for a in range(k, i):
                total -= L[i, a] * L[a, k]
            L[i, k] = total / L[i, i]
    for k in range(m):
        for i in range(k, m):
            total = 0.0
            for a in range(i, m):
                total += L[a, i] * L[a, k]
            A[i, k] = total
            A[k, i] = total
    return logarithm


@allocating
def expectations(
    X: Array,
    w: Array,
    starts: Integers,
    holes: Integers,
    patterns: Integers,
    K: Array,
    h: Array,
    first: Array,
    second: Array,
    mixed: Array,
) -> float:
    r"""Add $\sum w f$ to `first`, $\sum w (f^\top f + K_{MM}^{-1})$ to `second` and $\sum w f^\top x$ to `mixed`.

    With K the inverse of the covariance matrix and x a row about a point c, zero at its holes M, the holes have given the rest the
    covariance $K_{MM}^{-1}$ and the mean $c_M + f$, $f = K_{MM}^{-1} (h - K x)_M$ with $h = K (\mu - c)$. So a row with m holes takes
    m p + m³ products and not p³, and only what the holes add to the sums changes from one step to the next.

    Row i has the weight w[i] and the holes holes[starts[i]:starts[i + 1]]; rows of one pattern stand together. Return
    $\sum w \log\det K_{MM}$.
    """
    n, p = X.shape
    A, L, u, f = np.empty((p, p)), np.empty((p, p)), np.empty(p), np.empty(p)
    total = logarithm = 0.0
    last = np.int64(-1)
    for i in range(n):
        begin, m = starts[i], starts[i + 1] - starts[i]
        if patterns[i] != last:
            last = patterns[i]
            for a in range(m):
                for b in range(m):
                    A[a, b] = K[holes[begin + a], holes[begin + b]]
            logarithm = invert(A, L, m)
        weight = w[i]
        if weight == 0.0:
            continue
        total += weight * logarithm
        for a in range(m):
            j = holes[begin + a]
            value = 0.0
            for k in range(p):
                value += K[j, k] * X[i, k]
            u[a] = h[j] - value
        for a in range(m):
            value = 0.0
            for b in range(m):
                value += A[a, b] * u[b]
            f[a] = value
        for a in range(m):
            j = holes[begin + a]
            scaled = weight * f[a]
            first[j] += scaled
            for b in range(m):
                second[j, holes[begin + b]] += scaled * f[b] + weight * A[a, b]
            for k in range(p):
                mixed[j, k] += scaled * X[i, k]
    return total


SETTLED = 1e-7
"""A step that changes no mean, by its standard deviation, and no correlation by more than this is the last."""

MOST_STEPS = 1000

FARTHEST = 256.0
"""The longest leap, in steps."""


class Gaussian(NamedTuple):
    """A mean and a covariance matrix."""

    mean: Array
    S: Array


class Sums(NamedTuple):
    """What the holes add to the sums of rows about a point, given a Gaussian: see `expectations`."""

    first: Array
    second: Array
    mixed: Array
    logarithms: float

    @classmethod
    def zero(cls, p: int) -> Sums:
        return cls(np.zeros(p), np.zeros((p, p)), np.zeros((p, p)), 0.0)

    @classmethod
    def merged(cls, parts: Sequence[Sums]) -> Sums:
        return cls(*(sum(part[1:], part[0]) for part in zip(*parts, strict=True)))


class Block(NamedTuple):
    """Incomplete rows about a point, zero at their holes, by pattern: see `expectations`."""

    X: Array
    starts: Integers
    holes: Integers
    patterns: Integers
    order: Integers

    @classmethod
    def of(cls, rows: Array, centre: Array, scale: Array) -> Block:
        """Scale rows and put those with the same holes together."""
        absent = np.isnan(rows)
        _, numbers = np.unique(pattern_codes(absent), return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        absent = absent[order]
        X = np.where(absent, 0.0, (rows[order] - centre) / scale)
        starts = np.concatenate([[0], np.cumsum(absent.sum(axis=1))])
        return cls(X, starts, np.nonzero(absent)[1], numbers[order], order)

    def add_to(self, sums: Sums, K: Array, h: Array, weights: Array | None = None) -> Sums:
        """Return the sums with those of these rows, whose arrays are changed. `weights` are in the order of the rows as given."""
        w = np.ones(len(self.X)) if weights is None else weights[self.order]
        logs = expectations(
            self.X, w, self.starts, self.holes, self.patterns, K, h, sums.first, sums.second, sums.mixed
        )
        return sums._replace(logarithms=sums.logarithms + logs)


class Totals(NamedTuple):
    """Number, sum and products of rows about a point, zero at their holes, and the number of holes."""

    n: float
    first: Array
    second: Array
    holes: float


class Estimate(NamedTuple):
    """What EM has come to: a Gaussian, the log likelihood but for a constant, and the number of steps."""

    gaussian: Gaussian
    likelihood: float
    steps: int
    settled: bool


def inverse(S: Array) -> tuple[Array, float] | None:
    """Return the inverse of a covariance matrix and the logarithm of its determinant; None where it is not positive definite."""
    L, failed = lapack.dpotrf(S, lower=1)
    if failed:
        return None
    K, failed = lapack.dpotri(L, lower=1)
    if failed:
        return None
    return np.ascontiguousarray(np.tril(K) + np.tril(K, -1).T), 2.0 * float(np.log(np.diagonal(L)).sum())


class Em:
    """Steps of EM over given totals; `expect` gives the sums of all holes for K and h. `prior` rows stand for uncorrelated columns."""

    def __init__(self, totals: Totals, expect: Callable[[Array, Array], Sums], prior: float = 0.0) -> None:
        self.totals, self.expect, self.prior = totals, expect, prior
        self.steps = 0

    def step(self, at: Gaussian) -> tuple[Gaussian, float] | None:
        """Return the next Gaussian, and the log likelihood at this one; None where its covariance is not positive definite."""
        inverted = inverse(at.S)
        if inverted is None:
            return None
        K, logdet = inverted
        n, first, second, holes = self.totals
        found = self.expect(K, K @ at.mean)
        self.steps += 1
        first = first + found.first
        second = second + found.second + found.mixed + found.mixed.T
        mean = first / n
        about = second - np.outer(at.mean, first) - np.outer(first, at.mean) + n * np.outer(at.mean, at.mean)
        likelihood = -0.5 * (n * logdet + found.logarithms + float((K * about).sum()) - holes)
        S = second - n * np.outer(mean, mean)
        if self.prior:
            S[np.diag_indices_from(S)] += self.prior
            likelihood -= 0.5 * self.prior * (logdet + float(np.trace(K)))
        return Gaussian(mean, (S + S.T) / (2.0 * (n + self.prior))), likelihood

    def run(
        self,
        start: Gaussian,
        announce: Callable[[int, float], None] | None = None,
        settled: float = SETTLED,
        most: int = MOST_STEPS,
    ) -> Estimate | None:
        """Go on until a step changes nothing; None where the covariance becomes singular."""
        at, found = start, self.step(start)
        if found is None:
            return None
        one, likelihood = found
        while self.steps < most:
            change = _difference(one, at)
            size = float(np.abs(change).max())
            if announce is not None:
                announce(self.steps, size)
            if size <= settled:
                return Estimate(one, likelihood, self.steps, True)
            found = self.step(one)
            if found is None:
                return None
            two, likelihood = found
            bend = _difference(two, one) - change
            curve = float(np.linalg.norm(bend))
            length = min(max(float(np.linalg.norm(change)) / curve, 1.0), FARTHEST) if curve > 0.0 else 1.0
            at, one = one, two
            if length > 1.0:
                leap = _leap(at, change, bend, length)
                tried = self.step(leap)
                if tried is not None and tried[1] >= likelihood:
                    at, (one, likelihood) = leap, tried
        return Estimate(one, likelihood, self.steps, False)


def _difference(b: Gaussian, a: Gaussian) -> Array:
    """Return the changes of means and covariances, in units of standard deviations."""
    d = np.sqrt(np.maximum(a.S.diagonal(), 1e-300))
    return np.concatenate([((b.mean - a.mean) / d)[None, :], (b.S - a.S) / np.outer(d, d)])


def _leap(at: Gaussian, change: Array, bend: Array, length: float) -> Gaussian:
    """Return the point one step behind `at` that `length` steps at once would reach."""
    d = np.sqrt(at.S.diagonal())
    path = (2.0 * length - 1.0) * change + length**2 * bend
    return Gaussian(at.mean + path[0] * d, at.S + path[1:] * np.outer(d, d))


ENOUGH_REWEIGHTED = 0.05
"""A step that changes no mean and no correlation by more than this share of its standard error is the last."""

MOST_STEPS_REWEIGHTED = 24


class Reweighted:
    """The Gaussian of incomplete rows with other weights, such as those of a bootstrap sample: some steps of EM from that of all rows.

    It takes rows, NaN where values are missing, the Gaussian to begin with, and the share of the rows by which it is drawn (see `Holes`).
    """

    def __init__(self, rows: Array, mean: Array, S: Array, prior: float = 0.0) -> None:
        self.scale = np.sqrt(S.diagonal())
        self._start = Gaussian(np.zeros(len(mean)), S / np.outer(self.scale, self.scale))
        self._missing = np.isnan(rows).any(axis=1)
        self._complete = (rows[~self._missing] - mean) / self.scale
        self._block = Block.of(rows[self._missing], mean, self.scale)
        self._holes = np.diff(self._block.starts).astype(np.float64)
        self.mean, self.prior = mean, prior

    def gaussian(self, weights: Array) -> Gaussian:
        """Return mean and covariance (of divisor Σw) of the rows with these weights."""
        own, partial = weights[~self._missing], weights[self._missing]
        ordered = partial[self._block.order]
        X, Z = self._block.X, self._complete
        totals = Totals(
            float(weights.sum()),
            own @ Z + ordered @ X,
            (Z * own[:, None]).T @ Z + (X * ordered[:, None]).T @ X,
            float(ordered @ self._holes),
        )
        p = len(self.mean)
        em = Em(totals, lambda K, h: self._block.add_to(Sums.zero(p), K, h, partial), self.prior * totals.n)
        found = em.run(self._start, settled=ENOUGH_REWEIGHTED / np.sqrt(len(weights)), most=MOST_STEPS_REWEIGHTED)
        mean, S = self._start if found is None else found.gaussian
        return Gaussian(self.mean + mean * self.scale, S * np.outer(self.scale, self.scale))
