"""Roles of columns: variables enter the graph; row names, times, categories, constants and derived columns are set aside, and said."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import counted, joined, number, shown
from ordag.data.holes import is_nearly_empty
from ordag.data.sentinels import Sentinel

GIVEN_ROLES = ("variable", "id", "time", "category")
"""Roles that a user can give to a column. "covariate" has a setting of its own, `adjust`; "constant", "derived" and "unusable" are found; a
column that was not asked for is "dropped"."""

FEW_VALUES = 7
"""Different whole numbers up to which a column may hold codes."""

MOST_LEVELS = 500
"""Values of a category up to which an answer offers to hold it fixed."""

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

ROUNDING = 16 * float(np.finfo(float).eps)
"""Share of the terms of a linear relation that may be left of it where it is exact."""

MOST_TERMS = 8
"""Columns that may make up another: relations of more are those of simulated and ill-conditioned tables."""

WIDEST_RELATION = 400
"""Columns up to which linear relations are searched."""


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


class Relation(NamedTuple):
    """An exact linear relation: a column that others make up, by their positions, with coefficients, the constant, and words for it."""

    column: int
    terms: dict[int, float]
    constant: float
    words: str

    def holds(self, column: Callable[[int], Array]) -> bool:
        """Return whether the relation holds in all rows up to rounding, ignoring rows with missing values."""
        parts = [c * column(j) for j, c in self.terms.items()]
        value = column(self.column)
        with np.errstate(invalid="ignore"):
            left = np.abs(value - sum(parts) - self.constant)
            size = np.abs(value) + sum(np.abs(part) for part in parts) + abs(self.constant)
            return not bool((left > len(parts) * ROUNDING * size).any())


def relations(names: Sequence[str], column: Callable[[int], Array], fixed: Sequence[bool]) -> list[Relation]:
    """Return the columns that up to `MOST_TERMS` others make up exactly; `fixed` ones are kept where another can go.

    `column` returns the rows of the column at a position.

    A relation is found in a few hundred rows, and holds in all of them. Any column is a combination of nearly as many as there are rows, so
    in fewer rows only copies are found.
    """
    p = len(names)
    if not 2 <= p <= WIDEST_RELATION:
        return []
    step = max(1, len(column(0)) // max(500, 3 * p))
    rows = np.column_stack([column(j)[::step] for j in range(p)])
    rows = rows[np.isfinite(rows).all(axis=1), :]
    if len(rows) < JUDGED_ROWS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
        centred = rows - mean
        length = np.sqrt((centred**2).sum(axis=0))
    left = [j for j in range(p) if np.isfinite(length[j]) and length[j] > 0.0]
    first = _first_made_up if len(rows) >= p + 2 else _first_copy
    found: list[Relation] = []
    while len(left) > 1:
        b = first(centred[:, left] / length[left])
        if b is None:
            break
        k = len(b)
        terms = {left[i]: float(b[i] / length[left[i]] * length[left[k]]) for i in range(k) if abs(b[i]) > 1e-7}
        out = left[k]
        if terms:
            one = _made_up(names, {**terms, left[k]: -1.0}, mean, fixed)
            is_sum = all(c == 1.0 for c in one.terms.values())
            if (len(terms) <= MOST_TERMS or is_sum) and one.holds(column):
                found.append(one)
                out = one.column
        left.remove(out)  # also one of which hardly anything is left, so that the search goes on behind it
    return found


def _first_made_up(rows: Array) -> Array | None:
    """Return the weights of the columns before the first that they make up; None if there is none. The columns have length 1."""
    R = np.asarray(np.linalg.qr(rows, mode="r"))
    small = np.flatnonzero(np.abs(np.diagonal(R)) < 1e-9)
    if not len(small):
        return None
    k = int(small[0])
    return np.asarray(np.linalg.lstsq(R[:k, :k], R[:k, k], rcond=None)[0])


def _first_copy(rows: Array) -> Array | None:
    """Return the same for the first column that is another, up to its sign."""
    R = rows.T @ rows
    pairs = np.argwhere(np.triu(np.abs(R) > 1.0 - 1e-12, 1).T)
    if not len(pairs):
        return None
    k, i = pairs[0].tolist()
    return np.asarray(np.where(np.arange(k) == i, R[k, i], 0.0))


def follows_clock(names: Sequence[str], column: Callable[[int], Array], clock: tuple[str, Array]) -> dict[int, str]:
    """Return the columns that are an exact linear function of a time, which counts regularly, with words for each."""
    name, time = clock
    found: dict[int, str] = {}
    if len(time) < COUNTED_ROWS or not np.isfinite(time).all() or time[0] == time[-1]:
        return found
    for j in range(len(names)):
        values = column(j)
        slope = (values[-1] - values[0]) / (time[-1] - time[0])
        if not slope or not np.isfinite(slope):
            continue
        slope = _rounded(float(slope))
        constant = _rounded(float(values[0] - slope * time[0]))
        if Relation(1, {0: slope}, constant, "").holds(lambda k, values=values: (time, values)[k]):  # type: ignore[misc]
            found[j] = _relation([name], {0: slope}, constant)
    return found


def _made_up(names: Sequence[str], weights: dict[int, float], mean: Array, fixed: Sequence[bool]) -> Relation:
    """Choose the column of a relation Σ w x = 0 that the others make up: their sum, else the last."""
    choices = []
    for k, one in enumerate(weights):
        terms = {j: _rounded(-w / weights[one]) for j, w in weights.items() if j != one}
        is_sum = len(terms) > 1 and all(c == 1.0 for c in terms.values())
        choices.append((not fixed[one], is_sum, k, one, terms))
    *_, out, terms = max(choices, key=lambda choice: choice[:3])
    constant = float(mean[out] - sum(c * mean[j] for j, c in terms.items()))
    size = max(abs(float(mean[out])), max(abs(c * float(mean[j])) for j, c in terms.items()))
    constant = 0.0 if abs(constant) <= 1e-12 * size else _rounded(constant)
    return Relation(out, terms, constant, _relation(names, terms, constant))


def _rounded(value: float) -> float:
    """Return the short number that this one is up to rounding, if there is one."""
    near = float(f"{value:.9g}")
    return near if abs(near - value) <= 1e-11 * abs(value) else value


def _relation(names: Sequence[str], terms: dict[int, float], constant: float) -> str:
    if len(terms) > 4:
        some = ", ".join(shown(names[j]) for j in list(terms)[:3])
        what = "the sum" if all(c == 1.0 for c in terms.values()) and not constant else "a linear combination"
        return f"{what} of {some} and {len(terms) - 3} more"
    if list(terms.values()) == [1.0] and not constant:
        return f"a copy of {shown(names[next(iter(terms))])}"
    parts = [
        *((c, _term(abs(c), names[j])) for j, c in terms.items()),
        *([(constant, number(abs(constant)))] if constant else []),
    ]
    parts.sort(key=lambda part: part[0] < 0.0)  # "1 − a", not "−a + 1"
    text = "".join(f" {'+' if c > 0 else '−'} {words}" for c, words in parts)
    return f"= {text[3:] if parts[0][0] > 0 else text[1:].replace(' ', '', 1)}"


def _term(c: float, name: str) -> str:
    return shown(name) if c == 1.0 else f"{number(c)} × {shown(name)}"


def confirmed(suspects: Iterable[Suspect], names: Sequence[str], whole: Array, R: Array) -> list[ColumnRole]:
    """Return the suspected columns that all rows show to be constant, or made up by others.

    R is the root of the centred scatter of the columns called `names`; `whole` are the lengths of these, with their means.
    """
    place = {name: j for j, name in enumerate(names)}
    found = []
    for one in suspects:
        j = place[one.role.name]
        terms = {place[name]: c for name, c in one.terms.items()}
        left = R[:, j] - sum(c * R[:, k] for k, c in terms.items())
        size = whole[j] + sum(abs(c) * whole[k] for k, c in terms.items())
        if np.linalg.norm(left) <= max(len(terms), 1) * ROUNDING * size:
            found.append(one.role)
    return found


MOST_NAMED = 12
"""Columns that the sentence on what was set aside names."""


def set_aside_sentence(columns: Iterable[ColumnRole], *, hints: bool = True) -> str:
    """Say which columns were set aside and why, and with `hints` what uses them; "" if none was."""
    columns = list(columns)
    aside = [one for one in columns if one.is_set_aside]
    subject, acted = RowColumns.among(aside).subject, _experiment(columns)
    able = [
        one.name
        for one in aside
        if one.role == "category"
        and one.values is not None
        and one.values <= MOST_LEVELS
        and one.name not in (subject, acted)
    ]
    it, them = ("it", "it") if len(able) == 1 else ("one", "them")
    hint = f"adjust={able!r} holds {them} fixed, cause={able[:1]!r} puts {it} into the graph" if hints and able else ""
    parts = []
    for one in aside[:MOST_NAMED]:
        reason = f"{one.reason}; {hint}" if hint and able == [one.name] else one.reason
        is_row_names = one.reason == ROW_NAMES_REASON
        parts.append(ROW_NAMES_REASON if is_row_names else f"{shown(one.name)}{f' ({reason})' if reason else ''}")
    if len(aside) > MOST_NAMED:
        parts.append(f"{len(aside) - MOST_NAMED} more columns")
    more = f". {hint}" if len(able) > 1 and hint else ""
    cluster = next((one.name for one in columns if one.role == "cluster"), None)
    more += _row_hints(aside, cluster) if hints else ""
    if hints and acted is not None:
        more += f". experiment={acted!r} takes its labels for the variables that were acted on"
    return f"Set aside: {'; '.join(parts)}{more}" if aside else ""


def _experiment(columns: Sequence[ColumnRole]) -> str | None:
    """Return the column set aside whose labels are names of variables, as where experiments acted on them; None without one."""
    names = {one.name for one in columns if one.is_variable}
    for one in columns:
        levels = one.glance.levels if one.is_set_aside and one.glance is not None else ()
        labels = {part.strip() for text, _ in levels for part in text.split(";")} - {"", "observational"}
        if labels and labels <= names:
            return one.name
    return None


ROW_NAMES_REASON = "row names"
ORDERS_ROWS = "orders the rows"
"""Why a column of times is not a variable where the user names it for that."""

YEARS = "years"

REPEATED_CODES = "codes that repeat"
"""Why a column of ids may name clusters of rows."""


MANY_SUBJECTS = 30
"""Values of a category from which on they are more likely subjects than kinds."""


class RowColumns(NamedTuple):
    """Columns set aside that may say what rows are: whose they are, and when they were measured; whether times repeat."""

    subject: str | None = None
    time: str | None = None
    repeats: bool = False

    @classmethod
    def among(cls, columns: Iterable[ColumnRole]) -> RowColumns:
        """Find them: codes that repeat name subjects, and so does the category with most values, if these are many, if its name says so,
        or if times repeat."""
        aside = [one for one in columns if one.is_set_aside]
        time = next((one for one in aside if one.role == "time" and one.reason != PART_OF_DATE), None)
        repeats = time is not None and time.values is not None
        subject = next((one.name for one in aside if one.role == "id" and one.reason == REPEATED_CODES), None)
        if subject is None:
            labels = [
                one
                for one in aside
                if one.role == "category"
                and one.values is not None
                and (_is_panel(one, time) or one.values >= MANY_SUBJECTS or ID_NAMES.fullmatch(one.name.strip()))
            ]
            most = max(labels, key=lambda one: one.values or 0) if labels else None
            subject = None if most is None else most.name
            if most is not None and repeats and not _is_panel(most, time):
                time = None  # a time would occur twice in one of these groups
        return cls(subject, None if time is None else time.name, repeats)


def _is_panel(subject: ColumnRole, time: ColumnRole | None) -> bool:
    """Return whether the times that repeat may each occur once in every category: there are no more rows than pairs of both."""
    if time is None or time.values is None or subject.values is None:
        return False
    return subject.glance is None or subject.glance.rows <= subject.values * time.values


def _row_hints(aside: Sequence[ColumnRole], cluster: str | None) -> str:
    """Offer what uses a column that names subjects or times, and a column of numbers of which nothing else is said.

    cluster: the column that was given for subjects.
    """
    subject, time, repeats = RowColumns.among(aside)
    others = [
        one.name
        for one in aside
        if one.is_number
        and one.name.strip()
        and one.name not in (subject, time)
        and (one.role in ("id", "time") or (one.role == "category" and one.values is None))
        and one.reason != ROW_NAMES_REASON
    ]
    said = []
    if subject is not None:
        said.append(f"cluster={subject!r} learns within its values")
    if time is not None and subject is not None and repeats:
        said.append(f"with time={time!r} and lags=1 beside it, what follows what in each")
    elif time is not None:
        apart = (
            f" in each {shown(cluster)}" if cluster else ", if cluster=… names the column that tells the series apart"
        )
        apart = apart if repeats else ""
        said.append(f"time={time!r} with lags=1 learns what follows what{apart}")
    if others:
        said.append(f"role={ {others[0]: 'variable'}!r} uses {shown(others[0])} all the same")
    return f". {'; '.join(said)}" if said else ""


def few_values_sentence(columns: Iterable[ColumnRole], category: str = "category=[…] (--category)") -> str:
    """Name the variables with two or few values, and say what their arrows mean; "" if there are none."""
    columns = [one for one in columns if one.is_variable and one.values is not None]
    two = [shown(one.name) for one in columns if one.values == 2]
    few = [shown(one.name) for one in columns if one.values != 2]
    sentences = []
    if two:
        one = len(two) == 1
        sentences.append(
            f"{joined(two, 6)} {'has' if one else 'have'} two values: an arrow into {'it' if one else 'such a column'} changes how "
            "often its second value occurs"
        )
    if few:
        sentences.append(
            f"{joined(few, 6)} {'has' if len(few) == 1 else 'have'} few values: declare codes without an order with {category}"
        )
    return "; ".join(sentences)
