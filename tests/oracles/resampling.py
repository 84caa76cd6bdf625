"""Literal versions of what `ordag.resampling` computes: rows drawn one sample at a time, and every graph kept."""

from __future__ import annotations

from itertools import product

import numpy as np

from oracles.model import total_effects


def drawn_rows(X, seed, replicate):
    """The rows of one bootstrap sample: the replicate's own seed, n of n with replacement."""
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(replicate,)))
    return X[stream.integers(len(X), size=len(X))]


def bootstrap_by_rows(X, replicates, seed, learner, level=0.95):
    """Every number of the bootstrap from what `learner` makes of every sample: adjacency, order or None, weights or None."""
    p = X.shape[1]
    arrows = np.zeros((replicates, p, p))
    joined = np.zeros((replicates, p, p))
    before = np.zeros((replicates, p, p))
    weights = np.zeros((replicates, p, p))
    effects = np.zeros((replicates, p, p))
    for b in range(replicates):
        adjacency, order, B = learner(drawn_rows(X, seed, b))
        for i, j in product(range(p), range(p)):
            arrows[b, i, j] = adjacency[i, j] and not adjacency[j, i]
            joined[b, i, j] = adjacency[i, j] or adjacency[j, i]
            if order is not None:
                before[b, i, j] = list(order).index(i) < list(order).index(j)
        if B is not None:
            weights[b] = B
            effects[b] = total_effects(B)
    tail = (1 - level) / 2
    return {
        "edge_support": arrows.mean(axis=0),
        "adjacency_support": joined.mean(axis=0),
        "precedes": before.mean(axis=0),
        "weights": np.quantile(weights, [tail, 0.5, 1 - tail], axis=0, method="weibull"),
        "effects": np.quantile(effects, [tail, 0.5, 1 - tail], axis=0, method="weibull"),
    }
