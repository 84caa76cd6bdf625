"""`State`: what a user has chosen in the page, read from JSON that may come from anywhere, so that everything in it is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ordag.common.checks import check_choice, short
from ordag.common.settings import Setting, declared
from ordag.common.words import did_you_mean, quoted, shown
from ordag.errors import ColumnError, SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.knowledge.rules import KEYS
from ordag.learners.methods import AUTO, METHODS, POOLED_UP_TO, POOLED_WITH_FEW_ROWS, check_settings, settings_of

FORMAT, VERSION = "ordag-workbench", 1

MOST_NESTED = 12
"""Lists and objects within each other."""

LARGEST_WHOLE = 2**53
"""Up to which a float holds every whole number."""

NOT_OFFERED = ("knowledge", "device")
"""Settings that a page may not give: knowledge has a place of its own in a state, and the device is the server's."""


class RequestError(SettingError):
    """A request that the page of this server would not send."""


@dataclass(frozen=True)
class State:
    """A user's choices, checked as far as that can be without the table.

    data: the id, builtin name and label of the table. columns: those in use, None for all. left_out: labels of conditions whose
    rows are not used.
    """

    data: Mapping[str, str | None]
    method: str
    settings: Mapping[str, Any]
    columns: tuple[str, ...] | None
    transform: Mapping[str, Any]
    knowledge: Knowledge
    left_out: tuple[str, ...] = ()

    def for_columns(self, names: Sequence[str]) -> State:
        """Return the state for a table with these columns, without units and knowledge of columns that are not in use."""
        used = names if self.columns is None else self.columns
        _refuse_unknown([*used, *self.transform, *self.knowledge.names], names)
        in_use = set(used)
        entries: dict[str, list[Any]] = {
            "tiers": [kept for tier in self.knowledge.tiers if (kept := [name for name in tier if name in in_use])],
            "required": [edge for edge in self.knowledge.required if in_use.issuperset(edge)],
            "forbidden": [edge for edge in self.knowledge.forbidden if in_use.issuperset(edge)],
            "roots": [name for name in self.knowledge.roots if name in in_use],
            "sinks": [name for name in self.knowledge.sinks if name in in_use],
        }
        columns = None if len(in_use) == len(names) else tuple(name for name in names if name in in_use)
        transform = {name: change for name, change in self.transform.items() if name in in_use and change != 1.0}
        return replace(self, columns=columns, transform=transform, knowledge=Knowledge(**entries))

    def unscaled(self) -> State:
        """Return the state with every column in its own unit."""
        return replace(self, transform={})

    @property
    def keywords(self) -> dict[str, Any]:
        """The settings of the method and the knowledge, as `learn` takes them."""
        known = {"knowledge": self.knowledge} if self.knowledge.names else {}
        return {**self.settings, **known}

    @cached_property
    def key(self) -> str:
        """Equal for states that have the same answer for the same table."""
        parts = [self.method, self.settings, self.columns, self.transform, self.left_out, self.knowledge.to_dict()]
        return json.dumps(parts, sort_keys=True)


def read_state(given: Any) -> State:
    """Read a state that the page sends, or that was in a file."""
    found = _mapping(given, "The state")
    if found.get("format") != FORMAT or found.get("version") != VERSION:
        raise RequestError(
            f"This version of Ordag cannot read this state of the workbench: its format is {short(found.get('format'))} and its version "
            f"{short(found.get('version'))}, instead of {FORMAT!r} and {VERSION}."
        )
    data = _mapping(found.get("data"), "data")
    method = found.get("method", "auto")
    check_choice("method", method, AUTO)
    columns = found.get("columns")
    return State(
        {name: _text(data.get(name), f"data.{name}") for name in ("id", "builtin", "name")},
        method,
        _settings(method, _entries(found, "settings")),
        None if columns is None else _columns(columns),
        _transform(_entries(found, "transform")),
        _knowledge(_entries(found, "knowledge")),
        tuple(dict.fromkeys(_names(found.get("left_out", []), "left_out"))),
    )


