"""Direct an equivalence class or a skeleton along an order of its nodes (Park & Kim, Discussion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordag.common.arrays import Mask
from ordag.common.checks import check_choice
from ordag.common.words import joined, listed, shown
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.graph.acyclic import find_cycle
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.graph import Graph
from ordag.graph.partly_directed import meek
from ordag.knowledge.masks import Constraints, class_fault
from ordag.order import find_order

WAYS = ("class", "skeleton")


@dataclass(frozen=True, eq=False)
class Oriented:
    """The directed graph, the graph before, and the arrows of the class that the order contradicts."""

    graph: Dag
    before: Graph
    conflicts: tuple[tuple[str, str], ...]

    def details(self) -> dict[str, Any]:
        """Return the class and its conflicts with the order as plain values, for JSON."""
        return {
            "class": {
                "directed": [list(edge) for edge in self.before.directed],
                "undirected": [list(edge) for edge in self.before.undirected],
            },
            "order_conflicts": [list(edge) for edge in self.conflicts],
        }


def directed(
    graph: Cpdag, table: Table, way: str | None, known: Constraints | None, warnings: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the fields of `Found` for a class directed along the forward order of cvs; for the class itself if `way` is None.

    The order satisfies knowledge, and along the skeleton also the directions that knowledge leaves to its edges.
    """
    if way is None:
        return {"graph": graph, "warnings": warnings}
    before = None if known is None else known.before
    if known is not None and way == "skeleton":
        before = order_for_skeleton(graph, known)
    ordering = find_order(table, before=before)
    oriented = orient_by_order(graph, [graph.nodes[j] for j in ordering.order], way, known=known)
    if oriented.conflicts:
        arrows = joined([f"{a} → {b}" for a, b in oriented.conflicts])
        kept = "were kept" if way == "class" else "were reversed"
        warnings = (*warnings, f"The order contradicts arrows of the equivalence class: {arrows}. They {kept}.")
    return {"graph": oriented.graph, "ordering": ordering, "oriented": oriented, "warnings": warnings}


def orient_by_order(
    graph: Graph, order: Sequence[str], way: str = "class", *, known: Constraints | None = None
) -> Oriented:
    """Direct the edges of a graph along an order of its nodes, causes first.

    "skeleton" directs every edge along the order, whatever arrows there were. "class" stays in the equivalence class:
    it keeps the arrows and directs the undirected edges along the order one by one, from the earliest node on, each
    followed by Meek's rules. Either way the arrows that contradict the order are reported.
    Some edges of a class may be directed because of knowledge (`known`).
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
    """Return the partial order of knowledge together with the directions that it leaves to the edges of the graph.

    The two may contradict each other. Then the directions of the edges count; if these alone make a cycle, there is no DAG.
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
    """Direct one edge at a time and close under Meek's rules, which reaches every member of the class."""
    adjacency = meek(adjacency)
    while True:
        free = np.argwhere(adjacency & adjacency.T)
        if not len(free):
            return adjacency
        i, j = min(free.tolist(), key=lambda edge: (place[edge[0]], place[edge[1]]))
        adjacency[j, i] = False
        adjacency = meek(adjacency)
