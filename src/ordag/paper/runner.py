"""The tasks of an experiment, run on any number of workers of any joblib backend."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ordag.common.workers import as_worker, in_parallel, stopped_after
from ordag.errors import ClusterError, WorkerError
from ordag.paper.experiment import Experiment, ReproductionError, Rows, Task
from ordag.paper.journal import Journal

BATCH_SECONDS = 0.5
"""Duration of a batch of tasks: long compared with sending it to a worker, short enough to lose."""


class Failure(NamedTuple):
    """What a task raised, as text, since not every exception can be pickled."""

    what: str
    trace: str


def tasks_of(experiment: Experiment, *, quick: bool, replicates: int | None, complete: bool) -> list[Task]:
    """List the tasks replicate by replicate, so that an interrupted run has results at every point.

    `replicates` does not add any to points for which the experiment has fewer than for others.
    """
    tasks = [*experiment.tasks(quick), *(experiment.complete_only() if complete else ())]
    if replicates is not None and experiment.replicated:
        counts = Counter(replace(task, replicate=0) for task in tasks)
        most = max(counts.values())
        tasks = [
            replace(point, replicate=k)
            for point, count in counts.items()
            for k in range(replicates if count == most else min(replicates, count))
        ]
    return sorted(dict.fromkeys(tasks), key=lambda task: task.replicate)


def perform(
    experiment: Experiment, tasks: Sequence[Task], journal: Journal, workers: int, finished: Callable[[Task], None]
) -> None:
    """Run the tasks, and record each in the journal as soon as it is done.

    Linear algebra runs in one thread, so the numbers are the same for any number of workers.
    """
    parts = list(batches(tasks, experiment.seconds))
    run = partial(work, experiment.run)
    found = (run(part) for part in parts) if experiment.alone else in_parallel(run, parts, workers, ordered=False)
    try:
        with stopped_after(found) as results:
            for task, rows in (result for batch in results for result in batch):
                if isinstance(rows, Failure):
                    failed = ReproductionError(f"The task {task} failed with {rows.what}. {_kept(journal)}")
                    failed.add_note(rows.trace)
                    raise failed
                journal.add(task, rows)
                finished(task)
    except WorkerError as error:
        raise ReproductionError(
            f"A worker was killed during {experiment.name}, most often for want of memory. {_kept(journal)} With fewer "
            "workers (--workers 1) it needs less memory."
        ) from error
    except ClusterError as error:
        raise ReproductionError(f"{error} {_kept(journal)}") from error


def _kept(journal: Journal) -> str:
    return f"The {len(journal.done)} tasks done before are kept in {journal.path}, and the same command continues from there."


def batches(tasks: Iterable[Task], seconds: Callable[[Task], float]) -> Iterator[list[Task]]:
    """Split the tasks, in order, into batches of about BATCH_SECONDS, of at least one task each."""
    batch: list[Task] = []
    filled = 0.0
    for task in tasks:
        if batch and filled + seconds(task) > BATCH_SECONDS:
            yield batch
            batch, filled = [], 0.0
        batch.append(task)
        filled += seconds(task)
    if batch:
        yield batch


def work(run: Callable[[Task], Rows], tasks: Sequence[Task]) -> list[tuple[Task, Rows | Failure]]:
    """Run the tasks of a batch in a worker, one after the other, until one fails."""
    results: list[tuple[Task, Rows | Failure]] = []
    with as_worker():
        for task in tasks:
            try:
                results.append((task, run(task)))
            except Exception as error:
                what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                return [*results, (task, Failure(what, traceback.format_exc()))]
    return results
