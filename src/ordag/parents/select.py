"""Which predecessors are parents: by tests at a level, with or without control of multiplicity, or by BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr

from ordag.arrays import Array, Mask
from ordag.errors import SettingError
from ordag.order.ordering import Ordering
from ordag.parents.bic import backward_elimination
from ordag.parents.tests import Test, named_test, p_values

Correction = Literal["none", "bh", "bonferroni"]
Rule = Literal["test", "bic"]


@dataclass(frozen=True)
class Selection:
    """The chosen parents and the tests behind them; both matrices are at [later, earlier] positions of the order.

    `expected_false` is how many of the edges would be there by chance alone if no pair had an edge (a level times
    the pairs tested), or for a false-discovery rate that share of the edges found.
    """

    parents: Mask
    p_values: Array
    pairs: int
    threshold: float
    expected_false: float

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
    values = p_values(ordering.W, ordering.n, function)
    pairs = math.comb(len(values), 2)
    if rule == "bic":
        chosen = backward_elimination(ordering.L, ordering.W, ordering.n)
        level = float(2.0 * ndtr(-math.sqrt(math.log(ordering.n))))
        return Selection(chosen, values, pairs, math.nan, level * pairs)
    if rule != "test":
        raise SettingError(f"parents={rule!r} is not known: use 'test' or 'bic'.")
    threshold = _threshold(values, alpha, correction, pairs)
    chosen = values <= threshold
    expected = {"none": alpha * pairs, "bonferroni": alpha, "bh": alpha * int(chosen.sum())}[correction]
    return Selection(chosen, values, pairs, threshold, expected)


def _threshold(values: Array, alpha: float, correction: str, pairs: int) -> float:
    """The largest p-value that still makes an edge."""
    if correction == "bonferroni":
        return alpha / pairs
    if correction == "bh":
        # Benjamini & Hochberg (1995): the largest p₍ᵢ₎ with p₍ᵢ₎ ≤ α i / m.
        ranked = np.sort(values[np.tril_indices(len(values), -1)])
        below = np.flatnonzero(ranked <= alpha * np.arange(1, pairs + 1) / pairs)
        return float(ranked[below[-1]]) if len(below) else -1.0
    return alpha
