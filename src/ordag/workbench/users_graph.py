"""A graph of the user's own on the table that is open: what it claims wrongly, what would mend it, how it differs from the learned one."""

from __future__ import annotations

from typing import Any

from ordag.common.words import counted, harmless, joined, number
from ordag.decisions.given_graph import AnyGraph, any_dag, parsed_graph
from ordag.decisions.tested_graph import GraphTest
from ordag.decisions.testing import test
from ordag.errors import GraphError, SettingError
from ordag.fit import Fit
from ordag.graph.dag import Dag

MOST_CLAIMS = 100
"""Claims that are sent to the page, the worst first."""

MOST_COMPARED = 30
"""Variables up to which the learned graph is tested, too."""


def users_graph(fit: Fit, text: str, file: str, change: str, source: str, target: str) -> dict[str, Any]:
    """Test a graph on the moments of a fit.

    text: the graph, nothing for one without arrows. file: the name of the file that it stood in, "" if it was typed. change: "add",
    "drop" or "turn" the arrow from source to target first; "" for no change.
    """
    graph = parsed_graph(text, file) if text.strip() else Dag.empty(fit.names)
    if change:
        graph = changed(graph, change, source, target)
    found = test(graph, fit.moments, compare=False)
    where = {name: j for j, name in enumerate(fit.names)}
    columns = found.columns
    claims = [
        {
            "ends": [where[columns["first"][k]], where[columns["second"][k]]],
            "words": harmless(found.claim(k)),
            "correlation": columns["correlation"][k],
            "corrected": columns["corrected"][k],
            "broken": columns["contradicted"][k],
        }
        for k in range(min(len(columns["first"]), MOST_CLAIMS))
    ]
    mend = found.mend
    return {
        "text": graph.to_dagitty(),
        "sentence": harmless(found.sentence),
        "light": found.light,
        "arrows": [[where[one], where[other]] for one, other in graph.directed],
        "lines": [[where[one], where[other]] for one, other in graph.undirected],
        "claims": claims,
        "claimed": len(columns["first"]),
        "broken": found.broken,
        "mend": None if mend is None else {**mend._asdict(), "words": harmless(mend.words)},
        "against": harmless(against(found, fit)),
    }


def changed(graph: AnyGraph, change: str, source: str, target: str) -> Dag:
    """Return the graph, or a DAG of the class, with one arrow added, dropped or turned round."""
    dag = any_dag(graph)
    arrows = [edge for edge in dag.directed if edge != (source, target)]
    if change == "turn":
        arrows.append((target, source))
    elif change == "add":
        arrows = [edge for edge in arrows if edge != (target, source)] + [(source, target)]
    elif change != "drop":
        raise SettingError(f"change={change!r} is not known: use add, drop or turn.")
    nodes = dict.fromkeys([*dag.nodes, source, target])
    return Dag.from_edges(tuple(nodes), arrows)


def against(found: GraphTest, fit: Fit) -> str:
    """Say how the graph differs from the learned one."""
    own, learned = found.graph, fit.graph
    if set(own.nodes) != set(learned.nodes):
        return f"It has {counted(len(own.nodes), 'variable')} of {len(learned.nodes)}."
    joins = {frozenset(edge): edge for edge in (*learned.directed, *learned.undirected)}
    same = sum(edge in set(learned.directed) for edge in own.directed)
    turned = sum(edge[::-1] in set(learned.directed) for edge in own.directed)
    open_ = sum(frozenset(edge) in joins for edge in (*own.directed, *own.undirected)) - same - turned
    alone = own.edge_count - same - turned - open_
    missing = learned.edge_count - same - turned - open_
    parts = [f"{counted(count, 'edge')} {words}" for count, words in (
        (same, "as learned"), (turned, "reversed"), (open_, "with a direction left open in one of them"),
        (alone, "that the learned graph does not have"), (missing, "only in the learned graph")) if count]  # fmt: skip
    said = (
        f"Compared with the learned graph: {joined(parts)}."
        if parts
        else "Neither this graph nor the learned one has an edge."
    )
    if len(own.nodes) <= MOST_COMPARED:
        try:
            away = found.bic - test(learned, fit.moments, compare=False).bic
        except GraphError:  # a class that no DAG belongs to
            return said
        said += (
            f" BIC is {number(abs(away), 3)} {'higher (worse)' if away > 0 else 'lower (better)'}."
            if abs(away) > 1e-6
            else " BIC is the same."
        )
    return said
