"""Knowledge in the search: which classes have a DAG that keeps to it, and the part of a class that does."""

from __future__ import annotations

from ordag.arrays import Mask
from ordag.bits import members, packed_columns
from ordag.knowledge.masks import Constraints, restricted
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.operators import Move, Operator


class Constrained:
    """What is known, as sets of bits for every node: `into` has its possible parents, `out` its possible children,
    `joined` those to which it must be joined."""

    def __init__(self, known: Constraints) -> None:
        self._known = known
        self.into = packed_columns(known.allowed)
        self.out = packed_columns(known.allowed.T)
        self.joined = packed_columns(known.required | known.required.T)

    def start(self) -> Essential:
        """The class of the required arrows alone."""
        return essential(packed_columns(self._known.required))

    def allows(self, graph: Essential, move: Move, operator: Operator) -> bool:
        """Whether the class that the move leads to joins what must be joined and has a DAG that keeps to the rest."""
        source, target = 1 << move.source, move.target
        if not (self.into[target] | self.out[target]) & source:
            return False
        new = essential(operator.applied(graph, move), graph.order)
        if self.joined[target] & source & ~new.adjacent[target]:
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
            part = graph.along_lines(stated & -stated, -1)
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
            if around & ~self.into[node] or any(around & ~graph.adjacent[k] != 1 << k for k in members(around)):
                continue
            left ^= lowest
            waiting |= around
        return not left

    def restricted(self, graph: Essential) -> Mask:
        """The adjacency of the class with every direction that is known, and what follows from them."""
        return restricted(graph.adjacency(), self._known)
