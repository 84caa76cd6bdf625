"""Moments by other estimators of the covariance: robust against gross outliers, and shrunk where rows are few."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import singular_root, triangle
from ordag.data.moments import Moments

FAR_CELL = 4.0
"""A cell this many robust standard deviations from its column's median is taken as missing."""

FEW_ROWS = 0.25
"""Share of rows with such cells up to which the whole rows are left out: outliers are then likely to be whole rows."""

FAR_ROW = 3.0
"""A row is left out if its distance, on a normal scale, is this many robust standard deviations above the median."""

FEW_COLUMNS = 30
"""Columns up to which MinCovDet is used: it takes a second there, and a minute for 200 columns."""

ROWS_PER_COLUMN = 5
NEAREST = 0.75
"""Share of rows on which two results are compared."""

MOST_ROUNDS = 10
TO_NORMAL = 1.4826
"""Standard deviation of normal values, in units of their median absolute deviation."""


class Core(NamedTuple):
    """Which rows are kept; all rows about their mean, missing cells filled; the covariance that the filling leaves; and that mean."""

    kept: Mask
    filled: Array
    uncertain: Array
    mean: Array

    def covariance(self) -> Array:
        rows = self.filled[self.kept]
        return np.asarray((rows.T @ rows + self.uncertain) / (len(rows) - 1))

    def volume(self, rows: int) -> float:
        """Return the log determinant of the covariance of the `rows` rows nearest to the mean."""
        distance = np.einsum("ij,ij->i", self.filled @ _inverse(self.covariance(), len(self.filled)), self.filled)
        nearest = self.filled[np.argsort(distance)[:rows]]
        return float(np.linalg.slogdet(np.cov(nearest, rowvar=False))[1])


