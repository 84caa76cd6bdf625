"""`Task` and `Experiment`: what a figure or table of the paper has to say about itself to be run. Its rows as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ordag.errors import OrdagError

Rows = list[dict[str, Any]]
"""What a task gives, in plain values: str, int, float."""


class ReproductionError(OrdagError):
    """An experiment that could not go on. What was done until then is kept."""


@dataclass(frozen=True, order=True)
class Task:
    """One unit of work, addressed by its fields. They are the key of its rows, and all that its data may depend on."""

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
    """A figure or table: what to compute, one task at a time, and how to show it.

    name: what the command line calls it. title: a line for people.
    tasks: from whether it is to be quick to the tasks. A quick run has fewer of them, not other ones.
    run: from a task to its rows; the task's address is added to each, and a row's own values win over it. It is called
        in another process, so it must be a function of a module.
    present: from all rows (a data frame) and a folder to the figures written there, as PNG and SVG.
    claims: from all rows to sentences "the paper says …; here …".
    table: from all rows to a small data frame for the terminal, if there is one.
    complete_only: the tasks that only a complete run has.
    replicated: whether replicates are interchangeable, so that the caller may ask for more or fewer of them.
    alone: whether tasks must not run side by side, because they measure time.
    settings: what else the rows depend on, in plain values; a journal made with others is not continued.
    seconds: about how long a task takes on one core.
    """

    name: str
    title: str
    tasks: Callable[[bool], Sequence[Task]]
    run: Callable[[Task], Rows]
    present: Callable[[pd.DataFrame, Path], list[Path]]
    claims: Callable[[pd.DataFrame], list[str]]
    table: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    complete_only: Callable[[], Sequence[Task]] = lambda: ()
    replicated: bool = False
    alone: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[Task], float] = lambda task: 0.05


def to_frame(done: Mapping[Task, Rows]) -> pd.DataFrame:
    """All rows by address, whatever the order in which they came; a row's own values win over its task's."""
    return pd.DataFrame([{**task.address, **row} for task in sorted(done) for row in done[task]])


def where(rows: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows that have these values in these columns."""
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def records(rows: pd.DataFrame, **values: Any) -> list[Any]:
    """The same as records: `record.column` is a value."""
    return list(where(rows, **values).itertuples())


def means(rows: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Mean, standard error of the mean, and count of a column, for every combination of others; gaps left out."""
    known = rows.dropna(subset=[value])
    found = known.groupby(list(by), sort=True)[value].agg(["mean", "sem", "count"]).reset_index()
    return found.rename(columns={"sem": "error"}).fillna({"error": 0.0})
