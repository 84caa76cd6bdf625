"""`Reading`: the settings by which a table is read, and the remedies that an error on a table offers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from ordag.common.checks import as_list, as_number, check_choice, is_flag, short
from ordag.common.settings import Settings, choice, declared, flag, setting, whole
from ordag.common.words import did_you_mean, listed, option_words, shown
from ordag.data.roles import GIVEN_ROLES
from ordag.errors import Remedy, SettingError

Missing = Literal["auto", "em", "drop", "refuse"]

CHANGES = ("log", "standardise")
"""Changes of a column other than a factor."""

COLUMN_LISTS = ("columns", "drop", "category", "adjust", "cause", "leave_out")
"""Settings that are lists of names of columns."""

TEXT_LAYOUT = ("separator", "encoding", "decimal", "thousands", "header", "na")
"""Settings of text files."""

ROW_COLUMNS = ("experiment", "environment", "cluster", "time", "weights")
"""Settings that name a column which says what rows are."""

IN_TIME = ("time", "lags", "difference", "season")
"""Settings that take rows in the order of time."""

PARTS = ("sheet", "table")
"""Settings of files with several tables."""

LAYOUT = (*TEXT_LAYOUT, *PARTS)

PLAIN_NUMBER = re.compile(r"[+-]?\d+\.?\d*(?:e[+-]?\d+)?", re.IGNORECASE)

FEWEST_COLUMNS = 2
"""Columns that a graph needs."""


def _as_given(_: str, value: Any) -> Any:
    """Leave the check to the reader, which has the table at hand."""
    return value


def _header(name: str, value: Any) -> bool:
    if not is_flag(value):
        raise SettingError(f"{name}={short(value)}: say True, or False if the first line is data already.")
    return bool(value)


def _missing(name: str, value: Any) -> Any:
    words = get_args(Missing)
    if isinstance(value, str) and value == "error":
        raise SettingError(f"{name}='error' is now called 'refuse': say {name}='refuse' (--missing refuse).", [name])
    check_choice(name, value, words, f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}")
    return value


def _transform(name: str, value: Any) -> dict[str, float | str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise SettingError(
            f"{name}={short(value)}: give a mapping from columns to changes, such as {{'height': 100, 'income': 'log'}}."
        )
    return {str(column): _change(name, str(column), change) for column, change in value.items()}


def _change(name: str, column: str, change: Any) -> float | str:
    if isinstance(change, str) and change in CHANGES:
        return change
    factor = as_number(change)
    if not math.isfinite(factor) or factor == 0.0:
        hint = did_you_mean(change, CHANGES) if isinstance(change, str) else ""
        raise SettingError(
            f"{name} of column {column!r} is {short(change)}: give a factor, which is a number other than 0, or 'log' or "
            f"'standardise'.{hint}",
            [name],
        )
    return factor


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Return the names of columns, each once."""
    if isinstance(value, str):
        raise SettingError(
            f"{name}={short(value)} is a single text: give a list of names, {name}=[{short(value)}].", [name]
        )
    message = f"{name}={short(value)}: give a list of names of columns."
    return tuple(dict.fromkeys(str(one) for one in as_list(() if value is None else value, message)))


def _cells(name: str, value: Any) -> tuple[str, ...] | None:
    """Return cells as they are written; numbers are given as numbers or as text."""
    if value is None:
        return None
    if isinstance(value, str):
        raise SettingError(f"{name}={short(value)} is a single text: give a list, {name}=[{short(value)}].", [name])
    cells = as_list(value, f"{name}={short(value)}: give a list of cells.")
    return tuple(dict.fromkeys(f"{one:g}" if isinstance(one, float) else str(one).strip() for one in cells)) or None


