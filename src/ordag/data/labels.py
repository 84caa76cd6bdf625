"""`RowLabels`: what rows are, beside what they hold: conditions, units of resampling, weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import group_means


class RowLabels(NamedTuple):
    """The numbers of the condition, the cluster and the unit of rows, their weights and the indicators of categories that are causes.

    They are None for what rows do not have. Rows are about the means of their conditions and clusters. A unit is what resamples draw as
    a whole: a cluster, or a stretch of time.
    """

    condition: Indices | None = None
    cluster: Indices | None = None
    unit: Indices | None = None
    weight: Array | None = None
    causes: Array | None = None

    def of(self, which: Indices | Mask | slice) -> RowLabels:
        """Return the labels of some rows."""
        condition, cluster, unit = (None if one is None else one[which] for one in self[:3])
        weight, causes = (None if one is None else one[which] for one in self[3:])
        return RowLabels(condition, cluster, unit, weight, causes)

    def centred(self, rows: Array) -> Array:
        """Return rows about the means of their conditions and clusters, at the mean of all."""
        groups = [one for one in (self.condition, self.cluster) if one is not None]
        if not groups:
            return rows
        place = np.unique(np.stack(groups, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        w = np.ones(len(rows)) if self.weight is None else np.maximum(self.weight, 1e-300)
        totals = np.bincount(place, w)
        means = group_means(rows, place, w, totals)
        return np.asarray(rows - means[place] + totals @ means / totals.sum())


class Units(NamedTuple):
    """What resamples draw as a whole, in strata: for every stratum the first and the last of its units, and the unit of every row."""

    bounds: tuple[tuple[int, int], ...]
    place: Indices

    def counts(self, random: np.random.Generator) -> Array:
        """Return how often every row is drawn, with replacement, as many units from each stratum as it has."""
        drawn = [random.integers(first, last, size=last - first) for first, last in self.bounds]
        counts = np.bincount(np.concatenate(drawn), minlength=self.bounds[-1][1])
        return np.asarray(counts[self.place], dtype=np.float64)


def units_of(labels: RowLabels, rows: int) -> Units:
    """Return the units of rows: those of their labels, else the rows themselves; within conditions, unless a unit has rows of several."""
    unit = np.arange(rows) if labels.unit is None else labels.unit
    stratum = np.zeros(rows, np.intp) if labels.condition is None else labels.condition
    pairs, place = np.unique(np.stack([stratum, unit], axis=1), axis=0, return_inverse=True)
    if len(np.unique(unit)) < len(pairs):
        found, place = np.unique(unit, return_inverse=True)
        return Units(((0, len(found)),), place.reshape(-1))
    ends = np.cumsum(np.unique(pairs[:, 0], return_counts=True)[1]).tolist()
    return Units(tuple(zip([0, *ends[:-1]], ends, strict=True)), place.reshape(-1))
