"""`reproduce`: names of experiments in, their tables, figures and sentences in a folder out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ordag.checks import is_whole, short
from ordag.errors import OutputError, SettingError
from ordag.paper.experiment import Experiment, ReproductionError, Task
from ordag.paper.runner import perform, tasks_of
from ordag.paper.store import Journal, to_frame
from ordag.show.files import write_whole
from ordag.workers import worker_count

if TYPE_CHECKING:
    import pandas as pd

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


def reproduce(
    names: Sequence[str | Experiment] | None = None,
    quick: bool = False,
    folder: str | PathLike[str] = FOLDER,
    replicates: int | None = None,
    workers: int | None = None,
    progress: Callable[[Step], None] | None = None,
    *,
    complete: bool = False,
) -> list[Result]:
    """Run the paper's experiments again, or go on with a run that was interrupted.

    names: which, all of `ordag.paper.EXPERIMENTS` by default; an `Experiment` of your own will do as well.
    quick: a few replicates at a few points, enough to see that it works.
    folder: where results go. Each experiment has there a journal of finished tasks, which is how a later call with
        the same folder knows what is left to do, a table NAME.csv of all rows, NAME.md, and figures.
    replicates: how many of each point, instead of the experiment's own number.
    workers: processes, one for every core by default. The numbers do not depend on it. Within
        `joblib.parallel_config(backend=…)` the tasks go to that backend instead, for instance Dask or Ray.
    progress: called at the start and after each task with a `Step`.
    complete: also the points that are left out for the time they take.

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
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {place} could not be made: {error.strerror or error}.") from error
    count = worker_count(workers)
    with ExitStack() as stack:
        journals = [stack.enter_context(Journal(place / f"{one.name}.journal", one)) for one in chosen]
        plans = [tasks_of(one, quick=quick, replicates=replicates, complete=complete) for one in chosen]
        tell = _Teller(list(zip(chosen, plans, strict=True)), journals, count, progress)
        return [
            _one(experiment, tasks, journal, place, count, tell)
            for experiment, tasks, journal in zip(chosen, plans, journals, strict=True)
        ]


def chosen_experiments(names: Sequence[str | Experiment] | None) -> list[Experiment]:
    """The experiments of these names, each once."""
    from ordag.paper import EXPERIMENTS

    if not names:
        return list(EXPERIMENTS.values())
    unknown = [name for name in names if isinstance(name, str) and name not in EXPERIMENTS]
    if unknown:
        raise SettingError(f"There is no experiment {', '.join(unknown)}. There are {', '.join(EXPERIMENTS)}.")
    chosen = [EXPERIMENTS[name] if isinstance(name, str) else name for name in names]
    return list({experiment.name: experiment for experiment in chosen}.values())


class _Teller:
    """Adds up what is done, and tells whoever wants to know."""

    def __init__(
        self,
        plans: Sequence[tuple[Experiment, Sequence[Task]]],
        journals: Sequence[Journal],
        workers: int,
        progress: Callable[[Step], None] | None,
    ) -> None:
        self.progress = progress
        self.workers = workers
        self.tasks = self.done = 0
        self.seconds = self.seconds_done = 0.0
        for (experiment, tasks), journal in zip(plans, journals, strict=True):
            for task in tasks:
                # A task that has to run alone takes the time of all workers.
                cost = experiment.seconds(task) * (workers if experiment.alone else 1)
                known = task in journal.done
                self.tasks, self.done = self.tasks + 1, self.done + known
                self.seconds, self.seconds_done = self.seconds + cost, self.seconds_done + cost * known
        self.tell(plans[0][0])

    def finished(self, experiment: Experiment, task: Task) -> None:
        self.done += 1
        self.seconds_done += experiment.seconds(task) * (self.workers if experiment.alone else 1)
        self.tell(experiment)

    def tell(self, experiment: Experiment) -> None:
        if self.progress is not None:
            step = Step(experiment.name, self.done, self.tasks, self.seconds_done, self.seconds, self.workers)
            self.progress(step)


def _one(
    experiment: Experiment, tasks: Sequence[Task], journal: Journal, place: Path, workers: int, tell: _Teller
) -> Result:
    """Run what is left of one experiment; what the journal has from other runs is shown too."""
    table = place / f"{experiment.name}.csv"
    written = time.monotonic()

    def finished(task: Task) -> None:
        nonlocal written
        tell.finished(experiment, task)
        if time.monotonic() - written > REFRESH_SECONDS:
            write_table(table, to_frame(journal.done))
            written = time.monotonic()

    try:
        perform(experiment, [task for task in tasks if task not in journal.done], journal, workers, finished)
    except (KeyboardInterrupt, ReproductionError):
        if journal.done:
            write_table(table, to_frame(journal.done))
        raise
    rows = to_frame(journal.done)
    files = [write_table(table, rows), *experiment.present(rows, place)]
    summary = None if experiment.table is None else experiment.table(rows)
    claims = experiment.claims(rows)
    page = place / f"{experiment.name}.md"
    files.append(write_whole(page, markdown(experiment, summary, claims, files)))
    return Result(experiment, rows, summary, claims, files)


def write_table(path: Path, rows: pd.DataFrame) -> Path:
    return write_whole(path, rows.to_csv(index=False, lineterminator="\n"))


def markdown(experiment: Experiment, table: pd.DataFrame | None, claims: Sequence[str], files: Sequence[Path]) -> str:
    """A page with the figures, the table and the sentences."""
    lines = [f"# {experiment.title}", ""]
    for picture in [path for path in files if path.suffix == ".png"]:
        lines += [f"![{experiment.title}]({picture.name})", ""]
    if table is not None:
        cells = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in cells] + [""]
    return "\n".join([*lines, *(f"- {claim}" for claim in claims)]) + "\n"
