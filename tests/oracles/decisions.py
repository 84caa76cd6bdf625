"""Slow, literal versions of what the decisions room computes; they share no code with it."""

from itertools import permutations

import numpy as np
from scipy.optimize import minimize


def residuals(X, j, given):
    """What least squares on `given` and a constant leaves of column j."""
    Z = np.column_stack([np.ones(len(X)), X[:, list(given)]])
    return X[:, j] - Z @ np.linalg.lstsq(Z, X[:, j], rcond=None)[0]


def partial_correlation(X, i, j, given):
    a, b = residuals(X, i, given), residuals(X, j, given)
    return a @ b / np.sqrt((a @ a) * (b @ b))


def likelihood_ratio(X, parents, order):
    """n times the sum of log variances given the parents, less that of log variances given all earlier variables."""
    n, total = len(X), 0.0
    for place, j in enumerate(order):
        total += np.log(np.mean(residuals(X, j, parents[j]) ** 2)) - np.log(
            np.mean(residuals(X, j, order[:place]) ** 2)
        )
    return n * total


def fitted_by_search(S, edges):
    """The least discrepancy log |Σ| + tr SΣ⁻¹ − log |S| − p over weights and error variances, and the number of these parameters.

    Nothing is known here of regressions: Σ = (I − B)⁻ᵀ Ω (I − B)⁻¹ is put together for every try.
    """
    p = len(S)

    def discrepancy(values):
        B = np.zeros((p, p))
        for (i, j), weight in zip(edges, values, strict=False):
            B[i, j] = weight
        effects = np.linalg.inv(np.eye(p) - B)
        implied = effects.T @ np.diag(np.exp(values[len(edges) :])) @ effects
        return np.linalg.slogdet(implied)[1] + np.trace(S @ np.linalg.inv(implied)) - np.linalg.slogdet(S)[1] - p

    start = np.r_[np.zeros(len(edges)), np.log(np.diag(S))]
    found = minimize(discrepancy, start, method="BFGS", options={"gtol": 1e-9})
    return found.fun, len(start)


def bic(X, parents):
    """−2 log L at the maximum of the likelihood, and log n for every weight, intercept and variance."""
    n = len(X)
    value, count = 0.0, 0
    for j, given in enumerate(parents):
        variance = np.mean(residuals(X, j, given) ** 2)
        value += n * (np.log(2 * np.pi * variance) + 1)
        count += len(given) + 2
    return value + count * np.log(n)


def shapley_by_orders(value, players):
    """What each player adds, averaged over all orders in which they come."""
    total = np.zeros(len(players))
    orders = list(permutations(range(len(players))))
    for order in orders:
        there = set()
        for player in order:
            before = value(there)
            there = there | {player}
            total[player] += value(there) - before
    return total / len(orders)


def mixed_model_moments(models, chosen, target):
    """Mean and variance of the target where the equations in `chosen` are those of the second model: solved as linear equations."""
    p = len(models[0][2])
    B, a, omega = (np.array(part, dtype=float) for part in models[0])
    for j in chosen:
        B[:, j], a[j], omega[j] = models[1][0][:, j], models[1][1][j], models[1][2][j]
    inverse = np.linalg.inv(np.eye(p) - B)
    return (a @ inverse)[target], (inverse.T @ np.diag(omega) @ inverse)[target, target]


def without_row(X, row, j, given):
    """The t of a row's error in the regression fitted to the other rows, and its degrees of freedom."""
    rest = np.delete(X, row, axis=0)
    Z = np.column_stack([np.ones(len(rest)), rest[:, list(given)]])
    b, *_ = np.linalg.lstsq(Z, rest[:, j], rcond=None)
    df = len(rest) - Z.shape[1]
    s2 = np.sum((rest[:, j] - Z @ b) ** 2) / df
    z = np.array([1.0, *X[row, list(given)]])
    return (X[row, j] - z @ b) / np.sqrt(s2 * (1 + z @ np.linalg.solve(Z.T @ Z, z))), df


def mean_if_set(B, intercept, given):
    """The mean of every variable with some of them set, one equation after the other, causes first."""
    p = len(B)
    means, left = {}, set(range(p))
    while left:
        j = next(j for j in sorted(left) if all(i in means for i in range(p) if B[i, j]))
        means[j] = given[j] if j in given else intercept[j] + sum(B[i, j] * means[i] for i in range(p) if B[i, j])
        left.remove(j)
    return np.array([means[j] for j in range(p)])


def regressions(X, j, given):
    """The weights of the regression of column j on others and a constant, and their covariance matrix."""
    Z = np.column_stack([X[:, given], np.ones(len(X))])
    b, *_ = np.linalg.lstsq(Z, X[:, j], rcond=None)
    s2 = np.sum((X[:, j] - Z @ b) ** 2) / (len(X) - Z.shape[1])
    return b[:-1], (s2 * np.linalg.inv(Z.T @ Z))[:-1, :-1]
