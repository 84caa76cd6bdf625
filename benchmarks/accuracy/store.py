"""Scores of single tables in, a file of lines that is only ever added to out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Address = tuple[str, int, str]

FOLDER = Path(__file__).parents[1] / "results" / "accuracy"


class Store:
    """One file of a folder, which takes new records; `done` has those of all files, the last for every address.

    A record has cell, table, method, hamming, shd, turned, joined, class_hamming, adjustment, edges, seconds, cpu_seconds and
    status. Two processes write to two files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{name}.jsonl"
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            self._append("\n")  # after a line that was cut short
        self.done = stored(folder)

    def add(self, record: Record) -> None:
        self._write(record)
        self.done[address(record)] = record

    def forget(self, method: str) -> None:
        """From here on, what this file held of a method does not count."""
        self._write({"forget": method})
        self.done = {key: record for key, record in self.done.items() if key[2] != method}

    def _write(self, line: Record) -> None:
        self._append(json.dumps(line, ensure_ascii=False) + "\n")

    def _append(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text)


def address(record: Record) -> Address:
    return record["cell"], record["table"], record["method"]


def stored(folder: Path) -> dict[Address, Record]:
    """All records of a folder that were not forgotten. A line cut short by an interruption is left out."""
    found: dict[Address, Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        within: dict[Address, Record] = {}
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if "forget" in line:
                within = {key: record for key, record in within.items() if key[2] != line["forget"]}
            else:
                within[address(line)] = line
        found |= within
    return found
