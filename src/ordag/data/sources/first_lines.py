"""Where the table begins in a text file: comments and titles above the header, names for the row names, a separator too many."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from ordag.common.words import counted

COMMENT = ("#", "%", "//")
LOOKED_AT = 40
"""Records that are looked at."""


@dataclass(frozen=True)
class Beginning:
    """Where the header is. above: lines before it. names: those of the columns, where the header has not one for each. trailing: whether
    every row ends with a separator, behind which nothing is."""

    above: int
    names: tuple[str, ...] | None
    trailing: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """The cells of a row, and the lines before it."""

    cells: tuple[str, ...]
    before: int

    @property
    def filled(self) -> int:
        return sum(bool(cell.strip()) for cell in self.cells)


def first_records(text: str, separator: str) -> list[Record]:
    """Return the first rows, blank lines left out; a quoted cell may run over several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    records, before = [], 0
    try:
        for cells in islice(reader, LOOKED_AT):
            if cells:
                records.append(Record(tuple(cells), before))
            before = reader.line_num
    except csv.Error:  # a cell longer than any header has
        return []
    return records


def widths_agree(records: Sequence[Record]) -> int | None:
    """Return the first row from which on all rows have the same number of fields, at least two; None without two such rows."""
    if len(records) < 2 or len(records[-1].cells) < 2:
        return None
    width = len(records[-1].cells)
    differing = [i for i, record in enumerate(records) if len(record.cells) != width]
    start = differing[-1] + 1 if differing else 0
    return start if start < len(records) - 1 else None


def find_beginning(records: Sequence[Record], header: bool, is_number: Callable[[str], bool]) -> Beginning:
    """Find the header among the first rows of a file, of which the last may be cut off."""
    notes, start = [], 0
    while start < len(records) and records[start].cells[0].lstrip().startswith(COMMENT):
        start += 1
    rest = records[start:]
    if (
        start
        and rest
        and header
        and _numbers(rest[0], is_number)
        and len(records[start - 1].cells) == len(rest[0].cells)
    ):
        first, *others = records[start - 1].cells  # the header is a comment itself
        bare = first.lstrip().lstrip("#%/").lstrip() if first.lstrip().startswith("#") or start > 1 else first
        names: tuple[str, ...] | None = (bare, *others) if bare != first else None
        start, rest = start - 1, records[start - 1 :]
    else:
        names = None
        if start == 1 and rest and len(records[0].cells) == len(rest[0].cells) > 1:
            start, rest = 0, records  # a name that begins so
        skipped = _title_rows(rest, is_number) if header else 0
        start, rest = start + skipped, rest[skipped:]
    above = rest[0].before if start and rest else 0
    if above:
        notes.append(
            f"{counted(above, 'line')} above the header left out"
            if header
            else f"{counted(above, 'line')} of comment left out"
        )
    body = rest[1 : LOOKED_AT - 1]
    if not header or not body or names is not None:
        return Beginning(above, names, False, tuple(notes))
    width, given = {len(record.cells) for record in body}, len(rest[0].cells)
    empty = all(not record.cells[-1].strip() for record in body)
    if width == {given + 1} and given > 1 and empty:
        return Beginning(above, (*rest[0].cells, ""), True, tuple(notes))
    if width == {given + 1} and given > 1:
        notes.append("The first column, for which the header has no name, is read as row names")
        return Beginning(above, ("", *rest[0].cells), False, tuple(notes))
    trailing = width == {given} and given > 2 and empty and not rest[0].cells[-1].strip()
    return Beginning(above, None, trailing, tuple(notes))


def _title_rows(records: Sequence[Record], is_number: Callable[[str], bool]) -> int:
    """Return the rows of a title: above a header as wide as the rows below it, and with one cell or none."""
    start = widths_agree(records)
    if start is None:
        return 0
    width = len(records[-1].cells)
    while start < len(records) - 2 and records[start].filled <= 1 < width - 1:
        start += 1
    titles = records[:start]
    if (
        not titles
        or any(record.filled > 1 for record in titles)
        or _numbers(records[start], is_number)
        or records[start].filled < 2
    ):
        return 0
    return start


def _numbers(record: Record, is_number: Callable[[str], bool]) -> bool:
    return all(is_number(cell) for cell in record.cells if cell.strip()) and record.filled > 0
