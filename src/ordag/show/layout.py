"""A graph in, coordinates out: layers from causes down to effects, and each layer sorted so that few edges cross."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ordag.graph.graph import Graph

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Places of the nodes, and the points that each edge (source, target indices) passes through."""

    places: list[Point]
    routes: dict[tuple[int, int], list[Point]]
    width: float
    height: float


def layered(graph: Graph, order: tuple[str, ...] | None = None, across: float = 130.0, down: float = 90.0) -> Layout:
    """Sugiyama's method in its plainest form.

    A node's layer is the longest way to it; an edge over several layers gets a point on each; sweeps down and up
    put every node at the mean place of its neighbours. Undirected edges are laid out from the earlier node to the
    later one.
    """
    rank = {name: place for place, name in enumerate(order or graph.nodes)}
    p = len(graph.nodes)
    pairs = [*graph.directed, *(tuple(sorted(pair, key=rank.__getitem__)) for pair in graph.undirected)]
    edges = [(graph.index(pair[0]), graph.index(pair[1])) for pair in pairs]
    layer = _layers(p, edges, [graph.index(name) for name in sorted(graph.nodes, key=rank.__getitem__)])

    members: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
    for node in sorted(range(p), key=lambda i: rank[graph.nodes[i]]):
        members[layer[node]].append(node)
    chains: dict[tuple[int, int], list[int]] = {}
    next_point = p
    links: list[tuple[int, int]] = []
    for a, b in edges:
        chain = [a]
        for level in range(layer[a] + 1, layer[b]):
            members[level].append(next_point)
            chain.append(next_point)
            next_point += 1
        chain.append(b)
        chains[a, b] = chain
        links += pairwise(chain)
    place = _sweep(members, links, next_point)

    widest = max(len(row) for row in members)
    width = max(widest, 1) * across
    spots: list[Point] = [(0.0, 0.0)] * next_point
    for level, row in enumerate(members):
        for node in row:
            x = (place[node] + 0.5) * width / max(len(row), 1)
            spots[node] = (x, (level + 0.5) * down)
    routes = {edge: [spots[i] for i in chain] for edge, chain in chains.items()}
    return Layout(spots[:p], routes, width, len(members) * down)


def _layers(p: int, edges: list[tuple[int, int]], order: list[int]) -> list[int]:
    layer = [0] * p
    into: list[list[int]] = [[] for _ in range(p)]
    for a, b in edges:
        into[b].append(a)
    for _ in range(p):  # at most p passes; one is enough where the order is a topological one
        before = list(layer)
        for node in order:
            layer[node] = max((layer[parent] + 1 for parent in into[node]), default=0)
            layer[node] = min(layer[node], p - 1)
        if layer == before:
            break
    return layer


def _sweep(members: list[list[int]], links: list[tuple[int, int]], total: int, rounds: int = 12) -> list[int]:
    """Sort each layer by the mean relative place of the neighbours above (going down) and below (going up)."""
    above: list[list[int]] = [[] for _ in range(total)]
    below: list[list[int]] = [[] for _ in range(total)]
    for a, b in links:
        below[a].append(b)
        above[b].append(a)
    place = [0] * total
    share = [0.0] * total
    for row in members:
        _settle(row, place, share)
    for turn in range(rounds):
        rows = members if turn % 2 == 0 else members[::-1]
        near = above if turn % 2 == 0 else below
        for row in rows:
            row.sort(key=lambda i: float(np.mean([share[j] for j in near[i]])) if near[i] else share[i])
            _settle(row, place, share)
    return place


def _settle(row: list[int], place: list[int], share: list[float]) -> None:
    for position, node in enumerate(row):
        place[node] = position
        share[node] = (position + 0.5) / len(row)
