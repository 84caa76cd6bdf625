"""Two groups of the rows of one table, by the values of a column: two values, two periods, or one value and all others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ordag.common.checks import short
from ordag.common.words import counted, did_you_mean, quoted, shown
from ordag.data.equations import of_conditions
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import ColumnError, ConstantColumnError, DataError, SettingError

DATE = re.compile(r"\d{4}(-\d\d(-\d\d.*)?)?")
GERMAN = re.compile(r"(?:(\d{1,2})\.)?(\d{1,2})\.(\d{4})")
"""Dates with points: day, month, year; of months the latter two."""

FEW = 5
"""Numbers up to which no ranges of them are offered."""


class TwoGroups(NamedTuple):
    """The moments of two groups of rows, what each is called, the columns left out because they never change within any group, and how
    many rows of the table were left out for missing values."""

    before: Moments
    after: Moments
    names: tuple[str, str]
    left_out: list[str]
    dropped: int


def two_groups(data: Any, by: str, values: Sequence[Any] | None, **reading: Any) -> TwoGroups:
    """Read a table once, and return the moments of two groups of its rows.

    values: two values of the column, each also the beginning of dates (2025-05) or a range (1990..1995); one, against all other rows.
    None where the column has two values, or dates of two months or years.
    """
    if not isinstance(by, str):
        raise SettingError(f"by={short(by)}: give the name of a column.")
    left_out: list[str] = []
    try:
        table = Table(data, **{**reading, "environment": by}).needing(lambda _: 1)
        try:
            moments = table.apart
        except ConstantColumnError as error:
            left_out = [name for remedy in error.remedies[:1] for name in remedy.reading.get("drop", ())]
            if "columns" in reading or not left_out:
                raise
            gone = {"drop": [*reading.get("drop", ()), *left_out]}
            moments = Table(data, **{**reading, **gone, "environment": by}).needing(lambda _: 1).apart
    except DataError as error:
        if "environment" not in error.settings:
            raise
        words = str(error).replace("environment (--environment)", "by (--by)").replace("(environment)", "(by)")
        raise type(error)(words) from error
    labels = [one.label for one in moments.conditions]
    if len(labels) < 2:
        raise ColumnError(
            f"{by!r} has {counted(len(labels), 'value')} in the rows that are used: there is nothing to compare."
        )
    chosen = _two_of(labels, by) if values is None else [str(one) for one in values]
    if not 1 <= len(chosen) <= 2:
        raise SettingError(f"values={short(values)}: give two values of {by!r}, or one to hold against all others.")
    groups = [_rows_of(one, labels, by) for one in chosen]
    if len(groups) == 1:
        groups, chosen = (
            [sorted(set(range(len(labels))) - set(groups[0])), groups[0]],
            [f"other than {chosen[0]}", *chosen],
        )
        if not groups[0]:
            raise SettingError(f"values={short(values)}: all rows have this value of {by!r}.")
    both = set(groups[0]) & set(groups[1])
    if both:
        raise SettingError(
            f"values: {chosen[0]} and {chosen[1]} share rows, those of {quoted([labels[c] for c in sorted(both)], 4)}."
        )
    first, second = (of_conditions(moments, group) for group in groups)
    return TwoGroups(first, second, (f"{shown(by)} {chosen[0]}", f"{shown(by)} {chosen[1]}"), left_out, moments.dropped)


def _two_of(labels: list[str], by: str) -> list[str]:
    """Return the two values of a column; of dates, the two months or the two years."""
    if len(labels) == 2:
        return sorted(labels, key=float) if all(_number(one) is not None for one in labels) else labels
    dates = sorted(map(_iso, labels))
    if all(DATE.fullmatch(one) for one in dates) and len(dates[0]) > 4:
        for letters in (7, 4):
            found = sorted({one[:letters] for one in dates})
            if len(found) == 2:
                return found
        hint = f"two months or other beginnings of dates, such as {dates[0][:7]} and {dates[-1][:7]}"
    elif all(_number(one) is not None for one in labels):
        by_size, middle = sorted(labels, key=float), len(labels) // 2
        hint = "two of them, or one to hold against all others"
        if len(labels) > FEW:
            hint = f"two of them, or ranges such as {by_size[0]}..{by_size[middle - 1]} and {by_size[middle]}..{by_size[-1]}"
    else:
        hint = "two of them, or one to hold against all others"
    raise SettingError(
        f"{by!r} has {len(labels)} different entries ({quoted(labels, 6)}): say with values which to compare: {hint}.",
        ["values"],
    )


def _rows_of(value: str, labels: list[str], by: str) -> list[int]:
    """Return the labels that a value stands for."""
    low, dots, high = (_iso(part.strip()) for part in value.partition(".."))
    found = [c for c, label in enumerate(labels) if label == value or _number(label) == _number(value) is not None]
    if not found and dots:
        found = [c for c, label in enumerate(labels) if _between(low, _iso(label), high)]
    if not found and DATE.fullmatch(begin := _iso(value)):
        dates = list(map(_iso, labels))
        found = [c for c, date in enumerate(dates) if date.startswith(begin) and DATE.fullmatch(date)]
    if not found:
        raise ColumnError(
            f"No row has the value {value!r} of {by!r}.{did_you_mean(value, labels)} It has {quoted(labels, 8)}."
        )
    return found


def _between(low: str, label: str, high: str) -> bool:
    ends = [_number(low), _number(label), _number(high)]
    if None not in ends:
        return bool(ends[0] <= ends[1] <= ends[2])  # type: ignore[operator]
    return bool(DATE.fullmatch(label)) and low <= label[: len(low)] and label[: len(high)] <= high


def _iso(text: str) -> str:
    """Return a date such as 31.5.2025, or a month such as 5.2025, as 2025-05-31 or 2025-05; any other text as it is."""
    found = GERMAN.fullmatch(text)
    if found is None:
        return text
    day, month, year = found.groups()
    return f"{year}-{int(month):02d}" + (f"-{int(day):02d}" if day else "")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
