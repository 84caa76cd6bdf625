"""Layered graph layout by the method of Sugiyama, Tagawa & Toda (1981): causes above effects, few crossings.

Connected parts are laid out one by one. The layer of a box is the longest path to it. An edge over several layers has a point on each,
which takes a place among the boxes. Between two layers an edge is a curve with vertical ends, so it stays between them, and it crosses a
layer vertically in its own place: therefore it meets no box but its own two.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ordag.common.arrays import Mask

Point = tuple[float, float]
Edge = tuple[int, int]

HEIGHT = 32.0
"""Height of a box. All lengths are CSS pixels, 96 to the inch."""

MARGIN, APART, BETWEEN, STRAND = 16.0, 26.0, 46.0, 13.0
"""Distances: around the picture; between boxes; between layers; between edges that cross a layer."""

PORT = 8.0
"""Least distance between edges where they meet a box."""

LAYER_FACTOR = 1.7
"""Most boxes in a layer, in square roots of the number of boxes; a fuller layer continues in the next."""

SWEEPS = 24
"""Sweeps over the layers that reduce crossings."""


@dataclass(frozen=True)
class Layout:
    """Positions of boxes and edges.

    centres, sizes: centre, and width and height, of every box. routes: the points of each edge (source, target) from centre to centre.
    curves: each edge from rim to rim as cubic Bézier pieces: a start, then three points per piece.
    """

    centres: list[Point]
    sizes: list[Point]
    routes: dict[Edge, list[Point]]
    curves: dict[Edge, list[Point]]
    width: float
    height: float


def sequence(adjacency: Mask, order: Sequence[int] | None = None) -> list[int]:
    """Return the nodes with causes before effects, else by `order` or column; a cycle is broken at its first node."""
    arrows = adjacency & ~adjacency.T
    rank = list(order) if order is not None else list(range(len(adjacency)))
    parents = {node: {int(i) for i in arrows[:, node].nonzero()[0]} for node in rank}
    found: list[int] = []
    left = list(rank)
    while left:
        node = next((one for one in left if not parents[one]), left[0])
        left.remove(node)
        found.append(node)
        for child in arrows[node].nonzero()[0].tolist():
            parents[child].discard(node)
    return found


def layered(adjacency: Mask, order: Sequence[int] | None = None, widths: Sequence[float] | None = None) -> Layout:
    """Lay out boxes of these widths; an undirected edge runs from the earlier box to the later one.

    Unconnected parts stand side by side, the largest first, with isolated boxes in rows below.
    """
    p = len(adjacency)
    line = sequence(adjacency, order)
    rank = {node: place for place, node in enumerate(line)}
    joined = adjacency | adjacency.T
    edges = [(a, b) for a in line for b in joined[a].nonzero()[0].tolist() if rank[a] < rank[b]]
    into, out = Counter(b for _, b in edges), Counter(a for a, _ in edges)
    needed = [24.0 + PORT * (max(into[node], out[node]) - 1) for node in range(p)]
    wide = [max(pair) for pair in zip([90.0] * p if widths is None else widths, needed, strict=True)]
    parts = [
        _Part(nodes, [edge for edge in edges if edge[0] in nodes], rank, wide) for nodes in _connected(line, edges)
    ]
    linked = sorted((part for part in parts if part.edges), key=lambda part: -len(part.nodes))
    lone = [part for part in parts if not part.edges]

    area = sum((part.width + APART) * (part.height + BETWEEN) for part in parts)
    room = max([480.0, 1.3 * math.sqrt(area), *(part.width for part in parts)])
    centres: list[Point] = [(0.0, 0.0)] * p
    routes: dict[Edge, list[Point]] = {}
    curves: dict[Edge, list[Point]] = {}
    top, right, bottom = MARGIN, MARGIN, MARGIN
    for group, down in ((linked, BETWEEN), (lone, APART / 2)):
        for shelf in _shelves(group, room):
            left = MARGIN
            for part in shelf:
                for node in part.nodes:
                    centres[node] = part.x[node] + left, part.y[part.layer[node]] + top
                for (a, b), (route, curve) in part.drawn().items():
                    ends = (a, b) if adjacency[a, b] else (b, a)
                    step = 1 if ends == (a, b) else -1
                    routes[ends] = [(x + left, y + top) for x, y in route][::step]
                    curves[ends] = [(x + left, y + top) for x, y in curve][::step]
                left += part.width + APART
            right = max(right, left - APART)
            bottom = top + max(part.height for part in shelf)
            top = bottom + down
    return Layout(centres, [(one, HEIGHT) for one in wide], routes, curves, right + MARGIN, bottom + MARGIN)


def _connected(line: list[int], edges: list[Edge]) -> list[set[int]]:
    """Return the connected sets of boxes, by their first members."""
    part = {node: {node} for node in line}
    for a, b in edges:
        if part[a] is not part[b]:
            small, large = sorted((part[a], part[b]), key=len)
            large |= small
            for node in small:
                part[node] = large
    return list({id(part[node]): part[node] for node in line}.values())


def _shelves(parts: list[_Part], room: float) -> list[list[_Part]]:
    shelves: list[list[_Part]] = []
    used = math.inf
    for part in parts:
        if used + APART + part.width > room:
            shelves.append([])
            used = -APART
        shelves[-1].append(part)
        used += APART + part.width
    return shelves


class _Part:
    """One connected part: its layers, the positions in them, and the points of long edges."""

    def __init__(self, nodes: set[int], edges: list[Edge], rank: dict[int, int], wide: Sequence[float]) -> None:
        self.nodes = sorted(nodes, key=rank.__getitem__)
        self.edges = edges
        self.above: dict[int, list[int]] = defaultdict(list)
        self.below: dict[int, list[int]] = defaultdict(list)
        self.layer = self._layers()
        self.half = {node: wide[node] / 2 for node in self.nodes}
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer.values()) + 1)]
        for node in self.nodes:
            self.rows[self.layer[node]].append(node)
        self.chains: dict[Edge, list[int]] = {}
        self._lay_chains()
        if edges:
            self._cross_less()
        self.x = self._across()
        self.y = self._down()
        self.width = max(self.x[node] + self.half[node] for node in self.x)
        self.height = self.y[-1] + HEIGHT / 2

    def _layers(self) -> dict[int, int]:
        """Return the layer of every node: its longest path, in layers of limited size; then move causes down towards their effects."""
        into, out = defaultdict(list), defaultdict(list)
        for a, b in self.edges:
            into[b].append(a)
            out[a].append(b)
        most = max(5, round(LAYER_FACTOR * math.sqrt(len(self.nodes))))
        layer: dict[int, int] = {}
        count: dict[int, int] = defaultdict(int)
        for node in self.nodes:
            layer[node] = max((layer[parent] + 1 for parent in into[node]), default=0)
            while count[layer[node]] >= most:
                layer[node] += 1
            count[layer[node]] += 1
        for node in reversed(self.nodes):
            if len(out[node]) > len(into[node]):
                count[layer[node]] -= 1
                lowest = min(layer[child] for child in out[node]) - 1
                layer[node] = next(k for k in range(lowest, layer[node] - 1, -1) if count[k] < most)
                count[layer[node]] += 1
        used = {old: new for new, old in enumerate(sorted(set(layer.values())))}
        return {node: used[k] for node, k in layer.items()}

    def _lay_chains(self) -> None:
        """Put a point, with a negative number, on every layer between the ends of an edge."""
        point = 0
        for a, b in self.edges:
            chain = [a]
            for k in range(self.layer[a] + 1, self.layer[b]):
                point -= 1
                self.layer[point], self.half[point] = k, 0.0
                self.rows[k].append(point)
                chain.append(point)
            self.chains[a, b] = [*chain, b]
            for one, next_one in pairwise(self.chains[a, b]):
                self.below[one].append(next_one)
                self.above[next_one].append(one)

    def _cross_less(self) -> None:
        """Reduce crossings: sweeps sort each layer by the mean position of the neighbours, then adjacent nodes are exchanged.

        Starts from the order and from its mirror image, and keeps the result with fewer crossings.
        """
        best, fewest = self.rows, math.inf
        for rows in (self.rows, [row[::-1] for row in self.rows]):
            place = {node: k for row in rows for k, node in enumerate(row)}
            for sweep in range(SWEEPS):
                down = sweep % 2 == 0
                near = self.above if down else self.below
                for k in range(len(rows)) if down else range(len(rows) - 1, -1, -1):
                    mean = {node: _mean([place[other] for other in near[node]], place[node]) for node in rows[k]}
                    rows[k] = sorted(rows[k], key=mean.__getitem__)
                    place.update({node: position for position, node in enumerate(rows[k])})
                if sweep % 4 == 3:
                    self._exchange(rows, place)
                    crossings = self._crossings(rows, place)
                    if crossings < fewest:
                        best, fewest = [list(row) for row in rows], crossings
                if fewest == 0:
                    break
        self.rows = best

    def _exchange(self, rows: list[list[int]], place: dict[int, int]) -> None:
        for _ in range(4):
            better = False
            for row in rows:
                for k in range(len(row) - 1):
                    a, b = row[k], row[k + 1]
                    now = then = 0
                    for near in (self.above, self.below):
                        first, second = sorted(place[o] for o in near[a]), sorted(place[o] for o in near[b])
                        now += sum(bisect_right(second, one - 1) for one in first)
                        then += sum(bisect_right(first, one - 1) for one in second)
                    if then < now:
                        row[k], row[k + 1] = b, a
                        place[a], place[b] = k + 1, k
                        better = True
            if not better:
                return

    def _crossings(self, rows: list[list[int]], place: dict[int, int]) -> int:
        total = 0
        for row in rows[:-1]:
            passed: list[int] = []
            for node in row:
                ends = sorted(place[other] for other in self.below[node])
                total += sum(len(passed) - bisect_right(passed, end) for end in ends)
                for end in ends:
                    insort(passed, end)
        return total

    def _across(self) -> dict[int, float]:
        """Return x positions near the neighbours, in the order of the layer and far enough apart, with long edges straight."""
        x: dict[int, float] = {}
        for row in self.rows:
            spot = 0.0
            for left, node in pairwise([row[0], *row]):
                spot += 0.0 if left == node else self._apart(left, node)
                x[node] = spot
            x.update({node: x[node] - spot / 2 for node in row})
        both = {node: self.above[node] + self.below[node] for node in x}
        for sweep in range(60 if self.edges else 0):
            near = both if sweep >= 40 or sweep % 8 > 5 else self.above if sweep % 2 == 0 else self.below
            for row in self.rows if sweep % 2 == 0 else reversed(self.rows):
                wanted, weight = [], []
                for node in row:
                    pulls = [(x[other], _pull(node, other)) for other in near[node]]
                    total = sum(pull for _, pull in pulls)
                    wanted.append(sum(spot * pull for spot, pull in pulls) / total if pulls else x[node])
                    weight.append(total or 0.1)
                gaps = [0.0, *(self._apart(a, b) for a, b in pairwise(row))]
                x.update(zip(row, _kept_apart(wanted, weight, gaps), strict=True))
        self._straighten(x)
        least = min(x[node] - self.half[node] for node in x)
        return {node: spot - least for node, spot in x.items()}

    def _straighten(self, x: dict[int, float]) -> None:
        """Give every long edge one x position on all layers that it crosses, where one is free."""
        neighbours: dict[int, tuple[int | None, int | None]] = {}
        for row in self.rows:
            around = [None, *row, None]
            neighbours.update({node: (around[k], around[k + 2]) for k, node in enumerate(row)})
        for _ in range(3):
            for a, *points, b in self.chains.values():
                if points:
                    low, high = -math.inf, math.inf
                    for point in points:
                        left, right = neighbours[point]
                        low = low if left is None else max(low, x[left] + self._apart(left, point))
                        high = high if right is None else min(high, x[right] - self._apart(point, right))
                    if low <= high:
                        near_end = [x[end] for end in (a, b) if low <= x[end] <= high]
                        spot = near_end[0] if near_end else _mean([x[point] for point in points], 0.0)
                        x.update(dict.fromkeys(points, min(max(spot, low), high)))

    def _apart(self, a: int, b: int) -> float:
        gap = STRAND if a < 0 and b < 0 else APART if a >= 0 and b >= 0 else 0.7 * APART
        return self.half[a] + self.half[b] + gap

    def _down(self) -> list[float]:
        """Return the middle of every layer; layers are further apart where an edge between them is long."""
        y = [HEIGHT / 2]
        for row in self.rows[:-1]:
            reach = max((abs(self.x[node] - self.x[other]) for node in row for other in self.below[node]), default=0.0)
            y.append(y[-1] + HEIGHT + min(BETWEEN + 0.12 * reach, 2.4 * BETWEEN))
        return y

    def drawn(self) -> dict[Edge, tuple[list[Point], list[Point]]]:
        """Return every edge as points and as a curve; edges of one box leave and enter it side by side."""
        port: dict[tuple[int, int], float] = {}
        for node in self.nodes:
            for near in (self.above[node], self.below[node]):
                ends = sorted(near, key=self.x.__getitem__)
                step = min(14.0, 2 * max(self.half[node] - 12.0, 0.0) / max(len(ends) - 1, 1))
                for k, other in enumerate(ends):
                    port[node, other] = self.x[node] + step * (k - (len(ends) - 1) / 2)
        found = {}
        for edge, chain in self.chains.items():
            route = [(self.x[node], self.y[self.layer[node]]) for node in chain]
            curve: list[Point] = []
            for one, other in pairwise(chain):
                start = port.get((one, other), self.x[one]), self.y[self.layer[one]] + HEIGHT / 2
                end = port.get((other, one), self.x[other]), self.y[self.layer[other]] - HEIGHT / 2
                curve += _upright(curve[-1], start)[1:] if curve else [start]
                curve += _upright(start, end)[1:]
            found[edge] = route, curve
        return found


def _upright(start: Point, end: Point) -> list[Point]:
    """Return a cubic Bézier piece with vertical ends."""
    middle = (start[1] + end[1]) / 2
    return [start, (start[0], middle), (end[0], middle), end]


def _pull(a: int, b: int) -> float:
    """Return how strongly an edge is straightened: most between two points of a long edge."""
    return 8.0 if a < 0 and b < 0 else 2.0 if a < 0 or b < 0 else 1.0


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _kept_apart(wanted: Sequence[float], weight: Sequence[float], gaps: Iterable[float]) -> list[float]:
    """Return the positions nearest to the wanted ones that are in order and `gaps` apart: isotonic regression by pooling."""
    shift, total = [], 0.0
    for gap in gaps:
        total += gap
        shift.append(total)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for one, pull, moved in zip(wanted, weight, shift, strict=True):
        mean, heavy, count = one - moved, pull, 1
        while blocks and blocks[-1][0] > mean:
            before, weighs, many = blocks.pop()
            mean = (before * weighs + mean * heavy) / (weighs + heavy)
            heavy, count = heavy + weighs, count + many
        blocks.append((mean, heavy, count))
    spots = [mean for mean, _, count in blocks for _ in range(count)]
    return [spot + moved for spot, moved in zip(spots, shift, strict=True)]
