"""Shared parts of the openers that use another library: import it, translate its errors, choose one of several tables."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ordag.common.watched import WatchedError, watched
from ordag.common.words import cut, did_you_mean, quoted, shown
from ordag.errors import OrdagError, SettingError, UnreadableError

BYTES_OF_A_CELL = 32
"""What a cell takes while a table is made of it."""


def library(module: str, package: str, describe: str, what: str) -> Any:
    """Import the library that reads a kind of file, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnreadableError(
            f"{describe} is {what}, and {package}, which reads it, is not installed: python -m pip install {package}, or Ordag's extra "
            "files for all such readers. Else save the table as CSV."
        ) from error


@contextmanager
def reader_errors(describe: str, what: str) -> Iterator[None]:
    """Turn any exception of a library that reads a file into one sentence, and silence its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except OrdagError:
        raise
    except BaseException as error:
        if (
            not isinstance(error, Exception) and type(error).__name__ != "PanicException"
        ):  # that of Rust is no Exception
            raise
        reason = cut((str(error).splitlines() or [""])[0].strip(" :.")) or type(error).__name__
        raise UnreadableError(
            f"{describe} could not be read as {what} ({reason}): it is damaged, cut off, or another kind of file. Write or "
            "copy it again, or save the table as CSV."
        ) from error


def read_apart(read: Callable[..., Any], *given: Any, describe: str, what: str) -> Any:
    """Call a function that reads a file by a compiled library in a process of its own, which a damaged file may crash."""
    try:
        return watched(_read_quietly, read, given, describe, what)
    except WatchedError as error:
        raise UnreadableError(
            f"{describe} could not be read as {what}: the library that reads such files {error}. The file is damaged, or larger than this "
            "machine can read: write or copy it again, or save the table as CSV."
        ) from error


def _read_quietly(read: Callable[..., Any], given: Sequence[Any], describe: str, what: str) -> Any:
    with reader_errors(describe, what):
        return read(*given)


def chosen(names: Sequence[str], wanted: str | None, setting: str, describe: str) -> str | None:
    """Return the table or sheet of this name; None where none is asked for."""
    if wanted is None or wanted in names:
        return wanted
    if not isinstance(wanted, str):
        raise SettingError(f"{setting}={wanted!r}: give the name of a {setting}.", [setting])
    hint = did_you_mean(wanted, names)
    raise SettingError(
        f"{describe} has no {setting} {shown(wanted)!r}.{hint} It has {quoted(list(names), 12)}.", [setting]
    )
