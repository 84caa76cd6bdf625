"""Literal versions of what the rows say: neighbours, groups, pairs and mixtures in loops and with SciPy's own distributions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
from scipy.stats import binom, multivariate_normal, norm, rankdata


def is_sorted_by(X, keys):
    """Whether the rows rise, or fall, in the first key, and among rows that agree in it in the next, …"""
    for place, key in enumerate(keys):
        steps = [b[key] - a[key] for a, b in pairwise(X) if all(a[k] == b[k] for k in keys[:place])]
        if min(steps) < 0 < max(steps):
            return False
    return True


def left_after(x, y, degree):
    """The residuals of y after a polynomial in the columns of x, by least squares."""
    x = x.reshape(len(y), -1)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    terms = [np.ones(len(y))] + [x[:, k] ** d for k in range(x.shape[1]) for d in range(1, degree + 1)]
    A = np.column_stack(terms)
    return y - A @ np.linalg.lstsq(A, y, rcond=None)[0]


def correlation_at_lag(e, lag):
    e = e - e.mean()
    return sum(e[i] * e[i - lag] for i in range(lag, len(e))) / sum(value**2 for value in e)


def intraclass_correlation(e, group, lost):
    """By analysis of variance of residuals e; `lost` degrees of freedom between groups are those of the polynomial."""
    groups = [e[group == g] for g in np.unique(group)]
    n, L = len(e), len(groups)
    between = sum(len(g) * g.mean() ** 2 for g in groups) / (L - 1 - lost)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (n - L)
    size = (n - sum(len(g) ** 2 for g in groups) / n) / (L - 1)
    return (between / within - 1) / (between / within - 1 + size)


def correlation_by_steps(e, group):
    """The least-squares share of group effects by the differences of successive means, against the variance within groups."""
    groups = [e[group == g] for g in np.unique(group)]
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (len(e) - len(groups))
    steps = [((b.mean() - a.mean()) ** 2, len(a) * len(b) / (len(a) + len(b))) for a, b in pairwise(groups)]
    effect = max(sum(step * size for step, size in steps) / len(steps) / within - 1, 0)
    return effect / (effect + 2 * np.mean([size for _, size in steps]))


def repeated(X):
    """The share of rows that occur before, and among pairs that agree in all columns but the one of most values those that agree in all."""
    n, p = X.shape
    share = 1 - len(Counter(map(tuple, X))) / n
    agree = [sum(a[j] == b[j] for a, b in combinations(X, 2)) for j in range(p)]
    rest = [k for k in range(p) if k != int(np.argmin(agree))]
    near = [(a, b) for a, b in combinations(X, 2) if (a[rest] == b[rest]).all()]
    return share, sum((a == b).all() for a, b in near) / len(near)


def valley_p_value(t, first, second):
    half, middle = abs(first - second) / 6, (first + second) / 2
    counts = [sum(abs(value - centre) < half for value in t) for centre in (first, middle, second)]
    return max(binom.cdf(counts[1], counts[1] + counts[k], 0.5) for k in (0, 2))


def mixture_gain(Z, share, first, second, within):
    """Twice the log likelihood of two groups above that of one standard normal, with full covariance matrices."""
    one = multivariate_normal(np.zeros(Z.shape[1]), np.eye(Z.shape[1])).logpdf(Z)
    a, b = multivariate_normal(first, within).pdf(Z), multivariate_normal(second, within).pdf(Z)
    return 2 * float((np.log(share * a + (1 - share) * b) - one).sum())


def scores(x):
    z = norm.ppf((rankdata(x) - 0.5) / len(x))
    return (z - z.mean()) / z.std()
