"""`Ordering`: the variables, causes first, with what every step compared; and `Rule`, a way to find one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.words import News
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import LeastRows, least_squares_rows
from ordag.errors import SettingError
from ordag.order.factor import Factor


@dataclass(frozen=True)
class Rule:
    """A way to order the variables of a table: an estimator of conditional variances and a direction.

    find: returns the ordering of a table that keeps to a partial order ([i, j] for column i before column j, or None).
    needs: "rows" if moments do not suffice.
    least_rows: the number of rows that p columns need. tests: whether the ordering has p-values of its own.
    """

    name: str
    help: str
    find: Callable[[Table, Mask | None], Ordering]
    needs: Literal["moments", "rows"] = "moments"
    least_rows: LeastRows = least_squares_rows
    tests: bool = False


class Queue:
    """The columns that a partial order `before` lets a step choose: those of which all earlier ones are chosen; all if it is None."""

    def __init__(self, before: Mask | None, p: int) -> None:
        self.before = before
        self._waits_for = np.zeros(p, np.intp) if before is None else before.sum(axis=0)

    def free(self, columns: Indices) -> Mask:
        """Return which of these columns need not wait."""
        return np.asarray(self._waits_for[columns] == 0)

    def rivals(self, values: Array, columns: Indices) -> Array:
        """Copy the values of these columns, infinite where a column has to wait."""
        return np.where(self.free(columns), values, math.inf)

    def release(self, column: int) -> None:
        """Let the columns follow that waited for this one."""
        if self.before is not None:
            self._waits_for -= self.before[column]


class Steps(NamedTuple):
    """The steps of an estimator of conditional variances, all by position in the order.

    order: column numbers, causes first. variances: that of each variable given its parent set, with the estimator's divisor.
    chosen, runner_up: at every step the criterion of the chosen variable, and the least of the others (infinite where there was none).
    parent_sets: the sorted column numbers that each variable was regressed on. p_values: of the estimator's own test of every pair given
    all other earlier variables, at [later, earlier] and one elsewhere, if it has one.
    """

    order: Indices
    variances: Array
    chosen: Array
    runner_up: Array
    parent_sets: tuple[Indices, ...]
    p_values: Array | None = None


def least(rivals: Array) -> tuple[int, float]:
    """Return the position of the smallest value, the first of equals, and the second smallest (infinite where there is none)."""
    best = int(rivals.argmin())
    return best, float(np.delete(rivals, best).min(initial=np.inf))


def progress_of(
    table: Table, what: str = "variables ordered", work: Callable[[float], float] = lambda x: x * x * (3.0 - 2.0 * x)
) -> Callable[[int], None]:
    """Return a function that reports the number of variables done; `work` is the share of all work up to a share of the steps.

    Where step t regresses p − t waiting variables on t chosen ones, at the same cost each, that is $3x^2 - 2x^3$.
    """
    p = len(table.names)
    return lambda done: table.announce(News(f"{done:,} of {p:,} {what}", work(done / p)))


class Candidates(NamedTuple):
    """What the steps from `first` on compared: a row for each of them, a column for each position from `start` on.

    The value of the chosen position is the least of those of the `rivals`. `rest` are the values with the chosen one also given;
    `degrees` are those of freedom of a test of two values.
    """

    first: int
    start: int
    values: Array
    rest: Array
    rivals: Mask
    degrees: Array

    @property
    def chosen(self) -> Array:
        """The value of the position that every step chose."""
        return self.values.diagonal(self.first - self.start)

    @property
    def nearest(self) -> Indices:
        """The position of every step's runner-up; without meaning where there is no rival."""
        return np.asarray(np.where(self.rivals, self.values, np.inf).argmin(axis=1) + self.start)

    def tied(self, alpha: float) -> Mask:
        """Return the rivals whose p-value of a variance equal to that of the chosen one is above alpha."""
        critical = stdtrit(self.degrees, 1.0 - alpha / 2.0)[:, None]
        with np.errstate(invalid="ignore"):
            t = pitman_morgan_t(
                np.sqrt(self.chosen)[:, None], np.sqrt(self.values), np.sqrt(self.rest), self.degrees[:, None]
            )
        return np.asarray(self.rivals & (t < critical))

    def p_values(self, rows: Indices, positions: Indices) -> Array:
        """Return the p-values that rivals have the same variance as the variables that the steps of these rows chose."""
        columns = positions - self.start
        rival, rest = self.values[rows, columns], self.rest[rows, columns]
        return pitman_morgan(np.sqrt(self.chosen[rows]), np.sqrt(rival), np.sqrt(rest), self.degrees[rows])


