"""Columns: which are used, what they hold, and the numbers of Arrow columns as float64."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import as_list, check_text, short
from ordag.common.words import cut, did_you_mean, quoted
from ordag.data.reading import without
from ordag.errors import ColumnError, PrecisionError, Remedy, SettingError

LARGEST_EXACT = 2**53  # from here on float64 skips integers


@dataclass(frozen=True)
class Kind:
    """What a column holds instead of numbers, the advice about it, and the remedy that an error offers."""

    holds: str
    advice: str = ""
    remedy: Remedy | None = field(default=None, compare=False)


TEXT = Kind("text")
DATES = Kind("dates")
TIMES = Kind("times")
NESTED = Kind("lists or records")
BYTES = Kind("bytes")
COMPLEX = Kind("complex numbers", "Take the real part, the size or the angle first.")
BOOLEANS = Kind("true/false values", "Convert true/false to 1/0 first if they are meant as numbers.")


def select(
    names: Sequence[str], kinds: Sequence[Kind | None], wanted: Sequence[str] | None, describe: str
) -> tuple[int, ...]:
    """Return the positions of the wanted columns (all if None); `kinds` has None for a column of numbers."""
    if not names:
        raise ColumnError(f"{describe} has no columns: expected one for each variable.")
    check_text(names, describe)
    if wanted is None:
        _refuse_unnamed(names, describe)
        positions = tuple(range(len(names)))
    else:
        positions = _positions(names, _request(wanted), describe)
    _refuse_duplicates(names, positions, describe)
    refused = {names[j]: kind for j in positions if (kind := kinds[j]) is not None}
    if refused:
        usable = [name for name, kind in zip(names, kinds, strict=True) if kind is None and name]
        kept = [names[j] for j in positions if names[j]]
        remedies = [kind.remedy for kind in refused.values()]
        shared = [one for one in remedies[:1] if one is not None and remedies.count(one) == len(remedies)]
        raise ColumnError(_not_numbers(refused, usable, describe), remedies=[*shared, *without(set(refused), kept)])
    return positions


def beyond_exact(describe: str, name: str, value: int | str, row: int | None = None) -> PrecisionError:
    """Return the error for an integer that float64 may round."""
    place = "" if row is None else f" in data row {row}"
    return PrecisionError(
        f"{describe}: column {name!r} holds the integer {cut(str(value))}{place}, but float64 is exact only up to "
        "±2^53 = 9007199254740992. Leave the column out if it numbers things; if it measures something, "
        "subtract an offset, or store it as floating-point numbers."
    )


def _request(wanted: Sequence[str]) -> tuple[str, ...]:
    if isinstance(wanted, str):
        raise SettingError(f"columns={wanted!r} is a single text: give a list of names, columns=[{wanted!r}].")
    request = tuple(str(name) for name in as_list(wanted, f"columns={short(wanted)}: give a list of names."))
    if not request:
        raise SettingError("columns=… is empty: name at least one column, or leave it out to use all.")
    twice = [name for name, count in Counter(request).items() if count > 1]
    if twice:
        raise ColumnError(f"columns=… asks for {quoted(twice)} more than once: name each column once.")
    return request


def _positions(names: Sequence[str], request: Sequence[str], describe: str) -> tuple[int, ...]:
    where = {name: j for j, name in reversed(list(enumerate(names)))}
    unknown = [name for name in request if name not in where]
    if unknown:
        hint = did_you_mean(unknown, names, each=2)
        noun = "column" if len(unknown) == 1 else "columns"
        raise ColumnError(f"{describe} has no {noun} {quoted(unknown)}.{hint} Its columns are {quoted(names)}.")
    return tuple(where[name] for name in request)


def _refuse_unnamed(names: Sequence[str], describe: str) -> None:
    unnamed = [j for j, name in enumerate(names) if not name.strip()]
    if unnamed:
        named = [name for name in names if name.strip()]
        raise ColumnError(
            f"{describe}: column {unnamed[0] + 1} of {len(names)} has no name; it may hold row names, or "
            f"come from a separator at the end of each line. Give it a name, or {_choice(named)}.",
            remedies=without({names[unnamed[0]]}, names) if len(unnamed) == 1 else (),
        )


def _refuse_duplicates(names: Sequence[str], positions: Sequence[int], describe: str) -> None:
    counts = Counter(names)
    twice = list(dict.fromkeys(names[j] for j in positions if counts[names[j]] > 1))
    if twice:
        times = f" ({counts[twice[0]]} times)" if len(twice) == 1 else ""
        raise ColumnError(
            f"{describe} has several columns named {quoted(twice)}{times}: rename them so that all names differ."
        )


def _not_numbers(refused: Mapping[str, Kind], usable: Sequence[str], describe: str) -> str:
    groups: dict[Kind, list[str]] = {}
    for name, kind in refused.items():
        groups.setdefault(kind, []).append(name)
    phrases = [
        f"column{'' if len(group) == 1 else 's'} {quoted(group)} hold{'s' if len(group) == 1 else ''} {kind.holds}"
        for kind, group in groups.items()
    ]
    advice = list(dict.fromkeys(kind.advice for kind in groups if kind.advice))
    choice = f"To go on without, {_choice(usable)}." if usable else "No column holds numbers."
    if len(phrases) > 4:
        phrases = [*phrases[:3], f"{len(phrases) - 3} more columns hold other than numbers"]
    return " ".join([f"{describe}: {'; '.join(phrases)}: only numbers can be used.", *advice[:2], choice])


def _choice(usable: Sequence[str], limit: int = 6) -> str:
    if not usable:
        return "remove it"
    more = "" if len(usable) <= limit else ", …"
    listing = ", ".join(repr(name) for name in usable[:limit])
    typed = shlex.quote(",".join(usable[:limit])) + (",…" if more else "")
    return f"use columns=[{listing}{more}] (--columns {typed} on the command line)"


def arrow_kind(type_: Any) -> Kind | None:
    """Return what a column of this Arrow type holds; None for numbers, and for a column without a single value."""
    from pyarrow import types

    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(test(type_) for test in numbers):
        return None
    tests = (
        (types.is_nested, NESTED),
        (types.is_boolean, BOOLEANS),
        (types.is_date, DATES),
        (types.is_timestamp, DATES),
        (types.is_time, TIMES),
        (types.is_duration, TIMES),
        (types.is_dictionary, TEXT),
        (lambda some: "string" in str(some), TEXT),  # also large strings and string views
        (types.is_binary, BYTES),
        (types.is_large_binary, BYTES),
        (types.is_fixed_size_binary, BYTES),
    )
    return next((kind for test, kind in tests if test(type_)), Kind(f"values of type {type_}"))


def select_fields(fields: Iterable[Any], wanted: Sequence[str] | None, describe: str) -> tuple[str, ...]:
    """Return the names of the wanted columns among the fields of an Arrow schema."""
    fields = list(fields)
    names = [field.name for field in fields]
    return tuple(names[j] for j in select(names, [arrow_kind(field.type) for field in fields], wanted, describe))


def batch_to_block(batch: Any, names: Sequence[str], describe: str, first_row: int) -> Array:
    """Convert the named columns of an Arrow record batch to one block of float64; `first_row`, from 1, is for messages."""
    import pyarrow as pa

    columns = []
    for name in names:
        column = batch.column(batch.schema.get_field_index(name))
        type_ = column.type
        whole = pa.types.is_integer(type_) or (pa.types.is_decimal(type_) and type_.scale <= 0)
        if whole and type_.bit_width >= 64:
            _refuse_inexact(column, name, describe, first_row)
        columns.append(floats(column if pa.types.is_float64(type_) else column.cast(pa.float64())))
    return np.column_stack(columns)


def floats(column: Any) -> Array:
    """Return the values of a float64 Arrow array, NaN where it has none.

    They are read from its buffer: the array's own `to_numpy` would import pandas, which takes longer than most files.
    """
    import pyarrow.compute as pc

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
            raise beyond_exact(describe, name, int(value), first_row + pc.index(column, extreme).as_py())
