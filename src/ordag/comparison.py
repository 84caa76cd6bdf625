"""`compare`: several methods on one table, side by side, and against the truth where it is known."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ordag.common.bits import packed_columns
from ordag.common.checks import as_list, short
from ordag.common.markup import card, isolated, sentence, table
from ordag.common.plain import Document, frame
from ordag.common.words import counted, number
from ordag.data.reading import split_reading
from ordag.data.table import Table
from ordag.data.way_through import way_shown
from ordag.errors import GraphError, OrdagError, SettingError
from ordag.fit import Fit
from ordag.graph.cpdag import Cpdag, extend, to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.distances import hamming
from ordag.graph.graph import Graph
from ordag.learners.methods import METHODS, check_settings, settings_for, settings_of
from ordag.learners.regressions import Regressions
from ordag.model.sem import LinearSEM
from ordag.order.sparse import few_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Outcome:
    """What one method made of the table: its fit, or why there is none; CPU and wall-clock seconds; Gaussian BIC.

    `bic` is n Σ_j log(RSS_j / n) + log(n) · edges, lower for better graphs; for a class, that of any of its DAGs.
    `hamming` counts the entries in which the adjacency differs from the true DAG's, `class_hamming` those in which
    its equivalence class differs from the true one.
    """

    method: str
    fit: Fit | None
    problem: str
    seconds: float
    cpu_seconds: float
    bic: float
    hamming: int | None
    class_hamming: int | None


TITLES = {
    "method": "method",
    "directed": "arrows",
    "undirected": "undirected",
    "bic": "BIC",
    "seconds": "seconds",
    "hamming": "distance to DAG",
    "class_hamming": "distance to class",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Document):
    """The outcomes in the order asked for, and the truth where there is one."""

    names: tuple[str, ...]
    rows: int
    outcomes: tuple[Outcome, ...]
    truth: Dag | None

    def __getitem__(self, method: str) -> Fit:
        """Return the fit of a method."""
        for outcome in self.outcomes:
            if outcome.method == method and outcome.fit is not None:
                return outcome.fit
        raise KeyError(method)

    @property
    def table(self) -> pd.DataFrame:
        """One row per method: how many edges, scores, times, and distances to the truth."""
        return frame(self.rows_of_methods)

    @property
    def agreement(self) -> pd.DataFrame:
        """For every two methods, how many adjacent pairs they share; on the diagonal, how many each has."""
        import pandas as pd

        names = [outcome.method for outcome in self.outcomes if outcome.fit is not None]
        return pd.DataFrame(self.shared, index=names, columns=names)

    @property
    def edges(self) -> pd.DataFrame:
        """One row per pair that some method joins, with the mark that each method gives it: →, ←, — or nothing."""
        return frame(self.edge_rows)

    @property
    def rows_of_methods(self) -> list[dict[str, Any]]:
        """The rows of `table`, in plain values."""
        rows = []
        for outcome in self.outcomes:
            graph = None if outcome.fit is None else outcome.fit.graph
            row: dict[str, Any] = {
                "method": outcome.method,
                "directed": None if graph is None else len(graph.directed),
                "undirected": None if graph is None else len(graph.undirected),
                "bic": outcome.bic if math.isfinite(outcome.bic) else None,
                "seconds": outcome.seconds,
                "cpu_seconds": outcome.cpu_seconds,
            }
            if self.truth is not None:
                row |= {"hamming": outcome.hamming, "class_hamming": outcome.class_hamming}
            rows.append(row | ({"problem": outcome.problem} if outcome.problem else {}))
        return rows

    @property
    def shared(self) -> list[list[int]]:
        skeletons = [outcome.fit.graph.skeleton for outcome in self.outcomes if outcome.fit is not None]
        return [[int((a & b).sum()) // 2 for b in skeletons] for a in skeletons]

    @property
    def edge_rows(self) -> list[dict[str, Any]]:
        graphs: dict[str, Graph] = {o.method: o.fit.graph for o in self.outcomes if o.fit is not None}
        if self.truth is not None:
            graphs = {"truth": self.truth, **graphs}
        joined = [
            (i, j)
            for i in range(len(self.names))
            for j in range(i + 1, len(self.names))
            if any(graph.skeleton[i, j] for graph in graphs.values())
        ]
        return [
            {"first": self.names[i], "second": self.names[j]}
            | {name: _mark(graph, i, j) for name, graph in graphs.items()}
            for i, j in joined
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values."""
        return {
            "rows": self.rows,
            "nodes": list(self.names),
            "methods": self.rows_of_methods,
            "shared_edges": {
                "methods": [outcome.method for outcome in self.outcomes if outcome.fit is not None],
                "counts": self.shared,
            },
            "edges": self.edge_rows,
            "fits": {o.method: o.fit.to_dict() for o in self.outcomes if o.fit is not None},
            "truth": None if self.truth is None else [list(edge) for edge in self.truth.directed],
        }

    @property
    def titles(self) -> dict[str, str]:
        """What the columns of `table` are called, for a reader."""
        return {key: title for key, title in TITLES.items() if key in self.rows_of_methods[0]}

    @property
    def cells(self) -> list[list[str]]:
        """The table of methods as text, one list per method."""
        return [[_cell(key, row.get(key)) for key in self.titles] for row in self.rows_of_methods]

    def _repr_html_(self) -> str:
        sizes = f"{counted(self.rows, 'row')}, {counted(len(self.names), 'variable')}"
        pairs = self.edge_rows
        agreed = sum(len(set(list(row.values())[2:])) == 1 for row in pairs)
        shared = (
            f"{counted(len(pairs), 'pair')} joined by some method, {agreed} of them by all in the same way: see .edges"
        )
        problems = [f"{one.method}: {one.problem}" for one in self.outcomes if one.problem]
        methods = table(list(self.titles.values()), ([isolated(first), *cells] for first, *cells in self.cells))
        return card(
            f"Comparison: {sizes}", methods, sentence(shared, "note"), *(sentence(one, "warning") for one in problems)
        )

    def __repr__(self) -> str:
        rows = [list(self.titles.values()), *self.cells]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        aligned = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
        return "\n".join("  ".join(row) for row in aligned)


