"""Read the graph that a user gives: an object, a saved fit, or a file in any format of graphs."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from ordag.common.checks import short
from ordag.common.words import shown, spelled
from ordag.data.sources.paths import path_of
from ordag.errors import GraphError, GraphFormatError, UnreadableError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, extend
from ordag.graph.dag import Dag
from ordag.graph.formats import format_of, read_text
from ordag.model.sem import LinearSEM
from ordag.saved import ENDING, load

AnyGraph = Dag | Cpdag


def given_graph(graph: Any) -> tuple[AnyGraph, Fit | None]:
    """Return a graph, and the fit that it comes from if it comes from one.

    `graph` is a Dag, Cpdag, Fit, LinearSEM, a graph of networkx, or the path of a saved fit (.ordag) or of a file of a graph. A fit with
    categories as causes stands for its graph over the variables, within the categories.
    """
    if isinstance(graph, str | PathLike):
        return _read(graph)
    if isinstance(graph, Fit):
        return graph.graph, graph.within_causes
    if isinstance(graph, LinearSEM):
        return graph.dag, None
    if isinstance(graph, Dag | Cpdag):
        return graph, None
    if hasattr(graph, "is_multigraph"):
        return _directed(Cpdag.from_networkx(graph)), None
    raise GraphError(f"graph={short(graph)}: give a Dag, a Cpdag, a Fit, a graph of networkx, or the path of a file.")


def _read(graph: str | PathLike[str]) -> tuple[AnyGraph, Fit | None]:
    path = path_of(graph)
    if path.suffix.lower() == ENDING:
        fit = load(path)
        return fit.graph, fit.within_causes
    format = format_of(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphFormatError(f"{spelled(path.name)} is not a graph in UTF-8: write it again as text.") from error
    except OSError as error:
        raise UnreadableError(f"{spelled(path)}: {error.strerror or error}.") from error
    try:
        edges = read_text(text, format)
        if not edges.undirected:
            return Dag.from_edges(edges.nodes, edges.directed), None  # a → b → a is a cycle, not an undirected edge
        return _directed(Cpdag.from_edges(edges.nodes, edges.directed, edges.undirected)), None
    except GraphError as error:
        raise GraphFormatError(f"{spelled(path.name)}: {error}") from error


def _directed(graph: Cpdag) -> AnyGraph:
    """Return a Dag if every edge has a direction; refuse a graph that no DAG agrees with."""
    if not len(graph.lines):
        return Dag.from_edges(graph.nodes, graph.directed)
    reason = graph.why_not_extendable()
    if reason is not None:
        raise GraphError(f"the graph stands for no DAG: {reason}")
    return graph


def any_dag(graph: AnyGraph) -> Dag:
    """Return the graph, or a DAG of the class."""
    return graph if isinstance(graph, Dag) else extend(graph)


def title_of(graph: Any) -> str:
    """Return a name of the graph for a heading."""
    return spelled(Path(graph).name) if isinstance(graph, str | PathLike) else shown(type(graph).__name__)
