"""Cautions about fits that are too close: columns that determine each other, and equations with many causes for few rows."""

from __future__ import annotations

import numpy as np

from ordag.assess.finding import Caution
from ordag.common.linalg import lengths
from ordag.common.words import amount, shell_word, shown
from ordag.learners.found import Found

DETERMINED = 1e-4
"""Share of a column's variance up to which what another leaves of it may be rounding."""

WIDEST = 1000
"""Variables up to which pairs of columns are compared."""

ROWS_EACH = 4
"""Rows for every cause, below which an equation is said to have too few: the most causes that the search allows where rows are scarce."""


def determined_caution(found: Found) -> Caution | None:
    """Return a caution about joined columns of the same time of which one is nearly a function of the other."""
    p = len(found.names) if found.series is None else found.series.p
    if p > WIDEST:
        return None
    unit = found.moments.R[:, :p] / lengths(found.moments.R[:, :p])
    i, j = np.nonzero(np.triu(found.graph.skeleton[:p, :p], 1))
    left = 1.0 - np.square((unit.T @ unit)[i, j])
    count = int((left < DETERMINED).sum())
    if not count:
        return None
    worst = int(np.argmin(left))
    one, other = found.names[i[worst]], found.names[j[worst]]
    more = f" ({count} such pairs)" if count > 1 else ""
    return Caution(
        "determined",
        f"{shown(one)} and {shown(other)} determine each other but for {amount(100.0 * max(float(left[worst]), 1e-9))} % of their "
        f"variance{more}, as if one was computed from the other: then the arrow between them says nothing about causes.",
        f"Leave one out unless both were measured, with drop={other!r} (--drop {shell_word(other)}).",
    )


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
