"""`test`: test a graph on data, as a whole, by every independence that it claims, and by every arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.checks import Seed
from ordag.common.plain import plain
from ordag.common.words import counted
from ordag.data.moments import Moments
from ordag.data.profile import Rows
from ordag.data.table import Table
from ordag.decisions.claims import best_change, broken, given_parents, holm, two_sided, unit_root, whole
from ordag.decisions.given_graph import AnyGraph, any_dag, at_one_time, checked_level, given_graph, reading_of, table_of
from ordag.decisions.tested_graph import Baseline, GraphTest
from ordag.errors import DataError, GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.learners.methods import settings_for
from ordag.model.refit import refit
from ordag.order.sparse import few_rows

MOST_RANDOM, FEWEST_RANDOM, RANDOM_WORK = 200, 20, 5000
"""Random graphs at most and at least, and what their number times the variables comes to."""

MOST_COMPARED = 30
"""Variables up to which a graph is learned to compare with."""


def test(
    graph: Any,
    data: Any = None,
    *,
    level: float = 0.05,
    split: bool = False,
    compare: bool | None = None,
    seed: Seed = 0,
    **reading: Any,
) -> GraphTest:
    """Test a graph on a table: the fit as a whole, every independence that it claims, every arrow that it needs.

    graph: a Dag, Cpdag, Fit or graph of networkx, the path of a file (a saved fit, .ordag, or any format of graphs), or the text of a graph
        in the language of DAGitty, DOT or lavaan.
    data: as for `ordag.learn`; for a fit, by default the moments it was learned from.
    level: of the tests, which are corrected for their number (Holm).
    split: for a fit, learn the graph again from one half of the rows, drawn at random, and test it on the other.
    compare: whether to learn a graph from the table to compare the BIC; by default up to 30 variables.
    seed: of the random graphs and of the split. reading: how to read the table, as for `ordag.learn`.

    >>> import ordag
    >>> graph = ordag.Dag.from_edges(["algebra", "vectors", "mechanics"], [("algebra", "vectors"), ("vectors", "mechanics")])
    >>> ordag.test(graph, "marks").broken
    1
    """
    level = checked_level(level)
    at_one_time(reading, "test")
    graph, fit, _ = given_graph(graph)
    if len(graph.nodes) < 2:
        raise GraphError(
            f"The graph has {counted(len(graph.nodes), 'variable')}: a claim that could be tested takes two."
        )
    if split:
        return _on_other_half(fit, data, level, compare, seed, reading)
    if data is None:
        if fit is None:
            raise SettingError("data: give the table that the graph is to be tested on.")
        moments = fit.moments
    else:
        hint = "Take what the table does not have out of the graph, and join what it causes in common."
        moments = table_of(data, graph.nodes, hint, reading).needing(few_rows).moments
    return _tested(graph, fit, moments, level, compare, seed)


def _tested(
    graph: AnyGraph, fit: Fit | None, moments: Moments, level: float, compare: bool | None, seed: Seed
) -> GraphTest:
    chosen = moments if tuple(graph.nodes) == moments.names else moments.select(graph.nodes)
    same_rows = fit is not None and _is_same(fit.moments, chosen)
    dag = any_dag(graph)
    p, n = chosen.p, chosen.n
    fitted = refit(chosen, dag)
    U, adjacency = unit_root(chosen.R), dag.adjacency
    order = tuple(dag.index(name) for name in dag.topological_order())
    correlations, rests = np.full((p, p), np.nan), np.empty(p)
    rows: list[tuple[int, int, float, float]] = []
    for place, j in enumerate(order):
        parents = np.flatnonzero(adjacency[:, j])
        found = given_parents(U, j, parents)
        rests[j] = found.rest
        correlations[:, j] = found.correlation
        earlier = [i for i in order[:place] if not adjacency[i, j]]
        p_values = two_sided(found.correlation[earlier], n - 2.0 - len(parents))
        rows += [(i, j, float(found.correlation[i]), float(value)) for i, value in zip(earlier, p_values, strict=True)]
    parent_counts = adjacency.sum(axis=0)
    total = whole(U, order, rests, parent_counts, n)
    edges = int(parent_counts.sum())
    bic = _bic(chosen, rests, edges)
    return GraphTest(
        graph=graph,
        moments=chosen,
        level=level,
        columns=_claim_columns(rows, chosen.names, adjacency, level),
        refit=fitted,
        whole=total,
        bic=bic,
        random=_baseline(U, adjacency, order, n, level, seed, rows),
        mend=best_change(U, correlations, rests, dag, n),
        learned_bic=_learned_bic(chosen)
        if compare or (compare is None and p <= MOST_COMPARED and not same_rows)
        else None,
        same_rows=same_rows,
    )


def _is_same(one: Moments, other: Moments) -> bool:
    """Return whether moments are those of the same rows, as far as can be seen."""
    return one.names == other.names and one.n == other.n and np.allclose(one.spread, other.spread, rtol=1e-9)


def _claim_columns(
    rows: list[tuple[int, int, float, float]], names: tuple[str, ...], adjacency: Mask, level: float
) -> dict[str, list[Any]]:
    p_values = np.array([row[3] for row in rows])
    corrected = holm(p_values)
    worst = np.lexsort((-np.abs([row[2] for row in rows]), p_values)).tolist() if rows else []
    parents = {j: [names[i] for i in np.flatnonzero(adjacency[:, j])] for _, j, *_ in rows}
    return {
        "first": [names[rows[k][0]] for k in worst],
        "second": [names[rows[k][1]] for k in worst],
        "given": [parents[rows[k][1]] for k in worst],
        "correlation": plain(np.array([rows[k][2] for k in worst])),
        "p_value": plain(p_values[worst]),
        "corrected": plain(corrected[worst]),
        "contradicted": (corrected[worst] < level).tolist(),
    }


def _bic(moments: Moments, rests: Array, edges: int) -> float:
    """Return −2 log L + (edges + 2p) log n of a DAG, with the shares of the sums of squares that parents leave."""
    n, p = moments.n, moments.p
    log_variances = np.log(rests) + 2.0 * np.log(moments.spread) - np.log(n)
    return float(n * (log_variances.sum() + p * (1.0 + np.log(2.0 * np.pi))) + (edges + 2 * p) * np.log(n))


def _learned_bic(moments: Moments) -> float | None:
    """Return BIC of the graph that is learned from the moments; None where none is."""
    table = Table(moments)
    try:
        fit = Fit.learned(table, settings_for(table, "pooled", {"draws": 0}))
    except DataError:
        return None
    assert isinstance(fit.graph, Dag)
    U, adjacency = unit_root(moments.R), fit.graph.adjacency
    rests = np.array([given_parents(U, j, np.flatnonzero(adjacency[:, j])).rest for j in range(moments.p)])
    return _bic(moments, rests, fit.graph.edge_count)


def _baseline(
    U: Array,
    adjacency: Mask,
    order: tuple[int, ...],
    n: int,
    level: float,
    seed: Seed,
    rows: list[tuple[int, int, float, float]],
) -> Baseline | None:
    """Count the claims that the graph breaks with its variables mixed up (Eulig et al. 2023)."""
    if not rows:
        return None
    random = np.random.default_rng(seed)
    count = min(MOST_RANDOM, max(FEWEST_RANDOM, RANDOM_WORK // len(order)))
    counts = np.array([broken(U[:, random.permutation(len(order))], adjacency, order, n, level) for _ in range(count)])
    own = sum(p_value < level for *_, p_value in rows)
    low, median, high = np.percentile(counts, [5, 50, 95]).tolist()
    return Baseline(count, median, low, high, float((counts <= own).mean()))


def _on_other_half(
    fit: Fit | None, data: Any, level: float, compare: bool | None, seed: Seed, reading: dict[str, Any]
) -> GraphTest:
    """Learn the graph of a fit again from half of the rows, and test it on the other half."""
    if fit is None:
        raise SettingError(
            "split: the graph was not learned here, so there is nothing to learn again; give a fit or a saved one (.ordag).",
            ["split"],
        )
    rows = _kept_rows(fit) if data is None else Table(data, keep=2**26, **{**reading_of(fit), **reading}).rows
    if rows is None or rows.stride > 1:
        raise SettingError(
            "split: the rows are needed, and only a part of them or their moments are known: give data=… with all rows."
        )
    X = rows.values
    mixed = np.random.default_rng(seed).permutation(len(X))
    first, second = (Table.of_rows(fit.names, X[half], fit.moments) for half in (mixed[::2], mixed[1::2]))
    learned = Fit.learned(first, fit.method_settings)
    return _tested(learned.graph, None, second.moments, level, compare, seed)


def _kept_rows(fit: Fit) -> Rows | None:
    return None if fit.profile is None else Rows(fit.profile.complete.rows, fit.profile.stride)
