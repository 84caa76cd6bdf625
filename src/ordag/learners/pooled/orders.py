"""An order of the variables and the graph that it gives; moves of one variable to its best place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.arrays import Array
from ordag.learners.pooled.trees import Found, Trees

BETTER = 1e-6
"""A move has to lower the sum by more than this."""


HOPELESS = 10.0
"""Where a place raises the sum by so much more than the best one so far, those beyond it are not looked at."""


class Order:
    """An order with the parents that every variable has among its predecessors.

    before[j]: the predecessors of j, as a bitmask. `first[j]`, `last[j]`: those that must come before and after j.
    """

    def __init__(
        self, trees: Trees, order: Sequence[int], first: list[int] | None = None, last: list[int] | None = None
    ) -> None:
        p = trees.variances.p
        self.trees = trees
        self.order = list(order)
        self.first = first or [0] * p
        self.last = last or [0] * p
        self.before = [0] * p
        seen = 0
        for j in self.order:
            self.before[j] = seen
            seen |= 1 << j
        self.found: list[Found] = []
        self.renew()

    def renew(self) -> None:
        """Find all parents again: the terms have changed."""
        self.found = [self.trees.find(j, self.before[j]) for j in range(len(self.order))]

    @property
    def parents(self) -> list[int]:
        return [found.parents for found in self.found]

    @property
    def edge_count(self) -> int:
        return sum(found.parents.bit_count() for found in self.found)

    @property
    def cost(self) -> float:
        return sum(found.cost for found in self.found)

    def log_variances(self) -> Array:
        variances = self.trees.variances
        return np.array([variances.log_variance(j, found.parents) for j, found in enumerate(self.found)])

    def sweep(self) -> int:
        """Give every variable in turn its best place; how many were moved."""
        return sum(self.improve(x) for x in list(self.order))

    def improve(self, x: int) -> bool:
        """Move x to its best place, if that is better than where it is."""
        at = self.order.index(x)
        best, place = -BETTER, at
        gain, there = self._look_left(x, at, best)
        if there != at:
            best, place = gain, there
        gain, there = self._look_right(x, at, best)
        if there != at:
            place = there
        if place == at:
            return False
        self.move(at, place)
        return True

    def _look_left(self, x: int, at: int, best: float) -> tuple[float, int]:
        """The lowest change of the sum below `best` that a place before its own gives x, and the place."""
        find, found, before, bit = self.trees.find, self.found, self.before, 1 << x
        place, others, own = at, 0.0, found[x]
        now = own.cost
        picked, first = own.picked, self.first[x]
        for t in range(at - 1, -1, -1):
            y = self.order[t]
            y_bit = 1 << y
            if first & y_bit:
                break
            if found[y].rivals & bit:
                others += find(y, before[y] | bit).cost - found[y].cost
            elif not picked & y_bit:
                continue
            if picked & y_bit:
                own = find(x, before[y])
                picked = own.picked
            change = others + own.cost - now
            if change < best:
                best, place = change, t
            elif change > best + HOPELESS:
                break
        return best, place

    def _look_right(self, x: int, at: int, best: float) -> tuple[float, int]:
        find, found, before, bit = self.trees.find, self.found, self.before, 1 << x
        place, others, own = at, 0.0, found[x]
        now = own.cost
        rivals, last = own.rivals, self.last[x]
        for t in range(at + 1, len(self.order)):
            y = self.order[t]
            y_bit = 1 << y
            if last & y_bit:
                break
            if found[y].picked & bit:
                others += find(y, before[y] & ~bit).cost - found[y].cost
            elif not rivals & y_bit:
                continue
            if rivals & y_bit:
                own = find(x, (before[y] | y_bit) & ~bit)
                rivals = own.rivals
            change = others + own.cost - now
            if change < best:
                best, place = change, t
            elif change > best + HOPELESS:
                break
        return best, place

    def move(self, at: int, place: int) -> None:
        """Take the variable at one place to another; whoever it passes is looked at again if it matters to them."""
        order, find, found, before = self.order, self.trees.find, self.found, self.before
        x = order.pop(at)
        order.insert(place, x)
        bit = 1 << x
        passed = order[place + 1 : at + 1] if place < at else order[at:place]
        for y in passed:
            before[x] ^= 1 << y
            before[y] ^= bit
            if (found[y].rivals if place < at else found[y].picked) & bit:
                found[y] = find(y, before[y])
        found[x] = find(x, before[x])
