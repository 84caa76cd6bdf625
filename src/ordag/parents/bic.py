"""Parents without a level to choose: backward elimination by the Bayesian information criterion."""

from __future__ import annotations

import math

import numpy as np

from ordag.arrays import Array, Mask


def backward_elimination(L: Array, W: Array, n: int, may: Mask | None = None, must: Mask | None = None) -> Mask:
    """For every variable start from all predecessors and drop the weakest as long as that lowers BIC.

    Dropping j raises the residual sum of squares RSS to RSS + β_j²/d_j, with β the coefficients and d_j the j-th
    diagonal entry of the inverse Gram matrix, and lowers BIC when n log(1 + β_j²/(d_j RSS)) < log n.
    The result is at [later, earlier]. Cost O(p⁴) in all, since every drop updates an m × m matrix. At the same places,
    `may` says which predecessors can be parents (the others are dropped beforehand) and `must` which are never dropped.
    """
    p = len(L)
    out = np.zeros((p, p), dtype=bool) if may is None else ~may
    stay = np.zeros((p, p), dtype=bool) if must is None else must
    kept = np.zeros((p, p), dtype=bool)
    for m in range(1, p):
        kept[m, :m] = _eliminate(W[:m, :m].T, L[m, :m], float(L[m, m]) ** 2, n, out[m, :m], stay[m, :m])
    return kept


def _eliminate(T: Array, target: Array, rss: float, n: int, out: Mask, stay: Mask) -> Mask:
    """One variable. With T the inverse root of the predecessors (their inverse Gram matrix is T Tᵀ) and `target` the
    variable in the coordinates of that root, β = T target and d_j = ‖T_j‖².

    Without variable j the inverse root is what is left of the other rows of T orthogonal to T_j: Gram–Schmidt, which
    keeps the digits that a downdate of T Tᵀ would lose.
    """
    T = np.array(T, order="C")
    kept = np.ones(len(T), dtype=bool)
    while kept.any():
        outstanding = kept & out
        beta = T @ target
        d = np.einsum("ij,ij->i", T, T)
        with np.errstate(invalid="ignore", divide="ignore"):
            rise = np.where(kept & ~stay, beta * beta / d, math.inf)
        j = int(outstanding.argmax()) if outstanding.any() else int(rise.argmin())
        if not outstanding[j] and n * math.log1p(rise[j] / rss) >= math.log(n):
            break
        rss += float(rise[j])
        direction = T[j] / math.sqrt(d[j])
        T -= np.outer(T @ direction, direction)
        T[j] = 0.0
        kept[j] = False
    return kept
