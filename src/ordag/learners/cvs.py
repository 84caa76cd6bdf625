"""Conditional variance scoring (Park & Kim, Algorithm 1): order by least conditional variance, then test for parents."""

from __future__ import annotations

import warnings

import numpy as np

from ordag.arrays import Mask
from ordag.checks import check_choice
from ordag.data.table import Table
from ordag.errors import PrecisionWarning
from ordag.fit import Fit
from ordag.graph.dag import Dag
from ordag.learners.constraints import Given, constraints, informed
from ordag.order.ordering import Ordering, backward, forward, quick_forward
from ordag.parents.select import Selection, check_level, select
from ordag.parents.tests import Test, named_test


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
    knowledge: what is known beforehand (`ordag.trust.knowledge.Knowledge`, a mapping, or the path of a file).
    """
    alpha = check_level(alpha)
    named_test(test)
    check_choice("direction", direction, ("forward", "backward"), "'forward' or 'backward'")
    known = None if knowledge is None else constraints(knowledge, (table.quick or table.moments).names)
    ordering = find_order(table, direction, None if known is None else known.before)
    selection = select(
        ordering,
        rule=parents,
        alpha=alpha,
        test=test,
        correction=correction,
        may=None if known is None else known.allowed,
        must=None if known is None else known.needed,
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
        warnings=tuple(_warnings(ordering, selection, parents, correction)),
        details={"penalty": selection.penalty, "share": selection.share} if parents == "adaptive" else {},
    )
    return informed(fit, known)


def find_order(table: Table, direction: str = "forward", before: Mask | None = None) -> Ordering:
    """The ordering, by way of a Gram matrix where that carries the digits and from R where it does not.

    `before` is a partial order to keep to, with [i, j] for i before j.
    """
    if direction == "backward":
        ordering = backward(table.moments, before)
    else:
        quick = None if table.quick is None else quick_forward(table.quick, before)
        ordering = quick if quick is not None else forward(table.exact, before)
    if ordering.undecided:
        warnings.warn(precision_sentence(ordering), PrecisionWarning, stacklevel=4)
    return ordering


def precision_sentence(ordering: Ordering) -> str:
    steps = len(ordering.undecided)
    return (
        f"The data are so close to collinear that float64 does not decide {steps} of {len(ordering.order)} steps of the "
        f"order; the first is {ordering.undecided[0]}. Do not rely on the order from there on."
    )


def _warnings(ordering: Ordering, selection: Selection, parents: str, correction: str) -> list[str]:
    sentences = []
    if ordering.undecided:
        sentences.append(precision_sentence(ordering))
    found, expected = selection.edge_count, selection.expected_false
    if parents == "test" and correction == "none" and expected > 0.1 * max(found, 1):
        sentences.append(
            f"At this level about {selection.expected_in_words} false edges are to be expected among {selection.pairs:,} pairs tested, and "
            f"{found} {'edge was' if found == 1 else 'edges were'} found: control the false-discovery rate of edges with "
            "correction='bh' (--correction bh)."
        )
    elif parents != "test" and expected > 0.1 * max(found, 1):
        rule = "BIC" if parents == "bic" else "The edge prior"
        sentences.append(
            f"{rule} lets about {selection.expected_in_words} false edges through among {selection.pairs:,} pairs, and {found} "
            f"{'edge was' if found == 1 else 'edges were'} found: use tests with correction='bh' (--correction bh) instead."
        )
    return sentences
