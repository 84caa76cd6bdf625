"""Ordering in, Selection out: `select` by one of the `PARENT_RULES`, each in a file of its own."""

from __future__ import annotations

import numpy as np

from ordag.arrays import Mask
from ordag.checks import as_number, check_choice, short
from ordag.errors import SettingError
from ordag.order.ordering import Ordering
from ordag.parents.adaptive import ADAPTIVE
from ordag.parents.bic import BIC
from ordag.parents.by_tests import CORRECTIONS, TEST
from ordag.parents.selection import Question, Selection
from ordag.parents.tests import Test, named_test
from ordag.words import either

PARENT_RULES = {rule.name: rule for rule in (TEST, BIC, ADAPTIVE)}


def check_level(alpha: float) -> float:
    level = as_number(alpha)
    if not 0.0 < level < 1.0:
        raise SettingError(f"alpha={short(alpha)}: the level of a test lies between 0 and 1, both excluded.")
    return level


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
    alpha, function = check_level(alpha), named_test(test)
    check_choice("correction", correction, CORRECTIONS, either(CORRECTIONS))
    check_choice("parents", rule, PARENT_RULES, either(PARENT_RULES))
    if rule != "test" and correction != "none":
        raise SettingError(
            f"correction={correction!r} is one of tests, and parents={rule!r} makes none: leave one out."
        )
    placed = (_placed(allowed, ordering), _placed(required, ordering))
    return PARENT_RULES[rule].choose(Question(ordering, alpha, function, correction, *placed))


def _placed(mask: Mask | None, ordering: Ordering) -> Mask | None:
    """A mask at [cause, effect] of the columns, as one at [later, earlier] positions."""
    return None if mask is None else np.tril(mask[np.ix_(ordering.order, ordering.order)].T, -1)
