"""Parquet files and folders of them."""

from __future__ import annotations

import datetime
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from strictly import open_source

from ordag import Moments
from ordag.data.reading import Reading
from ordag.data.sources import Source
from ordag.data.sources.parquet import looked_rows
from ordag.errors import ColumnError, OrdagWarning, PrecisionError, UnreadableError

NAN = np.nan


def whole(source: Source, rows: int = 7) -> np.ndarray:
    return np.concatenate([np.empty((0, len(source.names))), *source.batches(rows)])


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.parquet"


def test_types(path: Path) -> None:
    columns = {
        "double": [1.0, None],
        "float": pa.array([1.0, NAN], pa.float32()),
        "small": pa.array([1, None], pa.int8()),
        "unsigned": pa.array([1, None], pa.uint64()),
        "decimal": [Decimal("1.5"), None],
        "whole decimal": [Decimal(3), None],
        "nothing": [None, None],
    }
    source = open_source(write(path, columns))
    assert source.names == tuple(columns)
    assert source.rows == 2
    assert source.array is None
    assert source.describe == "t.parquet"
    expected = [[1, 1, 1, 1, 1.5, 3, NAN], [NAN, NAN, NAN, NAN, NAN, NAN, NAN]]
    assert np.array_equal(whole(source), expected, equal_nan=True)


def test_half_precision(path: Path) -> None:
    assert whole(open_source(write(path, {"a": np.array([1, 2], np.float16)}))).tolist() == [[1], [2]]


def test_selected_columns_and_odd_names(path: Path) -> None:
    write(path, {"a.b": [1.0], "a": [2.0], "é\n": [3.0], "text": ["x"]})
    source = open_source(path, Reading(columns=["é\n", "a.b"]))
    assert source.names == ("é\n", "a.b")
    assert whole(source).tolist() == [[3, 1]]


def test_a_file_is_known_by_its_content_where_the_ending_says_nothing(tmp_path: Path) -> None:
    assert whole(open_source(write(tmp_path / "table", {"a": [1.0]}))).tolist() == [[1]]
    assert whole(open_source(write(tmp_path / "table.PQ", {"a": [1.0]}))).tolist() == [[1]]


def test_an_index_that_pandas_stored_is_ignored(path: Path) -> None:
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([10, 20], name="id")).to_parquet(path)
    assert open_source(path).names == ("a",)
    assert whole(open_source(path, Reading(columns=["id", "a"]))).tolist() == [[10, 1], [20, 2]]


def test_no_rows(path: Path) -> None:
    source = open_source(write(path, {"a": pa.array([], pa.float64())}))
    assert source.rows == 0
    assert list(source.batches(5)) == []


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.floats(width=64)),
    group=st.integers(1, 9),
    rows=st.integers(1, 9),
)
def test_floats_survive_to_the_last_digit(tmp_path: Path, X: np.ndarray, group: int, rows: int) -> None:
    columns = {f"v{j}": X[:, j] for j in range(X.shape[1])}
    source = open_source(write(tmp_path / "a.parquet", columns, row_group_size=group))
    assert np.array_equal(whole(source, rows), X, equal_nan=True)


@pytest.mark.slow
def test_the_file_is_never_in_memory(path: Path) -> None:
    n, p = 500_000, 10
    write(path, {f"v{j}": np.random.default_rng(j).standard_normal(n) for j in range(p)}, use_dictionary=False)
    size = path.stat().st_size
    assert size > 3.5e7
    before = pa.total_allocated_bytes()
    most = rows = 0
    for block in open_source(path, Reading(columns=["v7", "v1"])).batches(1000):
        most = max(most, pa.total_allocated_bytes() - before)
        rows += len(block)
    assert rows == n
    assert most < size / 5


