"""`Supported`: an order whose steps regress on few of the earlier variables, or on all of them by something else than least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array
from ordag.data.table import Table
from ordag.words import News

Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The numbers of the rows to learn from, and of those to predict."""


@dataclass(frozen=True, eq=False)
class Supported:
    """What an estimator of conditional variances without a factor gives, all by position in the order.

    order: column numbers, causes first. variances: that of each variable given its support, with the estimator's divisor.
    chosen, runner_up: at every step the criterion of the chosen variable, and the least of those that went on waiting (infinite
    where there was none). support: for each variable the column numbers that it was regressed on, in increasing order. p_values: of
    the estimator's own test of every pair given all other earlier variables, at [later, earlier] and one elsewhere, if it has one.
    """

    order: NDArray[np.intp]
    variances: Array
    chosen: Array
    runner_up: Array
    support: tuple[NDArray[np.intp], ...]
    p_values: Array | None = None


def ordered(
    table: Table, what: str = "variables ordered", work: Callable[[float], float] = lambda x: x * x * (3.0 - 2.0 * x)
) -> Callable[[int], None]:
    """Tells whoever follows the table how many of the variables are done, and `work`, the share of all work up to a share of the steps.

    Where step t regresses p − t waiting variables on t chosen ones, at the same price each, that is $3x^2 - 2x^3$.
    """
    p = len(table.names)
    return lambda done: table.tell(News(f"{done:,} of {p:,} {what}", work(done / p)))
