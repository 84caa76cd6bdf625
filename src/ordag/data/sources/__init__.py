"""Whatever holds a table comes in, float64 batches of its selected columns go out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordag.data.sources.arrays import open_array, open_rows
from ordag.data.sources.csv import open_csv
from ordag.data.sources.frames import open_columns, open_frame
from ordag.data.sources.parquet import ENDINGS, is_parquet, open_folder, open_parquet
from ordag.data.sources.paths import locate
from ordag.data.sources.sniff import COMPRESSED
from ordag.data.sources.source import Source
from ordag.errors import SettingError, UnreadableError

__all__ = ["Source", "open_source", "refuse_reading"]


def open_source(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool = True,
) -> Source:
    r"""Open a table of numbers, and check everything that can be checked without reading it.

    `data` is one of

    - the path of a text file: .csv (commas), .tsv (tabs), .txt or any other ending (tabs if the first line
      has one, else commas), also compressed (.csv.gz, .csv.bz2, .csv.zst, .csv.lz4);
    - the path of a Parquet file (.parquet, .pq), or of a folder of Parquet files with the same columns;
    - the name of a built-in data set, "marks" or "sachs". A bare name without an ending is the data set;
      "./marks" and Path("marks") are files;
    - a data frame (pandas, polars, Arrow and others that narwhals knows; lazy ones are collected; a pandas
      index is ignored), or a dict of columns;
    - a NumPy array or a list of rows, whose columns are called X1 to Xp. Entries that a mask hides are
      missing. Sparse matrices are refused: centred columns are dense.

    `columns` selects columns by name, in that order. The other settings matter for text files only:
    `separator`, `encoding` (UTF-8 unless said otherwise), `decimal` ("." or ","), and `header=False` for a file
    whose first line is data already. Empty cells, a lone point, and NA, N/A, NaN, none, null in
    small or capital letters are missing values.

    Text, dates, true/false values and complex numbers are refused, and so are integers beyond ±2^53, which
    float64 would round. Nothing that is passed in is ever changed.
    """
    reading = {"separator": separator, "encoding": encoding, "decimal": decimal, "header": header}
    if isinstance(data, str | os.PathLike):
        path, describe = locate(data)
        if path.is_dir():
            refuse_reading(reading, describe)
            return open_folder(path, columns, describe)
        endings = {ending.lower() for ending in path.suffixes[-1:]}
        known_text = endings & {".csv", ".tsv", ".txt", *COMPRESSED}
        if endings & set(ENDINGS) or (not known_text and is_parquet(path, describe)):
            refuse_reading(reading, describe)
            return open_parquet(path, columns, describe)
        return open_csv(path, columns, describe, separator=separator, encoding=encoding, decimal=decimal, header=header)
    refuse_reading(reading, "a table in memory")
    return _in_memory(data, columns)


def refuse_reading(reading: Mapping[str, object], describe: str) -> None:
    """Settings that would be of no effect are refused, so that nobody believes in one."""
    given = [name for name, value in reading.items() if value is not None and value is not True]
    if given:
        raise SettingError(f"{', '.join(given)}: {describe} is not read as text, so leave that out.")


def _in_memory(data: Any, columns: Sequence[str] | None) -> Source:
    if isinstance(data, np.ndarray):
        if data.dtype.names and data.ndim == 1:
            return open_columns({name: data[name] for name in data.dtype.names}, columns)
        return open_array(data, columns)
    if isinstance(data, Mapping):
        return open_columns(data, columns)
    if isinstance(data, list | tuple):
        return open_rows(data, columns)
    if type(data).__module__.startswith("scipy.sparse"):
        raise UnreadableError(f"A sparse matrix of shape {data.shape} was given: pass data.toarray().")
    source = open_frame(data, columns)
    if source is not None:
        return source
    if hasattr(data, "__array__"):
        return open_array(np.asarray(data), columns)
    raise UnreadableError(
        f"An object of type {type(data).__name__} cannot be read as a table: give a path, a data frame, "
        "a two-dimensional array, a dict of columns, or the name of a data set."
    )
