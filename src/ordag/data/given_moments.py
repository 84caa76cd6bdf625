"""Data that are moments already: objects, files of them, or lists of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ordag.data.moments import Moments, loaded, merged, of_bytes
from ordag.data.moments_file import is_moments
from ordag.data.sources import Upload
from ordag.data.sources.paths import path_of
from ordag.words import counted, shown


def known_moments(
    data: Any, columns: Sequence[str] | None = None, tell: Callable[[str], None] | None = None
) -> Moments | None:
    """Moments, or those that a file of them holds; of a list of either, all rows together. None for data of another kind.

    With `columns`, these of every file: others may differ between files.
    """
    if isinstance(data, Moments):
        return data
    if isinstance(data, Upload):
        return of_bytes(data.data, shown(data.name), data.widest) if is_moments(data) else None
    if isinstance(data, list | tuple) and data and all(isinstance(one, Moments) for one in data):
        return merged(((f"Moments {k}", one) for k, one in enumerate(data, start=1)), columns)
    paths = data if isinstance(data, list | tuple) else [data]
    if paths and all(isinstance(one, str | PathLike) and is_moments(path_of(one)) for one in paths):
        if tell is not None:
            tell(f"reading {counted(len(paths), 'file')} of moments")
        return loaded(paths, columns)
    return None


def called(data: Any) -> str:
    """What messages call data that are moments."""
    return Path(data).name if isinstance(data, str | PathLike) else "a table of moments"
