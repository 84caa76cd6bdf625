"""Checks that an output overwrites no input and no other output."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from ordag.common.files import check_writable
from ordag.data.datasets import DATASETS
from ordag.data.sources.folders import table_files
from ordag.data.sources.paths import path_of
from ordag.errors import OutputError

Named = tuple[str, str | PathLike[str]]
"""A path, and the option or argument that it was given as."""


def check_outputs(outputs: Sequence[Named], inputs: Sequence[Named] = ()) -> None:
    """Refuse, before any work is done, an output that cannot be written or would overwrite an input or another output.

    Files are compared, not names, so links are followed. A folder that is read may not hold an output. Standard input always counts as
    an input.
    """
    checked = [(name, path, check_writable(path)) for name, path in outputs]
    for k, (name, path, place) in enumerate(checked):
        if _is_standard_input(place):
            raise OutputError(f"{name} {path} would overwrite the file on standard input: write to another file.")
        for other, read in inputs:
            if _is_part(place, read):
                raise OutputError(
                    f"{name} {path} would overwrite {other} or a part of it, {read}: write to another file."
                )
        for other, _, taken in checked[:k]:
            if _same(place, taken):
                raise OutputError(f"{name} {path} is the file of {other} as well: give each output a file of its own.")


def check_output(path: str | PathLike[str], inputs: Sequence[Path]) -> None:
    """Refuse, before any work is done, to write an answer over its own inputs."""
    place = check_writable(path)
    if any(_is_part(place, read) for read in inputs):
        raise OutputError(f"{path} is a file that this was learned from: write to another file.")


def _is_standard_input(place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), place.stat())
    except (OSError, ValueError, AttributeError):  # no such file yet; no standard input, or none that is a file
        return False


def _is_part(place: Path, read: str | PathLike[str]) -> bool:
    """Return whether a path is an input, lies in an input folder, or is another name of a file in it."""
    if read in DATASETS:
        return False
    source = path_of(read)
    try:
        if not source.is_dir():
            return _same(place, source)
    except OSError:  # the text of a graph may be longer than any name of a file
        return False
    inside = any(_same(parent, source) for parent in place.parents)
    return inside or any(_same(place, part) for part in table_files(source, str(read)))


def _same(one: Path, other: Path) -> bool:
    """Return whether two paths are one file; if neither exists yet, by name, ignoring case."""
    try:
        if one.exists() or other.exists():
            return one.exists() and other.exists() and os.path.samefile(one, other)
        return str(one.resolve()).casefold() == str(other.resolve()).casefold()
    except (OSError, RuntimeError, ValueError):  # not a path; reading or writing it gives the error
        return False
