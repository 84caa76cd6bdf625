"""Data frames, arrays and bags of Dask: a partition is opened, and worked on, by the worker that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ordag.cluster import computed
from ordag.data.reading import Reading
from ordag.data.sources.arrays import KINDS, open_array
from ordag.data.sources.columns import select
from ordag.data.sources.frames import open_frame
from ordag.data.sources.source import ScatteredSource, Source
from ordag.data.sources.streams import column_names, open_iterator
from ordag.errors import ColumnError, OrdagError, UnreadableError
from ordag.words import counted, quoted

Found = TypeVar("Found")

TOGETHER = 2
"""Neighbours that are merged at once: with more of them, more p × p matrices wait for the last."""


@dataclass(frozen=True)
class Opening:
    """How a worker makes a source of a partition, which must have the columns of the others."""

    describe: str
    names: tuple[str, ...]
    every: tuple[str, ...] | None  # the columns that there are to be, where all of them are used

    def source(self, partition: Any, number: int) -> Source:
        describe = f"partition {number} of {self.describe}"
        reading = Reading(columns=self.names)
        if isinstance(partition, list):
            for one in partition:
                if not _is_table(one):
                    raise UnreadableError(
                        f"{describe} holds an object of type {type(one).__name__}: expected an Arrow table, or a data frame."
                    )
                self._refuse_others(column_names(one), describe)
            source = open_iterator(iter(partition), reading, describe) if partition else None
        else:
            self._refuse_others(column_names(partition), describe)
            source = open_frame(partition, reading, describe) or open_array(partition, reading, describe)
        if source is None and isinstance(partition, list):
            return EmptySource(self.names, 0, describe)
        if source is None:
            raise UnreadableError(f"{describe} is an object of type {type(partition).__name__}: expected a table.")
        return source

    def _refuse_others(self, names: Sequence[str], describe: str) -> None:
        expected = self.names if self.every is None else self.every
        absent = [name for name in expected if name not in names]
        odd = [name for name in names if self.every is not None and name not in expected]
        if absent or odd:
            lacks = f"lacks {quoted(absent)}" if absent else ""
            has = f"has {quoted(odd)}, which the others have not" if odd else ""
            raise ColumnError(
                f"{describe} {' and '.join(part for part in (lacks, has) if part)}: give every partition the same columns, or say "
                "which to use with columns=…"
            )


@dataclass(frozen=True, eq=False)
class EmptySource(Source):
    """A partition without a table."""

    def batches(self, rows: int) -> Any:
        return iter(())


@dataclass(frozen=True, eq=False)
class BrokenSource(Source):
    """A partition that is no table: says so when it is read."""

    error: OrdagError

    def batches(self, rows: int) -> Any:
        raise self.error


@dataclass(frozen=True, eq=False)
class DaskSource(ScatteredSource):
    """Partitions that Dask has or can make, as Delayed objects; `opening` makes a source of each."""

    parts: tuple[Any, ...]
    opening: Opening

    @property
    def part_count(self) -> int:
        return len(self.parts)

    def mapped(self, work: Callable[[Source, Any], Found], places: Sequence[Any]) -> list[Found]:
        return computed(self._tasks(work, places), self.describe, self.parts)

    def merged(
        self,
        work: Callable[[Source, Any], Found],
        places: Sequence[Any],
        merge: Callable[[Sequence[Found]], Found],
    ) -> Found:
        from dask import delayed

        level = self._tasks(work, places)
        join = delayed(merge, pure=False, traverse=False)
        while len(level) > 1:
            groups = [level[k : k + TOGETHER] for k in range(0, len(level), TOGETHER)]
            level = [join(group) if len(group) > 1 else group[0] for group in groups]
        found: Found = computed(level, self.describe, self.parts)[0]
        return found

    def _tasks(self, work: Callable[[Source, Any], Any], places: Sequence[Any]) -> list[Any]:
        """One task for every partition; what they have in common is sent once."""
        from dask import delayed

        job = delayed(partial(_worked, work, self.opening), pure=False, traverse=False)
        return [job(part, k, place) for k, (part, place) in enumerate(zip(self.parts, places, strict=True))]


def _worked(work: Callable[[Source, Any], Found], opening: Opening, partition: Any, number: int, place: Any) -> Found:
    held = partition if _is_table(partition) else list(partition)
    try:
        source = opening.source(held, number)
    except OrdagError as error:
        source = BrokenSource(opening.names, None, opening.describe, error)
    return work(source, place)


def open_dask(data: Any, reading: Reading) -> Source | None:
    """A data frame or an array of Dask, or a bag of Arrow tables; its rows stay where they are."""
    native = data.to_native() if type(data).__module__.startswith("narwhals") else data
    if type(native).__module__.split(".")[0] not in ("dask", "dask_expr"):
        return None
    import dask

    if not dask.is_dask_collection(native):
        return None
    opener = {"Array": _open_array, "Bag": _open_bag, "DataFrame": _open_frame}.get(type(native).__name__)
    if opener is None:
        raise UnreadableError(
            f"A Dask {type(native).__name__} was given: expected a data frame, an array of (rows, variables), or a bag of Arrow tables."
        )
    return opener(native, reading)


def _open_frame(frame: Any, reading: Reading) -> Source:
    describe = "the Dask data frame"
    known = open_frame(frame._meta, reading, describe)
    assert known is not None
    labels = {str(label): label for label in frame.columns}
    if set(labels) - set(known.names):
        frame = frame[[labels[name] for name in known.names]]
    every = tuple(labels) if reading.columns is None else None
    return _source(describe, known.names, every, frame.to_delayed())


def _open_array(array: Any, reading: Reading) -> Source:
    describe = "the Dask array"
    if array.ndim != 2:
        raise UnreadableError(f"{describe} has shape {array.shape}: expected two dimensions, (rows, variables).")
    if not np.isfinite(array.shape[1]):
        raise UnreadableError(f"{describe} has an unknown number of columns: call .compute_chunk_sizes() first.")
    kind = KINDS.get(array.dtype.kind)
    if kind is not None:
        raise ColumnError(f"{describe} holds {kind.holds} (dtype {array.dtype}): only real numbers can be used.")
    names = tuple(f"X{j + 1}" for j in range(array.shape[1]))
    used = tuple(names[j] for j in select(names, [None] * len(names), reading.columns, describe))
    whole = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
    return _source(describe, used, names, whole.to_delayed()[:, 0].tolist())


def _open_bag(bag: Any, reading: Reading) -> Source:
    describe = "the Dask bag"
    from dask import delayed

    parts = bag.to_delayed()
    look = delayed(_first_table, pure=False)
    for part in parts:  # the names are those of the first table: one partition, or a few if there are empty ones
        found = computed([look(part)], describe)[0]
        if isinstance(found, str):
            raise UnreadableError(f"{describe} holds objects of type {found}: expected Arrow tables, or data frames.")
        if found is not None:
            known = open_frame(found, reading, describe)
            assert known is not None
            every = tuple(column_names(found)) if reading.columns is None else None
            return _source(describe, known.names, every, parts)
    raise UnreadableError(f"{describe} is empty: expected Arrow tables in its {counted(len(parts), 'partition')}.")


def _first_table(partition: Any) -> Any:
    """The first table of a partition without its rows, None if there is none, or of which type the object is instead."""
    import pyarrow as pa

    first = next(iter(partition), None)
    if first is None:
        return None
    if isinstance(first, pa.Table | pa.RecordBatch):
        return first.schema.empty_table()
    return first.head(0) if hasattr(first, "head") else type(first).__name__


def _source(describe: str, names: tuple[str, ...], every: tuple[str, ...] | None, parts: Sequence[Any]) -> DaskSource:
    return DaskSource(names, None, describe, tuple(parts), Opening(describe, names, every))


def _is_table(partition: Any) -> bool:
    return hasattr(partition, "columns") or hasattr(partition, "__array__")
