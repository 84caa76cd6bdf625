"""Parquet: one file, or a folder of files that together are one table."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordag.arrays import Array
from ordag.data.reading import Reading
from ordag.data.sources.columns import batch_to_block, select_fields
from ordag.data.sources.paths import (
    File,
    Stamp,
    Upload,
    arrow_errors,
    arrow_file,
    check_unpacked,
    check_width,
    opened,
    size_of,
    stamp_of,
    too_wide,
    unchanged,
)
from ordag.data.sources.source import Source, regroup, rows_at_once
from ordag.data.sources.text_layout import HEAD_BYTES, TEXT_ENDINGS
from ordag.errors import ColumnError, OrdagWarning, UnreadableError
from ordag.words import quoted

ENDINGS = (".parquet", ".pq")
TEXT = re.compile(r"\.(csv|tsv)(\.\w+)?$", re.IGNORECASE)
MAGIC = b"PAR1"  # the first and the last four bytes of every Parquet file
COLUMN_BUFFER, MOST_BUFFERED = (
    1 << 16,
    1 << 27,
)  # bytes read ahead in each column, and in all columns if they are very many
LISTED = 16  # entries in a list of an upload's metadata, for each column that it may have


@dataclass(frozen=True, eq=False)
class ParquetSource(Source):
    """Files with the same columns, of which the selected ones are read, file after file."""

    files: tuple[File, ...]
    seen: tuple[Stamp, ...]

    @property
    def repeatable(self) -> bool:
        return True

    @property
    def file_bytes(self) -> int | None:
        return size_of(self.files)

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup(self._blocks(), rows)

    def _blocks(self) -> Iterator[Array]:
        step = rows_at_once(len(self.names))
        buffer = min(COLUMN_BUFFER, max(2**12, MOST_BUFFERED // max(len(self.names), 1)))
        for path, seen in zip(self.files, self.seen, strict=True):
            describe = self.describe if len(self.files) == 1 else f"{self.describe}, {path.name}"
            first_row = 1
            with (
                unchanged(path, describe, seen),
                _opened(path, describe, buffer) as file,
                ThreadPoolExecutor(1) as ahead,  # decodes the next batch while the caller computes with this one
            ):
                batches = file.iter_batches(batch_size=step, columns=list(self.names))
                waiting = ahead.submit(next, batches, None)
                while (batch := waiting.result()) is not None:
                    waiting = ahead.submit(next, batches, None)
                    yield batch_to_block(batch, self.names, describe, first_row)
                    first_row += batch.num_rows


def open_parquet(path: File, describe: str, reading: Reading) -> Source | None:
    """Open one Parquet file, recognised by its ending or its first bytes.

    An index that pandas stored in it is used only where `columns` names it.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS and (ending in TEXT_ENDINGS or not _is_parquet(path, describe)):
        return None
    reading.refuse_layout(describe)
    seen = (stamp_of(path, describe),)
    with _opened(path, describe) as file:
        names = select_fields(_fields(file.schema_arrow, reading.columns), reading.columns, describe)
        return ParquetSource(names, file.metadata.num_rows, describe, (path,), seen)


def open_folder(folder: File, describe: str, reading: Reading) -> Source | None:
    """Open all Parquet files in a folder (see `parquet_files`), in the order of their paths, as one table."""
    if isinstance(folder, Upload) or not folder.is_dir():
        return None
    reading.refuse_layout(describe)
    files, deeper = _search(folder, describe)
    names = [entry.name for entry in _entries(folder, describe) if not entry.name.startswith((".", "_"))]
    text = sorted(name for name in names if TEXT.search(name))
    if not files:
        raise UnreadableError(_nothing_to_read(text, describe))
    if text or deeper:
        warnings.warn(
            f"Only the Parquet files in the folder {describe}, its subfolders and their partitions (name=value) are read, "
            f"not {quoted([*text, *(path.relative_to(folder).as_posix() for path in deeper)], 3)}.",
            OrdagWarning,
            stacklevel=4,
        )
    first: tuple[str, ...] = ()
    seen: list[Stamp] = []
    total = 0
    for path in files:
        inside = f"{describe}, {path.relative_to(folder).as_posix()}"
        seen.append(stamp_of(path, inside))
        with _opened(path, inside) as file:
            fields = _fields(file.schema_arrow, reading.columns)
            if first:
                _refuse_mismatch([field.name for field in fields], reading.columns, inside, first, files[0].name)
            first = select_fields(fields, first or reading.columns, inside)
            total += file.metadata.num_rows
    return ParquetSource(first, total, describe, files, tuple(seen))


