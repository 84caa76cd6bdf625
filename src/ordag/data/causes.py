r"""Categories as causes: sources of the graph that enter an equation as a block, one column for every level but the first.

With R the triangular root of the centred scatter of [Z | X], Z the indicators of all categories, the regression of $x_j$ on its parents P
and on the categories of a set K is that of one column of R on others, and the moments of X within K are those of the part of R that the
columns of K leave. A category takes as many degrees of freedom as it has columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from ordag.common.arrays import Array, Mask
from ordag.common.linalg import lengths, triangle
from ordag.common.words import counted, joined, shown
from ordag.data.covariates import Covariate, Root
from ordag.data.holding import FOLLOWS
from ordag.data.table_checks import check_adjusted
from ordag.errors import ColumnError

ROUNDING = 1e-13
"""A mean below this share of the standard deviation is a zero with rounding errors."""

ROWS_PER_LEVEL = 2
"""Rows for each level of a category at least, on average."""


class BlockTest(NamedTuple):
    """The F test of a category in the equation of one variable: the statistic, its degrees of freedom, and the p-value."""

    statistic: float
    columns: int
    rows: int
    p_value: float


class Means(NamedTuple):
    """The levels of a category with their shares of the rows, and the mean of a variable at each."""

    levels: tuple[str, ...]
    shares: Array
    means: Array


@dataclass(frozen=True, eq=False)
class Categories:
    """The root of [Z | X] and the positions in it of each category's columns; those that follow from others of it are left out."""

    root: Root

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.root.covariates)

    @property
    def n(self) -> int:
        return self.root.n

    @cached_property
    def width(self) -> int:
        """The columns of Z."""
        return self.root.width

    @property
    def p(self) -> int:
        return len(self.root.mean) - self.width

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each category that do not follow from those before."""
        R, size = self.root.R, lengths(self.root.R)
        free = np.abs(R.diagonal()) > FOLLOWS * np.where(size > 0.0, size, 1.0)
        free &= size > FOLLOWS * np.sqrt(max(self.n, 1))
        ends = np.cumsum([0, *(len(one.columns) for one in self.root.covariates)]).tolist()
        return tuple(tuple(k for k in range(start, stop) if free[k]) for start, stop in pairwise(ends))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The degrees of freedom of each category."""
        return tuple(map(len, self.blocks))

    def columns(self, chosen: Iterable[int]) -> list[int]:
        """Return the columns of some categories."""
        return [column for c in sorted(chosen) for column in self.blocks[c]]

    def left(self, chosen: Iterable[int]) -> Array:
        """Return the root of the scatter that these categories leave of X."""
        columns = self.columns(chosen)
        at = [*columns, *range(self.width, self.width + self.p)]
        return triangle(self.root.R[:, at])[len(columns) :, len(columns) :]

    def rss(self, j: int, parents: Sequence[int], chosen: Iterable[int]) -> float:
        """Return the residual sum of squares of variable j on its parents and these categories."""
        at = [*self.columns(chosen), *(self.width + i for i in parents), self.width + j]
        return float(triangle(self.root.R[:, at])[-1, -1] ** 2)

    def test(self, category: int, j: int, parents: Sequence[int], chosen: Iterable[int]) -> BlockTest:
        """Test whether a category explains anything of variable j beyond its parents and the other chosen categories."""
        others = set(chosen) - {category}
        whole, less = self.rss(j, parents, others | {category}), self.rss(j, parents, others)
        columns = self.sizes[category]
        rows = self.n - 1 - len(parents) - len(self.columns(others)) - columns
        if rows < 1 or whole <= 0.0:
            return BlockTest(np.nan, columns, rows, np.nan)
        statistic = max(less - whole, 0.0) / columns / (whole / rows)
        return BlockTest(statistic, columns, rows, float(fdtrc(columns, rows, statistic)))

    def means(self, category: int, j: int) -> Means:
        """Return the mean of variable j at each level of a category."""
        one = self.root.covariates[category]
        start = sum(len(other.columns) for other in self.root.covariates[:category])
        part = slice(start, start + len(one.columns))
        shares = np.concatenate([[1.0 - self.root.mean[part].sum()], self.root.mean[part]])
        R = self.root.R
        # the sum of x over the rows of a level is n times its share times the mean there
        products = R[:, part].T @ R[:, self.width + j] / max(self.n, 1)
        away = np.concatenate([[-products.sum()], products]) / np.maximum(shares, 1e-300)
        means = self.root.mean[self.width + j] + away
        size = lengths(R[:, [self.width + j]])[0] / np.sqrt(max(self.n, 1))
        return Means(tuple(one.levels or ()), shares, np.where(np.abs(means) > ROUNDING * size, means, 0.0))

    def effects(self, j: int, parents: Sequence[int], chosen: Sequence[int]) -> tuple[list[int], Array, Array]:
        """Return the columns of these categories, their coefficients in the equation of variable j, and the covariance of these."""
        columns = self.columns(chosen)
        at = [*columns, *(self.width + i for i in parents), self.width + j]
        T, q = triangle(self.root.R[:, at]), len(columns)
        k = len(at) - 1
        inverse = np.linalg.solve(T[:k, :k], np.eye(k))
        variance = T[k, k] ** 2 / max(self.n - 1 - k, 1)
        return columns, (inverse @ T[:k, k])[:q], variance * (inverse @ inverse.T)[:q, :q]

    def ordered(self, order: Sequence[int]) -> Categories:
        """Return the same with the variables in another order."""
        at = [*range(self.width), *(self.width + int(j) for j in order)]
        return Categories(self.root._replace(R=triangle(self.root.R[:, at]), mean=self.root.mean[at]))


def no_causes(categories: int, p: int) -> Mask:
    """Return the arrows of a graph in which no category has an effect."""
    return np.zeros((categories, p), dtype=bool)


def checked_causes(root: Root, names: Sequence[str]) -> Root:
    """Refuse categories that cannot be causes, of one level, of nearly a level per row, or that follow from others; and variables that
    follow from them."""
    found = Categories(root)
    for one, block in zip(root.covariates, found.blocks, strict=True):
        levels = one.levels or ()
        name = shown(one.name)
        if len(levels) < 2:
            raise ColumnError(
                f"{name} has the same value in all rows that are used, so that it has no effect to be seen: leave it out of cause.",
                ["cause"],
            )
        if len(levels) * ROWS_PER_LEVEL > root.n:
            raise ColumnError(
                f"{name} has {len(levels):,} different values in {counted(root.n, 'row')}: a category needs at least "
                f"{ROWS_PER_LEVEL} rows of each value on average. Group its values, or leave it out of cause.",
                ["cause"],
            )
        if len(block) < len(levels) - 1:
            _refuse_nested(found, root.covariates, one)
    left, whole = lengths(root.R[root.width :, root.width :]), lengths(root.R[:, root.width :])
    covariates = joined([shown(one.name) for one in root.covariates])
    check_adjusted(root.n, root.width, left / np.where(whole > 0.0, whole, 1.0), names, covariates)
    return root


def _refuse_nested(found: Categories, covariates: Sequence[Covariate], one: Covariate) -> None:
    others = [shown(other.name) for other in covariates if other is not one]
    beside = f"{joined(others)} and what is held fixed" if others else "what is held fixed"
    raise ColumnError(
        f"{shown(one.name)} follows in part from {beside}: with these known some of its values are known, so that its effect cannot be "
        "told from theirs. Leave one of them out (cause, adjust).",
        ["cause"],
    )
