"""`Graph`: named nodes and edges, what `Dag` and `Cpdag` share, with the conversions to and from other formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.arrays import Mask
from ordag.common.checks import short
from ordag.common.markup import card, figure, sentence
from ordag.common.words import counted, did_you_mean, listed, shown
from ordag.errors import GraphError, GraphFormatError
from ordag.graph.acyclic import reachable
from ordag.graph.checks import checked_adjacency, checked_nodes, checked_pairs, loop, read_only
from ordag.graph.formats import Edge, Weights, edge_list, read_text, write_text
from ordag.graph.formats.gml import to_networkx
from ordag.graph.links import Indices, Links
from ordag.picture.svg import graph_svg

if TYPE_CHECKING:
    import networkx
    import pandas

EDGES_IN_REPR = 4
NAMES_IN_CYCLE = 12


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """Named nodes and the edges between them; immutable.

    A graph stores its edges (`links`) or the matrix that it was made from (`adjacency`), and derives the other on first use:
    a graph of many nodes and few edges never needs a matrix. Two graphs are equal if they are of one kind and list the same
    nodes in the same order with the same edges; `reorder` changes the order.

    Wherever a method takes `weights`, these are a (p, p) array with the weight of i → j at [i, j], or a mapping from
    (source, target) to the weight, such as `LinearSEM.edges`; only arrows have weights.
    """

    nodes: tuple[str, ...]

    def __init__(self, nodes: Sequence[str], adjacency: ArrayLike) -> None:
        names = checked_nodes(nodes)
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "adjacency", read_only(checked_adjacency(adjacency, names)))
        self._check()

    def _check(self) -> None:
        """Raise for edges that this kind of graph cannot have."""

    @classmethod
    def known(cls, nodes: tuple[str, ...], links: Links) -> Self:
        """Make a graph of valid names and edges, without checks."""
        graph = object.__new__(cls)
        object.__setattr__(graph, "nodes", nodes)
        object.__setattr__(graph, "links", links)
        return graph

    @classmethod
    def _checked(cls, names: tuple[str, ...], pairs: Iterable[tuple[int, int]]) -> Self:
        """Make a graph of valid names and distinct (source, target) indices; check the edges."""
        links = Links.joining(len(names), pairs)
        loops = links.source[links.source == links.target]
        if len(loops):
            raise GraphError(loop(shown(names[loops[0]])))
        graph = cls.known(names, links)
        graph._check()
        return graph

    @classmethod
    def from_edges(cls, nodes: Sequence[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Self:
        """Make the graph with these (source, target) pairs, and these pairs without a direction."""
        names = checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        joined: set[tuple[int, int]] = set()
        for pairs, both_ways in ((edges, False), (undirected, True)):
            for source, target in checked_pairs(pairs):
                unknown = [name for name in (source, target) if name not in index]
                if unknown:
                    raise GraphError(f"the edge {arrow((source, target))} uses unknown nodes: {listed(unknown)}")
                i, j = index[source], index[target]
                entries = {(i, j), (j, i)} if both_ways else {(i, j)}
                if entries & joined:
                    raise GraphError(f"the edge between {shown(source)} and {shown(target)} is listed twice")
                joined |= entries
        return cls._checked(names, joined)

    @classmethod
    def empty(cls, nodes: Sequence[str]) -> Self:
        """Make the graph without edges."""
        return cls._checked(checked_nodes(nodes), ())

    @classmethod
    def parse(cls, text: str, format: str) -> Self:
        """Read the graph from text in a format (see `format_of`), without its weights."""
        edges = read_text(text, format)
        try:
            return cls.from_edges(edges.nodes, edges.directed, edges.undirected)
        except GraphError as error:
            raise GraphFormatError(f"the text is not a {cls.__name__}: {error}") from error

    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> Self:
        """Convert a networkx graph whose nodes are strings.

        An edge is undirected if the networkx graph is, if it goes both ways, or if its attribute `undirected` is true.
        """
        if not hasattr(graph, "is_multigraph"):
            raise GraphError(f"{short(graph)} is not a graph of networkx")
        if graph.is_multigraph():
            raise GraphError("a multigraph can join two nodes twice; convert it to a networkx.DiGraph first")
        names = checked_nodes(tuple(graph.nodes))
        index = {name: i for i, name in enumerate(names)}
        joined: set[tuple[int, int]] = set()
        for source, target, attributes in graph.edges(data=True):
            joined.add((index[source], index[target]))
            if not graph.is_directed() or attributes.get("undirected"):
                joined.add((index[target], index[source]))
        return cls._checked(names, joined)

    def reorder(self, nodes: Sequence[str]) -> Self:
        """Return the same graph with its nodes listed in another order."""
        names = checked_nodes(nodes)
        check_same_names(self.nodes, names)
        index = {name: i for i, name in enumerate(names)}
        return self.known(names, self.links.renamed(np.array([index[name] for name in self.nodes], dtype=np.intp)))

    @cached_property
    def adjacency(self) -> Mask:
        """True at [i, j] for i → j; an undirected edge i — j has both entries. Read-only."""
        return read_only(self.links.mask)

    @cached_property
    def links(self) -> Links:
        """The indices of the ends of all edges, as arrays `source` and `target`; an undirected edge appears both ways."""
        return Links.of(self.adjacency)

    @cached_property
    def arrows(self) -> Links:
        """The indices of the ends of all directed edges."""
        return self.links.where(~self.links.mutual)

    @cached_property
    def lines(self) -> Links:
        """The indices of the ends of all undirected edges, both ways."""
        return self.links.where(self.links.mutual)

    @cached_property
    def directed(self) -> tuple[Edge, ...]:
        """The (source, target) pairs, by the source's and then the target's index."""
        return self._pairs(self.arrows)

    @cached_property
    def undirected(self) -> tuple[Edge, ...]:
        """The pairs joined without a direction, each once, the earlier node first."""
        return self._pairs(self.lines.where(self.lines.source < self.lines.target))

    @property
    def edge_count(self) -> int:
        """The number of pairs of nodes that an edge joins."""
        return len(self.arrows) + len(self.lines) // 2

    @cached_property
    def skeleton(self) -> Mask:
        """The symmetric mask of adjacent pairs. Read-only."""
        return read_only(self.adjacency | self.adjacency.T)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the nodes with an arrow into this one."""
        return self._names(self.arrows.turned.row(self.index(name)))

    def children(self, name: str) -> tuple[str, ...]:
        """Return the nodes that this one has an arrow into."""
        return self._names(self.arrows.row(self.index(name)))

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the nodes joined to this one without a direction."""
        return self._names(self.lines.row(self.index(name)))

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Return the nodes with a directed path into this one."""
        return self._names(np.flatnonzero(reachable(self.arrows.turned, self.index(name))))

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return the nodes that a directed path leads to from this one."""
        return self._names(np.flatnonzero(reachable(self.arrows, self.index(name))))

    def index(self, name: str) -> int:
        """Return the index of a node."""
        try:
            return self._index[name]
        except (KeyError, TypeError):
            hint = did_you_mean(name, self.nodes) if isinstance(name, str) else ""
            has = listed(self.nodes) if self.nodes else "none"
            raise GraphError(f"The graph has no node {shown(str(name))}.{hint} It has {has}.") from None

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.nodes)}

    def _names(self, indices: Indices) -> tuple[str, ...]:
        return tuple(self.nodes[i] for i in indices.tolist())

    def _pairs(self, links: Links) -> tuple[Edge, ...]:
        return tuple(zip(self._names(links.source), self._names(links.target), strict=True))

    def _cycle(self, nodes: Sequence[int]) -> str:
        """Return the cycle through these nodes as `a → b → a`, its middle left out if it is long."""
        names = [shown(self.nodes[node]) for node in (*nodes, nodes[0])]
        if len(names) > NAMES_IN_CYCLE:
            names[6:-5] = ["…"]
        return " → ".join(names)

    def to_networkx(self, weights: Weights | None = None) -> networkx.DiGraph:
        """Convert to a DiGraph; an undirected edge goes both ways, with the attribute `undirected`."""
        return to_networkx(edge_list(self, weights), both_ways=True)

    def to_dot(self, weights: Weights | None = None) -> str:
        """Write Graphviz DOT."""
        return write_text(self, "dot", weights)

    def to_graphml(self, weights: Weights | None = None) -> str:
        """Write GraphML."""
        return write_text(self, "graphml", weights)

    def to_gml(self, weights: Weights | None = None) -> str:
        """Write GML."""
        return write_text(self, "gml", weights)

    def to_csv(self, weights: Weights | None = None) -> str:
        """Write the edge table `source,target`; a node without edges is a row without a target."""
        return write_text(self, "csv", weights)

    def to_adjacency_csv(self, weights: Weights | None = None) -> str:
        """Write the adjacency table, a row for each source."""
        return write_text(self, "adjacency.csv", weights)

    def to_json(self, weights: Weights | None = None) -> str:
        """Write a JSON object with `nodes`, `directed` and `undirected`."""
        return write_text(self, "json", weights)

    def to_lavaan(self, weights: Weights | None = None) -> str:
        """Write lavaan's model syntax, for graphs without undirected edges; weights become starting values."""
        return write_text(self, "lavaan", weights)

    def to_dagitty(self, weights: Weights | None = None) -> str:
        """Write DAGitty's model code."""
        return write_text(self, "dagitty", weights)

    def edge_table(self, weights: Weights | None = None) -> pandas.DataFrame:
        """Make a data frame with a row for each edge: `source`, `target`, and `weight` if weights are given."""
        import pandas

        edges = edge_list(self, weights)
        pairs = (*edges.directed, *edges.undirected)
        columns: dict[str, Any] = {"source": [source for source, _ in pairs], "target": [target for _, target in pairs]}
        if weights is not None:
            columns["weight"] = [edges.weights.get(edge, np.nan) for edge in edges.directed]
            columns["weight"] += [np.nan] * len(edges.undirected)
        return pandas.DataFrame(columns)

    def adjacency_table(self) -> pandas.DataFrame:
        """Make a data frame of 0 and 1 with the names on both sides; row i, column j is 1 for i → j."""
        import pandas

        return pandas.DataFrame(self.adjacency.astype(np.int64), index=self.nodes, columns=self.nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph) or type(self) is not type(other):
            return NotImplemented
        return self.nodes == other.nodes and self.links.same(other.links)

    def __hash__(self) -> int:
        return hash((type(self), self.nodes, self.links.source.tobytes(), self.links.target.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array forgets that it is read-only: make the graph anew instead.
        return type(self).known, (self.nodes, self.links)

    @property
    def _counts(self) -> str:
        return f"{counted(len(self.nodes), 'node')}, {counted(self.edge_count, 'edge')}"

    def _repr_html_(self) -> str:
        drawn = graph_svg(self.nodes, lambda: self.adjacency)
        return card(f"{type(self).__name__}: {self._counts}", figure(drawn) or sentence(repr(self), "note"))

    def __repr__(self) -> str:
        edges = [arrow(edge) for edge in self.directed[:EDGES_IN_REPR]]
        edges += [line(edge) for edge in self.undirected[: EDGES_IN_REPR - len(edges)]]
        rest = self.edge_count - len(edges)
        tail = f", and {rest} more" if rest else ""
        return f"{type(self).__name__}({self._counts}{': ' if edges else ''}{', '.join(edges)}{tail})"


def check_same_names(first: Sequence[str], second: Sequence[str]) -> None:
    """Raise unless both list the same names, in any order; the error lists those missing on either side."""
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
    """Show the edge as `a → b`."""
    return f"{shown(edge[0])} → {shown(edge[1])}"


def line(edge: Edge) -> str:
    """Show the edge as `a — b`."""
    return f"{shown(edge[0])} — {shown(edge[1])}"
