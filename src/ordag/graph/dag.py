"""Names and an acyclic adjacency in, a Dag out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.acyclic import find_cycle, topological_order
from ordag.graph.checks import checked_pairs, read_only
from ordag.graph.conversions import ConvertibleGraph
from ordag.graph.formats import Edge
from ordag.graph.graph import line
from ordag.graph.links import Links
from ordag.words import shown


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dag(ConvertibleGraph):
    """A directed acyclic graph: `Dag(["a", "b"], [[0, 1], [0, 0]])` is a → b.

    Entries of `adjacency` other than zero are edges, the row the source and the column the target, so a
    weight matrix B serves as it is.
    """

    def _check(self) -> None:
        cycle = find_cycle(self.links)
        if cycle is not None:
            names = [shown(self.nodes[node]) for node in (*cycle, cycle[0])]
            if len(names) > 12:
                names[6:-5] = ["…"]
            raise GraphError(f"the graph has a cycle: {' → '.join(names)}")

    @classmethod
    def known_acyclic(cls, nodes: tuple[str, ...], adjacency: Mask) -> Self:
        """A graph from a learner's own order: names and arrows that need no check. The mask is taken over."""
        dag = object.__new__(cls)
        object.__setattr__(dag, "nodes", nodes)
        object.__setattr__(dag, "adjacency", read_only(adjacency))
        return dag

    @classmethod
    def known_acyclic_edges(cls, nodes: tuple[str, ...], causes: ArrayLike, effects: ArrayLike) -> Self:
        """The same from the places of the causes and of the effects, in any order; nothing p × p is made."""
        ends = (np.array(places, dtype=np.intp) for places in (causes, effects))
        return cls.known(nodes, Links.between(len(nodes), *ends))

    @property
    def arrows(self) -> Links:
        """The places of the ends of all edges."""
        return self.links

    @cached_property
    def lines(self) -> Links:
        """None: every edge has a direction."""
        return self.links.where(np.zeros(len(self.links), dtype=bool))

    @classmethod
    def from_edges(cls, nodes: Sequence[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Self:
        """The graph with these (source, target) pairs; undirected ones are refused."""
        for edge in checked_pairs(undirected):
            raise GraphError(f"{line(edge)} has no direction, and every edge of a Dag has one; make it a Cpdag")
        return super().from_edges(nodes, edges)

    def topological_order(self) -> tuple[str, ...]:
        """The nodes, causes before effects; of those that could come next, the one listed first."""
        return tuple(self.nodes[node] for node in topological_order(self.links))
