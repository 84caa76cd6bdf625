"""`Dag`, and d-separation in it."""

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
from ordag.graph.formats import Edge
from ordag.graph.graph import Graph, line
from ordag.graph.links import Links
from ordag.words import listed


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
        """The nodes, causes before effects; of those that could come next, the one listed first."""
        return tuple(self.nodes[node] for node in topological_order(self.links))


def d_separated(dag: Dag, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
    """Return whether `given` blocks every path between `a` and `b`; each is a name or a set of names.

    A path is blocked at a node of `given` that is no collider on it, and at a collider that is neither in
    `given` nor an ancestor of it. A walk over the nodes that distinguishes arrival along an arrow from arrival
    against one finds all that open paths reach (Shachter 1998).
    """
    start, end, block = (_mask(dag, names) for names in (a, b, given))
    for first, second in ((start, end), (start, block), (end, block)):
        if (first & second).any():
            both = [dag.nodes[node] for node in np.flatnonzero(first & second)]
            raise GraphError(f"the sets a, b and given may not share nodes; shared: {listed(both)}")
    return not (_open_from(dag.links, start, block) & end).any()


def _open_from(links: Links, start: Mask, block: Mask) -> Mask:
    # `up`: reached against an arrow, from a child (or the start); `down`: reached along one, from a parent.
    up, down = start.copy(), np.zeros_like(start)
    new_up, new_down = up, down
    while new_up.any() or new_down.any():
        # A walk that comes down to a node of `block` turns back up, and so passes the colliders above it.
        to_parents = (new_up & ~block) | (new_down & block)
        to_children = (new_up | new_down) & ~block
        new_up, new_down = np.zeros_like(up), np.zeros_like(down)
        new_up[links.source[to_parents[links.target]]] = True
        new_down[links.target[to_children[links.source]]] = True
        new_up &= ~up
        new_down &= ~down
        up = up | new_up
        down = down | new_down
    return up | down


def _mask(dag: Dag, names: str | Iterable[str]) -> Mask:
    chosen = np.zeros(len(dag.nodes), dtype=bool)
    for name in (names,) if isinstance(names, str) else names:
        chosen[dag.index(name)] = True
    return chosen
