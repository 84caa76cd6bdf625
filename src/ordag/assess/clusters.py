r"""Compare relations within clusters with those between their means.

For every edge of the graph, or of either graph where both levels were learned, the correlation of its two variables within clusters and
that of the clusters' means, each with its t test. They contradict each other where both are sure, by Bonferroni's correction over edges,
and differ in sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr

from ordag.assess.finding import Finding, unchecked
from ordag.common.arrays import Array, Indices
from ordag.common.linalg import lengths
from ordag.common.words import counted, joined, number, shown
from ordag.data.moments import Moments

if TYPE_CHECKING:
    from ordag.learners.found import Found

LEVEL = 0.05
"""Level of the comparison, unless another is given."""

FEWEST_CLUSTERS = 5
"""Clusters from which on their means are compared."""


class Correlation(NamedTuple):
    """Correlations of pairs of variables, and their p-values."""

    r: Array
    p_value: Array

    @classmethod
    def of(cls, moments: Moments, source: Indices, target: Indices) -> Correlation:
        unit = moments.R / lengths(moments.R)
        r = np.clip(np.einsum("ij,ij->j", unit[:, source], unit[:, target]), -1.0, 1.0)
        df = moments.n - 2
        t = r * np.sqrt(df / np.maximum(1.0 - r * r, 1e-300))
        return cls(r, 2.0 * stdtr(df, -np.abs(t)))


def clusters_finding(found: Found, alpha: float = LEVEL) -> Finding:
    """Compare relations within clusters with those between their means."""
    key, moments = "clusters", found.moments
    count = 0 if moments.clusters is None else len(moments.clusters.numbers)
    if count < FEWEST_CLUSTERS:
        return unchecked(key, f"means of {counted(count, 'cluster')} are too few to compare.")
    source, target = joined_pairs(found)
    if not len(source):
        return unchecked(key, "the graph has no edges.")
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
    sentence = f"{joined(pairs, 3)}: a change within a cluster does not go with what differs between clusters."
    if found.between is None:
        sentence += " Say which of the two the graph is about (clusters='within' or 'between'; 'both' shows them apart, --clusters)."
    return Finding(key, "look", sentence, numbers)


def joined_pairs(found: Found) -> tuple[Indices, Indices]:
    """Return the pairs of columns that the graph joins, or that of the means of clusters, where that was learned."""
    skeleton = found.graph.skeleton if found.between is None else found.graph.skeleton | found.between.graph.skeleton
    source, target = np.nonzero(np.triu(skeleton))
    return source, target


def both_levels(fit: Found) -> list[tuple[str, ...]]:
    """Return what is known of every pair that either graph joins: its names, arrow and weight within and between clusters, and both
    correlations."""
    if fit.between is None:
        return []
    source, target = joined_pairs(fit)
    means = fit.moments.between()
    varies = lengths(means.R) > 0.0
    inside = Correlation.of(fit.moments, source, target).r
    with np.errstate(invalid="ignore", divide="ignore"):
        outside = np.where(varies[source] & varies[target], Correlation.of(means, source, target).r, np.nan)
    rows = []
    for i, j, r, s in zip(source.tolist(), target.tolist(), inside, outside, strict=True):
        each = [_drawn(one, i, j) for one in (fit, fit.between)]
        rows.append((shown(fit.names[i]), shown(fit.names[j]), *each, f"{r:.2f}", f"{s:.2f}" if s == s else ""))
    return rows


def _drawn(fit: Found, i: int, j: int) -> str:
    """Return the edge between two columns as text, with its weight: "→ 0.8", "← 0.8", "—", or nothing."""
    adjacency, weights = fit.graph.adjacency, fit.edge_weights or {}
    if not (adjacency[i, j] or adjacency[j, i]):
        return ""
    if adjacency[i, j] and adjacency[j, i]:
        return "—"
    ends = (fit.names[i], fit.names[j]) if adjacency[i, j] else (fit.names[j], fit.names[i])
    weight = weights.get(ends)
    return f"{'→' if adjacency[i, j] else '←'}{'' if weight is None else f' {number(weight, 3)}'}"
