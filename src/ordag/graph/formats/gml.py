"""GML and GraphML, written and read by networkx.

GML numbers the nodes and labels them; all but printable ASCII, and the two characters that GML gives a meaning, is a
numeric entity. In GraphML a node's id is its name; XML cannot hold most control characters, and a DOCTYPE (which allows
entity expansion attacks) is refused before anything is parsed. In both, the attribute `undirected` marks an edge without
a direction in a directed graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from ordag.common.checks import as_number
from ordag.common.words import listed
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList

if TYPE_CHECKING:
    import networkx

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_gml(edges: EdgeList) -> str:
    """Write a directed graph, its nodes numbered from 0."""
    import networkx

    return "\n".join(networkx.generate_gml(to_networkx(edges))) + "\n"


def read_gml(text: str) -> EdgeList:
    """Read the one graph in the text; the name of a node without a label is its number."""
    import networkx

    try:
        # networkx reads the strings "[]" and "()" as a list and a tuple, unless strings become something else first.
        graph = networkx.parse_gml(text, label="id", destringizer=lambda string: (string,))
        names = {node: _gml_name(node if label is None else label) for node, label in graph.nodes(data="label")}
    except networkx.NetworkXError as error:
        raise GraphFormatError(f"GML: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise GraphFormatError(f"GML: a value is not of the kind that belongs in its place ({error})") from None
    return _from_networkx(graph, names, "GML")


def _gml_name(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value[0])
    if not isinstance(value, int | float):
        raise TypeError("a label is a list in brackets")
    return str(value)


def write_graphml(edges: EdgeList) -> str:
    """Write one directed graph."""
    import networkx

    impossible = [name for name in edges.nodes if _NOT_XML.search(name)]
    if impossible:
        raise GraphFormatError(f"GraphML cannot hold control characters; rename {listed(impossible)}")
    return "\n".join(networkx.generate_graphml(to_networkx(edges), named_key_ids=True)) + "\n"


def read_graphml(text: str) -> EdgeList:
    """Read the first graph in the text."""
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise GraphFormatError("GraphML: a document with a DOCTYPE is not read; remove the declaration")
    import networkx

    try:
        graph = networkx.parse_graphml(text)
    except ParseError as error:
        raise GraphFormatError(f"GraphML: not well-formed XML: {error}") from None
    except (networkx.NetworkXError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise GraphFormatError(f"GraphML: {error}") from None
    return _from_networkx(graph, {name: name for name in graph}, "GraphML")


def to_networkx(edges: EdgeList, *, both_ways: bool = False) -> networkx.DiGraph:
    """Make a DiGraph; undirected edges have the attribute `undirected`, and are there once or both ways."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(edges.nodes)
    for name in edges.categories:
        graph.nodes[name]["kind"] = "category"
    for edge in edges.directed:
        weight = {"weight": edges.weights[edge]} if edge in edges.weights else {}
        graph.add_edge(*edge, **weight, **edges.attributes.get(edge, {}))
    for edge in edges.undirected:
        graph.add_edges_from([edge, edge[::-1]] if both_ways else [edge], undirected=True)
    return graph


def _from_networkx(graph: networkx.Graph, names: Mapping[Any, str], language: str) -> EdgeList:
    """List the edges of a graph that networkx read from text, given the names of its nodes."""
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
