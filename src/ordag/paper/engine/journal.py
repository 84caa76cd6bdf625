"""Rows of finished tasks in, a journal that survives interruptions out."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from ordag import __version__
from ordag.errors import OutputError
from ordag.files import write_whole
from ordag.paper.engine.experiment import Experiment, ReproductionError, Rows, Task

FORMAT = 1
SYNC_SECONDS = 2.0
"""Lines are handed to the system at once, and forced to the disk at most this long after."""

write = os.write

Written = dict[str, set[str]]
"""From the names of files to the SHA-256 of everything that was written there."""


class Journal:
    """A file with one line per finished task, after a first line that says which experiment and settings it is of.

    Lines are only ever added, each whole or not at all, so that a run that was interrupted at any moment can go on:
    `done` has what the file held when it was opened and what was added since. Lines in between have the checksums of the files
    that were written beside it: `written` are those of each, by its name.
    """

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path = path
        self.done: dict[Task, Rows] = {}
        self.written: Written = {}
        self._synced = time.monotonic()
        header = {
            "ordag_journal": FORMAT,
            "version": __version__,
            "experiment": experiment.name,
            "settings": _as_read_back(experiment.settings),
        }
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise OutputError(f"{path} could not be opened: {error.strerror or error}.") from error
        try:
            _lock(self._file, path)
            self._end = self._read(header)
            if self._end == 0:
                self._add(header)
        except BaseException:
            os.close(self._file)
            raise

    def _read(self, header: Mapping[str, Any]) -> int:
        """Take in the lines that are there; gives the length of the file without a line that was cut short."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        lines = content[:end].splitlines()
        if not lines and _line(header).startswith(content):
            return 0
        _check_header(_loaded(lines[0]) if lines else None, header, self.path)
        entries = [_loaded(line) for line in lines[1:]]
        for entry in entries:
            # What cannot be read is no reason to stop: its task counts as not done.
            with contextlib.suppress(KeyError, TypeError):
                self.done[Task(**entry["task"])] = entry["rows"]
        self.written = _written(entries)
        return end

    def add(self, task: Task, rows: Rows) -> None:
        """Write down a finished task."""
        entry = {"task": task.address, "rows": _as_read_back(rows)}
        self._add(entry)
        self.done[task] = entry["rows"]
        if time.monotonic() - self._synced > SYNC_SECONDS:
            try:
                os.fsync(self._file)
            except OSError as error:
                raise self._unwritable(error) from error
            self._synced = time.monotonic()

    def write(self, name: str, content: bytes) -> Path:
        """Write a file beside the journal, in the place of one that a run has written and of no other."""
        path = self.path.with_name(name)
        _refuse_foreign([path], self.written)
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self.written.get(name, ()):
            self._add({"file": name, "sha256": digest})
            self.written.setdefault(name, set()).add(digest)
        return write_whole(path, content)

    def _add(self, entry: Mapping[str, Any]) -> None:
        line = _line(entry)
        try:
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
            rest = memoryview(line)
            while rest:
                rest = rest[write(self._file, rest) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise self._unwritable(error) from error
        self._end += len(line)

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.path} could not be written: {error.strerror or error}. The {len(self.done)} tasks done before are "
            "kept there: when this is mended, the same command goes on from them."
        )

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)


def refuse_foreign(folder: Path, experiment: Experiment) -> None:
    """Refuse, before any work is done, a folder with files in the place of results that no run has written, or that were changed since."""
    journal = folder / f"{experiment.name}.journal"
    results = re.compile(re.escape(experiment.name) + r"(\.csv|\.md|([-_].*)?\.(png|svg))")
    try:
        lines = journal.read_bytes().splitlines() if journal.is_file() else []
        found = sorted(path for path in folder.iterdir() if results.fullmatch(path.name)) if folder.is_dir() else []
    except OSError as error:
        raise OutputError(f"The folder {folder} could not be read: {error.strerror or error}.") from error
    _refuse_foreign(found, _written(map(_loaded, lines)))


def _refuse_foreign(paths: Iterable[Path], written: Mapping[str, Collection[str]]) -> None:
    for path in paths:
        if path.exists() and _digest(path) not in written.get(path.name, ()):
            raise OutputError(
                f"{path} is none of the files that this command wrote, or was changed since: move it, or choose another folder with --out."
            )


def _digest(path: Path) -> str | None:
    """The SHA-256 of a file; None of what is none, or cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _written(entries: Iterable[Any]) -> Written:
    """The checksums of files, by their names, that these lines of a journal have."""
    found: Written = {}
    for entry in entries:
        with contextlib.suppress(KeyError, TypeError):
            found.setdefault(entry["file"], set()).add(entry["sha256"])
    return found


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def _as_read_back(value: Any) -> Any:
    """The value as it comes back from JSON, so that a run and its continuation see the same."""
    return json.loads(json.dumps(value, default=lambda other: other.item()))


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _check_header(found: Any, wanted: Mapping[str, Any], path: Path) -> None:
    if found == wanted:
        return
    what = "is not a journal of this command"
    if isinstance(found, dict) and "ordag_journal" in found:
        differing = [name for name in wanted if found.get(name) != wanted[name]]
        what = " and ".join(_difference(name, found.get(name), wanted[name]) for name in differing)
    raise ReproductionError(
        f"{path} {what}, so its results cannot be gone on with: choose another folder with --out, or delete that file "
        "to start over."
    )


def _difference(name: str, found: Any, wanted: Any) -> str:
    if name == "settings" and isinstance(found, dict):
        names = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
        return f"was made with other settings ({', '.join(names)})"
    return f"was made with {name.replace('_', ' ')} {found} (this is {wanted})"


def _lock(file: int, path: Path) -> None:
    """Keep a second run out of the same folder, where the system can (not on Windows)."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ReproductionError(
            f"{path} is in use by another run: wait for it, or choose another folder with --out."
        ) from None
    except OSError:
        pass  # a file system without locks
