"""GraphML: edges in, text out, and back, through networkx.

A node's id is its name; `undirected` marks an edge without a direction in a directed graph. XML cannot hold
most control characters, and a DOCTYPE (the door to entity tricks) is refused before anything is parsed.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import EdgeList, from_networkx, to_networkx
from ordag.words import listed

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(edges: EdgeList) -> str:
    """One directed graph."""
    import networkx

    impossible = [name for name in edges.nodes if _NOT_XML.search(name)]
    if impossible:
        raise GraphFormatError(f"GraphML cannot hold control characters; rename {listed(impossible)}")
    return "\n".join(networkx.generate_graphml(to_networkx(edges), named_key_ids=True)) + "\n"


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
    return from_networkx(graph, {name: name for name in graph}, "GraphML")
