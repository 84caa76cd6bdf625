"""`Dag`: a directed acyclic graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.acyclic import find_cycle, topological_order
from ordag.graph.checks import checked_pairs, read_only
from ordag.graph.formats import Edge
from ordag.graph.graph import Graph, line
from ordag.graph.links import Links


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dag(Graph):
    """A directed acyclic graph: `Dag(["a", "b"], [[0, 1], [0, 0]])` is a → b.

    Nonzero entries of `adjacency` are edges, from the row to the column, so a weight matrix B can be given as it is.
    """

    def _check(self) -> None:
        cycle = find_cycle(self.links)
        if cycle is not None:
            raise GraphError(f"the graph has a cycle: {self._cycle(cycle)}")

    @classmethod
    def known_acyclic(cls, nodes: tuple[str, ...], adjacency: Mask) -> Self:
        """Make a graph of valid names and an acyclic mask, without checks. The mask is not copied."""
        dag = object.__new__(cls)
        object.__setattr__(dag, "nodes", nodes)
        object.__setattr__(dag, "adjacency", read_only(adjacency))
        return dag

    @classmethod
    def known_acyclic_edges(cls, nodes: tuple[str, ...], causes: ArrayLike, effects: ArrayLike) -> Self:
        """Make a graph from the indices of the causes and effects, in any order, without checks or a p × p array."""
        ends = (np.array(indices, dtype=np.intp) for indices in (causes, effects))
        return cls.known(nodes, Links.between(len(nodes), *ends))

    @property
    def arrows(self) -> Links:
        """The indices of the ends of all edges."""
        return self.links

    @cached_property
    def lines(self) -> Links:
        """Empty: every edge has a direction."""
        return self.links.where(np.zeros(len(self.links), dtype=bool))

    @classmethod
    def from_edges(cls, nodes: Sequence[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Self:
        """Make the graph with these (source, target) pairs; undirected ones are refused."""
        for edge in checked_pairs(undirected):
            raise GraphError(f"{line(edge)} has no direction, and every edge of a Dag has one; make it a Cpdag")
        return super().from_edges(nodes, edges)

    def topological_order(self) -> tuple[str, ...]:
        """Return the nodes, causes before effects; of those that could come next, the one listed first."""
        return tuple(self.nodes[node] for node in topological_order(self.links))
