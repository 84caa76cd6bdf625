"""Slow, literal versions of the other estimators of conditional variances. They share no code with the package."""

from __future__ import annotations

import math

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler


def lasso_by_cycles(S, s, penalty, cycles=20000):
    """argmin ½ w'Sw − w's + penalty Σ|w|, one coordinate after the other, from zero."""
    w = np.zeros(len(s))
    for _ in range(cycles):
        before = w.copy()
        for i in range(len(w)):
            rest = s[i] - sum(S[i, k] * w[k] for k in range(len(w)) if k != i)
            w[i] = math.copysign(max(abs(rest) - penalty, 0.0), rest) / S[i, i]
        if np.abs(w - before).max(initial=0.0) < 1e-13:
            break
    return w


def scaled_lasso(S, j, given, n):
    """Weights on columns scaled to variance 1, and residual variance, by going to and fro between the two to the very end."""
    p = len(S)
    scale = [math.sqrt(S[k, k]) for k in given]
    G = np.array(
        [[S[a, b] / (sa * sb) for b, sb in zip(given, scale, strict=True)] for a, sa in zip(given, scale, strict=True)]
    )
    s = np.array([S[a, j] / sa for a, sa in zip(given, scale, strict=True)])
    variance = S[j, j]
    for _ in range(200):
        w = lasso_by_cycles(G, s, math.sqrt(2 * math.log(p) / n) * math.sqrt(variance)) if given else np.zeros(0)
        last, variance = variance, S[j, j] - 2 * w @ s + w @ G @ w if given else S[j, j]
        if abs(last - variance) < 1e-13 * last:
            break
    return w, variance


def lasso_order(S, n):
    """Order, corrected variances and supports, every regression from the start."""
    order, variances, supports = [], [], []
    while len(order) < len(S):
        rivals = []
        for j in range(len(S)):
            if j not in order:
                w, variance = scaled_lasso(S, j, order, n)
                support = sorted(k for k, weight in zip(order, w, strict=True) if weight != 0)
                rivals.append((variance * (n - 1) / (n - 1 - len(support)), j, support))
        variance, j, support = min(rivals)
        order.append(j)
        variances.append(variance)
        supports.append(support)
    return order, variances, supports


def expectation_maximisation(X, missing, rounds):
    """Mean and covariance (divisor n − 1) of rows with missing cells, one row at a time with the inverse of its observed part."""
    n, p = X.shape
    mean, S = np.zeros(p), np.eye(p)
    for _ in range(rounds):
        filled, added = X.copy(), np.zeros((p, p))
        for i in range(n):
            m, o = np.flatnonzero(missing[i]), np.flatnonzero(~missing[i])
            slope = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            filled[i, m] = mean[m] + slope @ (X[i, o] - mean[o])
            added[np.ix_(m, m)] += S[np.ix_(m, m)] - slope @ S[np.ix_(o, m)]
        mean = filled.mean(axis=0)
        S = ((filled - mean).T @ (filled - mean) + added) / (n - 1)
    return mean, S


def corrected_distance_correlation(x, y):
    """From the U-centred matrices of distances, entry by entry (Székely & Rizzo 2014)."""
    n = len(x)

    def centred(values):
        a = np.array([[abs(u - v) for v in values] for u in values])
        U = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if i != j:
                    U[i, j] = a[i, j] - a[i].sum() / (n - 2) - a[:, j].sum() / (n - 2) + a.sum() / ((n - 1) * (n - 2))
        return U

    A, B = centred(x), centred(y)
    return (A * B).sum() / math.sqrt((A * A).sum() * (B * B).sum())


def errors_out_of_fold(fit, X, given, target, parts):
    """Mean squared error of the target predicted from rows of other folds; `fit(Z, y)` gives a function that predicts."""
    total = 0.0
    for inside, outside in parts:
        predict = fit(X[inside][:, given], X[inside, target])
        total += sum((X[i, target] - predict(X[i, given])) ** 2 for i in outside)
    return total / len(X)


def spline_ridge():
    """A sum of cubic splines with seven knots at quantiles, with the ridge penalty of least leave-one-out error, by scikit-learn."""
    spline = SplineTransformer(n_knots=7, knots="quantile", extrapolation="linear", include_bias=False)
    return make_pipeline(StandardScaler(), spline, RidgeCV(alphas=np.logspace(-4, 3, 15), alpha_per_target=True))
