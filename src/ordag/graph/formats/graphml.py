"""GraphML: edges in, text out, and back, through networkx.

A node's id is its name; `undirected` marks an edge without a direction in a directed graph. XML cannot hold
most control characters, and a DOCTYPE (the door to entity tricks) is refused before anything is parsed.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import EdgeList
from ordag.words import listed

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(edges: EdgeList) -> str:
    """One directed graph."""
    import networkx

    impossible = [name for name in edges.nodes if _NOT_XML.search(name)]
    if impossible:
        raise GraphFormatError(f"GraphML cannot hold control characters; rename {listed(impossible)}")
    graph = networkx.DiGraph()
    graph.add_nodes_from(edges.nodes)
    for edge in edges.directed:
        weight = edges.weights.get(edge)
        graph.add_edge(*edge, **({} if weight is None else {"weight": weight}))
    graph.add_edges_from(edges.undirected, undirected=True)
    return "\n".join(networkx.generate_graphml(graph, named_key_ids=True)) + "\n"


def read(text: str) -> EdgeList:
    """The first graph in the text."""
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise GraphFormatError("GraphML: a document with a DOCTYPE is not read; remove the declaration")
    import networkx

    try:
        graph = networkx.parse_graphml(text)
    except ParseError as error:
        raise GraphFormatError(f"GraphML: not well-formed XML: {error}") from None
    except (networkx.NetworkXError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise GraphFormatError(f"GraphML: {error}") from None
    if graph.is_multigraph():
        raise GraphFormatError("GraphML: two edges join the same pair of nodes in the same direction")
    lines = {
        edge: None
        for edge, attributes in graph.edges.items()
        if not graph.is_directed() or attributes.get("undirected") is True
    }
    arrows = [edge for edge in graph.edges if edge not in lines]
    weights = {edge: graph.edges[edge].get("weight") for edge in arrows}
    return EdgeList(
        tuple(graph.nodes),
        tuple(arrows),
        tuple(lines),
        {edge: float(weight) for edge, weight in weights.items() if isinstance(weight, int | float)},
    )
