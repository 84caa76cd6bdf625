"""Graphs as text files of Tetrad (https://github.com/cmu-phil/tetrad, GraphSaveLoadUtils): its nodes, then numbered edges.

    Graph Nodes:
    a;b;c

    Graph Edges:
    1. a --> b
    2. b --- c

Older versions set commas between the nodes. Other sections, and what follows the two nodes of an edge, are comments here. The format has
no weights, and no names with spaces, semicolons or commas: such letters are written as in addresses of the web, %20 for a space.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from ordag.common.words import shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList

AWKWARD = re.compile(r"[\s;,%\x00-\x1f\x7f]")
EMPTY = "%"
EDGE = re.compile(r"\s*(?:\d+\.\s+)?(\S+)\s+([<o-]-[>o-])\s+(\S+)(?:\s.*)?")
HEADING = re.compile(r"\s*(Graph [\w ]+):\s*")


def write(edges: EdgeList) -> str:
    """Write the nodes in one line and a line for each edge."""
    arrows = [f"{_written(source)} --> {_written(target)}" for source, target in edges.directed]
    lines = [f"{_written(first)} --- {_written(second)}" for first, second in edges.undirected]
    numbered = [f"{k}. {edge}" for k, edge in enumerate([*arrows, *lines], start=1)]
    return "\n".join(["Graph Nodes:", ";".join(map(_written, edges.nodes)), "", "Graph Edges:", *numbered]) + "\n"


def read(text: str) -> EdgeList:
    """Read the nodes and edges; circles and double arrows, which stand for hidden causes, are refused."""
    sections: dict[str, list[tuple[int, str]]] = {}
    section: list[tuple[int, str]] | None = None
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        heading = HEADING.fullmatch(line)
        if heading:
            section = sections.setdefault(heading[1], [])
        elif line.strip():
            if section is None:
                raise GraphFormatError(f"Tetrad: expected 'Graph Nodes:' in line {number}")
            section.append((number, line))
    if "Graph Nodes" not in sections or "Graph Edges" not in sections:
        raise GraphFormatError("Tetrad: a graph has the sections 'Graph Nodes:' and 'Graph Edges:'")
    listed = ";".join(line for _, line in sections["Graph Nodes"])
    marks = ";" if ";" in listed else ","
    nodes = tuple(_read(word.strip()) for word in listed.split(marks) if word.strip())
    directed: list[Edge] = []
    undirected: list[Edge] = []
    for number, line in sections["Graph Edges"]:
        found = EDGE.fullmatch(line)
        if found is None:
            raise GraphFormatError(f"Tetrad: {line.strip()!r} in line {number} is no edge such as '1. a --> b'")
        first, second = _read(found[1]), _read(found[3])
        strange = [name for name in (first, second) if name not in nodes]
        if strange:
            raise GraphFormatError(f"Tetrad: {shown(strange[0])} in line {number} is not among the nodes")
        if found[2] == "---":
            undirected.append((first, second))
        elif found[2] in ("-->", "<--"):
            directed.append((first, second) if found[2] == "-->" else (second, first))
        else:
            raise GraphFormatError(
                f"Tetrad: the edge {found[2]} in line {number} leaves hidden causes open; only --> and --- can be read"
            )
    return EdgeList(nodes, tuple(directed), tuple(undirected))


def _written(name: str) -> str:
    return AWKWARD.sub(lambda letter: quote(letter[0], safe=""), name) or EMPTY


def _read(word: str) -> str:
    name = "" if word == EMPTY else unquote(word)
    return name if _written(name) == word else word
