"""A graph in, other people's formats out, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ordag.checks import short
from ordag.errors import GraphError, GraphFormatError
from ordag.graph.checks import checked_nodes
from ordag.graph.formats import Weights, edge_list, read_text, write_text
from ordag.graph.formats.edge_list import to_networkx
from ordag.graph.graph import Graph

if TYPE_CHECKING:
    import networkx
    import pandas


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ConvertibleGraph(Graph):
    """A graph that can be written in, and read from, every format of `ordag.graph.formats`.

    Everywhere `weights` is a (p, p) array with the weight of i → j at [i, j], or a mapping from (source, target) to the weight,
    such as `LinearSEM.edges`; only arrows have weights.
    """

    @classmethod
    def parse(cls, text: str, format: str) -> Self:
        """The graph that a text in this format (see `format_of`) describes, without its weights."""
        edges = read_text(text, format)
        try:
            return cls.from_edges(edges.nodes, edges.directed, edges.undirected)
        except GraphError as error:
            raise GraphFormatError(f"the text is not a {cls.__name__}: {error}") from error

    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> Self:
        """The graph with the same nodes (which have to be strings) and edges.

        An edge is undirected if the networkx graph is, if it goes both ways, or if its attribute `undirected`
        is true.
        """
        if not hasattr(graph, "is_multigraph"):
            raise GraphError(f"{short(graph)} is not a graph of networkx")
        if graph.is_multigraph():
            raise GraphError("a multigraph can join two nodes twice; convert it to a networkx.DiGraph first")
        names = checked_nodes(tuple(graph.nodes))
        place = {name: index for index, name in enumerate(names)}
        joined: set[tuple[int, int]] = set()
        for source, target, attributes in graph.edges(data=True):
            joined.add((place[source], place[target]))
            if not graph.is_directed() or attributes.get("undirected"):
                joined.add((place[target], place[source]))
        return cls._checked(names, joined)

    def to_networkx(self, weights: Weights | None = None) -> networkx.DiGraph:
        """A DiGraph; an undirected edge goes both ways, with the attribute `undirected`."""
        return to_networkx(edge_list(self, weights), both_ways=True)

    def to_dot(self, weights: Weights | None = None) -> str:
        """Graphviz DOT."""
        return write_text(self, "dot", weights)

    def to_graphml(self, weights: Weights | None = None) -> str:
        """GraphML."""
        return write_text(self, "graphml", weights)

    def to_gml(self, weights: Weights | None = None) -> str:
        """GML."""
        return write_text(self, "gml", weights)

    def to_csv(self, weights: Weights | None = None) -> str:
        """The edge table `source,target`; a node without edges is a row without a target."""
        return write_text(self, "csv", weights)

    def to_adjacency_csv(self, weights: Weights | None = None) -> str:
        """The adjacency table, a row for each source."""
        return write_text(self, "adjacency.csv", weights)

    def to_json(self, weights: Weights | None = None) -> str:
        """A JSON object with `nodes`, `directed` and `undirected`."""
        return write_text(self, "json", weights)

    def to_lavaan(self, weights: Weights | None = None) -> str:
        """lavaan's model syntax, for graphs without undirected edges; weights become starting values."""
        return write_text(self, "lavaan", weights)

    def to_dagitty(self, weights: Weights | None = None) -> str:
        """DAGitty's model code."""
        return write_text(self, "dagitty", weights)

    def edge_table(self, weights: Weights | None = None) -> pandas.DataFrame:
        """A data frame with a row for each edge: `source`, `target`, and `weight` if weights are given."""
        import pandas

        edges = edge_list(self, weights)
        columns: dict[str, Any] = {
            "source": [source for source, _ in (*edges.directed, *edges.undirected)],
            "target": [target for _, target in (*edges.directed, *edges.undirected)],
        }
        if weights is not None:
            columns["weight"] = [edges.weights.get(edge, np.nan) for edge in edges.directed]
            columns["weight"] += [np.nan] * len(edges.undirected)
        return pandas.DataFrame(columns)

    def adjacency_table(self) -> pandas.DataFrame:
        """A data frame of 0 and 1 with the names on both sides; row i, column j is 1 for i → j."""
        import pandas

        return pandas.DataFrame(self.adjacency.astype(np.int64), index=self.nodes, columns=self.nodes)
