"""Moments drawn towards equal variances and no correlation, for tables with hardly more rows than columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ordag.arrays import Array
from ordag.data.moments import Moments
from ordag.linalg import triangle


def shrinkage_moments(X: Array, names: Sequence[str]) -> Moments:
    r"""Moments whose scatter is $(1 - \delta) (X - \bar x)^\top (X - \bar x) + \delta \mu n I$, μ the mean variance of the columns.

    δ is the share that Ledoit & Wolf (2004) derive for the least squared error of the covariance matrix. There is an inverse for any
    number of rows.
    """
    from sklearn.covariance import ledoit_wolf_shrinkage

    n, p = X.shape
    mean = X.mean(axis=0)
    centred = X - mean
    share = float(
        ledoit_wolf_shrinkage(centred / np.abs(centred).max(), assume_centered=True)
    )  # it takes fourth powers
    ridge = math.sqrt(share * n * float(X.var(axis=0).mean()))
    R = triangle(np.concatenate([math.sqrt(1.0 - share) * centred, ridge * np.eye(p)]))
    return Moments(n, mean, names, R=R)
