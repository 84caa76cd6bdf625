"""Test whether a single row decides the graph: learn again without the most distant row, and without an ordinary one."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.special import betainc

from ordag.assess.arrows import DECIDED
from ordag.common.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import least_squares_rows
from ordag.errors import OrdagError, PrecisionWarning
from ordag.learners.found import Found
from ordag.learners.methods import learn_from
from ordag.resampling.labelled import LabelledResampler

MOST_COLUMNS, MOST_SECONDS = 20, 0.25
"""Beyond these, learning two more times takes too long."""

LEVERAGE = 0.05
"""The share of the table that lies in one row, h = d²/(n − 1), below which no row is left out."""

UNUSUAL = 0.05
"""The chance of a row this far out among as many Gaussian rows above which none is left out: the farthest one always changes some arrow."""

KEPT, LESS, LOST = 0.8, 0.2, 2
"""A row decides if a smaller share of the arrows stays without it, by so much less than without an ordinary row, and so many change."""


class Lone(NamedTuple):
    """The most distant row, and the shares of arrows that remain without it and without a row of median distance."""

    row: int
    kept: float
    ordinary: float


def distances(X: Array) -> Array:
    r"""Return the squared Mahalanobis distance of every row from the mean, $(x - \bar x)^\top S^{-1} (x - \bar x)$, S of divisor n − 1."""
    Q = qr(X - X.mean(axis=0), mode="economic", check_finite=False)[0]
    return np.asarray(np.square(Q).sum(axis=1) * (len(X) - 1.0))


def tail(d2: Array, n: int, p: int) -> Array:
    r"""Return the chance of a larger distance for one row of n Gaussian ones: $\frac{n}{(n-1)^2} d^2$ is Beta(p/2, (n − p − 1)/2).

    The exact distribution (Gnanadesikan & Kettenring 1972); for many rows d² is chi-square with p degrees of freedom.
    """
    x = np.minimum(np.asarray(d2) * n / (n - 1.0) ** 2, 1.0)
    return np.asarray(betainc((n - p - 1) / 2.0, p / 2.0, 1.0 - x))


def deciding_row(found: Found) -> Lone | None:
    """Return the row whose removal changes many arrows that the removal of an ordinary row does not; None if there is none or no time.

    Where any row changes as much, the arrows are weak and their probabilities say so: that is no matter of this row.
    """
    settings = found.method_settings
    if found.profile is None or found.profile.stride > 1 or settings.needs_rows:
        return None
    if getattr(settings, "kicks", None) is not None or settings.seconds * (len(found.names) + 10.0) ** 2 > MOST_SECONDS:
        return None
    X = found.profile.complete.rows
    n, p = X.shape
    if n != found.rows or found.n <= least_squares_rows(p) or p > MOST_COLUMNS or not found.graph.edge_count:
        return None
    ends = lies_out(X)
    if ends is None:
        return None
    farthest, middle = ends
    try:
        kept = _kept(found, X, farthest)
        if kept >= KEPT or round((1.0 - kept) * found.graph.edge_count) < LOST:
            return None
        ordinary = _kept(found, X, middle)
    except OrdagError:
        return None
    return Lone(farthest, kept, ordinary) if kept <= ordinary - LESS else None


def lies_out(X: Array) -> tuple[int, int] | None:
    """Return the row that could decide, and one of median distance; None where the farthest one lies no farther out than others do."""
    n, p = X.shape
    d2 = distances(X)
    farthest, middle = (int(k) for k in np.argsort(d2, kind="stable")[[-1, n // 2]])
    if d2[farthest] < LEVERAGE * (n - 1) or n * float(tail(d2[farthest], n, p)) > UNUSUAL:
        return None
    return farthest, middle


def _kept(found: Found, X: Array, row: int) -> float:
    """Return the share of edges that are learned again without a row, with their direction unless that is open anyway."""
    labels, moments = None if found.profile is None else found.profile.complete.labels, found.moments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        if labels is None or not moments.conditions or any(one.root.covariates for one in moments.conditions):
            moments = Moments.from_rows(np.delete(X, row, axis=0), found.names).counted_like(moments)
        else:
            moments = LabelledResampler(moments, X, labels).weighted((np.arange(len(X)) != row).astype(np.float64))
        adjacency: Mask = learn_from(Table(moments), found.method_settings.alone()).graph.adjacency
    arrows = found.best_graph.adjacency
    if found.probabilities is not None:
        adjacency = adjacency | (adjacency.T & (found.probabilities.arrows < DECIDED * found.probabilities.joined))
    return float((arrows & adjacency).sum() / max(int(arrows.sum()), 1))
