r"""Covariates: columns that are held fixed, numbers and categories.

With Z the covariates, a category as indicators of all its levels but the first, and R the triangular root of the centred scatter of
[Z | X], the lower right block of R is the root of the scatter of what regressions on Z leave of X. So one pass over the rows is
enough, roots of parts merge, and X is adjusted at the end. q columns of Z that do not follow from the others take q rows away: n − q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.common.linalg import triangle
from ordag.common.words import counted, listed, shown
from ordag.data.scatter import merge_roots
from ordag.errors import ColumnError

CONDITIONS = ("set", "shift", "changed", "environment")
"""Uses of a column that names the condition of a row: the kinds of experiments, and environments."""


@dataclass(frozen=True)
class Covariate:
    """A column beside the variables: a number, or a category with its levels, in order of their first appearance.

    In blocks of rows a category is the number of its level, from 0 on. More levels may come while rows are read. `use` is "adjust" if it
    is held fixed, and "cause" for a category that may be a cause of variables; a column that says what rows are has the use of its
    setting (`ROW_COLUMNS`), experiments their kind.
    """

    name: str
    levels: Sequence[str] | None = None
    use: str = "adjust"

    @property
    def columns(self) -> list[str]:
        """The names of its columns in Z: its own or, of a category, one for every level but the first."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels[1:]]

    @property
    def values(self) -> int | None:
        """The number of levels of a category."""
        return None if self.levels is None else len(self.levels)

    def to_dict(self) -> dict[str, object]:
        """Return name and levels in plain values, and the use if it is a cause."""
        use = {} if self.use == "adjust" else {"use": self.use}
        return {"name": self.name, "levels": None if self.levels is None else list(self.levels), **use}

    def __str__(self) -> str:
        return shown(self.name) if self.levels is None else f"{shown(self.name)} ({counted(len(self.levels), 'value')})"


HELD = ("adjust", "cause")
"""Uses of the columns of Z; the other columns beside the variables say what rows are."""


class Groups:
    """The weight and the mean of the rows of every cluster, by its name; `rows` in all, and the sum of their squared weights; `nothing`
    further rows have the weight 0."""

    def __init__(
        self, numbers: dict[str, int], weights: Array, means: Array, rows: int, squares: float, nothing: int = 0
    ) -> None:
        self.numbers, self.weights, self.means, self.rows, self.squares = numbers, weights, means, rows, squares
        self.nothing = nothing

    @classmethod
    def empty(cls, width: int) -> Groups:
        return cls({}, np.zeros(0), np.zeros((0, width)), 0, 0.0)

    def of_columns(self, index: Sequence[int], factors: Array) -> Groups:
        """Return the same for these columns, each multiplied by its factor."""
        return self.with_means(self.means[:, index] * factors)

    def with_means(self, means: Array) -> Groups:
        """Return the same with other columns."""
        return Groups(self.numbers, self.weights, means, self.rows, self.squares, self.nothing)

    @property
    def between(self) -> tuple[int, Array, Array]:
        """Return (n, mean, R) of the means of the clusters, each of which counts once."""
        mean = self.means.mean(axis=0)
        return len(self.means), mean, triangle(self.means - mean)

    def join(self, names: Sequence[str], weights: Array, means: Array) -> Array:
        r"""Add rows of these clusters; return the rows $\sqrt{W_1 W_2 / (W_1 + W_2)}\,(m_2 - m_1)$ that the scatter gains."""
        new = [name for name in names if name not in self.numbers]
        self.numbers |= {name: k for k, name in enumerate(new, start=len(self.numbers))}
        self.weights = np.concatenate([self.weights, np.zeros(len(new))])
        self.means = np.concatenate([self.means, np.zeros((len(new), self.means.shape[1]))])
        at = np.array([self.numbers[name] for name in names], np.intp)
        before = self.weights[at]
        share, shift = weights / (before + weights), means - self.means[at]
        self.means[at] += share[:, None] * shift
        self.weights[at] += weights
        return np.asarray((np.sqrt(before * share)[:, None] * shift)[before > 0.0])

    def root(self, R: Array, covariates: Sequence[Covariate]) -> Root:
        """Return the root with the scatter RᵀR about the means of these clusters; the rows count for `n` of `kish`, less G − 1."""
        total = float(self.weights.sum())
        mean = self.weights @ self.means / max(total, 1e-300)
        worth = total * total / self.squares if self.squares else 0.0
        share = worth / max(self.rows, 1)
        n = round(worth - share * max(len(self.numbers) - 1, 0))
        return Root(n, mean, R * np.sqrt(worth / max(total, 1e-300)), tuple(covariates), self.rows, (), self)


