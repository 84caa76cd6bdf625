"""Text files of numbers (CSV, TSV), read block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import counted, cut
from ordag.data.reading import DECIMAL_COMMA, Reading, without
from ordag.data.sources.choosing import Chosen, choose
from ordag.data.sources.columns import (
    LARGEST_EXACT,
    LONG,
    TEXT,
    Kind,
    Look,
    arrow_kind,
    beyond_exact,
    codes,
    floats,
    look_at,
    take_for_missing,
)
from ordag.data.sources.first_lines import COMMENT
from ordag.data.sources.numbers import recognised, strange
from ordag.data.sources.parts import Part
from ordag.data.sources.paths import File, FileSource
from ordag.data.sources.source import Source
from ordag.data.sources.text_layout import NUMBER, Layout, find_layout, not_decodable
from ordag.errors import ColumnError, DataError, TooFewRowsError, UnreadableError

_WORDS = ("na", "n/a", "nan", "none", "null", "<na>")
_AS_WRITTEN = ("", ".", *(form(word) for word in _WORDS for form in (str.lower, str.upper, str.capitalize)), "NaN")
MISSING = (
    *_AS_WRITTEN,
    *(f" {word}" for word in _AS_WRITTEN),  # after a comma and a space
    *("#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""Cells that stand for a missing value; a lone point is one in files from SAS and Stata."""
LONG_INTEGER = r"^\s*[+-]?\d{16,}\s*$"
COMMA = re.compile(r"\s*[+-]?[\d.]*,\d+(?:e[+-]?\d+)?\s*", re.IGNORECASE)
GROUPED_NUMBER = re.compile(r"\s*[+-]?\d{1,3}(?:[,. ']\d{3})+(?:[.,]\d*)?\s*")
NOT_CONVERTED = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)
FEW_CODES = 20
"""Different values up to which a column of whole numbers and words holds categories."""

MOST_CELLS = 10
"""Cells that an error names."""

CORRECT = "Correct the value, or leave the cell empty if it is missing."
CONTRADICTION = "Columns seem to be written in different ways: set decimal=… and thousands=… (--decimal, --thousands)."
UNPACKING = re.compile(r"(zlib|bz2|lz4|zstd) |inflate|decompress", re.IGNORECASE)
DECIMAL_COMMA_ADVICE = (
    'If the comma is a decimal comma, set decimal="," (--decimal , on the command line); '
    "if it groups thousands, remove it."
)


@dataclass(frozen=True, eq=False)
class CsvSource(FileSource):
    """A text file, of which a few blocks are in memory at a time."""

    layout: Layout
    written: Mapping[int, str]  # pyarrow's names of the columns that are read, by position in the file
    opened: list[Any] = field(default_factory=list)  # the open file, which tells how many of its bytes are read

    def share(self, rows: int) -> float | None:
        if not self.opened or self.opened[0].closed or not self.opened[0].size():
            return None
        return float(self.opened[0].tell() / self.opened[0].size())

    def blocks(self) -> Iterator[Array]:
        import pyarrow as pa

        if self.rows == 0:
            return
        checked = False
        with self.layout.file.unchanged(), self._reader(pa.float64()) as reader:
            for batch in reader:
                block = self._converted(batch)
                if not checked and bool((np.abs(block) >= LARGEST_EXACT).any()):
                    self._refuse_long_integers()
                    checked = True
                yield block

    def _converted(self, batch: Any) -> Array:
        levels = [None] * len(self.names) + [one.levels for one in self.covariates]
        columns = zip(batch.columns, levels, strict=True)
        return np.column_stack([floats(one) if coded is None else codes(one, coded) for one, coded in columns])

    def _refuse_long_integers(self) -> None:
        """Read the columns once more, as text: 1e20 is fine, an integer that float64 has to round is not."""
        import pyarrow as pa
        import pyarrow.compute as pc

        row = 1
        with self._reader(pa.string()) as reader:
            for batch in reader:
                for name, column in zip(self.names, batch.columns[: len(self.names)], strict=True):
                    long = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(column, LONG_INTEGER), False))
                    for k in long.to_pylist():
                        digits = column[k].as_py().strip()
                        if len(digits) > 40 or abs(int(digits)) > LARGEST_EXACT:
                            raise beyond_exact(self.describe, name, digits, row + k)
                row += batch.num_rows

    def _reader(self, type_: Any) -> AbstractContextManager[Any]:
        """Open a reader of the columns, those of variables as of this type, categories as text."""
        import pyarrow as pa

        names = [*self.names, *(one.name for one in self.covariates)]
        types = [type_] * len(self.names)
        types += [type_ if one.levels is None else pa.string() for one in self.covariates]
        renamed = dict(zip(self.written, names, strict=True))
        return _reader(self.layout, renamed, dict(zip(self.written.values(), types, strict=True)), self.opened)


