"""What a setting may be: a choice, a whole number, a number, names, a seed. Everything that takes one asks here."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ordag.common.words import cut
from ordag.errors import ColumnError, DataError, OrdagError, SettingError

Seed: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

LONGEST = 60
"""Letters of a value that a sentence quotes."""

LARGEST = 2**53
"""Nothing is counted beyond this, and float64 holds all whole numbers up to it."""


def short(value: object) -> str:
    """Return the value as a sentence can carry it: on one line, and cut where it is long."""
    try:
        text = (
            " ".join(repr(value).split()).encode("utf-8", "backslashreplace").decode()
        )  # it may hold half of a letter
    except Exception:  # the repr of a foreign class, or a whole number of more digits than Python writes
        return f"an object of type {type(value).__name__}"
    return cut(text, LONGEST)


def check_choice(name: str, value: object, options: Collection[str | None], use: str | None = None) -> None:
    """Refuse what is none of the options; `use` says which there are."""
    if not ((value is None or isinstance(value, str)) and value in options):
        raise SettingError(f"{name}={short(value)} is not known: use {use or ', '.join(map(str, options))}.")


def is_whole(value: object, least: int = 0, most: float = LARGEST) -> bool:
    """Return whether it is a whole number from `least` on that something can be counted up to; a truth value is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= int(value) <= most


def is_flag(value: object) -> bool:
    """Return whether it is True or False."""
    return isinstance(value, bool | np.bool_)


def as_number(value: object) -> float:
    """Return the value of a single real number; nan for anything else."""
    if not isinstance(value, Real) or is_flag(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def as_numbers(values: Any, what: str, error: type[OrdagError] = DataError) -> NDArray[np.float64]:
    """Return a new array of real numbers, of whatever shape."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "USTcMm":
            return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f"{what} is {short(values)}: give real numbers.")


def as_list(values: Any, message: str, error: type[OrdagError] = SettingError) -> list[Any]:
    """Return the items of a list or anything like it; a text is none."""
    try:
        if not isinstance(values, str | bytes | bytearray) and isinstance(values, Iterable):
            return list(values)
    except TypeError:  # an array without dimensions
        pass
    raise error(message)


def check_text(names: Iterable[str], describe: str = "") -> None:
    """Refuse names that no file can hold: with a lone surrogate, which is half of a letter."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            where = f"{describe}: the" if describe else "The"
            raise ColumnError(
                f"{where} name {name!r} has half of a letter in it, which cannot be written: rename the column."
            ) from error


def check_function(name: str, value: object) -> None:
    """Refuse what cannot be called; None is no function asked for."""
    if value is not None and not callable(value):
        raise SettingError(f"{name}={short(value)}: give a function, or None.")


def checked_seed(seed: Seed, name: str = "seed") -> Seed:
    """Return the seed of random numbers, if it is one."""
    if seed is None or isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return seed
    if not is_whole(seed, most=2**128):
        raise SettingError(
            f"{name}={short(seed)}: give a whole number from 0 on, a NumPy Generator or SeedSequence, or None for other "
            "random numbers every time."
        )
    return int(seed)


def drawn_seed() -> int:
    """Another one every time, among the whole numbers that every program can hold."""
    return int(np.random.default_rng().integers(LARGEST))
