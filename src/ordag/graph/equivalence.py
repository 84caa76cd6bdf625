"""Dags in, their classes out, and back: two DAGs are in one class if they have the same d-separations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.counting import components, orientations
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.partly_directed import class_links, meek

CLASS_LIMIT = 10_000
COMPONENT_LIMIT = 200


def v_structures(dag: Dag) -> tuple[tuple[str, str, str], ...]:
    """All (a, b, c) with a → b ← c and a, c not joined; by b, then a, then c, and a listed before c."""
    found = []
    joined = dag.links.without_direction()
    for node in np.flatnonzero(dag.links.in_columns > 1).tolist():
        parents = dag.links.turned.row(node)
        apart = np.triu(~joined.has(parents[:, None], parents), 1)
        for i, j in parents[np.argwhere(apart)].tolist():
            found.append((dag.nodes[i], dag.nodes[node], dag.nodes[j]))
    return tuple(found)


def to_cpdag(dag: Dag) -> Cpdag:
    """The equivalence class of a DAG: an edge is directed if all DAGs of the class agree on its direction."""
    return Cpdag.known(dag.nodes, class_links(dag.links))


def extend(cpdag: Cpdag) -> Dag:
    """A DAG with the same skeleton, the same arrows and no other colliders (Dor & Tarsi 1992).

    Any partly directed graph will do. Where there is a choice, arrows lead from nodes listed earlier.
    """
    reason = cpdag.why_not_extendable()
    if reason is not None:
        raise GraphError(f"none exists: {reason}")
    return Dag(cpdag.nodes, cpdag._extension[0])


def class_size(cpdag: Cpdag) -> int:
    """How many DAGs the class holds: the product over the parts that its undirected edges connect.

    Trees and cliques of any size are counted at once, other parts up to COMPONENT_LIMIT nodes.
    """
    _check_valid(cpdag)
    lines = cpdag.adjacency & cpdag.adjacency.T
    size = 1
    for part in components(lines):
        undirected = lines[np.ix_(part, part)]
        simple = undirected.sum() in {2 * (len(part) - 1), len(part) * (len(part) - 1)}
        if len(part) > COMPONENT_LIMIT and not simple:
            raise GraphError(
                f"{len(part)} nodes hang together by undirected edges, and are neither a tree nor a clique;"
                f" classes are counted up to {COMPONENT_LIMIT} such nodes"
            )
        size *= orientations(undirected)
    return size


def enumerate_class(cpdag: Cpdag, limit: int = CLASS_LIMIT) -> tuple[Dag, ...]:
    """All DAGs of the class; a class with more than `limit` of them is refused."""
    size = class_size(cpdag)
    if size > limit:
        raise GraphError(f"the class holds {size} DAGs; to list more than {limit}, raise limit")
    return tuple(Dag(cpdag.nodes, adjacency) for adjacency in _members(cpdag.adjacency))


def _members(adjacency: Mask) -> Iterator[Mask]:
    """Direct the first undirected edge one way and the other; after Meek's rules neither is a dead end."""
    waiting = [adjacency]
    while waiting:
        current = waiting.pop()
        undirected = np.argwhere(np.triu(current & current.T))
        if not len(undirected):
            yield current
            continue
        i, j = undirected[0]
        for tail, head in ((j, i), (i, j)):
            chosen = current.copy()
            chosen[head, tail] = False
            waiting.append(meek(chosen))


def _check_valid(cpdag: Cpdag) -> None:
    reason = cpdag.why_invalid()
    if reason is not None:
        raise GraphError(f"this is not the CPDAG of a DAG: {reason}")
