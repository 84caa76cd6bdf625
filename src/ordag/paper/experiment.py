"""`Task` and `Experiment`: a figure or table of the paper, as units of work and what to make of their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from ordag.errors import OrdagError

Rows = list[dict[str, Any]]
"""The result of a task, in plain values: str, int, float."""


class ReproductionError(OrdagError):
    """An experiment that could not continue. Finished tasks are kept."""


@dataclass(frozen=True, order=True)
class Task:
    """One unit of work. Its fields are the address of its rows, and all that its data may depend on."""

    experiment: str
    design: str
    p: int
    n: int
    replicate: int
    method: str

    @property
    def address(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        words = [self.experiment, self.design, f"p = {self.p}" if self.p else "", f"n = {self.n}" if self.n else ""]
        return ", ".join(filter(None, [*words, f"replicate {self.replicate}", self.method]))


@dataclass(frozen=True)
class Experiment:
    """A figure, table or section of the paper.

    name: its name on the command line. title: its heading.
    tasks: from whether the run is quick to the tasks. A quick run has a subset of the tasks of a full one.
    run: from a task to its rows; the task's address is added to each, unless the row has its own values. It must be a
        function of a module, because workers are other processes.
    figures: from all rows (a data frame) to the files to write, by name: PNG and SVG.
    claims: from all rows to sentences "the paper says …; here …".
    table: from all rows to a small data frame for the terminal, if there is one.
    complete_only: tasks that only a complete run has.
    replicated: whether replicates are interchangeable, so that their number can be chosen.
    alone: whether tasks must not run side by side, because they measure time.
    settings: all else that the rows depend on, in plain values; a journal made with other settings is not continued.
    seconds: the approximate time of a task on one core.
    """

    name: str
    title: str
    tasks: Callable[[bool], Sequence[Task]]
    run: Callable[[Task], Rows]
    figures: Callable[[pd.DataFrame], dict[str, bytes]]
    claims: Callable[[pd.DataFrame], list[str]]
    table: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    complete_only: Callable[[], Sequence[Task]] = lambda: ()
    replicated: bool = False
    alone: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[Task], float] = lambda task: 0.05


def to_frame(done: Mapping[Task, Rows]) -> pd.DataFrame:
    """Return all rows with their addresses, sorted by task; a row's own values replace its task's."""
    return pd.DataFrame([{**task.address, **row} for task in sorted(done) for row in done[task]])


def where(rows: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows that have these values in these columns."""
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def records(rows: pd.DataFrame, **values: Any) -> list[Any]:
    """Return the rows that `where` selects as named tuples."""
    return list(where(rows, **values).itertuples())


def means(rows: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Return mean, standard error of the mean, and count of a column for every combination of others, without gaps."""
    known = rows.dropna(subset=[value])
    found = known.groupby(list(by), sort=True)[value].agg(["mean", "sem", "count"]).reset_index()
    return found.rename(columns={"sem": "error"}).fillna({"error": 0.0})
