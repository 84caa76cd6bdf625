"""`Reading`: the settings with which a table is read, each said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ordag.checks import is_flag, short
from ordag.errors import SettingError
from ordag.settings import Settings, choice, declared, setting

Missing = Literal["error", "drop"]


def _as_given(_: str, value: Any) -> Any:
    """Checked where it is used, with the table at hand."""
    return value


def _header(name: str, value: Any) -> bool:
    if not is_flag(value):
        raise SettingError(f"{name}={short(value)}: say True, or False if the first line is data already.")
    return bool(value)


@dataclass(frozen=True)
class Reading(Settings):
    """Which columns of a table, which rows, and how a text file is laid out."""

    columns: Sequence[str] | None = setting(None, _as_given, "names of the columns to use, all by default")
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
            raise SettingError(f"{', '.join(given)}: {describe} is not read as text, so leave that out.")


def split_reading(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the settings that `Reading` has, and the others."""
    reading = {name: settings[name] for name in declared(Reading) if name in settings}
    return reading, {name: value for name, value in settings.items() if name not in reading}
