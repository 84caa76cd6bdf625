"""Streams of Arrow batches: IPC and Feather files, anything with Arrow's stream protocol, and iterators of tables."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordag.arrays import Array
from ordag.data.reading import Reading
from ordag.data.sources.arrays import open_array
from ordag.data.sources.arrow import kind_of, numbers_of
from ordag.data.sources.columns import select
from ordag.data.sources.frames import open_frame
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
from ordag.data.sources.sniff import TEXT_ENDINGS
from ordag.data.sources.source import Source, regroup
from ordag.errors import ColumnError, UnreadableError
from ordag.words import quoted

ENDINGS = (".arrow", ".arrows", ".feather", ".ipc")
FILE_MARK, STREAM_MARK, OLD_MARK = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"
END_MARK = STREAM_MARK + bytes(4)


@dataclass(frozen=True, eq=False)
class StreamSource(Source):
    """Batches of an Arrow schema. `read` gives them from the first on; where it is the only pass there is, a second is refused."""

    read: Callable[[], Iterator[Any]]
    path: File | None = None
    seen: Stamp = ()
    done: list[float] = field(default_factory=list)  # the share of the file that is read

    @property
    def file_bytes(self) -> int | None:
        return None if self.path is None else size_of([self.path])

    def share(self, rows: int) -> float | None:
        return self.done[-1] if self.done else None

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup(self._blocks(), rows)

    def _blocks(self) -> Iterator[Array]:
        first_row = 1
        with (
            nullcontext() if self.path is None else unchanged(self.path, self.describe, self.seen),
            _said(self.describe),
        ):
            for batch in self.read():
                yield numbers_of(batch, self.names, self.describe, first_row)
                first_row += batch.num_rows


class IpcSource(StreamSource):
    """The batches of a file."""

    @property
    def repeatable(self) -> bool:
        return True


def open_ipc(path: File, describe: str, reading: Reading) -> Source | None:
    """An Arrow file (which Feather files are too) or an Arrow stream in a file, by its ending or its first bytes."""
    ending = path.suffix.lower()
    if ending in TEXT_ENDINGS:
        return None
    seen = stamp_of(path, describe)
    with opened(path, describe) as file:
        start = file.read(8)
    if ending not in ENDINGS and not start.startswith((FILE_MARK, STREAM_MARK, OLD_MARK)):
        return None
    reading.refuse_layout(describe)
    if not start:
        raise UnreadableError(f"{describe} is empty (0 bytes): there is no table in it.")
    if start.startswith(OLD_MARK):
        raise UnreadableError(
            f"{describe} is a Feather file of version 1, which is out of use: write it again as Feather 2 or Parquet."
        )
    if not start.startswith((FILE_MARK, STREAM_MARK)):
        raise UnreadableError(
            f"{describe} is no Arrow file, whatever its name. If it is text, give it the ending .csv."
        )
    is_file = start.startswith(FILE_MARK)
    if not is_file:
        _check_end(path, describe)
    if isinstance(path, Upload):
        with _said(describe):
            check_unpacked(path, describe, _unpacked_size(path, is_file))
    with _said(describe), _ipc(path, is_file) as (file, _):
        schema = file.schema
        names = _selected(schema, reading, describe)
    places = sorted(schema.get_field_index(name) for name in names)
    done: list[float] = []

    def read() -> Iterator[Any]:
        with _ipc(path, is_file, places) as (file, raw):
            batches = (file.get_batch(k) for k in range(file.num_record_batches)) if is_file else file
            for k, batch in enumerate(batches, start=1):
                done[:] = [k / file.num_record_batches if is_file else raw.tell() / raw.size()]
                yield batch

    return IpcSource(names=names, rows=None, describe=describe, read=read, path=path, seen=seen, done=done)


def _unpacked_size(path: File, is_file: bool) -> int:
    """Bytes that the batches of a file take when they are unpacked, as they say themselves."""
    import pyarrow as pa

    size = 0
    with arrow_file(path) as raw:
        raw.seek(8 if is_file else 0)
        while True:
            try:
                message = pa.ipc.read_message(raw)
            except EOFError:
                return size
            if message.type in ("record batch", "dictionary"):
                try:
                    size += _unpacked_batch(message.metadata.to_pybytes(), message.body, message.type == "dictionary")
                except struct.error as error:
                    raise pa.ArrowInvalid("a batch lacks its sizes") from error


def _unpacked_batch(said: bytes, body: Any, dictionary: bool) -> int:
    """Of one batch; `said` is its Message, a FlatBuffer whose tables have their fields at offsets of 16 bits (format/Message.fbs of Arrow).

    A compressed buffer begins with the number of bytes that it unpacks to, or −1 where it is as it is.
    """

    def number(form: str, place: int) -> int:
        return int(struct.unpack_from(f"<{form}", said, place)[0])

    def entry(table: int, field: int) -> int | None:
        fields = table - number("i", table)
        offset = number("H", fields + 4 + 2 * field) if 4 + 2 * field < number("H", fields) else 0
        return table + offset if offset else None

    def inside(table: int, field: int) -> int:
        place = entry(table, field)
        if place is None:
            raise struct.error("a field is not there")
        return place + number("I", place)

    batch = inside(number("I", 0), 2)
    if dictionary:
        batch = inside(batch, 1)
    buffers = inside(batch, 2)
    packed, size = entry(batch, 3) is not None, 0
    for k in range(number("I", buffers)):
        start, length = struct.unpack_from("<qq", said, buffers + 4 + 16 * k)
        unpacked = struct.unpack_from("<q", body, start)[0] if packed and length else -1
        size += length if unpacked < 0 else unpacked
    return size


def _check_end(path: File, describe: str) -> None:
    """A stream may be whole batches and still lack the last ones: only the mark at its end tells."""
    with opened(path, describe) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(END_MARK)))
        if file.read() != END_MARK:
            raise UnreadableError(
                f"{describe} is cut off: the mark at the end of an Arrow stream is missing. Write or copy it again."
            )


@contextmanager
def _ipc(path: File, is_file: bool, places: Sequence[int] | None = None) -> Iterator[Any]:
    """The reader of a file, of the columns at these places, and the open file. It is read, not mapped into memory: where a
    mapped file becomes shorter, the system ends the process."""
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions() if places is None else pa.ipc.IpcReadOptions(included_fields=list(places))
    with arrow_file(path) as raw:
        yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(raw, options=options), raw


def open_stream(data: Any, reading: Reading) -> Source | None:
    """An object with Arrow's stream protocol that is no frame in memory: a query of DuckDB or ibis, a reader of batches."""
    if _is_dataset(data):
        return _open_dataset(data, reading)
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    import pyarrow as pa
    from narwhals.dependencies import is_into_dataframe, is_into_series

    if is_into_dataframe(data) or is_into_series(data) or hasattr(data, "__arrow_c_array__"):
        return None
    describe = f"the {type(data).__name__}"
    with _said(describe):
        reader = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
        names = _selected(reader.schema, reading, describe)
    waiting = [reader]

    def read() -> Iterator[Any]:
        if not waiting and reader is data:
            raise _once(describe)
        return iter(waiting.pop() if waiting else pa.RecordBatchReader.from_stream(data))

    return StreamSource(names=names, rows=None, describe=describe, read=read)


