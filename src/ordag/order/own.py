"""An estimator of the user's: any object with a method `conditional_variance(x, Z)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ordag.arrays import Array, Mask
from ordag.checks import as_number, short
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.order.least_squares import with_factor
from ordag.order.ordering import Ordering, Rule
from ordag.order.supported import Supported, ordered


@runtime_checkable
class VarianceEstimator(Protocol):
    """What `variance=` takes beside the names."""

    def conditional_variance(self, x: Array, Z: Array) -> float:
        """The variance of x given the columns of Z, of which there may be none; rows go together."""
        ...


def own_forward(
    X: Array,
    estimator: VarianceEstimator,
    before: Mask | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Supported:
    """Order the columns by least conditional variance given those before, as the estimator has it: p(p + 1)/2 calls.

    `progress` is told how many columns are chosen.
    """
    p = X.shape[1]
    chosen: list[int] = []
    values: list[float] = []
    seconds: list[float] = []
    waits = np.zeros((p, p), dtype=bool) if before is None else before
    left = list(range(p))
    while left:
        ready = [j for j in left if not waits[left, j].any()]
        found = [_positive(estimator.conditional_variance(X[:, j], X[:, chosen]), estimator) for j in ready]
        best = int(np.argmin(found))
        chosen.append(ready[best])
        values.append(found.pop(best))
        seconds.append(min(found, default=np.inf))
        left.remove(chosen[-1])
        if progress is not None:
            progress(len(chosen))
    order = np.array(chosen, dtype=np.intp)
    support = tuple(np.sort(order[:m]) for m in range(p))
    return Supported(order, np.array(values), np.array(values), np.array(seconds), support)


def _positive(value: Any, estimator: object) -> float:
    number = as_number(value)
    if not 0.0 < number < np.inf:
        raise SettingError(
            f"variance={short(estimator)}: its conditional_variance gave {short(value)}, and a variance is a positive number."
        )
    return number


def own_rule(estimator: VarianceEstimator) -> Rule:
    """The rule of an estimator: parents are then chosen by least squares along its order."""

    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        moments: Moments = table.moments
        found = own_forward(np.asarray(rows.values), estimator, before, progress=ordered(table))
        return with_factor(Ordering.supported(found, moments, type(estimator).__name__))

    return Rule(type(estimator).__name__, "an estimator of the user's", find, needs="rows")
