"""Files in memory: read as files on disk are, without one."""

from __future__ import annotations

import builtins
import bz2
import gzip
import io
import os
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from budgets import THOROUGH
from numpy.testing import assert_allclose

import ordag
from ordag.data.reading import Reading
from ordag.data.sources import Upload, open_source, text_layout
from ordag.data.table import Table
from ordag.errors import ColumnError, DataError, OrdagError, UnreadableError

FRAME = pd.DataFrame(ordag.simulate("homogeneous", 4, 120, seed=1).X, columns=["a", "b", "c", "d"])


def content(name: str) -> bytes:
    """The table as a file of this name would hold it."""
    held = io.BytesIO()
    if name.endswith((".parquet", ".pq")):
        FRAME.to_parquet(held)
    elif name.endswith((".feather", ".arrow")):
        FRAME.to_feather(held)
    elif name.endswith(".arrows"):
        table = pa.Table.from_pandas(FRAME)
        with pa.ipc.new_stream(held, table.schema) as stream:
            stream.write_table(table)
    elif name.endswith(".moments"):
        return ordag.Moments.from_rows(FRAME).to_bytes()
    else:
        text = FRAME.to_csv(index=False, sep="\t" if ".tsv" in name or ".txt" in name else ",").encode()
        packed = {".gz": partial(gzip.compress, mtime=0), ".bz2": bz2.compress, ".zst": pa.Codec("zstd").compress}
        pack = next((pack for ending, pack in packed.items() if name.lower().endswith(ending)), None)
        return text if pack is None else bytes(pack(text))
    return held.getvalue()


NAMES = ["t.csv", "T.CSV", "t.tsv", "t.txt", "table", "t.csv.gz", "t.CSV.GZ", "t.tsv.bz2", "t.csv.zst"]
NAMES += [
    "t.parquet",
    "t.pq",
    "t.feather",
    "t.arrow",
    "t.arrows",
    "t.moments",
    "../../etc/passwd.csv",
    "C:\\x\\y.parquet",
]


@pytest.fixture
def no_disk(monkeypatch):
    """Nothing may be opened, whatever it is called."""

    def refuse(*_, **__):
        raise AssertionError("a file was opened")

    for place, name in (
        (builtins, "open"),
        (io, "open"),
        (os, "open"),
        (Path, "open"),
        (pa, "OSFile"),
        (pa, "memory_map"),
    ):
        monkeypatch.setattr(place, name, refuse)


@pytest.mark.parametrize("name", NAMES)
def test_learns_what_the_file_gives_and_opens_none(name, no_disk):
    upload = Upload(name, content(name))
    assert ordag.learn(upload, "cvs").graph == ordag.learn(FRAME, "cvs").graph
    table = Table(upload, columns=["d", "a"], transform={"a": 2.0})
    assert_allclose(table.moments.covariance(), (FRAME[["d", "a"]] * [1, 2]).cov(), rtol=1e-9)
    assert repr(upload).count("Upload") == 1
    assert ordag.learn(pickle.loads(pickle.dumps(upload)), "cvs").n == 120


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("marks.csv", b"", "marks.csv is empty (0 bytes)"),
        ("marks.parquet", b"", "marks.parquet is empty (0 bytes)"),
        ("marks.csv", b"\n \n", "marks.csv holds only blank lines"),
        ("marks.csv", b"a,b\n1,2\n3\n", "marks.csv: data row 2 has 1 field"),
        ("marks.csv", b"a,b\n1,2\n3,x\n", "marks.csv: column 'b' holds 'x' in data row 2"),
        ("marks.csv", b"a    b\n1    2\n", "marks.csv: the columns seem"),
        ("marks.csv.gz", b"a,b\n1,2\n", "marks.csv.gz does not match its ending .gz"),
        ("marks.csv.gz", content("t.csv.gz")[:-30], "marks.csv.gz"),
        ("marks.xlsx", b"PK\x03\x04" + bytes(40), "marks.xlsx could not be read as a workbook"),
        ("marks.parquet", content("t.csv"), "marks.parquet is not a Parquet file"),
        ("marks.parquet", content("t.parquet")[:-9], "marks.parquet is cut off"),
        ("marks.feather", content("t.csv"), "marks.feather is not an Arrow file"),
        ("marks.feather", content("t.feather")[:200], "marks.feather"),
        ("marks.moments", content("t.moments")[:-9], "marks.moments is cut off"),
        ("\x1b[31mred.csv", b"", r"'\x1b[31mred.csv' is empty"),
    ],
)
def test_what_is_wrong_is_said_with_the_label(name, data, said, no_disk):
    with pytest.raises((UnreadableError, ColumnError)) as refused:
        Table(Upload(name, data)).moments  # noqa: B018
    assert said in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_batches_can_be_had_again_and_settings_of_text_hold():
    source = open_source(Upload("a.csv", b"x;y\n1,5;2\n3;4\n"), Reading(separator=";", decimal=","))
    assert [next(source.batches(9)).tolist() for _ in range(2)] == [[[1.5, 2.0], [3.0, 4.0]]] * 2
    with pytest.raises(ordag.errors.SettingError, match=r"t\.parquet is not read as text"):
        open_source(Upload("t.parquet", content("t.parquet")), Reading(separator=";"))


def test_a_name_of_a_built_in_table_is_a_label():
    assert open_source(Upload("marks", b"p,q\n1,2\n3,4\n")).names == ("p", "q")


