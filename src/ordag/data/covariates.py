r"""Covariates: columns that are held fixed, numbers and categories.

With Z the covariates, a category as indicators of all its levels but the first, and R the triangular root of the centred scatter of
[Z | X], the lower right block of R is the root of the scatter of what regressions on Z leave of X. So one pass over the rows is
enough, roots of parts merge, and X is adjusted at the end. q columns of Z that do not follow from the others take q rows away: n − q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import counted, listed, shown
from ordag.data.scatter import Accumulator, merge_roots
from ordag.errors import ColumnError

MOST_LEVELS = 2000
"""Levels of a category up to which it can be held fixed: half a gigabyte, and half a minute for 50,000 rows."""

FOLLOWS = 1e-10
"""Share of its length that the other covariates leave of a column of Z, up to which it follows from them."""

NUMBERS_AT_ONCE = 2**20
"""Numbers of [Z | X] to form at a time."""


@dataclass(frozen=True)
class Covariate:
    """A column that is held fixed: a number, or a category with its levels, in order of their first appearance.

    In blocks of rows a category is the number of its level, from 0 on. More levels may come while rows are read.
    """

    name: str
    levels: Sequence[str] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of its columns in Z: its own or, of a category, one for every level but the first."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels[1:]]

    @property
    def values(self) -> int | None:
        """The number of levels of a category."""
        return None if self.levels is None else len(self.levels)

    def to_dict(self) -> dict[str, object]:
        """Return name and levels in plain values."""
        return {"name": self.name, "levels": None if self.levels is None else list(self.levels)}

    def __str__(self) -> str:
        return shown(self.name) if self.levels is None else f"{shown(self.name)} ({counted(len(self.levels), 'value')})"


class Root(NamedTuple):
    """(n, mean, R) of the columns [Z | X] of rows, Z the columns of these covariates."""

    n: int
    mean: Array
    R: Array
    covariates: tuple[Covariate, ...] = ()

    @property
    def width(self) -> int:
        """The columns of Z."""
        return sum(len(one.columns) for one in self.covariates)

    def aligned(self, covariates: Sequence[Covariate]) -> Root:
        """Return the root with these covariates, in their order: the same columns, categories with the same levels or more, in any order.

        A level that no row has is a column of zeros. The level that was the first has the indicator one minus all others.
        """
        if list(covariates) == list(self.covariates):
            return self
        p = self.width
        starts = dict(zip(self._names, np.cumsum([0, *(len(one.columns) for one in self.covariates)]), strict=False))
        known = {one.name: one for one in self.covariates}
        columns, means = [], []
        for one in covariates:
            own, start = known[one.name], int(starts[one.name])
            part = slice(start, start + len(own.columns))
            if one.levels is None or own.levels is None:
                columns.append(self.R[:, part])
                means.append(self.mean[part])
                continue
            levels = list(own.levels)
            every = np.zeros((len(self.R), len(levels) + 1))  # the last one for a level that no row has
            share = np.zeros(len(levels) + 1)
            every[:, 1 : len(levels)], share[1 : len(levels)] = self.R[:, part], self.mean[part]
            if levels:
                every[:, 0], share[0] = -self.R[:, part].sum(axis=1), 1.0 - self.mean[part].sum()
            where = {level: k for k, level in enumerate(levels)}
            index = [where.get(level, len(levels)) for level in one.levels[1:]]
            columns.append(every[:, index])
            means.append(share[index])
        R = triangle(np.concatenate([*columns, self.R[:, p:]], axis=1))
        return Root(self.n, np.concatenate([*means, self.mean[p:]]), R, tuple(covariates))

    @property
    def _names(self) -> list[str]:
        return [one.name for one in self.covariates]


def merged(roots: Sequence[Root]) -> Root:
    """Return the root of all the rows together: covariates are matched by name, and their levels likewise."""
    covariates = roots[0].covariates
    for one in roots[1:]:
        covariates = together(covariates, one.covariates)
    parts = [(part.n, part.mean, part.R) for part in (one.aligned(covariates) for one in roots) if part.n > 0]
    if not parts:
        return roots[0].aligned(covariates)
    return Root(*(merge_roots(parts) if len(parts) > 1 else parts[0]), covariates)


def together(some: Sequence[Covariate], others: Sequence[Covariate]) -> tuple[Covariate, ...]:
    """Return the covariates of two parts of a table, with the levels of both."""
    known = {one.name: one for one in others}
    odd = sorted(known.keys() ^ {one.name for one in some})
    if odd:
        raise ColumnError(f"{listed(odd)} is held fixed in one part only: give the same adjust to all parts.")
    found = []
    for one in some:
        other = known[one.name]
        if (one.levels is None) != (other.levels is None):
            raise ColumnError(
                f"{shown(one.name)} is a category in one part and a number in another: read it alike in all parts."
            )
        levels = None if one.levels is None else tuple(dict.fromkeys([*one.levels, *(other.levels or ())]))
        found.append(Covariate(one.name, levels))
    return tuple(found)


class RootAccumulator:
    """Sums blocks of rows [X | covariates] up to the root of [Z | X]. Levels may appear in any row."""

    def __init__(self, p: int, covariates: Sequence[Covariate] = ()) -> None:
        self._p, self._covariates = p, tuple(covariates)
        self._counts = [0] * len(self._covariates)  # levels seen so far, of categories
        self._total = Accumulator(p + sum(one.levels is None for one in self._covariates))

    def add(self, block: Array) -> None:
        if not self._covariates:
            self._total.add(block)
            return
        if not len(block):
            return
        codes = block[:, self._p :].max(axis=0).tolist()
        categories = [one.levels is not None for one in self._covariates]
        counts = [
            max(n, int(code) + 1) if category else 0
            for n, code, category in zip(self._counts, codes, categories, strict=True)
        ]
        if counts != self._counts:
            self._widen(counts)
        widths = [max(n - 1, 0) if category else None for n, category in zip(counts, categories, strict=True)]
        step = max(1, NUMBERS_AT_ONCE // max(self._total.p, 1))
        for start in range(0, len(block), step):
            self._total.add(expanded(block[start : start + step], self._p, widths))

    def _widen(self, counts: list[int]) -> None:
        """Go on with more levels: those that came up to now have no row of the new ones."""
        for one, count in zip(self._covariates, counts, strict=True):
            if count > MOST_LEVELS:
                raise ColumnError(
                    f"{shown(one.name)} has more than {MOST_LEVELS:,} different values, and only fewer can be held fixed: group its "
                    "values, or leave it out of adjust (--adjust).",
                    ["adjust"],
                )
        so_far = self._root()
        self._counts = counts
        wider = so_far.aligned(self._known())
        self._total = Accumulator(len(wider.mean), base=(wider.n, wider.mean, wider.R) if wider.n else None)

    def _known(self) -> tuple[Covariate, ...]:
        return tuple(
            one if one.levels is None else Covariate(one.name, tuple(one.levels[:count]))
            for one, count in zip(self._covariates, self._counts, strict=True)
        )

    def _root(self) -> Root:
        return Root(*self._total.finish(), self._known())

    def finish(self) -> Root:
        """Return the root of all rows, with the levels that they have."""
        root = self._root()
        return root.aligned([_present(one, root) for one in root.covariates]) if root.covariates else root


def _present(covariate: Covariate, root: Root) -> Covariate:
    """Leave out the levels that no row has."""
    if not covariate.levels:
        return covariate
    names = [column for one in root.covariates for column in one.columns]
    start = names.index(covariate.columns[0]) if len(covariate.levels) > 1 else 0
    rows = np.rint(root.mean[start : start + len(covariate.columns)] * root.n)
    first = root.n - rows.sum() if root.n else 0
    return Covariate(
        covariate.name, tuple(one for one, n in zip(covariate.levels, [first, *rows], strict=True) if n > 0)
    )


def expanded(block: Array, p: int, widths: Sequence[int | None]) -> Array:
    """Return rows [X | covariates] as [Z | X]; `widths` are the columns of each category in Z, None for a number."""
    parts = [
        block[:, p + k, None] if width is None else block[:, p + k, None] == np.arange(1.0, width + 1.0)
        for k, width in enumerate(widths)
    ]
    return np.concatenate([*parts, block[:, :p]], axis=1, dtype=np.float64)


def indicators(values: Array, theirs: Sequence[Covariate], mine: Sequence[Covariate]) -> Array:
    """Return the columns Z of covariates, given as in blocks of rows with `theirs`, for `mine`; NaN where a level is not among these."""
    parts = []
    for k, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        if one.levels is None:
            parts.append(values[:, k, None])
            continue
        where = {level: number for number, level in enumerate(one.levels)}
        index = np.array([where.get(level, np.nan) for level in other.levels or ()], np.float64)
        codes = index[values[:, k].astype(np.intp)][:, None]
        parts.append(np.where(np.isnan(codes), np.nan, codes == np.arange(1.0, len(one.levels))))
    return np.concatenate(parts, axis=1, dtype=np.float64)


class Adjustment(NamedTuple):
    """What covariates explain of X: (z − z̄)B. `rank` counts the columns of Z that do not follow from the others."""

    covariates: tuple[Covariate, ...]
    centre: Array
    B: Array
    R: Array
    rank: int

    @classmethod
    def of(cls, root: Root) -> Adjustment:
        """Regress X on Z, by orthogonal transformations of their root."""
        q = root.width
        if not q:
            return cls(root.covariates, root.mean[:0], np.zeros((0, len(root.mean))), root.R, 0)
        Z, ZX, R = root.R[:q, :q], root.R[:q, q:], root.R[q:, q:]
        largest = np.abs(Z).max(axis=0, initial=0.0)
        size = lengths(Z / np.where(largest > 0.0, largest, 1.0)) * largest
        varies = size > 100.0 * EPSILON * np.sqrt(root.n) * np.abs(root.mean[:q])
        unit = np.where(varies, Z / np.where(size > 0.0, size, 1.0), 0.0)
        Q, T, pivots = qr(unit, pivoting=True, check_finite=False)
        rank = int((np.abs(np.diagonal(T)) > FOLLOWS).sum())
        turned = Q.T @ ZX
        B = np.zeros((q, R.shape[1]))
        used = pivots[:rank]
        if rank:  # older SciPy refuses an empty system
            B[used] = solve_triangular(T[:rank, :rank], turned[:rank]) / size[used, None]
        if rank < q:
            R = triangle(np.concatenate([turned[rank:], R]))
        return cls(root.covariates, root.mean[:q], B, R, rank)

    def residuals(self, block: Array, covariates: Sequence[Covariate]) -> Array:
        """Return rows [X | covariates] as X with the covariates at their means; missing where a covariate or its level is not known."""
        p = self.B.shape[1]
        left = block[:, :p] + self.centre @ self.B
        start = 0
        for k, (mine, theirs) in enumerate(zip(self.covariates, covariates, strict=True)):
            column, part = block[:, p + k], self.B[start : start + len(mine.columns)]
            start += len(part)
            if mine.levels is None:
                left -= column[:, None] * part
                continue
            effects = np.concatenate([np.zeros((1, p)), part, np.full((1, p), np.nan)])
            where = {level: number for number, level in enumerate(mine.levels)}
            index = np.array([*(where.get(level, -1) for level in theirs.levels or ()), -1])
            left -= effects[index[np.where(np.isnan(column), -1, column).astype(np.intp)]]
        return left
