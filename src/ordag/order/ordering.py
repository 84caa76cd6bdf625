"""`Ordering`: the variables, causes first, with what every step compared, and the factor behind it where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import LeastRows, least_squares_rows
from ordag.errors import SettingError
from ordag.order.supported import Supported
from ordag.order.triangles import TOGETHER, Triangles


@dataclass(frozen=True)
class Rule:
    """A way to order the variables of a table: an estimator of conditional variances and a direction.

    find: from a table and a partial order to keep to ([i, j] for column i before column j, or None) to the ordering.
    needs: "rows" if moments alone will not do.
    least_rows: how many rows p columns take. tests: whether the ordering has p-values of its own.
    """

    name: str
    help: str
    find: Callable[[Table, Mask | None], Ordering]
    needs: Literal["moments", "rows"] = "moments"
    least_rows: LeastRows = least_squares_rows
    tests: bool = False


class Candidates(NamedTuple):
    """What the steps from `first` on compared: a row for each of them, a column for each position from `start` on.

    The chosen one's value is the least; the `rivals` have the others. `rest` are the values with the chosen one also given;
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
    def nearest(self) -> NDArray[np.intp]:
        """The position of every step's runner-up; of no meaning where there is no rival."""
        return np.asarray(np.where(self.rivals, self.values, np.inf).argmin(axis=1) + self.start)

    def tied(self, alpha: float) -> Mask:
        """The rivals whose p-value that they have the same variance as the chosen one is above alpha."""
        critical = stdtrit(self.degrees, 1.0 - alpha / 2.0)[:, None]
        with np.errstate(invalid="ignore"):
            t = pitman_morgan_t(
                np.sqrt(self.chosen)[:, None], np.sqrt(self.values), np.sqrt(self.rest), self.degrees[:, None]
            )
        return np.asarray(self.rivals & (t < critical))

    def p_values(self, rows: NDArray[np.intp], positions: NDArray[np.intp]) -> Array:
        """The p-values that rivals have the same variance as those that the steps of these rows chose."""
        columns = positions - self.start
        rival, rest = self.values[rows, columns], self.rest[rows, columns]
        return pitman_morgan(np.sqrt(self.chosen[rows]), np.sqrt(rival), np.sqrt(rest), self.degrees[rows])


