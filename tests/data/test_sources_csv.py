"""Text files that can be read: what comes out is what stands in them."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from strictly import open_source

from ordag.data.reading import Reading
from ordag.data.sources import Source

NAN = np.nan
INF = np.inf


def read(path: Path, content: str | bytes, **reading: Any) -> tuple[Source, np.ndarray]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    source = open_source(path, Reading(**reading))
    return source, np.concatenate([np.empty((0, len(source.names))), *source.batches(7)])


def test_a_plain_file(tmp_path: Path) -> None:
    source, table = read(tmp_path / "a.csv", "x,y\n1,2.5\n-3e2,.5\n")
    assert source.names == ("x", "y")
    assert source.describe == "a.csv"
    assert source.rows is None
    assert source.array is None
    assert table.tolist() == [[1, 2.5], [-300, 0.5]]


@pytest.mark.parametrize(
    "content",
    [
        "x,y\r\n1,2\r\n",
        "x,y\r1,2\r",
        "\ufeffx,y\n1,2\n",
        "x,y\n1,2",
        "\n\nx,y\n\n1,2\n\n",
        '"x","y"\n"1","2"\n',
        "x, y\n1, 2\n",
    ],
)
def test_line_ends_marks_blanks_and_quotes(tmp_path: Path, content: str) -> None:
    source, table = read(tmp_path / "a.csv", content)
    assert source.names == ("x", "y")
    assert table.tolist() == [[1, 2]]


def test_names_of_any_kind(tmp_path: Path) -> None:
    source, table = read(tmp_path / "a.csv", '"two words","über, Maß","line\nbreak",日本\n1,2,3,4\n')
    assert source.names == ("two words", "über, Maß", "line\nbreak", "日本")
    assert table.tolist() == [[1, 2, 3, 4]]
    chosen, table = read(tmp_path / "a.csv", '"a","line\nbreak"\n1,2\n', columns=["line\nbreak"])
    assert chosen.names == ("line\nbreak",)
    assert table.tolist() == [[2]]


def test_missing_and_infinite_values(tmp_path: Path) -> None:
    _, table = read(
        tmp_path / "a.csv",
        "x,y\ninf,-inf\nInf,-Infinity\nNA,\nnan,NaN\nnull,None\n<NA>,N/A\n#N/A,NULL\n , NA\n1,2\n",
    )
    expected = [[INF, -INF], [INF, -INF], *[[NAN, NAN]] * 6, [1, 2]]
    assert np.array_equal(table, expected, equal_nan=True)


def test_missing_values_by_other_names(tmp_path: Path) -> None:
    words = ["na", "Na", "none", "NONE", ".", " .", "n/a", "NAN", "Null"]
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{word},1\n" for word in words) + ".5,2\n-.5,5.\n")
    table = np.vstack(list(open_source(path).batches(100)))
    assert np.isnan(table[: len(words), 0]).all()
    assert table[len(words) :].tolist() == [[0.5, 2], [-0.5, 5]]
    path.write_text("x;y\n.;1,5\n,5;2\n")
    table = np.vstack(list(open_source(path, Reading(separator=";", decimal=",")).batches(100)))
    assert np.array_equal(table, [[NAN, 1.5], [0.5, 2]], equal_nan=True)


def test_a_column_without_a_value(tmp_path: Path) -> None:
    _, table = read(tmp_path / "a.csv", "x,y\n1,\n2,\n")
    assert np.array_equal(table, [[1, NAN], [2, NAN]], equal_nan=True)


@pytest.mark.parametrize("content", ["x,y\n", "x,y", "x,y\r\n", '"x\n1",y\n', "x,y\n\n\n"])
def test_only_a_header(tmp_path: Path, content: str) -> None:
    source, table = read(tmp_path / "a.csv", content)
    assert len(source.names) == 2
    assert source.rows == 0
    assert table.shape == (0, 2)


def test_without_a_header(tmp_path: Path) -> None:
    source, table = read(tmp_path / "a.csv", "1,2\n3,4\n", header=False)
    assert source.names == ("X1", "X2")
    assert table.tolist() == [[1, 2], [3, 4]]
    assert read(tmp_path / "a.csv", "1,2\n3,4\n", header=False, columns=["X2"])[1].tolist() == [[2], [4]]


def test_the_header_that_pandas_writes_for_columns_without_names(tmp_path: Path) -> None:
    source, table = read(tmp_path / "a.csv", "0,1,2\n5,6,7\n")
    assert source.names == ("0", "1", "2")
    assert table.tolist() == [[5, 6, 7]]


@pytest.mark.parametrize(
    ("name", "content", "reading"),
    [
        ("a.tsv", "x\ty\n1\t2\n", {}),
        ("a.txt", "x\ty\n1\t2\n", {}),
        ("a.txt", "x,y\n1,2\n", {}),
        ("a.dat", "x,y\n1,2\n", {}),
        ("a.csv", "x;y\n1;2\n", {"separator": ";"}),
        ("a.csv", "x|y\n1|2\n", {"separator": "|"}),
        ("a.csv", "x y\n1 2\n", {"separator": " "}),
        ("a.csv", "x\ty\n1\t2\n", {"separator": "\t"}),
        ("a.csv", "x\ty\n1\t2\n", {"separator": "tab"}),
        ("a.csv", "x\ty\n1\t2\n", {"separator": "\\t"}),
    ],
)
def test_separators(tmp_path: Path, name: str, content: str, reading: dict[str, str]) -> None:
    source, table = read(tmp_path / name, content, **reading)
    assert source.names == ("x", "y")
    assert table.tolist() == [[1, 2]]


def test_decimal_commas(tmp_path: Path) -> None:
    _, table = read(tmp_path / "a.csv", "x;y\n1,5;2\n-0,25;1e3\n", separator=";", decimal=",")
    assert table.tolist() == [[1.5, 2], [-0.25, 1000]]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    source, table = read(tmp_path / "a.csv", "größe,y\n1,2\n".encode(encoding), encoding=encoding)
    assert source.names == ("größe", "y")
    assert table.tolist() == [[1, 2]]


@pytest.mark.parametrize(("ending", "pack"), [(".csv.gz", gzip.compress), (".csv.bz2", bz2.compress)])
def test_compressed_files(tmp_path: Path, ending: str, pack: Any) -> None:
    _, table = read(tmp_path / f"a{ending}", pack(b"x,y\n1,2\n"))
    assert table.tolist() == [[1, 2]]


def test_a_column_may_be_called_like_the_mark_of_a_binary_format(tmp_path: Path) -> None:
    assert read(tmp_path / "a.csv", "PAR1,RDX\n1,2\n")[0].names == ("PAR1", "RDX")
    assert read(tmp_path / "a", "PAR1,RDX\n1,2\n")[0].names == ("PAR1", "RDX")


def test_large_numbers_written_as_floats_are_fine(tmp_path: Path) -> None:
    _, table = read(tmp_path / "a.csv", "x,y\n1e20,9007199254740993.0\n9007199254740992,0000000000000000000007\n")
    assert table.tolist() == [[1e20, 9007199254740992], [9007199254740992, 7]]


def test_unselected_columns_may_hold_anything(tmp_path: Path) -> None:
    content = 'id,note,x,x\n9007199254740993,"a, ""b""\nc",5,6\n9007199254740995,,7,8\n'
    source, table = read(tmp_path / "a.csv", content.replace("x,x", "x,y"), columns=["y", "x"])
    assert source.names == ("y", "x")
    assert table.tolist() == [[6, 5], [8, 7]]


def test_the_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    read(path, "x,y\n1,2\n")
    assert path.read_bytes() == b"x,y\n1,2\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.slow
def test_as_pandas_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.standard_normal((20_000, 6)) * 10.0 ** rng.integers(-9, 9, 6), columns=list("abcdef"))
    frame["g"] = rng.integers(-5, 5, len(frame))
    frame = frame.mask(rng.random(frame.shape) < 0.01)
    frame.to_csv(path, index=False)
    source = open_source(path)
    expected = pd.read_csv(path, dtype=str).to_numpy(float)  # pandas itself may miss the last digit
    assert np.array_equal(np.concatenate(list(source.batches(999))), expected, equal_nan=True)


@pytest.mark.thorough
def test_wide_rows(tmp_path: Path) -> None:
    X = np.random.default_rng(3).standard_normal((5, 5_000))
    lines = [",".join(f"v{j}" for j in range(X.shape[1])), *(",".join(map(repr, row.tolist())) for row in X)]
    source, table = read(tmp_path / "a.csv", "\n".join(lines))
    assert len(source.names) == 5_000
    assert np.array_equal(table, X)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.floats(width=64)),
    end=st.sampled_from(["\n", "\r\n"]),
    rows=st.integers(1, 9),
)
def test_floats_survive_to_the_last_digit(tmp_path: Path, X: np.ndarray, end: str, rows: int) -> None:
    path = tmp_path / "a.csv"
    header = ",".join(f"v{j}" for j in range(X.shape[1]))
    path.write_bytes(end.join([header, *(",".join(map(repr, row)) for row in X.tolist())]).encode())
    blocks = list(open_source(path).batches(rows))
    assert np.array_equal(np.concatenate(blocks), X, equal_nan=True)


@pytest.mark.slow
def test_the_file_is_never_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    row = ",".join(["0.12345678901234567"] * 10) + "\n"
    with path.open("w") as file:
        file.write(",".join(f"v{j}" for j in range(10)) + "\n")
        for _ in range(30):
            file.write(row * 10_000)
    size = path.stat().st_size
    assert size > 5e7
    before = pa.total_allocated_bytes()
    arrow = rows = 0
    tracemalloc.start()
    try:
        for block in open_source(path).batches(1000):
            arrow = max(arrow, pa.total_allocated_bytes() - before)
            rows += len(block)
        _, python = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows == 300_000
    assert arrow + python < size / 3


def test_the_first_batch_needs_only_the_first_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        file.write("x,y\n")
        file.write("1,2\n" * 4_000_000)
        file.write("1,oops\n")
    batches = open_source(path).batches(100)
    assert next(batches).shape == (100, 2)  # the fault at the end has not been reached
    batches.close()  # type: ignore[attr-defined]
