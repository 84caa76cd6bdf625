"""Numbers as people write them in text: decimal commas, thousands separators, percent and currency signs, units below the header."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ordag.common.words import cut, joined, listed, shown
from ordag.data.reading import Reading
from ordag.data.sources.text_layout import Layout
from ordag.errors import ColumnError, Remedy

MINUS = "\u2212"
MARKS = ("%", "$", "€", "£", "¥", "₹", "EUR", "USD", "GBP", "CHF")
GROUPED = {",": ",", ".": r"\.", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
"""Thousands separators, and the letters that each stands for."""
CANDIDATES = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"))
"""Decimal marks and thousands separators that go together."""
NUMBERISH = (
    rf"^\s*[+\-{MINUS}]?\s*(?:[$€£¥₹]|EUR|USD|GBP|CHF)?\s*[+\-{MINUS}]?\d[\d.,' \x{{a0}}\x{{2009}}\x{{202f}}\x{{2019}}]*(?:[eE][+-]?\d+)?"
    r"\s*(?:%|[$€£¥₹]|EUR|USD|GBP|CHF)?\s*$|^\s*[+-]?[.,]\d+\s*$"
)
LOOKED_AT = 200
"""Cells of a column that decide whether to look at all of it."""
NAMES = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class Style:
    """How the numbers of a column are written. mark: a sign that all of them have, before or behind."""

    decimal: str
    thousands: str
    mark: str = ""

    @property
    def pattern(self) -> str:
        """What all cells of such a column match."""
        whole, point = r"\d+", r"\." if self.decimal == "." else ","
        if self.thousands:
            whole = rf"(?:[1-9]\d{{0,2}}(?:{GROUPED[self.thousands]}\d{{3}})+|\d+)"
        number = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
        sign, mark = rf"[+\-{MINUS}]?", self.mark.replace("$", r"\$")
        if self.mark:
            return rf"^\s*(?:{sign}\s*{mark}\s*{sign}{number}|{sign}{number}\s*{mark})\s*$"
        return rf"^\s*{sign}{number}\s*$"

    def cleaned(self, column: Any) -> Any:
        """Return the cells as plain numbers in text; those that do not match `pattern` as they are."""
        import pyarrow.compute as pc

        text = pc.replace_substring_regex(column, r"\s+", "")
        if self.mark:
            text = pc.replace_substring(text, self.mark, "")
        if self.thousands:
            text = pc.replace_substring_regex(text, GROUPED[self.thousands], "")
        text = pc.replace_substring(pc.replace_substring(text, self.decimal, "."), MINUS, "-")
        return pc.if_else(pc.match_substring_regex(column, self.pattern), text, column)


def strange(column: Any, style: Style) -> int | None:
    """Return the first cell that is not written in this style."""
    import pyarrow.compute as pc

    found = pc.index(pc.match_substring_regex(column, style.pattern), False).as_py()
    return None if found < 0 else int(found)


def recognised(
    layout: Layout, block: Any, reading: Reading, names: Sequence[str], text: Callable[[], Any]
) -> tuple[Layout, Any]:
    """Return the layout with the styles of its columns, and its first block with their numbers.

    `text` reads the block again with all columns as text. A style is taken if it is the only one in which all cells of all columns are
    numbers, or if all such styles give the same numbers; what `decimal` and `thousands` say goes before.
    """
    written = block.schema.names
    if len(set(written)) < len(written) or not any(_may_be_numbers(column) for column in block.columns):
        return layout, block
    columns = text().columns
    units = _units(columns, layout)
    rows = [column.slice(1) for column in columns] if units else columns
    marks = [_mark(column) for column in rows]
    possible = {
        j: fitting
        for j, column in enumerate(rows)
        if (fitting := _fitting(column, marks[j], reading)) and column.null_count < len(column)
    }
    shared = [pair for pair in CANDIDATES if all(pair in fitting for fitting in possible.values())]
    if not possible or not shared:
        return layout, block
    (decimal, thousands), *others = shared
    for j in possible:
        one = Style(decimal, thousands, marks[j])
        other = next(
            (pair for pair in others if not one.cleaned(rows[j]).equals(Style(*pair, marks[j]).cleaned(rows[j]))), None
        )
        if other is not None and (decimal, thousands) != (".", ""):
            raise _ambiguous(layout, names[j], rows[j], (decimal, thousands), other)
    styles = {}
    cells = [column.slice(1) if units else column for column in block.columns]
    for j in possible:
        style = Style(decimal, thousands if _holds(rows[j], thousands) else "", marks[j])
        plain = Style(decimal if layout.separator != decimal else ".", "", "")
        if strange(rows[j], plain) is not None or _holds(rows[j], MINUS):
            styles[written[j]] = style
        cells[j] = style.cleaned(rows[j]).cast("float64")
    if not styles and not units and decimal == ".":
        return layout, block
    notes = _notes(styles, {written[j]: name for j, name in enumerate(names)}, decimal, units, layout)
    found = replace(
        layout,
        decimal=decimal if decimal != layout.separator else ".",
        styles=styles,
        below=int(bool(units)),
        notes=(*layout.notes, *notes),
    )
    import pyarrow as pa

    return found, pa.RecordBatch.from_arrays(cells, names=block.schema.names)


def _may_be_numbers(column: Any) -> bool:
    """Return whether a column of text looks like numbers, but for its first cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return False
    some = column.slice(1, LOOKED_AT).drop_null()
    return len(some) > 0 and bool(pc.all(pc.match_substring_regex(some, NUMBERISH)).as_py())