def _is_dataset(data: Any) -> bool:
    """Whether this is a Dataset or a Scanner of pyarrow, which read files when they are asked to."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(data, module.Dataset | module.Scanner)


def _open_dataset(data: Any, reading: Reading) -> Source:
    describe = f"the {type(data).__name__}"
    scans = hasattr(data, "to_reader")
    with _said(describe):
        names = _selected(data.projected_schema if scans else data.schema, reading, describe)

    def read() -> Iterator[Any]:
        return iter(data.to_reader() if scans else data.to_batches(columns=list(names)))

    return StreamSource(names=names, rows=None, describe=describe, read=read)


@dataclass(frozen=True, eq=False)
class PartsSource(Source):
    """Tables that an iterator gives one after the other; there is one pass over them."""

    parts: list[Iterator[Source]]

    def batches(self, rows: int) -> Iterator[Array]:
        if not self.parts:
            raise _once(self.describe)
        blocks = (part.array for part in self.parts.pop())
        return regroup((np.ascontiguousarray(block) for block in blocks if block is not None), rows)


def open_iterator(data: Any, reading: Reading, describe: str = "") -> Source | None:
    """An iterator of batches: data frames, Arrow tables and batches, or arrays, all with the same columns."""
    if not isinstance(data, Iterator):
        return None
    describe = describe or f"the {type(data).__name__}"
    first = next(data, None)
    if first is None:
        raise UnreadableError(f"{describe} is empty: expected data frames, Arrow batches or arrays.")
    start = _part(first, reading, describe, 1)
    wanted = Reading(columns=start.names)

    def parts() -> Iterator[Source]:
        yield start
        for k, item in enumerate(data, start=2):
            part = _part(item, wanted, describe, k)
            if reading.columns is None and len(column_names(item)) != len(column_names(first)):
                extra = [name for name in column_names(item) if name not in start.names]
                raise ColumnError(f"{describe}: part {k} has {quoted(extra)}, which the first part has not.")
            yield part

    return PartsSource(names=start.names, rows=None, describe=describe, parts=[parts()])


def _part(item: Any, reading: Reading, describe: str, number: int) -> Source:
    import pyarrow as pa

    called = f"{describe}, part {number}"
    table = pa.Table.from_batches([item]) if isinstance(item, pa.RecordBatch) else item
    source = open_frame(table, reading, called) or open_array(table, reading, called)
    if source is None:
        raise UnreadableError(
            f"{called} is an object of type {type(item).__name__}: expected a data frame, an Arrow batch or an array."
        )
    return source


def column_names(table: Any) -> list[str]:
    """Those of a frame or of an Arrow table, X1 to Xp of an array, none of anything else."""
    import pyarrow as pa

    if isinstance(table, pa.Table | pa.RecordBatch):
        return list(table.schema.names)
    if hasattr(table, "columns"):
        return [str(name) for name in table.columns]
    return [f"X{j + 1}" for j in range(table.shape[1])] if getattr(table, "ndim", 0) == 2 else []


def _selected(schema: Any, reading: Reading, describe: str) -> tuple[str, ...]:
    kinds = [kind_of(field.type) for field in schema]
    return tuple(schema.names[j] for j in select(schema.names, kinds, reading.columns, describe))


def _once(describe: str) -> UnreadableError:
    return UnreadableError(
        f"{describe} can be read once only, and this takes a second pass: write the rows to a Parquet file, or give a data frame."
    )


@contextmanager
def _said(describe: str) -> Iterator[None]:
    """What pyarrow has against a stream becomes one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip(" :.")
        raise UnreadableError(
            f"{describe} could not be read as a stream of Arrow batches ({reason}): it is damaged or cut off. "
            "Write or copy it again."
        ) from error
