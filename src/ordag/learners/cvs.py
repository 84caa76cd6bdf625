"""Conditional variance scoring (Park & Kim, Algorithm 1): order by least conditional variance, then choose parents."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints
from ordag.learners.found import Found
from ordag.learners.settings import MethodSettings, level_of_tests, test_of_edges
from ordag.order import RULES, find_order
from ordag.parents import CORRECTIONS, PARENT_RULES, select
from ordag.parents.tests import Test
from ordag.settings import choice


@dataclass(frozen=True)
class CvsSettings(MethodSettings):
    """Conditional variance scoring (Park & Kim): the variables ordered by conditional variance, and parents along the order.

    With correction="bh" alpha is the false-discovery rate of edges, not of their directions.
    """

    name: ClassVar = "cvs"
    about: ClassVar = (
        "orders the variables by conditional variance and chooses parents along the order (Park & Kim; as published with "
        "--method cvs --alpha 0.01)"
    )
    seconds: ClassVar = 8e-6

    alpha: float = level_of_tests()
    _: KW_ONLY
    test: str | Test = test_of_edges()
    parents: str = choice(
        "test",
        PARENT_RULES,
        "choose parents by tests, or by backward elimination (no level to set): BIC, or an edge prior",
    )
    correction: str = choice(
        "none",
        CORRECTIONS,
        "for many variables bh controls the false-discovery rate of edges (not of directions) at alpha, bonferroni any false edge",
    )
    direction: str = choice("forward", RULES, "find causes first, or effects first")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correction != "none" and self.parents != "test":
            raise SettingError(
                f"correction={self.correction!r} is one of tests, and parents={self.parents!r} makes none: leave one out."
            )


def cvs(table: Table, settings: CvsSettings, known: Constraints | None = None) -> Found:
    """A Dag: the ordering, and the parents that the rule chooses along it."""
    ordering = find_order(table, settings.direction, None if known is None else known.before)
    selection = select(
        ordering,
        rule=settings.parents,
        alpha=settings.alpha,
        test=settings.test,
        correction=settings.correction,
        allowed=None if known is None else known.allowed,
        required=None if known is None else known.required,
    )
    moments = ordering.moments
    later, earlier = np.nonzero(selection.parents)
    adjacency = np.zeros((moments.p, moments.p), dtype=bool)
    adjacency[ordering.order[earlier], ordering.order[later]] = True
    return Found(
        recipe=settings,
        moments=moments,
        graph=Dag.known_acyclic(moments.names, adjacency),
        ordering=ordering,
        selection=selection,
        warnings=ordering.warnings,
        result=selection,
    )


def with_false_edges_said(found: Found) -> Found:
    """The same with a warning where many of its edges are to be expected false."""
    selection, recipe = found.selection, found.recipe
    if selection is None or not isinstance(recipe, CvsSettings) or recipe.correction != "none":
        return found
    count = selection.edge_count
    if selection.expected_false <= 0.1 * max(count, 1):
        return found
    were = f"{count} {'edge was' if count == 1 else 'edges were'} found"
    if recipe.parents == "test":
        sentence = (
            f"At this level about {selection.expected_in_words} false edges are to be expected among {selection.pairs:,} pairs "
            f"tested, and {were}: control the false-discovery rate of edges with correction='bh' (--correction bh)."
        )
    else:
        rule = PARENT_RULES[recipe.parents].title
        sentence = (
            f"{rule} lets about {selection.expected_in_words} false edges through among {selection.pairs:,} pairs, and "
            f"{were}: use tests with correction='bh' (--correction bh) instead."
        )
    return replace(found, warnings=(*found.warnings, sentence))
