"""Parquet: one file, or a folder of files that together are one table."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ordag.common.arrays import Array
from ordag.common.words import quoted
from ordag.data.reading import Reading
from ordag.data.sources.choosing import choose
from ordag.data.sources.columns import Kind, Look, arrow_kind, batch_to_block, look_at
from ordag.data.sources.paths import DiskFile, File, FileSource, arrow_errors
from ordag.data.sources.source import Source, rows_at_once
from ordag.data.sources.text_layout import HEAD_BYTES, TEXT_ENDINGS
from ordag.errors import ColumnError, OrdagWarning, UnreadableError

ENDINGS = (".parquet", ".pq")
TEXT = re.compile(r"\.(csv|tsv)(\.\w+)?$", re.IGNORECASE)
MAGIC = b"PAR1"  # the first and the last four bytes of every Parquet file
COLUMN_BUFFER, MOST_BUFFERED = (
    1 << 16,
    1 << 27,
)  # bytes read ahead in each column, and in all columns if they are very many
LOOKED_ROWS, LOOKED_NUMBERS = 1 << 12, 1 << 22  # rows of a file that are looked at, fewer if columns are very many
LISTED = 16  # entries in a list of an upload's metadata, for each column that it may have


@dataclass(frozen=True, eq=False)
class ParquetSource(FileSource):
    """Files with the same columns, of which the selected ones are read, file after file."""

    def _blocks(self) -> Iterator[Array]:
        step = rows_at_once(len(self.names))
        buffer = min(COLUMN_BUFFER, max(2**12, MOST_BUFFERED // max(len(self.names), 1)))
        for file in self.files:
            first_row = 1
            with (
                file.unchanged(),
                _opened(file, buffer) as reader,
                ThreadPoolExecutor(1) as ahead,  # decodes the next batch while the caller computes with this one
            ):
                columns = [*self.names, *(one.name for one in self.covariates)]
                batches = reader.iter_batches(batch_size=step, columns=columns)
                waiting = ahead.submit(next, batches, None)
                while (batch := waiting.result()) is not None:
                    waiting = ahead.submit(next, batches, None)
                    yield batch_to_block(batch, self.names, file.describe, first_row, self.covariates)
                    first_row += batch.num_rows


def open_parquet(file: File, reading: Reading) -> Source | None:
    """Open one Parquet file, recognised by its ending or its first bytes.

    An index that pandas stored in it is used only where `columns` names it.
    """
    if file.ending not in ENDINGS and (file.ending in TEXT_ENDINGS or not _is_parquet(file)):
        return None
    reading.refuse_layout(file.describe)
    with _opened(file) as reader:
        chosen = choose(_look(reader, reading), reading, file.describe)
        return ParquetSource(chosen.names, reader.metadata.num_rows, file.describe, (file,), **chosen.known)


def _look(reader: Any, reading: Reading) -> Look:
    """Look at the first rows of a file, without the index that pandas stored unless columns are named."""
    fields = _fields(reader.schema_arrow, reading.columns)
    names = [field.name for field in fields]
    rows = max(64, min(LOOKED_ROWS, LOOKED_NUMBERS // max(len(names), 1)))
    if reading.strict or reading.columns is not None or len(set(names)) < len(names):
        return look_at(fields, None, whole=False)
    small = [field.name for field in fields if (kind := arrow_kind(field.type)) is None or kind.role != "unusable"]
    first = next((one for one in reader.iter_batches(batch_size=rows, columns=small) if one.num_rows), None)
    return look_at(fields, first, whole=first is not None and first.num_rows == reader.metadata.num_rows)


def open_folder(folder: Path, describe: str, reading: Reading) -> Source:
    """Open all Parquet files in a folder (see `parquet_files`), in the order of their paths, as one table."""
    reading.refuse_layout(describe)
    paths, deeper = _search(folder, describe)
    names = [entry.name for entry in _entries(folder, describe) if not entry.name.startswith((".", "_"))]
    text = sorted(name for name in names if TEXT.search(name))
    if not paths:
        raise UnreadableError(_nothing_to_read(text, describe))
    if text or deeper:
        warnings.warn(
            f"Only the Parquet files in the folder {describe}, its subfolders and their partitions (name=value) are read, "
            f"not {quoted([*text, *(path.relative_to(folder).as_posix() for path in deeper)], 3)}.",
            OrdagWarning,
            stacklevel=4,
        )
    files: list[File] = []
    look: Look | None = None
    first: tuple[str, ...] = ()
    total = 0
    for path in paths:
        file = DiskFile(path, f"{describe}, {path.relative_to(folder).as_posix()}")
        with _opened(file) as reader:
            fields = _fields(reader.schema_arrow, reading.columns)
            names = [field.name for field in fields]
            if look is None:
                look, first = _look(reader, reading), tuple(names)
            else:
                _refuse_mismatch(names, reading, file, first, files[0].name)
                look = _with_others(look, {field.name: arrow_kind(field.type) for field in fields}, file)
            total += reader.metadata.num_rows
        files.append(file)
    assert look is not None
    look = look if len(files) == 1 else replace(look, whole=False)
    chosen = choose(look, reading, describe if len(files) > 1 else files[0].describe)
    return ParquetSource(chosen.names, total, describe, tuple(files), **chosen.known)


def _with_others(look: Look, kinds: Mapping[str, Kind | None], file: File) -> Look:
    """Return the look at a table with another file of it: a column that is text there is no column of numbers anywhere."""
    found = [
        replace(other, holds=f"{other.holds} in {file.name}") if mine is None and other is not None else mine
        for mine, other in ((mine, kinds.get(name)) for name, mine in zip(look.names, look.kinds, strict=True))
    ]
    return replace(look, kinds=found)


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
    names: Sequence[str], reading: Reading, file: File, first: tuple[str, ...], first_file: str
) -> None:
    wanted = first if reading.columns is None else (*reading.columns, *reading.adjust, *reading.row_columns.values())
    missing = [name for name in wanted if name in first and name not in (*names, *reading.drop)]
    extra = [name for name in names if name not in (*first, *reading.drop)] if reading.columns is None else []
    if missing or extra:
        problem = f"lacks {quoted(missing)}, which" if missing else f"has {quoted(extra)}, which"
        contrast = "has" if missing else "has not"
        raise ColumnError(
            f"{file.describe} {problem} {first_file} {contrast}: give all files of a folder the same columns, "
            "or select columns that all of them have with columns=… (--columns on the command line)."
        )


@contextmanager
def _opened(file: File, buffer: int = COLUMN_BUFFER) -> Iterator[Any]:
    """Open the file, which is read ahead by so many bytes in each column."""
    from pyarrow import parquet

    with arrow_errors(file.describe, "Parquet"):
        _check_magic(file)
        raw = file.arrow()
        try:
            reader = parquet.ParquetFile(
                raw,
                pre_buffer=False,
                buffer_size=buffer,
                page_checksum_verification=True,  # only where the file has checksums
                thrift_container_size_limit=None if file.widest is None else LISTED * file.widest,
            )
        except OSError as error:
            if file.widest is not None and "size limit" in str(error):
                file.check_width(file.widest + 1)
            raise
        with raw, reader:
            file.check_width(reader.metadata.num_columns)
            file.check_unpacked(_unpacked_size(reader.metadata))
            yield reader


def _unpacked_size(metadata: Any) -> int:
    """Return the bytes of the pages, or of the numbers if those are more: a page may hold one number for very many rows."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    pages = sum(group.column(j).total_uncompressed_size for group in groups for j in range(group.num_columns))
    return max(int(pages), 8 * int(metadata.num_rows) * int(metadata.num_columns))


def _check_magic(file: File) -> None:
    if file.start(len(MAGIC)) != MAGIC:
        raise UnreadableError(
            f"{file.describe} is not a Parquet file, despite its name. If it is text, give it the ending .csv."
        )
    if file.end(len(MAGIC)) != MAGIC:
        raise UnreadableError(f"{file.describe} is cut off: the end of the Parquet file is missing. Copy it again.")


def _is_parquet(file: File) -> bool:
    """Recognise a Parquet file by its magic bytes; one that is cut off also by its zero bytes, which no text has."""
    start = file.start(HEAD_BYTES)
    return start.startswith(MAGIC) and (file.end(len(MAGIC)) == MAGIC or b"\0" in start)
