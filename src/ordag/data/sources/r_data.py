"""Data frames of R in .rds files. Nothing in such a file is ever run: functions and calls in it are refused or left alone."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ordag.data.reading import Reading
from ordag.data.sources.frames import open_frame
from ordag.data.sources.paths import File
from ordag.data.sources.readers import library, reader_errors
from ordag.data.sources.source import Source
from ordag.errors import UnreadableError

ENDINGS = (".rds", ".rdata", ".rda")
WHAT = "a file of R"
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
CHUNK = 1 << 22
VECTOR_OF_OBJECTS = 19


def open_rds(file: File, reading: Reading) -> Source | None:
    """Open the data frame in an .rds file; factors are categories, and row names are left out, as the index of a data frame is."""
    if file.ending not in ENDINGS:
        return None
    describe = file.describe
    if file.ending != ".rds":
        raise UnreadableError(
            f"{describe} is a workspace of R, which may hold several objects: save the data frame alone, saveRDS(x, "
            f'"{file.name.rsplit(".", 1)[0]}.rds").'
        )
    reading.refuse_layout(describe)
    rdata = library("rdata", "rdata", describe, WHAT)
    with file.unchanged(), reader_errors(describe, WHAT):
        content = _unpacked(file)
        file.check_width(_length(content))
        value = _convert(rdata, content, describe)
        file.check_width(value.shape[1])
    return open_frame(value, reading, describe)


def _unpacked(file: File) -> bytes:
    """Return the bytes of the file, unpacked, within the bounds of an upload."""
    start = file.start(6)
    opener = next((opener for mark, opener in PACKED.items() if start.startswith(mark)), None)
    unpacked, size = io.BytesIO(), 0
    with file.open() as raw, raw if opener is None else opener(raw) as stream:
        while more := stream.read(CHUNK):
            size += len(more)
            file.check_unpacked(size)
            unpacked.write(more)
    return unpacked.getvalue()


def _length(content: bytes) -> int:
    """Return how many columns a data frame has in R's usual format, from its first bytes; 0 for other objects and formats."""
    with suppress(struct.error):
        mark, version = struct.unpack_from(">2si", content)
        start = 14 + (4 + struct.unpack_from(">i", content, 14)[0] if version > 2 else 0)  # the name of an encoding
        kind, length = struct.unpack_from(">2i", content, start)
        if mark == b"X\n" and kind & 0xFF == VECTOR_OF_OBJECTS:
            return int(length)
    return 0


def _convert(rdata: Any, content: bytes, describe: str) -> Any:
    """Return the object in the file if it is a data frame."""
    import pandas as pd

    kinds = {**rdata.conversion.DEFAULT_CLASS_MAP, "Date": _days, "POSIXct": _seconds, "difftime": _plain}
    value = rdata.conversion.convert(rdata.parser.parse_data(content, extension=".rds"), kinds)
    if not isinstance(value, pd.DataFrame):
        what = "a matrix" if getattr(value, "ndim", 0) == 2 else f"an object of another kind ({type(value).__name__})"
        raise UnreadableError(
            f'{describe} holds {what}, not a data frame: save one, saveRDS(as.data.frame(x), "{describe}") in R.'
        )
    return value.reset_index(drop=True)


def _days(values: Any, _: Mapping[str, Any]) -> Any:
    import pandas as pd

    return pd.to_datetime(pd.Series(values, dtype=float), unit="D")


def _seconds(values: Any, _: Mapping[str, Any]) -> Any:
    import pandas as pd

    return pd.to_datetime(pd.Series(values, dtype=float), unit="s")


def _plain(values: Any, _: Mapping[str, Any]) -> Any:
    return values
