"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ordag.common.arrays import Array
from ordag.data.reading import Reading
from ordag.data.sources.choosing import choose
from ordag.data.sources.columns import arrow_kind, batch_to_block, look_at
from ordag.data.sources.parts import Part
from ordag.data.sources.paths import File, FileSource, arrow_errors
from ordag.data.sources.source import Source, rows_at_once
from ordag.data.sources.text_layout import HEAD_BYTES, TEXT_ENDINGS
from ordag.errors import UnreadableError

ENDINGS = (".parquet", ".pq")
MAGIC = b"PAR1"  # the first and the last four bytes of every Parquet file
COLUMN_BUFFER, MOST_BUFFERED = (
    1 << 16,
    1 << 27,
)  # bytes read ahead in each column, and in all columns if they are very many
LOOKED_ROWS, LOOKED_NUMBERS = 1 << 12, 1 << 22  # rows of a file that are looked at, fewer if columns are very many
LISTED = 16  # entries in a list of an upload's metadata, for each column that it may have


@dataclass(frozen=True, eq=False)
class ParquetSource(FileSource):
    """One file, of which the selected columns are read."""

    def blocks(self) -> Iterator[Array]:
        (file,) = self.files
        buffer = min(COLUMN_BUFFER, max(2**12, MOST_BUFFERED // max(len(self.names), 1)))
        first_row = 1
        with (
            file.unchanged(),
            _opened(file, buffer) as reader,
            ThreadPoolExecutor(1) as ahead,  # decodes the next batch while the caller computes with this one
        ):
            batches = reader.iter_batches(batch_size=rows_at_once(len(self.names)), columns=list(self.all_names))
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
    part = parquet_part(file, reading)
    return part.source(choose(part.look, reading, file.describe))


def parquet_part(file: File, reading: Reading, *, looking: bool = True) -> Part:
    """Open a Parquet file that may be one of several, and look at its first rows if `looking`."""
    with _opened(file) as reader:
        fields, rows = _fields(reader.schema_arrow, reading.columns), reader.metadata.num_rows
        names = [field.name for field in fields]
        first = None
        if looking and not reading.strict and reading.columns is None and len(set(names)) == len(names):
            kinds = {field.name: arrow_kind(field.type) for field in fields}
            small = [name for name, kind in kinds.items() if kind is None or kind.role != "unusable"]
            batches = reader.iter_batches(batch_size=looked_rows(len(names)), columns=small)
            first = next((one for one in batches if one.num_rows), None)
        look = look_at(fields, first, whole=first is not None and first.num_rows == rows)
    return Part(
        file,
        look,
        first,
        rows,
        lambda chosen: ParquetSource(chosen.names, rows, file.describe, (file,), **chosen.known),
        {field.name for field in fields if str(field.type) == "null"},
    )


def looked_rows(columns: int) -> int:
    """Return how many rows of a table of so many columns are looked at."""
    return max(64, min(LOOKED_ROWS, LOOKED_NUMBERS // max(columns, 1)))


def _fields(schema: Any, wanted: Sequence[str] | None) -> list[Any]:
    """Return the fields of a file, without the index that pandas stored unless columns are named."""
    index = (schema.pandas_metadata or {}).get("index_columns", []) if wanted is None else []
    return [field for field in schema if field.name not in index]


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
