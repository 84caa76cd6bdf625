"""A DAG and the table of its neighbours: what every single change of an edge would make of the residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ordag.arrays import Array, Mask
from ordag.learners.regressions import Regressions, members

TIE = 1e-12
"""A move has to lower the objective by more than this share of it: less is rounding."""


class Position:
    r"""A DAG in a greedy search, with all its neighbours looked at beforehand.

    Each ordered pair (i, j) stands for one move, the one after which i → j is there or is no longer: add it where the
    two are not joined, take it away where it is there, turn it round where j → i is. The objective is

        $V(G) = c^{|E|} \sum_j \mathrm{RSS}_j$

    with c the price of an edge, so that (np/2) log V is the penalised likelihood up to a constant. A move changes the
    regression of j, and that of i if it turns an edge round: only those two columns of `after` are computed anew.

    adjacency   [i, j] True for i → j
    rss         residual sum of squares of every node on its parents
    after       [i, j] the same of node j with i as one more parent, or without i where i is one
    """

    def __init__(self, regressions: Regressions, adjacency: Mask, price: float) -> None:
        p = regressions.p
        self.regressions = regressions
        self.price = price
        self.adjacency = np.zeros((p, p), dtype=bool)
        self.parents = [0] * p
        self.rss = np.empty(p)
        self.after = np.empty((p, p))
        self._others = 1.0 - np.eye(p)
        self._set_parents({j: sum(1 << int(i) for i in np.flatnonzero(adjacency[:, j])) for j in range(p)})
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

    def detours(self) -> Mask:
        """[i, j] True where a path of two edges or more leads from i to j."""
        return np.asarray(self._arrows @ self._reach > 0)

    def outcomes(self) -> Array:
        """[i, j] the objective after the move (i, j), over the price of the edges there are; infinite where cyclic.

        A move ends with i → j at most, so it closes a cycle exactly if a path of two edges or more leads from j to i.
        What the other nodes leave unexplained is added up anew and not by subtraction from the total, in which one
        node of very large variance would drown the rest.
        """
        without = self._others @ self.rss
        single = without + self.after
        single *= np.where(self.adjacency, 1 / self.price, self.price)
        turned = self._without_two(without)
        turned += self.after
        turned += self.after.T
        result: Array = np.where(self.adjacency.T, turned, single)
        result[self.detours().T] = math.inf
        np.fill_diagonal(result, math.inf)
        return result

    def _without_two(self, without: Array) -> Array:
        """[i, j] Σ RSS over all nodes but i and j, from the sums without one: the larger of the two is left out first.

        Nothing cancels as long as a node at least as large as the second one remains, that is for every pair but the
        two largest nodes, which are summed directly.
        """
        rss = self.rss
        rest = without[:, None] - rss
        rest = np.where(rss[:, None] >= rss, rest, rest.T)
        if len(rss) > 1:
            *smaller, second, first = np.argsort(rss).tolist()
            rest[first, second] = rest[second, first] = rss[smaller].sum()
        return rest

    def move(self, i: int, j: int) -> bool:
        """Make the move (i, j) if the regressions themselves confirm the gain.

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
            self.after[i, j] = rss[j]
            if turned:
                self.after[j, i] = rss[i]
            return False
        lost = turned or (present and not self.detours()[i, j])
        self._set_parents(changes)
        if lost:
            self._reach = reachability(self._arrows)
        elif not present:
            before, behind = self._reach[:, i].copy(), self._reach[j].copy()
            before[i] = behind[j] = 1.0
            np.maximum(self._reach, np.outer(before, behind), out=self._reach)
        return True

    def exchange(self, i: int, j: int) -> None:
        """Turn round an edge i → j that has no detour, after joining the parents of its two ends.

        Both then regress on the same others, as if i and j had been drawn the other way round from the start, so the
        fit gets no worse by more than the direction costs; parents that are not needed are left to the search.
        """
        common = (self.parents[i] | self.parents[j]) & ~(1 << i)
        self._set_parents({i: common | 1 << j, j: common})
        self._reach = reachability(self._arrows)

    def _set_parents(self, changes: Mapping[int, int]) -> None:
        for j, parents in changes.items():
            chosen = members(parents)
            self.parents[j] = parents
            self.adjacency[:, j] = False
            self.adjacency[chosen, j] = True
            self.rss[j] = self.regressions.rss(j, parents)
            self.after[:, j] = self.regressions.rss_adding(j, parents)
            self.after[chosen, j] = self.regressions.rss_dropping(j, parents)[chosen]
        self._arrows = self.adjacency.astype(np.float32)


def reachability(arrows: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> np.ndarray[
    tuple[int, ...], np.dtype[np.float32]
]:
    """[i, j] 1.0 where a directed path leads from i to j: paths of up to 1, 2, 4, … edges until nothing is new."""
    reach = arrows
    known = -1
    while (found := np.count_nonzero(reach)) > known:
        known = found
        reach = np.asarray(reach + reach @ reach > 0, dtype=np.float32)
    return reach
