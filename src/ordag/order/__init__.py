"""Moments or rows in, Ordering out: `find_order` by one of the `ESTIMATORS` of conditional variance, each in a file of its own."""

from __future__ import annotations

import warnings
from typing import Any

from ordag.arrays import Mask
from ordag.data.table import Table
from ordag.data.table_checks import check_size
from ordag.errors import PrecisionWarning, SettingError
from ordag.order.lasso import LASSO
from ordag.order.least_squares import BACKWARD, FORWARD, with_factor
from ordag.order.ordering import Ordering, Rule
from ordag.order.other_moments import ROBUST, SHRINKAGE
from ordag.order.own import VarianceEstimator, own_rule
from ordag.order.regression import regression_rule
from ordag.order.sparse import SPARSE, joint_score, sparse_forward, supports_along, usual_width
from ordag.order.supported import ordered
from ordag.words import counted

RULES = {"forward": FORWARD, "backward": BACKWARD}
"""The directions of least squares; all other estimators choose causes first."""

ESTIMATORS: dict[str, dict[str, Rule]] = {
    "least-squares": RULES,
    **{rule.name: {"forward": rule} for rule in (SPARSE, LASSO, ROBUST, SHRINKAGE, regression_rule())},
}
"""How conditional variances are estimated, and the directions that there are for it."""


def better_order(table: Table, before: Mask | None = None) -> Ordering:
    """The order by least squares or the sparse one, whichever has the lower score with parents by the same search."""
    full = find_order(table, "forward", before)
    moments = full.moments
    S, n = moments.covariance(), moments.n
    sparse = sparse_forward(S, n, before, width=usual_width(moments.p), progress=ordered(table))
    along = supports_along(S, n, full.order, ordered(table, "variables with supports"))
    if joint_score(S, n, along) <= joint_score(S, n, sparse):
        return full
    return with_factor(Ordering.supported(sparse, moments, "sparse"))


def rule_of(variance: Any, direction: str) -> Rule:
    """The rule of an estimator: by its name, or made for an object of the user's."""
    if isinstance(variance, str):
        rules = ESTIMATORS[variance]
    else:
        own = isinstance(variance, VarianceEstimator)
        rules = {"forward": own_rule(variance) if own else regression_rule(variance)}
    if direction not in rules:
        raise SettingError(
            f"direction={direction!r} goes with variance='least-squares' only, and not with {rules['forward'].name}: leave one out."
        )
    return rules[direction]


def find_order(
    table: Table, direction: str = "forward", before: Mask | None = None, variance: Any = "least-squares"
) -> Ordering:
    """The variables of a table, causes first; `before` is a partial order to keep to, with [i, j] for column i before j."""
    chosen = rule_of(variance, direction)
    if chosen.needs == "rows" and table.source is None:
        raise SettingError(f"variance={chosen.name!r} takes the rows, and moments were given.")
    check_size(table.needing(chosen.least_rows).n, table.names, chosen.least_rows)
    table.tell(f"ordering {counted(len(table.names), 'variable')}")
    ordering = chosen.find(table, before)
    for sentence in ordering.warnings:
        warnings.warn(sentence, PrecisionWarning, stacklevel=5)
    return ordering
