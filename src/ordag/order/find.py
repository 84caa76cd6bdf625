"""Temporary."""

from __future__ import annotations

import warnings

from ordag.arrays import Mask
from ordag.data.table import Table
from ordag.errors import PrecisionWarning
from ordag.order.ordering import Ordering, backward, forward, quick_forward

RULES = ("forward", "backward")


def find_order(table: Table, direction: str = "forward", before: Mask | None = None) -> Ordering:
    """The ordering, by way of a Gram matrix where that carries the digits and from R where it does not.

    `before` is a partial order to keep to, with [i, j] for i before j.
    """
    if direction == "backward":
        ordering = backward(table.moments, before)
    else:
        gram = table.gram_moments
        quick = None if gram is None else quick_forward(gram, before)
        ordering = quick if quick is not None else forward(table.qr_moments, before)
    for sentence in precision_warnings(ordering):
        warnings.warn(sentence, PrecisionWarning, stacklevel=5)
    return ordering


def precision_warnings(ordering: Ordering) -> tuple[str, ...]:
    """What somebody who relies on the order should know."""
    steps = len(ordering.undecided)
    if not steps:
        return ()
    return (
        f"The data are so close to collinear that float64 does not decide {steps} of {len(ordering.order)} steps of the "
        f"order; the first is {ordering.undecided[0]}. Do not rely on the order from there on.",
    )
