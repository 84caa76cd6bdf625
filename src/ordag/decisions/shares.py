r"""Share the change of a target between two models out among the equations, by Shapley values.

With the equations of a set S from after and the others from before, the target t has the mean $\sum_j a_j T_{jt}$ and the variance
$\sum_j T_{jt}^2 \omega_j$, with the total effects $T_{jt}$. The value of an equation is what it changes when it joins, averaged over the
orders in which the equations join (Shapley 1953; Budhathoki et al. 2021).
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array

EXACT_UP_TO = 12
"""Equations up to which all sets are looked at."""

ORDERS = 500
"""Orders, each with its reverse, that are drawn where there are more equations."""

FEW_ORDERS = 15
"""As many for one resample: what an equation adds depends far less on the order than on the rows."""


class Model(NamedTuple):
    """The equations of the ancestors of a target and of the target, which is last: B, intercepts and error variances, causes first."""

    B: Array
    intercepts: Array
    omega: Array


def moments_of(before: Model, after: Model, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the mean and the variance of the target, for every row of `chosen`: which equations are those of after."""
    count, p = chosen.shape
    total = np.zeros((count, p))
    total[:, -1] = 1.0
    for j in range(p - 2, -1, -1):  # T_jt = Σ_k b_jk T_kt, and the weights into k are those of k's equation
        weights = np.where(chosen[:, j + 1 :], after.B[j, j + 1 :], before.B[j, j + 1 :])
        total[:, j] = (weights * total[:, j + 1 :]).sum(axis=1)
    means = (np.where(chosen, after.intercepts, before.intercepts) * total).sum(axis=1)
    return means, (np.where(chosen, after.omega, before.omega) * total**2).sum(axis=1)


def shapley(before: Model, after: Model, random: np.random.Generator, orders: int = ORDERS) -> tuple[Array, Array]:
    """Return the value of every equation for the mean and for the variance of the target; they add up to the whole change."""
    p = len(before.omega)
    if p > EXACT_UP_TO:
        return _sampled(before, after, random, orders)
    chosen = (np.arange(1 << p)[:, None] >> np.arange(p) & 1).astype(bool)
    sizes = chosen.sum(axis=1)
    weight = np.array([factorial(k) * factorial(p - 1 - k) / factorial(p) if k < p else 0.0 for k in sizes])
    found = []
    for values in moments_of(before, after, chosen):
        gains = [weight[~chosen[:, j]] @ (values[chosen[:, j]] - values[~chosen[:, j]]) for j in range(p)]
        found.append(np.array(gains))
    return found[0], found[1]


def _sampled(before: Model, after: Model, random: np.random.Generator, orders: int) -> tuple[Array, Array]:
    p = len(before.omega)
    totals = np.zeros((2, p))
    for _ in range(orders):
        order = random.permutation(p)
        for joining in (order, order[::-1]):
            chosen = np.zeros((p + 1, p), dtype=bool)
            for k, j in enumerate(joining):
                chosen[k + 1 :, j] = True
            for total, values in zip(totals, moments_of(before, after, chosen), strict=True):
                total[joining] += np.diff(values)
    return totals[0] / (2 * orders), totals[1] / (2 * orders)
