"""Everything that stands in the way of a table, said at once, with the settings of reading that lead through all of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ordag.data.reading import DEFAULT_READING
from ordag.data.sources import Upload
from ordag.data.sources.folders import table_files
from ordag.data.sources.paths import path_of
from ordag.data.table import Table
from ordag.data.table_checks import FEW_ROWS
from ordag.errors import DataError, OrdagError, OrdagWarning, Remedy

MOST_STEPS = 12
"""Faults, one behind the other, that are looked for."""

TRIED_BYTES = 2**28
"""Bytes of a file that is read again to look for further faults."""

Attempt = Callable[[Mapping[str, Any]], None]


def together(reading: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of reading with those of a remedy: lists of cells and columns and roles add up, others are replaced."""
    found = dict(reading)
    gone = more.get("drop", ())
    for name in ("adjust", "cause", "category"):
        if set(gone) & set(found.get(name) or ()):
            found[name] = [one for one in found[name] if one not in gone]
    for name, value in more.items():
        before = found.get(name)
        if name == "role":
            found[name] = {**(before or {}), **value}
        elif name == "drop" and found.get("columns") is not None:
            found["columns"] = [one for one in found["columns"] if one not in value]
        elif name in ("drop", "na", "category", "adjust", "cause") and before:
            found[name] = list(dict.fromkeys([*before, *value]))
        else:
            found[name] = value
    return found


@contextmanager
def way_shown(data: Any, reading: Mapping[str, Any]) -> Iterator[None]:
    """Add to an error about a table, read with these settings, all further faults and the settings that avoid them."""
    try:
        yield
    except DataError as error:
        if error.way is None and error.remedies and _can_be_read_again(data):
            complete(error, reading, lambda changed: try_to_read(data, changed))
        raise


def complete(error: DataError, reading: Mapping[str, Any], attempt: Attempt) -> None:
    """Follow the first remedy of an error, and of those that come after it, until `attempt` succeeds; note all of it in the error."""
    given = {name: value for name, value in reading.items() if value != getattr(DEFAULT_READING, name, None)}
    changed, fault, words = dict(given), error, []
    head, later = f"{str(error).partition(': ')[0]}: ", []
    for _ in range(MOST_STEPS):
        if not fault.remedies:
            break
        words.append(fault.remedies[0].words)
        changed = together(changed, fault.remedies[0].reading)
        try:
            attempt(changed)
        except DataError as next_fault:
            fault = next_fault
            text = fault.fault.removeprefix(head)
            later.append(text if text == fault.fault else f"{text[:1].upper()}{text[1:]}")
            continue
        except OrdagError:
            break
        error.way = {name: value for name, value in changed.items() if given.get(name) != value}
        if later:
            error.remedies = (Remedy("; ".join(words), error.way), *error.remedies)
        break
    error.later = tuple(later)


def _can_be_read_again(data: Any) -> bool:
    if isinstance(data, str | os.PathLike):
        try:
            path = path_of(data)
            files = table_files(path, str(data)) if path.is_dir() else [path]
            return sum(file.stat().st_size for file in files) <= TRIED_BYTES
        except (OSError, ValueError):
            return False
    if isinstance(data, Upload):
        return len(data.data) <= TRIED_BYTES
    frame = hasattr(data, "columns") and hasattr(data, "shape") and not type(data).__module__.startswith("dask")
    return frame or isinstance(data, Mapping | list | tuple | np.ndarray)


def try_to_read(data: Any, reading: Mapping[str, Any]) -> None:
    """Read a table up to its moments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        Table(data, **reading).warn().needing(lambda p: FEW_ROWS).moments  # noqa: B018
