"""How large an Arrow file says that it is: read from its messages before any column or number of it is made."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ordag.data.sources.paths import File, arrow_file

FOOTER_END = 10
"""Bytes at the end of a file after its footer: the length of that, and a mark."""


@dataclass(frozen=True)
class _FlatBuffer:
    """Tables whose fields are at offsets of 16 bits (format/Message.fbs, File.fbs and Schema.fbs of Arrow)."""

    said: bytes

    @property
    def root(self) -> int:
        return self.number("I", 0)

    def number(self, form: str, place: int) -> int:
        return int(struct.unpack_from(f"<{form}", self.said, place)[0])

    def entry(self, table: int, field: int) -> int | None:
        """Where a field of a table is; None where it is left out."""
        fields = table - self.number("i", table)
        offset = self.number("H", fields + 4 + 2 * field) if 4 + 2 * field < self.number("H", fields) else 0
        return table + offset if offset else None

    def inside(self, table: int, field: int) -> int:
        """Where the table or the list is that a field refers to."""
        place = self.entry(table, field)
        if place is None:
            raise struct.error("a field is not there")
        return place + self.number("I", place)


def field_count(path: File, is_file: bool) -> int:
    """Columns of a file or a stream. A reader would make a record of each."""
    import pyarrow as pa

    with arrow_file(path) as raw, _damage("the schema lacks its columns"):
        if is_file:
            raw.seek(-FOOTER_END, os.SEEK_END)
            length = struct.unpack("<i4x2x", raw.read())[0]
            raw.seek(-FOOTER_END - length, os.SEEK_END)
            said, place = _FlatBuffer(raw.read(length)), 1  # Footer.schema
        else:
            said, place = _FlatBuffer(pa.ipc.read_message(raw).metadata.to_pybytes()), 2  # Message.header
        schema = said.inside(said.root, place)
        return said.number("I", said.inside(schema, 1))


def unpacked_size(path: File, is_file: bool) -> int:
    """Bytes that the batches of a file take when they are unpacked."""
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
                with _damage("a batch lacks its sizes"):
                    size += _unpacked_batch(message.metadata.to_pybytes(), message.body, message.type == "dictionary")


def _unpacked_batch(message: bytes, body: Any, dictionary: bool) -> int:
    """Of one batch. A compressed buffer begins with the number of bytes that it unpacks to, or −1 where it is as it is."""
    said = _FlatBuffer(message)
    batch = said.inside(said.root, 2)
    if dictionary:
        batch = said.inside(batch, 1)
    buffers = said.inside(batch, 2)
    packed, size = said.entry(batch, 3) is not None, 0
    for k in range(said.number("I", buffers)):
        start, length = struct.unpack_from("<qq", said.said, buffers + 4 + 16 * k)
        unpacked = struct.unpack_from("<q", body, start)[0] if packed and length else -1
        size += length if unpacked < 0 else unpacked
    return size


@contextmanager
def _damage(words: str) -> Iterator[None]:
    """Numbers that lead out of a message are damage, of which pyarrow would say the same."""
    import pyarrow as pa

    try:
        yield
    except (struct.error, OSError, EOFError) as error:
        raise pa.ArrowInvalid(words) from error
