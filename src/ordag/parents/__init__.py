"""Ordering in, parents out: `select` by one of the `PARENT_RULES`, each in a file of its own."""

from __future__ import annotations

import numpy as np

from ordag.arrays import Mask
from ordag.order.ordering import Ordering
from ordag.parents.adaptive import ADAPTIVE
from ordag.parents.bic import BIC
from ordag.parents.by_tests import CORRECTIONS, TEST
from ordag.parents.selection import Question, Selection
from ordag.parents.tests import TESTS, Test, named_test

__all__ = ["CORRECTIONS", "PARENT_RULES", "TESTS", "select"]

PARENT_RULES = {rule.name: rule for rule in (TEST, BIC, ADAPTIVE)}


def select(
    ordering: Ordering,
    *,
    rule: str = "test",
    alpha: float = 0.01,
    test: str | Test = "fisher-z",
    correction: str = "none",
    allowed: Mask | None = None,
    required: Mask | None = None,
) -> Selection:
    """Parents of every variable among its predecessors (Park & Kim, Algorithm 1, Step 2).

    What is known beforehand comes as masks at [cause, effect] of the columns: `allowed` where an arrow can be, `required` where
    one is. Only pairs that these leave open are tested and counted, each given all other predecessors as ever.
    """
    placed = (_placed(allowed, ordering), _placed(required, ordering))
    return PARENT_RULES[rule].choose(Question(ordering, alpha, named_test(test), correction, *placed))


def _placed(mask: Mask | None, ordering: Ordering) -> Mask | None:
    """A mask at [cause, effect] of the columns, as one at [later, earlier] positions."""
    return None if mask is None else np.tril(mask[np.ix_(ordering.order, ordering.order)].T, -1)
