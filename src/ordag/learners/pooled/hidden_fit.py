r"""Fit a linear Gaussian graph with hidden causes by maximum likelihood: the compiled loops of `hidden_search`.

Variables 0 … p − 1 are observed, with the correlations C; p … q − 1 are hidden, independent, of variance 1 and without parents. With
$r_j = x_j - \sum_{i<p} B_{ij} x_i$, loadings $\lambda_j$ (the rows of B from p on) and error variances $\omega_j$, the hidden causes
have, given x, the covariance $V = (I + \sum_j \lambda_j \lambda_j^\top / \omega_j)^{-1}$ and the mean
$V \sum_j \lambda_j r_j / \omega_j = b^\top x$. So the expected second moments of all variables are C, Cb and b⊤Cb + V, and each variable
is regressed on its parents with these (EM, Dempster, Laird & Rubin 1977). The hidden causes are brought back to variance 1 before
that, which takes far fewer rounds (Liu, Rubin & Wu 1998).
"""

from __future__ import annotations

import math

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.compiling import allocating, inlined

LEAST_SHARE = 0.002
"""Of its variance each variable keeps at least this share as its error, so that no hidden cause becomes one of the columns."""


@inlined
def sweep(S: Array, size: int, last: int) -> float:
    """Solve in place by Gauss-Jordan steps at the first `last` pivots of S, of which `size` rows and columns are in use.

    The corner becomes its inverse, the columns beside it what it takes to explain them by it, and the rest what is left of them.
    Return the logarithm of the determinant of the corner.
    """
    logarithm = 0.0
    for k in range(last):
        pivot = S[k, k]
        logarithm += math.log(pivot)
        for b in range(size):
            S[k, b] /= pivot
        S[k, k] = 1.0 / pivot
        for a in range(size):
            if a != k:
                factor = S[a, k]
                S[a, k] = 0.0
                for b in range(size):
                    S[a, b] -= factor * S[k, b]
    return logarithm


@allocating
def fit_hidden(C: Array, A: Mask, M: Array, B: Array, omega: Array, rounds: int, enough: float) -> float:
    r"""Return $\log\det\Sigma + \operatorname{tr}\Sigma^{-1}C - p$ of the observed variables; B, omega and M are set.

    A[i, j]: i → j. M: second moments of all variables to begin with. rounds: at most. enough: an improvement to stop at.
    """
    p, q = C.shape[0], A.shape[0]
    own, driven = np.zeros(q + 1, np.int64), np.zeros(p, np.bool_)
    S, G, mean, cross, r = np.zeros((q + 1, q + 1)), np.zeros((q, p)), np.zeros((q, p)), np.zeros((q, p)), np.zeros(p)
    constant = value = 0.0
    for turn in range(rounds):
        now = 0.0
        for a in range(p, q):
            for i in range(p):
                G[a, i] = 0.0
        for j in range(p):
            if turn == 0 or driven[j]:  # M-step: regress j on its parents
                k = 0
                for i in range(q):
                    B[i, j] = 0.0
                    if A[i, j]:
                        own[k] = i
                        k += 1
                        driven[j] = driven[j] or i >= p
                own[k] = j
                for a in range(k + 1):
                    for b in range(k + 1):
                        S[a, b] = M[own[a], own[b]]
                sweep(S, k + 1, k)
                for a in range(k):
                    B[own[a], j] = S[a, k]
                omega[j] = max(S[k, k], LEAST_SHARE)
                if not driven[j]:
                    constant += math.log(omega[j])
            if driven[j]:  # r: what its observed parents leave of j
                for i in range(p):
                    r[i] = -B[i, j]
                r[j] = 1.0
                for a in range(p, q):
                    for i in range(p):
                        G[a, i] += r[i] * B[a, j] / omega[j]
                squares = 0.0
                for i in range(p):
                    if r[i] != 0.0:
                        for k in range(p):
                            squares += r[i] * r[k] * C[i, k]
                now += math.log(omega[j]) + squares / omega[j] - 1.0
        for a in range(p, q):  # E-step: S becomes the covariance of the hidden causes given the others
            for b in range(p, q):
                S[a - p, b - p] = 1.0 if a == b else 0.0
                for j in range(p):
                    if driven[j]:
                        S[a - p, b - p] += B[a, j] * B[b, j] / omega[j]
        now += sweep(S, q - p, q - p)
        for a in range(p, q):
            for i in range(p):
                mean[a, i] = 0.0
                for b in range(p, q):
                    mean[a, i] += S[a - p, b - p] * G[b, i]
        for a in range(p, q):
            for i in range(p):
                cross[a, i] = 0.0
                for k in range(p):
                    cross[a, i] += mean[a, k] * C[k, i]
                now -= cross[a, i] * G[a, i]
        for a in range(p, q):
            for b in range(p, q):
                M[a, b] = S[a - p, b - p]
                for i in range(p):
                    M[a, b] += cross[a, i] * mean[b, i]
        for a in range(p, q):
            size = math.sqrt(M[a, a])
            for i in range(p):
                M[a, i] = cross[a, i] / size
                M[i, a] = M[a, i]
            for b in range(p, q):
                M[a, b] /= size
                M[b, a] /= size
        now += constant
        done = turn > 0 and value - now < enough
        value = now
        if done:
            break
    return value
