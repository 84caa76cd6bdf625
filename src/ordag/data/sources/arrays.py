"""Arrays and rows of Python numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import short
from ordag.common.words import counted
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.sources.choosing import Chosen, choose
from ordag.data.sources.columns import (
    BOOLEANS,
    COMPLEX,
    DATES,
    LARGEST_EXACT,
    NESTED,
    TEXT,
    TIMES,
    Kind,
    Look,
    beyond_exact,
    number_codes,
)
from ordag.data.sources.source import Source
from ordag.errors import ColumnError, UnreadableError

KINDS = {  # by NumPy's letter for a kind of dtype
    "b": BOOLEANS,
    "c": COMPLEX,
    "U": TEXT,
    "T": TEXT,
    "S": TEXT,
    "M": DATES,
    "m": TIMES,
    "V": NESTED,
    "O": Kind("Python objects", "Convert them with .astype(float), which also says what is not a number."),
}


@dataclass(frozen=True, eq=False)
class ArraySource(Source):
    """An array of real numbers, converted batch by batch unless it is float64 already; masked entries are missing."""

    table: np.ndarray[Any, Any]
    positions: tuple[int, ...]

    @property
    def array(self) -> Array:
        return self._part(0, len(self.table))

    def batches(self, rows: int) -> Iterator[Array]:
        for start in range(0, len(self.table), rows):
            block = np.ascontiguousarray(self._part(start, start + rows)).view()
            block.flags.writeable = False
            yield block

    def _part(self, start: int, stop: int) -> Array:
        whole = start == 0 and stop >= len(self.table)
        part = self.table if whole else self.table[start:stop]
        if self.positions != tuple(range(self.table.shape[1])):
            part = part[:, self.positions]
        numbers = _floats(part)
        coded = [
            (k, one.levels) for k, one in enumerate(self.covariates, start=len(self.names)) if one.levels is not None
        ]
        if coded:
            numbers = numbers.copy()
        for k, levels in coded:
            numbers[:, k] = number_codes(numbers[:, k], levels)
        return numbers


def open_array(
    data: Any,
    reading: Reading,
    describe: str = "the array",
    *,
    whole: bool = True,
    known: Sequence[Covariate] | None = None,
) -> Source | None:
    """Open an (n, p) array, or an object that NumPy converts to one; its columns are named X1 to Xp.

    whole, known: as for `Look` and `choose`, of one part of a table.
    """
    if type(data).__module__.startswith("scipy.sparse"):
        raise UnreadableError(f"A sparse matrix of shape {data.shape} was given: pass data.toarray().")
    if not hasattr(data, "__array__"):
        return None
    table = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    if table.ndim != 2:
        hint = " For a single variable there is no graph to learn." if table.ndim == 1 else ""
        raise UnreadableError(f"{describe} has shape {table.shape}: expected two dimensions, (rows, variables).{hint}")
    refuse_dtype(table.dtype, describe)
    chosen = numbered(table.shape[1], reading, describe, known, lambda j: _floats(table[:, j]), whole=whole)
    _refuse_inexact(table, chosen.names, chosen.positions, describe)
    return ArraySource(chosen.names, len(table), describe, table, chosen.read, **chosen.known)


def refuse_dtype(dtype: Any, describe: str) -> None:
    """Refuse an array of anything but real numbers."""
    kind = KINDS.get(dtype.kind)
    if kind is not None:
        advice = f" {kind.advice}" if kind.advice else ""
        raise ColumnError(f"{describe} holds {kind.holds} (dtype {dtype}): only real numbers can be used.{advice}")


def numbered(
    p: int,
    reading: Reading,
    describe: str,
    known: Sequence[Covariate] | None = None,
    numbers: Callable[[int], Array] | None = None,
    *,
    whole: bool = False,
) -> Chosen:
    """Choose among columns X1 to Xp, which have no names of their own; `numbers` gives those of a column, if available."""
    names = tuple(f"X{j + 1}" for j in range(p))
    return choose(Look(names, [None] * p, numbers, None, whole, named=False), reading, describe, known)


def _floats(column: np.ndarray[Any, Any]) -> Array:
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and `RowCheck` refuses it
        numbers = column.astype(np.float64, copy=False)
    return numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else numbers


def open_rows(data: Any, reading: Reading) -> Source | None:
    """Open a list of rows; None is a missing value."""
    if not isinstance(data, list | tuple):
        return None
    describe = "the list"
    if not len(data):
        raise UnreadableError("the list is empty: expected a list of rows, each a list of numbers.")
    _refuse_tables(data)
    rows = []
    for i, row in enumerate(data, start=1):
        if isinstance(row, str | bytes | dict) or not hasattr(row, "__len__") or not hasattr(row, "__getitem__"):
            raise UnreadableError(
                f"{describe}: row {i} is {short(row)}: expected a list of rows, each a list of numbers. "
                "For one list per column give a dict of columns."
            )
        if len(row) != len(data[0]):
            raise UnreadableError(
                f"{describe}: row 1 has length {len(data[0])} and row {i} length {len(row)}: "
                "give every row one value for each variable, None where it is missing."
            )
        rows.append([_number(value, i, j, describe) for j, value in enumerate(row, start=1)])
    return open_array(np.array(rows, dtype=np.float64).reshape(len(rows), len(data[0])), reading, describe)


def _refuse_tables(data: Sequence[Any]) -> None:
    """Refuse a list of tables or of paths."""
    if all(isinstance(one, str | PathLike) and Path(one).suffix for one in data):
        raise UnreadableError(
            "A list of paths was given, and only files of moments are put together so: put the files into one folder and "
            "give that, or make moments of each (Moments.scan, ordag moments) and give those."
        )
    if hasattr(data[0], "columns"):
        raise UnreadableError(
            f"A list of {counted(len(data), 'data frame')} was given: join them to one, or give iter(…) of the list if they are parts "
            "of one table."
        )


def _number(value: Any, row: int, column: int, describe: str) -> float:
    if value is None:
        return np.nan
    if isinstance(value, bool | np.bool_):
        advice = BOOLEANS.advice
    elif isinstance(value, Integral) and abs(int(value)) > LARGEST_EXACT:
        raise beyond_exact(describe, f"X{column}", int(value), row)
    elif isinstance(value, Real):
        return float(value)
    else:
        advice = "Convert it to a number, or put None if it is missing."
    raise ColumnError(
        f"{describe}: column 'X{column}' holds {short(value)} in data row {row}, which is not a number. {advice}"
    )


def _refuse_inexact(table: np.ndarray[Any, Any], names: Sequence[str], positions: Sequence[int], describe: str) -> None:
    if table.dtype.kind not in "iu" or table.dtype.itemsize < 8 or not len(table):
        return
    for name, j in zip(names, positions, strict=True):
        for extreme in (table[:, j].max(), table[:, j].min()):
            if extreme is not np.ma.masked and abs(int(extreme)) > LARGEST_EXACT:
                raise beyond_exact(describe, name, int(extreme))
