"""Parents by the edge prior, as it is written down: one regression of the rows for every candidate of every step."""

from __future__ import annotations

import math

import numpy as np


def rss(X, target, parents):
    """Residual sum of squares of a column on others and a constant, by least squares."""
    Z = X - X.mean(axis=0)
    y, A = Z[:, target], Z[:, list(parents)]
    scale = np.linalg.norm(A, axis=0)
    if not len(parents):
        return float(y @ y)
    residual = y - (A / scale) @ np.linalg.lstsq(A / scale, y, rcond=None)[0]
    return float(residual @ residual)


def penalised_parents(X, target, candidates, penalty, weight, required=()):
    """Backward elimination: drop the one that costs least, while weight · log(RSS without it / RSS) < penalty."""
    parents = list(candidates)
    while set(parents) - set(required):
        now = rss(X, target, parents)
        trials = {drop: [k for k in parents if k != drop] for drop in parents if drop not in required}
        after = {drop: rss(X, target, trial) for drop, trial in trials.items()}
        drop = min(after, key=after.get)
        if weight * math.log(after[drop] / now) >= penalty:
            break
        parents = trials[drop]
    return parents


def edge_prior_parents(X, order, allowed=None, required=None):
    """The parents of every column (by column), the penalty and the share, with the share counted anew until it stays."""
    n, p = X.shape
    allowed = np.ones((p, p), dtype=bool) if allowed is None else allowed
    required = np.zeros((p, p), dtype=bool) if required is None else required
    pairs = sum(allowed[a, b] and not required[a, b] for m, b in enumerate(order) for a in order[:m])
    penalty, share, before = math.log(n) + 2 * math.log(p), math.nan, None
    while True:
        parents = {
            b: penalised_parents(
                X,
                b,
                [a for a in order[:m] if allowed[a, b]],
                penalty,
                max(n - m - 1, 1),
                [a for a in order[:m] if required[a, b]],
            )
            for m, b in enumerate(order)
        }
        edges = sum(not required[a, b] for b, found in parents.items() for a in found)
        if edges == before:
            return parents, penalty, share
        before = edges
        share = (edges + 0.5) / (pairs + 1)
        penalty = max(math.log(n) + 2 * math.log((1 - share) / share), 0.5)
