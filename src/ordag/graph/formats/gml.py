"""GML: edges in, text out, and back.

Nodes have numbers and a label; everything outside printable ASCII, and the two characters that GML gives a
meaning, is a numeric entity. `undirected 1` marks an edge without a direction in a directed graph.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint
from typing import TypeAlias

from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList
from ordag.graph.formats.tokens import Tokens

Value: TypeAlias = "str | float | list[tuple[str, Value]]"

_PATTERN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
    |(?P<key>[A-Za-z][0-9A-Za-z_]*)
    |(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)
    |(?P<string>"[^"]*")
    |(?P<mark>[][])""",
    re.VERBOSE,
)


def write(edges: EdgeList) -> str:
    """A directed graph, nodes numbered from 0 in their order."""
    number = {name: place for place, name in enumerate(edges.nodes)}
    lines = ["graph [", "  directed 1"]
    for name, place in number.items():
        label = re.sub(r'[^ -~]|[&"]', lambda match: f"&#{ord(match[0])};", name)
        lines.append(f'  node [\n    id {place}\n    label "{label}"\n  ]')
    for edge in edges.directed:
        weight = edges.weights.get(edge)
        lines.append(_edge(number, edge, "" if weight is None else f"\n    weight {_real(weight)}"))
    lines += [_edge(number, edge, "\n    undirected 1") for edge in edges.undirected]
    return "\n".join([*lines, "]"]) + "\n"


def read(text: str) -> EdgeList:
    """The one graph in the text; a node without a label is called by its number."""
    tokens = Tokens(text, _PATTERN, "GML")
    graphs = [value for key, value in _pairs(tokens, "end") if key == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0], list):
        raise GraphFormatError(f"GML: expected one graph [ … ], found {len(graphs)}")
    graph = graphs[0]
    names: dict[str, str] = {}
    for place, node in enumerate(_records(graph, "node")):
        identifier = _field(node, "id", f"node {place}")
        if identifier in names:
            raise GraphFormatError(f"GML: two nodes have the id {identifier}")
        names[identifier] = _text(node.get("label", identifier))
    all_arrows = _text(dict(graph).get("directed", "0")) == "1"
    directed: list[Edge] = []
    undirected: list[Edge] = []
    weights: dict[Edge, float] = {}
    for place, record in enumerate(_records(graph, "edge")):
        ends = [_field(record, end, f"edge {place}") for end in ("source", "target")]
        for end in ends:
            if end not in names:
                raise GraphFormatError(f"GML: edge {place} uses the node id {end}, which is not defined")
        edge = (names[ends[0]], names[ends[1]])
        if not all_arrows or _text(record.get("undirected", "0")) == "1":
            undirected.append(edge)
            continue
        directed.append(edge)
        weight = record.get("weight")
        if isinstance(weight, float):
            weights[edge] = weight
    return EdgeList(tuple(names.values()), tuple(directed), tuple(undirected), weights)


def _edge(number: dict[str, int], edge: Edge, more: str) -> str:
    return f"  edge [\n    source {number[edge[0]]}\n    target {number[edge[1]]}{more}\n  ]"


def _real(value: float) -> str:
    """GML wants a decimal point in every real number."""
    mantissa, e, exponent = repr(value).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e.upper() + exponent


def _pairs(tokens: Tokens, end: str) -> list[tuple[str, Value]]:
    found: list[tuple[str, Value]] = []
    while tokens.next.kind == "key":
        key = tokens.take().text
        token = tokens.next
        value: Value
        if tokens.accept("["):
            value = _pairs(tokens, "mark")
            tokens.expect("]")
        elif token.kind == "number":
            value = float(tokens.take().text)
        elif token.kind == "string":
            value = _unescaped(tokens.take().text[1:-1])
        else:
            tokens.fail("a number, a string or [")
        found.append((key, value))
    if tokens.next.kind != end:
        tokens.fail("a key")
    return found


def _records(graph: list[tuple[str, Value]], key: str) -> list[dict[str, Value]]:
    return [dict(value) for name, value in graph if name == key and isinstance(value, list)]


def _field(record: dict[str, Value], key: str, where: str) -> str:
    if key not in record:
        raise GraphFormatError(f"GML: {where} has no {key}")
    return _text(record[key])


def _text(value: Value) -> str:
    if isinstance(value, list):
        raise GraphFormatError("GML: expected a number or a string, found a list in brackets")
    return f"{value:.17g}" if isinstance(value, float) else value


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else name2codepoint.get(name)
        return match[0] if code is None or code > 0x10FFFF else chr(code)

    return re.sub(r"&(?:#([0-9]{1,9})|#x([0-9A-Fa-f]{1,8})|([A-Za-z][0-9A-Za-z]*));", character, text)
