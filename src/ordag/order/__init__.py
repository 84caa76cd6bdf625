"""Moments or rows in, Ordering out: `find_order` by one of the `RULES`, each in a file of its own."""

from __future__ import annotations

import warnings

from ordag.arrays import Mask
from ordag.data.table import Table
from ordag.errors import PrecisionWarning, SettingError
from ordag.order.least_squares import BACKWARD, FORWARD
from ordag.order.ordering import Ordering

RULES = {rule.name: rule for rule in (FORWARD, BACKWARD)}


def find_order(table: Table, rule: str = "forward", before: Mask | None = None) -> Ordering:
    """The variables of a table, causes first; `before` is a partial order to keep to, with [i, j] for column i before j."""
    chosen = RULES[rule]
    if chosen.needs == "rows" and table.source is None:
        raise SettingError(f"The ordering rule {rule!r} takes the rows, and moments were given.")
    ordering = chosen.find(table.needing(chosen.least_rows), before)
    for sentence in ordering.warnings:
        warnings.warn(sentence, PrecisionWarning, stacklevel=5)
    return ordering