@dataclass(frozen=True)
class Ordering:
    """The variables of `moments` in causal order, and the name of the rule that found it.

    `variances` are those of each variable given its predecessors, in order. At step m the rule compared `chosen[m]` with
    `runner_up[m]`, the second least (infinite where there was none); "backward" compares precisions, and fills the last position first.
    `parent_sets[m]` are the columns that variable m was regressed on, where the rule chose some of its predecessors; `p_values` are
    those of the rule's own test of every pair, at [later, earlier], if it makes one.

    Where the rule regresses on all predecessors by least squares, `factor` holds L, with $LL^\\top$ the scatter in this order, and W = L⁻¹;
    `uncertainty[m]` bounds the relative rounding error of `variances[m]`, `undecided` has a sentence for every step whose choice lies
    within it, and `refreshes` counts how often the Gram matrix was formed anew.
    """

    order: Indices
    moments: Moments
    variances: Array
    chosen: Array
    runner_up: Array
    rule: str = "forward"
    factor: Factor | None = None
    parent_sets: tuple[Indices, ...] | None = None
    p_values: Array | None = None
    uncertainty: Array | None = None
    refreshes: int = 0
    undecided: tuple[str, ...] = ()

    @classmethod
    def along(
        cls, order: Indices, moments: Moments, factor: Factor, runner_up: Array, rule: str = "forward", **more: Any
    ) -> Ordering:
        """Return the ordering of a factor; variances have the divisor n − (number of predecessors)."""
        scatter = factor.L_diagonal**2
        chosen = factor.W_diagonal**2 if rule == "backward" else scatter
        variances = scatter / (moments.n - np.arange(len(order)))
        return cls(order, moments, variances, chosen, runner_up, rule, factor, **more)

    @classmethod
    def by_steps(cls, steps: Steps, moments: Moments, rule: str) -> Ordering:
        """Return the ordering of a rule without a factor."""
        return cls(moments=moments, rule=rule, **steps._asdict())

    def of_units(self, moments: Moments, factors: Array) -> Ordering:
        """Return the same order with the factor of `moments`; this one was found with their columns multiplied by the factors.

        What the steps compared stays as it was, in the units that it was compared in.
        """
        factor = None if self.factor is None else Factor.of(self.L / factors[self.order, None])
        return replace(self, moments=moments, factor=factor)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.moments.n

    @cached_property
    def margins(self) -> Array:
        """The relative distance between the choice of each step and the runner-up (nan where there was none)."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.runner_up), self.runner_up / self.chosen - 1.0, np.nan)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning if rounding leaves steps undecided."""
        if not self.undecided:
            return ()
        return (
            f"The data are so close to collinear that float64 does not decide {len(self.undecided)} of {len(self.order)} steps of "
            f"the order; the first is {self.undecided[0]}. Do not rely on the order from there on.",
        )

    @property
    def known_factor(self) -> Factor:
        """The factor, or a SettingError where the rule has none."""
        if self.factor is None:
            raise SettingError(
                f"This takes regressions on all earlier variables, and is not available with variance={self.rule!r}."
            )
        return self.factor

    @property
    def L(self) -> Array:
        """A copy of the factor, one more p × p matrix."""
        return self.known_factor.L

    @property
    def W(self) -> Array:
        """A copy of the inverse factor, one more p × p matrix."""
        return self.known_factor.W

    def candidates(self, before: Mask | None = None) -> Iterator[Candidates]:
        r"""Yield all that the steps compared, a few steps at a time (docs/numerics.md, "Steps").

        $\sum_{i \ge m} L_{bi}^2$ is the scatter of b given all before m, $\sum_{i \le m} W_{ib}^2$ its precision among the first m + 1.
        `before` is the partial order of the columns that the steps had to keep to.
        """
        factor = self.known_factor
        waits = None if before is None else before[np.ix_(self.order, self.order)]  # [a, b]: position b comes after a
        return self._backward(factor, waits) if self.rule == "backward" else self._forward(factor, waits)

    def _forward(self, factor: Factor, waits: Mask | None) -> Iterator[Candidates]:
        p = len(factor)
        freed = np.full(p, -1) if waits is None else np.where(waits.any(axis=0), p - 1 - waits[::-1].argmax(axis=0), -1)
        for start, sums in factor.tail_sums():
            steps = np.arange(start, start + len(sums) - 1)
            rivals = (np.arange(start, p) > steps[:, None]) & (steps[:, None] > freed[start:])
            yield Candidates(start, start, sums[:-1], sums[1:], rivals, np.subtract(self.n - 2.0, steps))

    def _backward(self, factor: Factor, waits: Mask | None) -> Iterator[Candidates]:
        p = len(factor)
        freed = np.full(p, p) if waits is None else np.where(waits.any(axis=1), waits.argmax(axis=1), p)
        for start, sums in factor.precision_sums():
            steps = np.arange(start, start + len(sums) - 1)
            stop = sums.shape[1]
            rivals = (np.arange(stop) < steps[:, None]) & (steps[:, None] < freed[:stop])
            yield Candidates(start, 0, sums[1:], sums[:-1], rivals, np.subtract(self.n - 1.0, steps))

    def pair(self, a: Indices, b: Indices) -> tuple[Array, Array, Array]:
        """Scatter of a, of b, and between them, given everything before a; positions a < b in the order."""
        factor = self.known_factor
        length = factor.L_diagonal[a]
        return length**2, factor.tails(a, b)[0], factor.L_at(b, a) * length

    def direction_p_values(self, a: Indices, b: Indices) -> Array:
        """Two-sided Pitman–Morgan p-values that a and b have the same variance given everything before a."""
        factor = self.known_factor
        s_b, rest = np.sqrt(factor.tails(a, b))
        return pitman_morgan(factor.L_diagonal[a], s_b, rest, self.n - a - 2.0)


def pitman_morgan(a: Array, b: Array, rest: Array, degrees: NDArray[np.floating[Any]]) -> Array:
    """P-values that two variances are equal, from lengths of residuals: of a, of b, and of b given a too (`rest`)."""
    return np.asarray(2.0 * stdtr(degrees, -pitman_morgan_t(a, b, rest, degrees)))


def pitman_morgan_t(a: Array, b: Array, rest: Array, degrees: NDArray[np.floating[Any]]) -> Array:
    r"""$t = |b^2 - a^2| \sqrt d / (2 a \cdot \text{rest})$, of Student's distribution with d degrees of freedom where variances are equal.

    (Pitman 1939; Morgan 1939.) In quotients of lengths no unit makes it overflow or vanish.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.abs(b - a) / a * ((b + a) / rest) * (np.sqrt(degrees) / 2.0))
