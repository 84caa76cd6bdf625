"""The settings of GES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ordag.checks import as_list, short
from ordag.errors import SettingError
from ordag.learners.ges.operators import OPERATORS, Phase
from ordag.learners.settings import MethodSettings, Penalty, penalty_of_edges, way_to_direct
from ordag.settings import flag, setting, whole


def _phases(name: str, value: Any) -> tuple[Phase, ...]:
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

    penalty: Penalty = penalty_of_edges("it must be a positive number; 1 is BIC", none=False)
    _: KW_ONLY
    phases: Sequence[Phase] = setting(
        ("forward", "backward", "turning"), _phases, "the phases of the search, in their order", plain=list
    )
    iterate: bool = flag(True, "go through the phases again until none finds anything better")
    max_degree: int | None = whole(
        1, "it must be a whole number from 1 on, or None for no limit", "the most edges at one variable"
    )
    orient_by_order: str | None = way_to_direct()
