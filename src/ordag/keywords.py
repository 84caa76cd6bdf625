"""The keywords of the calls and estimators, for editors. Made from the settings by `make settings`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ordag.common.checks import Seed
from ordag.graph.dag import Dag
from ordag.knowledge.knowledge import KnowledgeLike
from ordag.learners.ges.operators import Phase
from ordag.learners.pooled.method import Groups
from ordag.learners.settings import Penalty
from ordag.parents.row_tests import RowTest
from ordag.parents.tests import Test


class BootstrapKeywords(TypedDict, total=False):
    """The settings of all methods, and of reading a table."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    units: str | None
    groups: Groups | None
    kicks: int | None
    draws: int | None
    graph: str
    alpha: float
    test: str | Test | RowTest | None
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
    drop: Sequence[str]
    role: Mapping[str, str]
    category: Sequence[str]
    adjust: Sequence[str]
    cause: Sequence[str]
    experiment: str | None
    experiment_kind: str
    environment: str | None
    leave_out: Sequence[str]
    cluster: str | None
    clusters: str
    time: str | None
    lags: int | None
    difference: int | None
    season: int | None
    weights: str | None
    strict: bool
    separator: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    header: bool
    na: Sequence[str] | None
    sheet: str | None
    table: str | None


class Keywords(BootstrapKeywords, total=False):
    """These, and the settings of learning again from resamples."""

    seed: Seed
    kind: str
    level: float
    workers: int | None


class PooledKeywords(TypedDict, total=False):
    """The settings of the estimator of pooled."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    units: str | None
    groups: Groups | None
    kicks: int | None
    draws: int | None
    random_state: Seed
    graph: str


class CvsKeywords(TypedDict, total=False):
    """The settings of the estimator of cvs."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    alpha: float
    test: str | Test | RowTest | None
    parents: str
    correction: str
    direction: str
    variance: Any
    device: str
    split: bool


class PcKeywords(TypedDict, total=False):
    """The settings of the estimator of pc."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    alpha: float
    test: str | Test
    colliders: str
    max_level: int | None
    orient_by_order: str | None


class GesKeywords(TypedDict, total=False):
    """The settings of the estimator of ges."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    penalty: Penalty
    phases: Sequence[Phase]
    iterate: bool
    max_degree: int | None
    orient_by_order: str | None


class GdsKeywords(TypedDict, total=False):
    """The settings of the estimator of gds."""

    knowledge: KnowledgeLike | None
    min_effect: float | None
    penalty: Penalty
    start: Dag | None
    restarts: Sequence[int] | None
    strategy: str
    kicks: int | None
    random_state: Seed
