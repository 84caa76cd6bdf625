"""Constraints of time: earlier values have no causes here, and are sources of the present ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordag.data.series import Series
from ordag.errors import DataError, SettingError
from ordag.knowledge.masks import Constraints

ABLE = ("pooled", "ges", "pc")
"""Methods that take earlier values: the others compare the variances of all columns."""


def within_time(series: Series, known: Constraints | None, names: Sequence[str]) -> Constraints:
    """Return knowledge with that of time: nothing acts on an earlier value, and earlier values come before all present ones."""
    earlier = series.earlier
    p = len(names)
    allowed = ~np.eye(p, dtype=bool) if known is None else known.allowed.copy()
    required = np.zeros((p, p), dtype=bool) if known is None else known.required
    before = np.outer(earlier, ~earlier)
    if known is not None:
        wrong = np.argwhere(required & earlier)
        if len(wrong):
            i, j = wrong[0].tolist()
            raise SettingError(
                f"knowledge requires {names[i]} → {names[j]}, but no cause of an earlier value is looked for: require the arrow between "
                "the present values.",
                ["knowledge"],
            )
        before |= known.before & ~earlier
        before &= ~np.outer(~earlier, earlier)
    allowed[:, earlier] = False
    return Constraints(tuple(names), allowed, required, before, {} if known is None else known.record)


def check_method(method: str, orient: str | None = None) -> None:
    """Refuse earlier values for methods that compare the variances of all columns, and `orient` along such an order."""
    if orient is not None:
        raise SettingError(
            "orient_by_order directs edges along an order of all columns by their variances, and earlier values have none: leave it out, "
            "or take method='pooled' (--method pooled).",
            ["orient_by_order", "lags"],
        )
    if method not in ABLE:
        raise DataError(
            f"method={method!r} (--method {method}) takes an order of all columns by their variances, and earlier values have none: take "
            f"{', '.join(ABLE[:-1])} or {ABLE[-1]} with lags.",
            ["lags"],
        )
