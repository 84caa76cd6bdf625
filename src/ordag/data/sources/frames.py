"""Data frames of any library, Arrow tables, and dicts of columns."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import check_text
from ordag.common.words import counted, cut, listed
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.roles import MOST_COMMON, Levels
from ordag.data.set_aside import MOST_LEVELS
from ordag.data.sources.choosing import choose
from ordag.data.sources.columns import (
    BOOLEANS,
    BYTES,
    COMPLEX,
    DATES,
    LARGEST_EXACT,
    LONG,
    NESTED,
    TEXT,
    TIMES,
    Kind,
    Look,
    beyond_exact,
    codes,
    level_text,
    refuse_duplicates,
)
from ordag.data.sources.source import Source, regroup, rows_at_once
from ordag.errors import UnreadableError

KINDS = {  # by narwhals' name of a type
    "Boolean": BOOLEANS,
    "String": TEXT,
    "Categorical": TEXT,
    "Enum": TEXT,
    "Binary": BYTES,
    "Date": DATES,
    "Datetime": DATES,
    "Time": TIMES,
    "Duration": TIMES,
    "List": NESTED,
    "Array": NESTED,
    "Struct": NESTED,
}
OBJECTS: dict[type | tuple[type, ...], Kind] = {  # by the class of the Python objects in a column
    bool: BOOLEANS,
    str: TEXT,
    bytes: BYTES,
    datetime.date: DATES,
    datetime.time: TIMES,
    datetime.timedelta: TIMES,
    (list, tuple, dict): NESTED,
}
NUMBER_TYPES = (int, float, Decimal, np.number)
MISSING = Kind("no value at all")


@dataclass(frozen=True, eq=False)
class FrameSource(Source):
    """A data frame in memory, converted batch by batch; an index is ignored."""

    rows: int
    frame: Any  # narwhals' view of the columns that hold something
    positions: tuple[int, ...]  # of those columns in a block; the others have no value at all
    as_it_is: bool  # all columns are float64 already

    @property
    def array(self) -> Array:
        return self._part(0, self.rows)

    def batches(self, rows: int) -> Iterator[Array]:
        n, step = self.rows, rows_at_once(len(self.names))
        parts = (self._part(start, min(start + step, n)) for start in range(0, n, step))
        return regroup((np.ascontiguousarray(part) for part in parts), rows)

    def _part(self, start: int, stop: int) -> Array:
        part = self.frame[start:stop]
        if self.as_it_is:
            numbers: Array = part.to_numpy()
            if numbers.dtype == np.float64:
                return numbers
        levels = [None] * len(self.names) + [one.levels for one in self.covariates]
        table = np.full((stop - start, len(levels)), np.nan)
        for k, name in zip(self.positions, part.columns, strict=True):
            column, coded = part.get_column(name), levels[k]
            table[:, k] = _floats(column) if coded is None else codes(_arrow(column), coded)
        return table


def open_frame(
    data: Any,
    reading: Reading,
    describe: str = "the data frame",
    *,
    whole: bool = True,
    known: Sequence[Covariate] | None = None,
    given: Mapping[str, Kind] | None = None,
) -> Source | None:
    """Open a data frame; return None for other data. whole, known: as for `Look` and `choose`, of one part of a table. given: what columns
    hold, where more is known than their types say."""
    frame = None if isinstance(data, np.ndarray) else _narwhals(data, describe)
    if frame is None:
        return None
    names = tuple(str(name) for name in frame.columns)
    columns = [frame.get_column(name) for name in frame.columns]
    kinds = [(given or {}).get(column.name) or _kind(column) for column in columns]
    strict = reading.strict or reading.columns is not None
    longs = [j for j, kind in enumerate(kinds) if not strict and kind is None and _long(columns[j]) is not None]
    look = Look(
        names,
        [None if kind is MISSING else LONG if j in longs else kind for j, kind in enumerate(kinds)],
        lambda j: _floats(columns[j]) if kinds[j] is None else np.full(len(frame), np.nan),
        lambda j: _levels(columns[j]),
        whole,
    )
    chosen = choose(look, reading, describe, known)
    for j in chosen.read:
        if kinds[j] is None and (extreme := _long(columns[j])) is not None:
            raise beyond_exact(describe, names[j], extreme)
    filled = [j for j in chosen.read if kinds[j] is not MISSING]
    return FrameSource(
        names=chosen.names,
        rows=len(frame),
        describe=describe,
        frame=frame if filled == list(range(len(names))) else frame[:, filled],
        positions=tuple(k for k, j in enumerate(chosen.read) if kinds[j] is not MISSING),
        as_it_is=not any(one.levels is not None for one in chosen.covariates)
        and all(kinds[j] is None and str(columns[j].dtype) == "Float64" for j in chosen.read),
        **chosen.known,
    )


def open_columns(data: Any, reading: Reading) -> Source | None:
    """Open a dict of columns or an array of records; None in a list is a missing value."""
    if isinstance(data, np.ndarray) and data.dtype.names and data.ndim == 1:
        data = {name: data[name] for name in data.dtype.names}
    if not isinstance(data, Mapping):
        return None
    import pyarrow as pa

    describe = "the dict of columns"
    names, columns = [str(name) for name in data], []
    for name, values in zip(names, data.values(), strict=True):
        try:
            is_text = not isinstance(values, np.ndarray) and any(isinstance(value, str) for value in values)
            columns.append(pa.array(values, from_pandas=is_text))  # NaN among texts is a missing one
        except OverflowError as error:
            raise beyond_exact(describe, name, max(values, key=abs)) from error
        except (TypeError, ValueError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UnreadableError(
                f"{describe}: column {name!r} cannot be read as a list of numbers ({reason}). "
                "Give each column as one list or one-dimensional array of numbers."
            ) from error
    lengths = {name: len(column) for name, column in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise UnreadableError(
            f"{describe}: column {long!r} has {counted(lengths[long], 'value')} but {short!r} has {lengths[short]}: "
            "give every column the same number of values, None where one is missing."
        )
    check_text(names, describe)
    return open_frame(pa.table(columns, names=names), reading, describe)


def _narwhals(data: Any, describe: str) -> Any:
    """Return the data as an eager narwhals frame, or None for data of another kind."""
    import narwhals.stable.v1 as nw
    from narwhals.dependencies import is_into_dataframe, is_pyarrow_table

    native = data.to_native() if type(data).__module__.startswith("narwhals") else data
    if not is_into_dataframe(native):
        viewed = nw.from_native(native, pass_through=True, allow_series=True)
        if isinstance(viewed, nw.Series):
            raise _single(native)
        if isinstance(viewed, nw.LazyFrame):
            native = nw.to_native(viewed.collect())
        elif hasattr(native, "__arrow_c_stream__") or hasattr(native, "__arrow_c_array__"):
            import pyarrow as pa

            try:
                native = pa.table(native)
            except (TypeError, pa.ArrowException) as error:  # an Arrow array, not a table
                raise _single(native) from error
        else:
            return None
    labels = native.column_names if is_pyarrow_table(native) else list(native.columns)
    names = [str(label) for label in labels]
    check_text(names, describe)
    if len(set(names)) < len(names):  # narwhals would refuse these in other words
        refuse_duplicates(names, range(len(names)), describe)
    return nw.from_native(native, eager_only=True)


def _single(native: Any) -> UnreadableError:
    return UnreadableError(
        f"A single column ({type(native).__name__}) was given: expected a table, one column for each variable."
    )


def _kind(column: Any) -> Kind | None:
    if column.dtype.is_numeric():
        return None
    named = KINDS.get(type(column.dtype).__name__)
    if named is not None:
        return named
    if column.null_count() == len(column):
        return MISSING
    native = column.to_native()
    dtype = getattr(native, "type", None) or getattr(native, "dtype", column.dtype)
    try:
        values = column.drop_nulls().to_numpy()
    except (NotImplementedError, TypeError, ValueError):  # such as an Arrow union
        return Kind(f"values of type {dtype}")
    if values.ndim > 1:
        return NESTED
    if values.dtype.kind in "iuf":  # a sparse column, or numbers of a width for which narwhals has no type
        return None
    if values.dtype.kind == "c":
        return COMPLEX
    for type_, kind in OBJECTS.items():
        if all(isinstance(value, type_) for value in values[:100]):
            return kind
    others = [value for value in values if not isinstance(value, NUMBER_TYPES) or isinstance(value, bool)]
    if not others:
        return LONG if any(isinstance(value, int) and abs(value) > LARGEST_EXACT for value in values) else None
    if len(others) < len(values) and isinstance(others[0], str):
        return Kind(
            f"numbers beside text such as {cut(others[0])!r}",
            "pandas.to_numeric(column, errors='coerce') makes missing values of the text.",
        )
    types = listed(sorted({type(value).__name__ for value in values[:100]})) if str(dtype) == "object" else dtype
    return Kind(f"values of type {types}", "Convert it with .astype(float) if it is meant as numbers.")


def _floats(column: Any) -> Array:
    import narwhals.stable.v1 as nw

    values: Array = column.to_numpy()  # NaN for missing integers: the exact ones all fit
    if values.dtype.kind in "iuf":
        return values
    numbers = np.full(len(column), np.nan)
    if values.dtype == object:
        present = np.array([float(value) for value in column.drop_nulls().to_list()])
    else:
        present = column.drop_nulls().cast(nw.Float64).to_numpy()
    numbers[~column.is_null().to_numpy().astype(bool)] = present
    return numbers


def _levels(column: Any) -> Levels:
    present = column.drop_nulls()
    try:
        distinct = int(present.n_unique())
    except TypeError:  # objects that cannot be compared
        distinct = len(set(map(str, present.to_list())))
    counts = Counter(map(str, present.to_list())) if distinct <= MOST_LEVELS else Counter[str]()
    first = [str(value) for value in present.head(20).to_list()]
    return Levels(distinct, len(present), first, len(column), counts.most_common(MOST_COMMON))


def _arrow(column: Any) -> Any:
    """Return a column as an Arrow array, as text where Arrow has no type for its objects."""
    import pyarrow as pa

    try:
        found = column.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        absent = column.is_null().to_list()
        return pa.array([None if no else level_text(one) for one, no in zip(column.to_list(), absent, strict=True)])
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _long(column: Any) -> int | None:
    """Return a whole number of the column that float64 would round, if there is one."""
    if not _whole(column) or not len(column) or column.null_count() == len(column):
        return None
    extremes = int(column.max()), int(column.min())
    return next((extreme for extreme in extremes if abs(extreme) > LARGEST_EXACT), None)


def _whole(column: Any) -> bool:
    """Return whether the column holds integers, or decimals without decimal places."""
    kind = type(column.dtype).__name__
    native = column.to_native()
    type_ = getattr(native, "type", None) or getattr(native, "dtype", None)
    scale = getattr(getattr(type_, "pyarrow_dtype", type_), "scale", 1)
    return kind.startswith(("Int", "UInt")) or (kind == "Decimal" and scale == 0)
