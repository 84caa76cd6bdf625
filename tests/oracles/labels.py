"""What labels of rows do to moments, literally: weighted means of every condition and cluster, and squares about them."""

from __future__ import annotations

import numpy as np


def within(X, groups, weights=None):
    """(n, mean, scatter) of rows about the means of their groups: what the rows count for, less one for every group but the first."""
    X, w = np.asarray(X, float), np.ones(len(X)) if weights is None else np.asarray(weights, float)
    X, w, groups = X[w > 0], w[w > 0], [group for group, weight in zip(groups, w, strict=True) if weight > 0]
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for group in set(groups):
        own = np.array([one == group for one in groups])
        centred = X[own] - np.average(X[own], axis=0, weights=w[own])
        scatter += sum(weight * np.outer(x, x) for weight, x in zip(w[own], centred, strict=True))
    worth = w.sum() ** 2 / (w**2).sum()
    n = round(worth - worth / len(X) * (len(set(groups)) - 1))
    return n, np.average(X, axis=0, weights=w), scatter * worth / w.sum()


def between(X, groups):
    """(n, mean, scatter) of the means of groups."""
    means = np.array(
        [np.mean([x for x, one in zip(X, groups, strict=True) if one == group], axis=0) for group in set(groups)]
    )
    centred = means - means.mean(axis=0)
    return len(means), means.mean(axis=0), centred.T @ centred
