"""Compare equations between two tables: weights, level, error variance, and what each adds to the change of a target."""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import counted, listed, shown
from ordag.data.moments import Moments
from ordag.errors import CollinearError, TooFewRowsError


class Equation(NamedTuple):
    """A variable regressed on its parents in one table: x_j = intercept + x_P b + e.

    `spread` is $(X_P^\\top X_P)^{-1}$ of the centred parents, so that `variance` · `spread` is the covariance of the weights.
    """

    rows: int
    parents: Array  # their means
    mean: float
    weights: Array
    spread: Array
    variance: float
    df: int

    @classmethod
    def fitted(cls, moments: Moments, j: int, parents: NDArray[np.intp]) -> Equation:
        """Fit the equation of variable j."""
        k, name = len(parents), shown(moments.names[j])
        df = moments.n - 1 - k
        if df < 1:
            raise TooFewRowsError(
                f"{name} has {counted(k, 'parent')}, which takes at least {k + 2} rows; there are {moments.n}."
            )
        columns = moments.R[:, [*parents, j]]
        U = triangle(columns)
        if not (np.abs(U.diagonal()) > 8 * EPSILON * lengths(columns)).all():
            never = {*unchanging(moments)}
            fixed = [moments.names[i] for i in (*parents, j) if moments.names[i] in never]
            if fixed:
                raise CollinearError(
                    f"{listed(fixed)} never {'changes' if len(fixed) == 1 else 'change'} in one of the tables: leave "
                    f"{'it' if len(fixed) == 1 else 'them'} out of the graph."
                )
            raise CollinearError(
                f"In one of the tables one of {listed([moments.names[i] for i in (*parents, j)])} follows exactly from the others: leave "
                "one of them out (drop=…, --drop), or take the arrow out of the graph."
            )
        inverse = np.linalg.solve(U[:k, :k], np.eye(k))
        return cls(
            moments.n,
            moments.mean[parents],
            float(moments.mean[j]),
            inverse @ U[:k, k],
            inverse @ inverse.T,
            float(U[k, k] ** 2 / df),
            df,
        )

    @property
    def intercept(self) -> float:
        return self.mean - float(self.parents @ self.weights)

    def level_at(self, parents: Array) -> tuple[float, float]:
        """Return the expected value at these values of the parents, and its variance."""
        away = parents - self.parents
        return self.mean + float(away @ self.weights), self.variance * (
            1.0 / self.rows + float(away @ self.spread @ away)
        )


def unchanging(moments: Moments) -> list[str]:
    """Return the variables that have the same value in all rows."""
    least = 1e-12 * np.sqrt(moments.n) * np.abs(moments.mean)
    return [name for name, same in zip(moments.names, moments.spread <= least, strict=True) if same]


class Difference(NamedTuple):
    """P-values of equal weights, equal level and equal error variance; the level at the mean of the parents over both tables."""

    weights: float
    level: float
    variance: float
    level_before: float
    level_after: float


def compare(before: Equation, after: Equation, kurtosis: float = 0.0) -> Difference:
    r"""Test whether two fitted equations are the same.

    Error variances are compared by F, with degrees of freedom over $1 + \kappa/2$ for errors with the excess kurtosis κ, because the
    logarithm of an estimated variance varies by $(2 + \kappa)/d$ (Box & Andersen 1955). The weights are compared by Wald's statistic,
    and the level by t, both with separate error variances and with Satterthwaite's degrees of freedom (Welch 1947).
    """
    ratio = before.variance / after.variance
    worth = 1.0 / (1.0 + max(kurtosis, 0.0) / 2.0)
    tail = float(fdtrc(before.df * worth, after.df * worth, ratio))
    middle = (before.rows * before.parents + after.rows * after.parents) / (before.rows + after.rows)
    (low, low_variance), (high, high_variance) = before.level_at(middle), after.level_at(middle)
    return Difference(
        _weights_differ(before, after),
        _welch(high - low, (low_variance, before.df), (high_variance, after.df)),
        2.0 * min(tail, 1.0 - tail),
        low,
        high,
    )


