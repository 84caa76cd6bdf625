"""Directed paths: topological order, cycles, reachable nodes, transitive closure."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ordag.common.arrays import Mask
from ordag.common.bits import packed_columns, union, unpacked_columns
from ordag.graph.links import Links


def topological_order(graph: Mask | Links) -> tuple[int, ...]:
    """Return the nodes, causes before effects; of those that could come next, the smallest index (Kahn 1962).

    Nodes on a cycle or behind one are left out, so the order has all p nodes exactly if the graph is acyclic.
    The cost is O(log p) per node and O(1) per edge.
    """
    links = _links(graph)
    starts, targets = links.starts, links.target.tolist()
    waiting: list[int] = links.in_columns.tolist()
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


def find_cycle(graph: Mask | Links) -> tuple[int, ...] | None:
    """Return the nodes of one cycle, each pointing to the next and the last to the first; None if acyclic."""
    links = _links(graph)
    order = topological_order(links)
    if len(order) == links.p:
        return None
    left = np.ones(links.p, dtype=bool)
    left[list(order)] = False
    # Every node that is left has a parent that is left: walking back to the first of them must reach a node twice.
    behind = links.turned.where(left[links.turned.target])
    node = int(np.argmax(left))
    step: dict[int, int] = {}
    walk: list[int] = []
    while node not in step:
        step[node] = len(walk)
        walk.append(node)
        node = int(behind.row(node)[0])
    cycle = walk[step[node] :][::-1]
    start = cycle.index(min(cycle))
    return tuple(cycle[start:] + cycle[:start])


def reachable(graph: Mask | Links, start: int) -> Mask:
    """Return the mask of nodes at the end of a directed path of at least one edge from `start`."""
    links = _links(graph)
    found = np.zeros(links.p, dtype=bool)
    frontier = [start]
    while frontier:
        reached = np.concatenate([links.row(node) for node in frontier])
        fresh = np.unique(reached[~found[reached]])
        found[fresh] = True
        frontier = fresh.tolist()
    return found


def transitive_closure(adjacency: Mask) -> Mask:
    """Return the mask that is True at [i, j] if a directed path leads from i to j, in an acyclic graph."""
    before = packed_columns(adjacency)
    for node in topological_order(adjacency):
        before[node] |= union(before, before[node])
    return unpacked_columns(before, len(adjacency))


def _links(graph: Mask | Links) -> Links:
    return graph if isinstance(graph, Links) else Links.of(graph)
