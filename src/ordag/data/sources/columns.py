"""Columns: which are used, what they hold, and the numbers of Arrow columns as float64."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.checks import as_list, check_text, short
from ordag.common.words import cut, did_you_mean, quoted, shown, typed
from ordag.data.covariates import Covariate
from ordag.data.reading import FEWEST_COLUMNS, Reading, without
from ordag.data.roles import MOST_COMMON, Levels
from ordag.data.set_aside import MOST_LEVELS
from ordag.errors import ColumnError, PrecisionError, Remedy, SettingError

LARGEST_EXACT = 2**53  # from here on float64 skips integers


@dataclass(frozen=True)
class Kind:
    """What a column holds instead of numbers, the advice about it, the remedy that an error offers, and the role that it implies.

    The role "category" is settled by the values; "refused" is a column of numbers with cells that are none.
    """

    holds: str
    advice: str = ""
    remedy: Remedy | None = field(default=None, compare=False)
    role: str = "unusable"


@dataclass(frozen=True)
class Look:
    """The columns of a table, and the rows of it that are at hand when it is opened.

    kinds: None for a column of numbers. numbers, levels: what the column at a position holds, for columns of numbers and of others;
    None where no row is at hand. whole: these are all rows. named: the names are those of the table, not given by Ordag.
    """

    names: Sequence[str]
    kinds: Sequence[Kind | None]
    numbers: Callable[[int], Array] | None = None
    levels: Callable[[int], Levels] | None = None
    whole: bool = False
    named: bool = True


TEXT = Kind("text", role="category")
DATES = Kind("dates", role="time")
TIMES = Kind("times", role="time")
LONG = Kind("whole numbers of more digits than float64 holds", role="id")
NESTED = Kind("lists or records")
BYTES = Kind("bytes")
COMPLEX = Kind("complex numbers", "Take the real part, the size or the angle first.")
BOOLEANS = Kind("true/false values", "Convert true/false to 1/0 first if they are meant as numbers.", role="category")


def check_columns(names: Sequence[str], reading: Reading, describe: str) -> None:
    """Refuse a table without columns, and settings that name columns which it has not."""
    if not names:
        raise ColumnError(f"{describe} has no columns: expected one for each variable.")
    check_text(names, describe)
    known = set(names)
    unknown: dict[str, str] = {}
    for setting in ("drop", "role", "category", "adjust", "cause"):
        unknown |= {name: setting for name in getattr(reading, setting) if name not in known}
    unknown |= {name: setting for setting, name in reading.row_columns.items() if name not in known}
    if unknown:
        some = ", ".join(f"{name!r} ({setting})" for name, setting in list(unknown.items())[:8])
        hint = did_you_mean(list(unknown), names, each=2)
        raise ColumnError(
            f"{describe} has no column {some}{' and more' if len(unknown) > 8 else ''}.{hint} Its columns are {quoted(names)}.",
            set(unknown.values()),
        )


def select(
    names: Sequence[str], kinds: Sequence[Kind | None], wanted: Sequence[str] | None, describe: str
) -> tuple[int, ...]:
    """Return the positions of the wanted columns, which have to hold numbers (all if None); `kinds` has None for those that do."""
    if wanted is None:
        _refuse_unnamed(names, describe)
        positions = tuple(range(len(names)))
    else:
        positions = _positions(names, _request(wanted), describe)
    refuse_duplicates(names, positions, describe)
    refuse_kinds(names, kinds, positions, describe, named=wanted is not None)
    return positions


def refuse_kinds(
    names: Sequence[str], kinds: Sequence[Kind | None], positions: Sequence[int], describe: str, *, named: bool = False
) -> None:
    """Refuse the columns at these positions that hold other than numbers. named: they were asked for by name, or are those of a graph."""
    refused = {names[j]: kind for j in positions if (kind := kinds[j]) is not None}
    if refused:
        usable = [name for name, kind in zip(names, kinds, strict=True) if kind is None and name]
        kept = [names[j] for j in positions if names[j]]
        remedies = [kind.remedy for kind in refused.values()]
        shared = [one for one in remedies[:1] if one is not None and remedies.count(one) == len(remedies)]
        each = [one.reading.get("na", ()) for one in remedies if one is not None]
        cells = list(dict.fromkeys(chain.from_iterable(each)))
        if cells and all(each) and len(each) == len(remedies):
            shared = [take_for_missing(cells)]
        raise ColumnError(
            _not_numbers(refused, cells, usable, describe, named), remedies=[*shared, *without(set(refused), kept)]
        )


def take_for_missing(cells: Sequence[str]) -> Remedy:
    """Offer to read cells as missing values."""
    return Remedy(f"take {quoted(cells)} for missing", {"na": list(cells)})


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
        choice = f", or {_choice(named, [])}" if len(named) >= FEWEST_COLUMNS else ""
        raise ColumnError(
            f"{describe}: column {unnamed[0] + 1} of {len(names)} has no name; it may hold row names, or "
            f"come from a separator at the end of each line. Give it a name{choice}.",
            remedies=without({names[unnamed[0]]}, names) if len(unnamed) == 1 else (),
        )


def refuse_duplicates(names: Sequence[str], positions: Sequence[int], describe: str) -> None:
    counts = Counter(names)
    twice = list(dict.fromkeys(names[j] for j in positions if counts[names[j]] > 1))
    if twice:
        times = f" ({counts[twice[0]]} times)" if len(twice) == 1 else ""
        raise ColumnError(
            f"{describe} has several columns named {quoted(twice)}{times}: rename them so that all names differ."
        )


def _not_numbers(
    refused: Mapping[str, Kind], cells: Sequence[str], usable: Sequence[str], describe: str, named: bool
) -> str:
    groups: dict[Kind, list[str]] = {}
    for name, kind in refused.items():
        groups.setdefault(kind, []).append(name)
    phrases = [
        f"column{'' if len(group) == 1 else 's'} {quoted(group)} hold{'s' if len(group) == 1 else ''} {kind.holds}"
        for kind, group in groups.items()
    ]
    advice = list(dict.fromkeys(kind.advice for kind in groups if kind.advice))
    if cells:
        typed_cells = typed("--na", list(cells))
        advice = [
            *advice[:2],
            f"To read such cells as missing, na={list(cells)!r} ({typed_cells} on the command line).",
        ]
    choice = f"To go on without, {_choice(usable, list(refused))}."
    if len(usable) < FEWEST_COLUMNS:
        left = f"Only {shown(usable[0])} holds numbers" if usable else "No column holds numbers"
        choice = f"{left}, and a graph needs two variables."
    elif named:
        choice = f"{'Or leave' if advice else 'Leave'} {'it' if len(refused) == 1 else 'them'} out."
    if len(phrases) > 4:
        phrases = [*phrases[:3], f"{len(phrases) - 3} more columns hold other than numbers"]
    return " ".join([f"{describe}: {'; '.join(phrases)}: only numbers can be used.", *advice[:3], choice])


def _choice(usable: Sequence[str], refused: Sequence[str], limit: int = 6) -> str:
    """Return how to go on without the refused columns, in Python and on the command line; by naming the others if these are few."""
    setting, names = ("columns", usable) if len(usable) <= limit else ("drop", refused)
    if not names:
        return "remove it"
    return f"use {setting}={list(names)!r} ({typed(f'--{setting}', list(names))} on the command line)"


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


def look_at(fields: Iterable[Any], first: Any, *, whole: bool) -> Look:
    """Look at the columns of an Arrow schema, and at a first batch of rows with the same columns, or None."""
    fields = list(fields)
    kinds = [arrow_kind(field.type) for field in fields]
    if first is None:
        return Look([field.name for field in fields], kinds)
    positions = [first.schema.get_field_index(field.name) for field in fields]
    for j, place in enumerate(positions):
        if kinds[j] is None and _is_long(fields[j].type) and _beyond(first.column(place)):
            kinds[j] = LONG
    return Look(
        [field.name for field in fields],
        kinds,
        lambda j: floats(_as_float64(first.column(positions[j]))),
        lambda j: levels_of(first.column(positions[j])),
        whole,
    )


def levels_of(column: Any) -> Levels:
    """Count the different values of an Arrow column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    present = plain.drop_null()
    first = [str(value) for value in present[:20].to_pylist()]
    distinct = pc.count_distinct(present).as_py()
    return Levels(distinct, len(present), first, len(plain), _common(present) if distinct <= MOST_LEVELS else ())


