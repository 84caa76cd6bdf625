"""Folders: Parquet files, or text files where there are none, that together are one table."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ordag.common.arrays import Array
from ordag.common.words import quoted
from ordag.data.reading import TEXT_LAYOUT, Reading
from ordag.data.sources.choosing import choose
from ordag.data.sources.columns import refuse_duplicates
from ordag.data.sources.csv import text_part
from ordag.data.sources.parquet import ENDINGS, looked_rows, parquet_part
from ordag.data.sources.parts import Part, shared_columns, together
from ordag.data.sources.paths import DiskFile, FileSource
from ordag.data.sources.source import Source
from ordag.errors import OrdagWarning, UnreadableError

PARQUET = re.compile(r".*\.(parquet|pq)", re.IGNORECASE)
TEXT = re.compile(r".*\.(csv|tsv)(\.(gz|bz2|zst|lz4))?", re.IGNORECASE)
OTHER = re.compile(r".*\.(csv|tsv|xlsx|xlsm|xls|ods|arrow|feather)(\.\w+)?", re.IGNORECASE)
"""Names of files that are said not to be read."""


@dataclass(frozen=True, eq=False)
class FolderSource(FileSource):
    """Files with the same columns, read one after the other."""

    parts: tuple[FileSource, ...]
    begun: list[FileSource] = field(default_factory=list)  # the parts that are read or being read

    def share(self, rows: int) -> float | None:
        if self.rows or not self.begun:
            return super().share(rows)
        sizes = [part.file_bytes or 0 for part in self.parts]
        k = len(self.begun) - 1
        return (sum(sizes[:k]) + (self.parts[k].share(rows) or 0.0) * sizes[k]) / max(sum(sizes), 1)

    def blocks(self) -> Iterator[Array]:
        self.begun.clear()
        for part in self.parts:
            self.begun.append(part)
            yield from part.blocks()


def open_folder(folder: Path, describe: str, reading: Reading) -> Source:
    """Open the files of a folder (see `table_files`), in the order of their paths, as one table."""
    paths, deeper = _search(folder, describe)
    names = sorted(entry.name for entry in _entries(folder, describe) if not entry.name.startswith((".", "_")))
    read = {path.name for path in paths if path.parent == folder}
    others = [name for name in names if OTHER.fullmatch(name) and name not in read]
    if not paths:
        advice = f"{quoted(others, 3)} cannot be read as one table: give the path of one of them."
        raise UnreadableError(
            f"The folder {describe} and its subfolders hold neither Parquet files ({' or '.join(ENDINGS)}) nor CSV files (.csv or .tsv). "
            f"{advice if others else 'Give the path of a file, or of a folder of such files.'}"
        )
    is_parquet = PARQUET.fullmatch(paths[0].name) is not None
    reading.refuse_layout(describe, *(() if is_parquet else TEXT_LAYOUT))
    if others or deeper:
        warnings.warn(
            f"Only the {'Parquet' if is_parquet else 'CSV'} files in the folder {describe}, its subfolders and their partitions "
            f"(name=value) are read, not {quoted([*others, *(path.relative_to(folder).as_posix() for path in deeper)], 3)}.",
            OrdagWarning,
            stacklevel=4,
        )
    opened: Callable[..., Part] = parquet_part if is_parquet else text_part
    parts: list[Part] = []
    looked, enough = 0, 1
    for path in paths:
        file = DiskFile(path, f"{describe}, {path.relative_to(folder).as_posix()}")
        part = opened(file, reading, looking=looked < enough)
        parts.append(part)
        looked += 0 if part.first is None else len(part.first)
        enough = looked_rows(len(part.look.names))
    reading = shared_columns(parts, reading)
    describe = describe if len(parts) > 1 else parts[0].file.describe
    chosen = choose(together(parts), reading, describe)
    for part in parts[1:]:
        given = list(part.look.names)
        refuse_duplicates(given, [given.index(name) for name in chosen.read_names], part.file.describe)
    sources = [part.source(chosen) for part in parts]
    counts = [part.rows for part in parts if part.rows is not None]
    return FolderSource(
        chosen.names,
        sum(counts) if len(counts) == len(parts) else None,
        describe,
        tuple(part.file for part in parts),
        tuple(sources),
        notes=_notes(sources),
        **chosen.known,
    )


def _notes(sources: list[FileSource]) -> tuple[str, ...]:
    """Return how the files were read, each note once, with the first file that it is about if not about all."""
    told: dict[str, list[str]] = {}
    for source in sources:
        for note in source.notes:
            told.setdefault(note, []).append(source.files[0].name)
    return tuple(
        note if len(files) == len(sources) else f"In {quoted(files, 2)}: {note[0].lower()}{note[1:]}"
        for note, files in told.items()
    )


def table_files(folder: Path, describe: str) -> tuple[Path, ...]:
    """Return the files that `open_folder` reads: Parquet files, or text files where there are none, in the order of their paths.

    They lie in the folder and in its subfolders. Deeper down, only the folders of a partition, such as `year=2020`, are searched; their
    names are not read as columns. Names that start with a dot or an underscore are left out, and so are links to folders.
    """
    return _search(folder, describe)[0]


def _search(folder: Path, describe: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the files that are read, and the folders that are too deep to be searched."""
    parquet: list[Path] = []
    text: list[Path] = []
    deeper: list[Path] = []
    waiting = [folder]
    while waiting:
        parent = waiting.pop()
        for entry in _entries(parent, describe):
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir(follow_symlinks=False):
                near = parent == folder or "=" in entry.name
                (waiting if near else deeper).append(parent / entry.name)
            elif PARQUET.fullmatch(entry.name):
                parquet.append(parent / entry.name)
            elif TEXT.fullmatch(entry.name):
                text.append(parent / entry.name)
    return tuple(sorted(parquet or text)), tuple(sorted(deeper))


def _entries(folder: Path, describe: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise UnreadableError(f"The folder {folder} in {describe} cannot be listed: {error.strerror}.") from error
