"""CSV tables with one row per edge, or one row per node.

The edge table has the columns `source` and `target`, then `weight` if there are weights, then `undirected`
(true or false) if there are undirected edges. A row with a source and no target is a node without edges. Nodes
are read in the order in which the rows first name them; the adjacency table keeps their order.

The adjacency table has the names above the columns and before the rows; the entry in row i and column j is 1
(or the weight) for i → j and 0 for no edge, and an undirected edge has 1 both ways.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from io import StringIO

from ordag.common.words import counted, quoted, shown
from ordag.errors import GraphFormatError
from ordag.graph.formats.edge_list import Edge, EdgeList

MOST_ROWS = 10_000
"""Nodes of an adjacency table at most: a larger file is of no use, and its zeros take a gigabyte."""

_TRUTH = {"true": True, "1": True, "false": False, "0": False, "": False}


def write_edges(edges: EdgeList) -> str:
    """Write the edge table."""
    if "" in edges.nodes:
        raise GraphFormatError("an edge table cannot hold a node without a name; use adjacency.csv, or rename it")
    joined = {name for edge in (*edges.directed, *edges.undirected) for name in edge}
    rows = [[*edge, _number(edges.weights.get(edge)), "false"] for edge in edges.directed]
    rows += [[*edge, "", "true"] for edge in edges.undirected]
    rows += [[name, "", "", ""] for name in edges.nodes if name not in joined]
    kept = [0, 1] + [2] * bool(edges.weights) + [3] * bool(edges.undirected)
    table = [["source", "target", "weight", "undirected"], *rows]
    return _text([row[column] for column in kept] for row in table)


def read_edges(text: str) -> EdgeList:
    """Read the edge table; other columns are ignored."""
    rows = _rows(text)
    header = rows[0][1] if rows else []
    if "source" not in header or "target" not in header:
        raise GraphFormatError(
            f"CSV: expected the columns source and target, found {quoted(header) or 'none'}. A table of data comes after the graph."
        )
    nodes: dict[str, None] = {}
    directed: list[Edge] = []
    undirected: list[Edge] = []
    weights: dict[Edge, float] = {}
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise GraphFormatError(
                f"CSV, line {line}: {counted(len(cells), 'cell')} under {counted(len(header), 'column')}"
            )
        row = dict(zip(header, cells, strict=True))
        edge = (row["source"], row["target"])
        if not edge[0]:
            raise GraphFormatError(f"CSV, line {line}: the source is empty")
        nodes |= dict.fromkeys(name for name in edge if name)
        if not edge[1]:
            continue
        without_direction = _TRUTH.get(row.get("undirected", "").strip().lower())
        if without_direction is None:
            raise GraphFormatError(f"CSV, line {line}: undirected is {row['undirected']!r}, not true or false")
        (undirected if without_direction else directed).append(edge)
        if row.get("weight") and not without_direction:
            weights[edge] = _finite(row["weight"], line)
    return EdgeList(tuple(nodes), tuple(directed), tuple(undirected), weights)


def write_adjacency(edges: EdgeList) -> str:
    """Write the adjacency table."""
    index = {name: i for i, name in enumerate(edges.nodes)}
    if len(index) > MOST_ROWS:
        raise GraphFormatError(
            f"an adjacency table of {len(index):,} nodes would have {len(index) ** 2:,} entries, nearly all of them 0; "
            "write the table of edges (csv) or another format instead"
        )
    rows: dict[str, dict[int, str]] = {name: {} for name in index}
    for source, target in edges.directed:
        weight = edges.weights.get((source, target), 1)
        if weight == 0:
            raise GraphFormatError(
                f"an adjacency table cannot hold the edge {shown(source)} → {shown(target)} with weight 0"
            )
        rows[source][index[target]] = _number(weight)
    for first, second in edges.undirected:
        rows[first][index[second]] = rows[second][index[first]] = "1"
    table = [f"{_cell(name)},{_with_zeros(entries, len(index))}\n" for name, entries in rows.items()]
    return _text([["", *edges.nodes]]) + "".join(table)


def _with_zeros(entries: dict[int, str], p: int) -> str:
    """Write one row of p entries, 0 where none is given."""
    pieces, done = [], 0
    for column in sorted(entries):
        pieces += ["0," * (column - done), entries[column], ","]
        done = column + 1
    return "".join([*pieces, "0," * (p - done)])[:-1]


def read_adjacency(text: str) -> EdgeList:
    """Read the adjacency table; entries other than 0 and 1 are weights."""
    rows = _rows(text)
    nodes = rows[0][1][1:] if rows else []
    if [cells[0] for _, cells in rows[1:]] != nodes:
        raise GraphFormatError("CSV: the names before the rows have to be those above the columns, in that order")
    entries: dict[Edge, str] = {}
    for line, cells in rows[1:]:
        if len(cells) != len(nodes) + 1:
            raise GraphFormatError(
                f"CSV, line {line}: {counted(len(cells) - 1, 'entry', 'entries')} for {counted(len(nodes), 'node')}"
            )
        for target, cell in zip(nodes, cells[1:], strict=True):
            if _finite(cell, line) != 0:
                entries[cells[0], target] = cell.strip()
    index = {name: i for i, name in enumerate(nodes)}
    lines = [edge for edge in entries if edge[::-1] in entries and index[edge[0]] < index[edge[1]]]
    arrows = [edge for edge in entries if edge[::-1] not in entries or edge[0] == edge[1]]
    weighted = any(entries[edge] != "1" for edge in arrows)
    weights = {edge: float(entries[edge]) for edge in arrows} if weighted else {}
    return EdgeList(tuple(nodes), tuple(arrows), tuple(lines), weights)


def _text(rows: Iterable[list[str]]) -> str:
    return "".join(",".join(_cell(cell) for cell in row) + "\n" for row in rows)


def _cell(text: str) -> str:
    quoted = any(mark in text for mark in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _rows(text: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise GraphFormatError(f"CSV, line {reader.line_num}: {error}") from None


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _finite(cell: str, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise GraphFormatError(f"CSV, line {line}: {cell!r} is not a number")
    return value
