"""Moments that a few per cent of gross outliers, in whole rows or in single cells, hardly move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.linalg import triangle

FAR_CELL = 4.0
"""A cell this many robust standard deviations from its column's median is taken as missing."""

FEW_ROWS = 0.25
"""Up to this share of rows with such cells, the whole rows are left out: outliers are then likely to be rows, in all their cells."""

FAR_ROW = 3.0
"""A row is left out whose distance, brought to a normal scale, is this far above the median of all."""

ROUNDS = 10
TO_NORMAL = 1.4826
"""What makes a median absolute deviation a standard deviation, for normal values."""


def robust_moments(X: Array, names: Sequence[str]) -> Moments:
    r"""Moments of the rows that belong together: `n` are those kept, `dropped` those left out.

    The start is the Gaussian rank correlation, that of the normal scores $\Phi^{-1}(\text{rank}/(n + 1))$ (Boudt, Cornelissen & Croux
    2012), with median absolute deviations for scales. Cells with $|x - \text{median}| > 4 \cdot \text{scale}$ are missing. A round fills
    them by their expectation given the rest of the row, as EM does: with K the inverse covariance and M the missing cells, mean
    $-K_{MM}^{-1} K_{MO} x_O$ and covariance $K_{MM}^{-1}$; it leaves out the rows with a large distance $d^2 = x_O^\top S_{OO}^{-1} x_O$;
    and it takes mean and covariance of the others. On the scale $(d^2/|O|)^{1/3}$, where chi-square is near normal (Wilson & Hilferty
    1931), large is three deviations above the median. A distance takes the same away in every direction, so an order by conditional
    variances is not turned by it.
    """
    n, p = X.shape
    middle = np.median(X, axis=0)
    scale = TO_NORMAL * np.median(np.abs(X - middle), axis=0)
    scale = np.where(scale > 0.0, scale, X.std(axis=0))  # more than half of the values are the same
    Z = (X - middle) / scale
    missing = np.abs(Z) > FAR_CELL
    touched = missing.any(axis=1)
    possible = np.asarray(~touched if touched.mean() <= FEW_ROWS else missing.sum(axis=1) <= p // 2)
    mean, S = np.zeros(p), rank_correlation(Z)
    kept, filled, added = possible, Z, np.zeros((p, p))
    for _ in range(ROUNDS):
        K = np.asarray(np.linalg.inv(S if n > 2 * p else _towards_diagonal(S, 0.1)), np.float64)
        filled, uncertain = _filled(Z - mean, missing, K)
        distance = np.einsum("ij,ij->i", filled @ K, filled)
        kept = possible & ~far(np.cbrt(distance / np.maximum(p - missing.sum(axis=1), 1)), among=possible)
        added = uncertain(kept)
        shift = filled[kept].mean(axis=0)
        filled, mean = filled - shift, mean + shift
        S = (filled[kept].T @ filled[kept] + added) / (kept.sum() - 1)
    root = triangle(np.concatenate([filled[kept], _root(added)])) * scale
    return Moments(int(kept.sum()), middle + mean * scale, names, R=root, dropped=int(n - kept.sum()))


def rank_correlation(X: Array) -> Array:
    """The correlation of normal scores, positive semidefinite as every correlation of columns is."""
    return np.asarray(np.corrcoef(ndtri(rankdata(X, axis=0) / (len(X) + 1.0)), rowvar=False))


def far(values: Array, among: Mask) -> Mask:
    """Which of the values are more than `FAR_ROW` robust standard deviations above the median of some of them."""
    middle = np.median(values[among])
    return np.asarray(values > middle + FAR_ROW * TO_NORMAL * np.median(np.abs(values[among] - middle)))


def _filled(Z: Array, missing: Mask, K: Array) -> tuple[Array, Callable[[Mask], Array]]:
    """Centred rows with their missing cells at their expectation; and the sum of what these leave uncertain, over some rows."""
    filled = np.where(missing, 0.0, Z)
    parts = []
    for i in np.flatnonzero(missing.any(axis=1)):
        M = np.flatnonzero(missing[i])
        covariance = np.linalg.inv(K[np.ix_(M, M)])
        filled[i, M] = -covariance @ (K[M] @ filled[i])
        parts.append((i, M, covariance))

    def uncertain(kept: Mask) -> Array:
        total = np.zeros(K.shape)
        for i, M, covariance in parts:
            if kept[i]:
                total[np.ix_(M, M)] += covariance
        return total

    return filled, uncertain


def _towards_diagonal(S: Array, share: float) -> Array:
    return np.asarray((1.0 - share) * S + share * np.diag(S.diagonal()))


def _root(S: Array) -> Array:
    values, vectors = np.linalg.eigh(S)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
