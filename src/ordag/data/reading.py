"""`Reading`: the settings with which a table is read, each said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from ordag.checks import check_choice
from ordag.errors import SettingError

Missing = Literal["error", "drop"]


@dataclass(frozen=True)
class Reading:
    """Which columns of a table, which rows, and how a text file is laid out."""

    columns: Sequence[str] | None = None
    """Names of the columns to use, all by default."""
    missing: Missing = "error"
    """Rows with missing values: refuse ("error"), or leave out ("drop")."""
    separator: str | None = None
    """Between the fields of a text file: , ; tab or another character."""
    encoding: str | None = None
    """Of a text file; UTF-8 unless said otherwise."""
    decimal: str | None = None
    """Decimal mark of a text file: a point, or a comma."""
    header: bool = True
    """False if the first line of a text file is data already."""

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, ("error", "drop"), "'error' or 'drop'")

    def refuse_layout(self, describe: str) -> None:
        """Settings of text files would be of no effect on other tables: refuse them, so that nobody believes in one."""
        layout = {name: getattr(self, name) for name in ("separator", "encoding", "decimal", "header")}
        given = [name for name, value in layout.items() if value is not None and value is not True]
        if given:
            raise SettingError(f"{', '.join(given)}: {describe} is not read as text, so leave that out.")


def split_reading(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the settings that `Reading` has, and the others."""
    reading = {one.name: settings[one.name] for one in fields(Reading) if one.name in settings}
    return reading, {name: value for name, value in settings.items() if name not in reading}
