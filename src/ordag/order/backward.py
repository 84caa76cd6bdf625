"""The rule "backward": effects first, by largest variance given all others that are left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.data.moments import Moments
from ordag.linalg import inverse, triangle
from ordag.order.cholesky import minimum_pivot
from ordag.order.digits import NEGLIGIBLE, checked_factor
from ordag.order.forward import forward
from ordag.order.ordering import Ordering, Rule


def backward(moments: Moments, before: Mask | None = None) -> Ordering:
    """Order the variables by largest variance given all others, effects first, and return causes first.

    That variance is the reciprocal of a diagonal entry of S⁻¹ = WᵀW, and leaving a variable out leaves a Schur
    complement: the kernel of `forward` on WᵀW. Where digits are scarce, WᵀW is formed anew each time an eighth of the
    variables has been chosen (docs/numerics.md). `before` is as for `forward`.
    """
    ahead = forward(moments)
    rest = ahead.order
    scarce = ahead.uncertainty.max() > NEGLIGIBLE
    chosen: list[NDArray[np.intp]] = []
    runner_up: list[Array] = []
    W = ahead.W
    while True:
        part = minimum_pivot(W.T @ W, before=None if before is None else before.T[np.ix_(rest, rest)])
        steps = min(len(part.order), max(1, len(rest) // 8)) if scarce else len(part.order)
        chosen.append(rest[part.order[:steps]])
        runner_up.append(part.runner_up[:steps])
        rest = np.delete(rest, part.order[:steps])
        if not len(rest):
            break
        W = inverse(triangle(moments.R[:, rest]).T)
    order = np.concatenate(chosen)[::-1]
    L = triangle(moments.R[:, order]).T
    factor = checked_factor(moments, order, L, before, from_last=True, refreshes=len(chosen) - 1)
    return Ordering.along(order, moments, factor, np.concatenate(runner_up)[::-1], "backward")


BACKWARD = Rule(
    "backward",
    "effects first: the largest variance given all others",
    lambda table, before: backward(table.moments, before),
)
