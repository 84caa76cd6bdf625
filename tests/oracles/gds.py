"""Slow and literal transcriptions for the tests of regressions and of GDS; they share no code with the package.

A[i, j] is True for i → j throughout.
"""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np

DIGITS = 60


def rss(X, j, parents):
    """Residual sum of squares of column j on others and an intercept, by QR of the rows."""
    design = np.column_stack([np.ones(len(X)), X[:, list(parents)], X[:, j]])
    return float(np.linalg.qr(design, mode="r")[-1, -1] ** 2)


def exact_rss(R, j, parents):
    """The same from the root R, in 60 digits."""
    with mpmath.workdps(DIGITS):
        columns = {k: [mpmath.mpf(float(value)) for value in R[:, k]] for k in [*parents, j]}
        G = mpmath.matrix([[mpmath.fdot(columns[a], columns[b]) for b in parents] for a in parents])
        c = mpmath.matrix([mpmath.fdot(columns[a], columns[j]) for a in parents])
        return float(mpmath.fdot(columns[j], columns[j]) - (c.T * mpmath.lu_solve(G, c))[0])


def score(X, A, penalty=1.0):
    """Peters & Bühlmann's score with the trace of (I − B)ᵀ(I − B) S written out, from regressions on the rows."""
    n, p = X.shape
    B = np.zeros((p, p))
    squares = 0.0
    for j in range(p):
        parents = np.flatnonzero(A[:, j])
        design = np.column_stack([np.ones(n), X[:, parents]])
        solution, _, _, _ = np.linalg.lstsq(design, X[:, j], rcond=None)
        B[parents, j] = solution[1:]
        residual = X[:, j] - design @ solution
        squares += residual @ residual
    variance = squares / (n * p - 1)
    unexplained = np.trace((np.eye(p) - B).T @ np.cov(X, rowvar=False) @ (np.eye(p) - B))
    likelihood = n * p / 2 * np.log(2 * np.pi * variance) + n / (2 * variance) * unexplained
    return likelihood + penalty * np.log(n) / 2 * (A.sum() + 1)


def is_acyclic(A):
    """Take away nodes without children until none is left, or none can be taken."""
    left = list(range(len(A)))
    while left:
        sinks = [i for i in left if not A[i, left].any()]
        if not sinks:
            return False
        left = [i for i in left if i not in sinks]
    return True


def all_dags(p):
    pairs = [(i, j) for i in range(p) for j in range(p) if i < j]
    for states in product(range(3), repeat=len(pairs)):
        A = np.zeros((p, p), dtype=bool)
        for (i, j), state in zip(pairs, states, strict=True):
            A[i, j] = state == 1
            A[j, i] = state == 2
        if is_acyclic(A):
            yield A


def neighbour(A, i, j):
    """The graph after the move i → j, or None where it is cyclic."""
    B = A.copy()
    B[i, j] = not A[i, j]
    B[j, i] = False
    return B if is_acyclic(B) else None


def walk(X, k, draw):
    """Neighbours one by one, from the empty graph: the graph at the end, the moves, the neighbours checked.

    `draw` gives the order of the nodes for a step, from their residual sums of squares. All moves into the first node
    come first, their sources in the same order, then those into the second, and so on.
    """
    p = X.shape[1]
    A = np.zeros((p, p), dtype=bool)
    moves = checked = 0
    while True:
        order = draw(np.array([rss(X, j, np.flatnonzero(A[:, j])) for j in range(p)]))
        best, lowest, tried = None, score(X, A) - 1e-9, 0
        for i, j in [(i, j) for j in order for i in order if i != j]:
            if best is not None and tried >= k:
                break
            B = neighbour(A, i, j)
            if B is not None:
                tried += 1
                if score(X, B) < lowest:
                    best, lowest = B, score(X, B)
        checked += tried
        if best is None:
            return A, moves, checked
        A = best
        moves += 1


def order_probability(order, weights):
    """Of drawing this order one by one without replacement, in proportion to the weights."""
    left = sum(weights)
    probability = 1.0
    for node in order:
        probability *= weights[node] / left
        left -= weights[node]
    return probability


def random_dag(p, rng, density=0.5):
    A = np.triu(rng.random((p, p)) < density, 1)
    order = rng.permutation(p)
    return A[np.ix_(order, order)]
