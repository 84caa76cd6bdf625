"""`Selection`, the chosen parents; `Question`, what a rule decides; and `ParentRule`, a way to choose them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtr

from ordag.common.arrays import Array, Indices, Mask
from ordag.order.factor import Factor
from ordag.order.ordering import Ordering
from ordag.parents.tests import CRITICAL, Test, conditioned_on, correlations_of, p_values, partial_correlations, slabs

Edges: TypeAlias = tuple[Indices, Indices]
"""(later, earlier) positions of joined pairs."""


def edges_of(mask: Mask) -> Edges:
    """Return the edges of a mask at [later, earlier], sorted."""
    later, earlier = np.nonzero(mask)
    return later, earlier


@dataclass(frozen=True)
class Selection:
    """The chosen parents and the tests behind them: `edges` are (later, earlier) positions of the order, sorted.

    Matrices are at [later, earlier], and computed on first use: with thousands of variables, `edges` and `p_values_of` need none.
    `expected` is the expected number of false edges, a function that computes it, or nan where it is unknown; `grounds` is its basis in
    words. It counts edges of either direction: wrong directions come on top. `threshold` is the p-value up to which pairs are joined,
    `row_p_values` are those of a test of rows, `factor` has the inverse factor W behind the others. `penalty` of an edge and
    `share` of pairs joined are those of the edge prior; nan for rules that have none.
    """

    edges: Edges
    factor: Factor | None
    p: int
    n: int
    test: Test
    pairs: int
    expected: float | Callable[[], float]
    grounds: str
    row_p_values: Array | None = None
    threshold: float = math.nan
    penalty: float = math.nan
    share: float = math.nan

    @property
    def parents(self) -> Mask:
        """The edges as a mask."""
        mask = np.zeros((self.p, self.p), dtype=bool)
        mask[self.edges] = True
        return mask

    @cached_property
    def r(self) -> Array | None:
        """The partial correlation of every pair given all other predecessors, where there is one."""
        return None if self.factor is None else partial_correlations(self.factor.W)

    @cached_property
    def p_values(self) -> Array:
        """The p-value of every pair; one on and above the diagonal."""
        if self.row_p_values is not None:
            return self.row_p_values
        assert self.r is not None
        return p_values(self.r, self.n, self.test)

    def p_values_of(self, later: Indices, earlier: Indices) -> Array:
        """Return the p-values of some pairs of positions only."""
        if self.row_p_values is not None:
            return self.row_p_values[later, earlier]
        assert self.factor is not None
        return self.test(correlations_of(self.factor, later, earlier), self.n, conditioned_on(later))

    def up_to(self, level: list[float]) -> Iterator[tuple[Indices, Indices, Array]]:
        """Yield (later, earlier) positions of pairs and their p-values, some at a time, without most of those above the one level in the
        list, which the caller may lower between blocks."""
        if self.row_p_values is not None:
            later, earlier = np.tril_indices(self.p, -1)
            yield later, earlier, self.row_p_values[later, earlier]
            return
        assert self.factor is not None
        for slab in slabs(self.factor):
            joined = slab.pairs
            if self.test in CRITICAL and level[0] < 1.0:
                level_here = min(1.000001 * level[0], 1.0)
                joined &= np.abs(slab.r) >= CRITICAL[self.test](level_here, self.n, conditioned_on(slab.later))[:, None]
            later, earlier = slab.positions(joined)
            yield later, earlier, self.test(slab.r[joined], self.n, conditioned_on(later))

    @cached_property
    def expected_false(self) -> float:
        """The expected number of false edges, computed on first use."""
        return self.expected() if callable(self.expected) else self.expected

    @property
    def is_counted(self) -> bool:
        """Whether `expected_false` is already computed."""
        return not callable(self.expected) or "expected_false" in vars(self)

    @property
    def level(self) -> float:
        """The p-value up to which a single pair is joined; for rules without tests the one that corresponds to their penalty."""
        if not math.isnan(self.threshold):
            return self.threshold
        price = math.log(self.n) if math.isnan(self.penalty) else self.penalty
        return float(2.0 * ndtr(-math.sqrt(price)))

    @property
    def expected_in_words(self) -> str:
        """`expected_false` for a sentence: 0.5, 4,995."""
        return f"{self.expected_false:,.0f}" if self.expected_false >= 10 else f"{self.expected_false:.2g}"

    @property
    def edge_count(self) -> int:
        return len(self.edges[0])

    def details(self) -> dict[str, Any]:
        """Penalty and share of the edge prior, if any, as plain values."""
        return {} if math.isnan(self.penalty) else {"penalty": self.penalty, "share": self.share}


@dataclass(frozen=True)
class Question:
    """The ordering along which to choose parents, and the settings of tests, for the rules that use them.

    `allowed` marks the possible parents and `required` the certain ones, at [later, earlier] positions of the order; both
    are None without constraints.
    """

    ordering: Ordering
    alpha: float
    test: Test
    correction: str
    allowed: Mask | None
    required: Mask | None
    row_p_values: Array | None = None

    @cached_property
    def open(self) -> Mask | None:
        """The pairs left to decide, None for all."""
        return None if self.allowed is None or self.required is None else self.allowed & ~self.required

    @cached_property
    def units(self) -> Array:
        """For every variable in order the power of two next to its length: in these units no square of a square leaves float64, and
        the conversion rounds nothing."""
        return np.exp2(np.round(np.log2(self.ordering.moments.spread[self.ordering.order])))

    @property
    def pairs(self) -> int:
        return math.comb(len(self.ordering.order), 2) if self.open is None else int(self.open.sum())

    def answer(self, edges: Edges, expected: float | Callable[[], float], grounds: str, **more: float) -> Selection:
        p, n, known = len(self.ordering.order), self.ordering.n, self.row_p_values
        return Selection(edges, self.ordering.factor, p, n, self.test, self.pairs, expected, grounds, known, **more)


@dataclass(frozen=True)
class ParentRule:
    """A way to choose parents, for `PARENT_RULES` in `ordag.parents`; `title` is its name in sentences."""

    name: str
    title: str
    help: str
    choose: Callable[[Question], Selection]
