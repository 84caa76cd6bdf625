"""`learn`: data in, Fit out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ordag.data.gate import Missing
from ordag.data.moments import Progress
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.fit import Fit
from ordag.learners.cvs import cvs

METHODS: dict[str, Callable[..., Fit]] = {"cvs": cvs}
"""Every method by name: a function of a Table and its own settings."""

READING = ("separator", "encoding", "header", "decimal")


def learn(
    data: Any,
    method: str = "cvs",
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "error",
    progress: Progress | None = None,
    **settings: Any,
) -> Fit:
    """Learn the causal graph behind a table of continuous measurements.

    data: a file (CSV, Parquet) or a folder of Parquet files, a data frame, an array, `Moments`, or the name of a
        built-in data set ("marks", "sachs").
    method: "cvs" (conditional variance scoring).
    columns: names of the columns to use, all by default.
    missing: "error" refuses rows with missing values, "drop" leaves them out.
    progress: called with the number of rows read so far.
    settings: those of the method (for "cvs": alpha, test, parents, correction, direction) and of reading text files
        (separator, encoding, header, decimal).

    >>> import ordag
    >>> fit = ordag.learn("marks", alpha=0.05)
    >>> fit.order
    ('algebra', 'vectors', 'analysis', 'statistics', 'mechanics')
    """
    if method not in METHODS:
        raise SettingError(f"method={method!r} is not known: use {', '.join(METHODS)}.")
    function = METHODS[method]
    known = _settings(function)
    reading = {name: settings.pop(name) for name in READING if name in settings}
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise SettingError(f"{', '.join(unknown)} is not a setting of {method!r}: it takes {', '.join(known)}.")
    return function(Table(data, columns=columns, missing=missing, progress=progress, **reading), **settings)


@cache
def _settings(function: Callable[..., Fit]) -> tuple[str, ...]:
    """What a method takes besides the table."""
    return tuple(inspect.signature(function).parameters)[1:]