@dataclass(frozen=True)
class Factor:
    """Lower triangular `L`, with `L @ L.T` the scatter in the order found, and its inverse `W`, as `Triangles`.

    Steps fill the first place first and compare variances given those before, in L; with `from_last` they fill the last
    place first and compare precisions among those left, in W. `uncertainty[m]` bounds the relative rounding error of the variance of
    variable m given its predecessors; `undecided` has a sentence for every step whose choice lies within it.
    """

    triangles: Triangles
    uncertainty: Array
    from_last: bool = False
    refreshes: int = 0
    undecided: tuple[str, ...] = ()

    def candidates(self, n: int, waits: Mask | None = None) -> Iterator[Candidates]:
        r"""All that the steps compared, some steps at a time (docs/numerics.md, "Steps"); where `waits[a, b]`, position b has to come
        after a.

        $\sum_{i \ge m} L_{bi}^2$ is the scatter of b given all before m, $\sum_{i \le m} W_{ib}^2$ its precision among the first m + 1.
        """
        return self._from_last(n, waits) if self.from_last else self._from_first(n, waits)

    def _from_first(self, n: int, waits: Mask | None) -> Iterator[Candidates]:
        p = len(self.triangles)
        freed = np.full(p, -1) if waits is None else np.where(waits.any(axis=0), p - 1 - waits[::-1].argmax(axis=0), -1)
        for start, sums in self.triangles.tail_sums():
            steps = np.arange(start, start + len(sums) - 1)
            rivals = (np.arange(start, p) > steps[:, None]) & (steps[:, None] > freed[start:])
            yield Candidates(start, start, sums[:-1], sums[1:], rivals, np.subtract(n - 2.0, steps))

    def _from_last(self, n: int, waits: Mask | None) -> Iterator[Candidates]:
        p = len(self.triangles)
        size = max(1, TOGETHER // p)
        freed = np.full(p, p) if waits is None else np.where(waits.any(axis=1), waits.argmax(axis=1), p)
        above = np.zeros(p)
        for start in range(0, p, size):
            steps = np.arange(start, min(start + size, p))
            stop = int(steps[-1]) + 1
            sums = np.empty((len(steps) + 1, stop))
            sums[0], sums[1:] = above[:stop], self.triangles.W_rows(start, stop)
            np.square(sums[1:], out=sums[1:])
            for k in range(len(steps)):
                sums[k + 1] += sums[k]
            above[:stop] = sums[-1]
            rivals = (np.arange(stop) < steps[:, None]) & (steps[:, None] < freed[:stop])
            yield Candidates(start, 0, sums[1:], sums[:-1], rivals, np.subtract(n - 1.0, steps))


@dataclass(frozen=True)
class Ordering:
    """The variables of `moments` in causal order, and the name of the rule that found it.

    `variances` are those of each variable given its predecessors, in order. At step m the rule compared `chosen[m]` with
    `runner_up[m]`, the second least (infinite where there was none). `support[m]` are the columns that variable m was regressed on,
    where the rule chose some of its predecessors; `p_values` those of its own test of every pair, at [later, earlier], if it makes one.
    """

    order: NDArray[np.intp]
    moments: Moments
    variances: Array
    chosen: Array
    runner_up: Array
    rule: str = "forward"
    factor: Factor | None = None
    support: tuple[NDArray[np.intp], ...] | None = None
    p_values: Array | None = None

    @classmethod
    def along(
        cls, order: NDArray[np.intp], moments: Moments, factor: Factor, runner_up: Array, rule: str = "forward"
    ) -> Ordering:
        """The ordering of a factor; variances have the divisor n − (number of predecessors)."""
        scatter = factor.triangles.L_diagonal**2
        chosen = factor.triangles.W_diagonal**2 if factor.from_last else scatter
        return cls(order, moments, scatter / (moments.n - np.arange(len(order))), chosen, runner_up, rule, factor)

    @classmethod
    def supported(cls, found: Supported, moments: Moments, rule: str) -> Ordering:
        """The ordering of a rule without a factor."""
        values = (found.variances, found.chosen, found.runner_up)
        return cls(found.order, moments, *values, rule, support=found.support, p_values=found.p_values)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.moments.n

    @cached_property
    def margins(self) -> Array:
        """How far, relatively, the choice of each step was from the runner-up (nan where there was none)."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.runner_up), self.runner_up / self.chosen - 1.0, np.nan)

    @property
    def undecided(self) -> tuple[str, ...]:
        """A sentence for every step that rounding leaves undecided."""
        return () if self.factor is None else self.factor.undecided

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader of the order has to be told."""
        if not self.undecided:
            return ()
        return (
            f"The data are so close to collinear that float64 does not decide {len(self.undecided)} of {len(self.order)} steps of "
            f"the order; the first is {self.undecided[0]}. Do not rely on the order from there on.",
        )

    @property
    def known_factor(self) -> Factor:
        """The factor, or a refusal where the rule has none."""
        if self.factor is None:
            raise SettingError(
                f"This takes regressions on all earlier variables, and is not available with variance={self.rule!r}."
            )
        return self.factor

    @property
    def L(self) -> Array:
        """Whole, and so one more p × p matrix."""
        return self.known_factor.triangles.L

    @property
    def W(self) -> Array:
        """Whole, and so one more p × p matrix."""
        return self.known_factor.triangles.W

    @property
    def uncertainty(self) -> Array:
        return self.known_factor.uncertainty

    def candidates(self, before: Mask | None = None) -> Iterator[Candidates]:
        """All that the steps compared, some steps at a time; `before` is the partial order of the columns that they had to keep to."""
        return self.known_factor.candidates(self.n, None if before is None else before[np.ix_(self.order, self.order)])

    def pair(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Scatter of a, of b, and between them, given everything before a; positions a < b in the order."""
        triangles = self.known_factor.triangles
        own = triangles.L_diagonal[a]
        return own**2, triangles.tails(a, b)[0], triangles.L_at(b, a) * own

    def direction_p_values(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> Array:
        """Two-sided Pitman–Morgan p-values that a and b have the same variance given everything before a."""
        triangles = self.known_factor.triangles
        s_b, rest = np.sqrt(triangles.tails(a, b))
        return pitman_morgan(triangles.L_diagonal[a], s_b, rest, self.n - a - 2.0)


def pitman_morgan(a: Array, b: Array, rest: Array, degrees: NDArray[np.floating[Any]]) -> Array:
    """P-values that two variances are equal, from lengths of residuals: of a, of b, and of b given a too (`rest`)."""
    return np.asarray(2.0 * stdtr(degrees, -pitman_morgan_t(a, b, rest, degrees)))


def pitman_morgan_t(a: Array, b: Array, rest: Array, degrees: NDArray[np.floating[Any]]) -> Array:
    r"""$t = |b^2 - a^2| \sqrt d / (2 a \cdot \text{rest})$, of Student's distribution with d degrees of freedom where variances are equal.

    (Pitman 1939; Morgan 1939.) In quotients of lengths no unit makes it overflow or vanish.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.abs(b - a) / a * ((b + a) / rest) * (np.sqrt(degrees) / 2.0))
