"""Adjacency in, an order of the nodes, a cycle, or what directed paths lead to out."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ordag.arrays import Mask
from ordag.bits import packed_columns, union, unpacked_columns


def topological_order(adjacency: Mask) -> tuple[int, ...]:
    """Causes before effects; among the nodes that could come next, the smallest index (Kahn 1962).

    A node on a cycle, or behind one, never comes up, so the order holds all p nodes exactly if the graph is
    acyclic. Cost O(p²) for the matrix, then O(log p) per node and O(1) per edge.
    """
    source, target = np.nonzero(adjacency)
    starts = np.searchsorted(source, np.arange(len(adjacency) + 1)).tolist()
    waiting: list[int] = adjacency.sum(axis=0).tolist()
    targets: list[int] = target.tolist()
    ready = [node for node, parents in enumerate(waiting) if not parents]
    order = []
    while ready:  # a list in rising order is a heap
        node = heappop(ready)
        order.append(node)
        for child in targets[starts[node] : starts[node + 1]]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, child)
    return tuple(order)


def find_cycle(adjacency: Mask) -> tuple[int, ...] | None:
    """The nodes of one cycle, each pointing to the next and the last to the first; None if there is none."""
    left = np.ones(len(adjacency), dtype=bool)
    left[list(topological_order(adjacency))] = False
    if not left.any():
        return None
    # Every node that is left has a parent that is left: walking back must come to a node twice.
    node = int(np.argmax(left))
    step: dict[int, int] = {}
    walk: list[int] = []
    while node not in step:
        step[node] = len(walk)
        walk.append(node)
        node = int(np.argmax(adjacency[:, node] & left))
    cycle = walk[step[node] :][::-1]
    start = cycle.index(min(cycle))
    return tuple(cycle[start:] + cycle[:start])


def reachable(adjacency: Mask, start: int) -> Mask:
    """The nodes at the end of a directed path of one edge or more that begins at `start`."""
    found: Mask = adjacency[start].copy()
    frontier = found
    while frontier.any():
        frontier = adjacency[frontier].any(axis=0) & ~found
        found |= frontier
    return found


def transitive_closure(adjacency: Mask) -> Mask:
    """[i, j] True where a directed path leads from i to j, in a graph without cycles."""
    before = packed_columns(adjacency)
    for node in topological_order(adjacency):
        before[node] |= union(before, before[node])
    return unpacked_columns(before, len(adjacency))