def compare(
    data: Any,
    methods: Sequence[str] = ("pooled", "cvs", "pc", "ges", "gds"),
    *,
    truth: Dag | LinearSEM | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Callable[[str], None] | None = None,
    **common: Any,
) -> Comparison:
    """Learn from one table with several methods.

    data, columns and the like: as for `learn`; the table is read once.
    truth: the true graph or model, for distances.
    settings: for single methods, such as {"gds": {"seed": 1}}. Other settings given here, such as alpha or seed, go to
        every method that has them.
    """
    choice = f"choose among {', '.join(METHODS)}."
    methods = as_list(methods, f"methods={short(methods)}: give a list of names, and {choice}")
    unknown = [short(name) for name in methods if not isinstance(name, str) or name not in METHODS]
    if unknown or not methods:
        raise SettingError(f"methods={', '.join(unknown) or 'none'}: {choice}")
    if len(set(methods)) < len(methods):
        raise SettingError(f"methods={', '.join(methods)}: name each of them once.")
    own = _own_settings(settings)
    stray = [name for name in own if name not in methods]
    if stray:
        raise SettingError(f"settings for {', '.join(stray)}, which {'is' if len(stray) == 1 else 'are'} not compared.")
    if truth is not None and not isinstance(truth, Dag | LinearSEM):
        raise SettingError(f"truth={short(truth)}: give a Dag or a LinearSEM.")
    reading, common = split_reading(common)
    takers = {name: [m for m in methods if name in settings_of(m)] for name in common}
    for name in [name for name, found in takers.items() if not found]:
        raise SettingError(f"{name} is a setting of none of {', '.join(methods)}.", [name])
    with way_shown(data, reading):
        table = Table(data, progress=progress, **reading).warn().needing(few_rows)
        table.moments  # noqa: B018
    graph = truth.dag if isinstance(truth, LinearSEM) else truth
    outcomes = []
    for name in methods:
        given = {key: value for key, value in common.items() if name in takers[key]} | own.get(name, {})
        outcomes.append(_outcome(name, table, given, graph))
    return Comparison(table.moments.names, table.moments.rows, tuple(outcomes), graph)


def _own_settings(settings: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """Return the settings of single methods, as dicts."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping) or not all(isinstance(values, Mapping) for values in settings.values()):
        raise SettingError(
            f"settings={short(settings)}: give a mapping for each method, such as {{'gds': {{'seed': 1}}}}."
        )
    return {str(name): dict(values) for name, values in settings.items()}


def _outcome(method: str, table: Table, settings: Mapping[str, Any], truth: Dag | None) -> Outcome:
    """One method; what it refuses is part of the answer, and the others go on."""
    fit, problem = None, ""
    start, cpu = time.perf_counter(), time.process_time()
    try:
        check_settings(method, settings)
        method_settings = settings_for(table, method, settings)
        same = (
            table
            if method_settings.needs_rows
            else Table.of_moments(table.moments, table.profile, table.announce, table.series)
        )
        fit = Fit.learned(same, method_settings)
        remarks = () if same is table else table.remarks
        known: dict[str, Any] = {"transform": table.transform, "inputs": table.inputs, "columns": table.columns}
        fit = replace(fit, **known, warnings=(*remarks, *fit.warnings))
    except SettingError:
        raise
    except OrdagError as error:
        problem = str(error)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    if fit is None:
        return Outcome(method, None, problem, seconds, cpu_seconds, math.nan, None, None)
    directed = class_distance = None
    if truth is not None:
        directed = hamming(fit.graph, truth)
        class_distance = hamming(_class(fit.graph), to_cpdag(truth))
    return Outcome(method, fit, problem, seconds, cpu_seconds, gaussian_bic(fit), directed, class_distance)


def _class(graph: Graph) -> Cpdag:
    """Return the class of a DAG; a class as it was found, valid or not."""
    return to_cpdag(graph) if isinstance(graph, Dag) else Cpdag(graph.nodes, graph.adjacency)


def gaussian_bic(fit: Fit) -> float:
    """Gaussian BIC of the graph, nan for a class without a DAG."""
    try:
        dag = fit.graph if isinstance(fit.graph, Dag) else extend(fit.graph)
    except GraphError:
        return math.nan
    if fit.causes is not None:
        return fit.causes.bic(dag)
    regressions = Regressions(fit.moments.R, fit.n)
    total = 0.0
    for j, parents in enumerate(packed_columns(dag.adjacency)):
        total += fit.n * math.log(regressions.rss(j, parents) / fit.n)
    return total + math.log(fit.n) * dag.edge_count


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key == "seconds":
        return f"{value:.3f}"
    return number(value, 7) if isinstance(value, float) else str(value)


def _mark(graph: Graph, i: int, j: int) -> str:
    return {(True, True): "—", (True, False): "→", (False, True): "←"}.get(
        (bool(graph.adjacency[i, j]), bool(graph.adjacency[j, i])), ""
    )