class Condition(NamedTuple):
    """The root of the rows that were measured under one condition: its label, and its kind (one of `CONDITIONS`)."""

    label: str
    kind: str
    root: Root


class Root(NamedTuple):
    """(n, mean, R) of the columns [Z | X] of rows, Z the columns of these covariates.

    `rows` were used, if not n. Where rows have conditions, R is that about their means, and `conditions` have one each. `groups` are
    the clusters about whose means R is, with weighted rows one for all.
    """

    n: int
    mean: Array
    R: Array
    covariates: tuple[Covariate, ...] = ()
    rows: int | None = None
    conditions: tuple[Condition, ...] = ()
    groups: Groups | None = None

    @property
    def used(self) -> int:
        """The number of rows."""
        return self.n if self.rows is None else self.rows

    @property
    def width(self) -> int:
        """The columns of Z."""
        return sum(len(one.columns) for one in self.covariates)

    def of_columns(self, index: Sequence[int], factors: Array, before: int) -> Root:
        """Return the root of the first `before` columns and of these ones behind them, each of which is multiplied by its factor."""
        at = [*range(before), *(before + j for j in index)]
        scale = np.concatenate([np.ones(before), factors])
        groups = None if self.groups is None else self.groups.of_columns(at, scale)
        return self._replace(R=triangle(self.R[:, at] * scale), mean=self.mean[at] * scale, groups=groups)

    def aligned(self, covariates: Sequence[Covariate]) -> Root:
        """Return the root with these covariates, in their order: the same columns, categories with the same levels or more, in any order.

        A level that no row has is a column of zeros. The level that was the first has the indicator one minus all others.
        """
        if list(covariates) == list(self.covariates):
            return self
        p = self.width
        starts = dict(zip(self._names, np.cumsum([0, *(len(one.columns) for one in self.covariates)]), strict=False))
        known = {one.name: one for one in self.covariates}
        groups = self.groups
        above = [self.R, self.mean[None, :], *([] if groups is None else [groups.means])]  # directions, then means
        height = len(self.R)
        every, sums = np.concatenate(above), np.concatenate([np.zeros(height), np.ones(sum(map(len, above)) - height)])
        columns = []
        for one in covariates:
            own, start = known[one.name], int(starts[one.name])
            part = every[:, start : start + len(own.columns)]
            if one.levels is None or own.levels is None:
                columns.append(part)
                continue
            levels = list(own.levels)
            shares = np.zeros((len(every), len(levels) + 1))  # the last one for a level that no row has
            shares[:, 1 : len(levels)] = part
            if levels:
                shares[:, 0] = sums - part.sum(axis=1)
            where = {level: k for k, level in enumerate(levels)}
            columns.append(shares[:, [where.get(level, len(levels)) for level in one.levels[1:]]])
        whole = np.concatenate([*columns, every[:, p:]], axis=1)
        if groups is not None:
            groups = groups.with_means(whole[height + 1 :])
        R, mean = triangle(whole[:height]), whole[height]
        return self._replace(mean=mean, R=R, covariates=tuple(covariates), groups=groups)

    @property
    def _names(self) -> list[str]:
        return [one.name for one in self.covariates]


