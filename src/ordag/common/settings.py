"""A setting said once: its name, type, default, check, choices and help, in the frozen class of the method that has it.

    @dataclass(frozen=True)
    class CvsSettings(Settings):
        alpha: float = setting(0.01, level, "level of the tests, between 0 and 1", typed=float)

Everything else is made from the class: the checks, the estimator, the options of the command line, what a fit says of its settings,
the keywords of `learn` and the page docs/settings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np

from ordag.common.checks import as_number, check_choice, checked_seed, drawn_seed, is_flag, is_whole, short
from ordag.errors import SettingError

Check = Callable[[str, Any], Any]
"""From the name of a setting and a value to the value to use, or a `SettingError`."""


@dataclass(frozen=True)
class Setting:
    """What is known of a setting beside its name, type and default.

    typed: how the command line reads it: a type, or a function of the text; None keeps it off the command line.
    choices: the words that it may be, where it is a word.
    bare: the value that its option stands for when it is typed without one.
    plain: the value as JSON can hold it.
    least, most: the bounds of a number, where a control has to know them; `check` decides.
    """

    check: Check
    help: str
    typed: Callable[[str], Any] | None
    choices: tuple[str, ...]
    bare: str | None
    plain: Callable[[Any], Any]
    least: float | None = None
    most: float | None = None


def setting(
    default: Any,
    check: Check,
    help: str,
    *,
    typed: Callable[[str], Any] | None = None,
    choices: tuple[str, ...] = (),
    bare: str | None = None,
    plain: Callable[[Any], Any] = lambda value: value,
    kw_only: Any = MISSING,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """Declare a field of a settings class."""
    known = Setting(check, help, typed, choices, bare, plain, least, most)
    return field(default=default, kw_only=kw_only, metadata={"setting": known})


def choice(default: str | None, options: Mapping[str, Any] | tuple[str, ...], help: str, **more: Any) -> Any:
    """Declare a setting that is one of a few words, or None where that is its default."""
    words = tuple(options)
    said = f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}" if len(words) > 1 else repr(words[0])

    def check(name: str, value: Any) -> Any:
        check_choice(name, value, (*words, None) if default is None else words, said)
        return value

    return setting(default, more.pop("check", check), help, typed=str, choices=words, **more)


def whole(least: int, wanted: str, help: str) -> Any:
    """Declare a setting that is a whole number, or None for the default; `wanted` names the alternatives for errors."""

    def check(name: str, value: Any) -> Any:
        if value is not None and not is_whole(value, least):
            raise SettingError(f"{name}={short(value)}: {wanted}.")
        return value if value is None else int(value)

    return setting(None, check, help, typed=int, least=least)


def flag(default: bool, help: str, *, typed: bool = False) -> Any:
    """Declare a setting that is True or False; on the command line, if at all, an option without a value."""

    def check(name: str, value: Any) -> Any:
        if not is_flag(value):
            raise SettingError(f"{name}={short(value)}: say True or False.")
        return bool(value)

    return setting(default, check, help, typed=bool if typed else None)


def seed(help: str) -> Any:
    """Declare a seed of random numbers: 0 unless given. None draws one, and a generator gives one; it is a number from here on, that
    others can be told."""

    def check(_: str, value: Any) -> int:
        seed = drawn_seed() if value is None else checked_seed(value)
        if isinstance(seed, np.random.SeedSequence) and isinstance(seed.entropy, int) and not seed.spawn_key:
            seed = seed.entropy  # the same random numbers
        return seed if isinstance(seed, int) else int(np.random.default_rng(seed).integers(2**63))

    return setting(0, check, help, typed=int)


def level(name: str, value: Any) -> float:
    """Return the level of a test, as a float."""
    number = as_number(value)
    if not 0.0 < number < 1.0:
        raise SettingError(f"{name}={short(value)}: the level of a test lies between 0 and 1, both excluded.")
    return number


@dataclass(frozen=True)
class Settings:
    """Settings that have been checked: all fields are made with `setting`."""

    def __post_init__(self) -> None:
        for name, known in declared(type(self)).items():
            object.__setattr__(self, name, known.check(name, getattr(self, name)))

    def plain(self) -> dict[str, Any]:
        """Name and value of every setting, as JSON can hold them."""
        return {name: known.plain(getattr(self, name)) for name, known in declared(type(self)).items()}


_DECLARED: dict[type[Settings], Mapping[str, Setting]] = {}


def declared(settings: type[Settings]) -> Mapping[str, Setting]:
    """Return all settings of a class by name, those that can be given without a name first."""
    if settings not in _DECLARED:
        ranked = sorted(fields(settings), key=lambda one: bool(one.kw_only))
        _DECLARED[settings] = {one.name: one.metadata["setting"] for one in ranked}
    return _DECLARED[settings]
