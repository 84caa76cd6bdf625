"""The keywords of `learn`, for editors. Made from the settings classes by `make settings`: do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ordag.common.checks import Seed
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import KnowledgeLike
from ordag.learners.ges.operators import Phase
from ordag.learners.pooled.method import Groups
from ordag.learners.settings import Penalty
from ordag.parents.tests import Test


class Keywords(TypedDict, total=False):
    """The settings of all methods, of reading a table, and of learning again from resamples."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    units: str | None
    groups: Groups | None
    kicks: int | None
    draws: int | None
    seed: Seed
    graph: str
    alpha: float
    test: str | Test
    parents: str
    correction: str
    direction: str
    variance: Any
    device: str
    split: bool
    colliders: str
    max_level: int | None
    orient_by_order: str | None
    penalty: Penalty
    phases: Sequence[Phase]
    iterate: bool
    max_degree: int | None
    start: Dag | None
    restarts: Sequence[int] | None
    strategy: str
    adjust: Sequence[str]
    separator: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    header: bool
    sheet: str | None
    table: str | None
    kind: str
    level: float
    workers: int | None
