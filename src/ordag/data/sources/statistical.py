"""Files of Stata (.dta), SAS (.sas7bdat, .xpt) and SPSS (.sav, .zsav, .por), with their value labels and missing codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ordag.data.reading import Reading
from ordag.data.sources.frames import open_frame
from ordag.data.sources.paths import File
from ordag.data.sources.readers import library, read_apart
from ordag.data.sources.source import Source
from ordag.data.sources.text_layout import TEXT_ENDINGS
from ordag.errors import UnreadableError

ROWS_AT_ONCE = 1 << 14
STATA = tuple(bytes([version, order]) for version in (*range(102, 106), 108, *range(110, 116)) for order in (1, 2))
SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
TRANSPORT_RECORD = 80  # bytes


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, endings, first bytes, and the function that reads it into a pandas data frame."""

    what: str
    endings: tuple[str, ...]
    starts: tuple[bytes, ...]
    read: Callable[[File], Any]


def open_statistical(file: File, reading: Reading) -> Source | None:
    """Open a file of Stata, SAS or SPSS, recognised by its ending or its first bytes.

    A column whose values all have labels is a category of those labels; one with labels for some of its values, as missing codes often
    have, is its numbers. Codes that the file declares missing are missing.
    """
    if file.ending in TEXT_ENDINGS:
        return None
    describe, start = file.describe, file.start(512)
    found = next((one for one in FORMATS if file.ending in one.endings), None)
    if found is None:
        found = next((one for one in FORMATS if start.startswith(one.starts)), None)
    if found is None:
        return None
    if not start.startswith(found.starts) and not (found.starts == (POR,) and POR in start):
        raise UnreadableError(
            f"{describe} is not {found.what}, despite its name. If it is text, give it the ending .csv."
        )
    reading.refuse_layout(describe)
    with file.unchanged():
        frame = read_apart(_frame_of, FORMATS.index(found), file, describe=describe, what=found.what)
    return open_frame(frame, reading, describe)


def _frame_of(number: int, file: File) -> Any:
    """Read a file of the format with this number."""
    frame = FORMATS[number].read(file)
    file.check_width(frame.shape[1])
    return frame


def _stata(file: File) -> Any:
    import pandas as pd

    reader: Any
    with file.open() as raw, pd.read_stata(raw, convert_categoricals=False, iterator=True) as reader:
        file.check_width(len(reader.variable_labels()))
        frame = reader.read()
    try:
        with file.open() as raw:
            labelled = pd.read_stata(raw, convert_categoricals=True, order_categoricals=False)
    except ValueError:  # one label for several codes
        return frame
    for name in frame.columns:
        column = labelled[name]
        if str(column.dtype) == "category" and all(isinstance(label, str) for label in column.cat.categories):
            frame[name] = column.cat.remove_unused_categories()
    return frame


def _sas(file: File) -> Any:
    import pandas as pd

    reader: Any
    with file.open() as raw, pd.read_sas(raw, format="sas7bdat", encoding="infer", chunksize=ROWS_AT_ONCE) as reader:
        file.check_width(reader.column_count)
        parts, size = [], 0
        for part in reader:
            size += int(part.memory_usage(index=False).sum())
            file.check_unpacked(size)
            parts.append(part)
    if not parts:
        raise UnreadableError(f"{file.describe} has no rows: there is no table in it.")
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def _transport(file: File) -> Any:
    if (file.size or 0) % TRANSPORT_RECORD:
        raise UnreadableError(f"{file.describe} is cut off: it ends within a record. Write or copy it again.")
    return _readstat("read_xport")(file)  # pandas reads 0 as 5e-79, and has no reader for version 8


def _readstat(function: str) -> Callable[[File], Any]:
    def read(file: File) -> Any:
        pyreadstat = library("pyreadstat", "pyreadstat", file.describe, "a file of SPSS or SAS")
        with file.open() as raw:
            reader = getattr(pyreadstat, function)
            _, known = reader(raw, metadataonly=True)
            file.check_width(known.number_columns)
            file.check_unpacked(8 * (known.number_rows or 0) * known.number_columns)
            raw.seek(0)
            frame, known = reader(raw)
        for name, labels in known.variable_value_labels.items():
            if name in frame:
                frame[name] = _labelled(frame[name], labels)
        return frame

    return read


def _labelled(column: Any, labels: Mapping[Any, str]) -> Any:
    """Return the labels of a column, or the column where a value has none or two have the same."""
    present = column.dropna().unique()
    words = [labels[value] for value in present if value in labels]
    if not len(present) or len(words) < len(present) or len(set(words)) < len(words):
        return column
    return column.map(dict(labels)).astype("category")


POR = b"ASCII SPSS PORT FILE"  # after 40 letters in each of five languages
FORMATS = (
    Format("a file of Stata", (".dta",), (b"<stata_dta>", *STATA), _stata),
    Format("a file of SAS", (".sas7bdat",), (SAS,), _sas),
    Format("a transport file of SAS", (".xpt",), (b"HEADER RECORD*******LIB",), _transport),
    Format("a file of SPSS", (".sav", ".zsav"), (b"$FL2", b"$FL3"), _readstat("read_sav")),
    Format("a portable file of SPSS", (".por",), (POR,), _readstat("read_por")),
)
