"""A partly directed adjacency in, a DAG that agrees with it out."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ordag.arrays import Mask


def extension(adjacency: Mask) -> tuple[Mask, Mask]:
    """A DAG with the same skeleton, arrows and colliders (Dor & Tarsi 1992), and the nodes that were left over.

    Over and over a node is taken away that can come last: it has no arrow out, and each of its undirected
    neighbours is joined to all its other neighbours; its undirected edges become arrows into it. A node that
    can come last can still when others are gone, so each is tested anew only when a neighbour goes. Of the
    nodes that can, the one listed last goes first. The DAG exists exactly if no node is left over.
    """
    p = len(adjacency)
    arrows: Mask = adjacency & ~adjacency.T
    lines: Mask = adjacency & adjacency.T
    joined: Mask = adjacency | adjacency.T
    left = np.ones(p, dtype=bool)
    dag = arrows.copy()
    waiting = np.ones(p, dtype=bool)
    ready: list[int] = []

    def test(nodes: list[int]) -> None:
        for node in nodes:
            if waiting[node] and _can_be_last(node, arrows, lines, joined, left):
                waiting[node] = False
                heappush(ready, -node)

    test(list(range(p)))
    while ready:
        node = -heappop(ready)
        dag[lines[node] & left, node] = True
        left[node] = False
        test(np.flatnonzero(joined[node] & left).tolist())
    return dag, left


def _can_be_last(node: int, arrows: Mask, lines: Mask, joined: Mask, left: Mask) -> bool:
    if (arrows[node] & left).any():
        return False
    undirected = np.flatnonzero(lines[node] & left)
    around = np.flatnonzero(joined[node] & left)
    return bool((joined[np.ix_(undirected, around)].sum(axis=1) == len(around) - 1).all())
