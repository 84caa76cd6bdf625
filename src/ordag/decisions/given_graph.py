"""Read the graph that a user gives: an object, a saved fit, a file in any format of graphs, or text in DAGitty, DOT or lavaan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ordag.common.checks import as_number, short
from ordag.common.words import in_marks, listed, shown, spelled
from ordag.data.reading import split_reading
from ordag.data.sources.paths import path_of
from ordag.data.table import Table
from ordag.errors import ColumnError, GraphError, GraphFormatError, SettingError, UnreadableError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, extend
from ordag.graph.dag import Dag
from ordag.graph.formats import FORMATS, format_of, read_text
from ordag.model.sem import LinearSEM
from ordag.saved import ENDING, load

AnyGraph = Dag | Cpdag


class Given(NamedTuple):
    """A graph, the fit that it comes from if it comes from one, and the variables that it marks as not measured."""

    graph: AnyGraph
    fit: Fit | None = None
    unmeasured: tuple[str, ...] = ()


def given_graph(graph: Any) -> Given:
    """Read a graph.

    `graph` is a Dag, Cpdag, Fit, LinearSEM, a graph of networkx, the path of a saved fit (.ordag) or of a file of a graph, or the text
    of a graph in the language of DAGitty, DOT or lavaan. A fit with categories as causes stands for its graph over the variables, within
    the categories.
    """
    if isinstance(graph, str) and (language := _language_of_text(graph)):
        return _parsed(graph, language, "the text")
    if isinstance(graph, str) and not graph.strip():
        raise GraphError("The graph is empty: write its arrows, such as a -> b <- c, or give the path of a file.")
    if isinstance(graph, str | PathLike):
        return _read(graph)
    if isinstance(graph, Fit):
        graph.at_one_time("This question")
        return Given(graph.graph, graph.within_causes)
    if isinstance(graph, LinearSEM):
        return Given(graph.dag)
    if isinstance(graph, Dag | Cpdag):
        return Given(graph)
    if hasattr(graph, "is_multigraph"):
        return Given(_directed(Cpdag.from_networkx(graph)))
    raise GraphError(
        f"graph={short(graph)}: give a Dag, a Cpdag, a Fit, a graph of networkx, text, or the path of a file."
    )


def table_of(data: Any, nodes: Sequence[str], hint: str, reading: Mapping[str, Any]) -> Table:
    """Read the columns of a table that a graph has; `hint` says what to do where some are missing."""
    _, unknown = split_reading(reading)
    if unknown:
        raise SettingError(f"{listed([*unknown])}: this call has no such setting, and reading a table has none either.")
    try:
        return Table(data, **{"columns": list(nodes), **reading})
    except ColumnError as error:
        raise ColumnError(f"{error} {hint}" if " has no column" in str(error) else str(error)) from error


def checked_fit(fit: Any) -> Fit:
    """Return a fit; refuse anything else."""
    if not isinstance(fit, Fit):
        raise SettingError(f"fit={short(fit)}: give what ordag.learn gave.")
    return fit


def checked_level(level: float) -> float:
    """Return the level of tests as a float between 0 and 1."""
    number = as_number(level)
    if not 0.0 < number < 1.0:
        raise SettingError(f"level={short(number)}: give a number between 0 and 1.")
    return number


def reading_of(fit: Fit) -> dict[str, Any]:
    """Return the settings of reading that give the variables of a fit, with the same columns held fixed."""
    held = fit.moments.adjusted_for
    codes = [one.name for one in held if one.levels is not None]
    return {"columns": list(fit.names), "adjust": [one.name for one in held], "category": codes}


def at_one_time(reading: Mapping[str, Any], what: str) -> None:
    """Refuse lags, which a graph of variables at one time has no place for."""
    if reading.get("lags"):
        raise SettingError(
            f"{what} takes a graph of variables at one time: leave lags out (difference and season may stay). For what follows from a "
            "change over time ask fit.response (ordag effect … --steps 12).",
            ["lags"],
        )


def _read(graph: str | PathLike[str]) -> Given:
    path = path_of(graph)
    if path.suffix.lower() == ENDING:
        return given_graph(load(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphFormatError(f"{spelled(path.name)} is not a graph in UTF-8: write it again as text.") from error
    except FileNotFoundError as error:
        raise UnreadableError(
            f"There is no file {in_marks(path)}: check the path, or give a graph in text, such as 'a -> b <- c'."
        ) from error
    except ValueError as error:  # letters that no path has
        raise UnreadableError(f"{short(graph)} is no graph, and no path of a file: {error}.") from error
    except OSError as error:
        raise UnreadableError(f"{spelled(path)}: {error.strerror or error}.") from error
    return _of_text(text, path.name)


def parsed_graph(text: str, file: str = "") -> AnyGraph:
    """Return the graph of a text, which stood in a file of this name or, without one, was typed."""
    return _of_text(text, file).graph


def _of_text(text: str, file: str) -> Given:
    if file and not text.strip():
        raise GraphFormatError(f"{spelled(file)} is empty: write the arrows of a graph into it, such as a -> b <- c.")
    if file.lower().endswith(".json") and '"omega"' in text:  # a model, as `ordag simulate --truth` writes it
        return Given(LinearSEM.from_json(text).dag)
    language = "" if _ends_as_file(file) else _language_of(text)  # a graph in a .txt, say
    if not file and not language:
        raise GraphFormatError("The text is not a graph: write its arrows, such as a -> b <- c.")
    return _parsed(text, language or format_of(file), spelled(file) if file else "the text")


def _ends_as_file(name: str) -> bool:
    return name.lower().endswith((ENDING, *(ending for format in FORMATS.values() for ending in format.endings)))


def _language_of_text(graph: str) -> str:
    """Return the language of a text; "" for the path of a file."""
    if _ends_as_file(graph):
        return ""
    try:
        exists = path_of(graph).exists()
    except (OSError, ValueError):  # too long for a path
        exists = False
    return "" if exists else _language_of(graph)


def _language_of(text: str) -> str:
    """Return the language that a text of a graph is written in; "" if it does not look like a graph."""
    if re.match(r"\s*(strict\s+)?digraph\b", text, re.IGNORECASE):
        return "dot"
    if "{" in text or re.search(r"<->|->|<-|--", text):
        return "dagitty" if re.search(r"\{|\S\s*(<->|->|<-|--)\s*\S", text) else ""
    return "lavaan" if re.search(r"\w\s*=?~+\s*[\w.]", text) else ""


def _parsed(text: str, language: str, where: str) -> Given:
    try:
        edges = read_text(text, language)
        if edges.undirected:
            graph = _directed(Cpdag.from_edges(edges.nodes, edges.directed, edges.undirected))
        else:
            graph = Dag.from_edges(edges.nodes, edges.directed)  # a → b → a is a cycle, not an undirected edge
        return Given(graph, unmeasured=edges.unmeasured)
    except GraphError as error:
        raise GraphFormatError(f"{where}: {error}") from error


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
    if isinstance(graph, str) and _language_of_text(graph):
        return "this graph"
    return spelled(Path(graph).name) if isinstance(graph, str | PathLike) else shown(type(graph).__name__)
