"""Tests of conditional independence from rows: any function (x, y, Z) → p-value, and one for nonlinear equations."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.special import chdtrc

from ordag.common.arrays import Array
from ordag.errors import SettingError

MOST_KNOTS = 7
DISTANCES_AT_ONCE = 2**20


class RowTest(Protocol):
    """A function that returns the p-value of the independence of x and y given the columns of Z, of which there may be none."""

    def __call__(self, x: Array, y: Array, Z: Array, /) -> float: ...


def distance_correlation(x: Array, y: Array, Z: Array) -> float:
    r"""Test the independence of e and e' in $x = f(Z) + e$ and $y = g(Z) + e'$ with f, g sums of smooth functions.

    With C the bias-corrected distance correlation of the residuals of x and y (Székely & Rizzo 2013) and d the parameters of the
    regressions, the p-value is $P(\chi^2_1 > (n - 1 - d)\, C + 1)$ (Shen, Panda & Vogelstein 2022, with n − 1 − d for n: residuals vary
    in so many dimensions only). It bounds small p-values from above; large ones are only large.
    """
    residuals, parameters = spline_residuals(np.column_stack([x, y]), Z)
    C = corrected_distance_correlation(residuals[:, 0], residuals[:, 1])
    return float(chdtrc(1.0, max((len(x) - 1 - parameters) * C + 1.0, 0.0)))


ROW_TESTS: dict[str, RowTest] = {"distance-correlation": distance_correlation}


def row_test(test: Any) -> RowTest | None:
    """Return the test of rows of this name, or the caller's function (x, y, Z) → p-value; None for anything else."""
    if isinstance(test, str):
        return ROW_TESTS.get(test)
    if not callable(test):
        return None
    try:
        names = [one.lower() for one in inspect.signature(test).parameters]
    except (TypeError, ValueError):
        return None
    return test if names[:3] == ["x", "y", "z"] else None


def row_p_values(X: Array, order: Sequence[int], test: RowTest) -> Array:
    """Return the p-value of every pair given all other predecessors, at [later, earlier] positions; one on and above the diagonal."""
    values = np.ones((len(order), len(order)))
    for m, later in enumerate(order):
        for j, earlier in enumerate(order[:m]):
            others = [*order[:j], *order[j + 1 : m]]
            values[m, j] = row_p_value(test, X, later, earlier, others)
    return values


def row_p_value(test: RowTest, X: Array, later: int, earlier: int, others: Sequence[int]) -> float:
    """Return the p-value of two columns of X given others; SettingError if the test returns none."""
    value = test(X[:, later], X[:, earlier], X[:, others])
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise SettingError(f"The test of rows gave no p-value: {error}.") from error
    if not 0.0 <= number <= 1.0:
        raise SettingError(f"The test of rows gave {number:g}, and a p-value lies between 0 and 1.")
    return number


def spline_residuals(Y: Array, Z: Array) -> tuple[Array, int]:
    """Residuals of the columns of Y on a sum of cubic splines, one for each column of Z, by least squares; and its number of parameters.

    Without a penalty: the parts of f and g that it would leave in both residuals would pass for dependence. The number of knots leaves a
    third of the rows.
    """
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    n, k = Z.shape
    Y = Y - Y.mean(axis=0)
    if not k:
        return Y, 0
    knots = min(MOST_KNOTS, int(2 * n / (3 * k)) - 1)
    if knots < 2:
        raise SettingError(
            f"The test of rows given {k} columns takes {-(-9 * k // 2)} rows or more, and there are {n}: use another test."
        )
    spline = SplineTransformer(n_knots=knots, knots="quantile", extrapolation="linear", include_bias=False)
    basis = spline.fit_transform(StandardScaler().fit_transform(Z))
    U, s, _ = np.linalg.svd(basis - basis.mean(axis=0), full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]  # columns with few distinct values have fewer functions than knots
    return Y - U @ (U.T @ Y), U.shape[1]


def corrected_distance_correlation(x: Array, y: Array) -> float:
    r"""C = ⟨a, b⟩ / √(⟨a, a⟩⟨b, b⟩) of the distances $a_{ij} = |x_i - x_j|$ and $b_{ij} = |y_i - y_j|$.

    $\langle a, b \rangle = \sum_{ij} a_{ij} b_{ij} - \tfrac{2}{n-2} \sum_i a_i b_i + \tfrac{1}{(n-1)(n-2)} \sum_i a_i \sum_i b_i$, with
    $a_i = \sum_j a_{ij}$, is n(n − 3) times the unbiased squared distance covariance (Székely & Rizzo 2014). C is zero where a column is
    constant but for at most one value.
    """
    n = len(x)
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return 0.0  # rounding would leave something to divide by
    a, b = _sums_of_distances(x), _sums_of_distances(y)
    step = max(1, DISTANCES_AT_ONCE // n)
    products = sum(
        float(np.sum(np.abs(x[i : i + step, None] - x) * np.abs(y[i : i + step, None] - y))) for i in range(0, n, step)
    )
    squares_x, squares_y = 2.0 * n * n * x.var(), 2.0 * n * n * y.var()
    of_x, of_y = _inner(squares_x, a, a), _inner(squares_y, b, b)
    if of_x <= 1e-12 * squares_x or of_y <= 1e-12 * squares_y:
        return 0.0
    return _inner(products, a, b) / float(np.sqrt(of_x * of_y))


def _inner(products: float, a: Array, b: Array) -> float:
    n = len(a)
    return float(products - 2.0 / (n - 2) * (a @ b) + a.sum() * b.sum() / ((n - 1) * (n - 2)))


def _sums_of_distances(x: Array) -> Array:
    """Σ_j |x_i − x_j| for every i, by sorting."""
    n = len(x)
    order = np.argsort(x)
    ranked = x[order]
    below = np.cumsum(ranked) - ranked
    sums = np.empty(n)
    sums[order] = ranked * (2.0 * np.arange(n) - n + 1.0) + (ranked.sum() - ranked) - 2.0 * below
    return sums
