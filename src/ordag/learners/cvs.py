"""Conditional variance scoring (Park & Kim, Algorithm 1): order by least conditional variance, then test for parents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ordag.checks import check_choice
from ordag.data.table import Table
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Given, constraints, informed
from ordag.order import RULES, find_order
from ordag.parents.select import PARENT_RULES, check_level, select
from ordag.parents.tests import Test, named_test
from ordag.words import either


def cvs(
    table: Table,
    *,
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    parents: str = "test",
    correction: str = "none",
    direction: str = "forward",
    knowledge: Given = None,
) -> Fit:
    """Learn a Dag from a table.

    alpha: level of the tests for parents, or the false-discovery rate of edges (not of their directions) with
        correction="bh".
    test: "fisher-z", "t", "mutual-information", or a function (r, n, k) → p-values.
    parents: "test", "bic" for backward elimination by BIC, or "adaptive" for one by an edge prior: the penalty of an
        edge follows the share of pairs joined. The last two need no level.
    correction: "none", "bh" (Benjamini–Hochberg) or "bonferroni".
    direction: "forward" chooses causes first, "backward" effects first.
    knowledge: what is known beforehand (`ordag.knowledge.knowledge.Knowledge`, a mapping, or the path of a file).
    """
    alpha = check_level(alpha)
    named_test(test)
    check_choice("direction", direction, RULES, either(RULES))
    known = None if knowledge is None else constraints(knowledge, (table.quick or table.moments).names)
    ordering = find_order(table, direction, None if known is None else known.before)
    selection = select(
        ordering,
        rule=parents,
        alpha=alpha,
        test=test,
        correction=correction,
        allowed=None if known is None else known.allowed,
        required=None if known is None else known.required,
    )
    moments = ordering.moments
    later, earlier = np.nonzero(selection.parents)
    adjacency = np.zeros((moments.p, moments.p), dtype=bool)
    adjacency[ordering.order[earlier], ordering.order[later]] = True
    fit = Fit(
        method="cvs",
        settings={
            "alpha": alpha,
            "test": test if isinstance(test, str) else getattr(test, "__name__", "custom"),
            "parents": parents,
            "correction": correction,
            "direction": direction,
        },
        moments=moments,
        graph=Dag.known_acyclic(moments.names, adjacency),
        ordering=ordering,
        selection=selection,
        warnings=ordering.warnings,
        details=selection.details(),
    )
    return informed(fit, known)


def with_false_edges_said(fit: Fit) -> Fit:
    """The fit with a warning where many of its edges are to be expected false."""
    selection = fit.selection
    if selection is None:
        return fit
    found, parents = selection.edge_count, fit.settings["parents"]
    if parents == "test" and fit.settings["correction"] != "none":
        return fit
    if selection.expected_false <= 0.1 * max(found, 1):
        return fit
    were = f"{found} {'edge was' if found == 1 else 'edges were'} found"
    if parents == "test":
        sentence = (
            f"At this level about {selection.expected_in_words} false edges are to be expected among {selection.pairs:,} pairs "
            f"tested, and {were}: control the false-discovery rate of edges with correction='bh' (--correction bh)."
        )
    else:
        sentence = (
            f"{PARENT_RULES[parents].title} lets about {selection.expected_in_words} false edges through among {selection.pairs:,} pairs, and "
            f"{were}: use tests with correction='bh' (--correction bh) instead."
        )
    return replace(fit, warnings=(*fit.warnings, sentence))
