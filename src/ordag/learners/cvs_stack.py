"""Conditional variance scoring on many tables of the same size at once, for resampling and forecasts."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.data.table_checks import least_squares_rows
from ordag.learners.cvs import CvsSettings
from ordag.learners.settings import MethodSettings
from ordag.order.least_squares import forward_stack
from ordag.parents import CORRECTIONS
from ordag.parents.tests import Test, named_test, p_values, partial_correlations, rejected

MOST_COLUMNS = 150
"""Columns up to which a stack is faster than one table after the other."""

NUMBERS_PER_STACK = 2**18
"""Numbers in a stack, so that they stay in the processor's cache."""


class Graphs(NamedTuple):
    """The order of every table of a stack, its arrows i → j at [i, j], and whether both are precise (`sound`)."""

    order: NDArray[np.intp]
    adjacency: Mask
    sound: Mask


def stackable(settings: MethodSettings, n: int, p: int) -> TypeGuard[CvsSettings]:
    """Return whether these settings can be learned with from many tables of n rows and p columns at once."""
    return (
        isinstance(settings, CvsSettings)
        and p <= MOST_COLUMNS
        and n >= least_squares_rows(p)
        and settings.variance in (None, "least-squares")
        and not settings.split
        and not settings.needs_rows
        and (settings.parents, settings.direction) == ("test", "forward")
        and settings.knowledge is None
        and settings.min_effect is None
    )


def stack_size(p: int) -> int:
    """Return the number of tables of p columns in a stack."""
    return max(1, NUMBERS_PER_STACK // (p * p))


def cvs_stack(roots: Array, n: int, settings: CvsSettings) -> Graphs:
    """Learn by `cvs` with parents="test" from each of the scatters `roots[b].T @ roots[b]` of n rows."""
    found = forward_stack(roots)
    r = partial_correlations(found.W)
    parents = _parents(r, n, named_test(settings.test or "fisher-z"), settings.alpha, settings.correction)
    adjacency = np.zeros(parents.shape, dtype=bool)
    every = np.arange(len(roots))[:, None, None]
    adjacency[every, found.order[:, None, :], found.order[:, :, None]] = parents
    return Graphs(found.order, adjacency, found.sound)


def _parents(r: Array, n: int, test: Test, alpha: float, correction: str) -> Mask:
    """Return the chosen parents at [table, later, earlier]."""
    p = r.shape[1]
    pairs, correct = p * (p - 1) // 2, CORRECTIONS[correction]
    if not correct.rate:
        return rejected(r, n, test, correct.threshold(alpha, pairs, np.empty(0)))
    values, below = p_values(r, n, test), np.tri(p, k=-1, dtype=bool)
    thresholds = [correct.threshold(alpha, pairs, np.sort(one[below])) for one in values]
    return values <= np.array(thresholds)[:, None, None]
