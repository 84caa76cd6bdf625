"""JSON.

`{"nodes": [a, …], "directed": [[a, b], …], "undirected": [[a, b], …]}`, and `"weights": [w, …]`, one for each
directed edge, if there are weights; `"categories": [a, …]` are the nodes that stand for categories. The document of a fitted model,
which lists `"edges": [{"source": a, "target": b, "weight": w}, …]` in place of `"directed"`, is read as well.
"""

from __future__ import annotations

import json
from sys import float_info
from typing import Any

from ordag.common.words import shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList


def write(edges: EdgeList) -> str:
    """Write the document on one line."""
    document: dict[str, Any] = {"nodes": edges.nodes, "directed": edges.directed, "undirected": edges.undirected}
    if edges.weights:
        document["weights"] = [edges.weights.get(edge) for edge in edges.directed]
    if edges.categories:
        document["categories"] = edges.categories
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def read(text: str) -> EdgeList:
    """Read either kind of document."""
    try:
        document = json.loads(text, object_pairs_hook=distinct)
    except ValueError as error:
        raise GraphFormatError(f"JSON: {error}") from None
    if not isinstance(document, dict) or "nodes" not in document:
        raise GraphFormatError('JSON: expected an object with "nodes", "directed" and "undirected"')
    nodes = document["nodes"]
    if not isinstance(nodes, list) or not all(isinstance(name, str) for name in nodes):
        raise GraphFormatError('JSON: "nodes" has to be a list of strings')
    directed, weights = _arrows(document)
    undirected = _pairs(document.get("undirected", []), "undirected")
    numbers = {edge: weight for edge, weight in zip(directed, weights, strict=True) if weight is not None}
    for edge, weight in numbers.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not abs(weight) <= float_info.max:
            raise GraphFormatError(
                f"JSON: the weight of {shown(edge[0])} → {shown(edge[1])} is {weight!r}, not a number"
            )
    return EdgeList(tuple(nodes), tuple(directed), tuple(undirected), {e: float(w) for e, w in numbers.items()})


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of the pairs; raise ValueError for a repeated key, of which the json module keeps the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in an object")
        found[key] = value
    return found


def _arrows(document: dict[str, Any]) -> tuple[list[Edge], list[Any]]:
    if "directed" not in document and isinstance(document.get("edges"), list):
        rows = document["edges"]
        if not all(isinstance(row, dict) for row in rows):
            raise GraphFormatError('JSON: "edges" has to be a list of objects with "source" and "target"')
        ends = [[row.get("source"), row.get("target")] for row in rows]
        return _pairs(ends, "edges"), [row.get("weight") for row in rows]
    directed = _pairs(document.get("directed", []), "directed")
    weights = document.get("weights", [None] * len(directed))
    if not isinstance(weights, list) or len(weights) != len(directed):
        raise GraphFormatError('JSON: "weights" has to list one number for each directed edge')
    return directed, weights


def _pairs(value: Any, key: str) -> list[Edge]:
    if not isinstance(value, list):
        raise GraphFormatError(f'JSON: "{key}" has to be a list of pairs of names')
    for k, pair in enumerate(value):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise GraphFormatError(f'JSON: item {k} of "{key}" is {pair!r}, not a pair of names')
    return [(source, target) for source, target in value]
