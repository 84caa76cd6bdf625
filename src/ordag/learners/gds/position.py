"""A DAG and the table of its neighbours: what every single change of an edge would make of the residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.bits import members, packed_columns
from ordag.knowledge.masks import Constraints
from ordag.learners.regressions import Regressions

Nodes: TypeAlias = NDArray[np.intp]
Paths: TypeAlias = NDArray[np.float32]
"""1.0 where there is a path, 0.0 elsewhere: products of these count paths."""

TIE = 1e-12
"""A move has to lower the objective by more than this share of it: less is rounding."""


class Position:
    r"""A DAG in a greedy search, with all its neighbours looked at beforehand.

    Each ordered pair i, j stands for one move, the one after which i → j is there or is no longer: add it where the
    two are not joined, take it away where it is there, turn j → i round where that is there. The objective is

        $V(G) = c^{|E|} \sum_j \mathrm{RSS}_j$

    with c the price of an edge, so that (np/2) log V is the penalised likelihood up to a constant. A move changes the
    regression of j, and that of i if it turns an edge round: only these rows of `after` are computed anew.

    adjacency   [i, j] True for i → j
    parents     of every node, as a bitmask
    rss         residual sum of squares of every node on its parents
    after       [j, i] the same for node j with i as one more parent, or without i where i is one
    closed      [i, j] True for moves that are out whatever they bring, or None
    """

    def __init__(
        self, regressions: Regressions, adjacency: Mask, price: float, known: Constraints | None = None
    ) -> None:
        p = regressions.p
        self.regressions = regressions
        self.price = price
        # A move adds or turns into an arrow that may not be, or takes away one that must be; to turn one round that
        # must be makes its opposite, which may not be.
        self.closed = None if known is None else ~known.allowed | known.required
        self._allowed = None if known is None else packed_columns(known.allowed)
        self.adjacency = np.zeros((p, p), dtype=bool)
        self.parents = [0] * p
        self.rss = np.empty(p)
        self.after = np.empty((p, p))
        self._others = 1.0 - np.eye(p)
        self._arrows: Paths = np.zeros((p, p), dtype=np.float32)
        self._set_parents(dict(enumerate(packed_columns(adjacency))))
        self._reach = reachability(self._arrows)

    @property
    def total(self) -> float:
        """Σ RSS."""
        return float(self.rss.sum())

    @property
    def edge_count(self) -> int:
        return int(np.count_nonzero(self.adjacency))

    @property
    def bar(self) -> float:
        """What an entry of `outcomes` has to lie below to be an improvement."""
        return self.total * (1 - 2 * TIE)

    def copy(self) -> Position:
        """The same position, to go on from without changing this one."""
        twin = object.__new__(Position)
        twin.__dict__ |= self.__dict__
        twin.parents = list(self.parents)
        for name in ("adjacency", "rss", "after", "_arrows", "_reach"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def turnable(self) -> Mask:
        """[i, j] True for the edges i → j that can be turned round: those with no second path from i to j."""
        single: Mask = self._arrows @ self._reach == 0
        return self.adjacency & single if self.closed is None else self.adjacency & single & ~self.closed.T

    def outcomes(self, targets: Nodes) -> Array:
        """[t, i] the objective after the move i → targets[t], over the price of the edges there are now.

        It is infinite where a cycle would close: with i → j as the only edge between the two, this needs a path of two
        edges or more from j to i. The sum over the nodes other than j is added up anew and not by subtracting from the
        total, in which a very large variance of j would drown them. A source that loses j as its parent can only
        have more unexplained than before, so there a difference is safe.
        """
        present, turning = self.adjacency.T[targets], self.adjacency[targets]
        without = self._others[targets] @ self.rss
        result: Array = without[:, None] + self.after[targets]
        np.add(result, self.after.T[targets] - self.rss, out=result, where=turning)
        result *= np.where(present, 1 / self.price, np.where(turning, 1.0, self.price))
        result[self._arrows[targets] @ self._reach > 0] = math.inf
        result[np.arange(len(targets)), targets] = math.inf
        if self.closed is not None:
            result[self.closed.T[targets]] = math.inf
        return result

    def move(self, i: int, j: int) -> bool:
        """Make the move i → j if the regressions themselves confirm the gain.

        They may not where the table is short of digits; then the true values are put into it, so that the move is not
        proposed again, and nothing else happens.
        """
        present, turned = bool(self.adjacency[i, j]), bool(self.adjacency[j, i])
        changes = {j: self.parents[j] ^ (1 << i)}
        if turned:
            changes[i] = self.parents[i] ^ (1 << j)
        rss = self.rss.copy()
        for node, parents in changes.items():
            rss[node] = self.regressions.rss(node, parents)
        price = 1.0 if turned else 1 / self.price if present else self.price
        if not rss.sum() * price < self.total * (1 - TIE):
            self.after[j, i] = rss[j]
            if turned:
                self.after[i, j] = rss[i]
            return False
        self._set_parents(changes)
        if turned:
            self._cut(j)
        if not present:
            self._join(i, j)
        elif not (self._arrows[i] @ self._reach)[j]:
            self._cut(i)
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
        self._reach = reachability(self._arrows)

    def _set_parents(self, changes: Mapping[int, int]) -> None:
        for j, parents in changes.items():
            chosen = members(parents)
            self.parents[j] = parents
            self.adjacency[:, j] = False
            self.adjacency[chosen, j] = True
            self._arrows[:, j] = self.adjacency[:, j]
            self.rss[j] = self.regressions.rss(j, parents)
            self.after[j] = self.regressions.rss_adding(j, parents)
            self.after[j, chosen] = self.regressions.rss_dropping(j, parents)[chosen]

    def _join(self, i: int, j: int) -> None:
        """A new edge i → j: whatever leads to i now also leads to j and beyond."""
        before, behind = self._reach[:, i].copy(), self._reach[j].copy()
        before[i] = behind[j] = 1.0
        np.maximum(self._reach, np.outer(before, behind), out=self._reach)

    def _cut(self, i: int) -> None:
        """An edge that left i is gone: i and its ancestors have to find anew what they lead to, the others do not."""
        lost = self._reach[:, i] > 0
        lost[i] = True
        arrows = self._arrows[lost]
        reach = self._reach.copy()
        reach[lost] = 0.0
        outward = arrows + arrows @ reach
        self._reach[lost] = outward + reachability(arrows[:, lost]) @ outward > 0


def reachability(arrows: Paths) -> Paths:
    """[i, j] 1.0 where a directed path leads from i to j: paths of up to 1, 2, 4, … edges until nothing is new."""
    reach = arrows
    known = -1
    while (found := int(np.count_nonzero(reach))) > known:
        known = found
        reach = np.asarray(reach + reach @ reach > 0, dtype=np.float32)
    return reach
