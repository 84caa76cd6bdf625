"""Arrow columns: what they hold, and their numbers as float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ordag.arrays import Array
from ordag.data.sources.columns import (
    BOOLEANS,
    BYTES,
    DATES,
    LARGEST_EXACT,
    NESTED,
    TEXT,
    TIMES,
    Kind,
    beyond_exact,
)


def kind_of(type_: Any) -> Kind | None:
    """What a column of this Arrow type holds; None for numbers, and for a column without a single value."""
    from pyarrow import types

    tests = (
        (types.is_nested, NESTED),
        (types.is_boolean, BOOLEANS),
        (types.is_date, DATES),
        (types.is_timestamp, DATES),
        (types.is_time, TIMES),
        (types.is_duration, TIMES),
        (types.is_dictionary, TEXT),
        (lambda some: "string" in str(some), TEXT),  # also large strings and views of strings
        (types.is_binary, BYTES),
        (types.is_large_binary, BYTES),
        (types.is_fixed_size_binary, BYTES),
    )
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(test(type_) for test in numbers):
        return None
    return next((kind for test, kind in tests if test(type_)), Kind(f"values of type {type_}"))


def to_float(column: Any, name: str, describe: str, first_row: int) -> Array:
    """One column of numbers as float64, NaN where it has no value; `first_row`, from 1, is for messages."""
    import pyarrow as pa

    type_ = column.type
    whole = pa.types.is_integer(type_) or (pa.types.is_decimal(type_) and type_.scale <= 0)
    if whole and type_.bit_width >= 64:
        _refuse_inexact(column, name, describe, first_row)
    return floats(column if pa.types.is_float64(type_) else column.cast(pa.float64()))


def numbers_of(batch: Any, names: Sequence[str], describe: str, first_row: int) -> Array:
    """The columns of these names of a record batch, as one block of float64."""
    fields = [batch.schema.get_field_index(name) for name in names]
    columns = zip(fields, names, strict=True)
    return np.column_stack([to_float(batch.column(field), name, describe, first_row) for field, name in columns])


def floats(column: Any) -> Array:
    """The values of a float64 Arrow array, NaN where it has none.

    Read from its buffer: the array's own `to_numpy` would import pandas, which takes longer than most files.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([floats(chunk) for chunk in column.chunks]) if column.num_chunks else np.empty(0)
    filled = pc.fill_null(column, math.nan) if column.null_count else column
    buffer = filled.buffers()[1]
    if buffer is None or not len(filled):
        return np.empty(0)
    return np.frombuffer(buffer, dtype=np.float64, count=len(filled), offset=8 * filled.offset)


def _refuse_inexact(column: Any, name: str, describe: str, first_row: int) -> None:
    import pyarrow.compute as pc

    for extreme in pc.min_max(column).values():
        value = extreme.as_py()
        if value is not None and abs(int(value)) > LARGEST_EXACT:
            row = first_row + pc.index(column, extreme).as_py()
            raise beyond_exact(describe, name, int(value), row)
