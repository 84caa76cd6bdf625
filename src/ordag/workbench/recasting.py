"""The settings of reading of a table after one click: another role for a column, or one more value that stands for a missing one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ordag.common.checks import short
from ordag.data.reading import PLAIN_NUMBER, Reading
from ordag.show.columns import ROLES
from ordag.workbench.state import RequestError

RECAST = ("columns", "drop", "role", "category", "adjust", "cause", "na")
"""Settings of reading that one click changes, or that a saved state brings back."""


def changed_reading(reading: Mapping[str, Any], change: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the settings with a change: `na` (a number as text), a `column` (a name) with its `role`, or `reading` (of `RECAST`)."""
    if "reading" in change:
        given = change["reading"]
        if not isinstance(given, dict) or not set(given) <= set(RECAST):
            raise RequestError(f"reading={short(given)}: give an object with some of {', '.join(RECAST)}.")
        Reading(**given)
        return {**{name: value for name, value in reading.items() if name not in RECAST}, **given}
    if "na" in change:
        cell = change["na"]
        if not isinstance(cell, str) or not PLAIN_NUMBER.fullmatch(cell):
            raise RequestError(f"na={short(cell)}: give a number as text.")
        return {**reading, "na": list(dict.fromkeys([*(reading.get("na") or ()), cell]))}
    column, role = change.get("column"), change.get("role")
    if column not in names:
        raise RequestError(f"column={short(column)}: the table has no such column.")
    if role not in ROLES:
        raise RequestError(f"role={short(role)}: choose among {', '.join(ROLES)}.")
    return _in_role(reading, str(column), role)


def _in_role(reading: Mapping[str, Any], column: str, role: str) -> dict[str, Any]:
    said = {
        name: [one for one in reading.get(name) or () if one != column]
        for name in ("drop", "category", "adjust", "cause")
    }
    was_category = column in (reading.get("category") or ())
    roles = {name: one for name, one in (reading.get("role") or {}).items() if name != column}
    chosen = reading.get("columns")
    if chosen is not None:
        chosen = [one for one in chosen if one != column] + ([column] if role == "variable" else [])
    elif role in ("variable", "id", "time"):
        roles[column] = role
    if role == "dropped" and reading.get("columns") is None:
        said["drop"].append(column)
    if role == "covariate":
        said["adjust"].append(column)
    if role == "cause":
        said["cause"].append(column)
    if role == "category" or (role == "covariate" and was_category):
        said["category"].append(column)
    kept = {name: value for name, value in reading.items() if name not in (*said, "role", "columns")}
    found: dict[str, Any] = {**kept, **said, "role": roles, "columns": chosen}
    return {name: value for name, value in found.items() if value}
