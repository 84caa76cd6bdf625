"""`OrderSearch`: correlations, knowledge and a score in; from the graph of a start to one that no move of a variable improves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ordag.arrays import Array, Integers, Mask
from ordag.bits import members
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search import layout
from ordag.learners.pooled.descent import WORTHWHILE, Optimum
from ordag.learners.pooled.score import Local
from ordag.learners.pooled.variances import LogVariances

ROUNDS = 100
"""Rounds of terms at most: a bound that no table has come near."""

TOGETHER = 2
"""Searches that go on from the same graph at the same time, whatever the number of cores, so that the answer does not depend on it."""

BATCH = 50
"""Kicks that each of them makes before the best of them is gone on from."""

HEARD = 0.1
"""Seconds after which Ctrl-C is heard."""


class Score(Protocol):
    """A score of graphs over p variables, and the sum over variables that lies above it and touches it at one graph."""

    p: int

    def total(self, v: Array, edges: int) -> float: ...

    def local(self, v: Array, edges: int) -> Local: ...


class _State:
    """A graph as the kernel has it: the arrays G, P and M."""

    def __init__(self, p: int, most: int) -> None:
        self.G = np.zeros((layout.QUEUE + 1, p), dtype=np.int64)
        self.P = np.zeros((p + 1, most + 1), dtype=np.int64)
        self.M = np.zeros((2 * p + 1, p))

    @property
    def arrays(self) -> tuple[Integers, Integers, Array]:
        return self.G, self.P, self.M

    def begin(self, order: Sequence[int], parents: Sequence[int]) -> None:
        self.G[layout.ORDER] = order
        for j, mask in enumerate(parents):
            own = members(mask)[: self.P.shape[1] - 1]
            self.G[layout.COUNT, j] = len(own)
            self.P[j, : len(own)] = own

    @property
    def v(self) -> Array:
        return np.asarray(self.M[-1])

    @property
    def edges(self) -> int:
        return int(self.G[layout.COUNT].sum())

    def optimum(self, score: float) -> Optimum:
        parents = [0] * self.G.shape[1]
        for j, count in enumerate(self.G[layout.COUNT].tolist()):
            for k in self.P[j, :count].tolist():
                parents[j] |= 1 << k
        return Optimum(score, tuple(self.G[layout.ORDER].tolist()), tuple(parents), self.v.copy())


class _Bench:
    """What one search works with: a state, one to try on, and room."""

    def __init__(self, p: int, most: int, root: Array) -> None:
        self.state, self.spare = _State(p, most), _State(p, most)
        self.W = np.zeros((layout.ROOM + 3 * most, p))
        self.root = root.copy()


class OrderSearch:
    """Searches of one table.

    C: correlations. scale: logarithms of the variances. root: the unit columns of the root of the scatter as rows, where C has too few
    digits. known: (allowed, required, before), each [i, j] for i → j or i before j. most: parents at most. alone: the least share of
    its variance that a variable keeps beside the parents that it joins.
    """

    def __init__(
        self,
        score: Score,
        C: Array,
        scale: Array,
        *,
        root: Array | None = None,
        known: tuple[Mask, Mask, Mask] | None = None,
        most: int | None = None,
        alone: float = 0.0,
    ) -> None:
        p = len(C)
        self.kernel = import_module("ordag.learners.order_search.kernel")  # brings the compiler
        self.score, self.scale, self.alone = score, scale, alone
        self.C = np.ascontiguousarray(C)
        self.most = min(p - 1, p - 1 if most is None else most)
        may = np.full((p, p), layout.ALLOWED, dtype=np.int64)
        if known is not None:
            allowed, required, before = known
            may = layout.ALLOWED * allowed.T + layout.REQUIRED * required.T + layout.FIRST * before.T
        np.fill_diagonal(may, 0)
        self.may = np.ascontiguousarray(may, dtype=np.int8)
        roots = np.zeros((0, p, p)) if root is None else np.stack([root, root])
        self.benches = [_Bench(p, self.most, roots) for _ in range(TOGETHER)]
        self.told = np.zeros(layout.STOP + 1, dtype=np.int64)

    @classmethod
    def of(cls, variances: LogVariances, score: Score, known: Constraints | None) -> OrderSearch:
        """The search of the table that these variances are of."""
        masks = None if known is None else (known.allowed, known.required, known.before)
        return cls(score, known=masks, **variances.correlations())

    def descend(self, start: Optimum) -> Optimum:
        """The optimum that a start leads to. The first terms are those at its graph."""
        bench = self.benches[0]
        bench.state.begin(start.order, start.parents)
        return self._descended(bench, self.terms(start.v, start.edges))

    def terms(self, v: Array, edges: int) -> Array:
        """The terms at a graph, as the kernel has them."""
        local = self.score.local(v, edges)
        terms = np.zeros((layout.NUMBERS + 1, max(len(v), 3)))
        terms[layout.MEAN, : len(v)], terms[layout.WEIGHT, : len(v)] = local.mean, local.weight
        terms[layout.SCALE, : len(v)] = self.scale
        terms[layout.NUMBERS, :3] = local.half, local.price, self.alone
        return terms

    def _descended(self, bench: _Bench, terms: Array) -> Optimum:
        """From where a state is, under these terms first and then under those at what is found, until the score stays."""
        state, best = bench.state, math.inf
        for _ in range(ROUNDS):
            self._work(partial(self._descent, bench, terms))
            score = self.score.total(state.v, state.edges)
            if score > best - WORTHWHILE:
                break
            best = score
            terms = self.terms(state.v, state.edges)
        return state.optimum(score)

    def _descent(self, bench: _Bench, terms: Array) -> None:
        given = (self.C, bench.root, self.may, terms, *bench.state.arrays, bench.W, self.told)
        self.kernel.settle(*given)
        self.kernel.descend(*given, True)

    def kicked(
        self, best: Optimum, fruitless: int, seed: Any, tell: Callable[[float], None] | None = None
    ) -> tuple[Optimum, int]:
        """Kick the best graph, search on from there, and keep what is better, until so many kicks in a row were fruitless: the best
        graph, and how many there were. tell: told the lowest score so far, now and then."""
        tried = in_vain = 0
        random = np.random.default_rng(seed)
        while in_vain < fruitless:
            terms = self.terms(best.v, best.edges)
            times = min(BATCH, fruitless - in_vain)
            lots = random.random((TOGETHER, times, 3 * layout.MOST_IN_A_KICK + 1))
            self._work(
                *(self._kicks_of(bench, best, terms.copy(), own) for bench, own in zip(self.benches, lots, strict=True))
            )
            tried += times * TOGETHER
            in_vain += times
            found = [self.score.total(bench.state.v, bench.state.edges) for bench in self.benches]
            at = int(np.argmin(found))
            if found[at] < best.score - WORTHWHILE:
                state = self.benches[at].state
                best = self._descended(self.benches[at], self.terms(state.v, state.edges))
                in_vain = 0
            if tell is not None:
                tell(best.score)
        return best, tried

    def _kicks_of(self, bench: _Bench, best: Optimum, terms: Array, lots: Array) -> Callable[[], None]:
        def work() -> None:
            bench.state.begin(best.order, best.parents)
            given = (self.C, bench.root, self.may, terms, *bench.state.arrays, bench.W, self.told)
            self.kernel.settle(*given)
            self.kernel.search_on(*given, *bench.spare.arrays, lots)

        return work

    def _work(self, *calls: Callable[[], None]) -> None:
        """Do these in threads at the same time; Ctrl-C ends them."""
        self.told[:] = 0
        with ThreadPoolExecutor(len(calls)) as threads:
            waiting: set[Future[None]] = {threads.submit(call) for call in calls}
            try:
                while waiting:
                    done, waiting = wait(waiting, HEARD)
                    for one in done:
                        one.result()
            except BaseException:
                self.told[layout.STOP] = 1
                raise
