"""A DAG of a greedy search with a table of its neighbours: the residual sums of squares after every change of one edge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.bits import members, packed_columns, union, unpacked_columns, unpacked_rows
from ordag.knowledge.masks import Constraints
from ordag.learners.regressions import Regressions

TIE = 1e-12
"""A move must lower the objective by more than this share: less is rounding."""


class Position:
    r"""A DAG in a greedy search, with the outcome of every move.

    Each ordered pair i, j stands for one move: add i → j where the two are not joined, remove it where it is there, turn
    j → i round where that is there. The objective is

        $V(G) = c^{|E|} \sum_j \mathrm{RSS}_j$

    with c the price of an edge, so that (np/2) log V is the penalised likelihood up to a constant. A move changes the
    regression of j, and that of i if it turns an edge round: only these rows of the tables are computed again. Sets of nodes are
    bitmasks.

    parents     of every node
    children    of every node
    excluded    for every j the sources i of excluded moves: i → j would close a cycle, or may not change
    permitted   the number of moves with target j that are not excluded
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
        # Excluded for ever: moves that make a forbidden arrow or remove a required one. The opposite of a required arrow is forbidden.
        closed = [0] * p if known is None else packed_columns(~known.allowed | known.required)
        self._never = [sources | 1 << j for j, sources in enumerate(closed)]
        self._allowed = None if known is None else packed_columns(known.allowed)
        self.parents = [0] * p
        self.children = [0] * p
        self._below = [0] * p
        self.excluded = list(self._never)
        self.permitted = np.empty(p, dtype=np.intp)
        self.rss = np.empty(p)
        self.after = np.empty((p, p))
        self._others = 1.0 - np.eye(p)
        # For the move i → j at [j, i]: the change of the RSS of i, the factor on the price, and infinity where it is excluded.
        self._turned = np.zeros((p, p))
        self._prices = np.full((p, p), price)
        self._excluded_cost = np.empty((p, p))
        self._set_parents(dict(enumerate(packed_columns(adjacency))))
        self._exclude(range(p))

    @property
    def adjacency(self) -> Mask:
        """[i, j] True for i → j."""
        return unpacked_columns(self.parents, len(self.parents))

    @property
    def edge_count(self) -> int:
        return sum(parents.bit_count() for parents in self.parents)

    @property
    def bar(self) -> float:
        """The bound below which an entry of `outcomes` is an improvement."""
        return self.total * (1 - 2 * TIE)

    def copy(self) -> Position:
        """Return a copy that can move without changing this one."""
        twin = object.__new__(Position)
        twin.__dict__ |= self.__dict__
        for name in (
            "parents",
            "children",
            "_below",
            "excluded",
            "permitted",
            "rss",
            "after",
            "_turned",
            "_prices",
            "_excluded_cost",
        ):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def turnable(self) -> list[tuple[int, int]]:
        """Return the edges i → j that can be turned round: those with no second path from i to j."""
        single = [
            (i, below & ~excluded) for i, (below, excluded) in enumerate(zip(self.children, self.excluded, strict=True))
        ]
        return [(i, j) for i, below in single if below for j in members(below)]

    def outcomes(self) -> Array:
        """Return at [j, i] the objective after the move i → j, over the price of the present edges; infinite where it is excluded.

        The sum over the nodes other than j is computed again and not by subtracting from the total, in which a very
        large variance of j would swamp them. The RSS of a source that loses j as its parent can only grow, so there a
        difference is safe.
        """
        result: Array = (self._others @ self.rss)[:, None] + self.after
        result += self._turned
        result *= self._prices
        result += self._excluded_cost
        return result

    def move(self, i: int, j: int) -> bool:
        """Make the move i → j if the regressions themselves confirm the gain, and return whether they do.

        They may not where the table lacks precision; then the true values are put into it, so that the move is not
        proposed again.
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

        Both then have the same other parents, but for forbidden ones, as if j had preceded i from the start. The search
        removes those that are not needed.
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
        """Give some nodes other parents; rss is the new `rss`, if it is known.

        Edges are removed before others are added, so that there is no cycle on the way.
        """
        self.rss = self._rss_with(changes) if rss is None else rss
        self.total = float(self.rss.sum())
        before = self.excluded.copy()
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
        self._exclude([j for j, (old, new) in enumerate(zip(before, self.excluded, strict=True)) if old != new])

    def _join(self, i: int, j: int) -> None:
        """Add i → j: the ancestors of i become ancestors of j and its descendants."""
        self.children[i] |= 1 << j
        more = self._below[j] | 1 << j
        self.excluded[i] |= self._below[j]
        self._below[i] |= more
        for a in self._above(i):
            self.excluded[a] |= more
            self._below[a] |= more

    def _cut(self, i: int, j: int) -> None:
        """Remove i → j: compute again the descendants of i and of its ancestors."""
        self.children[i] &= ~(1 << j)
        before = self._below[i]
        self._update_below(i)
        if self._below[i] != before:
            # A node has fewer descendants than any of its ancestors.
            for a in sorted(self._above(i), key=lambda a: self._below[a].bit_count()):
                self._update_below(a)

    def _above(self, i: int) -> list[int]:
        bit = 1 << i
        return [a for a, below in enumerate(self._below) if below & bit]

    def _update_below(self, a: int) -> None:
        """Set the descendants of a from those of its children.

        A move to a closes a cycle if a path of two edges or more leads from a to its source.
        """
        far = union(self._below, self.children[a])
        self._below[a] = far | self.children[a]
        self.excluded[a] = far | self._never[a]

    def _exclude(self, targets: Sequence[int]) -> None:
        """Update the excluded moves to these nodes."""
        if targets:
            p = len(self.parents)
            excluded = [self.excluded[j] for j in targets]
            self._excluded_cost[targets] = np.where(unpacked_rows(excluded, p), math.inf, 0.0)
            self.permitted[targets] = [p - sources.bit_count() for sources in excluded]
