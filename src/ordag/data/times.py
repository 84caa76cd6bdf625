"""Times as whole numbers of steps: what a step is, is read from the times of a series."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ordag.common.arrays import Array, Indices
from ordag.common.checks import short
from ordag.common.words import shown
from ordag.errors import DataError

ON_THE_GRID = 0.05
"""The share of a step that a time may be off the grid."""

MOST_STEPS = 2.0**52
"""Steps up to which they can be counted."""

DAY = 86_400.0

PERIODS = {"month": (12,), "quarter": (4,), "day": (7,), "weekday": (5,), "hour": (24,), "": (4, 7, 12, 24)}
"""Seasons that are looked for, by the step."""

UNITS = ((365.25 * DAY, "year"), (7 * DAY, "week"), (DAY, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


class Steps(NamedTuple):
    """The number of the step of every row. step: what one is, in words; "" where times are plain numbers or the order of the rows.

    irregular: times lie on no grid, so the rows of a series are numbered in their order.
    """

    number: Indices
    step: str = ""
    irregular: bool = False

    @property
    def periods(self) -> tuple[int, ...]:
        """The seasons to look for."""
        return PERIODS.get(self.step, ())


def steps_of(values: Array, levels: Sequence[str] | None, series: Indices, name: str) -> Steps:
    """Return the steps of times: numbers, or the numbers of `levels`, which are dates. series: the number of the series of every row."""
    if levels is None:
        if _are_months(values):
            whole = values.astype(np.intp)
            return _counted_months(whole // 100 * 12 + whole % 100 - 1, series)
        return _on_a_grid(values, series, "")
    stamps = _stamps(levels, name)
    if isinstance(stamps, tuple):
        return _counted_months(stamps[0][values.astype(np.intp)], series)
    times = stamps[values.astype(np.intp)]
    days = times.astype("datetime64[D]")
    whole_days = bool((days == times).all())
    months = times.astype("datetime64[M]").astype(np.intp)
    of_month = (days - days.astype("datetime64[M]")).astype(np.intp)
    last = (days + np.timedelta64(1, "D")).astype("datetime64[M]") != days.astype("datetime64[M]")
    if whole_days and len(np.unique(months)) > 1 and (np.ptp(of_month) == 0 or last.all()):
        return _counted_months(months, series)
    if whole_days and np.is_busday(days).all():
        steps = _differences(days.astype(np.intp), series)
        if len(steps) and np.median(steps) == 1 and (steps == 3).any():
            first = days.min()
            return Steps(np.asarray(np.busday_count(first, days), np.intp), "weekday")
    seconds = (times - times.min()).astype(np.float64) / 1e6
    return _on_a_grid(seconds, series, "second")


def _are_months(values: Array) -> bool:
    """Return whether numbers are months such as 199912: consecutive ones are 89 apart at the end of a year."""
    if not len(values) or (values != np.rint(values)).any() or values.min() < 100_001 or values.max() > 999_912:
        return False
    month = values % 100
    return bool(((month >= 1) & (month <= 12)).all() and (np.diff(np.unique(values)) == 89.0).any())


def _stamps(levels: Sequence[str], name: str) -> np.ndarray[tuple[int], np.dtype[np.datetime64]] | tuple[Indices]:
    """Return the dates of texts, or the months of quarters in a tuple."""
    quarters = [re.fullmatch(r"(\d{4})[-/ .]?[Qq]([1-4])", one) for one in levels]
    if quarters and all(quarters):
        return (np.array([int(one[1]) * 12 + 3 * (int(one[2]) - 1) for one in quarters if one]),)
    found = []
    for text in levels:
        plain = re.sub(r"(Z|[+-]\d{2}:?\d{2})$", "", text.strip()) if ":" in text else text.strip()
        plain = re.sub(r"^(\d{4})/(\d{1,2})(?:/(\d{1,2}))?", _with_dashes, plain)
        try:
            found.append(np.datetime64(plain.replace(" ", "T", 1), "us"))
        except ValueError:
            raise DataError(
                f"Column {shown(name)} holds {short(text)}, which is no time: write times as numbers, or as dates such as 2001-01-31, "
                "2001-01, 2001Q1 or 2001-01-31 12:00.",
                ["time"],
            ) from None
    return np.array(found, dtype="datetime64[us]")


def _with_dashes(found: re.Match[str]) -> str:
    return "-".join(part if len(part) == 4 else part.zfill(2) for part in found.groups() if part)


def _differences(values: Array | Indices, series: Indices) -> Array:
    """Return the differences of following times of each series that are not 0."""
    order = np.lexsort((values, series))
    steps = np.diff(values[order]).astype(np.float64)[np.diff(series[order]) == 0]
    return np.asarray(steps[steps > 0.0])


def _counted_months(months: Indices, series: Indices) -> Steps:
    found = _on_a_grid(months.astype(np.float64), series, "month")
    names = {1: "month", 3: "quarter", 12: "year"}
    steps = _differences(found.number, series)
    each = _usual(_differences(months, series)) if len(steps) else 1.0
    # whole years from the beginning of time, so that the season of a month does not depend on the first one
    index = found.number if found.irregular else months // max(round(each), 1)
    return Steps(np.asarray(index, np.intp), names.get(round(each), f"{each:g} months"), found.irregular)


def _usual(steps: Array) -> float:
    """Return the most frequent of positive steps, as it is where rounding does not matter."""
    middle = float(np.median(steps))
    _, place, counts = np.unique(np.round(steps / middle, 3), return_inverse=True, return_counts=True)
    return float(np.median(steps[place.reshape(-1) == int(counts.argmax())]))


def _on_a_grid(values: Array, series: Indices, unit: str) -> Steps:
    """Return the steps of numbers: the most frequent difference is one, else the least, else rows are numbered in their order."""
    steps = _differences(values, series)
    if not len(steps):
        return Steps(np.zeros(len(values), np.intp))
    for step in (_usual(steps), float(steps.min())):
        index = (values - values.min()) / step
        near = np.rint(index)
        if index.max() < MOST_STEPS and (np.abs(index - near) <= ON_THE_GRID).all() and _keeps_apart(near, values):
            first = 0 if unit else round(float(values.min()) / step)  # the season of a number is that of the number
            return Steps(near.astype(np.intp) + first, _named(step) if unit == "second" else unit)
    return Steps(_numbered(values, series), irregular=True)


def _keeps_apart(index: Array, values: Array) -> bool:
    return len(np.unique(index)) == len(np.unique(values))


def _numbered(values: Array, series: Indices) -> Indices:
    """Number the times of each series in their order; equal times have the same number."""
    order = np.lexsort((values, series))
    new = np.diff(values[order], prepend=-np.inf) != 0.0
    first = np.diff(series[order], prepend=-1) != 0
    count = np.cumsum(new | first)
    numbers = np.empty(len(values), np.intp)
    numbers[order] = count - np.maximum.accumulate(np.where(first, count, 0))
    return numbers


def _named(seconds: float) -> str:
    for size, name in UNITS:
        if seconds >= size * (1.0 - 1e-9):
            times = seconds / size
            return name if abs(times - 1.0) < 0.02 else f"{times:.3g} {name}s"
    return f"{seconds:.3g} seconds"
