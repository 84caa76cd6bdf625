"""Roles of columns: variables enter the graph; row names, times, categories, constants and derived columns are set aside, and said."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import counted, number
from ordag.data.holes import is_nearly_empty
from ordag.data.sentinels import Sentinel

GIVEN_ROLES = ("variable", "id", "time", "category")
"""Roles that a user can give to a column. "covariate" has a setting of its own, `adjust`; "constant", "derived" and "unusable" are found; a
column that was not asked for is "dropped"."""

FEW_VALUES = 7
"""Different whole numbers up to which a column may hold codes."""

COUNTED_ROWS = 8
"""Rows from which on 1, 2, 3, … numbers the rows; in a shorter table it may be a dose or a size."""

MOST_YEARS = 0.8
"""Share of the values of a column called year that are years of our time."""

JUDGED_ROWS = 5
"""Rows from which on a column may be found constant, or made up by others."""

LATER_PIECE = 1000
"""Number from which on the rows of a later piece of a table may be counted; 58, 59, 60, … may be heights."""

SAMPLED_ROWS = 10_000
"""Rows whose different values are counted where a few rows have shown few."""

ID_NAMES = re.compile(
    r"(?:.*[\W_])?(?:id|ids|uid|uuid|guid|pid|rowid|rownames?|row_names?|subject|subj|patient|participant|respondent|obs|obsno|obsnum|"
    r"observation|row|rownum|seqn|caseid|idnum|idno|psid)(?:[\W_]?(?:no|nr|num|number|id|code))?\.?",
    re.IGNORECASE,
)
CAMEL_ID = re.compile(r".*[a-z](?:Id|ID)")
NUMBER_NAMES = re.compile(r"(?:no|nr|num|number|n°|index|idx|case|serial|seq|sequence)\.?", re.IGNORECASE)
CODE_NAMES = re.compile(
    r"(?:.*[\W_])?(?:code|key|zip|zipcode|postcode|fips|sic|naics|isbn|oclc|state|county|country|region|province|village|household|"
    r"hospital|provider|census|provnum|firm|company|industry|sector|site|plot|tree)",
    re.IGNORECASE,
)
ROW_NAMES = re.compile(r"|unnamed: ?0|rownames?|row[._ ]names?", re.IGNORECASE)
YEAR_NAMES = re.compile(r"(?:.*[\W_])?(?:year|yr|jahr|annee|fyear|yyyy)s?(?:[\W_].*)?", re.IGNORECASE)
TIME_NAMES = re.compile(
    r"(?:.*[\W_])?(?:year|yr|date|time|month|week|day|quarter|hour|minute|period|tick|step|t|wave|timestamp|epoch)s?",
    re.IGNORECASE,
)
DATE_NAMES = re.compile(r"(?:.*[\W_])?(?:date|datetime|timestamp)s?", re.IGNORECASE)
CALENDAR = {
    re.compile(r"(?:.*[\W_])?(?:month|mon|mnth)", re.IGNORECASE): (1, 12),
    re.compile(r"(?:.*[\W_])?(?:day|mday|dayofmonth|day_of_month)", re.IGNORECASE): (1, 31),
    re.compile(r"(?:.*[\W_])?(?:weekday|wday|dayofweek|day_of_week)", re.IGNORECASE): (0, 7),
    re.compile(r"(?:.*[\W_])?(?:quarter|qtr)", re.IGNORECASE): (1, 4),
    re.compile(r"(?:.*[\W_])?hour", re.IGNORECASE): (0, 24),
    re.compile(r"(?:.*[\W_])?(?:week|weeknum|isoweek)", re.IGNORECASE): (1, 53),
}
"""Parts of a date, each with its least and its greatest number."""

DATE = re.compile(r"\s*(?:\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-/.])\d{1,2}\2\d{2,4})(?:[T ]\d.*)?\s*")

PART_OF_DATE = "part of a date"
REGULAR = "a regular counter"
"""The reason of a time that rises by the same from row to row."""

NUMERAL = re.compile(r"\s*[-+]?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][-+]?\d+)?\s*")
"""A number written as text; one with zeros in front is a code."""


class Glance(NamedTuple):
    """What the rows that were looked at show of a column: their number, those without a value, and how the values are distributed.

    counts: numbers between `least` and `most` in bins of the same width. levels: of text, the commonest values with their rows.
    """

    rows: int
    missing: int
    least: float | None = None
    most: float | None = None
    counts: tuple[int, ...] = ()
    levels: tuple[tuple[str, int], ...] = ()


BINS = 16
"""Of a little histogram."""

MOST_GLANCED = 200
"""Columns beside the variables that are glanced at."""


def glance_at_numbers(column: Array) -> Glance:
    """Return the glance at a column of numbers."""
    present = column[np.isfinite(column)]
    if not len(present):
        return Glance(len(column), len(column))
    least, most = float(present.min()), float(present.max())
    return Glance(len(column), int(np.isnan(column).sum()), least, most, counts_between(present, least, most))


def counts_between(values: Array, least: float, most: float) -> tuple[int, ...]:
    """Count values between two ends in bins of the same width, more bins for more values; all in one where the ends are not apart."""
    bins = min(BINS, max(5, math.ceil(math.sqrt(len(values)))))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = (values / 2.0 - least / 2.0) / (most / 2.0 - least / 2.0)
    if not np.isfinite(share).all():
        return (len(values),)
    place = np.clip((share * bins).astype(np.intp), 0, bins - 1)
    return tuple(np.bincount(place, minlength=bins).tolist())


@dataclass(frozen=True)
class ColumnRole:
    """What a column of a table is: its role, the reason in a few words, how many different values it has where these are few, whether
    these are numbers, which of a variable's may stand for missing ones, and of other columns a glance at their values."""

    name: str
    role: str
    reason: str = ""
    values: int | None = None
    is_number: bool = True
    sentinels: tuple[Sentinel, ...] = ()
    glance: Glance | None = None

    @property
    def is_variable(self) -> bool:
        return self.role == "variable"

    @property
    def is_set_aside(self) -> bool:
        """Whether the column was left out unasked."""
        return self.role in ("id", "time", "category", "constant", "derived", "unusable") and self.reason != ORDERS_ROWS

    def to_dict(self) -> dict[str, Any]:
        """Return the role in plain Python values."""
        said = {"column": self.name, "role": self.role, "reason": self.reason, "values": self.values}
        return said | ({"sentinels": [one._asdict() for one in self.sentinels]} if self.sentinels else {})


