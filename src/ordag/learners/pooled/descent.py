"""Orders of the variables and the graphs that they give: from a start to one that no move of a variable improves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordag.arrays import Array, Mask
from ordag.bits import packed_columns, unpacked_columns
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.pooled.all_graphs import graphs_by_score
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.trees import Trees
from ordag.learners.pooled.variances import LogVariances

SWEEPS = 100
"""Rounds of moves at given terms, and rounds of terms: bounds that no table has come near."""

WORTHWHILE = 1e-6
"""A score that is lower by less than this is no reason to go on."""

BETTER = 1e-6
"""A move has to lower the sum by more than this."""

HOPELESS = 10.0
"""Where a place raises the sum by so much more than the best one so far, those beyond it are not looked at."""

KICKED = 5
"""A kick moves one variable in this many, and two at the least."""


@dataclass(frozen=True)
class Optimum:
    """A graph that no move of a single variable improves: its score, order, parents as bitmasks, and log variances."""

    score: float
    order: tuple[int, ...]
    parents: tuple[int, ...]
    v: Array

    @property
    def edges(self) -> int:
        return sum(mask.bit_count() for mask in self.parents)

    def adjacency(self) -> Mask:
        return unpacked_columns(self.parents, len(self.parents))


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
        self.before = _predecessors(self.order)
        self.found = [trees.find(j, before) for j, before in enumerate(self.before)]

    @property
    def parents(self) -> list[int]:
        return [found.parents for found in self.found]

    @property
    def edge_count(self) -> int:
        return sum(found.parents.bit_count() for found in self.found)

    @property
    def cost(self) -> float:
        return sum(found.cost for found in self.found)

    def sweep(self) -> int:
        """Give every variable in turn its best place; how many were moved."""
        return sum(self.improve(x) for x in list(self.order))

    def improve(self, x: int) -> bool:
        """Move x to its best place, if that is better than where it is."""
        at = self.order.index(x)
        best, place = -BETTER, at
        for places in (range(at - 1, -1, -1), range(at + 1, len(self.order))):
            best, place = self._look(x, places, best, place)
        if place == at:
            return False
        self.move(at, place)
        return True

    def _look(self, x: int, places: range, best: float, place: int) -> tuple[float, int]:
        """The lowest change of the sum that x can have at one of the places, and the place, if it is below `best`.

        On its way to the left x loses predecessors, which matters for those it picked, and comes before others, which
        matters where it is a rival; on its way to the right it is the other way round.
        """
        find, found, before, bit = self.trees.find, self.found, self.before, 1 << x
        left = places.step < 0
        barrier = self.first[x] if left else self.last[x]
        own, own_before, others = found[x], before[x], 0.0
        now = own.cost
        matters = own.picked if left else own.rivals
        for t in places:
            y = self.order[t]
            y_bit = 1 << y
            if barrier & y_bit:
                break
            own_before ^= y_bit
            if (found[y].rivals if left else found[y].picked) & bit:
                others += find(y, before[y] ^ bit).cost - found[y].cost
            elif not matters & y_bit:
                continue
            if matters & y_bit:
                own = find(x, own_before)
                matters = own.picked if left else own.rivals
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


class Descent:
    """Descents over the same trees."""

    def __init__(self, variances: LogVariances, score: PooledScore, known: Constraints | None) -> None:
        self.variances, self.score = variances, score
        self.masks = (None, None) if known is None else (known.allowed, known.required)
        nothing = score.local(np.zeros(score.p), 0)
        if known is None:
            self.trees = Trees(variances, nothing)
            self.first = self.last = [0] * score.p
        else:
            self.trees = Trees(variances, nothing, packed_columns(known.allowed), packed_columns(known.required))
            self.first, self.last = packed_columns(known.before), packed_columns(known.before.T)

    def descend(self, order: Sequence[int], parents: Sequence[int]) -> Optimum:
        """The optimum that a start leads to. The first terms are those at its parents."""
        now = self.scored(self._keeping_to_knowledge(order), parents)
        before = _predecessors(now.order)
        best = None if any(own & ~before[j] for j, own in enumerate(now.parents)) else now
        for _ in range(SWEEPS):
            self.begin(now)
            position = Order(self.trees, now.order, self.first, self.last)
            for _ in range(SWEEPS):
                if not position.sweep():
                    break
            now = self.scored(position.order, position.parents)
            if best is not None and now.score > best.score - WORTHWHILE:
                break
            best = now
        assert best is not None
        return best

    def begin(self, at: Optimum) -> None:
        """Take the terms at a graph, and its parents to grow from."""
        self.trees.use(self.score.local(at.v, at.edges))
        self.trees.start_from(at.parents)

    def scored(self, order: Sequence[int], parents: Sequence[int]) -> Optimum:
        """A graph as it is."""
        v = np.array([self.variances.log_variance(j, mask) for j, mask in enumerate(parents)])
        return Optimum(self.score.total(v, sum(mask.bit_count() for mask in parents)), tuple(order), tuple(parents), v)

    def best_of_all_graphs(self, lowest: float) -> Optimum | None:
        """The best of all graphs, if its score is below the lowest one found."""
        for parents in graphs_by_score(self.score, self.variances, *self.masks):
            before = [own | first for own, first in zip(parents, self.first, strict=True)]
            order = topological_order(unpacked_columns(before, len(before)))
            best = self.scored(order, parents)
            if best.score > lowest - WORTHWHILE:
                return None
            if len(order) == len(parents):
                return best
        return None

    def kicked(self, order: Sequence[int], random: np.random.Generator) -> list[int]:
        """The order with some variables at random places."""
        left = list(order)
        for _ in range(max(2, len(left) // KICKED)):
            x = left.pop(int(random.integers(len(left))))
            left.insert(int(random.integers(len(left) + 1)), x)
        return left

    def _keeping_to_knowledge(self, order: Sequence[int]) -> list[int]:
        """The order nearest to this one that keeps to what must come before what."""
        left, kept, seen = list(order), [], 0
        while left:
            at = next(k for k, j in enumerate(left) if not self.first[j] & ~seen)
            j = left.pop(at)
            kept.append(j)
            seen |= 1 << j
        return kept


def _predecessors(order: Sequence[int]) -> list[int]:
    """Who comes before every variable."""
    before, seen = [0] * len(order), 0
    for j in order:
        before[j] = seen
        seen |= 1 << j
    return before
