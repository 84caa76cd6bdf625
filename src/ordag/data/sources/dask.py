"""Data frames, arrays and bags of Dask: work goes to the worker that holds a partition, and its rows stay there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np

from ordag.common.arrays import Array
from ordag.common.cluster import computed
from ordag.common.words import counted, quoted
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.sources.arrays import numbered, refuse_dtype
from ordag.data.sources.choosing import Chosen, same_columns
from ordag.data.sources.frames import open_frame
from ordag.data.sources.source import Source, regroup
from ordag.data.sources.streams import column_names, open_part
from ordag.errors import ColumnError, UnreadableError

Result = TypeVar("Result")

LOOKED_ROWS = 200
"""Rows of the first partition that are looked at for the roles of columns."""

MERGED_AT_ONCE = 2
"""Neighbours merged in one task: with more of them, more p × p matrices wait for the last."""


@dataclass(frozen=True, eq=False)
class PartitionSource(Source):
    """One partition, on its worker: a table, or a list of tables. A partition that is not as it should be raises when it is read."""

    every: tuple[str, ...] | None  # the columns of all partitions, where the user has not named some
    reading: Reading  # of the same columns as in the others
    partition: Any

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup((np.ascontiguousarray(table.array) for table in self._tables()), rows)

    def _tables(self) -> Iterator[Any]:
        several = not _is_table(self.partition)
        for k, table in enumerate(list(self.partition) if several else [self.partition], start=1):
            if not _is_table(table):
                raise UnreadableError(
                    f"{self.describe} holds an object of type {type(table).__name__}: expected an Arrow table, or a data frame."
                )
            self._check_columns(column_names(table))
            describe = f"{self.describe}, part {k}" if several else self.describe
            yield open_part(table, self.reading, describe, self.covariates)

    def _check_columns(self, names: Sequence[str]) -> None:
        expected = self.names if self.every is None else self.every
        absent = [name for name in (*expected, *(one.name for one in self.covariates)) if name not in names]
        odd = [name for name in names if self.every is not None and name not in expected]
        if absent or odd:
            lacks = f"lacks {quoted(absent)}" if absent else ""
            has = f"has {quoted(odd)}, which the others have not" if odd else ""
            raise ColumnError(
                f"{self.describe} {' and '.join(part for part in (lacks, has) if part)}: give every partition the same columns, or say "
                "which to use with columns=…"
            )


@dataclass(frozen=True, eq=False)
class DaskSource(Source):
    """Partitions that Dask has or can make, as Delayed objects. Rows are those of partition 0, then those of partition 1, and so on."""

    partitions: tuple[Any, ...]
    opened: Callable[[Any, int], Source]  # from a partition and its number, on its worker

    def mapped(self, work: Callable[[Source, Any], Result], arguments: Sequence[Any]) -> list[Result]:
        """Apply `work` to every partition and its own argument, on the workers."""
        return computed(self._tasks(work, arguments), self.describe, self.partitions)

    def merged(
        self,
        work: Callable[[Source, Any], Result],
        arguments: Sequence[Any],
        merge: Callable[[Sequence[Result]], Result],
    ) -> Result:
        """Apply `work` likewise, and `merge` neighbouring results on the workers until one is left."""
        from dask import delayed

        level = self._tasks(work, arguments)
        join = delayed(merge, pure=False, traverse=False)
        while len(level) > 1:
            groups = [level[k : k + MERGED_AT_ONCE] for k in range(0, len(level), MERGED_AT_ONCE)]
            level = [join(group) if len(group) > 1 else group[0] for group in groups]
        result: Result = computed(level, self.describe, self.partitions)[0]
        return result

    def _tasks(self, work: Callable[[Source, Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """Return one task for every partition; what they have in common is sent once."""
        from dask import delayed

        job = delayed(partial(_on_partition, work, self.opened), pure=False, traverse=False)
        numbered = enumerate(zip(self.partitions, arguments, strict=True))
        return [job(partition, k, argument) for k, (partition, argument) in numbered]

    def batches(self, rows: int) -> NoReturn:
        raise UnreadableError(
            f"{self.describe} is on a cluster, and this needs its rows one after the other: write them to a Parquet file, "
            "or bring them into memory with .compute()."
        )


def _on_partition(
    work: Callable[[Source, Any], Result],
    opened: Callable[[Any, int], Source],
    partition: Any,
    number: int,
    argument: Any,
) -> Result:
    return work(opened(partition, number), argument)


def _opened(
    names: tuple[str, ...],
    covariates: tuple[Covariate, ...],
    every: tuple[str, ...] | None,
    reading: Reading,
    describe: str,
    partition: Any,
    number: int,
) -> PartitionSource:
    """Open a partition on its worker; its categories have levels of their own."""
    own = tuple(
        replace(one, levels=None if one.levels is None else [level for level in one.levels[:1] if not level])
        for one in covariates
    )
    place = f"partition {number} of {describe}"
    return PartitionSource(names, None, place, every, reading, partition, covariates=own)


def open_dask(data: Any, reading: Reading) -> Source | None:
    """Open a data frame or an array of Dask, or a bag of Arrow tables."""
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
    labels = {str(label): label for label in frame.columns}
    partitions = frame.to_delayed()
    start = open_frame(_start(frame._meta, partitions, reading, describe), reading, describe, whole=False)
    assert start is not None
    read = [*start.names, *(one.name for one in start.covariates)]
    if set(labels) - set(read):
        partitions = frame[[labels[name] for name in read]].to_delayed()
    every = tuple(labels) if reading.columns is None and not set(labels) - set(read) else None
    return _source(describe, start, every, reading, partitions)


def _start(meta: Any, partitions: Sequence[Any], reading: Reading, describe: str) -> Any:
    """Return the first rows of a data frame, or none where the user has said which columns to use."""
    from dask import delayed

    look = delayed(_first_rows, pure=False)
    if reading.columns is None and not reading.strict:
        for partition in partitions:
            found = computed([look(partition)], describe, partitions)[0]
            if found is not None:
                return found
    return meta


def _first_rows(partition: Any) -> Any:
    return partition.head(LOOKED_ROWS) if len(partition) else None


def _open_array(array: Any, reading: Reading) -> Source:
    describe = "the Dask array"
    if array.ndim != 2:
        raise UnreadableError(f"{describe} has shape {array.shape}: expected two dimensions, (rows, variables).")
    if not np.isfinite(array.shape[1]):
        raise UnreadableError(f"{describe} has an unknown number of columns: call .compute_chunk_sizes() first.")
    refuse_dtype(array.dtype, describe)
    start = numbered(array.shape[1], reading, describe)
    whole = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
    return _source(describe, start, None, reading, whole.to_delayed()[:, 0].tolist())


def _open_bag(bag: Any, reading: Reading) -> Source:
    from dask import delayed

    describe, partitions = "the Dask bag", bag.to_delayed()
    look = delayed(_first_table, pure=False)
    for (
        partition
    ) in partitions:  # the first table has the names: one partition is looked at, or a few if some are empty
        found = computed([look(partition)], describe)[0]
        if isinstance(found, str):
            raise UnreadableError(f"{describe} holds objects of type {found}: expected Arrow tables, or data frames.")
        if found is not None:
            start = open_frame(found, reading, describe, whole=False)
            assert start is not None
            every = tuple(column_names(found)) if reading.columns is None else None
            return _source(describe, start, every, reading, partitions)
    raise UnreadableError(f"{describe} is empty: expected Arrow tables in its {counted(len(partitions), 'partition')}.")


def _first_table(partition: Any) -> Any:
    """Return the first rows of the first table of a partition, the type of an object that is no table, or None if there is none."""
    import pyarrow as pa

    first = next(iter(partition), None)
    if first is None:
        return None
    if isinstance(first, pa.Table | pa.RecordBatch):
        return first.slice(0, LOOKED_ROWS)
    return first.head(LOOKED_ROWS) if hasattr(first, "head") else type(first).__name__


def _source(
    describe: str, start: Source | Chosen, every: tuple[str, ...] | None, reading: Reading, partitions: Sequence[Any]
) -> DaskSource:
    known: dict[str, Any] = {name: getattr(start, name) for name in ("covariates", "columns", "suspects")}
    repeated = same_columns(reading, start.names)
    opened = partial(_opened, start.names, start.covariates, every, repeated, describe)
    return DaskSource(start.names, None, describe, tuple(partitions), opened, **known)


def _is_table(partition: Any) -> bool:
    return hasattr(partition, "columns") or hasattr(partition, "__array__")
