"""PC as a method."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ordag.data.table import Table
from ordag.knowledge.masks import Constraints
from ordag.learners.cvs import level_of_tests, test_for_edges
from ordag.learners.directed import directed, way_to_direct
from ordag.learners.found import Found
from ordag.learners.pc.search import RULES, pc_search
from ordag.learners.settings import MethodSettings
from ordag.parents.tests import Test
from ordag.settings import choice, whole


@dataclass(frozen=True)
class PcSettings(MethodSettings):
    """The PC algorithm (Spirtes & Glymour): the equivalence class by tests. A Cpdag, or a Dag with `orient_by_order`."""

    name: ClassVar = "pc"
    about: ClassVar = "looks for the equivalence class by tests"
    seconds: ClassVar = 1.3e-5

    alpha: float = level_of_tests()
    _: KW_ONLY
    test: str | Test = test_for_edges()
    colliders: str = choice("largest", RULES, "how to tell colliders from other triples")
    max_level: int | None = whole(
        0, "give a whole number from 0 on, or None for no limit", "the most variables to condition on"
    )
    orient_by_order: str | None = way_to_direct()


def pc(table: Table, settings: PcSettings, known: Constraints | None = None) -> Found:
    """The class that PC finds, directed along an order if that is asked for."""
    result = pc_search(
        table.moments,
        alpha=settings.alpha,
        test=settings.test,
        colliders=settings.colliders,
        max_level=settings.max_level,
        progress=lambda done, planned: table.tell(f"PC: {done:,} of {planned:,} sets so far"),
        known=known,
    )
    found = Found(
        recipe=settings,
        moments=table.moments,
        graph=result.graph,
        warnings=result.warnings,
        pair_p_values=result.p_values,
        separating_sets=result.separating_sets,
        result=result,
    )
    return directed(found, table, settings.orient_by_order, known)