def merged(roots: Sequence[Root]) -> Root:
    """Return the root of all the rows together: covariates are matched by name, and their levels likewise; conditions and clusters too."""
    if any(one.conditions for one in roots):
        return _merged_conditions([condition for one in roots for condition in one.conditions])
    covariates = roots[0].covariates
    for one in roots[1:]:
        covariates = together(covariates, one.covariates)
    aligned = [one.aligned(covariates) for one in roots]
    if any(one.groups is not None for one in aligned):
        return _merged_groups([one for one in aligned if one.groups is not None])
    parts = [(part.n, part.mean, part.R) for part in aligned if part.n > 0]
    if not parts:
        return roots[0].aligned(covariates)
    return Root(*(merge_roots(parts) if len(parts) > 1 else parts[0]), covariates)


def _merged_conditions(parts: Sequence[Condition]) -> Root:
    each: dict[str, list[Condition]] = {}
    for one in parts:
        each.setdefault(one.label, []).append(one)
    return of_conditions([some[0]._replace(root=merged([one.root for one in some])) for some in each.values()])


def _merged_groups(roots: Sequence[Root]) -> Root:
    whole = Groups.empty(len(roots[0].mean))
    rows, raw = [], []
    for root in roots:
        one = root.groups
        assert one is not None
        rows.append(whole.join(list(one.numbers), one.weights, one.means))
        whole.rows += one.rows
        whole.squares += one.squares
        whole.nothing += one.nothing
        total = float(one.weights.sum())
        raw.append(root.R * np.sqrt(one.squares / max(total, 1e-300)))  # the scatter of the weighted rows
    return whole.root(triangle(np.concatenate([*raw, *rows])), roots[0].covariates)


def of_conditions(conditions: Sequence[Condition]) -> Root:
    """Return the root of all rows about the means of their conditions; C of these take C − 1 rows."""
    covariates = conditions[0].root.covariates
    for one in conditions[1:]:
        covariates = together(covariates, one.root.covariates)
    parts = [one._replace(root=one.root.aligned(covariates)) for one in conditions]
    empty = [one.root.groups for one in parts if one.root.n <= 0]
    parts = [one for one in parts if one.root.n > 0] or parts[:1]
    first = parts[0].root
    if first.n > 0 and first.groups is not None and any(empty):
        groups = first.groups.with_means(first.groups.means)
        groups.nothing += sum(one.nothing for one in empty if one is not None)
        parts[0] = parts[0]._replace(root=first._replace(groups=groups))
    n = max(sum(one.root.n for one in parts) - len(parts) + 1, 0)
    rows = sum(one.root.used for one in parts)
    shares = np.array([one.root.used for one in parts]) / max(rows, 1)
    mean = shares @ np.stack([one.root.mean for one in parts])
    R = triangle(np.concatenate([one.root.R for one in parts]))
    return Root(n, mean, R, covariates, rows, tuple(parts))


def together(some: Sequence[Covariate], others: Sequence[Covariate]) -> tuple[Covariate, ...]:
    """Return the covariates of two parts of a table, with the levels of both."""
    known = {one.name: one for one in others}
    odd = sorted(known.keys() ^ {one.name for one in some})
    if odd:
        given = "cause" if any(one.use == "cause" for one in (*some, *others) if one.name in odd) else "adjust"
        what = "a cause" if given == "cause" else "held fixed"
        raise ColumnError(f"{listed(odd)} is {what} in one part only: give the same {given} to all parts.")
    found = []
    for one in some:
        other = known[one.name]
        if (one.levels is None) != (other.levels is None):
            raise ColumnError(
                f"{shown(one.name)} is a category in one part and a number in another: read it alike in all parts."
            )
        levels = None if one.levels is None else tuple(dict.fromkeys([*one.levels, *(other.levels or ())]))
        if one.use != other.use:
            raise ColumnError(
                f"{shown(one.name)} is a cause in one part and held fixed in another: use it alike in all parts."
            )
        found.append(replace(one, levels=levels))
    return tuple(found)
