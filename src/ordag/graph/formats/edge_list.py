"""`EdgeList`: the part of a graph that a text format holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.checks import as_number, as_numbers, short
from ordag.common.words import counted, shown
from ordag.errors import GraphError

Edge: TypeAlias = tuple[str, str]
Weights: TypeAlias = ArrayLike | Mapping[Edge, float]
"""A (p, p) array with the weight of i → j at [i, j], or a mapping from (source, target) to the weight."""
Attributes: TypeAlias = Mapping[Edge, Mapping[str, float | str]]
"""What else is known of arrows, by name; formats without attributes leave it out, and none reads it."""


@dataclass(frozen=True)
class EdgeList:
    """Nodes in order, (source, target) pairs, undirected pairs, weights and other attributes of arrows.

    categories, unmeasured: nodes that are categories, or marked as not measured.
    """

    nodes: tuple[str, ...]
    directed: tuple[Edge, ...] = ()
    undirected: tuple[Edge, ...] = ()
    weights: Mapping[Edge, float] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()


class HasEdges(Protocol):
    """A graph that can be written: names and the two lists of pairs."""

    @property
    def nodes(self) -> tuple[str, ...]: ...
    @property
    def directed(self) -> tuple[Edge, ...]: ...
    @property
    def undirected(self) -> tuple[Edge, ...]: ...


def edge_list(graph: HasEdges, weights: Weights | None = None, attributes: Attributes | None = None) -> EdgeList:
    """List the edges of a graph, with the weights and other attributes of its arrows."""
    if weights is None:
        return EdgeList(graph.nodes, graph.directed, graph.undirected, attributes=attributes or {})
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
        index = {name: i for i, name in enumerate(graph.nodes)}
        values = {(a, b): float(matrix[index[a], index[b]]) for a, b in graph.directed}
    for edge, value in values.items():
        if not np.isfinite(value):
            raise GraphError(f"the weight of {shown(edge[0])} → {shown(edge[1])} is {value}; weights have to be finite")
    return EdgeList(graph.nodes, graph.directed, graph.undirected, values, attributes or {})
