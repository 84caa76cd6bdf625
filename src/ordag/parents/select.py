"""Which predecessors are parents: by tests at a level, with or without control of multiplicity, or by BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ordag.arrays import Array, Mask
from ordag.errors import SettingError
from ordag.order.ordering import Ordering
from ordag.parents.bic import backward_elimination
from ordag.parents.tests import Test, conditioned_on, named_test, p_values, partial_correlations, rejected

Correction = Literal["none", "bh", "bonferroni"]
Rule = Literal["test", "bic"]


@dataclass(frozen=True)
class Selection:
    """The chosen parents and the tests behind them; matrices are at [later, earlier] positions of the order.

    `expected_false` is how many of the edges would be there by chance alone if no pair had an edge (a level times
    the pairs tested), or for a false-discovery rate that share of the edges found.
    """

    parents: Mask
    r: Array
    n: int
    test: Test
    pairs: int
    threshold: float
    expected_false: float

    @cached_property
    def p_values(self) -> Array:
        """The p-value of every pair; one on and above the diagonal."""
        return p_values(self.r, self.n, self.test)

    def p_values_of(self, later: NDArray[np.intp], earlier: NDArray[np.intp]) -> Array:
        """Those of some pairs of positions only."""
        return self.test(self.r[later, earlier], self.n, conditioned_on(later))

    @property
    def edge_count(self) -> int:
        return int(self.parents.sum())


def check_level(alpha: float) -> float:
    try:
        level = float(alpha)
    except (TypeError, ValueError):
        level = math.nan
    if isinstance(alpha, bool) or not 0.0 < level < 1.0:
        raise SettingError(f"alpha={alpha!r}: the level of a test lies between 0 and 1, both excluded.")
    return level


def select(
    ordering: Ordering,
    *,
    rule: str = "test",
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    correction: str = "none",
) -> Selection:
    """Parents of every variable among its predecessors (Park & Kim, Algorithm 1, Step 2)."""
    alpha = check_level(alpha)
    function = named_test(test)
    if correction not in ("none", "bh", "bonferroni"):
        raise SettingError(f"correction={correction!r} is not known: use 'none', 'bh' or 'bonferroni'.")
    if rule not in ("test", "bic"):
        raise SettingError(f"parents={rule!r} is not known: use 'test' or 'bic'.")
    r = partial_correlations(ordering.W)
    n, pairs = ordering.n, math.comb(len(r), 2)
    if rule == "bic":
        chosen = backward_elimination(ordering.L, ordering.W, n)
        level = float(2.0 * ndtr(-math.sqrt(math.log(n))))
        return Selection(chosen, r, n, function, pairs, math.nan, level * pairs)
    if correction == "bh":
        values = p_values(r, n, function)
        threshold = _false_discovery_threshold(values, alpha)
        chosen = values <= threshold
        return Selection(chosen, r, n, function, pairs, threshold, alpha * int(chosen.sum()))
    threshold = alpha / pairs if correction == "bonferroni" else alpha
    chosen = rejected(r, n, function, threshold)
    return Selection(chosen, r, n, function, pairs, threshold, threshold * pairs)


def _false_discovery_threshold(values: Array, rate: float) -> float:
    """Benjamini & Hochberg (1995): the largest p₍ᵢ₎ of m with p₍ᵢ₎ ≤ rate · i / m, or less than any if there is none."""
    ranked = np.sort(values[np.tril_indices(len(values), -1)])
    below = np.flatnonzero(ranked <= rate * np.arange(1, len(ranked) + 1) / len(ranked))
    return float(ranked[below[-1]]) if len(below) else -1.0
