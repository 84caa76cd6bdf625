"""The rules "robust" and "shrinkage": least squares on other moments of the rows than the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ordag.arrays import Array, Mask
from ordag.data.covariance_estimators import robust_moments, shrinkage_moments
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import check_size
from ordag.order.least_squares import forward
from ordag.order.ordering import Ordering, Rule
from ordag.words import counted


def _rule(name: str, help: str, moments_of: Callable[[Array, Sequence[str]], Moments]) -> Rule:
    def find(table: Table, before: Mask | None) -> Ordering:
        rows = table.rows
        assert rows is not None
        table.tell(f"{name} moments of {counted(len(rows.values), 'row')}")
        moments = moments_of(np.asarray(rows.values), table.names)
        check_size(moments.n, table.names)  # outliers are left out
        return forward(moments, before)

    return Rule(name, help, find, needs="rows")


ROBUST = _rule("robust", "least squares on moments that a few outliers hardly move", robust_moments)
SHRINKAGE = _rule(
    "shrinkage", "least squares on a covariance drawn towards a multiple of the identity", shrinkage_moments
)
