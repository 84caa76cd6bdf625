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
from ordag.graph.checks import checked_adjacency, checked_nodes, checked_pairs, loop, read_only
from ordag.graph.formats import Edge
from ordag.graph.links import Links, Places
from ordag.markup import card, figure, sentence
from ordag.picture.svg import graph_svg
from ordag.words import counted, listed, shown


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """Named nodes and the edges between them, never changed after it is made.

    It is held by its edges (`links`) or by the matrix that it was made from (`adjacency`), and each is made of the other when it
    is first asked for: a graph of many nodes and few edges never needs a matrix. Two graphs are equal if they are of one kind
    and list the same nodes in the same order with the same edges; `reorder` brings one into the other's order.
    """

    nodes: tuple[str, ...]

    def __init__(self, nodes: Sequence[str], adjacency: ArrayLike) -> None:
        names = checked_nodes(nodes)
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "adjacency", read_only(checked_adjacency(adjacency, names)))
        self._check()

    def _check(self) -> None:
        """Refuse edges that this kind of graph cannot have."""

    @classmethod
    def known(cls, nodes: tuple[str, ...], links: Links) -> Self:
        """A graph of names and edges that need no check."""
        graph = object.__new__(cls)
        object.__setattr__(graph, "nodes", nodes)
        object.__setattr__(graph, "links", links)
        return graph

    @classmethod
    def _checked(cls, names: tuple[str, ...], pairs: Iterable[tuple[int, int]]) -> Self:
        """A graph of checked names and of (source, target) places, each given once."""
        links = Links.joining(len(names), pairs)
        loops = links.source[links.source == links.target]
        if len(loops):
            raise GraphError(loop(shown(names[loops[0]])))
        graph = cls.known(names, links)
        graph._check()
        return graph

    @cached_property
    def adjacency(self) -> Mask:
        """True at [i, j] for i → j; an undirected edge i — j has both entries. It cannot be written to."""
        return read_only(self.links.mask)

    @cached_property
    def links(self) -> Links:
        """The places of the ends of all edges, as arrays `source` and `target`; an undirected edge is there both ways."""
        return Links.of(self.adjacency)

    @classmethod
    def from_edges(cls, nodes: Sequence[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Self:
        """The graph with these (source, target) pairs, and these pairs without a direction."""
        names = checked_nodes(nodes)
        position = {name: index for index, name in enumerate(names)}
        joined: set[tuple[int, int]] = set()
        for pairs, both in ((edges, False), (undirected, True)):
            for source, target in checked_pairs(pairs):
                unknown = [name for name in (source, target) if name not in position]
                if unknown:
                    raise GraphError(f"the edge {arrow((source, target))} uses unknown nodes: {listed(unknown)}")
                i, j = position[source], position[target]
                if (i, j) in joined or (both and (j, i) in joined):
                    raise GraphError(f"the edge between {shown(source)} and {shown(target)} is listed twice")
                joined.add((i, j))
                if both:
                    joined.add((j, i))
        return cls._checked(names, joined)

    @classmethod
    def empty(cls, nodes: Sequence[str]) -> Self:
        """The graph without edges."""
        return cls._checked(checked_nodes(nodes), ())

    def reorder(self, nodes: Sequence[str]) -> Self:
        """The same graph with its nodes listed in another order."""
        names = checked_nodes(nodes)
        check_same_names(self.nodes, names)
        place = {name: index for index, name in enumerate(names)}
        return self.known(names, self.links.renamed(np.array([place[name] for name in self.nodes], dtype=np.intp)))

    @cached_property
    def directed(self) -> tuple[Edge, ...]:
        """The (source, target) pairs, by the source's and then the target's place among the nodes."""
        return self._pairs(self.arrows)

    @cached_property
    def undirected(self) -> tuple[Edge, ...]:
        """The pairs joined without a direction, each once, the earlier node first."""
        return self._pairs(self.lines.where(self.lines.source < self.lines.target))

    @property
    def edge_count(self) -> int:
        """How many pairs of nodes are joined."""
        return len(self.arrows) + len(self.lines) // 2

    @cached_property
    def skeleton(self) -> Mask:
        """The symmetric mask of the pairs that are joined, in whichever direction."""
        return read_only(self.adjacency | self.adjacency.T)

    def parents(self, name: str) -> tuple[str, ...]:
        """The nodes with an arrow into this one."""
        return self._names(self.arrows.turned.row(self.index(name)))

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes that this one has an arrow into."""
        return self._names(self.arrows.row(self.index(name)))

    def neighbours(self, name: str) -> tuple[str, ...]:
        """The nodes joined to this one without a direction."""
        return self._names(self.lines.row(self.index(name)))

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The nodes with a path of arrows into this one."""
        return self._names(np.flatnonzero(reachable(self.arrows.turned, self.index(name))))

    def descendants(self, name: str) -> tuple[str, ...]:
        """The nodes that a path of arrows leads to from this one."""
        return self._names(np.flatnonzero(reachable(self.arrows, self.index(name))))

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
    def arrows(self) -> Links:
        """The places of the ends of all edges that have a direction."""
        return self.links.where(~self.links.mutual)

    @cached_property
    def lines(self) -> Links:
        """The places of the ends of all edges without a direction, both ways."""
        return self.links.where(self.links.mutual)

    def _names(self, places: Places) -> tuple[str, ...]:
        return tuple(self.nodes[place] for place in places.tolist())

    def _pairs(self, links: Links) -> tuple[Edge, ...]:
        return tuple(zip(self._names(links.source), self._names(links.target), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph) or type(self) is not type(other):
            return NotImplemented
        return self.nodes == other.nodes and self.links.same(other.links)

    def __hash__(self) -> int:
        return hash((type(self), self.nodes, self.links.source.tobytes(), self.links.target.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: make the graph anew instead.
        return type(self).known, (self.nodes, self.links)

    def _repr_html_(self) -> str:
        counts = f"{counted(len(self.nodes), 'node')}, {counted(self.edge_count, 'edge')}"
        drawn = graph_svg(self.nodes, lambda: self.adjacency)
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
