"""Parts of a table: files with the same columns, looked at together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ordag.common.words import quoted
from ordag.data.reading import Reading, without
from ordag.data.sources.choosing import Chosen
from ordag.data.sources.columns import LONG, Kind, Look, arrow_kind, look_at
from ordag.data.sources.paths import File, FileSource
from ordag.errors import ColumnError


@dataclass(frozen=True)
class Part:
    """A file of a table. first: the rows that were looked at, if any. rows: of the file, where known. source: opens the columns chosen.
    blank: columns without a value, as far as was looked.
    """

    file: File
    look: Look
    first: Any
    rows: int | None
    source: Callable[[Chosen], FileSource]
    blank: Collection[str]


def together(parts: Sequence[Part]) -> Look:
    """Return the look at a table of several files: the columns of the first, in the rows of all that were looked at."""
    if len(parts) == 1:
        return parts[0].look
    look = parts[0].look
    known = [
        (part.file.name, {n: k for n, k in zip(part.look.names, part.look.kinds, strict=True) if n not in part.blank})
        for part in parts
        if part.rows != 0
    ]
    kinds = [_kind(name, known) for name in look.names]
    seen = [part.first for part in parts if part.first is not None]
    if not seen:
        return replace(look, kinds=kinds, numbers=None, levels=None)
    stacked = _stacked(look.names, seen)
    whole = all(part.rows == 0 or (part.look.whole and part.first is not None) for part in parts)
    return replace(look_at(stacked.schema, stacked, whole=whole), kinds=kinds, named=look.named)


def _kind(name: str, known: Sequence[tuple[str, Mapping[str, Kind | None]]]) -> Kind | None:
    """Return what a column holds: what it holds in any file instead of numbers."""
    found = [(kinds[name], file) for file, kinds in known if name in kinds]
    odd = [(kind, file) for kind, file in found if kind is not None]
    if not odd:
        return None
    kind, file = odd[0]
    numbers = next((file for kind, file in found if kind is None), None)
    if kind is LONG or (kind.role != "refused" and numbers is None):
        return kind
    more = f" and numbers in {numbers}" if numbers is not None and kind.role != "refused" else ""
    return replace(kind, holds=f"{kind.holds} in {file}{more}")


def _stacked(names: Sequence[str], batches: Sequence[Any]) -> Any:
    """Return the rows of several batches; columns that have other types in others become float64 or text."""
    import pyarrow as pa

    columns = []
    for name in names:
        indices = [batch.schema.get_field_index(name) for batch in batches]
        found = [pa.nulls(len(batch)) if k < 0 else batch.column(k) for batch, k in zip(batches, indices, strict=True)]
        types = {column.type for column in found} - {pa.null()}
        if len(types) > 1:
            types = {pa.float64() if not any(map(arrow_kind, types)) else pa.string()}
        (type_,) = types or {pa.null()}
        columns.append(pa.chunked_array([_as(column, type_) for column in found]).combine_chunks())
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _as(column: Any, type_: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(type_, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), type_)


def shared_columns(parts: Sequence[Part], reading: Reading) -> Reading:
    """Refuse files with other columns than the first; return the settings without columns to drop that only other files have."""
    first = parts[0].look.names
    chosen = (*reading.adjust, *reading.cause, *reading.row_columns.values())
    wanted = first if reading.columns is None else (*reading.columns, *chosen)
    odd: dict[str, str] = {}
    for part in parts[1:]:
        names = part.look.names
        for name in wanted:
            if name in first and name not in (*names, *reading.drop):
                odd.setdefault(name, f"{part.file.describe} lacks {{}}, which {parts[0].file.name} has")
        for name in names if reading.columns is None else ():
            if name not in (*first, *reading.drop):
                odd.setdefault(name, f"{part.file.describe} has {{}}, which {parts[0].file.name} has not")
    if odd:
        problem = next(iter(odd.values()))
        all_names = list(dict.fromkeys([*first, *odd]))
        raise ColumnError(
            f"{problem.format(quoted([name for name in odd if odd[name] == problem]))}: give all files of a folder the same columns, "
            "or leave out those that some lack with drop=… (--drop on the command line).",
            remedies=without(set(odd), all_names),
        )
    known = {name for part in parts for name in part.look.names}
    return replace(reading, drop=[name for name in reading.drop if name in first or name not in known])
