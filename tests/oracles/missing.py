"""Gaussian moments of rows with holes, as slowly and literally as can be."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def log_likelihood(X, mean, S):
    """The log likelihood of what was observed, row by row."""
    total = 0.0
    for x in X:
        o = ~np.isnan(x)
        if o.any():
            d = x[o] - mean[o]
            T = S[np.ix_(o, o)]
            total -= 0.5 * (o.sum() * np.log(2 * np.pi) + np.linalg.slogdet(T)[1] + d @ np.linalg.solve(T, d))
    return total


def em_step(X, mean, S, weights=None, prior=0.0, shape=None):
    """One step of EM with divisor N, the sum of weights (Little & Rubin, chapter 11.2); `prior` adds as many rows of scatter `shape`."""
    n, p = X.shape
    weights = np.ones(n) if weights is None else weights
    first, second, N = np.zeros(p), np.zeros((p, p)), weights.sum()
    for x, w in zip(X, weights, strict=True):
        m = np.isnan(x)
        o = ~m
        y, C = x.copy(), np.zeros((p, p))
        B = np.linalg.solve(S[np.ix_(o, o)], S[np.ix_(o, m)]).T
        y[m] = mean[m] + B @ (x[o] - mean[o])
        C[np.ix_(m, m)] = S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        first += w * y
        second += w * (np.outer(y, y) + C)
    new = first / N
    scatter = second - N * np.outer(new, new)
    return new, scatter / N if not prior else (scatter + prior * shape) / (N + prior)


def em(X, steps=2000, tolerance=1e-9, weights=None):
    """EM from the observed means and variances until nothing changes."""
    mean, S = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(steps):
        before = S
        mean, S = em_step(X, mean, S, weights)
        if np.abs(S - before).max() <= tolerance * np.abs(S).max():
            break
    return mean, S


def little(X, mean, S, fewest):
    """Little's statistic and degrees of freedom, row by row (Little 1988, equation 5)."""
    patterns = {}
    for x in X:
        patterns.setdefault(tuple(~np.isnan(x)), []).append(x)
    d2, df = 0.0, 0
    for key, rows in patterns.items():
        if len(rows) >= fewest:
            o = np.array(key)
            away = np.mean(rows, axis=0)[o] - mean[o]
            d2 += len(rows) * away @ np.linalg.inv(S[o][:, o]) @ away
            df += o.sum()
    return d2, df - X.shape[1]


def maximise(X):
    """The same by a general optimiser over the mean and a triangular root of the covariance."""
    p = X.shape[1]
    lower = np.tril_indices(p)
    scale = np.nanstd(X, axis=0)

    def unpacked(theta):
        L = np.zeros((p, p))
        L[lower] = theta[p:]
        return theta[:p] * scale, (L @ L.T) * np.outer(scale, scale)

    start = np.concatenate([np.nanmean(X, axis=0) / scale, np.eye(p)[lower]])
    found = minimize(lambda theta: -log_likelihood(X, *unpacked(theta)), start, method="BFGS", options={"gtol": 1e-7})
    return unpacked(found.x)
