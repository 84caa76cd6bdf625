"""Files: located by a path or the name of a data set, or uploaded; opened, measured, and watched for changes."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeAlias

from ordag.checks import short
from ordag.data.datasets import DATASETS, load
from ordag.errors import DataError, OrdagWarning, UnreadableError
from ordag.words import spelled


@dataclass(frozen=True, eq=False, repr=False)
class Upload:
    """A file in memory, such as a browser sends: its bytes, and its name, whose ending gives their format.

    The name is a label, not a path: nothing on the disk is opened by it. `most` bounds the bytes that it unpacks to and `widest` its
    columns; a file with more of either is refused before they are in memory.
    """

    name: str
    data: bytes
    most: int | None = None
    widest: int | None = None

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(self.name).suffixes

    def open(self, _: str) -> BinaryIO:
        return io.BytesIO(self.data)


File: TypeAlias = Path | Upload

Stamp: TypeAlias = tuple[int, ...]
"""Device, inode, size and time of change of a file; nothing for an upload."""


def arrow_file(file: File) -> Any:
    """Open the file for pyarrow."""
    import pyarrow as pa

    return pa.BufferReader(file.data) if isinstance(file, Upload) else pa.OSFile(os.fsencode(file))


@contextmanager
def arrow_errors(describe: str, format: str) -> Iterator[None]:
    """Turn the errors of pyarrow and of the system while a table is read into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip(" :.")
        if "CRC checksum" in reason:
            reason = "a page does not match its checksum"
        raise UnreadableError(
            f"{describe} could not be read as {format} ({reason}): it is damaged or cut off. Write or copy it again."
        ) from error


def check_unpacked(file: File, describe: str, size: int) -> None:
    """Refuse an upload that unpacks to more bytes than it may."""
    if isinstance(file, Upload) and file.most is not None and size > file.most:
        raise UnreadableError(
            f"{describe} unpacks to more than {file.most:,} bytes, which is the most that is taken of a file in memory: "
            "name it to ordag explore or ordag.learn by its path, for which there is no such limit."
        )


def check_width(file: File, describe: str, columns: int) -> None:
    """Refuse an upload with more columns than it may have."""
    if isinstance(file, Upload) and file.widest is not None and columns > file.widest:
        raise too_wide(describe, file.widest)


def too_wide(describe: str, widest: int) -> DataError:
    """Return the error for an upload with more columns than it may have."""
    return DataError(
        f"{describe} has more than {widest:,} columns, which is the most that is taken of a file in memory: leave some out, or name it "
        "to ordag learn or ordag explore by its path, for which there is no such limit."
    )


