"""What the three operators have in common: the shape of a step, and of a module that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ordag.learners.ges.essential import Essential
from ordag.learners.ges.scores import Scores


class Move(NamedTuple):
    """A step from one class to another: the arrow `source` → `target` appears, or goes.

    `clique` is the set of those neighbours of the target that point at it in the DAG which is changed.
    """

    gain: float
    source: int
    target: int
    clique: int


class Operator(Protocol):
    """A kind of move, as a module of four functions."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        """The moves with this target that gain more than `least`, valid as far as the target's surroundings tell."""

    def allowed(self, graph: Essential, move: Move) -> bool:
        """Whether the rest of the graph lets the candidate pass, too."""

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """The parents of every node in a DAG of the class that the move leads to."""

    def touched(self, graph: Essential, changed: int, pair: int) -> int:
        """The targets whose candidates may be others now that parents or neighbours of the nodes `changed` are.

        `pair` are the two nodes between which an edge came, went or turned; they count in any case.
        """


def beside(graph: Essential, nodes: int) -> int:
    """The nodes with one of `nodes` among their neighbours."""
    return sum(1 << node for node, neighbours in enumerate(graph.neighbours) if neighbours & nodes)
