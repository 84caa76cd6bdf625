"""Files: located by a path or the name of a data set, or uploaded; opened, measured, and watched for changes."""

from __future__ import annotations

import io
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ordag.common.arrays import Array
from ordag.common.checks import short
from ordag.common.words import in_marks, shown, spelled
from ordag.data.datasets import DATASETS, load
from ordag.data.sources.source import Source, regroup
from ordag.errors import DataError, OrdagWarning, UnreadableError


class File(ABC):
    """A file with a name, whose endings give its format; `describe` is the name in messages."""

    name: str
    describe: str
    most: int | None = None  # bytes that it may unpack to
    widest: int | None = None  # columns that it may have

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Bytes of the file; None if it is gone."""

    @abstractmethod
    def open(self) -> BinaryIO:
        """Open the file for reading bytes."""

    @abstractmethod
    def arrow(self) -> Any:
        """Open the file for pyarrow."""

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Refuse what is read in this block if the file has changed since it was located."""
        yield

    @property
    def endings(self) -> list[str]:
        return [ending.lower() for ending in PurePosixPath(self.name).suffixes]

    @property
    def ending(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    def start(self, count: int) -> bytes:
        """Return the first bytes; refuse an empty file."""
        with self.open() as file:
            start = file.read(count)
        if not start:
            raise UnreadableError(f"{self.describe} is empty (0 bytes): there is no table in it.")
        return start

    def end(self, count: int) -> bytes:
        """Return the last bytes."""
        with self.open() as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - count))
            return file.read()

    def check_unpacked(self, size: int) -> None:
        """Refuse a file that unpacks to more bytes than it may."""
        if self.most is not None and size > self.most:
            raise UnreadableError(
                f"{self.describe} unpacks to more than {self.most:,} bytes, the limit for a file in memory: give its path to "
                "ordag explore or ordag.learn, which have no such limit."
            )

    def check_width(self, columns: int) -> None:
        """Refuse a file with more columns than it may have."""
        if self.widest is not None and columns > self.widest:
            raise DataError(
                f"{self.describe} has more than {self.widest:,} columns, the limit for a file in memory: leave some out, or give its "
                "path to ordag learn or ordag explore, which have no such limit."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Upload(File):
    """A file in memory, such as a browser sends. Its name is a label, not a path: nothing on the disk is opened by it.

    A file that unpacks to more than `most` bytes, or has more than `widest` columns, is refused before they are in memory.
    """

    name: str
    data: bytes
    most: int | None = None
    widest: int | None = None
    describe: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "describe", shown(self.name))

    @property
    def size(self) -> int:
        return len(self.data)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.data)

    def arrow(self) -> Any:
        import pyarrow as pa

        return pa.BufferReader(self.data)


@dataclass(frozen=True, eq=False)
class DiskFile(File):
    """A file on disk, with its device, inode, size and time of change when it was located."""

    path: Path
    describe: str
    name: str = field(init=False)
    stamp: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.path.name)
        with self.open() as file:
            object.__setattr__(self, "stamp", _stamp(os.fstat(file.fileno())))

    @property
    def size(self) -> int | None:
        try:
            return self.path.stat().st_size
        except OSError:
            return None

    def open(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except PermissionError as error:
            raise UnreadableError(
                f"{self.describe} may not be read: permission denied. Change the file's permissions, or copy it."
            ) from error
        except OSError as error:
            raise UnreadableError(f"{self.describe} cannot be opened: {error.strerror}. Check the file.") from error

    def arrow(self) -> Any:
        import pyarrow as pa

        return pa.OSFile(os.fsencode(self.path))

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        self._check_unchanged()
        try:
            yield
        except Exception as fault:
            self._check_unchanged(fault)
            raise
        self._check_unchanged()

    def _check_unchanged(self, fault: Exception | None = None) -> None:
        try:
            now = _stamp(self.path.stat())
        except OSError:  # it is gone, and what is open of it is whole
            return
        if now != self.stamp:
            raise UnreadableError(
                f"{self.describe} changed while it was read: wait until it is written and run again, or read a copy."
            ) from fault


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True, eq=False)
class FileSource(Source):
    """A table in files, read block by block."""

    files: tuple[File, ...]

    @property
    def repeatable(self) -> bool:
        return True

    @property
    def file_bytes(self) -> int | None:
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup(self.blocks(), rows)

    @abstractmethod
    def blocks(self) -> Iterator[Array]:
        """Yield blocks of any length."""


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


def _refuse_content(data: str | os.PathLike[str]) -> None:
    text = os.fspath(data)
    if not text.strip():
        raise UnreadableError("The path is empty: give the path of a file, or the name of a data set.")
    if "\0" in text or (isinstance(data, str) and ("\n" in text or len(text) > 4096)):
        raise UnreadableError(
            "The text given is not a path. If it is a table itself, save it to a file and give the file's path."
        )
    if isinstance(data, str) and "://" in data:
        raise UnreadableError(f"{data} is an address on a network: download the file, and give its path.")


def _not_found(data: str | os.PathLike[str], path: Path) -> str:
    text = os.fspath(data)
    bare = isinstance(data, str) and not path.suffix and path.name == text
    known = ", ".join(DATASETS)
    if not path.parent.is_dir():
        return f"There is no folder {in_marks(path.parent)}, so no file {in_marks(text)}: check the path."
    try:
        files = sorted(file.name for file in path.parent.iterdir() if not file.name.startswith("."))
    except OSError:  # the folder may not be listed: give no hint
        files = []
    by_stem = [name for name in files if Path(name).stem == path.stem]
    datasets = get_close_matches(path.stem.lower(), DATASETS, n=1)
    close = list(dict.fromkeys([*by_stem, *get_close_matches(path.name, files), *datasets]))
    hint = f" Did you mean {' or '.join(map(in_marks, close[:3]))}?" if close else ""
    if bare:
        return f"{in_marks(text)} is neither a file nor a built-in data set (the data sets are {known}).{hint}"
    return f"There is no file {in_marks(text)}: check the path.{hint} The built-in data sets are {known}."