def open_csv(file: File, reading: Reading) -> Source:
    """Open a text file; its first block decides which columns hold numbers."""
    part = text_part(file, reading)
    return part.source(choose(part.look, reading, file.describe))


def text_part(file: File, reading: Reading, *, looking: bool = True) -> Part:
    """Open a text file that may be one of several by its first block, which is kept if `looking`."""
    describe, layout = file.describe, find_layout(file, reading)
    if layout.alone and not layout.header:
        raise TooFewRowsError(f"{describe} holds a single row: give more rows than there are variables.")
    if layout.alone:
        written, block = list(layout.first), None
    else:
        with _reader(layout, {}, {}) as reader:
            written = reader.schema.names
            block = next((batch for batch in reader if batch.num_rows), None)
    if layout.trailing:
        written = written[:-1]
        block = None if block is None else block.select(range(len(written)))
    names = [name.strip() if layout.header else f"X{j + 1}" for j, name in enumerate(written)]
    if block is not None:
        layout, block = recognised(layout, block, reading, names, lambda: _as_text(layout, written))
    rows = 0 if block is None else None

    def source(chosen: Chosen) -> CsvSource:
        return CsvSource(
            names=chosen.names,
            rows=rows,
            describe=describe,
            files=(file,),
            layout=layout,
            notes=layout.notes,
            written={j: written[j] for j in map(names.index, chosen.read_names)},
            **chosen.known,
        )

    first = block.rename_columns(names) if looking and block is not None else None
    columns = [] if block is None else block.columns
    blank = {name for name, column in zip(names, columns, strict=False) if column.null_count == len(column)}
    return Part(file, _look(names, block, layout), first, rows, source, blank)


def _look(names: list[str], block: Any, layout: Layout) -> Look:
    """Look at the first block of the columns, which may be the whole file."""
    if block is None:
        return Look(names, [None] * len(names), named=layout.header)
    kinds = [_kind(column, layout) for column in block.columns]
    look = look_at(block.schema, block, whole=layout.complete)
    longest = [LONG if kind is None and known is LONG else kind for kind, known in zip(kinds, look.kinds, strict=True)]
    return replace(look, names=names, kinds=longest, named=layout.header)


def _as_text(layout: Layout, written: Sequence[str]) -> Any:
    """Return the first block with all columns as text."""
    import pyarrow as pa

    with _reader(layout, {}, dict.fromkeys(written, pa.string())) as reader:
        return next(batch for batch in reader if batch.num_rows)


