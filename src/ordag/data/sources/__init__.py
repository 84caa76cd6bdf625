"""Sources: every kind of file and table that can be read, opened by `open_source`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ordag.data.reading import DEFAULT_READING, Reading
from ordag.data.sources.arrays import open_array, open_rows
from ordag.data.sources.arrow_files import open_arrow_file
from ordag.data.sources.csv import open_csv
from ordag.data.sources.dask import DaskSource, open_dask
from ordag.data.sources.databases import open_database
from ordag.data.sources.folders import open_folder
from ordag.data.sources.frames import open_columns, open_frame
from ordag.data.sources.parquet import open_parquet
from ordag.data.sources.paths import DiskFile, Upload, locate
from ordag.data.sources.r_data import open_rds
from ordag.data.sources.source import Source
from ordag.data.sources.statistical import open_statistical
from ordag.data.sources.streams import open_dataset, open_iterator, open_stream
from ordag.data.sources.tensors import TensorSource, open_tensor
from ordag.data.sources.workbooks import open_workbook
from ordag.errors import UnreadableError

__all__ = ["DaskSource", "Source", "TensorSource", "Upload", "open_source"]

Opener = Callable[..., Source | None]
"""From data and settings to a source, or None for data of another kind: the first opener that returns a source is taken."""

FILES: tuple[Opener, ...] = (
    open_parquet, open_arrow_file, open_workbook, open_statistical, open_rds, open_database, open_csv
)  # fmt: skip
"""Openers of (file, Reading); text comes last, as it takes every file."""

TABLES: tuple[Opener, ...] = (
    open_dask, open_tensor, open_columns, open_rows, open_dataset, open_stream, open_frame, open_array, open_iterator
)  # fmt: skip
"""Openers of (table in memory, Reading); arrays come late, as NumPy makes one of most things."""


def open_source(data: Any, reading: Reading = DEFAULT_READING) -> Source:
    r"""Open a table of numbers, and check everything that can be checked without reading it.

    `data` is one of

    - the path of a text file: .csv (commas), .tsv (tabs), .txt or any other ending (tabs if the first line
      has one, else commas), also compressed (.csv.gz, .csv.bz2, .csv.zst, .csv.lz4);
    - the path of a Parquet file (.parquet, .pq), or of a folder of Parquet or text files with the same columns;
    - the path of an Arrow or Feather file (.arrow, .arrows, .feather, .ipc);
    - the path of an Excel or OpenDocument workbook (.xlsx, .xlsm, .xls, .ods), of which `reading.sheet` names a sheet; of a file of Stata
      (.dta), SPSS (.sav, .zsav, .por) or SAS (.sas7bdat, .xpt), whose value labels make categories; of a data frame of R (.rds); of a
      file of SQLite or DuckDB, of which `reading.table` names a table;
    - the name of a built-in data set, "marks" or "sachs". A bare name without an ending is the data set;
      "./marks" and Path("marks") are files;
    - a data frame (pandas, polars, Arrow and others that narwhals supports; lazy ones are collected; a pandas
      index is ignored), or a dict of columns;
    - an object with Arrow's stream protocol, such as a query of DuckDB or a reader of batches; a dataset or scanner of pyarrow; an
      iterator of data frames, Arrow batches or arrays. Their rows are read batch by batch and not kept;
    - a data frame or an array of Dask, or a bag of Arrow tables: every partition is read by its worker, and none is collected;
    - a tensor of PyTorch on a GPU, or another array with the CUDA array interface: its scatter is formed there;
    - a NumPy array or a list of rows, whose columns are called X1 to Xp. Masked entries are missing. Sparse matrices are
      refused: centred columns are dense.

    `reading.columns` selects columns by name, in that order; the layout applies to text files only; `transform` and `missing` are left
    to the caller. Empty cells, a lone point, and NA, N/A, NaN, none, null in small or capital letters are missing values.

    Text, dates, true/false values and complex numbers are refused, and so are integers beyond ±2^53, which
    float64 would round. Nothing that is passed in is ever changed.
    """
    openers = FILES
    if isinstance(data, str | os.PathLike):
        path, describe = locate(data)
        if path.is_dir():
            return open_folder(path, describe, reading)
        data = DiskFile(path, describe)
    elif not isinstance(data, Upload):
        reading.refuse_layout("a table in memory")
        openers = () if isinstance(data, type) else TABLES  # a class has the attributes of a frame, and no rows
    for opener in openers:
        source = opener(data, reading)
        if source is not None:
            return source
    raise UnreadableError(
        f"An object of type {type(data).__name__} cannot be read as a table: give a path, a data frame, "
        "a two-dimensional array, a dict of columns, or the name of a data set."
    )
