"""Literal versions of what the trust room computes: rows drawn one sample at a time, paths walked, pairs in loops."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import multivariate_normal

import ordag
from oracles.graph import arrows_of, equivalent_dags
from oracles.ordering import direction_p_value, residuals


def drawn_rows(X, seed, replicate):
    """The rows of one bootstrap sample: the replicate's own seed, n of n with replacement."""
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(replicate,)))
    return X[stream.integers(len(X), size=len(X))]


def bootstrap_by_rows(X, replicates, seed, level=0.95, **settings):
    """Every number of the bootstrap by calling `learn` on every sample and keeping everything."""
    p = X.shape[1]
    arrows = np.zeros((replicates, p, p))
    joined = np.zeros((replicates, p, p))
    before = np.zeros((replicates, p, p))
    weights = np.zeros((replicates, p, p))
    effects = np.zeros((replicates, p, p))
    for b in range(replicates):
        fit = ordag.learn(drawn_rows(X, seed, b), **settings)
        for i, j in product(range(p), range(p)):
            forth, back = fit.graph.adjacency[i, j], fit.graph.adjacency[j, i]
            arrows[b, i, j] = forth and not back
            joined[b, i, j] = forth or back
            if fit.order is not None:
                before[b, i, j] = fit.order.index(f"X{i + 1}") < fit.order.index(f"X{j + 1}")
        if fit.sem is not None:
            weights[b] = fit.sem.B
            effects[b] = sum(np.linalg.matrix_power(fit.sem.B, k) for k in range(1, p))
    tail = (1 - level) / 2
    return {
        "edge_support": arrows.mean(axis=0),
        "adjacency_support": joined.mean(axis=0),
        "precedes": before.mean(axis=0),
        "weights": np.quantile(weights, [tail, 0.5, 1 - tail], axis=0),
        "effects": np.quantile(effects, [tail, 0.5, 1 - tail], axis=0),
    }


def path_sums(B):
    """The total effects by walking along every directed path."""
    p = len(B)
    total = np.zeros((p, p))

    def walk(start, node, weight):
        for following in np.flatnonzero(B[node]):
            total[start, following] += weight * B[node, following]
            walk(start, following, weight * B[node, following])

    for start in range(p):
        walk(start, start, 1.0)
    return total


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
        gradient.append((path_sums(up)[source, target] - path_sums(down)[source, target]) / (2 * step))
    return float(np.array(gradient) @ covariance @ np.array(gradient))


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