def _kind(column: Any, layout: Layout) -> Kind | None:
    """Return what the first block of a column holds; for a column mostly of numbers, its first other value."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return arrow_kind(column.type)
    values = [(row, str(value)) for row, value in enumerate(column.to_pylist(), start=1) if value is not None]
    strange = [(row, value) for row, value in values if not NUMBER.fullmatch(value.replace(layout.decimal, "."))]
    if not strange:
        return None
    row, value = strange[0]
    if layout.decimal == "." and all(COMMA.fullmatch(value) for _, value in strange):
        remedy = None if layout.separator == "," else DECIMAL_COMMA
        return Kind(f"decimal commas ({cut(value)!r} in data row {row})", DECIMAL_COMMA_ADVICE, remedy, "refused")
    if not layout.header and row == 1 and len(strange) == 1:
        return Kind(
            f"{cut(value)!r} in its first row",
            "If the first line holds the names, leave out header=False (--no-header on the command line).",
            role="refused",
        )
    if 2 * len(strange) <= len(values):
        return text_or_bad_cells([value for _, value in values], strange)
    other = [(row, value) for row, value in strange if not (COMMA.fullmatch(value) or GROUPED_NUMBER.fullmatch(value))]
    if not other:
        return Kind(f"{cut(value)!r} in data row {row}", CONTRADICTION, role="refused")
    if 2 * len(other) <= len(values):  # numbers written in another way, but for these
        return _bad_cells(other)
    return TEXT


def text_or_bad_cells(values: Sequence[str], strange: Sequence[tuple[int, str]]) -> Kind:
    """Return what a column mostly of numbers holds: the cells that are none, by their rows, unless they are codes as the others are."""
    return TEXT if _are_codes(values, strange) else _bad_cells(strange)


def _are_codes(values: Sequence[str], strange: Sequence[tuple[int, str]]) -> bool:
    """Return whether whole numbers with a few other cells are codes: 136 and 136A, boats 1 to 16 and A to D, or few values of many rows."""
    odd = {value.strip() for _, value in strange}
    plain = [value.strip() for value in values if value.strip() not in odd]
    if not all(value.isdigit() for value in plain) or not all(re.search("[A-Za-z]", value) for value in odd):
        return False
    distinct = len({*plain, *odd})
    few = distinct <= FEW_CODES and len(values) >= 5 * distinct
    lettered = all(re.fullmatch(r"\d+[A-Za-z]|[A-Z]", value) for value in odd)
    return few or (lettered and len(values) > FEW_CODES) or (lettered and distinct == len(values) > 8)


def _bad_cells(found: Sequence[tuple[int, str]]) -> Kind:
    """Report the cells of a numeric column that are no numbers; offer to read them as missing if they are few different ones."""
    some = ", ".join(f"{cut(value)!r} in data row {row:,}" for row, value in found[:MOST_CELLS])
    more = f" and {len(found) - MOST_CELLS:,} more" if len(found) > MOST_CELLS else ""
    cells = list(dict.fromkeys(value.strip() for _, value in found))
    if len(cells) > MOST_CELLS:
        return Kind(f"{some}{more}", CORRECT, role="refused")
    return Kind(f"{some}{more}", CORRECT, take_for_missing(cells), "refused")


@contextmanager
def _reader(
    layout: Layout, names: Mapping[int, str], types: Mapping[str, Any], opened: list[Any] | None = None
) -> Iterator[Any]:
    """Open pyarrow's reader of the file; without `types`, of all columns and with the types it finds. `opened` gets the open file.

    Reading is serial, so that rows are numbered in errors; threads make it no quicker.
    """
    from pyarrow import csv

    ragged: list[Any] = []

    def remember(row: Any) -> str:
        ragged.append(row)
        return "error"

    import pyarrow as pa

    column_types = {name: pa.string() if name in layout.styles else type_ for name, type_ in types.items()}
    try:
        raw = layout.file.arrow()
        if opened is not None:
            opened[:] = [raw]
        with (
            raw,
            csv.open_csv(
                pa.input_stream(raw, compression=layout.compression),
                read_options=csv.ReadOptions(
                    use_threads=False,
                    block_size=layout.block,
                    encoding=layout.encoding,
                    autogenerate_column_names=not layout.header,
                    skip_rows=layout.above + (layout.names is not None),
                    skip_rows_after_names=layout.below,
                    column_names=layout.names,
                ),
                parse_options=csv.ParseOptions(
                    delimiter=layout.separator, newlines_in_values=True, invalid_row_handler=remember
                ),
                convert_options=csv.ConvertOptions(
                    null_values=[*MISSING, *layout.na, *(f" {cell}" for cell in layout.na)],
                    strings_can_be_null=True,
                    decimal_point=layout.decimal,
                    column_types=column_types,
                    include_columns=list(column_types),
                ),
            ) as reader,
        ):
            yield _plain(reader, layout, names, types) if layout.styles.keys() & types.keys() else reader
    except UnicodeDecodeError as error:
        raise not_decodable(layout.file.describe, layout.encoding, f"byte {error.object[error.start]:#04x}") from error
    except UnicodeEncodeError as error:
        raise not_decodable(layout.file.describe, layout.encoding, "half of a letter") from error
    except (pa.ArrowException, OSError) as error:
        raise (_ragged(ragged[0], layout) if ragged else _explained(str(error), layout, names)) from error


def _plain(reader: Any, layout: Layout, names: Mapping[int, str], types: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the blocks with numbers in place of those that are written in a style of their own."""
    import pyarrow as pa

    row, shown_names = 1, dict(zip(types, names.values(), strict=True))
    for batch in reader:
        columns = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            style = layout.styles.get(name)
            if style is None:
                columns.append(column)
                continue
            k = strange(column, style) if pa.types.is_floating(types[name]) else None
            if k is not None:
                raise ColumnError(
                    f"{layout.file.describe}: column {shown_names[name]!r} holds {cut(column[k].as_py())!r} in data row {row + k}, which "
                    f"is no number written like those before it. {CORRECT}",
                    remedies=without({shown_names[name]}, list(names.values())),
                )
            columns.append(style.cleaned(column).cast(types[name]))
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        row += batch.num_rows


