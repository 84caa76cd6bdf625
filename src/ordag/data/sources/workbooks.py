"""Workbooks: Excel (.xlsx, .xlsm, .xls) and OpenDocument (.ods), of which one sheet is read."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from ordag.common.words import counted, joined, shown
from ordag.data.reading import Reading
from ordag.data.sources.columns import Kind
from ordag.data.sources.csv import text_or_bad_cells
from ordag.data.sources.frames import open_frame
from ordag.data.sources.paths import File
from ordag.data.sources.readers import BYTES_OF_A_CELL, chosen, library, reader_errors
from ordag.data.sources.source import Source, noted
from ordag.data.sources.text_layout import TEXT_ENDINGS, has_units, refuse_numbers_as_names
from ordag.errors import UnreadableError

WHAT = "a workbook"
ENDINGS = (".xlsx", ".xlsm", ".xls", ".ods")
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLE_SECTOR = 512  # bytes; the file is a whole number of them
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
BINARY, MANIFEST = "xl/workbook.bin", "META-INF/manifest.xml"
MOST_CELLS = 1 << 26
"""Cells of a sheet, counted from its first to its last: the reader takes memory for the empty ones, too."""
CELL = re.compile(rb"""<c\b[^>]*?\br\s*=\s*["']([A-Za-z]{1,3})(\d{1,7})["'][^>]*(?<!/)>""")
UNCOMPUTED = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
REPEATED = re.compile(rb"""number-(columns|rows)-repeated\s*=\s*["'](\d+)["']""")
ROW_OR_CELL = re.compile(
    rb"<table:(table-row|table-cell|covered-table-cell)\b([^>]*)>|<table:table\b|</table:table-row>"
)
CHUNK, LONGEST_TAG = 1 << 20, 1 << 12
HEADER_ROWS = 20
"""Rows in which the header is looked for."""
MISSING = frozenset(("", ".", "-", "na", "n/a", "#n/a", "nan", "null", "none"))


def open_workbook(file: File, reading: Reading) -> Source | None:
    """Open one sheet of a workbook, recognised by its ending or its first bytes."""
    start = b"" if file.ending in TEXT_ENDINGS else file.start(8)
    if not start.startswith((ZIP, OLE)) or (file.ending not in ENDINGS and not _is_workbook(file, start)):
        if file.ending in ENDINGS and not start.startswith((ZIP, OLE)):
            raise UnreadableError(
                f"{file.describe} is not a workbook, despite its name. If it is text, give it the ending .csv."
            )
        return None
    reading.refuse_layout(file.describe, "sheet", "header", "na")
    _check(file, start)
    calamine = library("python_calamine", "python-calamine", file.describe, "a workbook")
    with file.unchanged(), reader_errors(file.describe, WHAT), file.open() as raw:
        try:
            book = calamine.CalamineWorkbook.from_filelike(raw)
        except calamine.PasswordError as error:
            raise _locked(file) from error
        name, note = _sheet(book, reading.sheet, file.describe)
        sheet = book.get_sheet_by_name(name)
        rows, merged = sheet.to_python(), _merged(sheet)
    table, kinds, notes = _table(rows, merged, reading, f"{file.describe}, sheet {shown(name)}")
    if any("" in row for row in rows) and _has_uncomputed(file, start):
        notes.append(
            "Formulas that no program has computed are missing values: open the workbook, save it, and read it again"
        )
    source = open_frame(table, reading, file.describe, given=kinds)
    assert source is not None
    return noted(source, *note, *notes)


def _is_workbook(file: File, start: bytes) -> bool:
    """Return whether the members of an archive are those of a workbook, whatever its ending."""
    if start.startswith(OLE):
        return file.ending == ""
    try:
        with file.open() as raw, zipfile.ZipFile(raw) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False
    return any(name in names for name in ("xl/workbook.xml", BINARY, "content.xml"))


def _locked(file: File) -> UnreadableError:
    return UnreadableError(f"{file.describe} is protected by a password: open it, save it without one, and give that.")


def _check(file: File, start: bytes) -> None:
    """Refuse what would end or fill the process: the library takes memory for every cell from the first to the last."""
    describe = file.describe
    if start.startswith(OLE):
        with file.open() as raw:
            whole = raw.read()
        if ENCRYPTED in whole:
            raise _locked(file)
        if len(whole) % OLE_SECTOR:
            raise UnreadableError(f"{describe} is cut off: it ends within a block. Write or copy it again.")
        return
    with reader_errors(describe, WHAT), file.open() as raw, zipfile.ZipFile(raw) as archive:
        file.check_unpacked(sum(member.file_size for member in archive.infolist()))
        names = archive.namelist()
        if MANIFEST in names and any(
            b"encryption-data" in piece for piece in _pieces(archive, archive.getinfo(MANIFEST))
        ):
            raise _locked(file)
        if BINARY in names:
            raise UnreadableError(f"{describe} is a binary workbook (.xlsb): save it as .xlsx or CSV.")
        for member in archive.infolist():
            if member.filename.startswith("xl/worksheets/") and member.filename.endswith(".xml"):
                height, width = _extent(_pieces(archive, member))
            elif member.filename == "content.xml":
                height, width = _repeated_extent(_pieces(archive, member))
            else:
                continue
            if height * width > MOST_CELLS:
                raise UnreadableError(
                    f"{describe}: a sheet reaches to row {height:,} and column {width:,}, too far apart to be one table: delete what "
                    "is far from it, or save the table as CSV."
                )
            file.check_width(width)
            file.check_unpacked(height * width * BYTES_OF_A_CELL)


def _has_uncomputed(file: File, start: bytes) -> bool:
    """Return whether a workbook of Excel has cells with a formula and no value."""
    if not start.startswith(ZIP):
        return False
    with reader_errors(file.describe, WHAT), file.open() as raw, zipfile.ZipFile(raw) as archive:
        sheets = [one for one in archive.infolist() if one.filename.startswith("xl/worksheets/")]
        return any(UNCOMPUTED.search(piece) for one in sheets for piece in _pieces(archive, one))


def _pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a member in pieces that end with a whole tag."""
    tail = b""
    with archive.open(member) as stream:
        while more := stream.read(CHUNK):
            tail += more
            end = tail.rfind(b">") + 1
            yield tail[:end]
            tail = tail[end:][-LONGEST_TAG:]


def _extent(pieces: Iterator[bytes]) -> tuple[int, int]:
    """Return the last row and the last column with a value in a sheet of Excel, whose cells have addresses such as AB12."""
    height = width = 0
    for piece in pieces:
        for letters, digits in set(CELL.findall(piece)):
            column = 0
            for letter in letters.upper():
                column = 26 * column + letter - ord("A") + 1
            height, width = max(height, int(digits)), max(width, column)
    return height, width


def _repeated_extent(pieces: Iterator[bytes]) -> tuple[int, int]:
    """Return the same of the sheets of an OpenDocument file, whose rows and cells may be repeated."""
    height = width = row = column = repeat = 0
    for piece in pieces:
        for tag in ROW_OR_CELL.finditer(piece):
            kind, attributes = tag[1], tag[2] or b""
            times = max((int(count) for _, count in REPEATED.findall(attributes)), default=1)
            if kind == b"table-row":
                row, column, repeat = row + repeat, 0, times
            elif kind is not None:
                column += times
                if b"value-type" in attributes or not attributes.rstrip().endswith(b"/"):
                    height, width = max(height, row + repeat), max(width, column)
            elif tag[0].startswith(b"<table:table"):
                row = repeat = 0
    return height, width


def _sheet(book: Any, wanted: str | None, describe: str) -> tuple[str, tuple[str, ...]]:
    """Return the sheet to read, and what to say about the others."""
    names = [one.name for one in book.sheets_metadata if str(one.typ).endswith("WorkSheet")]
    sheet = chosen(names, wanted, "sheet", describe)
    if sheet is not None:
        return sheet, ()
    seen = [one.name for one in book.sheets_metadata if one.name in names and str(one.visible).endswith("Visible")]
    full = [name for name in seen or names if book.get_sheet_by_name(name).height]
    if not full:
        raise UnreadableError(f"{describe} holds only empty sheets: there is no table in it.")
    others = joined([shown(name) for name in full[1:]], 6)
    return full[0], (f"Sheet {shown(full[0])} is read; others are {others} (sheet=…, --sheet)",) if others else ()


def _merged(sheet: Any) -> list[tuple[int, int, int]]:
    """Return the first row, the last row and the column of cells that are merged down a column, counted as the rows that are read are."""
    top, left = sheet.start or (0, 0)
    ranges = sheet.merged_cell_ranges or []
    return [(first - top, last - top, j - left) for (first, j), (last, end) in ranges if j == end and j >= left]


def _table(
    rows: list[list[Any]], merged: list[tuple[int, int, int]], reading: Reading, describe: str
) -> tuple[Any, dict[str, Kind], list[str]]:
    """Return the table in the cells of a sheet, the columns of numbers with other cells, and what to say about how it was found."""
    import pyarrow as pa

    rows = [[None if isinstance(cell, str) and not cell.strip() else cell for cell in row] for row in rows]
    filled = [sum(cell is not None for cell in row) for row in rows]
    notes = []
    header = _header_row(filled) if reading.header else -1
    down = _fill(rows, merged, header)
    body = [row for row, count in zip(rows[header + 1 :], filled[header + 1 :], strict=True) if count]
    used = [
        j
        for j in range(len(rows[0]))
        if any(row[j] is not None for row in (rows[header] if header >= 0 else [], *body) if row)
    ]
    if not body:
        raise UnreadableError(f"{describe} holds no rows below its first line: there is no table in it.")
    if not reading.header:
        names = [f"X{k + 1}" for k in range(len(used))]
    else:
        names = [_text(rows[header][j]) for j in used]
        refuse_numbers_as_names(tuple(names), ".", describe)
        above = sum(map(bool, filled[:header]))
        if above:
            notes.append(f"{counted(above, 'row')} above the header left out")
        units = [body[0][j] for j in used]
        if len(body) > 2 and has_units(units, [_all_numbers([row[j] for row in body[1:]]) for j in used]):
            said = [_text(unit) for unit in units if unit is not None]
            notes.append(f"The row below the header is read as units ({joined(said, 6)})")
            body = body[1:]
    if labels := [shown(name) for name, j in zip(names, used, strict=True) if j in down]:
        notes.append(f"The value of merged cells counts for each of their rows in {joined(labels, 6)}")
    columns = [[_present(row[j], reading) for row in body] for j in used]
    kinds = {name: kind for name, column in zip(names, columns, strict=True) if (kind := _broken(column)) is not None}
    return pa.table([_column(column) for column in columns], names=names), kinds, notes


def _fill(rows: list[list[Any]], merged: Sequence[tuple[int, int, int]], header: int) -> set[int]:
    """Write the value of cells merged down a column into each of them; return the columns where that was below the header."""
    found = set()
    for first, last, j in merged:
        if not 0 <= first < len(rows) or j >= len(rows[first]) or last < header:
            continue
        if first <= header:
            rows[header][j] = rows[first][j]
            continue
        for row in rows[first + 1 : last + 1]:
            row[j] = rows[first][j]
        found.add(j)
    return found


def _present(cell: Any, reading: Reading) -> Any:
    return None if reading.na and isinstance(cell, str) and cell.strip() in reading.na else cell


def _broken(cells: Sequence[Any]) -> Kind | None:
    """Return what a column of numbers holds beside them; None for columns of numbers, and for those of text."""
    present = [(row, cell) for row, cell in enumerate(cells, start=1) if not _is_missing(cell)]
    words = [(row, cell) for row, cell in present if isinstance(cell, str)]
    if (
        not words
        or 2 * len(words) > len(present)
        or not all(_number(cell) for _, cell in present if not isinstance(cell, str))
    ):
        return None
    return text_or_bad_cells([_text(cell) for _, cell in present], words)


def _header_row(filled: Sequence[int]) -> int:
    """Return the row of names: the first in which no more than one column of the widest is empty, that of row names."""
    first = list(filled[:HEADER_ROWS])
    wide = max(first) - (max(first) > 2)
    return next(i for i, count in enumerate(first) if count >= wide)


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def _number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _all_numbers(cells: Sequence[Any]) -> bool:
    return any(map(_number, cells)) and all(cell is None or _number(cell) for cell in cells)


def _column(cells: Sequence[Any]) -> Any:
    """Return the cells of a column as an Arrow array: numbers, true/false values, dates or text."""
    import pyarrow as pa

    some = [cell for cell in cells if cell is not None]
    if any(map(_number, some)):
        cells = [None if _is_missing(cell) else cell for cell in cells]
        some = [cell for cell in cells if cell is not None]
        if all(map(_number, some)):
            return pa.array(cells, pa.float64())
    if all(isinstance(cell, bool) for cell in some):
        return pa.array(cells, pa.bool_())
    if all(isinstance(cell, datetime.date) for cell in some):  # times of day are dates too
        whole = [datetime.datetime(*cell.timetuple()[:6]) if cell is not None else None for cell in cells]
        return pa.array(whole, pa.timestamp("us"))
    return pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())
