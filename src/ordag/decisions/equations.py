"""Compare one equation between two tables: its weights, its level, its error variance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import counted, shown
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
            raise CollinearError(
                f"In one of the tables {name} or one of its parents follows exactly from the others, or never changes."
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
