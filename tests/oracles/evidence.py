"""Literal versions of what `ordag.assess` computes: candidates, pairs and graphs of a class in loops."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal

from oracles.graph import arrows_of, equivalent_dags
from oracles.ordering import direction_p_value, residuals


def steps_of(X, order, adjacency, alpha, direction="forward"):
    """For every position the runner-up's column, its p-value, the tie group, and whether it has an edge in it."""
    p = len(order)
    steps = []
    for m in range(p):
        candidates = order[m + 1 :] if direction == "forward" else order[:m]
        if not candidates:
            steps.append((None, None, {order[m]}, False))
            continue
        tests, sizes = {}, {}
        for b in candidates:
            if direction == "forward":
                given = order[:m]
                sizes[b] = np.sum(residuals(X, b, given) ** 2)
            else:
                given = [c for c in order[:m] if c != b]
                sizes[b] = -np.sum(residuals(X, b, [*given, order[m]]) ** 2)
            tests[b] = direction_p_value(X, order[m], b, given)
        second = min(candidates, key=sizes.__getitem__)
        group = {order[m]} | {b for b in candidates if tests[b] > alpha}
        matters = any(adjacency[i, j] for i in group for j in group)
        steps.append((second, tests[second], group, matters))
    return steps


def compelled_arrows(adjacency):
    """The arrows that every DAG with the same skeleton and the same colliders has, by trying all of them."""
    return set.intersection(*(arrows_of(dag) for dag in equivalent_dags(adjacency.astype(int).tolist())))


def factor_log_likelihood(X, loadings, uniquenesses):
    """The log-likelihood of rows under the covariance ΛΛᵀ + diag ψ of their standardised columns."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    covariance = loadings @ loadings.T + np.diag(uniquenesses)
    return float(multivariate_normal(np.zeros(len(covariance)), covariance).logpdf(Z).sum())


def graph_bic(X, adjacency):
    """n Σ log(RSS/n) + log(n) · edges, by a least-squares regression of every column on its parents."""
    n = len(X)
    Z = X - X.mean(axis=0)
    total = np.log(n) * adjacency.sum()
    for j in range(X.shape[1]):
        P = Z[:, adjacency[:, j]]
        residual = Z[:, j] - P @ np.linalg.lstsq(P, Z[:, j], rcond=None)[0]
        total += n * np.log(residual @ residual / n)
    return float(total)
