"""Equivalence classes of DAGs (DAGs with the same d-separations): their CPDAGs, sizes and members."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.acyclic import reachable
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.partly_directed import class_links, meek

CLASS_LIMIT = 10_000
"""DAGs that `enumerate_class` lists at most by default."""

COMPONENT_LIMIT = 200
"""Nodes of a component, neither tree nor clique, whose orientations are counted."""


def v_structures(dag: Dag) -> tuple[tuple[str, str, str], ...]:
    """Return all (a, b, c) with a → b ← c and a, c not joined; by b, then a, then c, and a listed before c."""
    found = []
    joined = dag.links.without_direction()
    for node in np.flatnonzero(dag.links.in_columns > 1).tolist():
        parents = dag.links.turned.row(node)
        apart = np.triu(~joined.has(parents[:, None], parents), 1)
        for i, j in parents[np.argwhere(apart)].tolist():
            found.append((dag.nodes[i], dag.nodes[node], dag.nodes[j]))
    return tuple(found)


def to_cpdag(dag: Dag) -> Cpdag:
    """Return the equivalence class of a DAG; an edge is directed if all DAGs of the class agree on its direction."""
    return Cpdag.known(dag.nodes, class_links(dag.links))


def extend(cpdag: Cpdag) -> Dag:
    """Return a DAG with the same skeleton, the same arrows and no other colliders (Dor & Tarsi 1992).

    The graph need not be a CPDAG. Where there is a choice, arrows lead from nodes listed earlier.
    """
    reason = cpdag.why_not_extendable()
    if reason is not None:
        raise GraphError(f"none exists: {reason}")
    return Dag(cpdag.nodes, cpdag._extension[0])


def class_size(cpdag: Cpdag) -> int:
    """Count the DAGs of the class: the product over the components that its undirected edges connect.

    Trees and cliques of any size are counted by formula, other components up to COMPONENT_LIMIT nodes.
    """
    reason = cpdag.why_invalid()
    if reason is not None:
        raise GraphError(f"this is not the CPDAG of a DAG: {reason}")
    lines = cpdag.adjacency & cpdag.adjacency.T
    size = 1
    for part in _components(lines):
        undirected = lines[np.ix_(part, part)]
        simple = undirected.sum() in {2 * (len(part) - 1), len(part) * (len(part) - 1)}
        if len(part) > COMPONENT_LIMIT and not simple:
            raise GraphError(
                f"{len(part)} nodes hang together by undirected edges, and are neither a tree nor a clique;"
                f" classes are counted up to {COMPONENT_LIMIT} such nodes"
            )
        size *= _orientations(undirected)
    return size


def enumerate_class(cpdag: Cpdag, limit: int = CLASS_LIMIT) -> tuple[Dag, ...]:
    """Return all DAGs of the class; a class with more than `limit` of them is refused."""
    size = class_size(cpdag)
    if size > limit:
        raise GraphError(f"the class holds {size} DAGs; to list more than {limit}, raise limit")
    return tuple(Dag(cpdag.nodes, adjacency) for adjacency in _members(cpdag.adjacency))


def _members(adjacency: Mask) -> Iterator[Mask]:
    """Direct the first undirected edge one way and the other; after Meek's rules both lead to members."""
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


def _components(lines: Mask) -> Iterator[list[int]]:
    """Yield the connected components of an undirected graph, each sorted, in the order of their first nodes."""
    left = np.ones(len(lines), dtype=bool)
    while left.any():
        first = int(np.argmax(left))
        found = reachable(lines, first)
        found[first] = True
        left &= ~found
        yield np.flatnonzero(found).tolist()


def _orientations(lines: Mask) -> int:
    r"""Count the acyclic orientations without colliders of a connected chordal graph (Wienöbst, Bannach & Liśkiewicz 2021).

    Every orientation has exactly one clique K of a rooted clique tree that can come first and is nearest the
    root, so $\#G = \sum_K \varphi(K) \prod_H \#H$, where H runs over the components that stay undirected when all
    edges leave K, and $\varphi(K)$ counts the orders of K that do not begin with a separator on K's path to the
    root. Components recur, and each is counted once.
    """
    counts: dict[tuple[int, ...], int] = {}

    def count(nodes: tuple[int, ...]) -> int:
        if nodes not in counts:
            size = len(nodes)
            part = lines[np.ix_(nodes, nodes)]
            edges = int(part.sum()) // 2
            if edges == size - 1:
                counts[nodes] = size
            elif edges == size * (size - 1) // 2:
                counts[nodes] = factorial(size)
            else:
                counts[nodes] = sum(
                    _orders(len(clique), separators) * product(nodes, part, clique)
                    for clique, separators in _clique_tree(part)
                )
        return counts[nodes]

    def product(nodes: tuple[int, ...], part: Mask, clique: list[int]) -> int:
        inside = np.zeros(len(part), dtype=bool)
        inside[clique] = True
        rooted = meek(part & ~(inside & ~inside[:, np.newaxis]))
        rest = rooted & rooted.T
        rest[inside] = rest[:, inside] = False
        result = 1
        for component in _components(rest):
            result *= count(tuple(nodes[node] for node in component))
        return result

    return count(tuple(range(len(lines))))


def _orders(size: int, separators: list[int]) -> int:
    """Count the orders of a clique that do not begin with one of the nested separators, given by their sizes."""
    bad = [factorial(size - separator) * _orders(separator, separators[:k]) for k, separator in enumerate(separators)]
    return factorial(size) - sum(bad)


def _clique_tree(lines: Mask) -> list[tuple[list[int], list[int]]]:
    """Return the maximal cliques of a connected chordal graph, each with the sizes of the separators that it contains.

    A maximum cardinality search meets the cliques one after another, each attached to an earlier one by the
    nodes that it shares with it (Blair & Peyton 1993). On the path from the root to a clique, the separators
    that lie within the clique are nested, so their sizes suffice.
    """
    p = len(lines)
    weight = np.zeros(p, dtype=np.int64)
    visited = np.zeros(p, dtype=bool)
    home = np.zeros(p, dtype=np.int64)
    when = np.zeros(p, dtype=np.int64)
    cliques: list[set[int]] = []
    paths: list[list[set[int]]] = []
    previous = -1
    for step in range(p):
        node = int(np.argmax(np.where(visited, -1, weight)))
        earlier = np.flatnonzero(lines[node] & visited)
        if len(earlier) <= previous or not cliques:
            separator = set(earlier.tolist())
            cliques.append(set(separator))
            last = earlier[np.argmax(when[earlier])] if len(earlier) else 0
            paths.append([*paths[home[last]], separator] if separator else [])
        cliques[-1].add(node)
        home[node], when[node] = len(cliques) - 1, step
        previous = len(earlier)
        visited[node] = True
        weight += lines[node]
    return [
        (sorted(clique), sorted({len(separator) for separator in path if separator <= clique}))
        for clique, path in zip(cliques, paths, strict=True)
    ]
