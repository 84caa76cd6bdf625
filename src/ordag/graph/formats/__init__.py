"""`FORMATS`: the text formats of graphs, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

from ordag.common.checks import short
from ordag.common.words import in_marks, shown
from ordag.errors import GraphFormatError
from ordag.graph.formats import dagitty, dot, gml, json_text, lavaan, tables, tetrad
from ordag.graph.formats.edge_list import Attributes, Edge, EdgeList, HasEdges, Weights, edge_list

__all__ = [
    "FORMATS",
    "Edge",
    "EdgeList",
    "Format",
    "HasEdges",
    "Weights",
    "edge_list",
    "format_of",
    "read_text",
    "write_text",
]


class Format(NamedTuple):
    """The endings of its files, and the functions that write and read its text."""

    endings: tuple[str, ...]
    write: Callable[[EdgeList], str]
    read: Callable[[str], EdgeList]


FORMATS = {
    "dot": Format((".dot", ".gv"), dot.write, dot.read),
    "graphml": Format((".graphml",), gml.write_graphml, gml.read_graphml),
    "gml": Format((".gml",), gml.write_gml, gml.read_gml),
    "adjacency.csv": Format((".adjacency.csv",), tables.write_adjacency, tables.read_adjacency),
    "csv": Format((".csv",), tables.write_edges, tables.read_edges),
    "json": Format((".json",), json_text.write, json_text.read),
    "lavaan": Format((".lavaan", ".lav"), lavaan.write, lavaan.read),
    "dagitty": Format((".dagitty",), dagitty.write, dagitty.read),
    "tetrad": Format((".tetrad",), tetrad.write, tetrad.read),
}


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the format of a file, by its ending."""
    name = os.fspath(path).lower()
    for format, (endings, _, _) in FORMATS.items():
        if name.endswith(endings):
            return format
    known = ", ".join(ending for format in FORMATS.values() for ending in format.endings)
    raise GraphFormatError(f"{in_marks(path)} does not end like a graph file; known endings: {known}")


def write_text(
    graph: HasEdges,
    format: str,
    weights: Weights | None = None,
    attributes: Attributes | None = None,
    categories: Sequence[str] = (),
) -> str:
    """Write the graph as text; `weights[i, j]` is the weight of i → j, or `weights["a", "b"]` that of a → b.

    categories: nodes that stand for categories, which DOT draws round and dashed, and GML, GraphML and JSON mark by an attribute.
    """
    return _known(format).write(replace(edge_list(graph, weights, attributes), categories=tuple(categories)))


def read_text(text: str, format: str) -> EdgeList:
    """Read nodes, edges and weights from text; `Dag.parse` and `Cpdag.parse` make a graph of it."""
    if not isinstance(text, str):
        raise GraphFormatError(f"{short(text)} is not text")
    try:
        edges = _known(format).read(text.removeprefix("\ufeff"))
    except RecursionError:
        raise GraphFormatError(f"the text is nested too deeply to be a graph in the format {format}") from None
    for (source, target), weight in edges.weights.items():
        if not isfinite(weight):
            raise GraphFormatError(f"the weight of {shown(source)} → {shown(target)} is {weight}, not a number")
    return edges


def _known(format: str) -> Format:
    if not isinstance(format, str) or format not in FORMATS:
        raise GraphFormatError(f"unknown graph format {short(format)}; there are {', '.join(FORMATS)}")
    return FORMATS[format]
