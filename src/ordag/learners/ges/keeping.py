"""Which classes have a DAG that keeps to what is known, and what such a class is when all of its DAGs must."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.arrays import Mask
from ordag.bits import members
from ordag.knowledge.masks import Constraints, restricted
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.moves import Move, Operator


class Keeping:
    """What is known, as sets of bits for every node: `into` has its possible parents, `out` its possible children,
    `held` those to which it must be joined."""

    def __init__(self, known: Constraints) -> None:
        self._known = known
        self.into = [_bits(column) for column in known.allowed.T]
        self.out = [_bits(row) for row in known.allowed]
        self.held = [_bits(row) for row in known.required | known.required.T]

    def start(self) -> Essential:
        """The class of the required arrows alone."""
        return essential([_bits(column) for column in self._known.required.T])

    def allows(self, graph: Essential, move: Move, operator: Operator) -> bool:
        """Whether the class that the move leads to joins what must be joined and has a DAG that keeps to the rest."""
        source, target = 1 << move.source, move.target
        if not (self.into[target] | self.out[target]) & source:
            return False
        new = essential(operator.applied(graph, move), graph.order)
        if self.held[target] & source & ~new.adjacent[target]:
            return False
        return self.has_member(new)

    def has_member(self, graph: Essential) -> bool:
        """Whether a DAG of the class keeps to what is known.

        The arrows of the class must be possible. Of its lines, some have one possible direction only. The lines of a
        part that hang together can be directed without a collider or a cycle exactly if nodes can be taken away one
        by one, each of them with neighbours that are all adjacent and with none that it has to point at: that one is
        the last of those left. Whoever can be the last now can be so later, so the order does not matter.
        """
        stated = 0
        for node, (parents, neighbours) in enumerate(zip(graph.parents, graph.neighbours, strict=True)):
            if parents & ~self.into[node] or neighbours & ~(self.into[node] | self.out[node]):
                return False
            if neighbours & ~self.into[node]:
                stated |= 1 << node
        while stated:
            part = graph.lined(stated & -stated, -1)
            if not self._can_be_directed(graph, part):
                return False
            stated &= ~part
        return True

    def _can_be_directed(self, graph: Essential, part: int) -> bool:
        left = part
        waiting = part
        while waiting:
            lowest = waiting & -waiting
            waiting ^= lowest
            node = lowest.bit_length() - 1
            around = graph.neighbours[node] & left
            if around & ~self.into[node] or not _is_clique(around, graph.adjacent):
                continue
            left ^= lowest
            waiting |= around
        return not left

    def restricted(self, graph: Essential) -> Mask:
        """The adjacency of the class with every direction that is known, and what follows from them."""
        return restricted(graph.adjacency(), self._known)


def _is_clique(nodes: int, adjacent: Sequence[int]) -> bool:
    return all(nodes & ~adjacent[node] == 1 << node for node in members(nodes))


def _bits(mask: Mask) -> int:
    return sum(1 << int(i) for i in np.flatnonzero(mask))
