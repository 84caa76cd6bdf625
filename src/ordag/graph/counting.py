"""A connected chordal graph in, the number of its acyclic orientations without colliders out."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np

from ordag.arrays import Mask
from ordag.graph.acyclic import reachable
from ordag.graph.partly_directed import meek


def components(lines: Mask) -> Iterator[list[int]]:
    """The connected components of an undirected graph, each sorted, in the order of their first nodes."""
    left = np.ones(len(lines), dtype=bool)
    while left.any():
        first = int(np.argmax(left))
        found = reachable(lines, first)
        found[first] = True
        left &= ~found
        yield np.flatnonzero(found).tolist()


def orientations(lines: Mask) -> int:
    r"""Count by picking cliques (Wienöbst, Bannach & Liśkiewicz 2021).

    Every orientation has exactly one clique K of a rooted clique tree that can come first and is nearest the
    root, so $\#G = \sum_K \varphi(K) \prod_H \#H$, where H runs over the parts that stay undirected when all
    edges leave K, and $\varphi(K)$ counts the orders of K that do not begin with a separator that lies on K's
    path to the root. The parts recur, and each is counted once.
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
        for component in components(rest):
            result *= count(tuple(nodes[node] for node in component))
        return result

    return count(tuple(range(len(lines))))


def _orders(size: int, separators: list[int]) -> int:
    """The orders of a clique of which no beginning is one of the nested separators, given by their sizes."""
    bad = [
        factorial(size - separator) * _orders(separator, separators[:place])
        for place, separator in enumerate(separators)
    ]
    return factorial(size) - sum(bad)


def _clique_tree(lines: Mask) -> list[tuple[list[int], list[int]]]:
    """The maximal cliques of a connected chordal graph, each with the sizes of the separators that matter.

    A maximum cardinality search meets the cliques one after another, each hanging on an earlier one by the
    nodes that it shares with it (Blair & Peyton 1993). On the way from the root to a clique, the separators
    that lie within the clique are nested; their sizes are what is needed.
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
