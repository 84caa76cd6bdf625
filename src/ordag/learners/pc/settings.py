"""The settings of PC."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ordag.learners.settings import MethodSettings, edge_test, level_of_tests, way_to_direct
from ordag.parents.tests import Test
from ordag.settings import choice, whole

COLLIDERS = ("largest", "first", "majority", "conservative")


@dataclass(frozen=True)
class PcSettings(MethodSettings):
    """The PC algorithm (Spirtes & Glymour): the equivalence class by tests. A Cpdag, or a Dag with `orient_by_order`.

    A pair with a p-value above alpha, given some set of neighbours, is not joined. A triple a — b — c whose ends are not joined
    is a collider, a → b ← c: with colliders="largest" if b is not in the set with the largest p-value of those that separated a
    and c; with "first" if it is not in the first set found, the later of two contradicting colliders winning, as in the R package
    pcalg; with "majority" and "conservative" all sets of neighbours are asked. The answer depends on the order of the columns with
    "first" only.
    """

    name: ClassVar = "pc"
    about: ClassVar = "looks for the equivalence class by tests"
    seconds: ClassVar = 1.3e-5

    alpha: float = level_of_tests()
    _: KW_ONLY
    test: str | Test = edge_test()
    colliders: str = choice("largest", COLLIDERS, "how to tell colliders from other triples")
    max_level: int | None = whole(
        0, "give a whole number from 0 on, or None for no limit", "the most variables to condition on"
    )
    orient_by_order: str | None = way_to_direct()
