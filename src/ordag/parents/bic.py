"""Parents without a level to choose: backward elimination by the Bayesian information criterion."""

from __future__ import annotations

import math

import numpy as np

from ordag.arrays import Array, Mask
from ordag.parents.elimination import eliminate


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
        T, rss = W[:m, :m].T, float(L[m, m]) ** 2
        kept[m, :m] = eliminate(T, L[m, :m], rss, n, math.log(n), out[m, :m], stay[m, :m]).parents
    return kept
