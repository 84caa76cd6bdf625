"""`Journal`: the finished tasks of an experiment in a JSON-lines file that survives interruptions."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from ordag import __version__
from ordag.common.files import write_whole
from ordag.errors import OutputError
from ordag.paper.experiment import Experiment, ReproductionError, Rows, Task

FORMAT = 1

write = os.write

Checksums = dict[str, set[str]]
"""From the names of files to the SHA-256 of every content written there."""


class Journal:
    """A file with a header of experiment and settings, then one line per finished task or file written beside it.

    Lines are only appended, each whole or not at all, so a run interrupted at any moment can continue. `done` has the rows
    of all finished tasks, `written` the checksums of the files written, by name.
    """

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path = path
        self.done: dict[Task, Rows] = {}
        self.written: Checksums = {}
        header = {
            "ordag_journal": FORMAT,
            "version": __version__,
            "experiment": experiment.name,
            "settings": _plain(experiment.settings),
        }
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise OutputError(f"{path} could not be opened: {error.strerror or error}.") from error
        try:
            _lock(self._file, path)
            self._end = self._read(header)
            if self._end == 0:
                self._append(header)
        except BaseException:
            os.close(self._file)
            raise

    def _read(self, header: Mapping[str, Any]) -> int:
        """Read the lines of the file; return its length without an incomplete last line."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        lines = content[:end].splitlines()
        if not lines and _line(header).startswith(content):
            return 0
        _check_header(_parsed(lines[0]) if lines else None, header, self.path)
        entries = [_parsed(line) for line in lines[1:]]
        for entry in entries:
            # The task of a damaged line counts as not done.
            with contextlib.suppress(KeyError, TypeError):
                self.done[Task(**entry["task"])] = entry["rows"]
        self.written = _checksums(entries)
        return end

    def add(self, task: Task, rows: Rows) -> None:
        """Record a finished task."""
        entry = {"task": task.address, "rows": _plain(rows)}
        self._append(entry)
        self.done[task] = entry["rows"]

    def write(self, name: str, content: bytes) -> Path:
        """Write a file beside the journal, unless that would replace a file that no run has written."""
        path = self.path.with_name(name)
        _refuse_foreign([path], self.written)
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self.written.get(name, ()):
            self._append({"file": name, "sha256": digest})
            self.written.setdefault(name, set()).add(digest)
        return write_whole(path, content)

    def _append(self, entry: Mapping[str, Any]) -> None:
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
            raise OutputError(
                f"{self.path} could not be written: {error.strerror or error}. The {len(self.done)} tasks done before are "
                "kept there: when this is solved, the same command continues from them."
            ) from error
        self._end += len(line)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def refuse_foreign(folder: Path, experiment: Experiment) -> None:
    """Raise if files with the names of results were not written by a run, or were changed since; call before any work."""
    journal = folder / f"{experiment.name}.journal"
    results = re.compile(re.escape(experiment.name) + r"(\.csv|\.md|([-_].*)?\.(png|svg))")
    try:
        lines = journal.read_bytes().splitlines() if journal.is_file() else []
        found = sorted(path for path in folder.iterdir() if results.fullmatch(path.name)) if folder.is_dir() else []
    except OSError as error:
        raise OutputError(f"The folder {folder} could not be read: {error.strerror or error}.") from error
    _refuse_foreign(found, _checksums(map(_parsed, lines)))


def _refuse_foreign(paths: Iterable[Path], written: Mapping[str, Collection[str]]) -> None:
    for path in paths:
        if path.exists() and _checksum(path) not in written.get(path.name, ()):
            raise OutputError(
                f"{path} is none of the files that this command wrote, or was changed since: move it, or choose another folder with --out."
            )


def _checksum(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _checksums(entries: Iterable[Any]) -> Checksums:
    """Collect the checksums of files from the lines of a journal."""
    found: Checksums = {}
    for entry in entries:
        with contextlib.suppress(KeyError, TypeError):
            found.setdefault(entry["file"], set()).add(entry["sha256"])
    return found


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def _plain(value: Any) -> Any:
    """Return the value as JSON gives it back, so that a run and its continuation see the same."""
    return json.loads(json.dumps(value, default=lambda other: other.item()))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _check_header(found: Any, expected: Mapping[str, Any], path: Path) -> None:
    if found == expected:
        return
    what = "is not a journal of this command"
    if isinstance(found, dict) and "ordag_journal" in found:
        differing = [name for name in expected if found.get(name) != expected[name]]
        what = " and ".join(_difference(name, found.get(name), expected[name]) for name in differing)
    raise ReproductionError(
        f"{path} {what}, so this run cannot continue it: choose another folder with --out, or delete that file to start over."
    )


def _difference(name: str, found: Any, expected: Any) -> str:
    if name == "settings" and isinstance(found, dict):
        names = sorted(key for key in {*found, *expected} if found.get(key) != expected.get(key))
        return f"was made with other settings ({', '.join(names)})"
    return f"was made with {name.replace('_', ' ')} {found} (this is {expected})"


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
