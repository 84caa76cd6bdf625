"""Parquet: one file, or a folder of files that together are one table."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ordag.arrays import Array
from ordag.data.reading import Reading
from ordag.data.sources.arrow import kind_of, numbers_of
from ordag.data.sources.columns import Kind, select
from ordag.data.sources.paths import (
    File,
    Stamp,
    Upload,
    arrow_file,
    check_unpacked,
    opened,
    size_of,
    stamp_of,
    unchanged,
)
from ordag.data.sources.sniff import LOOK, TEXT_ENDINGS
from ordag.data.sources.source import Source, regroup, rows_at_once
from ordag.errors import ColumnError, OrdagWarning, UnreadableError
from ordag.words import quoted

ENDINGS = (".parquet", ".pq")
TEXT = re.compile(r"\.(csv|tsv)(\.\w+)?$", re.IGNORECASE)
MARK = b"PAR1"  # the first and the last four bytes of every Parquet file
BUFFER, MOST_BUFFERED = 1 << 16, 1 << 27  # bytes read ahead in each column, and in all of them if those are very many


@dataclass(frozen=True, eq=False)
class ParquetSource(Source):
    """Files with the same columns, read one after the other, and only the selected columns of them."""

    files: tuple[File, ...]
    seen: tuple[Stamp, ...]

    @property
    def repeatable(self) -> bool:
        return True

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup(self._blocks(), rows)

    @property
    def file_bytes(self) -> int | None:
        return size_of(self.files)

    def _blocks(self) -> Iterator[Array]:
        step = rows_at_once(len(self.names))
        for path, seen in zip(self.files, self.seen, strict=True):
            describe = self.describe if len(self.files) == 1 else f"{self.describe}, {path.name}"
            first_row = 1
            buffer = min(BUFFER, max(2**12, MOST_BUFFERED // max(len(self.names), 1)))
            with (
                unchanged(path, describe, seen),
                _opened(path, describe, buffer) as file,
                ThreadPoolExecutor(1) as ahead,  # the next batch is decoded while somebody computes with this one
            ):
                batches = file.iter_batches(batch_size=step, columns=list(self.names))
                waiting = ahead.submit(next, batches, None)
                while True:
                    with _said(describe, partial(_row_group, file, self.names, first_row)):
                        batch = waiting.result()
                    if batch is None:
                        break
                    waiting = ahead.submit(next, batches, None)
                    yield numbers_of(batch, self.names, describe, first_row)
                    first_row += batch.num_rows


def _row_group(file: Any, names: Sequence[str], row: int) -> str:
    """The first row group from this row on that cannot be read, in words."""
    import pyarrow as pa

    end = 0
    for k in range(file.num_row_groups):
        end += file.metadata.row_group(k).num_rows
        if end >= row:
            try:
                file.read_row_group(k, columns=list(names))
            except (pa.ArrowException, OSError):
                return f", row group {k + 1} of {file.num_row_groups}," if file.num_row_groups > 1 else ""
    return ""


def open_parquet(path: File, describe: str, reading: Reading) -> Source | None:
    """One Parquet file, by its ending or else by its marks, as a source.

    An index that pandas stored in it is used only where it is asked for.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS and (ending in TEXT_ENDINGS or not _is_parquet(path, describe)):
        return None
    reading.refuse_layout(describe)
    seen = (stamp_of(path, describe),)
    with _opened(path, describe) as file:
        names = _selected(file.schema_arrow, reading.columns, describe)
        return ParquetSource(names=names, rows=file.metadata.num_rows, describe=describe, files=(path,), seen=seen)


