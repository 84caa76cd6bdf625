"""An equivalence class or a skeleton and an order in, a Dag out (Park & Kim, Discussion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordag.arrays import Mask
from ordag.checks import check_choice
from ordag.errors import SettingError
from ordag.graph.acyclic import find_cycle
from ordag.graph.base import Graph
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.meek import meek
from ordag.knowledge.masks import Constraints, class_fault
from ordag.words import listed, shown

WAYS = ("class", "skeleton")


@dataclass(frozen=True, eq=False)
class Oriented:
    """The graph, what it was before, and the arrows on which the class and the order disagree, as the class has them."""

    graph: Dag
    before: Graph
    conflicts: tuple[tuple[str, str], ...]

    def details(self) -> dict[str, Any]:
        """What there is to tell, in plain values."""
        return {
            "class": {
                "directed": [list(edge) for edge in self.before.directed],
                "undirected": [list(edge) for edge in self.before.undirected],
            },
            "order_conflicts": [list(edge) for edge in self.conflicts],
        }


def orient_by_order(
    graph: Graph, order: Sequence[str], way: str = "class", *, known: Constraints | None = None
) -> Oriented:
    """Direct the edges of a graph along an order of its nodes, causes first.

    "skeleton" directs every edge along the order, whatever arrows there were. "class" stays in the equivalence class:
    its arrows are kept, the undirected edges are directed along the order one by one, from the earliest node on, and
    after each of them what follows from Meek's rules. Either way the arrows that go against the order are reported.
    Of a class, some edges may be directed because of what is `known`.
    """
    check_choice("way", way, WAYS)
    place = np.empty(len(graph.nodes), dtype=np.intp)
    place[[graph.index(name) for name in order]] = np.arange(len(graph.nodes))
    forwards = place[:, None] < place[None, :]
    adjacency = np.array(graph.adjacency)
    compelled = adjacency & ~adjacency.T
    if way == "skeleton":
        result = graph.skeleton & forwards
        against = compelled & ~forwards
    else:
        if isinstance(graph, Cpdag):
            fault = class_fault(graph, known)
            if fault is not None:
                raise SettingError(
                    f"This graph is the class of no DAG ({fault}), so it cannot be directed within its class: "
                    "use orient_by_order='skeleton' (--orient-by-order skeleton)."
                )
        result = _within_class(adjacency, place)
        against = result & ~forwards
    names = graph.nodes
    conflicts = tuple((names[i], names[j]) for i, j in np.argwhere(against).tolist())
    return Oriented(Dag(names, result), graph, conflicts)


def order_for_skeleton(graph: Graph, known: Constraints) -> Mask:
    """A partial order with what is known and, beside it, the directions that this leaves to the edges of the graph.

    Together the two may go in a circle. Then the edges come first, and if they do already, there is no DAG.
    """
    stated = graph.skeleton & known.fixed
    cycle = find_cycle(stated)
    if cycle is not None:
        names = [graph.nodes[node] for node in (*cycle, cycle[0])]
        raise SettingError(
            f"Knowledge directs the edges between {listed(names[:-1])} in a circle: {' → '.join(map(shown, names))}. No DAG has this "
            "skeleton; use method='cvs', 'ges' or 'gds', which keep to knowledge from the start."
        )
    together = stated | known.before
    return stated if find_cycle(together) is not None else together


def _within_class(adjacency: Mask, place: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Mask:
    """Every member of the class can be had by directing edges one at a time and closing under Meek's rules."""
    adjacency = meek(adjacency)
    while True:
        free = np.argwhere(adjacency & adjacency.T)
        if not len(free):
            return adjacency
        i, j = min(free.tolist(), key=lambda edge: (place[edge[0]], place[edge[1]]))
        adjacency[j, i] = False
        adjacency = meek(adjacency)
