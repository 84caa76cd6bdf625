r"""Compare relations within clusters with those between their means.

For every edge of the graph, the correlation of its two variables within clusters and that of the clusters' means, each with its t test.
They contradict each other where both are sure, by Bonferroni's correction over edges, and differ in sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.common.arrays import Array
from ordag.common.linalg import lengths
from ordag.common.words import counted, joined, shown
from ordag.data.moments import Moments
from ordag.evidence.finding import Finding, unchecked
from ordag.learners.found import Found

FEWEST_CLUSTERS = 5
"""Clusters from which on their means are compared."""


class Correlation(NamedTuple):
    """Correlations of pairs of variables, and their p-values."""

    r: Array
    p_value: Array

    @classmethod
    def of(cls, moments: Moments, source: Array, target: Array) -> Correlation:
        unit = moments.R / lengths(moments.R)
        r = np.clip(np.einsum("ij,ij->j", unit[:, source], unit[:, target]), -1.0, 1.0)
        df = moments.n - 2
        t = r * np.sqrt(df / np.maximum(1.0 - r * r, 1e-300))
        return cls(r, 2.0 * stdtr(df, -np.abs(t)))


def clusters_finding(found: Found, alpha: float) -> Finding:
    """Compare relations within clusters with those between their means."""
    key, moments = "clusters", found.moments
    count = 0 if moments.clusters is None else len(moments.clusters.places)
    if count < FEWEST_CLUSTERS:
        return unchecked(key, f"means of {counted(count, 'cluster')} are too few to compare.")
    ends = np.argwhere(np.triu(found.graph.skeleton)).T
    if not ends.size:
        return unchecked(key, "the graph has no edges.")
    source, target = ends
    varies = lengths(moments.between().R) > 1e-9 * np.sqrt(count) * np.maximum(np.abs(moments.mean), moments.spread)
    both = varies[source] & varies[target]
    source, target = source[both], target[both]
    inside = Correlation.of(moments, source, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        outside = Correlation.of(moments.between(), source, target)
    level = alpha / max(len(source), 1)
    sure = (inside.p_value < level) & (outside.p_value < level)
    against = np.flatnonzero(sure & (inside.r * outside.r < 0.0))
    numbers = {"clusters": count, "compared": len(source), "opposite": len(against)}
    if not len(against):
        said = (
            f"Where both are sure, relations within the {count:,} clusters have the sign of those between their means."
        )
        return Finding(key, "fine", said, numbers)
    worst = against[np.argsort(-np.abs(inside.r - outside.r)[against], kind="stable")]
    pairs = [
        f"{shown(found.names[source[k]])} and {shown(found.names[target[k]])} correlate {inside.r[k]:.2f} within clusters and "
        f"{outside.r[k]:.2f} between their means"
        for k in worst.tolist()
    ]
    sentence = (
        f"{joined(pairs, 3)}: a change within a cluster does not go with what differs between clusters. Say which of the two "
        "the graph is about (clusters='within' or 'between', --clusters)."
    )
    return Finding(key, "look", sentence, numbers)