def open_folder(folder: File, describe: str, reading: Reading) -> Source | None:
    """All Parquet files in a folder (see `parquet_files`), in the order of their paths, as one source."""
    if isinstance(folder, Upload) or not folder.is_dir():
        return None
    reading.refuse_layout(describe)
    files, deeper = _searched(folder, describe)
    names = [entry.name for entry in _entries(folder, describe) if not entry.name.startswith((".", "_"))]
    text = sorted(name for name in names if TEXT.search(name))
    if not files:
        raise UnreadableError(_nothing_to_read(text, describe))
    if text or deeper:
        warnings.warn(
            f"Only the Parquet files in the folder {describe}, its subfolders and their partitions (name=value) are read, "
            f"not {quoted([*text, *(place.relative_to(folder).as_posix() for place in deeper)], 3)}.",
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
            if path == files[0]:
                first = _selected(file.schema_arrow, reading.columns, inside)
            else:
                _refuse_mismatch(file.schema_arrow, reading.columns, inside, first, files[0].name)
            total += file.metadata.num_rows
    return ParquetSource(names=first, rows=total, describe=describe, files=files, seen=tuple(seen))


def parquet_files(folder: Path, describe: str) -> tuple[Path, ...]:
    """The Parquet files that `open_folder` reads: those in a folder and in its subfolders, in the order of their paths.

    Of what lies deeper only folders of a partition, such as `year=2020`, are looked into; their names are not read as
    columns. Files and folders whose names start with a dot or an underscore are left out, links to folders too.
    """
    return _searched(folder, describe)[0]


def _searched(folder: Path, describe: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The Parquet files, and the folders that lie too deep to be looked into."""
    found: list[Path] = []
    deeper: list[Path] = []
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        for entry in _entries(place, describe):
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir(follow_symlinks=False):
                near = place == folder or "=" in entry.name
                (waiting if near else deeper).append(place / entry.name)
            elif entry.name.lower().endswith(ENDINGS):
                found.append(place / entry.name)
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


def _selected(schema: Any, wanted: Sequence[str] | None, describe: str) -> tuple[str, ...]:
    fields = _fields(schema, wanted)
    names = [name for name, _ in fields]
    return tuple(names[j] for j in select(names, [kind for _, kind in fields], wanted, describe))


def _fields(schema: Any, wanted: Sequence[str] | None) -> list[tuple[str, Kind | None]]:
    index = (schema.pandas_metadata or {}).get("index_columns", []) if wanted is None else []
    return [(field.name, kind_of(field.type)) for field in schema if field.name not in index]


def _refuse_mismatch(
    schema: Any, wanted: Sequence[str] | None, describe: str, first: tuple[str, ...], first_file: str
) -> None:
    names = [name for name, _ in _fields(schema, wanted)]
    missing = [name for name in first if name not in names]
    extra = [name for name in names if name not in first] if wanted is None else []
    if missing or extra:
        problem = f"lacks {quoted(missing)}, which" if missing else f"has {quoted(extra)}, which"
        contrast = "has" if missing else "has not"
        raise ColumnError(
            f"{describe} {problem} {first_file} {contrast}: give all files of a folder the same columns, "
            "or select columns that all of them have with columns=… (--columns on the command line)."
        )
    _selected(schema, first, describe)


@contextmanager
def _opened(path: File, describe: str, buffer: int = BUFFER) -> Iterator[Any]:
    """The open file, read ahead by so many bytes in each column."""
    from pyarrow import parquet

    with _said(describe):
        _check_marks(path, describe)
        with (
            arrow_file(path) as raw,
            parquet.ParquetFile(raw, pre_buffer=False, buffer_size=buffer, page_checksum_verification=True) as file,
        ):  # checksums only where the file has them
            check_unpacked(path, describe, _unpacked_size(file.metadata))
            yield file


def _unpacked_size(metadata: Any) -> int:
    """Bytes of the pages, or of the numbers if those are more: a page may hold one number for very many rows."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    pages = sum(group.column(j).total_uncompressed_size for group in groups for j in range(group.num_columns))
    return max(int(pages), 8 * int(metadata.num_rows) * int(metadata.num_columns))


@contextmanager
def _said(describe: str, place: Callable[[], str] = str) -> Iterator[None]:
    """What pyarrow or the system has against a file becomes one sentence; `place` is asked where in the file it was."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].strip(" :.")
        if "CRC checksum" in reason:
            reason = "a page does not match its checksum"
        raise UnreadableError(
            f"{describe}{place()} could not be read as Parquet ({reason}): the file is damaged or cut off. "
            "Write or copy it again."
        ) from error


def _check_marks(path: File, describe: str) -> None:
    start, end, size = _marks(path, describe)
    if not size:
        raise UnreadableError(f"{describe} is empty (0 bytes): there is no table in it.")
    if start != MARK:
        raise UnreadableError(
            f"{describe} is not a Parquet file, whatever its name. If it is text, give it the ending .csv."
        )
    if end != MARK:
        raise UnreadableError(f"{describe} is cut off: the end of the Parquet file is missing. Copy it again.")


def _is_parquet(path: File, describe: str) -> bool:
    """By its marks; of one that is cut off, whose end lacks, by the zero bytes that no text has."""
    start, end, _ = _marks(path, describe)
    if start != MARK or end == MARK:
        return start == MARK
    with opened(path, describe) as file:
        return b"\0" in file.read(LOOK)


def _marks(path: File, describe: str) -> tuple[bytes, bytes, int]:
    with opened(path, describe) as file:
        start = file.read(len(MARK))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(MARK)))
        return start, file.read(), size
