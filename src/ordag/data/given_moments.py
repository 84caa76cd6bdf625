"""Moments that are given instead of rows, as an object or in files: their columns, units and covariates as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ordag.common.words import counted, quoted
from ordag.data.covariance_file import covariance_in, read_covariance
from ordag.data.moments import Moments, loaded, merged
from ordag.data.moments_file import ENDING, MARK, is_moments, read
from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.sources.paths import path_of
from ordag.data.table_checks import name_list
from ordag.data.transform import Changes
from ordag.errors import DataError, SettingError


def given_moments(data: Any, reading: Reading, progress: Callable[[str], None] | None = None) -> Moments | None:
    """Return moments, or the content of files of moments, of several all rows together; None for data of another kind.

    Columns and units are those of `reading`. Where it names columns, files may differ in the others. Covariates are not taken out yet.
    """
    describe = Path(data).name if isinstance(data, str | PathLike) else "a table of moments"
    parts = data if isinstance(data, list | tuple) else [data]
    if isinstance(data, Moments):
        moments = data
    elif (file := covariance_in(data)) is not None:
        found = read_covariance(file)
        moments = Moments.from_covariance(found.covariance, found.n, names=found.names)
    elif isinstance(data, Upload):
        if data.ending != ENDING and not data.data.startswith(MARK):
            return None
        moments = Moments(**read(data)[0]._asdict())
    elif parts and all(isinstance(one, Moments) for one in parts):
        moments = merged(((f"Moments {k}", one) for k, one in enumerate(parts, start=1)), _needed(reading))
    elif parts and all(isinstance(one, str | PathLike) and is_moments(path_of(one)) for one in parts):
        if progress is not None:
            progress(f"reading {counted(len(parts), 'file')} of moments")
        moments = loaded(parts, _needed(reading))
    else:
        return None
    return read_as(moments, reading, describe)


def _needed(reading: Reading) -> list[str] | None:
    """Return the columns that moments must have for these settings, None if all."""
    return (
        None if reading.columns is None else [*name_list(reading.columns, "columns"), *reading.adjust, *reading.cause]
    )


def read_as(moments: Moments, reading: Reading, describe: str = "Moments") -> Moments:
    """Return the columns and units of the settings, and the covariates, which are not taken out yet; logarithms need the rows."""
    reading.refuse_layout(describe)
    if reading.na is not None:
        raise SettingError(f"na: {describe} has no rows, in which values could be missing.", ["na"])
    if reading.in_time:
        raise SettingError(
            f"{reading.given_in_time}: {describe} has no rows in time: learn from the rows.",
            [reading.given_in_time],
        )
    if reading.row_columns:
        given = next(iter(reading.row_columns))
        raise SettingError(f"{given}: {describe} has no rows: give that when the moments are made.", [given])
    columns = None if reading.columns is None else name_list(reading.columns, "columns")
    whole = moments.leaving_out(reading.leave_out).holding(reading.adjust, reading.cause)
    chosen = whole if columns is None or tuple(columns) == whole.variables else whole.select(columns)
    changes = Changes.of(reading.transform or {}, chosen.variables, "the table")
    if changes.logs.any():
        names = [chosen.variables[j] for j in np.flatnonzero(changes.logs)]
        raise DataError(
            f"transform takes logarithms of {quoted(names)}, which needs the rows, and only moments were given: give the rows.",
            ["transform"],
        )
    deviations = chosen.spread[chosen.p - len(chosen.variables) :] / np.sqrt(max(chosen.n - 1.0, 1.0))
    factors = changes.divided(deviations).factors
    return chosen.scaled(factors) if (factors != 1.0).any() else chosen
