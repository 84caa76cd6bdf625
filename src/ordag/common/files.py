"""Write whole files: beside the target first, then moved there, so that a failure leaves the old file."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from ordag.common.checks import short
from ordag.errors import OutputError

unfinished: set[Path] = set()
"""What is to be removed if the process has to end before it is done with it."""


def remove_unfinished() -> None:
    for path in tuple(unfinished):
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def check_place(path: str | PathLike[str]) -> Path:
    """Where a file of this path goes, if one can be written there."""
    try:
        target = Path(path).resolve()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            target.stat()
        folder, special = target.is_dir(), target.exists() and not target.is_file()
    # Links in a circle; no text; letters of no file system; a name that is too long.
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, OSError):
            raise OutputError(f"{path} is no path of a file: {error.strerror or error}.") from error
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


def check_writable(path: str | PathLike[str]) -> Path:
    """Return the same after making and removing an empty file in the folder: rights alone do not tell of every obstacle."""
    target = check_place(path)
    with _replacing(target, path):
        return target


def write_whole(path: str | PathLike[str], content: str | bytes | Iterable[bytes]) -> Path:
    """Write all of `content` to `path`, or nothing."""
    target = check_place(path)
    with _replacing(target, path) as (file, beside):
        if isinstance(content, str):
            content = content.encode("utf-8", "backslashreplace")  # a path may hold bytes that are no UTF-8
        for piece in [content] if isinstance(content, bytes) else content:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
        file.close()  # Windows moves no open file
        os.chmod(beside, target.stat().st_mode & 0o7777 if target.exists() else _usual_mode())
        os.replace(beside, target)
    return target


@contextlib.contextmanager
def _replacing(target: Path, path: str | PathLike[str]) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a private temporary file beside the target, and remove it at the end if it is still there."""
    beside = target.with_name(f".{uuid.uuid4().hex[:8]}.part")
    unfinished.add(beside)
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file, beside
    except OSError as error:
        kept = " What was there before is unchanged." if target.exists() else ""
        raise OutputError(f"{path} could not be written: {error.strerror or error}.{kept}") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        unfinished.discard(beside)


def _usual_mode() -> int:
    """That of a new file. The mask can only be read by setting it: meanwhile what other threads create is private."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
