"""`reproduce`: run experiments of the paper, on any number of workers, and write their tables, figures and sentences to a folder."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ordag.common.checks import is_whole, short
from ordag.common.cluster import connected, on_cluster
from ordag.common.workers import as_worker, in_parallel, stopped_after, worker_count
from ordag.errors import ClusterError, OutputError, SettingError, WorkerError
from ordag.paper.authors_code import AUTHORS
from ordag.paper.beyond_the_figures import BEYOND
from ordag.paper.comparisons import FIGURE2, FIGURE3, FIGURE4
from ordag.paper.experiment import Experiment, ReproductionError, Rows, Task, to_frame
from ordag.paper.journal import Journal, refuse_foreign
from ordag.paper.marks import MARKS
from ordag.paper.section2 import SECTION2
from ordag.paper.table1 import TABLE1

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


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (SECTION2, FIGURE2, FIGURE3, FIGURE4, TABLE1, MARKS, BEYOND, AUTHORS)
}
"""By name, in the order of the paper, and then what goes past it."""

FOLDER = "ordag-results"


@dataclass(frozen=True)
class Step:
    """The progress of a run: tasks done, including those of earlier runs, and their expected seconds on one core."""

    experiment: str
    done: int
    tasks: int
    seconds_done: float
    seconds: float
    workers: int


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an experiment: all its rows, a small table of them, sentences, and the files written."""

    experiment: Experiment
    rows: pd.DataFrame
    table: pd.DataFrame | None
    claims: list[str]
    files: list[Path]


class Plan(NamedTuple):
    """An experiment, the tasks of this run, and the journal of all that are done."""

    experiment: Experiment
    tasks: list[Task]
    journal: Journal


def reproduce(
    names: Sequence[str | Experiment] | None = None,
    quick: bool = False,
    folder: str | PathLike[str] = FOLDER,
    replicates: int | None = None,
    workers: int | None = None,
    progress: Callable[[Step], None] | None = None,
    *,
    complete: bool = False,
    client: Any = None,
) -> list[Result]:
    """Run the paper's experiments, or continue an interrupted run.

    names: names in `ordag.paper.EXPERIMENTS`, all by default, or `Experiment` objects.
    quick: run a few replicates at a few points.
    folder: the folder of the results. Each experiment writes there a journal of finished tasks, from which a later call with
        the same folder continues, a table NAME.csv of all rows, NAME.md, and figures. If there are files of these names that
        no run has written, or that were changed since, nothing is run.
    replicates: the number of replicates at each point, instead of the experiment's own.
    workers: the number of processes, one for every core by default. The numbers do not depend on it. Within
        `joblib.parallel_config(backend=…)` the tasks go to that backend instead, for instance Dask or Ray.
    progress: called at the start and after each task with a `Step`.
    complete: run also the points that are left out because they take long.
    client: a Dask client, or the address of its scheduler: the tasks go to that cluster, `workers` batches at a time.

    >>> import tempfile
    >>> from ordag.paper import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result, = reproduce(["figure4"], quick=True, folder=folder, workers=1)
    >>> len(result.rows.query("method == 'cvs' and n == 200")) > 1
    True
    """
    if replicates is not None and not is_whole(replicates, 1):
        raise SettingError(f"replicates={short(replicates)}: at least one is needed.")
    chosen = chosen_experiments(names)
    results = Path(folder)
    for one in chosen:
        refuse_foreign(results, one)
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {results} could not be made: {error.strerror or error}.") from error
    with ExitStack() as stack:
        stack.enter_context(on_cluster(stack.enter_context(connected(client))))
        count = worker_count(workers)
        plans = [
            Plan(
                one,
                tasks_of(one, quick=quick, replicates=replicates, complete=complete),
                stack.enter_context(Journal(results / f"{one.name}.journal", one)),
            )
            for one in chosen
        ]
        finished = _progress(plans, count, progress or (lambda step: None))
        return [_run(plan, count, finished) for plan in plans]


def chosen_experiments(names: Sequence[str | Experiment] | None) -> list[Experiment]:
    """Return the experiments of these names, each once."""
    if not names:
        return list(EXPERIMENTS.values())
    unknown = [name for name in names if isinstance(name, str) and name not in EXPERIMENTS]
    if unknown:
        raise SettingError(f"There is no experiment {', '.join(unknown)}. There are {', '.join(EXPERIMENTS)}.")
    chosen = [EXPERIMENTS[name] if isinstance(name, str) else name for name in names]
    return list({experiment.name: experiment for experiment in chosen}.values())


def _progress(plans: Sequence[Plan], workers: int, progress: Callable[[Step], None]) -> Callable[[Plan, Task], None]:
    """Report the progress at the start; return the function to call after each task."""

    def cost(plan: Plan, task: Task) -> float:
        # A task that has to run alone takes the time of all workers.
        return plan.experiment.seconds(task) * (workers if plan.experiment.alone else 1)

    costs = [(cost(plan, task), task in plan.journal.done) for plan in plans for task in plan.tasks]
    done = [seconds for seconds, known in costs if known]
    total = sum(seconds for seconds, _ in costs)
    step = Step(plans[0].experiment.name, len(done), len(costs), sum(done), total, workers)
    progress(step)

    def finished(plan: Plan, task: Task) -> None:
        nonlocal step
        seconds = step.seconds_done + cost(plan, task)
        step = replace(step, experiment=plan.experiment.name, done=step.done + 1, seconds_done=seconds)
        progress(step)

    return finished


def _run(plan: Plan, workers: int, finished: Callable[[Plan, Task], None]) -> Result:
    """Run the remaining tasks of one experiment; the result has the rows of all runs in the journal."""
    experiment, _, journal = plan
    name = experiment.name

    def write_table() -> Path:
        rows = to_frame(journal.done)
        return journal.write(f"{name}.csv", rows.to_csv(index=False, lineterminator="\n").encode())

    try:
        remaining = [task for task in plan.tasks if task not in journal.done]
        perform(experiment, remaining, journal, workers, lambda task: finished(plan, task))
    except (KeyboardInterrupt, ReproductionError):
        if journal.done:
            write_table()
        raise
    rows = to_frame(journal.done)
    files = [write_table()]
    files += [journal.write(file, content) for file, content in experiment.figures(rows).items()]
    summary = None if experiment.table is None else experiment.table(rows)
    claims = experiment.claims(rows)
    files.append(journal.write(f"{name}.md", markdown(experiment, summary, claims, files).encode()))
    return Result(experiment, rows, summary, claims, files)


def markdown(experiment: Experiment, table: pd.DataFrame | None, claims: Sequence[str], files: Sequence[Path]) -> str:
    """Make a page of the figures, the table and the sentences."""
    lines = [f"# {experiment.title}", ""]
    for picture in [path for path in files if path.suffix == ".png"]:
        lines += [f"![{experiment.title}]({picture.name})", ""]
    if table is not None:
        cells = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in cells] + [""]
    return "\n".join([*lines, *(f"- {claim}" for claim in claims)]) + "\n"