def robust_moments(X: Array, names: Sequence[str]) -> Moments:
    r"""Return moments that a few per cent of gross outliers, in whole rows or in single cells, hardly move.

    `outlying` rows are left out; `n` is the number kept, less their share of missing pairs of cells.

    Cells with $|x - \text{median}| > 4 \cdot \text{scale}$ are far, the scale being the median absolute deviation. Where they are in few
    rows, these are left out; otherwise far cells are missing, and filled by their expectation as EM does. The start is the Gaussian rank
    correlation (Boudt, Cornelissen & Croux 2012). For up to 30 columns with more than five rows each and no missing cells,
    scikit-learn's MinCovDet is a second start, and the end with the smaller determinant is taken, as among the starts of Hubert,
    Rousseeuw & Verdonck (2012).
    """
    n, p = X.shape
    middle = np.median(X, axis=0)
    scale = TO_NORMAL * np.median(np.abs(X - middle), axis=0)
    scale = np.where(scale > 0.0, scale, X.std(axis=0))  # more than half of the values are the same
    Z = (X - middle) / scale
    missing = np.abs(Z) > FAR_CELL
    touched = missing.any(axis=1)
    whole = bool(touched.mean() <= FEW_ROWS)
    possible = np.asarray(~touched if whole else missing.sum(axis=1) <= p // 2)
    Z, missing = Z[possible], missing[possible]
    core = settled(Z, missing, np.zeros(p), rank_correlation(Z))
    if whole and p <= FEW_COLUMNS and len(Z) > ROWS_PER_COLUMN * p:
        other = settled(Z, missing, *_least_determinant(Z))
        core = min(core, other, key=lambda one: one.volume(int(NEAREST * len(Z))))
    kept = int(core.kept.sum())
    worth = int(kept * _pairs_observed(missing[core.kept]))
    root = triangle(np.concatenate([core.filled[core.kept], singular_root(core.uncertain)]))
    root *= scale * math.sqrt((worth - 1.0) / (kept - 1.0))
    return Moments(worth, middle + core.mean * scale, names, R=root, outlying=n - kept)


def settled(Z: Array, missing: Mask, mean: Array, S: Array) -> Core:
    r"""Repeat from a first mean and covariance S: fill cells, leave out rows, and take mean and covariance of the others.

    With K the inverse of S and x a row about the mean, missing cells M have the expectation $-K_{MM}^{-1} K_{MO} x_O$ and the covariance
    $K_{MM}^{-1}$ given the observed O. A row is left out if $(x_O^\top S_{OO}^{-1} x_O / |O|)^{1/3}$ is more than three robust deviations
    above the median: on that scale chi-square is near normal (Wilson & Hilferty 1931). Such a distance shrinks all directions
    alike, so an order by conditional variances is not changed by it.
    """
    n, p = Z.shape
    observed = np.maximum(p - missing.sum(axis=1), 1)
    for _ in range(MOST_ROUNDS):
        K = _inverse(S, n)
        filled, uncertain = _filled(Z - mean, missing, K)
        distance = np.einsum("ij,ij->i", filled @ K, filled)
        kept = ~far(np.cbrt(distance / observed))
        shift = filled[kept].mean(axis=0)
        mean = mean + shift
        core = Core(kept, filled - shift, uncertain(kept), mean)
        S = core.covariance()
    return core


def rank_correlation(X: Array) -> Array:
    """Return the correlation of normal scores, which is positive semidefinite."""
    from scipy.stats import rankdata

    return np.asarray(np.corrcoef(ndtri(rankdata(X, axis=0) / (len(X) + 1.0)), rowvar=False))


def far(values: Array) -> Mask:
    """Mark the values more than `FAR_ROW` robust standard deviations above their median."""
    middle = np.median(values)
    return np.asarray(values > middle + FAR_ROW * TO_NORMAL * np.median(np.abs(values - middle)))


def _least_determinant(Z: Array) -> tuple[Array, Array]:
    from sklearn.covariance import MinCovDet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about determinants that rise by rounding, which do no harm to a start
        found = MinCovDet(random_state=0).fit(Z)
    return found.location_, found.covariance_


def _filled(Z: Array, missing: Mask, K: Array) -> tuple[Array, Callable[[Mask], Array]]:
    """Fill the missing cells of centred rows by their expectation; also return the sum of their covariances over some rows."""
    filled = np.where(missing, 0.0, Z)
    covariances = []
    for i in np.flatnonzero(missing.any(axis=1)):
        M = np.flatnonzero(missing[i])
        covariance = np.linalg.inv(K[np.ix_(M, M)])
        filled[i, M] = -covariance @ (K[M] @ filled[i])
        covariances.append((i, M, covariance))

    def uncertain(kept: Mask) -> Array:
        total = np.zeros(K.shape)
        for i, M, covariance in covariances:
            if kept[i]:
                total[np.ix_(M, M)] += covariance
        return total

    return filled, uncertain


def _pairs_observed(missing: Mask) -> float:
    """Return the share of pairs of cells in a row of which neither is missing."""
    p = missing.shape[1]
    observed = p - missing.sum(axis=1)
    return float((observed * (observed - 1.0)).mean() / (p * (p - 1.0))) if p > 1 else 1.0


def _inverse(S: Array, n: int) -> Array:
    """Invert a covariance matrix with its correlations shrunk: by a tenth if rows are few, else by as much as makes it invertible."""
    share = 0.1 if n <= 2 * len(S) else 1e-10
    return np.asarray(np.linalg.inv((1.0 - share) * S + share * np.diag(S.diagonal())), np.float64)


def shrinkage_moments(X: Array, names: Sequence[str]) -> Moments:
    r"""Return moments whose scatter is $(1 - \delta) (X - \bar x)^\top (X - \bar x) + \delta \mu n I$, μ the mean variance of the columns.

    δ is the share that Ledoit & Wolf (2004) derive for the least squared error of the covariance matrix. The scatter is invertible for
    any number of rows.
    """
    from sklearn.covariance import ledoit_wolf_shrinkage

    n, p = X.shape
    mean = X.mean(axis=0)
    centred = X - mean
    scaled = centred / np.abs(centred).max()  # for the fourth powers
    share = float(ledoit_wolf_shrinkage(scaled, assume_centered=True))
    ridge = math.sqrt(share * n * float(X.var(axis=0).mean()))
    R = triangle(np.concatenate([math.sqrt(1.0 - share) * centred, ridge * np.eye(p)]))
    return Moments(n, mean, names, R=R)
