"""A graph with or without weights in, what a text format holds of it out, and that as a graph of networkx and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ordag.checks import as_number, as_numbers, short
from ordag.errors import GraphError, GraphFormatError
from ordag.words import counted, shown

if TYPE_CHECKING:
    import networkx

Edge: TypeAlias = tuple[str, str]
Weights: TypeAlias = ArrayLike | Mapping[Edge, float]
"""A (p, p) array with the weight of i → j at [i, j], or a mapping from (source, target) to the weight."""


@dataclass(frozen=True)
class EdgeList:
    """Nodes in order, (source, target) pairs, undirected pairs, and the weights that arrows have."""

    nodes: tuple[str, ...]
    directed: tuple[Edge, ...] = ()
    undirected: tuple[Edge, ...] = ()
    weights: Mapping[Edge, float] = field(default_factory=dict)


class HasEdges(Protocol):
    """What a graph has to offer to be written: the names and the two lists of pairs."""

    @property
    def nodes(self) -> tuple[str, ...]: ...
    @property
    def directed(self) -> tuple[Edge, ...]: ...
    @property
    def undirected(self) -> tuple[Edge, ...]: ...


def edge_list(graph: HasEdges, weights: Weights | None = None) -> EdgeList:
    """The graph's lists, with the weight of each arrow; undirected edges have none."""
    plain = EdgeList(graph.nodes, graph.directed, graph.undirected)
    if weights is None:
        return plain
    p = len(graph.nodes)
    if isinstance(weights, Mapping):
        arrows = set(graph.directed)
        strangers = [edge for edge in weights if edge not in arrows]
        if strangers:
            raise GraphError(f"weights has {short(strangers[0])}, which is no arrow (source, target) of this graph")
        values = {edge: as_number(weights[edge]) for edge in graph.directed if edge in weights}
    else:
        matrix = as_numbers(weights, "weights", GraphError)
        if matrix.shape != (p, p):
            raise GraphError(f"weights has shape {matrix.shape}; a graph of {counted(p, 'node')} needs ({p}, {p})")
        place = {name: index for index, name in enumerate(graph.nodes)}
        values = {edge: float(matrix[place[edge[0]], place[edge[1]]]) for edge in graph.directed}
    for edge, value in values.items():
        if not np.isfinite(value):
            raise GraphError(f"the weight of {shown(edge[0])} → {shown(edge[1])} is {value}; weights have to be finite")
    return EdgeList(plain.nodes, plain.directed, plain.undirected, values)


def to_networkx(edges: EdgeList, *, both_ways: bool = False) -> networkx.DiGraph:
    """A DiGraph whose undirected edges have the attribute `undirected`, and stand once or both ways."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(edges.nodes)
    for edge in edges.directed:
        graph.add_edge(*edge, **({"weight": edges.weights[edge]} if edge in edges.weights else {}))
    for edge in edges.undirected:
        graph.add_edges_from([edge, edge[::-1]] if both_ways else [edge], undirected=True)
    return graph


def from_networkx(graph: networkx.Graph, names: Mapping[Any, str], language: str) -> EdgeList:
    """What a reader of networkx found in a text, given the names of its nodes."""
    if graph.is_multigraph():
        raise GraphFormatError(f"{language}: two edges join the same pair of nodes in the same direction")
    directed: list[Edge] = []
    undirected: list[Edge] = []
    weights: dict[Edge, float] = {}
    for source, target, attributes in graph.edges(data=True):
        edge = (names[source], names[target])
        if not graph.is_directed() or attributes.get("undirected") in (True, 1):
            undirected.append(edge)
            continue
        directed.append(edge)
        if isinstance(attributes.get("weight"), int | float):
            weights[edge] = as_number(attributes["weight"])
    return EdgeList(tuple(names.values()), tuple(directed), tuple(undirected), weights)
