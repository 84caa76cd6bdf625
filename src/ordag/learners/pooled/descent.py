"""From a start to the graph that no move of a single variable improves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ordag.arrays import Array, Mask
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.pooled.exact import graphs_by_score
from ordag.learners.pooled.orders import Order
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.trees import LogVariances, Trees

SWEEPS = 100
"""Rounds of moves at given terms, and rounds of terms: bounds that no table has come near."""

WORTHWHILE = 1e-6
"""A score that is lower by less than this is no reason to go on."""

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
        return unpacked(self.parents)


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
            self.trees = Trees(variances, nothing, packed(known.allowed), packed(known.required))
            self.first, self.last = packed(known.before), packed(known.before.T)

    def descend(self, order: Sequence[int], parents: Sequence[int]) -> Optimum:
        """The optimum that a start leads to. The first terms are those at its parents."""
        start = self.as_it_is(self._kept(order), parents)
        order, v, edges = list(start.order), start.v, start.edges
        best = start if _agree(order, parents) else None
        for _ in range(SWEEPS):
            self.trees.use(self.score.local(v, edges))
            self.trees.start_from(parents)
            position = Order(self.trees, order, self.first, self.last)
            for _ in range(SWEEPS):
                if not position.sweep():
                    break
            order, parents, v, edges = position.order, position.parents, position.log_variances(), position.edge_count
            total = self.score.total(v, edges)
            if best is not None and total > best.score - WORTHWHILE:
                break
            best = Optimum(total, tuple(order), tuple(parents), v)
        assert best is not None
        return best

    def as_it_is(self, order: Sequence[int], parents: Sequence[int]) -> Optimum:
        """A graph that nothing is done to."""
        v = np.array([self.variances.log_variance(j, mask) for j, mask in enumerate(parents)])
        return Optimum(self.score.total(v, sum(mask.bit_count() for mask in parents)), tuple(order), tuple(parents), v)

    def among_all(self, found: Iterable[Optimum]) -> dict[str, Optimum]:
        """The best of all graphs by name, if it is better than what was found."""
        lowest = min(one.score for one in found)
        for parents in graphs_by_score(self.score, self.variances, *self.masks):
            order = topological_order(unpacked(parents) | unpacked(self.first))
            best = self.as_it_is(order, parents)
            if best.score > lowest - WORTHWHILE:
                return {}
            if len(order) == len(parents):
                return {"all graphs": best}
        return {}

    def kicked(self, order: Sequence[int], random: np.random.Generator) -> list[int]:
        """The order with some variables at random places."""
        left = list(order)
        for _ in range(max(2, len(left) // KICKED)):
            x = left.pop(int(random.integers(len(left))))
            left.insert(int(random.integers(len(left) + 1)), x)
        return left

    def _kept(self, order: Sequence[int]) -> list[int]:
        """The order nearest to this one that keeps to what must come before what."""
        if not any(self.first):
            return list(order)
        left, kept, seen = list(order), [], 0
        while left:
            at = next(k for k, j in enumerate(left) if not self.first[j] & ~seen)
            j = left.pop(at)
            kept.append(j)
            seen |= 1 << j
        return kept


def _agree(order: Sequence[int], parents: Sequence[int]) -> bool:
    """Whether all parents come before their children."""
    seen = 0
    for j in order:
        if parents[j] & ~seen:
            return False
        seen |= 1 << j
    return True


def packed(adjacency: Mask) -> list[int]:
    """The parents of every node as a bitmask."""

    return [sum(1 << int(i) for i in np.flatnonzero(column)) for column in adjacency.T]


def unpacked(parents: Sequence[int]) -> Mask:
    """The adjacency of these parents."""
    p = len(parents)
    size = max(1, (p + 7) // 8)
    bits = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in parents), np.uint8).reshape(p, size)
    return np.unpackbits(bits, axis=1, bitorder="little")[:, :p].T.astype(bool)