def parquet_files(folder: Path, describe: str) -> tuple[Path, ...]:
    """Return the Parquet files that `open_folder` reads: those in a folder and in its subfolders, in the order of their paths.

    Deeper down, only the folders of a partition, such as `year=2020`, are searched; their names are not read as columns. Files and
    folders whose names start with a dot or an underscore are left out, and so are links to folders.
    """
    return _search(folder, describe)[0]


def _search(folder: Path, describe: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the Parquet files, and the folders that are too deep to be searched."""
    found: list[Path] = []
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
            elif entry.name.lower().endswith(ENDINGS):
                found.append(parent / entry.name)
    return tuple(sorted(found)), tuple(sorted(deeper))


def _entries(folder: Path, describe: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise UnreadableError(f"The folder {folder} in {describe} cannot be listed: {error.strerror}.") from error


def _nothing_to_read(text: Sequence[str], describe: str) -> str:
    none = f"The folder {describe} holds no Parquet files ({' or '.join(ENDINGS)})"
    if text:
        return (
            f"{none}, and its text files ({quoted(text, 3)}) are not read as one table: give the path of one of them."
        )
    return f"{none}, nor do its subfolders: give the path of a file, or of a folder of Parquet files."


def _fields(schema: Any, wanted: Sequence[str] | None) -> list[Any]:
    """Return the fields of a file, without the index that pandas stored unless columns are named."""
    index = (schema.pandas_metadata or {}).get("index_columns", []) if wanted is None else []
    return [field for field in schema if field.name not in index]


def _refuse_mismatch(
    names: Sequence[str], wanted: Sequence[str] | None, describe: str, first: tuple[str, ...], first_file: str
) -> None:
    missing = [name for name in first if name not in names]
    extra = [name for name in names if name not in first] if wanted is None else []
    if missing or extra:
        problem = f"lacks {quoted(missing)}, which" if missing else f"has {quoted(extra)}, which"
        contrast = "has" if missing else "has not"
        raise ColumnError(
            f"{describe} {problem} {first_file} {contrast}: give all files of a folder the same columns, "
            "or select columns that all of them have with columns=… (--columns on the command line)."
        )


@contextmanager
def _opened(path: File, describe: str, buffer: int = COLUMN_BUFFER) -> Iterator[Any]:
    """Open the file, which is read ahead by so many bytes in each column."""
    from pyarrow import parquet

    widest = path.widest if isinstance(path, Upload) else None
    with arrow_errors(describe, "Parquet"):
        _check_magic(path, describe)
        raw = arrow_file(path)
        try:
            file = parquet.ParquetFile(
                raw,
                pre_buffer=False,
                buffer_size=buffer,
                page_checksum_verification=True,  # only where the file has checksums
                thrift_container_size_limit=None if widest is None else LISTED * widest,
            )
        except OSError as error:
            if widest is not None and "size limit" in str(error):
                raise too_wide(describe, widest) from error
            raise
        with raw, file:
            check_width(path, describe, file.metadata.num_columns)
            check_unpacked(path, describe, _unpacked_size(file.metadata))
            yield file


def _unpacked_size(metadata: Any) -> int:
    """Return the bytes of the pages, or of the numbers if those are more: a page may hold one number for very many rows."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    pages = sum(group.column(j).total_uncompressed_size for group in groups for j in range(group.num_columns))
    return max(int(pages), 8 * int(metadata.num_rows) * int(metadata.num_columns))


def _check_magic(path: File, describe: str) -> None:
    start, end = _magic(path, describe)
    if not start:
        raise UnreadableError(f"{describe} is empty (0 bytes): there is no table in it.")
    if start != MAGIC:
        raise UnreadableError(
            f"{describe} is not a Parquet file, whatever its name. If it is text, give it the ending .csv."
        )
    if end != MAGIC:
        raise UnreadableError(f"{describe} is cut off: the end of the Parquet file is missing. Copy it again.")


def _is_parquet(path: File, describe: str) -> bool:
    """Recognise a Parquet file by its magic bytes; one that is cut off also by its zero bytes, which no text has."""
    start, end = _magic(path, describe)
    if start != MAGIC or end == MAGIC:
        return start == MAGIC
    with opened(path, describe) as file:
        return b"\0" in file.read(HEAD_BYTES)


def _magic(path: File, describe: str) -> tuple[bytes, bytes]:
    """Return the first and the last four bytes."""
    with opened(path, describe) as file:
        start = file.read(len(MAGIC))
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(MAGIC)))
        return start, file.read()
