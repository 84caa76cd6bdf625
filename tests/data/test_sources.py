"""What can be opened, how a name becomes a file, and how columns are chosen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strictly import open_source

import ordag
from ordag import Moments
from ordag.data.datasets import load
from ordag.data.moments_file import pieces
from ordag.data.passes import Summary
from ordag.data.reading import Reading
from ordag.data.sources import Source
from ordag.data.sources.columns import check_columns
from ordag.data.sources.source import regroup
from ordag.errors import ColumnError, DataError, OrdagError, OrdagWarning, SettingError, UnreadableError


def whole(source: Source, rows: int = 1000) -> np.ndarray:
    return np.concatenate([np.empty((0, len(source.names))), *source.batches(rows)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- names and paths ---------------------------------------------------------------------------------------


def test_a_bare_name_is_the_data_set() -> None:
    source = open_source("marks")
    assert source.names == load("marks").columns
    assert source.describe == "marks"
    assert whole(source).shape == (88, 5)


def test_a_file_of_the_same_name_is_neither_preferred_nor_hidden_in_silence(folder: Path) -> None:
    Path("marks").write_text("a,b\n1,2\n")
    with pytest.warns(OrdagWarning, match=r"built-in data set.*\./marks"):
        assert open_source("marks").names[0] == "mechanics"
    assert open_source("./marks").names == ("a", "b")
    assert open_source(Path("marks")).names == ("a", "b")


def test_another_bare_name_is_a_file_if_there_is_one(folder: Path) -> None:
    Path("table").write_text("a,b\n1,2\n")
    assert whole(open_source("table")).tolist() == [[1, 2]]


def test_neither_a_file_nor_a_data_set(folder: Path) -> None:
    Path("marks2.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableError, match=r"'mark' is neither a file nor a built-in data set.*marks, sachs"):
        open_source("mark")
    with pytest.raises(UnreadableError, match=r"neither.*Did you mean 'marks2\.csv'"):
        open_source("marks2")


def test_no_such_file(folder: Path) -> None:
    Path("measurements.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableError, match=r"no file 'measurments\.csv'.*Did you mean 'measurements\.csv'"):
        open_source("measurments.csv")
    with pytest.raises(UnreadableError, match=r"no folder '.*away'"):
        open_source(folder / "away" / "a.csv")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "path is empty"),
        ("a,b\n1,2\n", "save it to a file"),
        ("https://example.org/a.csv", "download"),
        (3, "type int"),
        (None, "type NoneType"),
        ({1, 2}, "type set"),
    ],
)
def test_what_is_no_table(data: object, words: str) -> None:
    with pytest.raises(UnreadableError, match=words):
        open_source(data)


def test_a_name_too_long_for_the_file_system() -> None:
    with pytest.raises(UnreadableError, match=r"cannot be opened|There is no file"):
        open_source("a" * 400 + ".csv")


def test_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    Path("a.csv").write_text("a,b\n1,2\n")
    assert open_source("~/a.csv").names == ("a", "b")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in the file system")
def test_a_pipe(folder: Path) -> None:
    import os

    os.mkfifo("pipe")
    with pytest.raises(UnreadableError, match=r"pipe.*Save the table to a file"):
        open_source("./pipe")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_permission_denied(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    Path(name).write_text("a,b\n1,2\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # the superuser may read everything, so chmod is no test
    with pytest.raises(UnreadableError, match=rf"{re.escape(name)} may not be read: permission denied"):
        open_source(name)


def test_a_folder_without_tables(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "a.txt").write_text("a,b\n1,2\n")
    with pytest.raises(
        UnreadableError, match=r"folder parts and its subfolders hold neither Parquet .*Give the path of a file"
    ):
        open_source("parts")


# --- columns -----------------------------------------------------------------------------------------------


@pytest.fixture
def table(folder: Path) -> Path:
    path = folder / "table.csv"
    path.write_text("alpha,beta,name,born,known\n1,2,Ann,2001-02-03,true\n3,4,Bob,2002-03-04,false\n")
    return path


def test_the_order_asked_for(table: Path) -> None:
    source = open_source(table, Reading(columns=["beta", "alpha"]))
    assert source.names == ("beta", "alpha")
    assert whole(source).tolist() == [[2, 1], [4, 3]]


def test_columns_that_hold_no_numbers_are_named_with_what_they_hold(table: Path) -> None:
    with pytest.raises(ColumnError) as caught:
        open_source(table)
    message = str(caught.value)
    assert "'name' holds text" in message
    assert "'born' holds dates" in message
    assert "'known' holds true/false" in message
    assert "1/0" in message
    assert "columns=['alpha', 'beta'] (--columns alpha,beta on the command line)" in message


def test_a_selected_column_of_text(table: Path) -> None:
    with pytest.raises(ColumnError, match=r"table\.csv: column 'name' holds text"):
        open_source(table, Reading(columns=["alpha", "name"]))


def test_an_unknown_column(table: Path) -> None:
    with pytest.raises(ColumnError, match=r"no column 'bta'\. Did you mean 'beta'\? Its columns are 'alpha', 'beta'"):
        open_source(table, Reading(columns=["bta"]))


def test_a_long_list_of_known_columns_is_shortened() -> None:
    with pytest.raises(ColumnError, match=r"no columns 'Y', 'Z'.*'X8' and 92 more"):
        open_source(np.zeros((3, 100)), Reading(columns=["Y", "Z"]))


def test_bad_requests(table: Path) -> None:
    with pytest.raises(ColumnError, match="'alpha' more than once"):
        open_source(table, Reading(columns=["alpha", "beta", "alpha"]))
    with pytest.raises(SettingError, match=r"list of names, columns=\['alpha'\]"):
        open_source(table, Reading(columns="alpha"))
    with pytest.raises(SettingError, match="columns=… is empty"):
        open_source(table, Reading(columns=[]))


def test_many_columns_without_numbers_are_summed_up(folder: Path) -> None:
    columns = {f"c{j}": [f"1,{j},", "2"] for j in range(9)}
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    Path("a.csv").write_text("\n".join(lines))
    with pytest.raises(ColumnError, match="6 more columns"):
        open_source("a.csv", Reading(separator=";"))


# --- batches -----------------------------------------------------------------------------------------------


@given(sizes=st.lists(st.integers(0, 7), max_size=8), rows=st.integers(1, 9))
def test_regrouping_keeps_the_rows_and_their_order(sizes: list[int], rows: int) -> None:
    table = np.arange(2.0 * sum(sizes)).reshape(-1, 2)
    parts = np.split(table, np.cumsum(sizes)[:-1]) if sizes else []
    blocks = list(regroup(parts, rows))
    assert np.array_equal(np.concatenate([np.empty((0, 2)), *blocks]), table)
    assert [len(block) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert all(0 < len(block) <= rows for block in blocks)


def test_batches_are_the_same_from_every_kind_of_source(folder: Path) -> None:
    import pandas as pd

    X = np.random.default_rng(1).standard_normal((1000, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet", row_group_size=77)
    for data in (X, frame, "a.csv", "a.parquet"):
        source = open_source(data)
        for _ in range(2):  # every call starts again
            blocks = list(source.batches(300))
            assert [len(block) for block in blocks] == [300, 300, 300, 100]
            assert all(block.flags.c_contiguous and block.dtype == np.float64 for block in blocks)
            assert np.array_equal(np.concatenate(blocks), X)


@pytest.mark.system
def test_importing_sources_loads_no_reader() -> None:
    code = (
        "import sys\n"
        "import ordag.data.sources.csv, ordag.data.sources.parquet, ordag.data.sources.frames\n"
        "print(sorted({'pyarrow', 'pandas', 'polars', 'narwhals'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_refusal_is_a_value_error() -> None:
    assert issubclass(UnreadableError, DataError)
    with pytest.raises(ValueError, match="type float"):
        open_source(1.5)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("a,b\n1,2\n3,4\n", "The text given is not a path"),
        ("a\0b.csv", "The text given is not a path"),
        (Path("a\0b.csv"), "The text given is not a path"),
        ("x" * 300, r"'xxx.* cannot be opened: File name too long"),
        (Path("x" * 300), r"'xxx.* cannot be opened: File name too long"),
        ("x" * 4096, r"'xxx.* cannot be opened: File name too long"),
        ("x" * 4097, "The text given is not a path"),
    ],
)
def test_a_text_that_is_no_path(data, words):
    for read in (ordag.learn, Moments.scan, Moments.load):
        with pytest.raises(UnreadableError, match=words):
            read(data)


@pytest.mark.parametrize("data", [5, None, b"x.moments", ["x.moments"], Moments.from_rows([[1.0, 2.0], [2.0, 1.0]])])
def test_what_is_no_path_holds_no_moments(data):
    with pytest.raises(UnreadableError, match=r"is no path of a file: give a text, or an object of pathlib\."):
        Moments.load(data)


def test_a_class_is_no_table():
    with pytest.raises(UnreadableError, match="An object of type type cannot be read as a table"):
        ordag.learn(pd.DataFrame)


def test_a_message_can_be_written_whatever_it_is_about():
    with pytest.raises(UnreadableError) as refused:
        Moments.load(pd.DataFrame([[1.0]], columns=pd.Index(["\udfff"], dtype=object)))
    assert str(refused.value).encode().startswith(b"\\udfff")


def test_a_name_with_half_of_a_letter_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    half, words = "a\ud800", r"he name 'a\\ud800' has half of a letter in it, which cannot be written: rename"
    tables = [dict(zip([half, "b"], X.T, strict=True)), np.array([(1.0, 2.0)] * 5, dtype=[(half, float), ("b", float)])]
    for table in tables:
        with pytest.raises(ColumnError, match=f"the dict of columns: t{words}"):
            ordag.learn(table)
    with pytest.raises(ColumnError, match=f"the data frame: t{words}"):
        ordag.learn(pd.DataFrame(X, columns=pd.Index([half, "b"], dtype=object)))
    with pytest.raises(ColumnError, match=f"^t.any: t{words}"):
        check_columns([half, "b"], Reading(), "t.any")
    with pytest.raises(ColumnError, match=words):
        Moments.from_rows(X, names=[half, "b"])
    whole = Moments.from_rows(X)
    content = Summary((half, "b"), whole.n, whole.mean, R=whole.R)
    (tmp_path / "x.moments").write_bytes(b"".join(pieces(content)))
    with pytest.raises(UnreadableError, match=rf"x\.moments has invalid names\. T{words}"):
        ordag.learn(tmp_path / "x.moments")


@pytest.mark.parametrize("before", [0, 40, 100_000])
def test_half_of_a_letter_in_a_file_is_no_text(tmp_path, before):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" * (before > 0) + "1.5,2.5\n" * before + "+2AA-,b\n" + "1.5,2.5\n" * 9)
    with pytest.raises(UnreadableError, match=r"x\.csv is not encoded in utf-7 \(half of a letter\)"):
        ordag.learn(path, encoding="utf-7")


WHOLE = pa.array(range(12))
ONES = pa.array([[1]] * 12, pa.list_(pa.int64(), 1))
ODD = {
    "dense union": pa.UnionArray.from_dense(pa.array([0] * 12, pa.int8()), pa.array(range(12), pa.int32()), [WHOLE]),
    "sparse union": pa.UnionArray.from_sparse(pa.array([0] * 12, pa.int8()), [WHOLE]),
    "list": pa.array([[1]] * 12),
    "list of one": ONES,
    "struct": pa.array([{"q": 1}] * 12),
    "map": pa.array([[("k", 1)]] * 12, pa.map_(pa.string(), pa.int64())),
    "dictionary": pa.array(["x"] * 12).dictionary_encode(),
    "extension": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [1]), ONES),
    "time": pa.array([1] * 12, pa.time64("ns")),
    "duration": pa.array([1] * 12, pa.duration("s")),
    "interval": pa.array([(1, 2, 3)] * 12, pa.month_day_nano_interval()),
    "bytes": pa.array([b"x"] * 12),
}


@pytest.mark.parametrize("kind", ODD)
def test_columns_of_arrow_that_are_no_numbers_are_named(tmp_path, kind):
    table = pa.table({"a": ODD[kind], "b": pa.array(np.arange(12.0) ** 2)})
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    for data in (table, table.to_batches()[0], table.to_reader(), iter(table.to_batches()), tmp_path / "x.arrow"):
        with pytest.raises(ColumnError, match=r"column 'a' holds [\w/ ]+.*: only numbers can be used"):
            ordag.learn(data, strict=True)
    with pytest.raises(OrdagError, match="column 'a'"):
        ordag.learn({"a": ODD[kind], "b": np.arange(12.0) ** 2}, strict=True)


def test_columns_of_arrays_in_a_frame_are_named():
    import polars as pl

    frame = pl.DataFrame({"a": pl.Series([[1, 2]] * 12, dtype=pl.Array(pl.Int64, 2)), "b": np.arange(12.0) ** 2})
    with pytest.raises(ColumnError, match="column 'a' holds"):
        ordag.learn(frame, strict=True)
