"""Conditional variance scoring on many tables of the same size at once: what resampling and forecasts need."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.table_checks import least_squares_rows
from ordag.learners.cvs import CvsSettings
from ordag.learners.settings import MethodSettings
from ordag.order.least_squares import forward_stack
from ordag.parents import CORRECTIONS
from ordag.parents.tests import Test, named_test, p_values, partial_correlations, rejected

WORTHWHILE = 150
"""Columns up to which a stack is quicker than one table after the other."""

TOGETHER = 2**18
"""Numbers in a stack: as many as stay in a processor's cache."""


class Graphs(NamedTuple):
    """For every table of a stack its order, its arrows at [i, j] for i → j, and whether its digits suffice for both."""

    order: NDArray[np.intp]
    adjacency: Mask
    sound: Mask


def stackable(recipe: MethodSettings, n: int, p: int) -> TypeGuard[CvsSettings]:
    """Whether a method with these settings can learn from many tables of n rows and p columns in step."""
    return (
        isinstance(recipe, CvsSettings)
        and p <= WORTHWHILE
        and n >= least_squares_rows(p)
        and recipe.variance in (None, "least-squares")
        and not recipe.split
        and not recipe.needs_rows
        and (recipe.parents, recipe.direction) == ("test", "forward")
        and recipe.knowledge is None
        and recipe.min_effect is None
    )


def stack_size(p: int) -> int:
    """How many tables of p columns to take at once."""
    return max(1, TOGETHER // (p * p))


def cvs_stack(roots: Array, n: int, settings: CvsSettings) -> Graphs:
    """What `cvs` with parents="test" learns from each of the scatters `roots[b].T @ roots[b]` of n rows."""
    found = forward_stack(roots)
    r = partial_correlations(found.W)
    parents = _parents(r, n, named_test(settings.test or "fisher-z"), settings.alpha, settings.correction)
    adjacency = np.zeros(parents.shape, dtype=bool)
    every = np.arange(len(roots))[:, None, None]
    adjacency[every, found.order[:, None, :], found.order[:, :, None]] = parents
    return Graphs(found.order, adjacency, found.sound)


def _parents(r: Array, n: int, test: Test, alpha: float, correction: str) -> Mask:
    """The chosen parents at [table, later, earlier]."""
    p = r.shape[1]
    pairs, correct = p * (p - 1) // 2, CORRECTIONS[correction]
    if not correct.rate:
        return rejected(r, n, test, correct.threshold(alpha, pairs, np.empty(0)))
    values, below = p_values(r, n, test), np.tri(p, k=-1, dtype=bool)
    thresholds = [correct.threshold(alpha, pairs, np.sort(one[below])) for one in values]
    return values <= np.array(thresholds)[:, None, None]
