"""Conditional variance scoring on many tables of the same size at once: what resampling and forecasts need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.order.forward import forward_stack
from ordag.parents.by_tests import CORRECTIONS
from ordag.parents.tests import Test, conditioned_on, critical_correlations, named_test, partial_correlations

WORTHWHILE = 150
"""Columns up to which a stack is quicker than one table after the other."""

TOGETHER = 2**18
"""Numbers in a stack: as many as stay in a processor's cache."""

TAKEN = {"alpha", "test", "correction", "parents", "direction"}


class Graphs(NamedTuple):
    """For every table of a stack its order, its arrows at [i, j] for i → j, and whether its digits suffice for both."""

    order: NDArray[np.intp]
    adjacency: Mask
    sound: Mask


def stackable(method: str, settings: Mapping[str, Any], p: int) -> bool:
    """Whether a method with these settings can learn from many tables of p columns in step."""
    usual = settings.get("parents", "test") == "test" and settings.get("direction", "forward") == "forward"
    stated = {name for name, value in settings.items() if value is not None}
    return method == "cvs" and p <= WORTHWHILE and usual and stated <= TAKEN


def stack_size(p: int) -> int:
    """How many tables of p columns to take at once."""
    return max(1, TOGETHER // (p * p))


def cvs_stack(
    roots: Array,
    n: int,
    *,
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    correction: str = "none",
    **_: Any,
) -> Graphs:
    """What `cvs` with parents="test" learns from each of the scatters `roots[b].T @ roots[b]` of n rows."""
    found = forward_stack(roots)
    r = partial_correlations(found.W)
    parents = _parents(r, n, named_test(test), alpha, correction)
    adjacency = np.zeros(parents.shape, dtype=bool)
    every = np.arange(len(roots))[:, None, None]
    adjacency[every, found.order[:, None, :], found.order[:, :, None]] = parents
    return Graphs(found.order, adjacency, found.sound)


def _parents(r: Array, n: int, test: Test, alpha: float, correction: str) -> Mask:
    """The chosen parents at [table, later, earlier]."""
    p = r.shape[1]
    pairs = p * (p - 1) // 2
    below = np.tri(p, k=-1, dtype=bool)
    conditioned = conditioned_on(np.arange(p))
    threshold = CORRECTIONS[correction].threshold
    if not CORRECTIONS[correction].rate:
        level = threshold(alpha, pairs, np.empty(0))
        least = critical_correlations(test, level, n, conditioned)
        if least is not None:
            return below & (np.abs(r) >= least[:, None])
        return below & (test(r, n, conditioned[:, None]) <= level)
    values = test(r, n, conditioned[:, None])
    thresholds = [threshold(alpha, pairs, np.sort(one[below])) for one in values]
    return below & (values <= np.array(thresholds)[:, None, None])
