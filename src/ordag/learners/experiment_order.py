r"""Order variables of which each has moments of its own, by least conditional variance, and test their parents.

Experiments leave a variable the rows in which it was not acted on. With C the variables chosen so far, $n_j$ what the rows of j count
for and $\mathrm{RSS}_j(C)$ what a regression on C leaves there, the next one is $\arg\min_j \mathrm{RSS}_j(C) / (n_j - 1 - |C|)$: the
divisors differ between candidates, so they take part in the choice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.words import counted, shown
from ordag.data.equations import Equations, in_order
from ordag.data.moments import Moments
from ordag.data.table_checks import least_squares_rows
from ordag.errors import CollinearError, TooFewRowsError
from ordag.order.cholesky import TIE, Pivots
from ordag.order.factor import Factor
from ordag.order.ordering import Queue
from ordag.order.rounding import checked_ordering
from ordag.parents.tests import Test, conditioned_on, correlations_of


class ExperimentOrder(NamedTuple):
    """An order, causes first, and the p-value of every pair given all other earlier variables, at [later, earlier] positions."""

    order: Indices
    p_values: Array


def experiment_order(equations: Equations, test: Test, before: Mask | None) -> ExperimentOrder:
    """Order the variables, and test every pair on the rows of its later variable.

    before: a partial order to keep to. Variables that were acted on in all rows have no causes, and come as early as it allows.
    """
    _check_rows(equations)
    order = _ordered(equations, before)
    return ExperimentOrder(order, _p_values(equations, order, test))


def _check_rows(equations: Equations) -> None:
    """Refuse variables with too few rows for regressions on all others."""
    p = len(equations.which)
    least = least_squares_rows(p)
    for j, n in enumerate(equations.each):
        if n < least and j not in equations.external:
            raise TooFewRowsError(
                f"Rows in which {shown(equations.distinct[0].names[j])} was not acted on count for {n}, and regressions on all earlier "
                f"variables take {least}: learn with method='pooled' (--method pooled), or leave out variables.",
                ["experiment"],
            )


def _ordered(equations: Equations, before: Mask | None) -> Indices:
    """Choose the least variance again and again; chosen columns are reflected out of all roots, so nothing is subtracted."""
    p, which = len(equations.which), np.array(equations.which)
    left = np.stack([_square(one) for one in equations.distinct])
    degrees = np.array(equations.each, dtype=np.float64) - 1.0
    external = np.isin(np.arange(p), equations.external)
    queue, waiting, order = Queue(before, p), np.arange(p), np.empty(p, np.intp)
    for step in range(p):
        rest = left[which[waiting], step:, waiting]
        variances = np.einsum("ij,ij->i", rest, rest) / np.maximum(degrees[waiting] - step, 1.0)
        variances[external[waiting]] = -1.0
        rivals = queue.rivals(variances, waiting)
        least = rivals.min()
        chosen = int((rivals <= least * (1.0 + TIE if least > 0.0 else 1.0)).argmax())
        order[step] = waiting[chosen]
        waiting = np.delete(waiting, chosen)
        queue.release(int(order[step]))
        for root in left:
            _reflect(root[step:], int(order[step]), waiting)
    return order


def _square(moments: Moments) -> Array:
    """Return the root with as many rows as columns."""
    R = np.zeros((moments.p, moments.p))
    R[: len(moments.R)] = moments.R
    return R


def _reflect(rows: Array, chosen: int, waiting: Indices) -> None:
    """Turn the rows so that a column is zero below the first, by Householder's reflection."""
    v = rows[:, chosen].copy()
    length = float(np.sqrt(v @ v))
    if length == 0.0:
        return
    v[0] += np.copysign(length, v[0])
    v /= np.sqrt(v @ v)
    rows[:, waiting] -= 2.0 * np.outer(v, v @ rows[:, waiting])


def _p_values(equations: Equations, order: Indices, test: Test) -> Array:
    values, which = np.ones((len(order), len(order))), np.array(equations.which)[order]
    for k, moments in enumerate(equations.distinct):
        own = np.flatnonzero((which == k) & ~np.isin(order, equations.external))
        if not len(own):
            continue
        factor = _factor(moments, order[: own[-1] + 1], moments.names[order[own[-1]]])
        later = np.repeat(own, own)
        earlier = np.concatenate([np.arange(m) for m in own])
        r = correlations_of(factor, later, earlier)
        values[later, earlier] = test(r, moments.n, conditioned_on(later))
    return values


def _factor(moments: Moments, order: Indices, name: str) -> Factor:
    """Return the factor along an order; an error where its variables do not vary freely in the rows of the named one."""
    own = in_order(moments, order.tolist())
    factor = Factor.empty(own.p)
    factor.lower[:] = _square(own).T
    try:
        checked_ordering(own, Pivots(np.arange(own.p), np.full(own.p, np.inf)), factor, None, "forward", 0)
    except CollinearError as error:
        rows = counted(moments.n, "row")
        raise CollinearError(
            f"In the rows in which {shown(name)} was not acted on (they count for {rows}): {error}", ["experiment"]
        ) from error
    return factor
