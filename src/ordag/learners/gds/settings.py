"""The settings of GDS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ordag.checks import Seed, as_list, is_whole, short
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.learners.settings import MethodSettings, Penalty, kicks, penalty_of_edges
from ordag.settings import choice, seed, setting


def _start(name: str, value: Any) -> Dag | None:
    if value is not None and not isinstance(value, Dag):
        raise SettingError(f"{name}={short(value)}: give a Dag, or None for the empty one.")
    return value


def _restarts(name: str, value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    wanted = f"{name}={short(value)}: give for each restart how many neighbours to check, from 1 on."
    counts = as_list(value, wanted)
    if not counts or not all(is_whole(one, 1) for one in counts):
        raise SettingError(wanted)
    return tuple(int(one) for one in counts)


@dataclass(frozen=True)
class GdsSettings(MethodSettings):
    """Greedy DAG search with equal error variances (Peters & Bühlmann): a Dag; lower scores are better."""

    name: ClassVar = "gds"
    about: ClassVar = "searches DAGs with equal error variances"
    seconds: ClassVar = 1e-4

    penalty: Penalty = penalty_of_edges("the factor of the BIC penalty is a number from 0 on", none=True)
    _: KW_ONLY
    start: Dag | None = setting(
        None,
        _start,
        "the graph to begin with, the empty one if not given",
        plain=lambda value: None if value is None else [list(edge) for edge in value.directed],
    )
    restarts: Sequence[int] | None = setting(
        None,
        _restarts,
        "for each restart how many neighbours to check",
        plain=lambda value: None if value is None else list(value),
    )
    strategy: str = choice(
        "random", ("random", "steepest"), "the published random search with restarts, or steepest descent"
    )
    kicks: int | None = kicks("fruitless kicks before it stops; with 0 it is the search as published")
    seed: Seed = seed("of the random numbers, 0 unless given")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restarts is not None and self.strategy == "steepest":
            raise SettingError('restarts belong to strategy="random": the steepest descent has one run only.')
