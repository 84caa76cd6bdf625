"""Batches of (i, j, S) in, p-values out; counts them, and reports how far the search has come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.learners.pc.partial import PartialCorrelations
from ordag.parents.tests import Test

Indices = NDArray[np.intp]
Progress = Callable[[int, int], None]


class Tester:
    """Tests whether columns i and j are independent given S, and keeps count.

    `progress` is called with the sets dealt with so far and those planned so far; the plan grows with every level.
    """

    def __init__(self, moments: Moments, test: Test, alpha: float, progress: Progress | None = None) -> None:
        self.alpha = alpha
        self.tests = 0
        self._n = moments.n
        self._correlation = PartialCorrelations(moments)
        self._test = test
        self._progress = progress
        self._planned = 0
        self._done = 0

    def __call__(self, i: Indices, j: Indices, S: Indices, skip: Mask | None = None) -> Array:
        """The p-values of i[b], j[b] given S[b, c] for all b and c; −1 where `skip` says so."""
        p_values = np.full(S.shape[:2], -1.0)
        wanted = np.ones(S.shape[:2], dtype=bool) if skip is None else ~skip
        row = np.nonzero(wanted)[0]
        if len(row):
            r = self._correlation(i[row], j[row], S[wanted])
            p_values[wanted] = self._test(r, self._n, np.array(float(S.shape[2])))
        self.tests += len(row)
        self._report(wanted.size)
        return p_values

    def plan(self, sets: int) -> None:
        """Announce that so many sets come next; those planned before and not met count as dealt with."""
        self._done = self._planned
        self._planned += sets
        self._report(0)

    def _report(self, sets: int) -> None:
        self._done += sets
        if self._progress is not None:
            self._progress(self._done, self._planned)
