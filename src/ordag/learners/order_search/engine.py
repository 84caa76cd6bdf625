"""Search for the graph of the lowest score that is a sum over variables, or bounded by one, by moving variables in an order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ordag.common.arrays import Array, Integers, Mask
from ordag.common.bits import members, unpacked_columns
from ordag.common.compiling import is_compiled, will_compile
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search import layout
from ordag.learners.pooled.score import Local
from ordag.learners.pooled.variances import LogVariances

ROUNDS = 100
"""Times at most that the bound is taken again: far more than any table has needed."""

LEAST_GAIN = 1e-6
"""A score that is lower by less than this is no improvement."""

THREADS = 2
"""Searches from the same graph at the same time, whatever the number of cores, so that the answer does not depend on it."""

WORK_PER_BATCH = 2**23
"""Multiplications of each of them, roughly, before all go on from the best."""

FEWEST_RESTARTS, MOST_RESTARTS, VARIABLES_PER_RESTART = 2, 12, 50
"""Restarts in a batch, and one more for so many variables."""

WORK, WORK_PER_PAIR = 2**32, 2**11
"""Multiplications, roughly, after which a search ends, and more for every pair of variables: a few seconds, and minutes for thousands of
variables."""

WORK_OF_RESTARTS = 12, 4
"""Restarts take at most this many times the work of a search; the second where regressions are not kept (`MOST_KEPT`)."""

MOST_PARENTS = 500
"""Parents of a variable at most: more would take more memory than everything else."""

MOST_KEPT = 256
"""Variables up to which the regressions of each on its parents are kept: they take p² numbers for every parent that variables have."""

SLOWDOWN = 300
"""How many times slower the search is without numba: its limit of work is lower by this factor."""

POLL_SECONDS = 0.1
"""Seconds after which Ctrl-C takes effect."""


class Score(Protocol):
    """A score of graphs, and the sum over variables that bounds it from above and touches it at one graph."""

    def total(self, v: Array, edges: int) -> float: ...

    def local(self, v: Array, edges: int) -> Local: ...


@dataclass(frozen=True)
class Optimum:
    """A graph, usually one that no move of a single variable improves: score, order, parents as bitmasks, log variances."""

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
    """A graph as the arrays G, P and M of the kernel."""

    def __init__(self, p: int, most: int) -> None:
        self.G = np.zeros((layout.QUEUE + 1, p), dtype=np.int64)
        self.P = np.zeros((p + 2, most + 1), dtype=np.int64)
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


class _Workspace:
    """The arrays of one search: a graph, a spare one for restarts, the terms, the workspace and the status."""

    def __init__(self, p: int, most: int, room: Array, root: Array) -> None:
        self.state, self.spare = _State(p, most), _State(p, most)
        self.terms = np.zeros((layout.NUMBERS + 1, max(p, 2)))
        self.W, self.root = room, root
        self.status = np.zeros(layout.FREE + 1, dtype=np.int64)
        self.holds: Optimum | None = None

    def copy(self, other: _Workspace) -> None:
        """Copy the graph, its cache and the terms of another workspace."""
        self.state.copy(other.state)
        self.terms[:] = other.terms
        self.status[layout.SETTLED] = other.status[layout.SETTLED]
        self.holds = other.holds


def _same(held: Optimum | None, best: Optimum) -> bool:
    """Return whether these are the same graph along the same order."""
    return held is not None and held.parents == best.parents and held.order == best.order


class OrderSearch:
    """Searches over the orders of the variables of one table.

    C: correlations, or a stack of them; `which` is the matrix of each variable's own equation then. scale: logarithms of the variances
    of the variables, each in its own. root: the unit columns of the root of the scatter as rows, where C has too few digits; a stack
    like C. known: (allowed, required, before), each [i, j] for i → j or i before j. most: parents at most. alone: the least share of
    its variance that a variable keeps given the parents that it joins.
    """

    def __init__(
        self,
        C: Array,
        scale: Array,
        *,
        which: Sequence[int] | None = None,
        root: Array | None = None,
        known: tuple[Mask, Mask, Mask] | None = None,
        most: int | None = None,
        alone: float = 0.0,
    ) -> None:
        self.p = p = C.shape[-1]
        self.kernel = import_module("ordag.learners.order_search.kernel")  # brings the compiler
        self.scale, self.alone = scale, alone
        self.C = np.ascontiguousarray(C).reshape(-1, p, p)
        self.which = np.zeros(p) if which is None else np.asarray(which, np.float64)
        self.most = min(p - 1, MOST_PARENTS, p if most is None else most)
        may = np.full((p, p), layout.ALLOWED, dtype=np.int8)
        if known is not None:
            allowed, required, before = known
            may[:] = layout.ALLOWED * allowed.T + layout.REQUIRED * required.T + layout.FIRST * before.T
        np.fill_diagonal(may, 0)
        self.may = may
        able = (may & layout.ALLOWED).any(axis=1)
        free = int(able.argmax()) if able.any() else 0
        # those before the first variable that can have parents never move, if they come before all others
        self.free = free if (may[free:, :free] & layout.FIRST).all() else 0
        self._root = None if root is None else root.reshape(-1, p, p)
        self._workspaces: list[_Workspace] = []
        self._usual_limit = (WORK + WORK_PER_PAIR * p * p) // (1 if is_compiled(self.kernel.search) else SLOWDOWN)
        self.limit = self._usual_limit
        self.work = 0

    @property
    def compiles(self) -> bool:
        """Whether the first search must be compiled."""
        return will_compile(self.kernel.search)

    @property
    def warning(self) -> str | None:
        """A warning if the search is not compiled."""
        if is_compiled(self.kernel.search):
            return None
        return (
            f"The search is not compiled, because numba is not installed or does not support this Python: it is about {SLOWDOWN} times "
            "slower, and tries fewer graphs. Install numba (pip install numba)."
        )

    @classmethod
    def of(cls, variances: LogVariances, known: Constraints | None) -> OrderSearch:
        """Return the search for a table with these log variances."""
        masks = None if known is None else (known.allowed, known.required, known.before)
        return cls(known=masks, **variances.correlations())

    def descend(self, *starts: tuple[Sequence[Score], Optimum], effort: float = 1.0) -> list[list[Optimum]]:
        """Return the optima that each start leads to, under one score after the other. The first terms are those at its graph.

        Starts are searched from in parallel. effort: the share of the usual limit of work.
        """
        self.limit = int(effort * self._usual_limit)
        found: list[list[Optimum]] = [[] for _ in starts]

        def work(number: int, workspace: _Workspace) -> None:
            scores, start = starts[number]
            workspace.state.begin(start.order, start.parents)
            v, edges = start.v, start.edges
            for score in scores:
                found[number].append(self._descended(workspace, score, v, edges))
                v, edges = workspace.state.v, workspace.state.edges

        for first in range(0, len(starts), THREADS):
            numbers = range(first, min(first + THREADS, len(starts)))
            workspaces = self._workspaces_for(len(numbers))
            self._work(*(partial(work, k, workspace) for k, workspace in zip(numbers, workspaces, strict=True)))
        return found

    def descend_once(self, score: Score, start: Optimum, restarts: Array | None = None) -> Optimum:
        """Return the optimum that a start leads to under the terms at its graph alone, in the calling thread.

        restarts: uniform random numbers, a row for every restart that follows.
        """
        [workspace] = self._workspaces_for(1)
        workspace.state.begin(start.order, start.parents)
        workspace.status[[layout.WORK, layout.LIMIT, layout.STOP]] = 0, self.limit, 0
        self._take_terms(workspace, score, start.v, start.edges)
        self._search(workspace, np.zeros((0, layout.UNIFORMS)) if restarts is None else restarts)
        return workspace.state.optimum(score.total(workspace.state.v, workspace.state.edges))

    def restart(
        self,
        score: Score,
        best: Optimum,
        most_in_vain: int,
        seed: Any,
        *,
        progress: Callable[[float], None] = lambda _: None,
    ) -> tuple[Optimum, int]:
        """Search on from the best graph with some variables at random positions, again and again, and keep what is better.

        Return the best graph and the number of restarts, after so many in a row without improvement or too much work.
        progress: called with the lowest score so far.
        """
        tried = in_vain = 0
        random = np.random.default_rng(seed)
        workspaces = self._workspaces_for(THREADS)
        holding = next((workspace for workspace in workspaces if _same(workspace.holds, best)), None)
        if holding is None:
            holding = workspaces[0]
            self._hold(holding, score, best)
        for workspace in workspaces:
            if workspace is not holding:
                workspace.copy(holding)
        fewest = FEWEST_RESTARTS + self.p // VARIABLES_PER_RESTART
        times, until = fewest, self.work + WORK_OF_RESTARTS[self.p > MOST_KEPT] * self.limit
        while self.work < until and in_vain < most_in_vain:
            # whole batches, so that a longer search begins like a shorter one
            uniforms = random.random((THREADS, times, layout.UNIFORMS))
            done, before = times * THREADS, self.work
            self._work(
                *(partial(self._search, workspace, own) for workspace, own in zip(workspaces, uniforms, strict=True))
            )
            times = max(fewest, min(MOST_RESTARTS, int(WORK_PER_BATCH * done / (self.work - before + 1)) + 1))
            tried += done
            in_vain += done
            found = [score.total(workspace.state.v, workspace.state.edges) for workspace in workspaces]
            at = int(np.argmin(found))
            if found[at] < best.score - LEAST_GAIN:
                mine, state = workspaces[at], workspaces[at].state
                self._work(partial(self._descended, mine, score, state.v, state.edges))
                now = score.total(state.v, state.edges)
                if now < best.score - LEAST_GAIN:
                    in_vain, best = 0, state.optimum(now)
                else:  # near-collinear parents left no digits of a variance, and made it seem better
                    self._hold(mine, score, best)
                for workspace in workspaces:
                    if workspace is not mine:
                        workspace.copy(mine)
            progress(best.score)
        return best, tried

    def _hold(self, workspace: _Workspace, score: Score, best: Optimum) -> None:
        """Put a graph into a workspace, under the terms at that graph."""
        workspace.state.begin(best.order, best.parents)
        self._take_terms(workspace, score, best.v, best.edges)
        self._work(partial(self._search, workspace, np.zeros((0, layout.UNIFORMS))))

    def _descended(self, workspace: _Workspace, score: Score, v: Array, edges: int) -> Optimum:
        """Search on from a workspace, under the terms at this v and number of edges and then under those at each graph found."""
        state, best, now = workspace.state, math.inf, math.inf
        for _ in range(ROUNDS):
            self._take_terms(workspace, score, v, edges)
            self._search(workspace, np.zeros((0, layout.UNIFORMS)))
            now = score.total(state.v, state.edges)
            if now > best - LEAST_GAIN or workspace.status[layout.WORK] > self.limit:
                break
            best = now
            v, edges = state.v, state.edges
        workspace.holds = state.optimum(now)
        return workspace.holds

    def _take_terms(self, workspace: _Workspace, score: Score, v: Array, edges: int) -> None:
        workspace.terms[:] = self.terms_of(score.local(v, edges))
        workspace.status[layout.SETTLED] = 0

    def terms_of(self, local: Local) -> Array:
        """Return the terms of single variables as an array of the kernel."""
        terms = np.zeros((layout.NUMBERS + 1, max(self.p, 2)))
        rows = [layout.MEAN, layout.WEIGHT, layout.HALF, layout.SCALE, layout.OWN]
        terms[rows, : self.p] = local.mean, local.weight, local.half, self.scale, self.which
        terms[layout.NUMBERS, :2] = local.price, self.alone
        return terms

    def renew(self, C: Array, scale: Array, root: Array | None = None) -> None:
        """Take the correlations, scales and roots of another table with the same variables, in the place of those before."""
        self.C, self.scale = np.ascontiguousarray(C).reshape(-1, self.p, self.p), scale
        self._root = None if root is None else root.reshape(-1, self.p, self.p)
        for workspace in self._workspaces:
            workspace.W[:, layout.NUMBER] = 0.0
            workspace.root[:-1] = 0.0 if self._root is None else self._root
            workspace.holds = None

    def room(self) -> tuple[Array, Array]:
        """Return the workspace of one fit and the roots, for use in the calling thread between searches."""
        [workspace] = self._workspaces_for(1)
        return workspace.W, workspace.root

    def _new_room(self) -> Array:
        """Return the workspace of one fit, with room for what is kept of every variable."""
        kept = self.p if self._root is None and self.p <= MOST_KEPT else 0
        return np.zeros((kept + 1, layout.ROOM + self.most, self.p))

    def _roots(self) -> Array:
        """Return the roots and one more to work on; an empty array where C is precise enough."""
        p = self.p
        return np.zeros((0, p, p)) if self._root is None else np.concatenate([self._root, self._root[:1]])

    def _search(self, workspace: _Workspace, uniforms: Array) -> None:
        given = (*workspace.state.arrays, workspace.W, workspace.status, *workspace.spare.arrays, uniforms)
        self.kernel.search(self.C, workspace.root, self.may, workspace.terms, *given)

    def _workspaces_for(self, number: int) -> list[_Workspace]:
        while len(self._workspaces) < number:
            self._workspaces.append(_Workspace(self.p, self.most, self._new_room(), self._roots()))
            self._workspaces[-1].status[layout.FREE] = self.free
        return self._workspaces[:number]

    def _work(self, *calls: Callable[[], object]) -> None:
        """Run calls in parallel, and count the work."""
        for workspace in self._workspaces:
            workspace.status[[layout.WORK, layout.LIMIT, layout.STOP]] = 0, self.limit, 0
        together(calls, self._stop, self._threads)
        self.work += sum(int(workspace.status[layout.WORK]) for workspace in self._workspaces)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS)

    def _stop(self) -> None:
        for workspace in self._workspaces:
            workspace.status[layout.STOP] = 1


def together(
    calls: Sequence[Callable[[], object]], stop: Callable[[], None], threads: ThreadPoolExecutor | None = None
) -> list[object]:
    """Run calls in parallel threads and return their results; Ctrl-C calls `stop`, which must end them.

    threads: those of earlier calls, which wait for more; starting them takes longer than a small search.
    """
    with ThreadPoolExecutor(len(calls)) if threads is None else nullcontext(threads) as pool:
        futures = [pool.submit(call) for call in calls]
        waiting: set[Future[object]] = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
                for one in done:
                    one.result()
        except BaseException:
            stop()
            for one in futures:
                one.exception()
            raise
        return [one.result() for one in futures]
