"""Backward elimination for one variable: all predecessors in, those that are worth their price out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ordag.arrays import Array, Mask


class Kept(NamedTuple):
    """The parents that were kept, and for which penalties the elimination would have kept just these.

    It would for every penalty above `low`, the largest statistic of those that went, and up to `high`, the smallest
    of those that stayed.
    """

    parents: Mask
    low: float
    high: float


def eliminate(T: Array, target: Array, rss: float, weight: float, penalty: float, out: Mask, stay: Mask) -> Kept:
    """Start from all predecessors and drop the weakest as long as its statistic is below the penalty.

    With T the inverse root of the predecessors (their inverse Gram matrix is T Tᵀ) and `target` the variable in the
    coordinates of that root, the coefficients are β = T target. Dropping j raises the residual sum of squares `rss` to
    rss + β_j²/d_j with d_j = ‖T_j‖², and the statistic is weight · log(1 + β_j²/(d_j rss)).
    Those in `out` are dropped beforehand, those in `stay` never.

    Without variable j the inverse root is what is left of the other rows of T orthogonal to T_j: Gram–Schmidt, which
    keeps the digits that a downdate of T Tᵀ would lose. A drop costs m² for m predecessors.
    """
    T = np.array(T, order="C")
    kept = np.ones(len(T), dtype=bool)
    low, high = -math.inf, math.inf
    while kept.any():
        outstanding = kept & out
        beta = T @ target
        d = np.einsum("ij,ij->i", T, T)
        with np.errstate(invalid="ignore", divide="ignore"):
            rise = np.where(kept & ~stay, beta * beta / d, math.inf)
        forced = bool(outstanding.any())
        j = int(outstanding.argmax()) if forced else int(rise.argmin())
        if not forced:
            statistic = weight * math.log1p(rise[j] / rss)
            if statistic >= penalty:
                high = statistic
                break
            low = max(low, statistic)
        rss += float(beta[j] * beta[j] / d[j])
        direction = T[j] / math.sqrt(d[j])
        T -= np.outer(T @ direction, direction)
        T[j] = 0.0
        kept[j] = False
    return Kept(kept, low, high)
