"""Text in, a whole file out: written beside its place and then moved there, so that a failure leaves what was there."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from ordag.checks import short
from ordag.data.datasets import DATASETS
from ordag.data.sources.parquet import parquet_files
from ordag.data.sources.paths import path_of
from ordag.errors import OutputError

Named = tuple[str, str | PathLike[str]]
"""A path, and what a sentence calls it: the option or argument that it was given as."""


def check_outputs(outputs: Sequence[Named], inputs: Sequence[Named] = ()) -> None:
    """Refuse, before any work is done, what could not be written, and what would overwrite an input or another output.

    However a path is spelled, links included: files are compared, not names. A folder that is read holds no output.
    """
    places = [(name, path, check_place(path)) for name, path in outputs]
    for k, (name, path, place) in enumerate(places):
        for other, read in inputs:
            if _is_part(place, read):
                raise OutputError(
                    f"{name} {path} would overwrite {other} or a part of it, {read}: write to another file."
                )
        for other, _, taken in places[:k]:
            if _same(place, taken):
                raise OutputError(f"{name} {path} is the file of {other} as well: give each output a file of its own.")


def check_place(path: str | PathLike[str]) -> Path:
    """Where a file of this path goes, if one can be written there."""
    try:
        target = Path(path).resolve()
        folder, special = target.is_dir(), target.exists() and not target.is_file()
    # Links in a circle; no text; letters of no file system.
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise OutputError(f"{short(path)} is no path of a file: {error}.") from error
    if folder:
        raise OutputError(f"{path} is a folder: give the name of a file in it.")
    if special:
        raise OutputError(f"{path} is a device or a pipe, which cannot be replaced: give the name of a file.")
    if not target.parent.is_dir():
        raise OutputError(f"There is no folder {target.parent}: make it first, or write elsewhere.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"The folder {target.parent} is write-protected: write elsewhere.")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{path} is write-protected and was left as it is: choose another name.")
    return target


def write_whole(path: str | PathLike[str], content: str | bytes) -> Path:
    """Write all of `content` to `path`, or nothing."""
    target = check_place(path)
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex[:8]}.part")
    try:
        with open(beside, "xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        kept = " What was there before is unchanged." if target.exists() else ""
        raise OutputError(f"{path} could not be written: {error.strerror or error}.{kept}") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    return target


def _is_part(place: Path, read: str | PathLike[str]) -> bool:
    """Whether a place is a file that is read, lies in a folder that is read, or is another name of a file in it."""
    if read in DATASETS:
        return False
    source = path_of(read)
    if not source.is_dir():
        return _same(place, source)
    inside = any(_same(parent, source) for parent in place.parents)
    return inside or any(_same(place, part) for part in parquet_files(source, str(read)))


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file; of two that are still to come, by their names, whatever the case of letters."""
    try:
        if one.exists() or other.exists():
            return one.exists() and other.exists() and os.path.samefile(one, other)
        return str(one.resolve()).casefold() == str(other.resolve()).casefold()
    except (OSError, RuntimeError, ValueError):  # no path of a file, which whoever reads it will say
        return False
