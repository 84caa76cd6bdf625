"""A DAG and the table of its neighbours: what every single change of an edge would make of the residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ordag.arrays import Array, Mask
from ordag.bits import members, packed_columns, union, unpacked_columns, unpacked_rows
from ordag.knowledge.masks import Constraints
from ordag.learners.regressions import Regressions

TIE = 1e-12
"""A move has to lower the objective by more than this share of it: less is rounding."""


class Position:
    r"""A DAG in a greedy search, with all its neighbours looked at beforehand.

    Each ordered pair i, j stands for one move, the one after which i → j is there or is no longer: add it where the
    two are not joined, take it away where it is there, turn j → i round where that is there. The objective is

        $V(G) = c^{|E|} \sum_j \mathrm{RSS}_j$

    with c the price of an edge, so that (np/2) log V is the penalised likelihood up to a constant. A move changes the
    regression of j, and that of i if it turns an edge round: only these rows of the tables are written anew. Sets of nodes are bitmasks.

    parents     of every node
    children    of every node
    shut        of every j the sources i of moves that are out: i → j would close a cycle, or may not change
    room        how many moves with target j are not out
    rss         residual sum of squares of every node on its parents
    total       Σ RSS
    after       [j, i] the RSS of node j with i as one more parent, or without i where i is one
    """

    def __init__(
        self, regressions: Regressions, adjacency: Mask, price: float, known: Constraints | None = None
    ) -> None:
        p = regressions.p
        self.regressions = regressions
        self.price = price
        # A move adds or turns into an arrow that may not be, or takes away one that must be; to turn one round that
        # must be makes its opposite, which may not be.
        closed = [0] * p if known is None else packed_columns(~known.allowed | known.required)
        self._never = [sources | 1 << j for j, sources in enumerate(closed)]
        self._allowed = None if known is None else packed_columns(known.allowed)
        self.parents = [0] * p
        self.children = [0] * p
        self._below = [0] * p
        self.shut = list(self._never)
        self.room = np.empty(p, dtype=np.intp)
        self.rss = np.empty(p)
        self.after = np.empty((p, p))
        self._others = 1.0 - np.eye(p)
        # Of the move i → j at [j, i]: what it adds to the RSS of i, what it does to the price, and infinity where it is out.
        self._turned = np.zeros((p, p))
        self._prices = np.full((p, p), price)
        self._walls = np.empty((p, p))
        self._set_parents(dict(enumerate(packed_columns(adjacency))))
        self._wall(range(p))

    @property
    def adjacency(self) -> Mask:
        """[i, j] True for i → j."""
        return unpacked_columns(self.parents, len(self.parents))

    @property
    def edge_count(self) -> int:
        return sum(parents.bit_count() for parents in self.parents)

    @property
    def bar(self) -> float:
        """What an entry of `outcomes` has to lie below to be an improvement."""
        return self.total * (1 - 2 * TIE)

    def copy(self) -> Position:
        """The same position, to go on from without changing this one."""
        twin = object.__new__(Position)
        twin.__dict__ |= self.__dict__
        for name in ("parents", "children", "_below", "shut", "room", "rss", "after", "_turned", "_prices", "_walls"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def turnable(self) -> list[tuple[int, int]]:
        """The edges i → j that can be turned round: those with no second path from i to j."""
        single = [(i, below & ~shut) for i, (below, shut) in enumerate(zip(self.children, self.shut, strict=True))]
        return [(i, j) for i, below in single if below for j in members(below)]

    def outcomes(self) -> Array:
        """[j, i] the objective after the move i → j, over the price of the edges there are now; infinite where it is out.

        The sum over the nodes other than j is added up anew and not by subtracting from the total, in which a very
        large variance of j would drown them. A source that loses j as its parent can only have more unexplained than
        before, so there a difference is safe.
        """
        result: Array = (self._others @ self.rss)[:, None] + self.after
        result += self._turned
        result *= self._prices
        result += self._walls
        return result

    def move(self, i: int, j: int) -> bool:
        """Make the move i → j if the regressions themselves confirm the gain.

        They may not where the table is short of digits; then the true values are put into it, so that the move is not
        proposed again, and nothing else happens.
        """
        turned = self.parents[i] >> j & 1
        changes = {j: self.parents[j] ^ (1 << i)}
        if turned:
            changes[i] = self.parents[i] ^ (1 << j)
        rss = self._rss_with(changes)
        price = 1.0 if turned else 1 / self.price if self.parents[j] >> i & 1 else self.price
        if not rss.sum() * price < self.total * (1 - TIE):
            self.after[j, i] = rss[j]
            if turned:
                self.after[i, j] = rss[i]
                self._turned[j, i] = rss[i] - self.rss[i]
            return False
        self._set_parents(changes, rss)
        return True

    def exchange(self, i: int, j: int) -> None:
        """Turn round an edge i → j that is `turnable`, after joining the parents of its two ends.

        Both then have the same other parents, as they would have if j had come before i from the start, but for those
        that may not be theirs. Those that are not needed are left to the search.
        """
        common = (self.parents[i] | self.parents[j]) & ~(1 << i)
        new = {i: common | 1 << j, j: common}
        if self._allowed is not None:
            new = {node: parents & self._allowed[node] for node, parents in new.items()}
        self._set_parents(new)

    def _rss_with(self, changes: Mapping[int, int]) -> Array:
        rss = self.rss.copy()
        for j, parents in changes.items():
            rss[j] = self.regressions.rss(j, parents)
        return rss

    def _set_parents(self, changes: Mapping[int, int], rss: Array | None = None) -> None:
        """Other parents for some nodes; rss is what they make of `rss`, if it is known.

        Edges that go are taken away before others come, so that there is no cycle on the way.
        """
        self.rss = self._rss_with(changes) if rss is None else rss
        self.total = float(self.rss.sum())
        before = self.shut.copy()
        for j, parents in changes.items():
            for i in members(self.parents[j] & ~parents):
                self._prices[i, j] = self._prices[j, i] = self.price
                self._turned[i, j] = 0.0
                self._cut(i, j)
        for j, parents in changes.items():
            for i in members(parents & ~self.parents[j]):
                self._prices[i, j], self._prices[j, i] = 1.0, 1 / self.price
                self._join(i, j)
            self.parents[j] = parents
            self.after[j] = row = self.regressions.rss_changing(j, parents)
            for i in members(parents):
                self._turned[i, j] = row[i] - self.rss[j]
        self._wall([j for j, (old, new) in enumerate(zip(before, self.shut, strict=True)) if old != new])

    def _join(self, i: int, j: int) -> None:
        """A new edge i → j: whatever leads to i now also leads to j and beyond."""
        self.children[i] |= 1 << j
        more = self._below[j] | 1 << j
        self.shut[i] |= self._below[j]
        self._below[i] |= more
        for a in self._above(i):
            self.shut[a] |= more
            self._below[a] |= more

    def _cut(self, i: int, j: int) -> None:
        """An edge i → j is gone: i and its ancestors have to find anew what they lead to, the others do not."""
        self.children[i] &= ~(1 << j)
        before = self._below[i]
        self._find(i)
        if self._below[i] != before:
            # A node leads to fewer nodes than any of its ancestors.
            for a in sorted(self._above(i), key=lambda a: self._below[a].bit_count()):
                self._find(a)

    def _above(self, i: int) -> list[int]:
        bit = 1 << i
        return [a for a, below in enumerate(self._below) if below & bit]

    def _find(self, a: int) -> None:
        """What a leads to, from what its children lead to.

        A move to a closes a cycle if a path of two edges or more leads from a to its source.
        """
        far = union(self._below, self.children[a])
        self._below[a] = far | self.children[a]
        self.shut[a] = far | self._never[a]

    def _wall(self, targets: Sequence[int]) -> None:
        """Write down which moves to these nodes are out."""
        if targets:
            p = len(self.parents)
            shut = [self.shut[j] for j in targets]
            self._walls[targets] = np.where(unpacked_rows(shut, p), math.inf, 0.0)
            self.room[targets] = [p - sources.bit_count() for sources in shut]