def _common(present: Any) -> list[tuple[str, int]]:
    """Return the commonest values of an Arrow array, with their numbers."""
    counts = present.value_counts() if len(present) else []
    pairs = sorted(((str(one["values"]), one["counts"].as_py()) for one in counts), key=lambda pair: -pair[1])
    return pairs[:MOST_COMMON] if len(pairs) < len(present) else []


def codes(column: Any, levels: Sequence[str]) -> Array:
    """Return the numbers of the levels that an Arrow column has; new levels go to the end of the list.

    A missing value is NaN, unless the first level is the empty text: then it is that.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = plain.dictionary_encode()
    place, absent = _level_numbers(encoded.dictionary.to_pylist(), levels)
    numbers = np.array([*place, absent])
    at = pc.fill_null(encoded.indices, len(place)).to_numpy(zero_copy_only=False)
    return np.asarray(numbers[at.astype(np.intp)])


def number_codes(column: Array, levels: Sequence[str]) -> Array:
    """Return `codes` of a column of numbers."""
    values, positions = np.unique(column, return_inverse=True)
    return np.asarray(np.array(_level_numbers(values.tolist(), levels)[0], dtype=np.float64)[positions.reshape(-1)])


def _level_numbers(values: Sequence[Any], levels: Sequence[str]) -> tuple[list[float], float]:
    """Return the number of the level of every value, and that of a missing one; new levels go to the end of the list."""
    known = {level: k for k, level in enumerate(levels)}
    absent = 0.0 if levels[:1] == [""] else math.nan
    positions = [absent if value != value else known.setdefault(level_text(value), len(known)) for value in values]
    assert isinstance(levels, list)
    levels[:] = list(known)
    return positions, absent


def level_text(value: object) -> str:
    """Write a value of a category: without surrounding spaces, and whole numbers without a decimal point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def batch_to_block(
    batch: Any, names: Sequence[str], describe: str, first_row: int, covariates: Sequence[Covariate] = ()
) -> Array:
    """Convert the named columns of an Arrow record batch, and the covariates, to one block of float64.

    `first_row`, from 1, is for messages.
    """
    columns = []
    levels = {one.name: one.levels for one in covariates}
    for name in (*names, *levels):
        column = batch.column(batch.schema.get_field_index(name))
        coded = levels.get(name)
        if coded is None and _is_long(column.type):
            _refuse_inexact(column, name, describe, first_row)
        columns.append(floats(_as_float64(column)) if coded is None else codes(column, coded))
    return np.column_stack(columns)


def _as_float64(column: Any) -> Any:
    import pyarrow as pa

    return column if pa.types.is_float64(column.type) else column.cast(pa.float64())


def _is_long(type_: Any) -> bool:
    """Return whether a type holds whole numbers of more digits than float64 does."""
    from pyarrow import types

    whole = types.is_integer(type_) or (types.is_decimal(type_) and type_.scale <= 0)
    return bool(whole and type_.bit_width >= 64)


def _beyond(column: Any) -> bool:
    import pyarrow.compute as pc

    ends = [extreme.as_py() for extreme in pc.min_max(column).values()]
    return any(end is not None and abs(int(end)) > LARGEST_EXACT for end in ends)


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

    if not _beyond(column):
        return
    for extreme in pc.min_max(column).values():
        value = extreme.as_py()
        if value is not None and abs(int(value)) > LARGEST_EXACT:
            raise beyond_exact(describe, name, int(value), first_row + pc.index(column, extreme).as_py())
