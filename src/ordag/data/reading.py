"""`Reading`: the settings with which a table is read, each said once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ordag.checks import as_number, is_flag, short
from ordag.errors import SettingError
from ordag.settings import Settings, choice, declared, setting
from ordag.words import did_you_mean

Missing = Literal["error", "drop"]

CHANGES = ("log", "standardise")
"""What may be done to a column beside multiplying it."""


def _as_given(_: str, value: Any) -> Any:
    """Checked where it is used, with the table at hand."""
    return value


def _header(name: str, value: Any) -> bool:
    if not is_flag(value):
        raise SettingError(f"{name}={short(value)}: say True, or False if the first line is data already.")
    return bool(value)


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


def changes_from_text(texts: Sequence[str]) -> dict[str, float | str]:
    """`height=100`, `income=log`: the last = stands between a column and its change."""
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


@dataclass(frozen=True)
class Reading(Settings):
    """Which columns of a table, in which units, which rows, and how a text file is laid out."""

    columns: Sequence[str] | None = setting(None, _as_given, "names of the columns to use, all by default")
    transform: Mapping[str, float | str] | None = setting(
        None,
        _transform,
        "columns in other units: for each a factor, `log` for its natural logarithm, or `standardise` for its standard deviation as "
        "the unit",
    )
    missing: Missing = choice("error", ("error", "drop"), "rows with missing values: refuse, or leave out")
    separator: str | None = setting(
        None, _as_given, "between the fields of a text file: , ; tab or another character", typed=str
    )
    encoding: str | None = setting(None, _as_given, "of a text file; UTF-8 unless said otherwise", typed=str)
    decimal: str | None = choice(None, (".", ","), "decimal mark of a text file", check=_as_given)
    header: bool = setting(True, _header, "False if the first line of a text file is data already")

    def refuse_layout(self, describe: str) -> None:
        """Settings of text files would be of no effect on other tables: refuse them, so that nobody believes in one."""
        layout = {name: getattr(self, name) for name in ("separator", "encoding", "decimal", "header")}
        given = [name for name, value in layout.items() if value is not None and value is not True]
        if given:
            raise SettingError(f"{', '.join(given)}: {describe} is not read as text, so leave that out.", given)


def split_reading(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the settings that `Reading` has, and the others."""
    reading = {name: settings[name] for name in declared(Reading) if name in settings}
    return reading, {name: value for name, value in settings.items() if name not in reading}
