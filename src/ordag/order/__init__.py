"""Find the causal order of a table by one of the `ESTIMATORS` of conditional variance, each in its own file, or by the caller's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.common.checks import as_number, short
from ordag.common.words import counted
from ordag.data.table import Table
from ordag.data.table_checks import check_size, least_squares_rows
from ordag.errors import PrecisionWarning, SettingError
from ordag.order.lasso import LASSO
from ordag.order.least_squares import BACKWARD, FORWARD, ROBUST, SHRINKAGE, with_factor
from ordag.order.ordering import Ordering, Queue, Rule, Steps, least, progress_of
from ordag.order.regression import regression_rule
from ordag.order.sparse import SPARSE, few_rows, joint_score, parent_sets_along, sparse_forward, usual_width

RULES = {"forward": FORWARD, "backward": BACKWARD}
"""The directions of least squares; all other estimators choose causes first."""

ESTIMATORS: dict[str, dict[str, Rule]] = {
    "least-squares": RULES,
    **{rule.name: {"forward": rule} for rule in (SPARSE, LASSO, ROBUST, SHRINKAGE, regression_rule())},
}
"""The estimators of conditional variance, and the directions of each."""

ROWS_PER_VARIABLE = 10
"""With at least this many rows per variable "auto" takes least squares alone."""

MOST_VARIABLES_COMPARED = 500
"""Variables up to which "auto" compares with a sparse order: it takes a quarter of a minute."""


@runtime_checkable
class VarianceEstimator(Protocol):
    """An estimator that `variance=` takes beside the names."""

    def conditional_variance(self, x: Array, Z: Array) -> float:
        """Return the variance of x given the columns of Z, of which there may be none; rows go together."""
        ...


def find_order(
    table: Table, direction: str = "forward", before: Mask | None = None, variance: Any = "least-squares"
) -> Ordering:
    """Order the variables of a table, causes first; `before` is a partial order to keep to, with [i, j] for column i before j.

    variance: an estimator of conditional variances. None is least squares, or "sparse" with too few rows; "auto" the better of both.
    """
    if variance in (None, "auto"):
        n, p = table.needing(few_rows).n, len(table.names)
        enough = n >= least_squares_rows(p) or direction != "forward"
        few = direction == "forward" and n < ROWS_PER_VARIABLE * p and p <= MOST_VARIABLES_COMPARED
        if variance == "auto" and enough and few:
            return better_order(table, before)
        variance = "least-squares" if enough else "sparse"
    rule = rule_of(variance, direction)
    if rule.needs == "rows" and table.source is None:
        raise SettingError(f"variance={rule.name!r} takes the rows, and moments were given.")
    check_size(table.needing(rule.least_rows).n, table.names, rule.least_rows)
    table.announce(f"ordering {counted(len(table.names), 'variable')}")
    ordering = rule.find(table, before)
    for sentence in ordering.warnings:
        warnings.warn(sentence, PrecisionWarning, stacklevel=5)
    return ordering


def better_order(table: Table, before: Mask | None = None) -> Ordering:
    """Return the order by least squares or the sparse one, whichever has the lower score with parent sets by the same search."""
    full = find_order(table, "forward", before)
    moments = full.moments
    S, n = moments.covariance(), moments.n
    sparse = sparse_forward(S, n, before, width=usual_width(moments.p), progress=progress_of(table))
    along = parent_sets_along(S, n, full.order, progress_of(table, "variables with supports"))
    if joint_score(S, n, along) <= joint_score(S, n, sparse):
        return full
    return with_factor(Ordering.by_steps(sparse, moments, "sparse"))


def rule_of(variance: Any, direction: str) -> Rule:
    """Return the rule of an estimator: by its name, or made for the caller's object."""
    if isinstance(variance, str):
        rules = ESTIMATORS[variance]
    elif isinstance(variance, VarianceEstimator):
        rules = {"forward": _rule_by(variance)}
    else:
        rules = {"forward": regression_rule(variance)}
    if direction not in rules:
        raise SettingError(
            f"direction={direction!r} goes with variance='least-squares' only, and not with {rules['forward'].name}: leave one out."
        )
    return rules[direction]


def _rule_by(estimator: VarianceEstimator) -> Rule:
    """Return the rule of the caller's estimator: parents are then chosen by least squares along its order."""
    name = type(estimator).__name__

    def find(table: Table, before: Mask | None) -> Ordering:
        rows, moments = table.rows, table.moments
        assert rows is not None
        steps = estimated_forward(np.asarray(rows.values), estimator, before, progress_of(table))
        return with_factor(Ordering.by_steps(steps, moments, name))

    return Rule(name, "an estimator of the user's", find, needs="rows")


def estimated_forward(
    X: Array,
    estimator: VarianceEstimator,
    before: Mask | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Steps:
    """Order the columns by least conditional variance given those before, as the estimator returns it: p(p + 1)/2 calls.

    `progress` is called with the number of columns chosen.
    """
    p = X.shape[1]
    order: list[int] = []
    waiting = np.arange(p)
    queue = Queue(before, p)
    variances, runner_up = np.empty((2, p))
    for step in range(p):
        free = waiting[queue.free(waiting)]
        values = [_positive(estimator.conditional_variance(X[:, j], X[:, order]), estimator) for j in free]
        best, runner_up[step] = least(np.array(values))
        variances[step] = values[best]
        order.append(int(free[best]))
        waiting = waiting[waiting != free[best]]
        queue.release(order[-1])
        progress(len(order))
    parent_sets = tuple(np.sort(np.array(order[:m], np.intp)) for m in range(p))
    return Steps(np.array(order, np.intp), variances, variances, runner_up, parent_sets)


def _positive(value: Any, estimator: object) -> float:
    number = as_number(value)
    if not 0.0 < number < np.inf:
        raise SettingError(
            f"variance={short(estimator)}: its conditional_variance gave {short(value)}, and a variance is a positive number."
        )
    return number