# --- faults ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["x"], "text"),
        (pa.array(["x"], pa.large_string()), "text"),
        (pa.array(["x"]).dictionary_encode(), "text"),
        ([b"x"], "bytes"),
        ([True], "true/false.*1/0"),
        ([datetime.date(2020, 1, 1)], "dates"),
        ([datetime.datetime(2020, 1, 1)], "dates"),
        ([datetime.time(1)], "times"),
        ([[1.0]], "lists or records"),
        ([{"a": 1.0}], "lists or records"),
    ],
)
def test_columns_without_numbers(path: Path, values: Any, words: str) -> None:
    write(path, {"good": [1.0], "bad": values, "fine": [2.0]})
    with pytest.raises(ColumnError, match=rf"t\.parquet: column 'bad' holds {words}.*columns=\['good', 'fine'\]"):
        open_source(path)
    assert whole(open_source(path, Reading(columns=["good"]))).tolist() == [[1]]


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, Decimal(2**53 + 1)])
def test_integers_that_float64_would_round(path: Path, value: Any) -> None:
    source = open_source(write(path, {"x": [1.0, 2.0, 3.0], "id": [None, type(value)(1), value]}, row_group_size=1))
    with pytest.raises(PrecisionError, match=rf"column 'id' holds the integer {value} in data row 3"):
        whole(source)


def test_an_unknown_column(path: Path) -> None:
    with pytest.raises(ColumnError, match=r"no column 'alpa'\. Did you mean 'alpha'"):
        open_source(write(path, {"alpha": [1.0]}), Reading(columns=["alpa"]))


def test_duplicate_names_and_no_columns(path: Path) -> None:
    pq.write_table(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), path)
    with pytest.raises(ColumnError, match="several columns named 'a'"):
        open_source(path)
    pq.write_table(pa.table({}), path)
    with pytest.raises(ColumnError, match="no columns"):
        open_source(path)


def test_truncated_empty_and_mistaken_files(path: Path) -> None:
    content = write(path, {"a": np.arange(100.0)}).read_bytes()
    path.write_bytes(content[:-50])
    with pytest.raises(UnreadableError, match=r"t\.parquet is cut off"):
        open_source(path)
    path.write_bytes(b"")
    with pytest.raises(UnreadableError, match=r"empty \(0 bytes\)"):
        open_source(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableError, match=r"not a Parquet file.*\.csv"):
        open_source(path)


def test_damaged_files(path: Path) -> None:
    content = write(path, {"a": np.arange(100.0)}).read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 80 + content[84:])
    with pytest.raises(UnreadableError, match=r"t\.parquet could not be read as Parquet.*damaged"):
        whole(open_source(path))
    path.write_bytes(content[:-60] + b"\xff" * 52 + content[-8:])
    with pytest.raises(UnreadableError, match=r"t\.parquet could not be read as Parquet.*damaged"):
        open_source(path)


# --- folders -----------------------------------------------------------------------------------------------


def test_of_very_many_columns_fewer_rows_are_looked_at() -> None:
    assert [looked_rows(p) for p in (0, 1, 1024, 2048, 65_536, 10**6)] == [4096, 4096, 4096, 2048, 64, 64]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parts = tmp_path / "parts"
    write(parts / "part-1.parquet", {"a": [3.0], "b": [4]})
    write(parts / "part-0.parquet", {"a": [1], "b": [2.0]})
    write(parts / "sub" / "part-2.pq", {"b": [6.0], "a": [5.0]})
    (parts / "_SUCCESS").touch()
    (parts / "_metadata.parquet").touch()
    (parts / ".hidden.parquet").touch()
    (parts / "notes.txt").touch()
    return parts


def test_a_folder_is_one_table_in_the_order_of_its_files(folder: Path) -> None:
    source = open_source(folder)
    assert source.names == ("a", "b")
    assert source.rows == 3
    assert source.describe == "parts"
    assert whole(source, 2).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert whole(open_source(str(folder), Reading(columns=["b"]))).tolist() == [[2], [4], [6]]