def read_json(body: bytes) -> Any:
    """Read JSON, and refuse depths, texts and numbers that would do harm."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number)
        _check_values(value)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, RequestError) else "it is not JSON in UTF-8"
        raise RequestError(f"The request cannot be read: {why}.") from None
    return value


def method_schemas() -> list[dict[str, Any]]:
    """Describe every method with its settings, for the controls of the page."""
    return [
        {"name": name, "about": _about(name), "settings": [_schema(*one) for one in _offered(name).items()]}
        for name in AUTO
    ]


def _about(method: str) -> str:
    if method == "auto":
        return (
            f"takes pooled for up to {POOLED_UP_TO:,} variables ({POOLED_WITH_FEW_ROWS} with few rows) and cvs for more; a setting that "
            "only one of them has selects that one"
        )
    return METHODS[method].settings.about


def _offered(method: str) -> dict[str, tuple[Setting, Any]]:
    """Return the settings that a page may change, each with its default; "auto" has those of the methods that it chooses from."""
    found: dict[str, tuple[Setting, Any]] = {}
    for name in ("pooled", "cvs") if method == "auto" else (method,):
        kind = METHODS[name].settings
        for setting, known in declared(kind).items():
            default = kind.__dataclass_fields__[setting].default
            simple = known.typed is not None or isinstance(default, bool)
            if simple and known.typed is not Path and setting not in NOT_OFFERED:
                found.setdefault(setting, (known, default))
    return found


def _schema(name: str, offered: tuple[Setting, Any]) -> dict[str, Any]:
    known, default = offered
    return {
        "name": name,
        "kind": _kind(known, default),
        "default": default,
        "choices": [{"value": word, "help": ""} for word in known.choices],
        "help": known.help,
        "least": known.least,
        "most": known.most,
    }


def _kind(known: Setting, default: Any) -> str:
    if known.choices:
        return "choice"
    if known.typed is bool or isinstance(default, bool):
        return "flag"
    return {float: "number", int: "whole"}.get(known.typed, "text")  # type: ignore[call-overload, no-any-return]


def _settings(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings of a method; what is typed as text on the command line is text here too."""
    offered = _offered(method)
    for name in given:
        if name not in offered:
            hint = did_you_mean(name, offered)
            raise SettingError(f"{quoted([name])} is not a setting of {method} in the workbench.{hint}", [name])
    found = {name: _value(name, offered[name][0], value) for name, value in given.items()}
    check_settings(method, {name: value for name, value in found.items() if name in settings_of(method)})
    return found


def _value(name: str, known: Setting, value: Any) -> Any:
    if isinstance(value, str) and not known.choices and known.typed not in (None, str, float, int, bool):
        assert known.typed is not None
        value = known.typed(value)
    elif isinstance(value, dict | list) and name != "groups":
        raise SettingError(f"{name}={short(value)}: give a number or a word.", [name])
    known.check(name, value)
    return value


def _columns(given: Any) -> tuple[str, ...]:
    names = _names(given, "columns")
    if not names:
        raise SettingError("columns: keep one column at least.")
    if len(set(names)) < len(names):
        raise ColumnError("columns: name each column once.")
    return tuple(names)


def _transform(given: Mapping[str, Any]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for name, change in given.items():
        number = isinstance(change, int | float) and not isinstance(change, bool) and change != 0
        if change not in ("log", "standardise") and not number:
            raise SettingError(
                f"transform of {shown(name)}: {short(change)} is not a transform; give a factor other than 0, 'log' or "
                "'standardise'."
            )
        found[name] = change if isinstance(change, str) else float(change)
    return found


def _knowledge(given: Mapping[str, Any]) -> Knowledge:
    """Read knowledge as `Knowledge.from_dict` does, but from lists only: a text could be a path."""
    for key, value in given.items():
        if key not in KEYS:
            raise SettingError(f"knowledge has no entry {quoted([key])}. Its entries are {', '.join(KEYS)}.")
        nested = key in ("tiers", "required", "forbidden")
        for one in [value] if not nested or not isinstance(value, list) else value:
            _names(one, f"knowledge.{key}")
    return Knowledge(**given)


def _refuse_unknown(given: Sequence[str], names: Sequence[str]) -> None:
    known = set(names)
    unknown = [name for name in dict.fromkeys(given) if name not in known]
    if unknown:
        hint = did_you_mean(unknown[:4], names, each=2)
        raise ColumnError(f"The table has no column {quoted(unknown)}.{hint}")


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise RequestError(f"{what} is {short(value)}: it must be an object with named entries.")
    return value


def _entries(found: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    """Return a part of a state that may be left out."""
    value = found.get(part)
    return {} if value is None else _mapping(value, part)


def _text(value: Any, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise RequestError(f"{what} is {short(value)}: it must be text.")
    return value


def _names(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RequestError(f"{what} is {short(value)}: it must be a list of names.")
    return value


def _no_number(word: str) -> float:
    raise RequestError(f"{word} is not a number")


def _check_values(value: Any, depth: int = 0) -> None:
    if depth > MOST_NESTED:
        raise RequestError(f"it is nested more than {MOST_NESTED} deep")
    if isinstance(value, str):
        if not value.isascii():
            value.encode("utf-8")  # refuses half a pair of surrogates, which no answer could hold
    elif isinstance(value, bool):
        return
    elif isinstance(value, int | float):
        if (isinstance(value, int) and abs(value) > LARGEST_WHOLE) or not math.isfinite(value):
            raise RequestError("it has a number that is too large")
    elif isinstance(value, list):
        for one in value:
            _check_values(one, depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            _check_values(name, depth + 1)
            _check_values(one, depth + 1)
