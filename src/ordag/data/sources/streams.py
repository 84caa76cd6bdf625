"""Streams of rows: objects with Arrow's stream protocol, datasets of pyarrow, and iterators of tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.words import quoted
from ordag.data.covariates import Covariate
from ordag.data.reading import Reading
from ordag.data.sources.arrays import open_array
from ordag.data.sources.choosing import choose, same_columns
from ordag.data.sources.columns import batch_to_block, look_at
from ordag.data.sources.frames import open_frame
from ordag.data.sources.paths import arrow_errors
from ordag.data.sources.source import Source, regroup
from ordag.errors import ColumnError, UnreadableError

FORMAT = "a stream of Arrow batches"


@dataclass(frozen=True, eq=False)
class StreamSource(Source):
    """Arrow batches, which `read` gives from the first one on; it refuses a second pass where only one is possible."""

    read: Callable[[], Iterator[Any]]

    def batches(self, rows: int) -> Iterator[Array]:
        return regroup(self._blocks(), rows)

    def _blocks(self) -> Iterator[Array]:
        first_row = 1
        with arrow_errors(self.describe, FORMAT):
            for batch in self.read():
                yield batch_to_block(batch, self.names, self.describe, first_row, self.covariates)
                first_row += batch.num_rows


def open_stream(data: Any, reading: Reading) -> Source | None:
    """Open an object with Arrow's stream protocol that is no frame in memory: a query of DuckDB or ibis, a reader of batches."""
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    import pyarrow as pa
    from narwhals.dependencies import is_into_dataframe, is_into_series

    if is_into_dataframe(data) or is_into_series(data) or hasattr(data, "__arrow_c_array__"):
        return None
    describe = f"the {type(data).__name__}"
    with arrow_errors(describe, FORMAT):
        reader = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
        first, rest = _begun(reader, reading)
        chosen = choose(look_at(reader.schema, first, whole=False), reading, describe)
    waiting = [rest]

    def read() -> Iterator[Any]:
        if not waiting and reader is data:
            raise _once(describe)
        return waiting.pop() if waiting else iter(pa.RecordBatchReader.from_stream(data))

    return StreamSource(chosen.names, None, describe, read, **chosen.known)


def open_dataset(data: Any, reading: Reading) -> Source | None:
    """Open a Dataset or a Scanner of pyarrow."""
    module = sys.modules.get("pyarrow.dataset")
    if module is None or not isinstance(data, module.Dataset | module.Scanner):
        return None
    describe = f"the {type(data).__name__}"
    scans = isinstance(data, module.Scanner)
    with arrow_errors(describe, FORMAT):
        schema = data.projected_schema if scans else data.schema
        first, rest = _begun(data.to_reader() if scans else data.to_batches(), reading)
        chosen = choose(look_at(schema, first, whole=False), reading, describe)
    waiting = [rest] if scans else []

    def read() -> Iterator[Any]:
        if waiting:
            return waiting.pop()
        names = [*chosen.names, *(one.name for one in chosen.covariates)]
        return iter(data.to_reader() if scans else data.to_batches(columns=names))

    return StreamSource(chosen.names, None, describe, read, **chosen.known)


def _begun(batches: Iterable[Any], reading: Reading) -> tuple[Any, Iterator[Any]]:
    """Return the first batch with rows, unless the user has said which columns to use, and all batches."""
    rest = iter(batches)
    if reading.strict or reading.columns is not None:
        return None, rest
    first = next((batch for batch in rest if batch.num_rows), None)
    return first, rest if first is None else chain([first], rest)


@dataclass(frozen=True, eq=False)
class TablesSource(Source):
    """Tables that an iterator gives one after the other, in one pass."""

    tables: list[Iterator[Source]]

    def batches(self, rows: int) -> Iterator[Array]:
        if not self.tables:
            raise _once(self.describe)
        blocks = (table.array for table in self.tables.pop())
        return regroup((np.ascontiguousarray(block) for block in blocks if block is not None), rows)


def open_iterator(data: Any, reading: Reading) -> Source | None:
    """Open an iterator of data frames, Arrow tables and batches, or arrays, all with the same columns."""
    if not isinstance(data, Iterator):
        return None
    describe = f"the {type(data).__name__}"
    first = next(data, None)
    if first is None:
        raise UnreadableError(f"{describe} is empty: expected data frames, Arrow batches or arrays.")
    start = open_part(first, reading, f"{describe}, part 1")
    every = column_names(first)

    def tables() -> Iterator[Source]:
        yield start
        for k, item in enumerate(data, start=2):
            part = open_part(item, same_columns(reading, start.names), f"{describe}, part {k}", start.covariates)
            extra = [name for name in column_names(item) if name not in every]
            if reading.columns is None and extra:
                raise ColumnError(f"{describe}: part {k} has {quoted(extra)}, which the first part has not.")
            yield part

    return TablesSource(
        start.names,
        None,
        describe,
        [tables()],
        covariates=start.covariates,
        columns=start.columns,
        suspects=start.suspects,
    )


def open_part(item: Any, reading: Reading, describe: str, known: Sequence[Covariate] | None = None) -> Source:
    """Open one of several tables: a data frame, an Arrow table or batch, or an array; `known` as for `choose`."""
    import pyarrow as pa

    table = pa.Table.from_batches([item]) if isinstance(item, pa.RecordBatch) else item
    source = open_frame(table, reading, describe, whole=False, known=known)
    source = source or open_array(table, reading, describe, whole=False, known=known)
    if source is None:
        raise UnreadableError(
            f"{describe} is an object of type {type(item).__name__}: expected a data frame, an Arrow batch or an array."
        )
    return source


def column_names(table: Any) -> Sequence[str]:
    """Return the names of a frame or of an Arrow table, X1 to Xp for an array, none for anything else."""
    import pyarrow as pa

    if isinstance(table, pa.Table | pa.RecordBatch):
        return list(table.schema.names)
    if hasattr(table, "columns"):
        return [str(name) for name in table.columns]
    return [f"X{j + 1}" for j in range(table.shape[1])] if getattr(table, "ndim", 0) == 2 else []


def _once(describe: str) -> UnreadableError:
    return UnreadableError(
        f"{describe} can be read only once, and this needs a second pass: write the rows to a Parquet file, or give a data frame."
    )