def _roles(name: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingError(
            f"{name}={short(value)}: give a mapping from columns to roles, such as {{'year': 'variable'}}.", [name]
        )
    for column, role in value.items():
        if role not in GIVEN_ROLES:
            hint = did_you_mean(role, GIVEN_ROLES) if isinstance(role, str) else ""
            raise SettingError(
                f"{name} of column {str(column)!r} is {short(role)}: give {', '.join(GIVEN_ROLES[:-1])} or {GIVEN_ROLES[-1]}.{hint}",
                [name],
            )
    return {str(column): role for column, role in value.items()}


def roles_from_text(texts: Sequence[str]) -> dict[str, str]:
    """Parse roles such as `year=time`, split at the last = of each."""
    roles: dict[str, str] = {}
    for text in texts:
        column, _, role = text.rpartition("=")
        if not column or not role:
            raise SettingError(f"role={text!r}: write the column, =, and its role, such as year=time.", ["role"])
        if roles.setdefault(column, role) != role:
            raise SettingError(f"role={text!r}: {column!r} has a role already; a column has one.", ["role"])
    return _roles("role", roles)


def changes_from_text(texts: Sequence[str]) -> dict[str, float | str]:
    """Parse changes such as `height=100` and `income=log`, split at the last = of each."""
    changes: dict[str, float | str] = {}
    for text in texts:
        column, _, typed = text.rpartition("=")
        if not column or not typed:
            raise SettingError(
                f"transform={text!r}: write the column, =, and its change, such as height=100 or income=log."
            )
        if column in changes:
            raise SettingError(f"transform={text!r}: {column!r} has a change already; a column has one.")
        try:
            change: float | str = float(typed)
        except ValueError:
            change = typed
        changes[column] = _change("transform", column, change)
    return changes


def _one_name(name: str, value: Any) -> str | None:
    """Return the name of one column."""
    if value is None or isinstance(value, str):
        return value
    raise SettingError(f"{name}={short(value)}: give the name of one column.", [name])


def _two_settings(name: str, one: str, other: str) -> SettingError:
    return SettingError(f"{one} and {other} both name {name!r}: say one thing of a column.", [one, other])


@dataclass(frozen=True)
class Reading(Settings):
    """Which columns of a table, what they are, in which units, which rows, and the layout of a text file."""

    part: ClassVar[bool] = False
    """Whether the table is one part of a larger one, in which a column may be constant that is not elsewhere."""

    columns: Sequence[str] | None = setting(
        None,
        _as_given,
        "names of the columns that are variables; by default all columns of numbers that do not look like something else",
    )
    drop: Sequence[str] = setting((), _names, "names of columns to leave out")
    role: Mapping[str, str] = setting(
        None, _roles, "what columns are, where it is not what they look like: `variable`, `id`, `time` or `category`"
    )
    category: Sequence[str] = setting((), _names, "names of columns whose numbers are codes without an order")
    adjust: Sequence[str] = setting(
        (), _names, "columns to hold fixed: the graph is that of the others within their values"
    )
    cause: Sequence[str] = setting(
        (),
        _names,
        "columns that are categories and enter the graph as causes: each may have effects on variables, and has no causes",
    )
    experiment: str | None = setting(
        None,
        _one_name,
        "column that names the variables that an experiment acted on in each row, with ; between two; empty where none was",
        typed=str,
    )
    experiment_kind: str = choice(
        "set",
        ("set", "shift", "changed"),
        "what experiments do to a variable: cut it off from its causes, shift its mean alone, or change its equation",
    )
    environment: str | None = setting(
        None, _one_name, "column that names the environment of each row, where some equations may differ", typed=str
    )
    leave_out: Sequence[str] = setting((), _names, "labels of experiments or environments whose rows are left out")
    cluster: str | None = setting(
        None,
        _one_name,
        "column that names the group or the subject of each row: rows that share it are dependent",
        typed=str,
    )
    clusters: str = choice(
        "within",
        ("within", "between", "both"),
        "learn the relations within clusters, those between their means, or both apart",
    )
    time: str | None = setting(None, _one_name, "column with the time of each row: numbers or dates", typed=str)
    lags: int | None = whole(
        0,
        "how many earlier times is a whole number",
        "earlier times whose values can be causes, such as 2; rows are in the order of time",
    )
    difference: int | None = whole(
        1,
        "how many steps to difference is a whole number from 1 on",
        "take differences of successive times this many times: 1 for series that drift",
    )
    season: int | None = whole(
        2,
        "the length of a season is a whole number from 2 on",
        "length of a season, such as 12 for months: removes the mean of each position in it",
    )
    weights: str | None = setting(None, _one_name, "column with the weight of each row", typed=str)
    strict: bool = flag(False, "refuse a table with columns that would be set aside", typed=True)
    transform: Mapping[str, float | str] | None = setting(
        None,
        _transform,
        "changes of columns: a factor, `log` for the natural logarithm, or `standardise` to divide by the standard deviation",
    )
    missing: Missing = choice(
        "auto",
        ("auto", "em", "drop", "refuse"),
        "missing values: use incomplete rows for the values they have (`em`), `drop` them, `refuse` the table, or `auto`: drop up to "
        "2 % of the rows, use more than that",
        check=_missing,
    )
    separator: str | None = setting(
        None, _as_given, "character between the fields of a text file: , ; tab or another", typed=str
    )
    encoding: str | None = setting(None, _as_given, "encoding of a text file; default UTF-8", typed=str)
    decimal: str | None = choice(None, (".", ","), "decimal mark of a text file", check=_as_given)
    thousands: str | None = choice(
        None, (",", ".", " ", "'"), "separator of thousands in the numbers of a text file", check=_as_given
    )
    header: bool = setting(True, _header, "False if the first line of a text file or sheet is data already")
    na: Sequence[str] | None = setting(
        None, _cells, "cells that stand for a missing value, such as `-99` or, in text files and workbooks, `?`"
    )
    sheet: str | None = setting(
        None, _as_given, "sheet of an Excel or OpenDocument workbook; default the first that is not empty", typed=str
    )
    table: str | None = setting(None, _as_given, "table of an SQLite or DuckDB file that has several", typed=str)

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = self.columns if isinstance(self.columns, list | tuple) else ()
        lists = {"columns": columns, "drop": self.drop, "role": self.role, "adjust": self.adjust}
        lists["cause"] = self.cause
        lists |= {given: [name] for given, name in self.row_columns.items()}
        said: dict[str, str] = {}
        for given, names in lists.items():
            for name in map(str, names):
                if said.setdefault(name, given) != given:
                    raise _two_settings(name, said[name], given)
        if self.experiment is not None and self.environment is not None:
            raise SettingError(
                "experiment and environment are both given: say one; an experiment on none of the columns is an environment.",
                ["experiment", "environment"],
            )
        if self.cause and (self.row_columns or self.in_time):
            beside = next(iter(self.row_columns), self.given_in_time)
            raise SettingError(
                f"cause does not go with {beside} yet: hold the categories fixed instead (adjust), or leave {beside} out.",
                ["cause", beside],
            )
        if self.clusters != "within" and (self.cluster is None or len(self.row_columns) > 1):
            others = [given for given in self.row_columns if given != "cluster"]
            raise SettingError(
                f"clusters={self.clusters!r} learns from cluster means, without {' and '.join(others)}: leave that out."
                if self.cluster is not None
                else f"clusters={self.clusters!r} learns from cluster means: name the column that says which (cluster=…, --cluster).",
                ["clusters"],
            )
        for name in self.category:
            if said.get(name, "adjust") not in ("adjust", "cause", *ROW_COLUMNS) and self.role.get(name) != "category":
                raise _two_settings(name, said[name], "category")

        if self.in_time and self.clusters != "within":
            raise SettingError(
                f"clusters={self.clusters!r} compares cluster means, which have no time: leave it out, or time and lags.",
                ["clusters"],
            )
        if self.in_time and self.part:
            given = self.given_in_time
            raise SettingError(
                f"{given}: the parts of a series follow one another, which moments do not say: learn from the rows.",
                [given],
            )

    @property
    def in_time(self) -> bool:
        """Whether rows are taken in the order of time."""
        return self.given_in_time != ""

    @property
    def given_in_time(self) -> str:
        """The first setting that says so; "" without any."""
        return next((name for name in IN_TIME if getattr(self, name) is not None), "")

    @property
    def row_columns(self) -> dict[str, str]:
        """The columns that say what rows are, by the setting that names each."""
        return {given: name for given in ROW_COLUMNS if (name := getattr(self, given)) is not None}

    @property
    def absent(self) -> tuple[float, ...]:
        """The numbers that stand for missing values."""
        return tuple(float(cell) for cell in self.na or () if PLAIN_NUMBER.fullmatch(cell))

    def refuse_layout(self, describe: str, *taken: str) -> None:
        """Refuse the settings of other kinds of files, on which they would have no effect; those in `taken` are for this kind."""
        if "na" not in taken and self.na is not None and len(self.absent) < len(self.na):
            raise SettingError(
                f"na: {describe} is not read as text, so only numbers can stand for missing values.", ["na"]
            )
        taken = (*taken, "na")
        given = [name for name in LAYOUT if name not in taken and getattr(self, name) not in (None, True)]
        text = [name for name in given if name not in PARTS]
        if text:
            raise SettingError(f"{', '.join(text)}: {describe} is not read as text, so leave that out.", text)
        if given:
            raise SettingError(f"{given[0]}: {describe} has no {given[0]}s, so leave that out.", given)


@dataclass(frozen=True)
class PartReading(Reading):
    """The settings by which one part of a table is read, for moments that are put together later."""

    part: ClassVar[bool] = True


DEFAULT_READING = Reading()


def split_reading(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split settings into those of `Reading` and the others."""
    reading = {name: settings[name] for name in declared(Reading) if name in settings}
    return reading, {name: value for name, value in settings.items() if name not in reading}


DECIMAL_COMMA = Remedy("take , for the decimal mark", {"decimal": ","})
NO_HEADER = Remedy("take the first line for data", {"header": False})
LATIN = Remedy("read it in the encoding latin-1", {"encoding": "latin-1"})


def without(unwanted: Collection[str], names: Sequence[str]) -> list[Remedy]:
    """Offer to leave columns out, if enough others remain."""
    kept = [name for name in names if name not in unwanted]
    if len(kept) < FEWEST_COLUMNS:
        return []
    out = [name for name in names if name in unwanted]
    if not all(map(str.strip, out)):  # which a list of names on the command line cannot hold
        return [Remedy("go on without the column that has no name", {"columns": kept})]
    return [Remedy(f"go on without {listed(out)}", {"drop": out})]


def split_at(separator: str) -> Remedy:
    """Offer another separator."""
    return Remedy(f"split at {'tabs' if separator == chr(9) else shown(separator)}", {"separator": separator})


def setting_words(name: str, value: Any) -> list[str]:
    """Return a setting of reading as words of a command line."""
    return ["--no-header"] if name == "header" else option_words(f"--{name.replace('_', '-')}", value)
