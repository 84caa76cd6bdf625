"""`reproduce`: names of experiments in, their tables, figures and sentences in a folder out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ordag.checks import is_whole, short
from ordag.cluster import connected, on_cluster
from ordag.errors import OutputError, SettingError
from ordag.files import unfinished
from ordag.paper.engine.experiment import Experiment, ReproductionError, Task, to_frame
from ordag.paper.engine.journal import Journal, refuse_foreign
from ordag.paper.engine.runner import perform, tasks_of
from ordag.paper.experiments import EXPERIMENTS
from ordag.workers import worker_count

FOLDER = "ordag-results"
REFRESH_SECONDS = 60.0
"""While an experiment runs its CSV file is written anew about this often."""


@dataclass(frozen=True)
class Step:
    """How far a run is: tasks done, with those of earlier runs, and their expected seconds on one core."""

    experiment: str
    done: int
    tasks: int
    seconds_done: float
    seconds: float
    workers: int


@dataclass(frozen=True, eq=False)
class Result:
    """What came of an experiment: all its rows, a small table of them, sentences, and the files written."""

    experiment: Experiment
    rows: pd.DataFrame
    table: pd.DataFrame | None
    claims: list[str]
    files: list[Path]


class Plan(NamedTuple):
    """An experiment, what is asked of it, and what is known."""

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
    """Run the paper's experiments again, or go on with a run that was interrupted.

    names: which, all of `ordag.paper.EXPERIMENTS` by default; an `Experiment` of your own will do as well.
    quick: a few replicates at a few points, enough to see that it works.
    folder: where results go. Each experiment has there a journal of finished tasks, which is how a later call with
        the same folder knows what is left to do, a table NAME.csv of all rows, NAME.md, and figures. Files of these names that
        no run has written, or that were changed since, are refused before anything is done.
    replicates: how many of each point, instead of the experiment's own number.
    workers: processes, one for every core by default. The numbers do not depend on it. Within
        `joblib.parallel_config(backend=…)` the tasks go to that backend instead, for instance Dask or Ray.
    progress: called at the start and after each task with a `Step`.
    complete: also the points that are left out for the time they take.
    client: a client of Dask, or the address of its scheduler: the tasks go to that cluster, `workers` batches of them at a time.

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
    place = Path(folder)
    for one in chosen:
        refuse_foreign(place, one)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {place} could not be made: {error.strerror or error}.") from error
    with ExitStack() as stack:
        stack.enter_context(on_cluster(stack.enter_context(connected(client))))
        count = worker_count(workers)
        plans = [
            Plan(
                one,
                tasks_of(one, quick=quick, replicates=replicates, complete=complete),
                stack.enter_context(Journal(place / f"{one.name}.journal", one)),
            )
            for one in chosen
        ]
        tell = _teller(plans, count, progress)
        return [_carried_out(plan, place, count, tell) for plan in plans]


def chosen_experiments(names: Sequence[str | Experiment] | None) -> list[Experiment]:
    """The experiments of these names, each once."""
    if not names:
        return list(EXPERIMENTS.values())
    unknown = [name for name in names if isinstance(name, str) and name not in EXPERIMENTS]
    if unknown:
        raise SettingError(f"There is no experiment {', '.join(unknown)}. There are {', '.join(EXPERIMENTS)}.")
    chosen = [EXPERIMENTS[name] if isinstance(name, str) else name for name in names]
    return list({experiment.name: experiment for experiment in chosen}.values())


def _teller(
    plans: Sequence[Plan], workers: int, progress: Callable[[Step], None] | None
) -> Callable[[Plan, Task], None]:
    """Tell at once how far the plans are, and give what is to be called after each task."""

    def cost(plan: Plan, task: Task) -> float:
        # A task that has to run alone takes the time of all workers.
        return plan.experiment.seconds(task) * (workers if plan.experiment.alone else 1)

    every = [(cost(plan, task), task in plan.journal.done) for plan in plans for task in plan.tasks]
    done = [seconds for seconds, known in every if known]
    step = Step(
        plans[0].experiment.name, len(done), len(every), sum(done), sum(seconds for seconds, _ in every), workers
    )
    if progress is not None:
        progress(step)

    def tell(plan: Plan, task: Task) -> None:
        nonlocal step
        seconds = step.seconds_done + cost(plan, task)
        step = replace(step, experiment=plan.experiment.name, done=step.done + 1, seconds_done=seconds)
        if progress is not None:
            progress(step)

    return tell


def _carried_out(plan: Plan, place: Path, workers: int, tell: Callable[[Plan, Task], None]) -> Result:
    """Run what is left of one experiment; what the journal has from other runs is shown too."""
    experiment, journal = plan.experiment, plan.journal
    written = time.monotonic()

    def write_table() -> Path:
        rows = to_frame(journal.done)
        return journal.write(f"{experiment.name}.csv", rows.to_csv(index=False, lineterminator="\n").encode())

    def finished(task: Task) -> None:
        nonlocal written
        tell(plan, task)
        if time.monotonic() - written > REFRESH_SECONDS:
            write_table()
            written = time.monotonic()

    try:
        perform(experiment, [task for task in plan.tasks if task not in journal.done], journal, workers, finished)
    except (KeyboardInterrupt, ReproductionError):
        if journal.done:
            write_table()
        raise
    rows = to_frame(journal.done)
    files = [write_table()]
    with tempfile.TemporaryDirectory(prefix=".ordag-", dir=place) as aside:
        unfinished.add(Path(aside))
        files += [journal.write(path.name, path.read_bytes()) for path in experiment.present(rows, Path(aside))]
        unfinished.discard(Path(aside))
    summary = None if experiment.table is None else experiment.table(rows)
    claims = experiment.claims(rows)
    files.append(journal.write(f"{experiment.name}.md", markdown(experiment, summary, claims, files).encode()))
    return Result(experiment, rows, summary, claims, files)


def markdown(experiment: Experiment, table: pd.DataFrame | None, claims: Sequence[str], files: Sequence[Path]) -> str:
    """A page with the figures, the table and the sentences."""
    lines = [f"# {experiment.title}", ""]
    for picture in [path for path in files if path.suffix == ".png"]:
        lines += [f"![{experiment.title}]({picture.name})", ""]
    if table is not None:
        cells = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in cells] + [""]
    return "\n".join([*lines, *(f"- {claim}" for claim in claims)]) + "\n"