def bomb(name: str) -> bytes:
    """A table of 200,000 rows of two columns in a few kilobytes."""
    table = pa.table({"a": np.zeros(200_000), "b": np.ones(200_000)})
    held = io.BytesIO()
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, held, compression="zstd")
    elif name.endswith(".plain.pq"):
        pa.parquet.write_table(table, held, compression="zstd", use_dictionary=False)
    elif name.endswith(".feather"):
        pa.feather.write_feather(table, held, compression="zstd")
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(held, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
            stream.write_table(table, max_chunksize=5_000)
    else:
        packed = {".gz": partial(gzip.compress, mtime=0), ".bz2": bz2.compress, ".zst": pa.Codec("zstd").compress}
        return bytes(packed[name[name.rindex(".") :]](b"a,b\n" + b"0,1.000000000000\n" * 200_000))
    return held.getvalue()


BOMBS = ["t.csv.gz", "t.csv.bz2", "t.csv.zst", "t.parquet", "t.plain.pq", "t.feather", "t.arrows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_what_a_file_unpacks_to_is_bounded(name):
    data = bomb(name)
    most = 2**20
    assert len(data) < most / 8
    before = pa.total_allocated_bytes()
    with pytest.raises(UnreadableError, match=r"unpacks to more than 1,048,576 bytes"):
        Table(Upload(name, data, most), strict=True).moments  # noqa: B018
    assert pa.total_allocated_bytes() - before < 4 * most
    assert Table(Upload(name, data, 2**23), strict=True).source.names == ("a", "b")
    assert (
        sum(len(batch) for batch in open_source(Upload(name, data, 2**23), Reading(strict=True)).batches(1000))
        == 200_000
    )


def test_a_line_without_an_end_is_not_unpacked_beyond_the_bound():
    with pytest.raises(UnreadableError, match="unpacks to more than 300,000 bytes"):
        open_source(Upload("t.csv.gz", gzip.compress(b"1" * 2**24), 300_000))


@pytest.fixture
def no_table(monkeypatch):
    """No reader of a table may be made, nor a number of moments be read."""

    def refuse(*_, **__):
        raise AssertionError("a table was made")

    for place in ("csv._reader", "csv.choose", "parquet.choose", "arrow_files._reader"):
        monkeypatch.setattr(f"ordag.data.sources.{place}", refuse)
    monkeypatch.setattr("ordag.data.moments_file._array", refuse)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.feather", "t.arrows", "t.moments"])
def test_a_file_with_too_many_columns_is_refused_before_a_table_is_made(name, no_table):
    with pytest.raises(DataError, match=r"^t\.\S+ has more than 3 columns, .* give its path to ordag learn"):
        Table(Upload(name, content(name), widest=3))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.feather", "t.arrows", "t.moments"])
def test_a_file_may_have_as_many_columns_as_are_allowed(name):
    assert Table(Upload(name, content(name), widest=4)).names == ("a", "b", "c", "d")


def test_the_description_of_a_very_wide_parquet_file_is_not_read(monkeypatch):
    """Its list of columns is refused by its length, which stands before it."""
    monkeypatch.setattr("ordag.data.sources.parquet.LISTED", 1)
    with pytest.raises(DataError, match="has more than 2 columns"):
        Table(Upload("t.parquet", content("t.parquet"), widest=2))


def test_nor_are_very_many_names_of_moments(monkeypatch):
    monkeypatch.setattr("ordag.data.moments_file.LONGEST_LIST", 1)
    monkeypatch.setattr("ordag.data.moments_file._header", lambda *_: pytest.fail("names were made"))
    with pytest.raises(DataError, match="has more than 2 columns"):
        Table(Upload("t.moments", content("t.moments"), widest=2))


@pytest.mark.parametrize(
    "header", ['"x, y",z', '"x,""y"", z",z', '\n\n"x\n,y",z', 'x "1",z', '"",z', 'x,z"', '"x, y" ,z']
)
def test_separators_in_a_name_are_no_columns(header):
    """As many columns are counted as the reader finds."""
    data = f"{header}\n1,2\n3,4\n".encode()
    assert (
        len(open_source(Upload("t.csv", data, widest=2), Reading(columns=None if '"",' not in header else ["z"])).names)
        < 3
    )
    with pytest.raises(DataError, match="has more than 1 columns"):
        open_source(Upload("t.csv", data, widest=1))


def test_what_follows_a_long_line_is_not_split_into_lines():
    """Each of very many short lines would take memory of its own."""
    long = b"a" * 2**19
    head, whole = text_layout._head(Upload("t.csv", long + b"\n1\n2\n" + b"3\n" * 2**18, widest=1000), None)
    assert (head, whole) == (long + b"\n1\n2\n", False)


def test_a_line_may_be_as_long_as_its_columns_make_it():
    with pytest.raises(UnreadableError, match="no line end in its first"):
        open_source(Upload("t.csv", b"a" * 2**23, widest=2))
    line = b"a" * 100 * 2**12 + b",b\n"
    assert text_layout._head(Upload("t.csv", line + b"1,2\n" * 9, widest=100), None)[0].startswith(line)
    with pytest.raises(UnreadableError, match="no line end in its first"):
        text_layout._head(Upload("t.csv", b"a" * 2**18 + line, widest=100), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.feather", "t.arrows"])
def test_a_batch_whose_sizes_are_damaged_is_a_sentence(name):
    data = bomb(name)
    for place in range(16, 600, 7 if THOROUGH else 31):
        damaged = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        try:
            Table(Upload(name, damaged, 2**23)).moments  # noqa: B018
        except OrdagError:
            continue
