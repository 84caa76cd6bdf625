"""A linear Gaussian graph with hidden causes, literally: its covariance, and its likelihood by a generic optimiser."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import minimize


def observed_covariance(B, omega, p):
    """(I − B)⁻ᵀ diag(omega) (I − B)⁻¹ of all variables, its first p rows and columns."""
    T = np.linalg.inv(np.eye(len(B)) - B)
    return (T.T @ np.diag(omega) @ T)[:p, :p]


def discrepancy(B, omega, C):
    """log det Σ + tr Σ⁻¹C − p."""
    S = observed_covariance(B, omega, len(C))
    return np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(S, C)) - len(C)


def least_discrepancy(A, C, tries=4, seed=0):
    """The least over all weights along A and error variances, from several random starts; hidden causes have variance 1."""
    p, q = len(C), len(A)
    places = np.argwhere(A)
    rng = np.random.default_rng(seed)

    def value(x):
        B = np.zeros((q, q))
        B[tuple(places.T)] = x[: len(places)]
        return discrepancy(B, np.concatenate([np.exp(x[len(places) :]), np.ones(q - p)]), C)

    starts = [np.concatenate([rng.uniform(-0.7, 0.7, len(places)), np.full(p, -0.5)]) for _ in range(tries)]
    options = {"maxiter": 2000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-8}
    bounds = [(None, None)] * len(places) + [(math.log(0.002), None)] * p
    return min(minimize(value, x, method="L-BFGS-B", bounds=bounds, options=options).fun for x in starts)


def price(behind, p, n):
    """Of one hidden cause: its loadings by BIC, and which variables are behind it."""
    return behind * math.log(n) / 2 + math.log(p * math.comb(p, behind))


def nearly_complete_fours(joined):
    """All sets of four with at least five of six pairs joined."""
    return {
        four
        for four in itertools.combinations(range(len(joined)), 4)
        if sum(joined[a, b] for a, b in itertools.combinations(four, 2)) >= 5
    }
