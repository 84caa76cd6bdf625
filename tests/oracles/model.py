"""Slow and literal transcriptions for the tests of `ordag.model`; they share no code with it.

B[i, j] is the weight of i → j throughout.
"""

from __future__ import annotations

import mpmath
import numpy as np
from scipy import stats

DIGITS = 60


def total_effects(B):
    """Sum over all directed paths, by their length: B + B² + B³ + …"""
    effects = np.zeros_like(B)
    paths = B.copy()
    while paths.any():
        effects += paths
        paths = paths @ B
    return effects


def effect_variance(X, B, source, target):
    """The delta method in full: the covariance of all weights at once, and a gradient by finite differences."""
    n, p = X.shape
    Z = X - X.mean(axis=0)
    places = [(i, j) for j in range(p) for i in range(p) if B[i, j] != 0]
    covariance = np.zeros((len(places), len(places)))
    for j in range(p):
        parents = [i for i in range(p) if B[i, j] != 0]
        if parents:
            rest = Z[:, j] - Z[:, parents] @ B[parents, j]
            C = rest @ rest / (n - 1 - len(parents)) * np.linalg.inv(Z[:, parents].T @ Z[:, parents])
            at = [places.index((i, j)) for i in parents]
            covariance[np.ix_(at, at)] = C
    gradient = []
    for i, j in places:
        step = 1e-5
        up, down = B.copy(), B.copy()
        up[i, j] += step
        down[i, j] -= step
        gradient.append((total_effects(up)[source, target] - total_effects(down)[source, target]) / (2 * step))
    return float(np.array(gradient) @ covariance @ np.array(gradient))


def robustness_value(X, others, a, b):
    """The least share r of what is left of columns a and b that a variable must explain so that a has no weight for b given it.

    Such a variable is added to the rows, for one r after the other, and the regression is made again.
    """
    _, weights, _, _ = regression(X, [*others, a], b)
    low, high = 0.0, 1.0
    for _ in range(25):
        r = (low + high) / 2.0
        found = [
            regression(np.column_stack([X, hidden_cause(X, others, a, b, r, sign)]), [*others, a, X.shape[1]], b)
            for sign in (-1.0, 1.0)
        ]
        if min(solution[1][len(others)] * np.sign(weights[-1]) for solution in found) > 0.0:
            low = r
        else:
            high = r
    return high


def hidden_cause(X, others, a, b, r, sign):
    """A column that explains the share r of what `others` leave of a, and r of what a and others leave of b."""

    def unit_rest(y, columns):
        design = np.column_stack([np.ones(len(y)), *columns])
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return rest / np.linalg.norm(rest)

    given = [X[:, k] for k in others]
    d, e = unit_rest(X[:, a], given), unit_rest(X[:, b], [*given, X[:, a]])
    v = unit_rest(np.cos(np.arange(len(X)) ** 2), [*given, X[:, a], X[:, b]])
    return np.sqrt(r) * d + sign * np.sqrt(1.0 - r) * (np.sqrt(r) * e + np.sqrt(1.0 - r) * v)


def covariance(B, omega):
    T = np.linalg.inv(np.eye(len(B)) - B)
    return T.T @ np.diag(omega) @ T


def log_density(X, mean, covariance):
    return stats.multivariate_normal(mean, covariance).logpdf(X).sum()


def regression(X, parents, j):
    """Intercept, weights, their standard errors, and the unbiased error variance of column j, from the rows."""
    design = np.column_stack([np.ones(len(X)), X[:, parents]])
    solution, _, _, _ = np.linalg.lstsq(design, X[:, j], rcond=None)
    residuals = X[:, j] - design @ solution
    variance = residuals @ residuals / (len(X) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return solution[0], solution[1:], errors[1:], variance


def exact_regression(X, parents, j):
    """Weights and residual sum of squares by the normal equations in 60 digits."""
    with mpmath.workdps(DIGITS):
        rows = [[mpmath.mpf(float(value)) for value in X[:, k]] for k in [*parents, j]]
        centred = [[value - mpmath.fsum(row) / len(row) for value in row] for row in rows]
        G = mpmath.matrix([[mpmath.fdot(a, b) for b in centred] for a in centred])
        k = len(parents)
        weights = mpmath.lu_solve(G[:k, :k], G[:k, k])
        rss = G[k, k] - (G[k, :k] * weights)[0]
        return np.array([float(w) for w in weights]), float(rss)


def exact_covariance(B, omega):
    """Covariance matrix as an mpmath matrix of 60 digits, from X_k = Σ_i B[i, k] X_i + e_k, causes first."""
    p = len(B)
    with mpmath.workdps(DIGITS):
        responses = {}  # of variable k to the errors
        while len(responses) < p:
            for k in range(p):
                parents = [i for i in range(p) if B[i, k] != 0]
                if k not in responses and all(i in responses for i in parents):
                    responses[k] = [mpmath.mpf(int(k == l)) for l in range(p)]
                    for i in parents:
                        weight = mpmath.mpf(float(B[i, k]))
                        responses[k] = [a + weight * b for a, b in zip(responses[k], responses[i], strict=True)]
        scales = [mpmath.mpf(float(v)) for v in omega]
        S = mpmath.matrix(p, p)
        for k in range(p):
            for m in range(k, p):
                S[k, m] = S[m, k] = mpmath.fsum(
                    a * b * v for a, b, v in zip(responses[k], responses[m], scales, strict=True) if a and b
                )
        return S


def conditional_variance(S, k, given):
    """Var(X_k | X_given) by the Schur complement."""
    with mpmath.workdps(DIGITS):
        if not given:
            return S[k, k]
        block = mpmath.matrix([[S[a, b] for b in given] for a in given])
        cross = mpmath.matrix([S[a, k] for a in given])
        return S[k, k] - (cross.T * mpmath.lu_solve(block, cross))[0]


def greedy_order(S):
    """Algorithm 1, Step 1, on a known covariance matrix; a pivot after the other is eliminated with 60 digits."""
    with mpmath.workdps(DIGITS):
        S = S.copy()
        left = list(range(S.rows))
        order = []
        while left:
            j = min(left, key=lambda k: S[k, k])
            order.append(j)
            left.remove(j)
            for a in left:
                for b in left:
                    S[a, b] -= S[a, j] * S[b, j] / S[j, j]
        return order


def descendants(B, j):
    """All that can be reached from j along arrows."""
    found = set()
    frontier = {j}
    while frontier:
        frontier = {k for i in frontier for k in range(len(B)) if B[i, k] != 0} - found
        found |= frontier
    return found


def is_causal(B, order):
    return all(order.index(i) < order.index(j) for i, j in np.argwhere(B).tolist())


def margins(B, omega, order):
    """{(j, k): Var(X_k | what precedes j) / omega_j} over all descendants k of j."""
    S = exact_covariance(B, omega)
    return {
        (j, k): float(conditional_variance(S, k, list(order[:m])) / mpmath.mpf(float(omega[j])))
        for m, j in enumerate(order)
        for k in descendants(B, j)
    }


def causal_orders(B):
    """Every order that has causes first."""
    p = len(B)

    def extend(order):
        if len(order) == p:
            yield tuple(order)
        for k in range(p):
            if k not in order and all(i in order for i in range(p) if B[i, k] != 0):
                yield from extend([*order, k])

    return extend([])
