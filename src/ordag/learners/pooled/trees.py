"""Parents of a variable among its predecessors, by growing and shrinking a set; what was computed is kept in trees.

What grows next depends on the set so far and on who may join, and the candidates of a set rank the same whoever may: a node
of a variable's tree is a set that growing has reached, with its candidates from the best on, and to grow is to walk down
(Andrews et al. 2023, "Fast scalable and accurate discovery of DAGs using the best order score search and grow–shrink
trees"). Residual variances know nothing of the terms they enter, so the trees serve any `Local`.

In dense graphs growing from nothing loses its way among strongly correlated predecessors. So there is a second tree for every
variable, from the parents that it has in the graph of the start (`start_from`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple

import numpy as np

from ordag.learners.pooled.score import Local
from ordag.learners.pooled.variances import LogVariances

CLEAR = 1e-9
"""A term has to fall by more than this: less is rounding."""

LARGE = 12
"""A seed with more variables is not tried against growing from nothing, which is long and seldom better then."""


class Found(NamedTuple):
    """The parents found for a variable, and who mattered.

    cost: its term with the price of its parents.
    picked: all that were taken up while growing: whoever is not among them can go without any change.
    rivals: those that would have been taken up had they been there: the others can come without any change.
    """

    cost: float
    parents: int
    picked: int
    rivals: int


class _Node:
    __slots__ = ("ahead", "children", "count", "limit", "parents", "ranked", "shrunk", "size", "stamp", "v", "values")

    def __init__(self, parents: int, size: int, v: float) -> None:
        self.parents, self.size, self.v = parents, size, v
        self.stamp = -1
        self.limit = -np.inf
        self.ranked: list[int] = []
        self.values: list[float] = []
        self.ahead: list[int] = [0]
        self.count = 0
        self.children: dict[int, _Node] = {}
        self.shrunk: tuple[float, int] | None = None


class Trees:
    """Grow–shrink trees of all variables. `allowed[j]` are the possible parents of j, `required[j]` its certain ones."""

    def __init__(
        self, variances: LogVariances, local: Local, allowed: list[int] | None = None, required: list[int] | None = None
    ) -> None:
        p = variances.p
        self.variances = variances
        everyone = (1 << p) - 1
        self.allowed = [everyone & ~(1 << j) for j in range(p)] if allowed is None else allowed
        self.required = [0] * p if required is None else required
        self.roots = [_Node(s, s.bit_count(), variances.log_variance(j, s)) for j, s in enumerate(self.required)]
        self.seeds = [0] * p
        self._bits = [1 << k for k in range(p)]
        self._seeded: list[dict[int, _Node]] = [{} for _ in range(p)]
        self.local = local
        self.stamp = 0
        self.nodes = p

    def use(self, local: Local) -> None:
        """Go over to other terms."""
        self.local = local
        self.stamp += 1

    def start_from(self, seeds: Sequence[int]) -> None:
        """Besides growing from nothing, grow from these parents as far as they are there: what is better counts."""
        self.seeds = list(seeds)

    def find(self, j: int, before: int) -> Found:
        """Parents of j among `before`."""
        bare = None
        seed = self.seeds[j]
        if (seed & before).bit_count() <= LARGE:
            bare = self._grown(j, self.roots[j], before)
            if bare.parents == seed & before:
                return bare._replace(rivals=bare.rivals | seed & ~before)
        start = seed & before | self.required[j]
        root = self._seeded[j].get(start)
        if root is None:
            v = self.variances.log_variance(j, start)
            root = self._seeded[j][start] = _Node(start, start.bit_count(), v)
        seeded = self._grown(j, root, before)
        rivals = seeded.rivals | seed & ~before
        if bare is None:
            return seeded._replace(rivals=rivals)
        better = bare if bare.cost <= seeded.cost else seeded
        return better._replace(picked=bare.picked | seeded.picked, rivals=bare.rivals | rivals)

    def _grown(self, j: int, node: _Node, before: int) -> Found:
        """Walk down from a node as long as it pays, then shrink."""
        rivals = 0
        while True:
            if node.stamp != self.stamp:
                self._refresh(j, node)
            all_ahead = node.ahead[node.count]
            if not all_ahead & before:
                rivals |= all_ahead
                break
            at = 0
            ranked = node.ranked
            while not before >> ranked[at] & 1:
                at += 1
            rivals |= node.ahead[at]
            k = ranked[at]
            child = node.children.get(k)
            if child is None:
                child = node.children[k] = _Node(node.parents | 1 << k, node.size + 1, node.values[at])
                self.nodes += 1
            node = child
        if node.shrunk is None:
            node.shrunk = self._shrink(j, node)
        return Found(*node.shrunk, node.parents, rivals)

    def _refresh(self, j: int, node: _Node) -> None:
        """Bring up to date how many of the candidates pay."""
        enough = self.local.worthwhile(j, node.v) - CLEAR / self.variances.n
        if enough > node.limit:
            self._rank(j, node, enough)
        node.count = bisect_left(node.values, enough)
        node.stamp = self.stamp
        node.shrunk = None

    def _rank(self, j: int, node: _Node, enough: float) -> None:
        """List the candidates that pay, and as a reserve those that would at half the price."""
        limit = (enough + node.v) / 2.0 if node.v > enough else np.inf
        ranked, values = self.variances.candidates(j, node.parents, limit)
        ahead = list(accumulate(map(self._bits.__getitem__, ranked), or_, initial=0))
        possible = self.allowed[j] & ~node.parents
        if ahead[-1] & ~possible:
            values = [v for k, v in zip(ranked, values, strict=True) if possible >> k & 1]
            ranked = [k for k in ranked if possible >> k & 1]
            ahead = list(accumulate(map(self._bits.__getitem__, ranked), or_, initial=0))
        node.ranked, node.values, node.ahead, node.limit = ranked, values, ahead, limit

    def _shrink(self, j: int, node: _Node) -> tuple[float, int]:
        """Drop parents from the grown set as long as that pays: (cost, parents)."""
        local, required = self.local, self.required[j]
        parents, size, v = node.parents, node.size, node.v
        term = local.term(j, v)
        while size > required.bit_count():
            nodes, values = self.variances.log_dropping(j, parents)
            if required:
                values = np.where([required >> k & 1 for k in nodes.tolist()], np.inf, values)
            at = int(values.argmin())
            then = float(values[at])
            smaller = local.term(j, then)
            if smaller - term >= local.price - CLEAR:
                break
            parents &= ~(1 << int(nodes[at]))
            size -= 1
            v, term = then, smaller
        return term + local.price * size, parents
