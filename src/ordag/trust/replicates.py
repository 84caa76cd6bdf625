"""Bootstrap samples in, what was learned from each of them out: on any number of workers, with the same result."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.checks import is_whole, short
from ordag.data.table import Table
from ordag.errors import OrdagError, OrdagWarning, SettingError
from ordag.fit import Fit
from ordag.learning import method_settings, run_method
from ordag.trust.resampling import Resampler, child

PATIENCE = 2.0
"""Seconds of work below which other processes are not worth the start."""

BATCH_SECONDS = 0.5

Indices = NDArray[np.int32]

Results = TypeVar("Results", bound=Iterable[Any])


class Replicate(NamedTuple):
    """What is kept of a fit; pairs are numbered i · p + j, so that the space goes with the edges.

    `lines` are undirected pairs with i < j, `places` the position of every variable in the order. `failure` is the class
    and the sentence of the error where the learner refused the sample; nothing else is there then.
    """

    arrows: Indices
    lines: Indices
    weights: Array | None = None
    effects: tuple[Indices, Array] | None = None
    places: Indices | None = None
    undecided: bool = False
    failure: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that a worker needs to learn from any of the samples."""

    resampler: Resampler
    root: np.random.SeedSequence
    method: str
    settings: Mapping[str, Any]
    effects: bool

    def run(self, numbers: Sequence[int]) -> list[Replicate]:
        """These replicates, one after the other, with one thread for linear algebra: the same digits everywhere."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        leave_interrupts_to_the_parent()
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", OrdagWarning)
            return [self._one(number) for number in numbers]

    def _one(self, number: int) -> Replicate:
        seed = child(self.root, number)
        settings = dict(self.settings)
        if "seed" in method_settings(self.method):
            settings["seed"] = np.random.default_rng(seed.spawn(1)[0])
        try:
            moments = self.resampler.moments(number, seed)
            fit = run_method(self.method, Table(moments), **settings)
            return summarise(fit, self.effects)
        except OrdagError as error:
            none = np.empty(0, np.int32)
            return Replicate(none, none, failure=(type(error).__name__, str(error)))


def summarise(fit: Fit, effects: bool) -> Replicate:
    """What the bootstrap keeps of a fit."""
    adjacency = fit.graph.adjacency
    arrows = _numbers(adjacency & ~adjacency.T)
    sem = fit.sem
    weights = found = places = None
    if sem is not None:
        weights = sem.B.ravel()[arrows]
        if effects:
            total = sem.total_effects()
            numbers = _numbers(total != 0)
            found = (numbers, total.ravel()[numbers])
    undecided = False
    if fit.places is not None:
        places = np.argsort(fit.places).astype(np.int32)
    if fit.ordering is not None:
        undecided = bool(fit.ordering.undecided)
    return Replicate(arrows, _numbers(np.triu(adjacency & adjacency.T)), weights, found, places, undecided)


def run(
    job: Job, numbers: Sequence[int], workers: int | None, progress: Callable[[int], None] | None = None
) -> list[Replicate]:
    """All these replicates, in order. Processes are started only where the work left is worth it."""
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
    size = max(1, min(int(BATCH_SECONDS / each), -(-len(left) // count))) if left else 1
    with stopped_after(_parallel(job, [left[i : i + size] for i in range(0, len(left), size)], count)) as batches:
        for batch in batches:
            done += batch
            if progress is not None:
                progress(len(done))
    return done


def leave_interrupts_to_the_parent() -> None:
    """In a worker: Ctrl-C reaches the workers of a terminal too, and the parent decides what to do about it."""
    if parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def stopped_after(results: Results) -> Iterator[Results]:
    """However it ends, the workers are told to stop at once; that this cancels tasks needs no warning by joblib."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if isinstance(results, Generator):
                results.close()


def worker_count(workers: int | None) -> int:
    """How many to use: those asked for, those of a surrounding `joblib.parallel_config`, or one for every core."""
    if workers is not None and not is_whole(workers, 1):
        raise SettingError(f"workers={short(workers)}: give a whole number, at least one.")
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    if workers is None:
        configured = get_active_backend()[1]
        workers = -1 if configured in (None, 1) else configured
    return int(effective_n_jobs(workers))


def _parallel(job: Job, batches: list[Sequence[int]], workers: int) -> Any:
    if not batches:
        return []
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    calls = (delayed(job.run)(batch) for batch in batches)
    ordered = getattr(get_active_backend()[0], "supports_return_generator", False)
    return Parallel(n_jobs=workers, batch_size=1, return_as="generator" if ordered else "list")(calls)


def _numbers(mask: NDArray[np.bool_]) -> Indices:
    return np.flatnonzero(mask).astype(np.int32)
