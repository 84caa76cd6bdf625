"""Find the best graph of a score that is a sum over variables, or lies below one, by moving variables in an order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ordag.arrays import Array, Integers, Mask
from ordag.bits import members, unpacked_columns
from ordag.compiling import is_compiled, will_compile
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search import layout
from ordag.learners.pooled.score import Local
from ordag.learners.pooled.variances import LogVariances

ROUNDS = 100
"""Rounds of terms at most: a bound that no table has come near."""

WORTHWHILE = 1e-6
"""A score that is lower by less than this is no reason to go on."""

TOGETHER = 2
"""Searches that go on from the same graph at the same time, whatever the number of cores, so that the answer does not depend on it."""

BATCH = 2**24
"""Multiplications that each of them makes, roughly, before the best of them is gone on from."""

FEWEST, MOST, VARIABLES_EACH = 2, 16, 50
"""Kicks in a batch, and one more for so many variables."""

WORK, WORK_FOR_PAIRS = 2**33, 2**12
"""Multiplications, roughly, after which a graph stands as it is, and so many more for every pair of variables: a few seconds, and
minutes for thousands of variables."""

IDLE, CHEAP = 2**27, 4
"""Multiplications in kicks without success up to which more of them are made than were asked for, and how many times as many at the most:
a tenth of a second of one core."""

PERSISTENCE = 4
"""Kicks take so many times the work at the most."""

MOST_PARENTS = 500
"""Parents that a variable has at the most: room for more would take more memory than all the rest."""

SLOWNESS = 300
"""How many times slower the search is where it is not compiled: it does so much less."""

HEARD = 0.1
"""Seconds after which Ctrl-C is heard."""


class Score(Protocol):
    """A score of graphs, and the sum over variables that lies above it and touches it at one graph."""

    def total(self, v: Array, edges: int) -> float: ...

    def local(self, v: Array, edges: int) -> Local: ...


@dataclass(frozen=True)
class Optimum:
    """A graph, usually one that no move of a single variable improves: its score, order, parents as bitmasks, and log variances."""

    score: float
    order: tuple[int, ...]
    parents: tuple[int, ...]
    v: Array

    @property
    def edges(self) -> int:
        return sum(mask.bit_count() for mask in self.parents)

    def adjacency(self) -> Mask:
        return unpacked_columns(self.parents, len(self.parents))


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

    def copy(self, other: _State) -> None:
        for to, given in zip(self.arrays, other.arrays, strict=True):
            np.copyto(to, given)

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
    """What one search works with: a state, one to try on, terms, room and what it tells."""

    def __init__(self, p: int, most: int, room: Array, root: Array) -> None:
        self.state, self.spare = _State(p, most), _State(p, most)
        self.terms = np.zeros((layout.NUMBERS + 1, max(p, 3)))
        self.W, self.root = room, root
        self.told = np.zeros(layout.SETTLED + 1, dtype=np.int64)
        self.holds: Optimum | None = None

    def copy(self, other: _Bench) -> None:
        """Have the graph, the terms and what is remembered of another bench."""
        self.state.copy(other.state)
        self.terms[:] = other.terms
        self.told[layout.SETTLED] = other.told[layout.SETTLED]
        self.holds = other.holds


def _same(held: Optimum | None, best: Optimum) -> bool:
    """Whether these are the same graph along the same order."""
    return held is not None and held.parents == best.parents and held.order == best.order


class OrderSearch:
    """Searches of one table.

    C: correlations. scale: logarithms of the variances. root: the unit columns of the root of the scatter as rows, where C has too few
    digits. known: (allowed, required, before), each [i, j] for i → j or i before j. most: parents at most. alone: the least share of
    its variance that a variable keeps beside the parents that it joins.
    """

    def __init__(
        self,
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
        self.scale, self.alone = scale, alone
        self.C = np.ascontiguousarray(C)
        self.most = min(p - 1, MOST_PARENTS, p if most is None else most)
        may = np.full((p, p), layout.ALLOWED, dtype=np.int8)
        if known is not None:
            allowed, required, before = known
            may[:] = layout.ALLOWED * allowed.T + layout.REQUIRED * required.T + layout.FIRST * before.T
        np.fill_diagonal(may, 0)
        self.may = may
        self._root = root
        self._benches: list[_Bench] = []
        self._usual_limit = (WORK + WORK_FOR_PAIRS * p * p) // (1 if is_compiled(self.kernel.search) else SLOWNESS)
        self.limit = self._usual_limit
        self.work = 0

    @property
    def compiles(self) -> bool:
        """Whether the first search will be compiled first."""
        return will_compile(self.kernel.search)

    @property
    def warning(self) -> str | None:
        """What to warn of where the search is not compiled."""
        if is_compiled(self.kernel.search):
            return None
        return (
            f"The search is not compiled, because numba is not installed or does not know this Python: it is about {SLOWNESS} times "
            "slower, and looks less far. Install numba (pip install numba)."
        )

    @classmethod
    def of(cls, variances: LogVariances, known: Constraints | None) -> OrderSearch:
        """The search of the table that these variances are of."""
        masks = None if known is None else (known.allowed, known.required, known.before)
        return cls(known=masks, **variances.correlations())

    def descend(self, *starts: tuple[Sequence[Score], Optimum], effort: float = 1.0) -> list[list[Optimum]]:
        """Return the optima that each start leads to, under one score after the other. The first terms are those at its graph.

        Starts are searched from at the same time. effort: the share of the usual limit of work.
        """
        self.limit = int(effort * self._usual_limit)
        found: list[list[Optimum]] = [[] for _ in starts]

        def work(number: int, bench: _Bench) -> None:
            scores, start = starts[number]
            bench.state.begin(start.order, start.parents)
            v, edges = start.v, start.edges
            for score in scores:
                found[number].append(self._descended(bench, score, v, edges))
                v, edges = bench.state.v, bench.state.edges

        for first in range(0, len(starts), TOGETHER):
            numbers = range(first, min(first + TOGETHER, len(starts)))
            benches = self._benches_for(len(numbers))
            self._work(*(partial(work, k, bench) for k, bench in zip(numbers, benches, strict=True)))
        return found

    def descend_once(self, score: Score, start: Optimum) -> Optimum:
        """Return the optimum that a start leads to under the terms at its graph alone, in the calling thread."""
        [bench] = self._benches_for(1)
        bench.state.begin(start.order, start.parents)
        bench.told[[layout.WORK, layout.LIMIT, layout.STOP]] = 0, self.limit, 0
        self._take_terms(bench, score, start.v, start.edges)
        self._search(bench, np.zeros((0, layout.LOTS)))
        return bench.state.optimum(score.total(bench.state.v, bench.state.edges))

    def kicked(
        self,
        score: Score,
        best: Optimum,
        fruitless: int,
        seed: Any,
        *,
        more: bool = False,
        tell: Callable[[float], None] | None = None,
    ) -> tuple[Optimum, int]:
        """Kick the best graph, search on from there, and keep what is better.

        It ends when so many kicks in a row were fruitless, or the work is too much: the best graph, and the number of kicks.
        more: kicks that cost little are made more often. tell: called with the lowest score so far, now and then.
        """
        tried = in_vain = idle = 0
        random = np.random.default_rng(seed)
        benches = self._benches_for(TOGETHER)
        holding = next((bench for bench in benches if _same(bench.holds, best)), None)
        if holding is None:
            holding = benches[0]
            self._hold(holding, score, best)
        for bench in benches:
            if bench is not holding:
                bench.copy(holding)
        fewest = FEWEST + len(self.C) // VARIABLES_EACH
        times, until = fewest, self.work + PERSISTENCE * self.limit
        while self.work < until:
            if in_vain >= fruitless and (not more or idle > IDLE or in_vain >= CHEAP * fruitless):
                break
            lots = random.random(
                (TOGETHER, times, layout.LOTS)
            )  # whole batches: a longer search begins like a shorter one
            done, before = times * TOGETHER, self.work
            self._work(*(partial(self._search, bench, own) for bench, own in zip(benches, lots, strict=True)))
            times = max(fewest, min(MOST, int(BATCH * done / (self.work - before + 1)) + 1))
            tried += done
            in_vain += done
            idle += self.work - before
            found = [score.total(bench.state.v, bench.state.edges) for bench in benches]
            at = int(np.argmin(found))
            if found[at] < best.score - WORTHWHILE:
                mine, state = benches[at], benches[at].state
                self._work(partial(self._descended, mine, score, state.v, state.edges))
                now = score.total(state.v, state.edges)
                if now < best.score - WORTHWHILE:
                    in_vain, idle, best = 0, 0, state.optimum(now)
                else:  # near-collinear parents left no digits of a variance, and made it look better
                    self._hold(mine, score, best)
                for bench in benches:
                    if bench is not mine:
                        bench.copy(mine)
            if tell is not None:
                tell(best.score)
        return best, tried

    def _hold(self, bench: _Bench, score: Score, best: Optimum) -> None:
        """Let a bench go on from a graph, under the terms at that graph."""
        bench.state.begin(best.order, best.parents)
        self._take_terms(bench, score, best.v, best.edges)
        self._work(partial(self._search, bench, np.zeros((0, layout.LOTS))))

    def _descended(self, bench: _Bench, score: Score, v: Array, edges: int) -> Optimum:
        """From where a state is, under the terms at this v and number of edges first and then under those at what is found."""
        state, best, now = bench.state, math.inf, math.inf
        for _ in range(ROUNDS):
            self._take_terms(bench, score, v, edges)
            self._search(bench, np.zeros((0, layout.LOTS)))
            now = score.total(state.v, state.edges)
            if now > best - WORTHWHILE or bench.told[layout.WORK] > self.limit:
                break
            best = now
            v, edges = state.v, state.edges
        bench.holds = state.optimum(now)
        return bench.holds

    def _take_terms(self, bench: _Bench, score: Score, v: Array, edges: int) -> None:
        bench.terms[:] = self.terms_of(score.local(v, edges))
        bench.told[layout.SETTLED] = 0

    def terms_of(self, local: Local) -> Array:
        """The terms of single variables as the kernel has them."""
        p = len(self.C)
        terms = np.zeros((layout.NUMBERS + 1, max(p, 3)))
        terms[layout.MEAN, :p], terms[layout.WEIGHT, :p], terms[layout.SCALE, :p] = local.mean, local.weight, self.scale
        terms[layout.NUMBERS, :3] = local.half, local.price, self.alone
        return terms

    def room(self) -> Array:
        """Room for one fit."""
        return np.zeros((layout.ROOM + 3 * self.most, len(self.C)))

    def root_twice(self) -> Array:
        """The root, and room for what is left of it; nothing where C has the digits."""
        p = len(self.C)
        return np.zeros((0, p, p)) if self._root is None else np.stack([self._root, self._root])

    def _search(self, bench: _Bench, lots: Array) -> None:
        given = (*bench.state.arrays, bench.W, bench.told, *bench.spare.arrays, lots)
        self.kernel.search(self.C, bench.root, self.may, bench.terms, *given)

    def _benches_for(self, number: int) -> list[_Bench]:
        while len(self._benches) < number:
            self._benches.append(_Bench(len(self.C), self.most, self.room(), self.root_twice()))
        return self._benches[:number]

    def _work(self, *calls: Callable[[], object]) -> None:
        """Do these at the same time, and count the work."""
        for bench in self._benches:
            bench.told[[layout.WORK, layout.LIMIT, layout.STOP]] = 0, self.limit, 0
        together(calls, self._stop)
        self.work += sum(int(bench.told[layout.WORK]) for bench in self._benches)

    def _stop(self) -> None:
        for bench in self._benches:
            bench.told[layout.STOP] = 1


def together(calls: Sequence[Callable[[], object]], stop: Callable[[], None]) -> list[object]:
    """Do these in threads at the same time and return what comes of them; Ctrl-C calls `stop`, which ends them."""
    with ThreadPoolExecutor(len(calls)) as threads:
        futures = [threads.submit(call) for call in calls]
        waiting: set[Future[object]] = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, HEARD)
                for one in done:
                    one.result()
        except BaseException:
            stop()
            raise
        return [one.result() for one in futures]
