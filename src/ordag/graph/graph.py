"""Names and adjacency in, the structure that Dag and Cpdag share out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.acyclic import reachable
from ordag.graph.checks import checked_adjacency, checked_nodes, checked_pairs, read_only
from ordag.graph.formats import Edge
from ordag.markup import card, figure, sentence
from ordag.picture.svg import graph_svg
from ordag.words import counted, listed, shown


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """Named nodes and the edges between them, never changed after it is made.

    `adjacency[i, j]` is True for i → j; an undirected edge i — j has both entries. It is a read-only copy of
    what was given. Two graphs are equal if they are of one kind and list the same nodes in the same order
    with the same edges; `reorder` brings one into the other's order.
    """

    nodes: tuple[str, ...]
    adjacency: Mask

    def __init__(self, nodes: Sequence[str], adjacency: ArrayLike) -> None:
        names = checked_nodes(nodes)
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "adjacency", read_only(checked_adjacency(adjacency, names)))

    @classmethod
    def from_edges(cls, nodes: Sequence[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Self:
        """The graph with these (source, target) pairs, and these pairs without a direction."""
        names = checked_nodes(nodes)
        position = {name: index for index, name in enumerate(names)}
        adjacency = np.zeros((len(names), len(names)), dtype=bool)
        for pairs, both in ((edges, False), (undirected, True)):
            for source, target in checked_pairs(pairs):
                unknown = [name for name in (source, target) if name not in position]
                if unknown:
                    raise GraphError(f"the edge {arrow((source, target))} uses unknown nodes: {listed(unknown)}")
                i, j = position[source], position[target]
                if adjacency[i, j] or (both and adjacency[j, i]):
                    raise GraphError(f"the edge between {shown(source)} and {shown(target)} is listed twice")
                adjacency[i, j] = True
                adjacency[j, i] |= both
        return cls(names, adjacency)

    @classmethod
    def empty(cls, nodes: Sequence[str]) -> Self:
        """The graph without edges."""
        names = checked_nodes(nodes)
        return cls(names, np.zeros((len(names), len(names)), dtype=bool))

    def reorder(self, nodes: Sequence[str]) -> Self:
        """The same graph with its nodes listed in another order."""
        names = checked_nodes(nodes)
        check_same_names(self.nodes, names)
        index = [self.index(name) for name in names]
        return type(self)(names, self.adjacency[np.ix_(index, index)])

    @cached_property
    def directed(self) -> tuple[Edge, ...]:
        """The (source, target) pairs, by the source's and then the target's place among the nodes."""
        return self._pairs(self._arrows)

    @cached_property
    def undirected(self) -> tuple[Edge, ...]:
        """The pairs joined without a direction, each once, the earlier node first."""
        return self._pairs(np.triu(self._lines))

    @property
    def edge_count(self) -> int:
        """How many pairs of nodes are joined."""
        return int(np.triu(self.skeleton).sum())

    @cached_property
    def skeleton(self) -> Mask:
        """The symmetric mask of the pairs that are joined, in whichever direction."""
        return read_only(self.adjacency | self.adjacency.T)

    def parents(self, name: str) -> tuple[str, ...]:
        """The nodes with an arrow into this one."""
        return self._names(self._arrows[:, self.index(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes that this one has an arrow into."""
        return self._names(self._arrows[self.index(name)])

    def neighbours(self, name: str) -> tuple[str, ...]:
        """The nodes joined to this one without a direction."""
        return self._names(self._lines[self.index(name)])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The nodes with a path of arrows into this one."""
        return self._names(reachable(self._arrows.T, self.index(name)))

    def descendants(self, name: str) -> tuple[str, ...]:
        """The nodes that a path of arrows leads to from this one."""
        return self._names(reachable(self._arrows, self.index(name)))

    def index(self, name: str) -> int:
        """The place of a node among the nodes."""
        try:
            return self._places[name]
        except (KeyError, TypeError):
            raise GraphError(f"no node is named {shown(str(name))}; there are {listed(self.nodes)}") from None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def _arrows(self) -> Mask:
        return read_only(self.adjacency & ~self.adjacency.T)

    @cached_property
    def _lines(self) -> Mask:
        return read_only(self.adjacency & self.adjacency.T)

    def _names(self, chosen: Mask) -> tuple[str, ...]:
        return tuple(self.nodes[place] for place in np.flatnonzero(chosen).tolist())

    def _pairs(self, chosen: Mask) -> tuple[Edge, ...]:
        return tuple((self.nodes[i], self.nodes[j]) for i, j in np.argwhere(chosen).tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph) or type(self) is not type(other):
            return NotImplemented
        return self.nodes == other.nodes and bool(np.array_equal(self.adjacency, other.adjacency))

    def __hash__(self) -> int:
        return hash((type(self), self.nodes, self.adjacency.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: make the graph anew instead.
        return type(self), (self.nodes, self.adjacency)

    def _repr_html_(self) -> str:
        counts = f"{counted(len(self.nodes), 'node')}, {counted(self.edge_count, 'edge')}"
        drawn = graph_svg(self.nodes, self.adjacency)
        return card(f"{type(self).__name__}: {counts}", figure(drawn) or sentence(repr(self), "note"))

    def __repr__(self) -> str:
        edges = [arrow(edge) for edge in self.directed[:4]]
        edges += [line(edge) for edge in self.undirected[: 4 - len(edges)]]
        rest = self.edge_count - len(edges)
        tail = f", and {rest} more" if rest else ""
        counts = f"{counted(len(self.nodes), 'node')}, {counted(self.edge_count, 'edge')}"
        return f"{type(self).__name__}({counts}{': ' if edges else ''}{', '.join(edges)}{tail})"


def check_same_names(first: Sequence[str], second: Sequence[str]) -> None:
    """Raise unless both list the same names, in whatever order; say which are missing where."""
    firsts, seconds = set(first), set(second)
    only_first = [name for name in first if name not in seconds]
    only_second = [name for name in second if name not in firsts]
    if only_first or only_second:
        parts = [
            f"only in the {which}: {listed(names)}"
            for which, names in (("first", only_first), ("second", only_second))
            if names
        ]
        raise GraphError(f"the two graphs have different nodes; {'; '.join(parts)}")


def arrow(edge: Edge) -> str:
    """The edge as `a → b`."""
    return f"{shown(edge[0])} → {shown(edge[1])}"


def line(edge: Edge) -> str:
    """The edge as `a — b`."""
    return f"{shown(edge[0])} — {shown(edge[1])}"