def _units(columns: Sequence[Any], layout: Layout) -> list[str]:
    """Return the units in the first row, if there are any above all columns of numbers; the columns are text."""
    first = [column[0].as_py() if len(column) else None for column in columns]
    if not layout.header or len(columns[0]) < 3:
        return []
    rest = [_may_be_numbers(column) for column in columns]
    import pyarrow.compute as pc

    plain = [
        not column.slice(0, 1).null_count and pc.match_substring_regex(column.slice(0, 1), NUMBERISH)[0].as_py()
        for column in columns
    ]
    above = [(cell, number) for cell, number, numbers in zip(first, plain, rest, strict=True) if numbers]
    words = [cell for cell, number in above if cell is not None and not number]
    if not words or 2 * len(words) <= len(above) or any(number for _, number in above):
        return []
    return words


def _mark(column: Any) -> str:
    """Return the sign that the first cell begins or ends with."""
    cell = next((value.as_py().strip() for value in column.slice(0, LOOKED_AT) if value.is_valid), "")
    bare = cell.lstrip(f"+-{MINUS} ")
    return next((mark for mark in MARKS if bare.startswith(mark) or bare.endswith(mark)), "")


def _fitting(column: Any, mark: str, reading: Reading) -> list[tuple[str, str]]:
    """Return the pairs of decimal mark and thousands separator with which all cells are numbers."""
    if not _may_be_numbers(column):
        return []
    pairs = [
        pair
        for pair in CANDIDATES
        if reading.decimal in (None, pair[0])
        and (reading.thousands in (None, pair[1]) or (not pair[1] and reading.thousands != pair[0]))
    ]
    return [pair for pair in pairs if strange(column, Style(*pair, mark)) is None]


def _holds(column: Any, mark: str) -> bool:
    import pyarrow.compute as pc

    return bool(mark) and bool(pc.any(pc.match_substring_regex(column, GROUPED.get(mark, mark))).as_py())


def _ambiguous(layout: Layout, name: str, column: Any, one: tuple[str, str], other: tuple[str, str]) -> ColumnError:
    cell = next(value.as_py().strip() for value in column if value.is_valid and not value.as_py().strip().isdigit())
    mark = one[0] if one[0] in cell and not one[1] else other[0]
    return ColumnError(
        f"{layout.file.describe}: column {name!r} holds numbers such as {cut(cell)!r}, in which the {_sign(mark)} may be the decimal mark "
        f'or group thousands: set decimal="{mark}" (--decimal {mark} on the command line) or thousands="{mark}" '
        f"(--thousands {mark} on the command line).",
        remedies=[
            Remedy(f"take {mark} for the decimal mark", {"decimal": mark}),
            Remedy(f"take {mark} for a separator of thousands", {"thousands": mark}),
        ],
    )


def _sign(mark: str) -> str:
    return "comma" if mark == "," else "point"


def _notes(
    styles: Mapping[str, Style], names: Mapping[str, str], decimal: str, units: Sequence[str], layout: Layout
) -> list[str]:
    notes = []
    if decimal == "," and layout.decimal != ",":
        notes.append("Decimal commas are read as such")
    grouped: dict[str, list[str]] = {}
    for written, style in styles.items():
        if style.thousands:
            grouped.setdefault(f"The {NAMES[style.thousands]} between thousands", []).append(names[written])
        if style.mark:
            grouped.setdefault(f"The sign {style.mark}", []).append(names[written])
    notes += [
        f"{what} in {listed(columns, 6)} {'are' if 'thousands' in what else 'is'} left out"
        for what, columns in grouped.items()
    ]
    if units:
        notes.append(
            f"The row below the header is read as units ({joined([shown(unit.strip()) for unit in units], 6)})"
        )
    return notes