def locate(data: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file, folder or built-in data set, and its name in messages.

    A text without an ending and without a folder ("marks") is a built-in data set, if there is one of that
    name: "./marks" and Path("marks") are files.
    """
    path = path_of(data)
    _refuse_content(data)
    if isinstance(data, str) and data in DATASETS:
        if path.exists():
            warnings.warn(
                f"{data!r} is read as the built-in data set, not as the file or folder of that name: "
                f"write './{data}' for the file, or move it to be sure.",
                OrdagWarning,
                stacklevel=4,
            )
        return load(data).path, data
    try:
        found = path.exists()
    except OSError as error:
        raise UnreadableError(f"{short(str(data))} cannot be opened: {error.strerror}. Check the path.") from error
    if not found and path.is_symlink():
        raise UnreadableError(f"{data} is a link to {os.readlink(path)}, which is not there: check the link.")
    if not found:
        raise UnreadableError(_not_found(data, path))
    if not (path.is_file() or path.is_dir()):
        raise UnreadableError(
            f"{data} is neither a file nor a folder: a pipe cannot be read twice. Save the table to a file, "
            "or give the command line - and the table on its standard input."
        )
    return path, spelled(path.name or path)


def path_of(data: str | os.PathLike[str]) -> Path:
    """Return the path that a text stands for; ~ is the home folder."""
    try:
        path = Path(data)
    except TypeError as error:
        raise UnreadableError(f"{short(data)} is no path of a file: give a text, or an object of pathlib.") from error
    return path.expanduser() if path.parts[:1] == ("~",) else path


def paths_of(data: Any) -> tuple[Path, ...]:
    """Return the absolute paths of the files and folders that data are read from; none for tables in memory."""
    given = data if isinstance(data, list | tuple) else [data]
    if not all(isinstance(one, str | os.PathLike) for one in given):
        return ()
    named = (DATASETS[one].path if isinstance(one, str) and one in DATASETS else path_of(one) for one in given)
    return tuple(path.absolute() for path in named)


def opened(path: File, describe: str) -> BinaryIO:
    """Open the file for reading bytes."""
    try:
        return path.open("rb")
    except PermissionError as error:
        raise UnreadableError(
            f"{describe} may not be read: permission denied. Change the file's permissions, or copy it."
        ) from error
    except OSError as error:
        raise UnreadableError(f"{describe} cannot be opened: {error.strerror}. Check the file.") from error


def stamp_of(path: File, describe: str) -> Stamp:
    """Return what distinguishes the file from any other, and from itself at another time."""
    if isinstance(path, Upload):
        return ()
    with opened(path, describe) as file:
        return _stamp(os.fstat(file.fileno()))


@contextmanager
def unchanged(path: File, describe: str, seen: Stamp) -> Iterator[None]:
    """Refuse what is read in this block if the file is not the one whose stamp was `seen`."""
    _check_unchanged(path, describe, seen)
    try:
        yield
    except Exception as fault:
        _check_unchanged(path, describe, seen, fault)
        raise
    _check_unchanged(path, describe, seen)


def _check_unchanged(path: File, describe: str, seen: Stamp, fault: Exception | None = None) -> None:
    if isinstance(path, Upload):
        return
    try:
        now = _stamp(path.stat())
    except OSError:  # it is gone, and what is open of it is whole
        return
    if now != seen:
        raise UnreadableError(
            f"{describe} changed while it was read: wait until it is written and run again, or read a copy."
        ) from fault


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def size_of(paths: Iterable[File]) -> int | None:
    """Return the bytes of these files together; None where one is gone."""
    try:
        return sum(len(one.data) if isinstance(one, Upload) else one.stat().st_size for one in paths)
    except OSError:
        return None


def _refuse_content(data: str | os.PathLike[str]) -> None:
    text = os.fspath(data)
    if not text.strip():
        raise UnreadableError("The path is empty: give the path of a file, or the name of a data set.")
    if "\0" in text or (isinstance(data, str) and ("\n" in text or len(text) > 4096)):
        raise UnreadableError(
            "The text given is no path. If it is a table itself, save it to a file and give the file's path."
        )
    if isinstance(data, str) and "://" in data:
        raise UnreadableError(f"{data} is an address on a network: download the file, and give its path.")


def _not_found(data: str | os.PathLike[str], path: Path) -> str:
    text = os.fspath(data)
    bare = isinstance(data, str) and not path.suffix and path.name == text
    known = ", ".join(DATASETS)
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r}, so no file {text!r}: check the path."
    try:
        files = sorted(file.name for file in path.parent.iterdir() if not file.name.startswith("."))
    except OSError:  # the folder may not be listed: give no hint
        files = []
    by_stem = [name for name in files if Path(name).stem == path.stem]
    datasets = get_close_matches(path.stem.lower(), DATASETS, n=1)
    close = list(dict.fromkeys([*by_stem, *get_close_matches(path.name, files), *datasets]))
    hint = f" Did you mean {' or '.join(repr(str(name)) for name in close[:3])}?" if close else ""
    if bare:
        return f"{text!r} is neither a file nor a built-in data set (the data sets are {known}).{hint}"
    return f"There is no file {text!r}: check the path.{hint} The built-in data sets are {known}."