def _explained(message: str, layout: Layout, names: Mapping[int, str]) -> DataError:
    """Translate an error of pyarrow into the terms of the user's table."""
    describe = layout.file.describe
    found = NOT_CONVERTED.match(message)
    if found and int(found[1]) in names:
        place = f" in data row {int(found[2]) - layout.before}" if found[2] else ""
        name = names[int(found[1])]
        others = without({name}, list(names.values()))
        problem = f"{describe}: column {name!r} holds {cut(found[3])!r}{place}, which is not a number."
        if "\ufffd" in found[3]:
            return not_decodable(describe, layout.encoding, f"column {name!r}{place}")
        if layout.decimal == "." and COMMA.fullmatch(found[3]):
            comma = [] if layout.separator == "," else [DECIMAL_COMMA]
            return ColumnError(f"{problem} {DECIMAL_COMMA_ADVICE}", remedies=[*comma, *others])
        mark = f" Decimal numbers are expected with {layout.decimal!r}." if layout.decimal != "." else ""
        return ColumnError(f"{problem}{mark} {CORRECT}", remedies=others)
    if "straddl" in message:
        return UnreadableError(
            f"{describe} has a row of more than {layout.block >> 10} kB: a quotation mark may be opened and "
            "never closed. Correct that row."
        )
    if layout.compression is not None and UNPACKING.search(message):
        return UnreadableError(
            f"{describe} cannot be unpacked ({message.strip()}): the compressed data are damaged. Copy or download it again."
        )
    if "runcated" in message or "ompress" in message or "end of file" in message.lower():
        return UnreadableError(f"{describe} is cut off ({message}): copy or download it again.")
    reason = message.splitlines()[0] if message else "no reason given"
    return UnreadableError(f"{describe} could not be read as CSV ({reason}). Check the file and its separator.")


def _ragged(row: Any, layout: Layout) -> UnreadableError:
    expected, found = row.expected_columns, row.actual_columns
    place = "a row" if row.number is None else f"data row {row.number - layout.before}"
    if layout.first[0].lstrip().startswith(COMMENT):
        remedy = f"The first line ({cut(layout.first[0])!r}) looks like a comment: delete the lines before the header."
    elif row.text.count('"') % 2:
        remedy = "A quotation mark in it is opened and never closed."
    elif found < expected and _ends_with(row.text, layout):
        remedy = "It is the last row: the file seems to be cut off."
    elif found == expected + 1 and row.number == layout.before + 1:
        remedy = "If the first column holds row names, give it a name in the header too."
    else:
        remedy = "Correct the row, and quote cells that contain the separator."
    return UnreadableError(
        f"{layout.file.describe}: {place} has {counted(found, 'field')} where {expected} "
        f"{'are' if expected != 1 else 'is'} expected ({cut(row.text)!r}). {remedy}"
    )


def _ends_with(text: str, layout: Layout) -> bool:
    wanted = text.strip().encode()
    return layout.file.end(len(wanted) + 2).strip().endswith(wanted)
