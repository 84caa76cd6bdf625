"""Select parents along an ordering by one of the `PARENT_RULES`, each in its own file."""

from __future__ import annotations

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.order.ordering import Ordering
from ordag.parents.adaptive import ADAPTIVE
from ordag.parents.bic import BIC
from ordag.parents.by_tests import CORRECTIONS, TEST
from ordag.parents.row_tests import ROW_TESTS, RowTest, row_p_values, row_test
from ordag.parents.selection import Question, Selection
from ordag.parents.tests import TESTS, Test, fisher_z, named_test

__all__ = ["CORRECTIONS", "PARENT_RULES", "ROW_TESTS", "TESTS", "row_test", "select"]

PARENT_RULES = {rule.name: rule for rule in (TEST, BIC, ADAPTIVE)}


def select(
    ordering: Ordering,
    *,
    rule: str = "test",
    alpha: float = 0.01,
    test: str | Test | RowTest | None = None,
    correction: str = "none",
    allowed: Mask | None = None,
    required: Mask | None = None,
    rows: Array | None = None,
) -> Selection:
    """Select the parents of every variable among its predecessors (Park & Kim, Algorithm 1, Step 2).

    Constraints are masks at [cause, effect] of the columns: `allowed` where an arrow can be, `required` where
    one is. Only pairs that these leave open are tested and counted, each still given all other predecessors. A
    test of rows needs the `rows`. The default test is that of the rule that found the order, and Fisher's z if that has none.
    """
    of_rows, values = row_test(test), ordering.p_values if test is None else None
    if of_rows is not None:
        assert rows is not None
        values = row_p_values(rows, ordering.order.tolist(), of_rows)
    plain = fisher_z if test is None or of_rows is not None else named_test(test)
    masks = (_by_position(allowed, ordering), _by_position(required, ordering))
    return PARENT_RULES[rule].choose(Question(ordering, alpha, plain, correction, *masks, values))


def _by_position(mask: Mask | None, ordering: Ordering) -> Mask | None:
    """Turn a mask at [cause, effect] of the columns into one at [later, earlier] positions."""
    return None if mask is None else np.tril(mask[np.ix_(ordering.order, ordering.order)].T, -1)
