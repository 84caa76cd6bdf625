"""Sum up blocks of rows [X | covariates], and hold the covariates fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from ordag.common.arrays import Array
from ordag.common.linalg import EPSILON, lengths, triangle
from ordag.common.words import shown
from ordag.data.covariates import Covariate, Groups, Root
from ordag.data.scatter import Accumulator
from ordag.errors import ColumnError

MOST_LEVELS = 2000
"""Levels of a category up to which it can be held fixed: half a gigabyte, and half a minute for 50,000 rows."""

FOLLOWS = 1e-10
"""Share of its length that the other covariates leave of a column of Z, up to which it follows from them."""

NUMBERS_AT_ONCE = 2**20
"""Numbers of [Z | X] to form at a time."""


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
        counts = level_counts(self._covariates, self._counts, block[:, self._p :])
        if counts != self._counts:
            self._widen(counts)
        widths = columns_of(self._covariates, counts)
        step = max(1, NUMBERS_AT_ONCE // max(self._total.p, 1))
        for start in range(0, len(block), step):
            self._total.add(expanded(block[start : start + step], self._p, widths))

    def _widen(self, counts: list[int]) -> None:
        """Go on with more levels: those that came up to now have no row of the new ones."""
        so_far = self._root()
        self._counts = counts
        wider = so_far.aligned(up_to(self._covariates, counts))
        self._total = Accumulator(len(wider.mean), base=(wider.n, wider.mean, wider.R) if wider.n else None)

    def _root(self) -> Root:
        return Root(*self._total.finish(), up_to(self._covariates, self._counts))

    def finish(self) -> Root:
        """Return the root of all rows, with the levels that they have."""
        root = self._root()
        return root.aligned([_present(one, root) for one in root.covariates]) if root.covariates else root


def level_counts(covariates: Sequence[Covariate], counts: Sequence[int], values: Array) -> list[int]:
    """Return how many levels each category has, with those in these columns of a block of rows; 0 for a number."""
    found = [
        0 if one.levels is None else max(n, int(code) + 1)
        for one, n, code in zip(covariates, counts, values.max(axis=0).tolist(), strict=True)
    ]
    for one, count in zip(covariates, found, strict=True):
        if count > MOST_LEVELS:
            raise ColumnError(
                f"{shown(one.name)} has more than {MOST_LEVELS:,} different values, and only fewer can be "
                f"{'in a graph' if one.use == 'cause' else 'held fixed'}: group its values, or leave it out of {one.use}.",
                [one.use],
            )
    return found


def columns_of(covariates: Sequence[Covariate], counts: Sequence[int]) -> list[int | None]:
    """Return the columns of Z of each covariate, None for a number."""
    return [None if one.levels is None else max(n - 1, 0) for one, n in zip(covariates, counts, strict=True)]


def up_to(covariates: Sequence[Covariate], counts: Sequence[int]) -> tuple[Covariate, ...]:
    """Return the covariates with the first so many of their levels."""
    return tuple(
        one if one.levels is None else replace(one, levels=tuple(one.levels[:count]))
        for one, count in zip(covariates, counts, strict=True)
    )


def _present(covariate: Covariate, root: Root) -> Covariate:
    """Leave out the levels that no row has."""
    if not covariate.levels:
        return covariate
    names = [column for one in root.covariates for column in one.columns]
    start = names.index(covariate.columns[0]) if len(covariate.levels) > 1 else 0
    rows = np.rint(root.mean[start : start + len(covariate.columns)] * root.n)
    first = root.n - rows.sum() if root.n else 0
    there = tuple(one for one, n in zip(covariate.levels, [first, *rows], strict=True) if n > 0)
    return replace(covariate, levels=there)


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

    def of_variables(self, p: int) -> Adjustment:
        """Return the same for the last p columns of X alone."""
        return self._replace(B=self.B[:, self.B.shape[1] - p :])

    def left(self, groups: Groups | None) -> Groups | None:
        """Return groups of rows with the covariates at their means."""
        if groups is None:
            return None
        Z, X = groups.means[:, : len(self.centre)], groups.means[:, len(self.centre) :]
        return groups.with_means(X - (Z - self.centre) @ self.B)

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
