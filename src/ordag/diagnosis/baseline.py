"""The same learner on changed data: how many of the arrows are still there?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import PrecisionWarning, SettingError
from ordag.evidence.finding import Level
from ordag.fit import Fit
from ordag.graph.acyclic import topological_order
from ordag.learners.found import Found
from ordag.learners.methods import learn_from
from ordag.linalg import triangle

QUICK = ("robust", "shrinkage")
"""Estimators that take rows, and little time for them."""


class Survival(NamedTuple):
    """Shares of the arrows that another graph has too, has the other way round, or does not have."""

    kept: float
    turned: float
    lost: float

    @property
    def level(self) -> Level:
        """From 90 % on fine, below 80 % a warning: a coin would turn only half of the arrows round."""
        return "fine" if self.kept >= 0.9 else "look" if self.kept >= 0.8 else "warning"


@dataclass(frozen=True)
class Baseline:
    """What was learned, with its columns in the learned order.

    Where columns tie, the earlier one goes first: in this order nothing depends on how the columns of the table happen to
    stand.
    """

    fit: Fit
    order: NDArray[np.intp]
    moments: Moments
    arrows: Mask
    rows: Array | None = None
    """Those of the table, its columns in the learned order, where there are any."""

    @classmethod
    def of(cls, fit: Fit, rows: Array | None = None) -> Baseline:
        """A fit, and the rows that it was learned from, with the columns in line."""
        order = np.array(fit.places or topological_order(fit.graph.adjacency))
        given = fit.moments
        factor = None if fit.ordering is None else fit.ordering.factor
        R = triangle(given.R[:, order]) if factor is None else factor.L.T
        names = [fit.names[j] for j in order]
        moments = Moments(given.n, given.mean[order], names, R=np.asfortranarray(R), squared=given.squared)
        in_line = None if rows is None else rows[:, order]
        graph = fit.graph if fit.optimum is None else fit.optimum
        return cls(fit, order, moments, graph.adjacency[np.ix_(order, order)], in_line)

    @property
    def count(self) -> int:
        return int(self.arrows.sum())

    def scaled(self, factors: Array) -> Table:
        """The table with every column multiplied by its factor."""
        if self.fit.recipe.needs_rows:
            variance = self.fit.settings.get("variance")
            if variance not in QUICK or self.rows is None:
                raise SettingError(
                    f"not available with {f'variance={variance!r}' if variance else 'this test'}: it learns from the rows dozens of times."
                )
            return self.table_of(self.rows * factors)
        return Table(self.moments.scaled(factors))

    def table_of(self, rows: Array) -> Table:
        """A table of other rows of the same columns."""
        names = self.moments.names
        if self.fit.recipe.needs_rows:
            return Table.of_rows(names, rows)
        return Table(Moments.from_rows(rows, names))

    def rescaled(self, factors: Array) -> Mask:
        """The arrows that the same settings find with every column multiplied by its factor."""
        return self.again(self.scaled(factors)).graph.adjacency

    def again(self, table: Table, **changed: Any) -> Found:
        """What the same settings make of another table of the same columns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            return learn_from(table, replace(self.fit.recipe.alone(), **changed))

    def compare(self, other: Mask) -> Survival:
        """How many of the arrows another graph of the same columns keeps; all, if there are none."""
        if not self.count:
            return Survival(1.0, 0.0, 0.0)
        kept = int((self.arrows & other).sum()) / self.count
        turned = int((self.arrows & other.T).sum()) / self.count
        return Survival(kept, turned, max(0.0, 1.0 - kept - turned))


def agreement(place: Array, values: Array) -> float:
    """Kendall's tau: concordant less discordant pairs over all pairs; values that agree to 9 digits are neither."""
    later = np.sign(place[:, None] - place[None, :])
    difference = values[:, None] - values[None, :]
    scale = np.maximum(np.abs(values)[:, None], np.abs(values)[None, :])
    higher = np.where(np.abs(difference) <= 1e-9 * scale, 0.0, np.sign(difference))
    p = len(place)
    return float((later * higher).sum() / (p * (p - 1)))


def average(changes: list[Survival]) -> Survival:
    return Survival(*(float(value) for value in np.mean(changes, axis=0)))
