"""The layout of a text file, found from its first lines: compression, encoding, separator, header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ordag.common.checks import short
from ordag.common.words import quoted
from ordag.data.reading import LATIN, NO_HEADER, TEXT_LAYOUT, Reading, split_at
from ordag.data.sources.first_lines import find_beginning, first_records, widths_agree
from ordag.data.sources.paths import File
from ordag.errors import SettingError, UnreadableError

NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)\s*", re.IGNORECASE)
SURROGATE = re.compile("[\ud800-\udfff]")
LINE_END = re.compile(r"\r\n|\r|\n")
LINE_END_BYTES = re.compile(rb"\r\n|\r|\n")
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}  # unpacked by pyarrow while reading
PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst", b"\x04\x22\x4d\x18": ".lz4"}  # first bytes
TEXT_ENDINGS = (".csv", ".tsv", ".txt", *COMPRESSED)
QUOTED_COMMA = re.compile(r'"[^"\n]*\d,\d')
LONG_RUN = re.compile(rb"[\x80-\xff]{3}")
GROUPS = (",", ".", " ", "'")
"""Separators of thousands."""
HOST_NAMES = ("idna", "punycode")  # encodings of single words, not of files
HEAD_BYTES = 1 << 18
LONGEST_LINE = 1 << 28  # bytes
MOST_CELLS = 1 << 16  # in a first line that the csv module refuses
LONGEST_CELL = 1 << 12  # bytes, on average over a line of an upload
SEPARATORS = {  # in words, in Python, and in a shell
    ",": ("commas", '","', ","),
    ";": ("semicolons", '";"', "';'"),
    "\t": ("tabs", r'"\t"', "tab"),
    "|": ("vertical bars", '"|"', "'|'"),
    " ": ("spaces", '" "', "' '"),
}
BYTE_ORDER_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
EXPORT = "Save the table as CSV or Parquet"
SIGNATURES = {  # the first bytes of files that are no text, what they are, and what to do about it
    b"PK\x03\x04": (
        "an Excel workbook or another ZIP archive",
        "A workbook has the ending .xlsx or .ods; unpack an archive.",
    ),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook or Office file", "A workbook has the ending .xls."),
    b"\x89PNG": ("a PNG image", "Give the file that holds the table."),
    b"\xff\xd8\xff": ("a JPEG image", "Give the file that holds the table."),
    b"GIF8": ("a GIF image", "Give the file that holds the table."),
    b"%PDF": ("a PDF document", f"{EXPORT}."),
    b"PAR1": ("a Parquet file", "Give it the ending .parquet, and unpack it if it is compressed."),
    b"ARROW1": ("an Arrow or Feather file", "Read it with pyarrow.feather.read_table and pass the table."),
    b"\x89HDF": ("an HDF5 file", f"{EXPORT}."),
    b"SQLite format 3": ("an SQLite database", "Give it the ending .sqlite."),
    b"\x1f\x8b": ("compressed with gzip", "Give it the ending .csv.gz, or unpack it."),
    b"BZh": ("compressed with bzip2", "Give it the ending .csv.bz2, or unpack it."),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "Give it the ending .csv.zst, or unpack it."),
    b"\xfd7zXZ": ("compressed with xz", "Unpack it."),
    b"\x93NUMPY": ("a NumPy array", "Load it with numpy.load and pass the array."),
    b"RDX": ("a workspace of R", 'Save the data frame alone, saveRDS(x, "x.rds"), and give that.'),
    b"<stata_dta>": ("a file of Stata", "Give it the ending .dta."),
    b"$FL2": ("a file of SPSS", "Give it the ending .sav."),
    b"$FL3": ("a file of SPSS", "Give it the ending .zsav."),
}
MARKUP = {  # the beginning of text that is no table, what it is, and what to do about it
    re.compile(r"\s*<(!doctype\s+html|html|head|body|table|div|script)\b", re.IGNORECASE): (
        "a web page (HTML)",
        "Download the table itself; this may be a login or error page.",
    ),
    re.compile(r"\s*<(\?xml|!doctype)\b", re.IGNORECASE): ("an XML document", f"{EXPORT}."),
    re.compile(r"""\s*(\{\s*["}]|\[\s*(?:[\[{]|(?:"[^"]*"|-?[\d.]+(?:e[-+]?\d+)?|null)\s*,))""", re.IGNORECASE): (
        "JSON",
        f"{EXPORT}, or read it in Python (pandas.read_json) and pass the data frame.",
    ),
}


@dataclass(frozen=True)
class Layout:
    """How to read a text file."""

    file: File
    compression: str | None
    separator: str
    encoding: str
    decimal: str
    header: bool
    block: int  # bytes to parse at once
    first: tuple[str, ...]  # the cells of the header
    alone: bool  # there is no other line
    complete: bool  # the first block is the whole file
    above: int = 0  # lines before the header
    names: tuple[str, ...] | None = None  # of the columns, where the header has not one for each
    trailing: bool = False  # every row ends with a separator
    below: int = 0  # rows between the header and the data
    styles: Mapping[str, Any] = field(default_factory=dict)  # how the numbers of columns are written, where not plainly
    notes: tuple[str, ...] = ()  # what was recognised
    na: tuple[str, ...] = ()  # cells that stand for a missing value

    @property
    def before(self) -> int:
        """Lines before the first row of data."""
        return self.above + self.header + self.below


def find_layout(file: File, reading: Reading) -> Layout:
    """Find the settings left open, and refuse what cannot be a table in text."""
    describe, decimal, header = file.describe, reading.decimal, reading.header
    reading.refuse_layout(describe, *TEXT_LAYOUT)
    compression = _compression(file)
    head, complete = _head(file, compression)
    codec = _codec(reading.encoding) if reading.encoding is not None else _guessed_codec(head, complete)
    notes = (
        ()
        if reading.encoding is not None or codec == "utf8"
        else (f"Read in the encoding {codec} (encoding=…, --encoding)",)
    )
    _refuse_binary(head, describe, codec)
    text = _decoded(head, complete, codec, describe)
    _refuse_markup(text, describe)
    lines = [line for line in LINE_END.split(text) if line.strip()]
    if not lines:
        raise UnreadableError(f"{describe} holds only blank lines: there is no table in it.")
    chosen = _separator(file, reading.separator, lines[0])
    records = first_records(text, chosen)
    if (
        reading.separator is None
        and records
        and widths_agree(records) != 0
        and (other := _other_separator(text, chosen))
    ):
        chosen, records = other, first_records(text, other)
        notes = (*notes, f"Split at {SEPARATORS[other][0]}")
    point = "." if decimal is None else decimal
    if not isinstance(point, str) or point not in (".", ",") or (point == chosen and not QUOTED_COMMA.search(text)):
        raise SettingError(
            f"decimal={short(decimal)} with separator={chosen!r}: the decimal mark is '.' or ',', and not the separator."
        )
    if reading.thousands is not None and (reading.thousands not in GROUPS or reading.thousands == point):
        raise SettingError(
            f"thousands={short(reading.thousands)}: the separator of thousands is one of {quoted(GROUPS)}, and not the decimal mark."
        )
    beginning = find_beginning(records, header, lambda cell: NUMBER.fullmatch(cell.replace(point, ".")) is not None)
    start = next((k for k, record in enumerate(records) if record.before >= beginning.above), 0)
    first = beginning.names or (records[start].cells if records else _cells(text, chosen))
    file.check_width(len(first))
    if len(first) == 1:
        _refuse_other_separator(text, lines, chosen, describe)
    if header:
        refuse_numbers_as_names(first, point, describe)
    alone = complete and (len(records) == start + 1 if records else len(lines) == 1)
    mark = "." if point == chosen else point  # such commas are in quotation marks, and pyarrow would refuse them
    return Layout(
        file, compression, chosen, codec, mark, header, _block(head), first, alone, complete,
        beginning.above, beginning.names, beginning.trailing, notes=(*notes, *beginning.notes), na=_absent(reading, point),
    )  # fmt: skip


def _absent(reading: Reading, point: str) -> tuple[str, ...]:
    """Return the cells that stand for a missing value; a whole number also with zeros behind the decimal mark."""
    cells = list(reading.na or ())
    whole = [cell for cell in cells if re.fullmatch(r"[+-]?\d+", cell)]
    return (*cells, *(f"{cell}{point}{'0' * zeros}" for cell in whole for zeros in range(4)))


def _other_separator(text: str, chosen: str) -> str | None:
    """Return another separator that gives a table where the chosen one gives a single column: rows of the same width, with a header as
    wide or, as R writes it, without a name for the row names."""
    given = first_records(text, chosen)
    if len(given[0].cells) > 1 and widths_agree(given) is not None:
        return None
    found = []
    for mark in (mark for mark in SEPARATORS if mark != chosen):
        records = first_records(text, mark)
        start = widths_agree(records)
        if start and any(
            record.filled > 1 for record in records[:start]
        ):  # neither a title nor a header without the row names
            start = 0 if start == 1 and len(records[0].cells) == len(records[1].cells) - 1 else None
        if mark == " " and not all(NUMBER.fullmatch(cell) for record in records[1:] for cell in record.cells[1:]):
            start = None  # words of a sentence
        if start is not None:
            found.append(mark)
    return found[0] if len(found) == 1 else None


def _codec(encoding: str | None) -> str:
    """Return the name of the encoding for pyarrow, which reads "utf8" without translating."""
    if encoding is None:
        return "utf8"
    try:
        "a".encode(encoding)  # refuses what is no encoding of text
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        name = ""
    if not name or name in HOST_NAMES:
        raise SettingError(
            f"encoding={short(encoding)} is not known: common ones are 'utf-8', 'latin-1', 'cp1252' and 'utf-16'."
        )
    return "utf8" if name in ("utf-8", "utf-8-sig", "ascii") else name


def _guessed_codec(head: bytes, complete: bool) -> str:
    """Return the encoding of a file: by its mark, UTF-8 if it is that, else cp1252 if the letters beyond ASCII stand alone or in pairs.

    Texts of other scripts, in encodings of their own, have longer runs of such letters.
    """
    for name, marks in BYTE_ORDER_MARKS.items():
        if head.startswith(marks):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, complete)
    except UnicodeDecodeError:
        if b"\0" not in head and not LONG_RUN.search(head):
            try:
                head.decode("cp1252")
            except UnicodeDecodeError:
                return "utf8"
            return "cp1252"
    return "utf8"


def _compression(file: File) -> str | None:
    """Return the compression by the ending, which the first bytes must confirm; without an ending, by the first bytes."""
    start, ending = file.start(4), file.ending
    found = next((ending for mark, ending in PACKED.items() if start.startswith(mark)), None)
    if ending not in COMPRESSED:
        return COMPRESSED[found] if found is not None and not ending else None
    if found != ending:
        truth = "is not compressed" if found is None else f"is compressed with {COMPRESSED[found]}"
        remedy = "leave that ending out" if found is None else f"give it the ending {found} instead"
        raise UnreadableError(
            f"{file.describe} does not match its ending {ending}: it {truth}, or damaged from its first byte on. If it is whole, "
            f"{remedy}."
        )
    return COMPRESSED[ending]


def _head(file: File, compression: str | None) -> tuple[bytes, bool]:
    """Return the first lines, unpacked, at least two if there are two; and whether that is the whole file."""
    import pyarrow as pa

    head, size, longest = b"", 0, LONGEST_LINE
    if file.widest is not None:
        longest = min(LONGEST_LINE, max(HEAD_BYTES, file.widest * LONGEST_CELL))
    try:
        if compression is not None and file.most is not None:  # measure it block by block before anything is kept
            with file.arrow() as raw, pa.input_stream(raw, compression=compression) as stream:
                while more := stream.read(HEAD_BYTES):
                    size += len(more)
                    file.check_unpacked(size)
        with file.arrow() as raw, pa.input_stream(raw, compression=compression) as stream:
            while head.count(b"\n") + head.count(b"\r") < 3:
                if len(head) > longest:
                    raise UnreadableError(
                        f"{file.describe} has no line end in its first {len(head) >> 20} MB: it is not a table in text."
                    )
                more = stream.read(max(HEAD_BYTES, len(head)))
                head += more
                if not more:
                    return head, True
            few = [end.end() for end in islice(LINE_END_BYTES.finditer(head), 3)]
            size = max(HEAD_BYTES, few[-1])  # there may be many more lines, each of which would take memory of its own
            return head[:size], len(head) <= size and not stream.read(1)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(
            f"{file.describe} cannot be unpacked ({error}): it is damaged or cut off. Copy or download it again."
        ) from error


def _refuse_binary(head: bytes, describe: str, codec: str) -> None:
    for signature, (what, remedy) in SIGNATURES.items():
        readable = signature.isascii() and b"\0" not in head  # a column may be called PAR1
        if head.startswith(signature) and not readable:
            raise UnreadableError(f"{describe} is {what}, not a text file. {remedy}")
    mark = next((name for name, marks in BYTE_ORDER_MARKS.items() if head.startswith(marks)), None)
    if mark is not None and codec == "utf8":
        raise UnreadableError(
            f'{describe} is encoded in {mark.upper()}: set encoding="{mark}" (--encoding {mark} on the command line).'
        )
    wide = codec.startswith(("utf-16", "utf-32"))
    if wide and b"\0" not in head:  # digits and separators have zero bytes there
        raise not_decodable(describe, codec, "it holds no zero byte")
    if b"\0" in head and not wide:
        raise UnreadableError(
            f"{describe} holds zero bytes (the first is byte {head.index(0) + 1}), so it is not plain text. "
            'If it is text in UTF-16, set encoding="utf-16" (--encoding utf-16); else save the table as CSV.'
        )


def _refuse_markup(text: str, describe: str) -> None:
    for beginning, (what, remedy) in MARKUP.items():
        if beginning.match(text):
            raise UnreadableError(f"{describe} is {what}, not a table in text, despite its name. {remedy}")


def _decoded(head: bytes, complete: bool, codec: str, describe: str) -> str:
    if codec in BYTE_ORDER_MARKS and not head.startswith(BYTE_ORDER_MARKS[codec]):
        raise UnreadableError(
            f"{describe} does not begin with the mark that {codec} has, so the order of its bytes is not known: set "
            f'encoding="{codec}-le" or encoding="{codec}-be" (--encoding {codec}-le or {codec}-be on the command line).'
        )
    try:
        text = codecs.getincrementaldecoder(codec)().decode(head, complete)
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise not_decodable(describe, codec, f"byte {error.start + 1}, line {line}") from error
    if SURROGATE.search(text):
        raise not_decodable(describe, codec, "half of a letter")
    return text.removeprefix("\ufeff")


def not_decodable(describe: str, codec: str, place: str) -> UnreadableError:
    """Return the error for bytes that are no text in the encoding."""
    if codec == "utf8":
        return UnreadableError(
            f"{describe} is not encoded in UTF-8 ({place}). Set the encoding it was saved in, most often "
            'encoding="latin-1" (--encoding latin-1 on the command line).',
            remedies=[LATIN],
        )
    return UnreadableError(
        f"{describe} is not encoded in {codec} ({place}): set the encoding it was saved in, or none for UTF-8."
    )


def _separator(file: File, separator: str | None, first: str) -> str:
    if separator is not None:
        mark = {"\\t": "\t", "tab": "\t"}.get(separator, separator) if isinstance(separator, str) else ""
        if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
            raise SettingError(f"separator={short(separator)}: expected a single character such as ',', ';' or a tab.")
        return mark
    endings = [ending for ending in file.endings if ending not in COMPRESSED]
    ending = endings[-1] if endings else ""
    if ending in (".tsv", ".tab") or (ending != ".csv" and "\t" in first):
        return "\t"
    return ","


def _refuse_other_separator(text: str, lines: list[str], chosen: str, describe: str) -> None:
    candidates = {mark: len(_cells(text, mark)) for mark in (",", ";", "\t", "|") if mark != chosen}
    words, second = lines[0].split(), lines[1].split() if len(lines) > 1 else []
    if len(words) == len(second) and all(NUMBER.fullmatch(word) for word in second):
        candidates[" "] = len(words)
    likely = max(candidates, key=candidates.__getitem__)
    if candidates[likely] < 2:
        return
    if likely == " " and len(lines[0].strip().split(" ")) != len(words):
        raise UnreadableError(
            f"{describe}: the columns seem to be set apart by several spaces. Replace them by single tabs or commas."
        )
    name, value, typed = SEPARATORS[likely]
    raise UnreadableError(
        f"{describe} has a single column when it is split at {chosen!r}: it seems to be separated by {name}. "
        f"Set separator={value} (--separator {typed} on the command line).",
        remedies=[split_at(likely)],
    )


def has_units(first: Sequence[object], rest_is_numbers: Sequence[bool]) -> bool:
    """Return whether the first row below the header holds units: text, at most now and then nothing, above columns of numbers alone."""
    above = [cell for cell, numbers in zip(first, rest_is_numbers, strict=True) if numbers]
    texts = [cell for cell in above if isinstance(cell, str) and not NUMBER.fullmatch(cell)]
    return bool(texts) and all(cell is None or cell in texts for cell in above) and 2 * len(texts) > len(above)


def refuse_numbers_as_names(first: tuple[str, ...], decimal: str, describe: str) -> None:
    """Refuse a header of numbers, which may be the first row of a table without a header."""
    names = [cell.strip() for cell in first]
    counted = [str(j) for j in range(len(names))]  # what pandas writes for columns without names
    if names != counted and all(NUMBER.fullmatch(name.replace(decimal, ".")) for name in names):
        shown = "; ".join(names[:4]) + ("; …" if len(names) > 4 else "")
        raise UnreadableError(
            f"{describe} seems to have no header: its first line holds only numbers ({shown}). If so, set "
            "header=False (--no-header on the command line); if these are names, begin them with a letter.",
            remedies=[NO_HEADER],
        )


def _cells(text: str, separator: str) -> tuple[str, ...]:
    """Return the cells of the first line that is not blank; a quoted cell may run over several lines."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return tuple(next(row for row in rows if row))
    except csv.Error:  # a cell longer than any header has
        return tuple(LINE_END.split(text.lstrip(), 1)[0].split(separator, MOST_CELLS))


def _block(head: bytes) -> int:
    """Return the bytes to parse at once: pyarrow reads some thirty such blocks ahead, so no more than the rows need."""
    lines = head.splitlines()
    longest = max(len(line) for line in lines)
    return max(1 << 18, min(64 * len(head) // len(lines), 1 << 24), 4 * longest)
