"""Which predecessors are parents: by tests at a level, with or without control of multiplicity, by BIC, or by an edge prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ordag.arrays import Array, Mask
from ordag.checks import as_number, check_choice, short
from ordag.errors import SettingError
from ordag.order.ordering import Ordering
from ordag.parents.adaptive import adaptive_elimination
from ordag.parents.bic import backward_elimination, expected_false
from ordag.parents.tests import Test, conditioned_on, named_test, p_values, partial_correlations, rejected

CORRECTIONS = ("none", "bh", "bonferroni")
PARENT_RULES = ("test", "bic", "adaptive")
Correction = Literal["none", "bh", "bonferroni"]
Rule = Literal["test", "bic", "adaptive"]


@dataclass(frozen=True)
class Selection:
    """The chosen parents and the tests behind them; matrices are at [later, earlier] positions of the order.

    `expected` is the number of false edges to expect, or a function that works it out: a level times the pairs tested (what
    chance alone gives if no pair has an edge), or for a false-discovery rate that share of the edges found; for BIC and
    the edge prior see `bic` and `adaptive`. Edges, whichever way they point: wrong directions come on top.
    `penalty` of an edge and `share` of pairs joined are those of the edge prior, nan for the other rules.
    """

    parents: Mask
    r: Array
    n: int
    test: Test
    pairs: int
    threshold: float
    expected: float | Callable[[], float]
    penalty: float = math.nan
    share: float = math.nan

    @cached_property
    def p_values(self) -> Array:
        """The p-value of every pair; one on and above the diagonal."""
        return p_values(self.r, self.n, self.test)

    def p_values_of(self, later: NDArray[np.intp], earlier: NDArray[np.intp]) -> Array:
        """Those of some pairs of positions only."""
        return self.test(self.r[later, earlier], self.n, conditioned_on(later))

    @cached_property
    def expected_false(self) -> float:
        """The number of false edges to expect; worked out when first asked for."""
        return self.expected() if callable(self.expected) else self.expected

    @property
    def level(self) -> float:
        """The p-value up to which a single pair is joined, or for rules without tests the one that their penalty stands for."""
        if not math.isnan(self.threshold):
            return self.threshold
        price = math.log(self.n) if math.isnan(self.penalty) else self.penalty
        return float(2.0 * ndtr(-math.sqrt(price)))

    @property
    def expected_in_words(self) -> str:
        """`expected_false` as a sentence can carry it: 0.5, 4,995."""
        return f"{self.expected_false:,.0f}" if self.expected_false >= 10 else f"{self.expected_false:.2g}"

    @property
    def edge_count(self) -> int:
        return int(self.parents.sum())


@dataclass(frozen=True)
class Known:
    """Which parents are possible and which are certain beforehand, at [later, earlier] positions of the order."""

    allowed: Mask
    required: Mask

    @cached_property
    def open(self) -> Mask:
        """The pairs that are left to decide."""
        return self.allowed & ~self.required

    def applied(self, found: Mask) -> Mask:
        return found & self.allowed | self.required


def check_level(alpha: float) -> float:
    level = as_number(alpha)
    if not 0.0 < level < 1.0:
        raise SettingError(f"alpha={short(alpha)}: the level of a test lies between 0 and 1, both excluded.")
    return level


def select(
    ordering: Ordering,
    *,
    rule: str = "test",
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    correction: str = "none",
    allowed: Mask | None = None,
    required: Mask | None = None,
) -> Selection:
    """Parents of every variable among its predecessors (Park & Kim, Algorithm 1, Step 2).

    What is known beforehand comes as masks at [cause, effect] of the columns: `allowed` where an arrow can be, `required` where
    one is. Only pairs that these leave open are tested and counted, each given all other predecessors as ever.
    """
    alpha = check_level(alpha)
    function = named_test(test)
    check_choice("correction", correction, ("none", "bh", "bonferroni"), "'none', 'bh' or 'bonferroni'")
    check_choice("parents", rule, ("test", "bic", "adaptive"), "'test', 'bic' or 'adaptive'")
    if rule != "test" and correction != "none":
        raise SettingError(
            f"correction={correction!r} is one of tests, and parents={rule!r} makes none: leave one out."
        )
    r = partial_correlations(ordering.W)
    n, pairs = ordering.n, math.comb(len(r), 2)
    known = None
    if allowed is not None and required is not None:
        known = Known(_placed(allowed, ordering), _placed(required, ordering))
        pairs = int(known.open.sum())
    bounds = () if known is None else (known.allowed, known.required)
    if rule == "adaptive":
        kept, penalty, share, found_by_chance = adaptive_elimination(ordering.L, ordering.W, r, n, *bounds)
        return Selection(kept, r, n, function, pairs, math.nan, found_by_chance, penalty, share)
    if rule == "bic":
        chosen = backward_elimination(ordering.L, ordering.W, n, *bounds)
        expected = partial(expected_false, ordering.L, chosen, n, *bounds)
        return Selection(chosen, r, n, function, pairs, math.nan, expected)
    if correction == "bh":
        values = p_values(r, n, function)
        ranked = np.sort(values[np.tril_indices(len(values), -1) if known is None else known.open])
        threshold = false_discovery_threshold(ranked, alpha)
        found = values <= threshold
        chosen = found if known is None else known.applied(found)
        tested = chosen if known is None else chosen & known.open
        return Selection(chosen, r, n, function, pairs, threshold, alpha * int(tested.sum()))
    threshold = alpha / max(pairs, 1) if correction == "bonferroni" else alpha
    chosen = rejected(r, n, function, threshold)
    if known is not None:
        chosen = known.applied(chosen)
    return Selection(chosen, r, n, function, pairs, threshold, threshold * pairs)


def false_discovery_threshold(ranked: Array, rate: float) -> float:
    """Benjamini & Hochberg (1995): the largest p₍ᵢ₎ of m with p₍ᵢ₎ ≤ rate · i / m, or less than any if there is none."""
    below = np.flatnonzero(ranked <= rate * np.arange(1, len(ranked) + 1) / len(ranked))
    return float(ranked[below[-1]]) if len(below) else -1.0


def _placed(mask: Mask, ordering: Ordering) -> Mask:
    """A mask at [cause, effect] of the columns, as one at [later, earlier] positions."""
    return np.tril(mask[np.ix_(ordering.order, ordering.order)].T, -1)
