"""Tasks in, their rows in a journal out: on any number of workers, of any kind that joblib knows."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ordag.errors import ClusterError, WorkerError
from ordag.paper.engine.experiment import Experiment, ReproductionError, Rows, Task
from ordag.paper.engine.journal import Journal
from ordag.workers import as_worker, in_parallel, stopped_after

BATCH_SECONDS = 0.5
"""Tasks go to a worker in batches of about this length: long against the way there, short to lose."""


class Failure(NamedTuple):
    """What a task raised, in words, since not every exception survives the way back from a worker."""

    what: str
    trace: str


def tasks_of(experiment: Experiment, *, quick: bool, replicates: int | None, complete: bool) -> list[Task]:
    """What is to be done, replicate by replicate, so that an interrupted run has something at every point.

    Points for which the experiment has fewer replicates than for others have no more than that.
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
    """Run the tasks and write each down in the journal as soon as it is known.

    Every task runs with one thread for linear algebra, so that the numbers are the same for any number of workers.
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
    return f"The {len(journal.done)} tasks done before are kept in {journal.path}, and the same command goes on from there."


def batches(tasks: Iterable[Task], seconds: Callable[[Task], float]) -> Iterator[list[Task]]:
    """The tasks in the same order, so many at a time that they take about BATCH_SECONDS, one at least."""
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
    """What a worker does: the tasks one after the other, with what came of each, until one fails."""
    results: list[tuple[Task, Rows | Failure]] = []
    with as_worker():
        for task in tasks:
            try:
                results.append((task, run(task)))
            except Exception as error:
                what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                return [*results, (task, Failure(what, traceback.format_exc()))]
    return results
