r"""The expectation step for Gaussian rows with holes: the compiled loop of `em`.

With K the inverse of the covariance matrix and x a row about a point c, zero at its holes M, the holes have given the rest the covariance
$K_{MM}^{-1}$ and the mean $c_M + f$, $f = K_{MM}^{-1} (h - K x)_M$ with $h = K (\mu - c)$. So a row with m holes takes m p + m³ products
and not p³, and only what the holes add to the sums changes from one step to the next.
"""

from __future__ import annotations

import math

import numpy as np

from ordag.common.arrays import Array, Integers
from ordag.common.compiling import allocating, inlined


@inlined
def invert(A: Array, L: Array, m: int) -> float:
    """Replace the corner of A, of m rows, by its inverse; return the logarithm of its determinant. L is room for as much."""
    logarithm = 0.0
    for k in range(m):
        for i in range(k, m):
            total = A[i, k]
            for a in range(k):
                total -= L[i, a] * L[k, a]
            if i == k:
                pivot = math.sqrt(total)
                L[k, k] = pivot
                logarithm += 2.0 * math.log(pivot)
            else:
                L[i, k] = total / pivot
    for k in range(m):  # L becomes its own inverse
        L[k, k] = 1.0 / L[k, k]
        for i in range(k + 1, m):
            total = 0.0
            for a in range(k, i):
                total -= L[i, a] * L[a, k]
            L[i, k] = total / L[i, i]
    for k in range(m):
        for i in range(k, m):
            total = 0.0
            for a in range(i, m):
                total += L[a, i] * L[a, k]
            A[i, k] = total
            A[k, i] = total
    return logarithm


@allocating
def expectations(
    X: Array,
    w: Array,
    starts: Integers,
    holes: Integers,
    patterns: Integers,
    K: Array,
    h: Array,
    first: Array,
    second: Array,
    mixed: Array,
) -> float:
    r"""Add $\sum w f$ to `first`, $\sum w (f^\top f + K_{MM}^{-1})$ to `second` and $\sum w f^\top x$ to `mixed`.

    Row i has the weight w[i] and the holes holes[starts[i]:starts[i + 1]]; rows of one pattern stand together. Return
    $\sum w \log\det K_{MM}$.
    """
    n, p = X.shape
    A, L, u, f = np.empty((p, p)), np.empty((p, p)), np.empty(p), np.empty(p)
    total = logarithm = 0.0
    last = np.int64(-1)
    for i in range(n):
        begin, m = starts[i], starts[i + 1] - starts[i]
        if patterns[i] != last:
            last = patterns[i]
            for a in range(m):
                for b in range(m):
                    A[a, b] = K[holes[begin + a], holes[begin + b]]
            logarithm = invert(A, L, m)
        weight = w[i]
        if weight == 0.0:
            continue
        total += weight * logarithm
        for a in range(m):
            j = holes[begin + a]
            value = 0.0
            for k in range(p):
                value += K[j, k] * X[i, k]
            u[a] = h[j] - value
        for a in range(m):
            value = 0.0
            for b in range(m):
                value += A[a, b] * u[b]
            f[a] = value
        for a in range(m):
            j = holes[begin + a]
            scaled = weight * f[a]
            first[j] += scaled
            for b in range(m):
                second[j, holes[begin + b]] += scaled * f[b] + weight * A[a, b]
            for k in range(p):
                mixed[j, k] += scaled * X[i, k]
    return total
