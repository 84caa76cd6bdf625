r"""Compute the ratio of error variances that would reverse each arrow.

Let a → b be an arrow along an order, and $v_a, v_b, c$ the variances and the covariance of the two given everything before a. If b
came first instead, its error variance would be $v_b$ and that of a would be $v_a - c^2/v_b$. So the arrow can only be wrong if
two error variances differ by the factor

    $\frac{v_b}{v_a - c^2/v_b} = \frac{v_b}{v_a (1 - r^2)}$,    $r^2 = \frac{c^2}{v_a v_b}$.

Where all error variances are known to lie within a smaller factor, no arrow can be turned round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array
from ordag.learners.found import Found


class Turning(NamedTuple):
    """The arrows along the order, as column numbers, the factor that would turn each, and its margin v_b/v_a."""

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    factor: Array
    margin: Array


def turning_factors(found: Found) -> Turning | None:
    """Return the reversing factors of the arrows along the order of a fit; None without an order or such an arrow."""
    if found.factor is None:
        return None
    ordering = found.known_ordering
    source, target = found.graph.arrows.source, found.graph.arrows.target
    place = np.argsort(ordering.order)
    along = place[source] < place[target]
    source, target = source[along], target[along]
    if not len(source):
        return None
    v_a, v_b, c = ordering.pair(place[source], place[target])
    explained = (c / v_a) * (c / v_b)
    margin = v_b / v_a
    return Turning(source, target, margin / np.maximum(1.0 - explained, np.finfo(float).eps), margin)