def _weights_differ(before: Equation, after: Equation) -> float:
    k = len(before.weights)
    if not k:
        return float("nan")
    parts = [before.variance * before.spread, after.variance * after.spread]
    both = parts[0] + parts[1]
    away = after.weights - before.weights
    shares = [float(np.trace(np.linalg.solve(both, part))) / k for part in parts]
    df = 1.0 / (shares[0] ** 2 / before.df + shares[1] ** 2 / after.df)
    return float(fdtrc(k, df, float(away @ np.linalg.solve(both, away)) / k))


def _welch(away: float, *groups: tuple[float, int]) -> float:
    total = sum(variance for variance, _ in groups)
    df = total**2 / sum(variance**2 / df for variance, df in groups)
    return float(2.0 * stdtr(df, -abs(away) / np.sqrt(total)))


EXACT_UP_TO = 12
"""Equations up to which all sets are looked at."""

ORDERS = 500
"""Orders, each with its reverse, that are drawn where there are more equations."""

FEW_ORDERS = 15
"""As many for one resample: what an equation adds depends far less on the order than on the rows."""


class Model(NamedTuple):
    """The equations of the ancestors of a target and of the target, which is last: B, intercepts and error variances, causes first."""

    B: Array
    intercepts: Array
    omega: Array


def moments_of(before: Model, after: Model, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the mean and the variance of the target, for every row of `chosen`: which equations are those of after."""
    count, p = chosen.shape
    total = np.zeros((count, p))
    total[:, -1] = 1.0
    for j in range(p - 2, -1, -1):  # T_jt = Σ_k b_jk T_kt, and the weights into k are those of k's equation
        weights = np.where(chosen[:, j + 1 :], after.B[j, j + 1 :], before.B[j, j + 1 :])
        total[:, j] = (weights * total[:, j + 1 :]).sum(axis=1)
    means = (np.where(chosen, after.intercepts, before.intercepts) * total).sum(axis=1)
    return means, (np.where(chosen, after.omega, before.omega) * total**2).sum(axis=1)


def shapley(before: Model, after: Model, random: np.random.Generator, orders: int = ORDERS) -> tuple[Array, Array]:
    r"""Return the value of every equation for the mean and for the variance of the target; they add up to the whole change.

    With the equations of a set S from after and the others from before, the target t has the mean $\sum_j a_j T_{jt}$ and the variance
    $\sum_j T_{jt}^2 \omega_j$, with the total effects $T_{jt}$. The value of an equation is what it changes when it joins, averaged over
    the orders in which the equations join (Shapley 1953; Budhathoki et al. 2021).
    """
    p = len(before.omega)
    if p > EXACT_UP_TO:
        return _sampled(before, after, random, orders)
    chosen = (np.arange(1 << p)[:, None] >> np.arange(p) & 1).astype(bool)
    sizes = chosen.sum(axis=1)
    weight = np.array([factorial(k) * factorial(p - 1 - k) / factorial(p) if k < p else 0.0 for k in sizes])
    found = []
    for values in moments_of(before, after, chosen):
        gains = [weight[~chosen[:, j]] @ (values[chosen[:, j]] - values[~chosen[:, j]]) for j in range(p)]
        found.append(np.array(gains))
    return found[0], found[1]


def _sampled(before: Model, after: Model, random: np.random.Generator, orders: int) -> tuple[Array, Array]:
    p = len(before.omega)
    totals = np.zeros((2, p))
    for _ in range(orders):
        order = random.permutation(p)
        for joining in (order, order[::-1]):
            chosen = np.zeros((p + 1, p), dtype=bool)
            for k, j in enumerate(joining):
                chosen[k + 1 :, j] = True
            for total, values in zip(totals, moments_of(before, after, chosen), strict=True):
                total[joining] += np.diff(values)
    return totals[0] / (2 * orders), totals[1] / (2 * orders)
