"""Arrow columns: what they hold, and their numbers as float64."""

from __future__ import annotations

from typing import Any

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
    numbers: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _refuse_inexact(column: Any, name: str, describe: str, first_row: int) -> None:
    import pyarrow.compute as pc

    for extreme in pc.min_max(column).values():
        value = extreme.as_py()
        if value is not None and abs(int(value)) > LARGEST_EXACT:
            row = first_row + pc.index(column, extreme).as_py()
            raise beyond_exact(describe, name, int(value), row)
