r"""Rows with labels: the condition that each was measured under, the cluster that it belongs to, its weight.

Rows of a cluster are taken about the mean of the cluster, and every condition has moments of its own. All of it takes one pass: with
W₁ and m₁ the weight and the mean of the rows of a cluster so far, and W₂ and m₂ those of the next ones, the scatter about the mean
of all is that about m₁ and m₂ and a row $\sqrt{W_1 W_2 / (W_1 + W_2)}\,(m_2 - m_1)$.

Weights w count for $n = (\sum w)^2 / \sum w^2$ rows (Kish 1965), and G clusters take G − 1 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.linalg import group_means, triangle
from ordag.common.words import counted
from ordag.data.covariates import CONDITIONS, HELD, Condition, Covariate, Groups, Root, of_conditions
from ordag.data.holding import RootAccumulator, columns_of, expanded, level_counts, up_to
from ordag.data.labels import RowLabels
from ordag.errors import DataError, TooFewRowsError


class Labels:
    """The columns of blocks [X | covariates] that are labels."""

    def __init__(self, p: int, covariates: Sequence[Covariate]) -> None:
        self.p = p
        self.adjusted_for = tuple(one for one in covariates if one.use in HELD)
        self.labels = covariates[len(self.adjusted_for) :]
        positions = {one.use: p + k for k, one in enumerate(covariates)}
        self.condition = next((positions[use] for use in CONDITIONS if use in positions), None)
        self.cluster, self.weights = positions.get("cluster"), positions.get("weights")
        self.unit = positions.get("unit", self.cluster)
        self.kind = next((one.use for one in self.labels if one.use in CONDITIONS), "")
        self.names = {positions[one.use]: one for one in self.labels}

    def levels(self, place: int) -> Sequence[str]:
        """Return the levels of the column at this place of a block."""
        return self.names[place].levels or ()

    def of(self, block: Array) -> RowLabels:
        """Return the labels of the rows of a block."""
        positions = (self.condition, self.cluster, self.unit)
        condition, cluster, unit = (None if at is None else block[:, at].astype(np.intp) for at in positions)
        weight = None if self.weights is None else self._checked(block[:, self.weights])
        return RowLabels(condition, cluster, unit, weight)

    def _checked(self, weights: Array) -> Array:
        if (weights < 0.0).any():
            name = self.names[self.weights or 0].name
            raise DataError(
                f"Column {name!r} has the weight {weights.min():g}: weights are numbers from 0 on.", ["weights"]
            )
        return weights

    def refuse_useless(self, n: int, rows: int, clusters: Groups | None, least: int, prefix: str) -> None:
        """Refuse a column that leaves nothing to compare, because nearly every row is its own condition or cluster, or all rows are of one
        of the `clusters`; and weights of which a few decide. The rows count for n, and `least` are needed."""
        if clusters is not None and len(clusters.numbers) == 1:
            raise DataError(
                f"{prefix}All rows are of one cluster of {self.names[self.cluster or 0].name!r}: resamples draw whole clusters, and "
                "there is nothing to draw from. Leave cluster out.",
                ["cluster"],
            )
        if n >= least or rows < 2 * n:
            return
        worst = max(self.names.values(), key=lambda one: len(one.levels or ()))
        count = len([one for one in worst.levels or () if one])
        if count > 1:
            what = "experiment" if worst.use in CONDITIONS[:3] else worst.use
            raise DataError(
                f"{prefix}Column {worst.name!r} has {count:,} different values in {rows:,} rows, so hardly two rows can be compared: "
                f"{what} takes a column with several rows of each value.",
                [what],
            )
        if self.weights is not None:
            raise TooFewRowsError(
                f"{prefix}Weighted by {self.names[self.weights].name!r}, {counted(rows, 'row')} of positive weight count for {n}, and "
                f"{self.p} variables take {least}: look for weights far larger than the others, or leave weights out.",
                ["weights"],
            )


class LabelledAccumulator:
    """Sums blocks of rows [X | covariates] up to the root of [Z | X] about the means of clusters, one for each condition."""

    def __init__(self, p: int, covariates: Sequence[Covariate]) -> None:
        self._labels = Labels(p, covariates)
        self._parts: dict[int, RootAccumulator | WithinAccumulator] = {}

    def add(self, block: Array) -> None:
        labels, width = self._labels.of(block), self._labels.p + len(self._labels.adjusted_for)
        rows = block[:, :width]
        if labels.condition is None:
            self._add(0, rows, labels)
            return
        order = np.argsort(labels.condition, kind="stable")
        codes = labels.condition[order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(rows)]):
            which = order[start:stop]
            self._add(int(codes[start]), rows[which], labels.of(which))

    def _add(self, code: int, rows: Array, labels: RowLabels) -> None:
        part = self._part(code)
        if isinstance(part, WithinAccumulator):
            part.add(rows, labels.cluster, labels.weight)
        else:
            part.add(rows)

    def _part(self, code: int) -> RootAccumulator | WithinAccumulator:
        if code not in self._parts:
            own = self._labels
            plain = own.cluster is None and own.weights is None
            self._parts[code] = RootAccumulator(own.p, own.adjusted_for) if plain else WithinAccumulator(own)
        return self._parts[code]

    def finish(self) -> Root:
        """Return the root of all rows, with one of each condition where there are conditions."""
        own = self._labels
        if not self._parts:
            self._part(0)
        if own.condition is None:
            return self._parts[0].finish()
        levels = own.levels(own.condition)
        roots = [(levels[code], self._parts[code].finish()) for code in sorted(self._parts)]
        return of_conditions([Condition(label, own.kind, root) for label, root in roots])


class WithinAccumulator:
    """Sums rows [X | covariates] with clusters and weights up to the root of [Z | X] about the means of the clusters."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._counts = [0] * len(labels.adjusted_for)  # levels seen so far, of categories
        width = labels.p + sum(one.levels is None for one in labels.adjusted_for)
        self.groups = Groups.empty(width)
        self._R = np.zeros((0, width))
        self._waiting: list[Array] = []
        self._waiting_rows, self._chunk = 0, max(2 * width, 4096)

    def add(self, rows: Array, cluster: Indices | None, weight: Array | None) -> None:
        w = np.ones(len(rows)) if weight is None else weight
        if weight is not None and not (w > 0.0).all():
            self.groups.nothing += int((w == 0.0).sum())
            rows, cluster, w = rows[w > 0.0], None if cluster is None else cluster[w > 0.0], w[w > 0.0]
        if not len(rows):
            return
        X = self._expanded(rows)
        codes = np.zeros(len(X), np.intp) if cluster is None else cluster
        found, place = np.unique(codes, return_inverse=True)
        totals: Array = np.bincount(place, w).astype(np.float64)
        means = group_means(X, place, w, totals)
        centred = X - means[place]
        left = group_means(centred, place, w, totals)
        centred -= left[place]  # once more, for the digits that large means take
        means += left
        self._keep(centred * np.sqrt(w)[:, None])
        self._keep(self.groups.join(self._names(found), totals, means))
        self.groups.rows += len(X)
        self.groups.squares += float(w @ w)

    def _expanded(self, rows: Array) -> Array:
        """Return rows as [Z | X]; rows that came before have none of the levels that come with these."""
        adjusted_for, p = self._labels.adjusted_for, self._labels.p
        counts = level_counts(adjusted_for, self._counts, rows[:, p:]) if adjusted_for else []
        if counts != self._counts:
            self._absorb()
            root = self.groups.root(self._R, up_to(adjusted_for, self._counts))._replace(R=self._R)
            root = root.aligned(up_to(adjusted_for, counts))
            assert root.groups is not None
            self._counts, self._R, self.groups = counts, root.R, root.groups
        return expanded(rows, p, columns_of(adjusted_for, counts))

    def _names(self, codes: Indices) -> list[str]:
        at = self._labels.cluster
        return [""] if at is None else [self._labels.levels(at)[code] for code in codes.tolist()]

    def _keep(self, rows: Array) -> None:
        if len(rows):
            self._waiting.append(rows)
            self._waiting_rows += len(rows)
        if self._waiting_rows >= self._chunk:
            self._absorb()

    def _absorb(self) -> None:
        self._R = triangle(np.concatenate([self._R, *self._waiting]))
        self._waiting, self._waiting_rows = [], 0

    def finish(self) -> Root:
        self._absorb()
        return self.groups.root(self._R, up_to(self._labels.adjusted_for, self._counts))


def accumulator(p: int, covariates: Sequence[Covariate]) -> RootAccumulator | LabelledAccumulator:
    """Return what sums up blocks of rows [X | covariates]."""
    labelled = any(one.use not in HELD for one in covariates)
    return LabelledAccumulator(p, covariates) if labelled else RootAccumulator(p, covariates)
