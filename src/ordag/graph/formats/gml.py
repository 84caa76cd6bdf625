"""GML: edges in, text out, and back, through networkx.

Nodes have numbers and a label; everything outside printable ASCII, and the two characters that GML gives a meaning, is a
numeric entity. `undirected 1` marks an edge without a direction in a directed graph.
"""

from __future__ import annotations

from typing import Any

from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import EdgeList, from_networkx, to_networkx


def write(edges: EdgeList) -> str:
    """A directed graph, nodes numbered from 0 in their order."""
    import networkx

    return "\n".join(networkx.generate_gml(to_networkx(edges))) + "\n"


def read(text: str) -> EdgeList:
    """The one graph in the text; a node without a label is called by its number."""
    import networkx

    try:
        # networkx reads the strings "[]" and "()" as a list and a tuple, unless strings are made something else first.
        graph = networkx.parse_gml(text, label="id", destringizer=lambda string: (string,))
        names = {node: _text(node if label is None else label) for node, label in graph.nodes(data="label")}
    except networkx.NetworkXError as error:
        raise GraphFormatError(f"GML: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise GraphFormatError(f"GML: a value is not of the kind that belongs in its place ({error})") from None
    return from_networkx(graph, names, "GML")


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value[0])
    if not isinstance(value, int | float):
        raise TypeError("a label is a list in brackets")
    return str(value)
