"""Arrow files: the file format, which Feather files have too, and the stream format."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ordag.common.arrays import Array
from ordag.data.reading import Reading
from ordag.data.sources.choosing import choose
from ordag.data.sources.columns import batch_to_block, look_at
from ordag.data.sources.paths import File, FileSource, Upload, arrow_errors
from ordag.data.sources.source import Source
from ordag.data.sources.text_layout import TEXT_ENDINGS
from ordag.errors import UnreadableError

ENDINGS = (".arrow", ".arrows", ".feather", ".ipc")
FILE_MAGIC, STREAM_MAGIC, OLD_FEATHER = b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"
STREAM_END = STREAM_MAGIC + bytes(4)
FORMAT = "a stream of Arrow batches"


@dataclass(frozen=True, eq=False)
class ArrowFileSource(FileSource):
    """The batches of a file, of which the selected columns are read."""

    is_file: bool  # the file format, not the stream format
    positions: tuple[int, ...]
    done: list[float] = field(default_factory=list)  # the share of the file that is read

    def share(self, rows: int) -> float | None:
        return self.done[-1] if self.done else None

    def blocks(self) -> Iterator[Array]:
        first_row = 1
        with (
            self.files[0].unchanged(),
            arrow_errors(self.describe, FORMAT),
            _reader(self.files[0], self.is_file, self.positions) as (reader, raw),
        ):
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches)) if self.is_file else reader
            for k, batch in enumerate(batches, start=1):
                self.done[:] = [k / reader.num_record_batches if self.is_file else raw.tell() / raw.size()]
                yield batch_to_block(batch, self.names, self.describe, first_row, self.covariates)
                first_row += batch.num_rows


def open_arrow_file(file: File, reading: Reading) -> Source | None:
    """Open an Arrow or Feather file, or an Arrow stream in a file, recognised by its ending or its first bytes."""
    if file.ending in TEXT_ENDINGS:
        return None
    describe, start = file.describe, file.start(8)
    if file.ending not in ENDINGS and not start.startswith((FILE_MAGIC, STREAM_MAGIC, OLD_FEATHER)):
        return None
    reading.refuse_layout(describe)
    if start.startswith(OLD_FEATHER):
        raise UnreadableError(
            f"{describe} is a Feather file of version 1, which is out of use: write it again as Feather 2 or Parquet."
        )
    if not start.startswith((FILE_MAGIC, STREAM_MAGIC)):
        raise UnreadableError(
            f"{describe} is not an Arrow file, despite its name. If it is text, give it the ending .csv."
        )
    is_file = start.startswith(FILE_MAGIC)
    if not is_file and file.end(len(STREAM_END)) != STREAM_END:  # whole batches may still lack the last ones
        raise UnreadableError(
            f"{describe} is cut off: the mark at the end of an Arrow stream is missing. Write or copy it again."
        )
    with arrow_errors(describe, FORMAT):
        if isinstance(file, Upload):
            _check_upload(file, is_file)
        with _reader(file, is_file) as (reader, _):
            schema = reader.schema
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches)) if is_file else reader
            first = next((batch for batch in batches if batch.num_rows), None)
            whole = first is not None and is_file and reader.num_record_batches == 1
            chosen = choose(look_at(schema, first, whole=whole), reading, describe)
    return ArrowFileSource(chosen.names, None, describe, (file,), is_file, tuple(sorted(chosen.read)), **chosen.known)


@contextmanager
def _reader(file: File, is_file: bool, positions: Sequence[int] | None = None) -> Iterator[Any]:
    """Open pyarrow's reader of the columns at these positions, and the file.

    The file is read, not mapped into memory: where a mapped file becomes shorter, the system ends the process.
    """
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(included_fields=None if positions is None else list(positions))
    with file.arrow() as raw:
        yield (pa.ipc.open_file if is_file else pa.ipc.open_stream)(raw, options=options), raw


def _check_upload(file: Upload, is_file: bool) -> None:
    """Refuse an upload with too many columns or bytes by the metadata of its messages, before pyarrow makes or unpacks any."""
    import pyarrow as pa

    size = 0
    with file.arrow() as raw:
        raw.seek(8 if is_file else 0)
        try:
            file.check_width(_field_count(pa.ipc.read_message(raw).metadata.to_pybytes()))
            while True:
                try:
                    message = pa.ipc.read_message(raw)
                except EOFError:
                    return
                if message.type in ("record batch", "dictionary"):
                    size += _unpacked_size(
                        message.metadata.to_pybytes(), message.body, is_dictionary=message.type == "dictionary"
                    )
                    file.check_unpacked(size)
        except (struct.error, EOFError) as error:
            raise pa.ArrowInvalid("a message lacks its sizes") from error


def _field_count(metadata: bytes) -> int:
    """Return the number of columns in the metadata of a schema message."""
    (root,) = struct.unpack_from("<I", metadata)
    schema = _target(metadata, root, 2)
    return int(struct.unpack_from("<I", metadata, _target(metadata, schema, 1))[0])


def _unpacked_size(metadata: bytes, body: Any, is_dictionary: bool) -> int:
    """Return the bytes that a batch unpacks to.

    A compressed buffer begins with the number of bytes that it unpacks to, or −1 if it is stored as it is.
    """
    (root,) = struct.unpack_from("<I", metadata)
    batch = _target(metadata, root, 2)
    if is_dictionary:
        batch = _target(metadata, batch, 1)
    buffers, compressed, size = _target(metadata, batch, 2), _target(metadata, batch, 3) > 0, 0
    for k in range(struct.unpack_from("<I", metadata, buffers)[0]):
        start, length = struct.unpack_from("<qq", metadata, buffers + 4 + 16 * k)
        unpacked = struct.unpack_from("<q", body, start)[0] if compressed and length else -1
        size += length if unpacked < 0 else unpacked
    return size


def _target(metadata: bytes, table: int, field: int) -> int:
    """Return the position of what a field of a FlatBuffers table refers to, 0 if it is absent.

    The tables are those of format/Message.fbs and Schema.fbs of Arrow; pyarrow does not expose the sizes in them.
    """
    entries = table - struct.unpack_from("<i", metadata, table)[0]
    (end,) = struct.unpack_from("<H", metadata, entries)
    if 4 + 2 * field >= end:
        return 0
    (offset,) = struct.unpack_from("<H", metadata, entries + 4 + 2 * field)
    return int(table + offset + struct.unpack_from("<I", metadata, table + offset)[0]) if offset else 0
