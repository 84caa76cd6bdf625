"""Resamplers of rows that have conditions, clusters or weights: each condition keeps its rows, and a cluster is drawn as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.linalg import group_means, triangle, wishart_root
from ordag.data.covariates import Condition, Root
from ordag.data.labels import RowLabels, Units, units_of
from ordag.data.moments import Moments
from ordag.errors import CollinearError, SettingError


def refuse_covariates(base: Moments) -> None:
    """Refuse conditions whose covariates would have to be taken out of every sample again."""
    if any(one.root.covariates for one in base.conditions):
        raise SettingError(
            "A bootstrap does not go with adjust and an experiment or environment together: leave one of them out. The probabilities of "
            "the answer are averages over resamples too.",
            ["adjust"],
        )


@dataclass(frozen=True, eq=False)
class LabelledResampler:
    """Units of rows drawn with replacement, as many from each condition as it has.

    Samples count for as many rows as the table: their scatter is that of the drawn rows about the means of their conditions and clusters,
    times the share of weight that was drawn too little or too much.
    """

    base: Moments
    X: Array
    labels: RowLabels

    @cached_property
    def _units(self) -> Units:
        return units_of(self.labels, len(self.X))

    @cached_property
    def _weights(self) -> Array:
        return np.ones(len(self.X)) if self.labels.weight is None else self.labels.weight

    @cached_property
    def _parts(self) -> list[tuple[Indices, Indices, Root]]:
        """The rows of each condition, the number of the cluster of each, and the root of the table there."""
        condition, cluster = self.labels.condition, self.labels.cluster
        every = np.arange(len(self.X))
        rows = [every] if condition is None else [every[condition == c] for c in range(len(self.base.conditions))]
        whole = Root(self.base.n, self.base.mean, self.base.R, rows=self.base.rows)
        roots = [whole] if condition is None else [one.root for one in self.base.conditions]
        rows_of = [
            np.zeros(len(own), np.intp) if cluster is None else np.unique(cluster[own], return_inverse=True)[1]
            for own in rows
        ]
        return [(own, place.reshape(-1), root) for own, place, root in zip(rows, rows_of, roots, strict=True)]

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        return self.weighted(self._units.counts(np.random.default_rng(seed)))

    def weighted(self, counts: Array) -> Moments:
        """Return the moments of rows that count so often each."""
        drawn = self._weights * counts
        roots = [self._root(*part, drawn) for part in self._parts]
        return _together(self.base, roots)

    def _root(self, rows: Indices, place: Indices, root: Root, drawn: Array) -> Root:
        X, w, usual = self.X[rows], drawn[rows], self._weights[rows]
        total, before = w.sum(), usual.sum()
        if not total > 0.0:
            raise CollinearError("The sample has no row of one of the conditions.")
        centred = X - group_means(X, place, w, np.maximum(np.bincount(place, w), 1e-300))[place]
        worth = before / np.square(usual).sum() if self.labels.weight is not None else 1.0
        R = triangle(centred * np.sqrt(w * worth * before / total)[:, None])
        mean = root.mean + w @ X / total - usual @ X / before
        return root._replace(R=R, mean=mean, groups=None)


@dataclass(frozen=True, eq=False)
class ConditionsResampler:
    """Samples from Gaussian distributions with the moments of each condition, for when there are no rows: see `WishartResampler`."""

    base: Moments

    def moments(self, replicate: int, seed: np.random.SeedSequence) -> Moments:
        random = np.random.default_rng(seed)
        return _together(self.base, [_drawn(one.root, random) for one in self.base.conditions])


def _drawn(root: Root, random: np.random.Generator) -> Root:
    n, p = root.n, len(root.mean)
    if n < 2:
        return root._replace(groups=None)
    mean = root.mean + random.standard_normal(p) @ root.R / np.sqrt(n * (n - 1.0))
    return root._replace(R=triangle(wishart_root(n, p, random) @ root.R / np.sqrt(n - 1.0)), mean=mean, groups=None)


def _together(base: Moments, roots: Sequence[Root]) -> Moments:
    R = triangle(np.concatenate([one.R for one in roots]))
    conditions = [
        Condition(one.label, one.kind, root) for one, root in zip(base.conditions, roots, strict=bool(base.conditions))
    ]
    return Moments(base.n, base.mean, base.names, R=R, rows=base.rows, conditions=conditions)
