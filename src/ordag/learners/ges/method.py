"""GES as a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ordag.checks import as_list, short
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.knowledge.masks import Constraints
from ordag.learners.directed import directed, way_to_direct
from ordag.learners.found import Found
from ordag.learners.ges.search import OPERATORS
from ordag.learners.prices import Penalty, Priced, penalty_of_edges, priced_ges
from ordag.learners.settings import MethodSettings
from ordag.settings import flag, setting, whole


def _phases(name: str, value: Any) -> tuple[str, ...]:
    wanted = f"{name}={short(value)}: name one or more of {', '.join(OPERATORS)}."
    phases = as_list(value, wanted)
    if not phases or not all(isinstance(phase, str) and phase in OPERATORS for phase in phases):
        raise SettingError(wanted)
    return tuple(phases)


@dataclass(frozen=True)
class GesSettings(MethodSettings):
    """Greedy equivalence search (Chickering): the class by score. A Cpdag, or a Dag with `orient_by_order`."""

    name: ClassVar = "ges"
    about: ClassVar = "looks for the equivalence class by score"
    seconds: ClassVar = 1.3e-5

    penalty: Penalty = penalty_of_edges()
    _: KW_ONLY
    phases: Sequence[str] = setting(
        ("forward", "backward", "turning"), _phases, "the phases of the search, in their order", plain=list
    )
    iterate: bool = flag(True, "go through the phases again until none finds anything better")
    max_degree: int | None = whole(
        1, "it must be a whole number from 1 on, or None for no limit", "the most edges at one variable"
    )
    orient_by_order: str | None = way_to_direct()


def ges(table: Table, settings: GesSettings, known: Constraints | None = None) -> Found:
    """The class that GES finds, directed along an order if that is asked for."""
    result, price = priced_ges(
        table.moments,
        settings.penalty,
        phases=settings.phases,
        iterate=settings.iterate,
        max_degree=settings.max_degree,
        progress=lambda step: table.tell(f"GES: {step.phase} phase, score {step.score:.6g}"),
        known=known,
    )
    found = Found(
        recipe=settings,
        moments=table.moments,
        graph=result.graph,
        score=result.score,
        result=Priced(result, price),
    )
    return directed(found, table, settings.orient_by_order, known)
