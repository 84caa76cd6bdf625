"""`Task` and `Experiment`: what a figure or table of the paper has to say about itself to be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ordag.errors import OrdagError


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


def none() -> Sequence[Task]:
    return ()


def a_moment(task: Task) -> float:
    return 0.05


@dataclass(frozen=True)
class Experiment:
    """A figure or table: what to compute, one task at a time, and how to show it.

    name: what the command line calls it. title: a line for people.
    tasks: from whether it is to be quick to the tasks. A quick run has fewer of them, not other ones.
    run: from a task to its rows, in plain values (str, int, float); the task's address is added to each, and a row's
        own values win over it. It is called in another process, so it must be a function of a module.
    present: from all rows (a data frame) and a folder to the figures written there, as PNG and SVG.
    claims: from all rows to sentences "the paper says …; here …".
    table: from all rows to a small data frame for the terminal, if there is one.
    extra: the tasks that only a complete run has.
    replicated: whether replicates are interchangeable, so that the caller may ask for more or fewer of them.
    alone: whether tasks must not run side by side, because they measure time.
    settings: what else the rows depend on, in plain values; a journal made with others is not continued.
    seconds: about how long a task takes on one core.
    """

    name: str
    title: str
    tasks: Callable[[bool], Sequence[Task]]
    run: Callable[[Task], list[dict[str, Any]]]
    present: Callable[[Any, Path], list[Path]]
    claims: Callable[[Any], list[str]]
    table: Callable[[Any], Any] | None = None
    extra: Callable[[], Sequence[Task]] = none
    replicated: bool = False
    alone: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[Task], float] = a_moment
