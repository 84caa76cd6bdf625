"""Numbers that may stand for a missing value, such as −99 among ages: far outside the rest of their column, and frequent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Integers
from ordag.common.words import counted, joined, number, shown

CODES = frozenset(
    sign * float(code)
    for size in range(1, 8)
    for code in ("9" * size, "8" * size, "7" * size, *(f"{'9' * (size - 1)}{last}" for last in "678"))
    for sign in (1, -1)
) | {-999.25, -9999.25, 32767.0, -32768.0, -32767.0}  # fmt: skip
"""What files of surveys, weather stations and instruments write for a missing value."""

FEWEST, SHARE = 3, 0.002
"""Rows that have it, at least, and their share."""

MOST = 0.9
"""Share of the rows beyond which it is an ordinary value."""

FAR, FAR_OF_A_DIGIT = 0.25, 1.0
"""Distance to the other values, in units of their range; the second of codes of one digit, which are counts and grades too."""

NEGATIVE_FAR = 0.04
"""The same of a negative code of two digits or more, or −9, where no other value is below zero."""

FEWEST_VALUES = 3
"""Different other values."""

MOST_CODES = 4
"""Different codes at either end."""

LOOKED_AT = 50_000
"""Rows that are looked at, evenly spaced."""


class Sentinel(NamedTuple):
    """A value that may stand for a missing one, the rows that have it, and other columns in which it is an ordinary value."""

    value: float
    rows: int
    also: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        """The value as it is typed."""
        return f"{self.value:.10g}"


def sentinels(column: Array) -> list[Sentinel]:
    """Return the values of a column that may stand for missing ones: codes that are its greatest or its least values."""
    some = column[:: -(-len(column) // LOOKED_AT)] if len(column) else column
    present = some[np.isfinite(some)]
    if not len(present) or not {float(present.max()), float(present.min())} & CODES:
        return []
    values, counts = np.unique(present, return_counts=True)
    found = []
    for order in (slice(None, None, -1), slice(None)):
        codes = list(takewhile(CODES.__contains__, values[order][:MOST_CODES].tolist()))
        found += next((codes[:k] for k in range(len(codes), 0, -1) if _stand_out(values[order], counts[order], k)), [])
    return [Sentinel(value, int((column == value).sum())) for value in found]


def _stand_out(values: Array, counts: Integers, k: int) -> bool:
    """Return whether the first k values, which are codes, are frequent and far from the others, all of which are in order."""
    rows, n = int(counts[:k].sum()), int(counts.sum())
    rest = values[k:]
    if rows < max(FEWEST, SHARE * n) or rows > MOST * n or len(rest) < FEWEST_VALUES:
        return False
    code, gap, spread = values[k - 1], abs(values[k - 1] - rest[0]), abs(rest[0] - rest[-1])
    lonely = FAR_OF_A_DIGIT if abs(code) < 10.0 else FAR
    if code <= -9.0 and min(rest[0], rest[-1]) >= 0.0:
        lonely = NEGATIVE_FAR
    return bool(gap > lonely * spread)


def without_codes(values: Array, codes: Sequence[float]) -> Array:
    """Return values with NaN in place of these codes."""
    coded = np.isin(values, codes)
    return np.where(coded, np.nan, values) if coded.any() else values


def among_columns(
    found: Mapping[str, Sequence[Sentinel]], names: Iterable[str], column: Callable[[str], Array]
) -> dict[str, tuple[Sentinel, ...]]:
    """Return the same with the other columns, of these names, that have such a value as an ordinary one."""
    values = {one.value for some in found.values() for one in some}
    ordinary: dict[float, list[str]] = {value: [] for value in values}
    for name in names if values else ():
        mine = {one.value for one in found.get(name, ())}
        numbers = column(name)
        for value in values - mine:
            if (numbers == value).any():
                ordinary[value].append(name)
    return {name: tuple(one._replace(also=tuple(ordinary[one.value])) for one in some) for name, some in found.items()}


def sentinel_sentence(found: Mapping[str, Sequence[Sentinel]]) -> str:
    """Return the question whether such values stand for missing ones, with the option that reads them so; "" without any."""
    where = [
        f"{number(one.value)} in {shown(name)} ({counted(one.rows, 'row')})"
        for name, some in found.items()
        for one in some
    ]
    if not where:
        return ""
    cells = list(dict.fromkeys(one.cell for some in found.values() for one in some))
    also = list(dict.fromkeys(name for some in found.values() for one in some for name in one.also))
    role = dict.fromkeys(found, "variable")
    stands = "stands for a missing value" if len(where) == 1 else "stand for missing values"
    beside = f" (then also in {joined([shown(name) for name in also], 4)})" if also else ""
    return (
        f"{joined(where, 6)} {'is' if len(where) == 1 else 'are'} far from the other values: if {'it' if len(where) == 1 else 'they'} "
        f"{stands}, na={cells!r} reads {'it' if len(cells) == 1 else 'them'} so{beside}; if not, role={role!r} says so"
    )
