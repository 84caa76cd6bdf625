"""Slow, literal versions of what the package computes. They share no code with it.

Everything here works on rows, one regression at a time, as the paper writes it down.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

# ----------------------------------------------------------------------------------------------------------- ordering


def residuals(X, target, given):
    """Residual of column `target` on the columns `given` and a constant, by QR."""
    Z = X - X.mean(axis=0)
    Z = Z - Z.mean(axis=0)
    y = Z[:, target]
    if not len(given):
        return y
    Q, _ = np.linalg.qr(Z[:, list(given)])
    for _ in range(2):
        y = y - Q @ (Q.T @ y)
    return y


def algorithm_1_order(X):
    """Step 1 as the paper has it: one regression for every candidate of every step. Returns order and variances."""
    n, p = X.shape
    order, variances = [], []
    while len(order) < p:
        candidates = [j for j in range(p) if j not in order]
        values = [np.sum(residuals(X, j, order) ** 2) / (n - len(order)) for j in candidates]
        best = int(np.argmin(values))
        order.append(candidates[best])
        variances.append(values[best])
    return order, np.array(variances)


def stepwise_order(X):
    """The same with one QR factorisation of the rows that grows by one column per step, for larger data sets."""
    Z = X - X.mean(axis=0)
    Z = Z - Z.mean(axis=0)
    order, rest = [], list(range(X.shape[1]))
    Q = np.empty((len(X), 0))
    while rest:
        V = Z[:, rest]
        for _ in range(2):
            V = V - Q @ (Q.T @ V)
        k = int(np.argmin(np.sum(V**2, axis=0)))
        Q = np.column_stack([Q, V[:, k] / np.linalg.norm(V[:, k])])
        order.append(rest.pop(k))
    return order


def backward_order(X):
    """Effects first: the column with the largest residual given all others goes last, then without it, and so on."""
    rest = list(range(X.shape[1]))
    last_first = []
    while rest:
        sizes = [np.sum(residuals(X, j, [k for k in rest if k != j]) ** 2) for j in rest]
        last_first.append(rest.pop(int(np.argmax(sizes))))
    return last_first[::-1]


def pivots(gram, before=None):
    """Cholesky with the smallest pivot first, one column at a time on the whole matrix: order, L and the runner-up of every step.

    With `before` ([i, j]: i before j) only those compete whose earlier ones are all chosen; of equal ones the first.
    """
    S = np.tril(gram) + np.tril(gram, -1).T
    p = len(S)
    order, columns, runner_up = [], [], []
    while len(order) < p:
        rest = [j for j in range(p) if j not in order]
        able = [j for j in rest if before is None or all(i in order for i in np.flatnonzero(before[:, j]))]
        least = min(S[j, j] for j in able)
        j = next(j for j in able if S[j, j] <= least * (1 + 1e-10))
        runner_up.append(min((S[i, i] for i in able if i != j), default=np.inf))
        column = S[:, j] / np.sqrt(S[j, j])
        column[order] = 0.0
        order.append(j)
        columns.append(column)
        S = S - np.outer(column, column)
    return order, np.array(columns).T[order], np.array(runner_up)


def exact_gram(X):
    """n (X − x̄)ᵀ(X − x̄) in exact rational arithmetic, as a matrix of Fractions."""
    n, p = X.shape
    columns = []
    for j in range(p):
        exponent = max(math.frexp(v)[1] for v in X[:, j].tolist() if v != 0)
        shift = 1200 - exponent
        columns.append((np.array([int(Fraction(v) * 2**shift) for v in X[:, j].tolist()], dtype=object), shift))
    sums = [column.sum() for column, _ in columns]
    gram = [[Fraction(0)] * p for _ in range(p)]
    for i in range(p):
        for j in range(i + 1):
            top = n * int(columns[i][0] @ columns[j][0]) - sums[i] * sums[j]
            gram[i][j] = gram[j][i] = Fraction(top, 2 ** (columns[i][1] + columns[j][1]))
    return gram


def exact_factor(X, digits=120):
    """Algorithm 1, Step 1 in `digits`-digit arithmetic: order and the factor L (lists of mpf), L Lᵀ = n × scatter."""
    p = X.shape[1]
    gram = exact_gram(X)
    with mpmath.workdps(digits):
        S = [[mpmath.mpf(v.numerator) / v.denominator for v in row] for row in gram]
        order, rest = [], list(range(p))
        rows = [[] for _ in range(p)]
        remaining = [S[j][j] for j in range(p)]
        while rest:
            k = min(rest, key=lambda j: remaining[j])
            root = mpmath.sqrt(remaining[k])
            rest.remove(k)
            for j in rest:
                value = (S[j][k] - mpmath.fdot(rows[j], rows[k])) / root
                rows[j].append(value)
                remaining[j] -= value * value
            rows[k].append(root)
            order.append(k)
        return order, [rows[k] for k in order]


def exact_partial_correlations(L):
    """Partial correlations of each position with each earlier one given the other earlier ones, from an mpf factor."""
    p = len(L)
    W = [[mpmath.mpf(0)] * p for _ in range(p)]
    for j in range(p):
        for m in range(j, p):
            top = (1 if m == j else 0) - mpmath.fsum(L[m][i] * W[i][j] for i in range(j, m))
            W[m][j] = top / L[m][m]
    r = np.zeros((p, p))
    for j in range(p):
        total = mpmath.mpf(0)
        for m in range(j, p):
            total += W[m][j] ** 2
            if m > j:
                r[m, j] = float(-W[m][j] / mpmath.sqrt(total))
    return r


# ------------------------------------------------------------------------------------------------------------ parents


def partial_correlation(X, a, b, given):
    return float(np.corrcoef(residuals(X, a, given), residuals(X, b, given))[0, 1])


def edge_p_value(X, order, m, j, test):
    """p-value of position m against position j given the other predecessors of m."""
    n = len(X)
    given = [order[i] for i in range(m) if i != j]
    r = partial_correlation(X, order[m], order[j], given)
    k = len(given)
    if test == "fisher-z":
        z = 0.5 * math.log((1 + r) / (1 - r)) * math.sqrt(n - k - 3)
        return 2 * stats.norm.sf(abs(z))
    if test == "t":
        d = n - k - 2
        return 2 * stats.t.sf(abs(r) * math.sqrt(d / (1 - r * r)), d)
    return stats.chi2.sf(-n * math.log(1 - r * r), 1)


def direction_p_value(X, a, b, given):
    """Pitman–Morgan on residual rows: are the sum and the difference of the two residuals correlated?"""
    u, v = residuals(X, a, given), residuals(X, b, given)
    r = np.corrcoef(u + v, u - v)[0, 1]
    d = len(X) - len(given) - 2
    return 2 * stats.t.sf(abs(r) * math.sqrt(d / (1 - r * r)), d)


def bic_parents(X, target, candidates):
    """Backward elimination by BIC, one least-squares fit for every candidate of every step."""
    n = len(X)

    def bic(parents):
        return n * math.log(np.sum(residuals(X, target, parents) ** 2) / n) + math.log(n) * len(parents)

    parents = list(candidates)
    while parents:
        trials = [[k for k in parents if k != drop] for drop in parents]
        scores = [bic(trial) for trial in trials]
        if min(scores) >= bic(parents):
            break
        parents = trials[int(np.argmin(scores))]
    return parents


def benjamini_hochberg(p_values, rate):
    """Indices of the rejected hypotheses, by the definition."""
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    cut = 0
    for rank, i in enumerate(ranked, start=1):
        if p_values[i] <= rate * rank / len(p_values):
            cut = rank
    return set(ranked[:cut])
