"""Learn from every bootstrap sample, on any number of workers with the same result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.common.workers import as_worker, in_parallel, stopped_after, worker_count
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import OrdagError
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.learners.cvs_stack import cvs_stack, stack_size, stackable
from ordag.learners.methods import learn_from
from ordag.learners.settings import MethodSettings
from ordag.model.refit import refit
from ordag.model.sem import LinearSEM
from ordag.resampling.resamplers import GaussianRowResampler, PlainRowResampler, Resampler, child

PATIENCE = 2.0
"""With less work than this, in seconds, no processes are started."""

BATCH_SECONDS = 0.5

Indices = NDArray[np.int32]

Keep = Literal["graph", "weights", "effects"]
"""What to keep of a replicate: graph and order, also the weights, or also total effects."""


class Replicate(NamedTuple):
    """What is kept of a fit; pairs are numbered i · p + j, so that the space goes with the edges.

    `lines` are undirected pairs with i < j, `positions` the position of every variable in the order; `causes` are arrows from categories to
    variables, numbered c · p + j. `failure` is the class
    and the sentence of the error where the learner refused the sample; nothing else is there then.
    """

    arrows: Indices
    lines: Indices
    weights: Array | None = None
    effects: tuple[Indices, Array] | None = None
    positions: Indices | None = None
    undecided: bool = False
    failure: tuple[str, str] | None = None
    causes: Indices | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """Everything a worker needs to learn from any sample."""

    resampler: Resampler
    root: np.random.SeedSequence
    method_settings: MethodSettings
    keep: Keep = "effects"

    def run(self, numbers: Sequence[int]) -> list[Replicate]:
        """Return these replicates, with one thread for linear algebra, so that all machines give the same digits."""
        with as_worker():
            size = stack_size(self.resampler.base.p)
            stacks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
            return [one for stack in stacks for one in self._together(stack)]

    def _together(self, numbers: Sequence[int]) -> list[Replicate]:
        """Return these replicates, with the orders and tests of all computed together where settings and samples allow that."""
        settings = self.method_settings
        drawn: list[Moments | Replicate] = [self._drawn(number) for number in numbers]
        samples = [one for one in drawn if isinstance(one, Moments)]
        n, p = samples[0].n if samples else 0, self.resampler.base.p
        if not all(_is_plain(one) and one.n == n for one in samples) or not stackable(settings, n, p):
            return [self._one(number, one) for number, one in zip(numbers, drawn, strict=True)]
        graphs = cvs_stack(np.stack([one.R for one in samples]), n, settings)
        learned = iter(zip(graphs.order, graphs.adjacency, graphs.sound, strict=True))
        found = []
        for number, one in zip(numbers, drawn, strict=True):
            if isinstance(one, Moments):
                order, adjacency, sound = next(learned)
                found.append(self._kept(one, order, adjacency) if sound else self._one(number, one))
            else:
                found.append(one)
        return found

    def _drawn(self, number: int) -> Moments | Replicate:
        try:
            return self.resampler.moments(number, child(self.root, number))
        except OrdagError as error:
            return failed(error)

    def _table(self, moments: Moments, seed: np.random.SeedSequence) -> Table:
        if not (
            self.method_settings.needs_rows and isinstance(self.resampler, PlainRowResampler | GaussianRowResampler)
        ):
            return Table(moments)
        return Table.of_rows(moments.names, self.resampler.rows(seed))

    def _kept(self, moments: Moments, order: NDArray[np.intp], adjacency: Mask) -> Replicate:
        try:
            dag = Dag.known_acyclic(moments.names, adjacency)
            sem = None if self.keep == "graph" else refit(moments, dag).sem
            return summarise(dag, sem, order, self.keep)
        except OrdagError as error:
            return failed(error)

    def _one(self, number: int, moments: Moments | Replicate) -> Replicate:
        if isinstance(moments, Replicate):
            return moments
        seed = child(self.root, number)
        settings = self.method_settings.reseeded(np.random.default_rng(seed.spawn(1)[0]))
        try:
            found = learn_from(self._table(moments, seed), settings)
            sem = None if self.keep == "graph" else found.sem
            undecided = found.ordering is not None and bool(found.ordering.undecided)
            kept = summarise(found.graph, sem, found.column_order, self.keep, undecided)
            return kept if found.causes is None else kept._replace(causes=_numbers(found.causes.arrows))
        except OrdagError as error:
            return failed(error)


def _is_plain(moments: Moments) -> bool:
    """Whether one scatter tells all that a learner takes of these moments."""
    return moments.causes is None and all(one.kind == "environment" for one in moments.conditions)


def failed(error: OrdagError) -> Replicate:
    none = np.empty(0, np.int32)
    return Replicate(none, none, failure=(type(error).__name__, str(error)))


def summarise(
    graph: Dag | Cpdag,
    sem: LinearSEM | None,
    order: Sequence[int] | NDArray[np.intp] | None,
    keep: Keep,
    undecided: bool = False,
) -> Replicate:
    """Return the parts of a fit that the bootstrap keeps."""
    adjacency = graph.adjacency
    arrows = _numbers(adjacency & ~adjacency.T)
    weights = found = None
    if sem is not None:
        weights = sem.B.ravel()[arrows]
        if keep == "effects":
            total = sem.total_effects()
            numbers = _numbers(total != 0)
            found = (numbers, total.ravel()[numbers])
    positions = None if order is None else np.argsort(order).astype(np.int32)
    return Replicate(arrows, _numbers(np.triu(adjacency & adjacency.T)), weights, found, positions, undecided)


def run(
    job: Job, numbers: Sequence[int], workers: int | None, progress: Callable[[int], None] | None = None
) -> list[Replicate]:
    """Return all replicates in order. Processes are started only if enough work is left."""
    count = worker_count(workers)
    done: list[Replicate] = []
    start = time.perf_counter()
    size = 1
    while len(done) < len(numbers):
        done += job.run(numbers[len(done) : len(done) + size])
        if progress is not None:
            progress(len(done))
        each = (time.perf_counter() - start) / len(done)
        size = max(1, min(int(BATCH_SECONDS / 2 / each), 2 * size))
        if count > 1 and each * len(done) > BATCH_SECONDS and each * (len(numbers) - len(done)) > PATIENCE:
            break
    left = numbers[len(done) :]
    if not left:  # and a cluster that was lost meanwhile is not needed
        return done
    size = max(1, min(int(BATCH_SECONDS / each), -(-len(left) // count)))
    batches = [left[i : i + size] for i in range(0, len(left), size)]
    with stopped_after(in_parallel(job.run, batches, count, ordered=True)) as results:
        for batch in results:
            done += batch
            if progress is not None:
                progress(len(done))
    return done


def _numbers(mask: NDArray[np.bool_]) -> Indices:
    return np.flatnonzero(mask).astype(np.int32)
