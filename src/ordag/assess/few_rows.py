"""A caution about equations with many causes for few rows."""

from __future__ import annotations

import numpy as np

from ordag.assess.finding import Caution
from ordag.common.words import shown
from ordag.learners.found import Found

ROWS_EACH = 4
"""Rows for every cause, below which an equation is said to have too few: the most causes that the search allows where rows are scarce."""


def few_rows_caution(found: Found) -> Caution | None:
    """Return a caution about an equation with many causes for the rows that there are."""
    causes = np.bincount(found.graph.arrows.target, minlength=1)
    most, n = int(causes.max()), found.n
    if ROWS_EACH * most <= n:
        return None
    name = shown(found.names[int(causes.argmax())])
    fewer = "fewer columns" if found.series is None or not found.series.lags else "fewer lags or columns"
    return Caution(
        "few_rows",
        f"The equation of {name} has {most} causes for {n} rows: so many fit nearly any numbers.",
        f"Take {fewer}, or more rows.",
        "an equation has many causes for few rows",
    )