@dataclass(frozen=True)
class Suspect:
    """A variable that is constant, or made up by others, in the rows that were looked at: the role it then has, and the coefficients."""

    role: ColumnRole
    terms: Mapping[str, float] = field(default_factory=dict)


class Levels(NamedTuple):
    """What a column of text holds in the rows that were looked at: different values, rows that have one, and the first few of them.

    rows: those that were looked at. common: the commonest values, with their rows.
    """

    distinct: int
    present: int
    first: Sequence[str] = ()
    rows: int = 0
    common: Sequence[tuple[str, int]] = ()


MOST_COMMON = 6
"""Values of a text column in `Levels.common`."""


def role_of_text(name: str, levels: Levels, holds: str = "text", *, whole: bool) -> ColumnRole:
    """Return the role of a column of text: a category, dates, or an id where (nearly) every row has a value of its own.

    whole: the rows that were looked at are all of the table.
    """
    distinct, present, first = levels[:3]
    if not distinct:
        return ColumnRole(name, "constant", "no value at all") if whole else ColumnRole(name, "category", holds)
    if first and all(map(DATE.fullmatch, first)):
        return ColumnRole(name, "time", "dates", distinct if distinct < present else None)
    if ROW_NAMES.fullmatch(name.strip()):
        return ColumnRole(name, "id", "row names")
    if holds == "text" and distinct > max(FEW_VALUES, present // 2) and first and all(map(NUMERAL.fullmatch, first)):
        return ColumnRole(name, "id", "numbers written as text: convert them to learn from them")
    if present > 2 and distinct == present:
        some = "" if whole else f" of the first {levels.rows:,}"
        return ColumnRole(name, "id", f"{holds}, different in every row{some}")
    if distinct > max(20, present // 2):
        return ColumnRole(name, "id", f"{holds}, with {distinct:,} different values in {present:,} rows")
    if distinct == 1 and whole:
        some = " that has one" if present < levels.rows else ""
        return ColumnRole(name, "constant", f"the same value in every row{some}")
    reason = f"{counted(distinct, 'value')}{'' if whole else ' or more'}" if holds == "text" else holds
    return ColumnRole(name, "category", reason, distinct)


def role_of_numbers(name: str, column: Array, *, named: bool = True) -> ColumnRole:
    """Return the role of a column of numbers by its name and by these rows, which begin the table or are all of it.

    `named`: the name is that of the table, not one that Ordag has given. A constant may vary in later rows.
    """
    start = column[:SAMPLED_ROWS]
    present = start[~np.isnan(start)]
    enough = len(column) >= JUDGED_ROWS
    if not len(present) and len(column) and np.isnan(column).all():
        return ColumnRole(name, "constant", "no value at all")
    values = int((~np.isnan(column)).sum())
    if enough and is_nearly_empty(values, len(column)):
        return ColumnRole(name, "constant", f"{values:,} of {len(column):,} values present")
    if enough and len(present) > 1 and (present == present[0]).all() and _always(column, present[0]):
        return ColumnRole(name, "constant", f"always {number(float(present[0]))}")
    bare = name.strip()
    if named and ROW_NAMES.fullmatch(bare):
        return ColumnRole(name, "id", "row names")
    complete = len(present) == len(start) > 0
    role, reason = _by_name(bare, present, complete) if named else ("variable", "")
    if role == "variable" and enough and complete and _counts(column):
        role, reason = ("time", REGULAR) if named and _is_time(bare) else ("id", "it numbers the rows")
    few = _few(column) if role == "variable" else None
    if (role == "time" and reason == YEARS) or role == "category":
        distinct = len(np.unique(present))
        few = distinct if distinct < len(present) else None
    return ColumnRole(name, role, reason, few)


def _always(column: Array, value: float) -> bool:
    return bool(((column == value) | np.isnan(column)).all())


def _is_time(name: str) -> bool:
    return bool(TIME_NAMES.fullmatch(name) or YEAR_NAMES.fullmatch(name))


def _counts(column: Array) -> bool:
    """Return whether the values are successive whole numbers in the order of the rows."""
    if len(column) < COUNTED_ROWS or not (column[0] in (0.0, 1.0) or column[0] >= LATER_PIECE):
        return False
    return bool((np.diff(column[:COUNTED_ROWS]) == 1.0).all() and (np.diff(column) == 1.0).all())


def _by_name(name: str, present: Array, complete: bool) -> tuple[str, str]:
    """Return the role of a column of varying numbers, and the reason, by its name and its values."""
    if not len(present) or not np.isfinite(present).all():
        return "variable", ""
    steps = np.diff(present) if complete and len(present) > 2 else np.zeros(1)
    if _is_time(name) and steps[0] != 0.0 and np.ptp(steps) <= 0.02 * abs(steps[0]):
        return "time", REGULAR
    if DATE_NAMES.fullmatch(name):
        return "time", "dates as numbers"
    if (present != np.floor(present)).any():
        return "variable", ""
    distinct = len(np.unique(present))
    unique = distinct == len(present)
    if ID_NAMES.fullmatch(name) or CAMEL_ID.fullmatch(name):
        return "id", "codes, different in every row" if unique else REPEATED_CODES
    numbers = unique and len(present) >= JUDGED_ROWS and np.ptp(present) < 1.5 * len(present)
    if numbers and NUMBER_NAMES.fullmatch(name):
        return "id", "codes, different in every row"
    if YEAR_NAMES.fullmatch(name) and _is_year(name, present):
        return "time", YEARS
    if distinct > FEW_VALUES and present.min() >= 0.0 and CODE_NAMES.fullmatch(name):
        if unique:
            return "id", "codes, different in every row"
        if distinct > len(present) // 2:
            return "id", f"codes, with {distinct:,} different values in {len(present):,} rows"
        return "category", counted(distinct, "code")
    least, most = present.min(), present.max()
    if any(pattern.fullmatch(name) and low <= least and most <= high for pattern, (low, high) in CALENDAR.items()):
        return "time", PART_OF_DATE
    return "variable", ""


def _is_year(name: str, values: Array) -> bool:
    bare = name.lower() in ("year", "yr", "jahr")  # an age in years may lie between 40 and 99
    recent = (values >= 1500) & (values <= 2100)
    if bare and recent.mean() >= MOST_YEARS and values.max() <= 2100:  # a few may be older
        return True
    return bool(recent.all() or (bare and ((values >= 40) & (values <= 99)).all()))


def _few(column: Array) -> int | None:
    """Return the number of different values if there are two, or few whole numbers; else None."""
    start = np.unique(column[:200])
    if len(start[~np.isnan(start)]) > FEW_VALUES:
        return None
    some = column[:: -(-len(column) // SAMPLED_ROWS)] if len(column) else column
    values = np.unique(some[~np.isnan(some)])
    whole = len(values) <= FEW_VALUES and np.isfinite(values).all() and (values == np.floor(values)).all()
    return len(values) if len(values) == 2 or (whole and len(values) > 2) else None


ROW_NAMES_REASON = "row names"
ORDERS_ROWS = "orders the rows"
"""Why a column of times is not a variable where the user names it for that."""

YEARS = "years"

REPEATED_CODES = "codes that repeat"
"""Why a column of ids may name clusters of rows."""