def test_a_folder_is_not_searched_to_its_depths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder / "sub" / "deep" / "part-3.parquet", {"a": [7.0], "b": [8.0]})
    write(folder / "year=2020" / "month=1" / "part-4.parquet", {"a": [9.0], "b": [10.0]})
    listed: list[str] = []
    monkeypatch.setattr(os, "scandir", lambda place, real=os.scandir: (listed.append(Path(place).name), real(place))[1])
    with pytest.warns(OrdagWarning, match=r"not 'sub/deep'"):
        assert whole(open_source(folder)).tolist() == [[1, 2], [3, 4], [5, 6], [9, 10]]
    assert "deep" not in listed


def test_text_files_in_a_folder_are_said_not_to_be_read(folder: Path, tmp_path: Path) -> None:
    (folder / "more.csv").write_text("a,b\n1,2\n")
    with pytest.warns(OrdagWarning, match=r"not 'more.csv'"):
        assert open_source(folder).rows == 3
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "one.xlsx").touch()
    with pytest.raises(UnreadableError, match=r"neither Parquet .* nor CSV .*'one.xlsx' .*give the path of one"):
        open_source(tmp_path / "text")


def test_a_file_that_lacks_a_column(folder: Path) -> None:
    write(folder / "part-3.parquet", {"a": [7.0]})
    with pytest.raises(ColumnError, match=r"part-3\.parquet lacks 'b', which part-0\.parquet has.*drop="):
        open_source(folder)
    assert open_source(folder, Reading(columns=["a"])).rows == 4


def test_a_file_with_a_further_column(folder: Path) -> None:
    write(folder / "part-3.parquet", {"a": [7.0], "b": [8.0], "c": [9.0]})
    with pytest.raises(ColumnError, match=r"part-3\.parquet has 'c', which part-0\.parquet has not"):
        open_source(folder)
    assert open_source(folder, Reading(columns=["b", "a"])).rows == 4


def test_a_file_with_another_type(folder: Path) -> None:
    write(folder / "part-3.parquet", {"a": [7.0], "b": ["x"]})
    with pytest.raises(ColumnError, match=r"parts: column 'b' holds text in part-3\.parquet"):
        open_source(folder)


def test_a_damaged_file_in_a_folder(folder: Path) -> None:
    (folder / "part-3.parquet").write_bytes((folder / "part-0.parquet").read_bytes()[:-20])
    with pytest.raises(UnreadableError, match=r"parts, part-3\.parquet is cut off"):
        open_source(folder)


def test_an_integer_too_large_in_one_file(folder: Path) -> None:
    write(folder / "part-3.parquet", {"a": [2**60], "b": [1]})
    with pytest.raises(PrecisionError, match=r"part-3\.parquet: column 'a' holds the integer 1152921504606846976"):
        whole(open_source(folder))


@pytest.mark.parametrize("in_folder", [False, True])
def test_a_page_that_does_not_match_its_checksum_is_refused(tmp_path, in_folder):
    X = np.random.default_rng(0).standard_normal((50, 3))
    table = pa.table({name: X[:, j] for j, name in enumerate("abc")})
    path = tmp_path / "part.parquet"
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    whole = tmp_path if in_folder else path
    assert Moments.scan(whole).n == 50
    content = bytearray(path.read_bytes())
    content[content.find(X[10, 1].tobytes()) + 4] ^= 1
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=r"could not be read as Parquet .a page does not match its checksum"):
        Moments.scan(whole)


def test_one_that_is_cut_off_and_has_no_ending_is_known_by_its_beginning(tmp_path):
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"a": np.arange(1000.0), "b": np.arange(1000.0)}), whole)
    path = tmp_path / "standard input"
    path.write_bytes(whole.read_bytes()[:3000])
    with pytest.raises(UnreadableError, match="standard input is cut off: the end of the Parquet file is missing"):
        open_source(path)
