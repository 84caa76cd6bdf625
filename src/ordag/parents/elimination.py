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
    left = np.arange(len(T))
    forced = int(out.sum())
    if forced:
        left = np.concatenate([left[out], left[~out]])
    T = np.array(T[left], order="C")
    free = ~stay[left]
    low, high = -math.inf, math.inf
    while len(left):
        beta = T @ target
        d = np.einsum("ij,ij->i", T, T)
        rise = beta * beta / d
        if forced:
            j, forced = 0, forced - 1
        else:
            j = int(np.where(free, rise, math.inf).argmin())
            statistic = weight * math.log1p(rise[j] / rss) if free[j] else math.inf
            if statistic >= penalty:
                high = statistic
                break
            low = max(low, statistic)
        rss += float(rise[j])
        direction = T[j] / math.sqrt(d[j])
        others = np.arange(len(left)) != j
        left, free, T = left[others], free[others], T[others]
        T -= np.multiply.outer(T @ direction, direction)
    kept = np.zeros(len(out), dtype=bool)
    kept[left] = True
    return Kept(kept, low, high)
