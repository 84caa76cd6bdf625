"""Data frames of several makes, Arrow tables, and dicts of columns."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from strictly import open_source

from ordag.data.reading import Reading
from ordag.data.sources import Source
from ordag.data.sources import open_source as open_any
from ordag.errors import ColumnError, PrecisionError, UnreadableError

NAN = np.nan
COLUMN = np.random.default_rng(0).normal(size=40)


def equal(source: Source, expected: Any) -> bool:
    batches = list(source.batches(1))
    assert all(batch.dtype == np.float64 and batch.flags.c_contiguous for batch in batches)
    assert source.array is not None
    same = np.array_equal(np.concatenate(batches), source.array, equal_nan=True)
    return same and np.array_equal(source.array, np.array(expected, dtype=float), equal_nan=True)


def test_pandas_types() -> None:
    frame = pd.DataFrame(
        {
            "float": [1.0, NAN],
            "small": np.array([1, 2], np.float32),
            "half": np.array([1, 2], np.float16),
            "unsigned": np.array([1, 2], np.uint8),
            "nullable": pd.array([1, None], "Int64"),
            "nullable float": pd.array([1.5, None], "Float64"),
            "arrow": pd.array([1, None], "int64[pyarrow]"),
            "decimal": pd.array([Decimal("1.5"), None], pd.ArrowDtype(pa.decimal128(5, 2))),
            "sparse": pd.arrays.SparseArray([0.0, 1.0]),
            "nothing": [None, None],
        },
        index=["first", "second"],
    )
    before = frame.copy(deep=True)
    source = open_source(frame)
    assert source.rows == 2
    assert source.names == tuple(frame.columns)
    assert equal(source, [[1, 1, 1, 1, 1, 1.5, 1, 1.5, 0, NAN], [NAN, 2, 2, 2, NAN, NAN, NAN, NAN, 1, NAN]])
    pd.testing.assert_frame_equal(frame, before)


def test_polars_types_eager_and_lazy() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [Decimal("1.5"), None], "c": [None, None], "d": [0.5, NAN]})
    before = frame.clone()
    for data in (frame, frame.lazy()):
        assert equal(open_source(data), [[1, 1.5, NAN, 0.5], [NAN, NAN, NAN, NAN]])
    assert frame.equals(before)


def test_arrow_types() -> None:
    table = pa.table(
        {"a": [1.0, None], "b": pa.array([1, None], pa.uint8()), "c": [None, None], "d": [Decimal("1.5"), None]}
    )
    for data in (table, table.to_batches()[0]):
        assert equal(open_source(data), [[1, 1, NAN, 1.5], [NAN, NAN, NAN, NAN]])


def test_half_precision_in_arrow() -> None:
    assert equal(open_source(pa.table({"a": np.array([1, 2], np.float16)})), [[1], [2]])


def test_a_frame_without_a_single_value() -> None:
    assert equal(open_source(pd.DataFrame({"a": [None, None]})), [[NAN], [NAN]])


@pytest.mark.parametrize("nothing", [[None] * 30, pd.array([pd.NA] * 30, "string")])
def test_a_column_without_a_single_value_is_set_aside(nothing: Any) -> None:
    random = np.random.default_rng(0)
    source = open_any(pd.DataFrame({"a": random.random(30), "nothing": nothing, "b": random.random(30)}), Reading())
    assert source.names == ("a", "b")
    assert [(one.role, one.reason) for one in source.columns] == [
        ("variable", ""),
        ("constant", "no value at all"),
        ("variable", ""),
    ]


def test_no_rows() -> None:
    for frame in (pd.DataFrame({"a": [], "b": []}), pd.DataFrame(columns=["a", "b"]), pl.DataFrame({"a": [], "b": []})):
        source = open_source(frame)
        assert source.rows == 0
        assert list(source.batches(5)) == []


def test_selection_keeps_the_order_asked_for() -> None:
    for frame in (pd.DataFrame({"a": [1], "t": ["x"], "b": [2.0]}), pl.DataFrame({"a": [1], "t": ["x"], "b": [2.0]})):
        source = open_source(frame, Reading(columns=["b", "a"]))
        assert source.names == ("b", "a")
        assert equal(source, [[2, 1]])


def test_names_that_are_not_text() -> None:
    frame = pd.DataFrame(np.eye(2), columns=[5, 7])
    assert open_source(frame).names == ("5", "7")
    assert equal(open_source(frame, Reading(columns=["7"])), [[0], [1]])
    assert equal(open_source(frame.astype(int)), np.eye(2))
    assert list(frame.columns) == [5, 7]


def test_names_in_several_levels() -> None:
    frame = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert open_source(frame).names == ("('a', 'x')", "('a', 'y')")
    assert equal(open_source(frame.astype(int)), np.eye(2))


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_duplicate_names(names: list[Any]) -> None:
    with pytest.raises(ColumnError, match=rf"several columns named '{names[0]}'.*rename"):
        open_source(pd.DataFrame(np.eye(2), columns=names))


def test_duplicate_names_in_arrow() -> None:
    with pytest.raises(ColumnError, match="several columns named 'a'"):
        open_source(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]))


@pytest.mark.parametrize("series", [pd.Series([1.0]), pl.Series([1.0])])
def test_a_single_series(series: Any) -> None:
    with pytest.raises(UnreadableError, match=r"single column \(Series\).*table"):
        open_source(series)


def test_no_columns() -> None:
    with pytest.raises(ColumnError, match="no columns"):
        open_source(pd.DataFrame(index=[1, 2]))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "b"], "text"),
        (["a", None], "text"),
        (pd.Categorical(["a", "b"]), "text"),
        ([True, False], "true/false.*1/0"),
        (pd.array([True, None], "boolean"), "true/false"),
        (pd.Series([True, None], dtype=object), "true/false"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "dates"),
        (pd.to_timedelta([1, 2]), "times"),
        ([1j, 2j], "complex"),
        (pd.Series([1, "x"], dtype=object), "numbers beside text such as 'x'.*to_numeric"),
        (pd.Series([datetime.date(2020, 1, 1)] * 2, dtype=object), "dates"),
        (pd.interval_range(0, 2), "interval"),
    ],
)
def test_pandas_columns_without_numbers(values: Any, words: str) -> None:
    frame = pd.DataFrame({"good": [1.0, 2.0], "bad": values, "fine": [2.0, 1.0]})
    with pytest.raises(ColumnError, match=rf"column 'bad' holds.*{words}.*columns=\['good', 'fine'\]"):
        open_source(frame)
    assert equal(open_source(frame, Reading(columns=["good"])), [[1], [2]])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "b"], "text"),
        ([True, None], "true/false"),
        ([datetime.date(2020, 1, 1)] * 2, "dates"),
        ([datetime.time(1)] * 2, "times"),
        ([[1], [2]], "lists or records"),
        ([{"a": 1}] * 2, "lists or records"),
        ([b"a", b"b"], "bytes"),
        (pl.Series(["a", "b"], dtype=pl.Categorical), "text"),
    ],
)
def test_polars_columns_without_numbers(values: Any, words: str) -> None:
    with pytest.raises(ColumnError, match=f"column 'bad' holds {words}"):
        open_source(pl.DataFrame({"good": [1.0, 2.0], "bad": values}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.0, 2.0], "id": [1, 2**53 + 1]}),
        pd.DataFrame({"x": [1.0, 2.0], "id": pd.array([None, 2**53 + 1], "Int64")}),
        pl.DataFrame({"x": [1.0, 2.0], "id": [None, 2**53 + 1]}),
        pa.table({"x": [1.0, 2.0], "id": [None, 2**53 + 1]}),
        pa.table({"x": [1.0, 2.0], "id": pa.array([None, Decimal(2**53 + 1)])}),
        {"x": [1.0, 2.0], "id": [1, 2**53 + 1]},
    ],
)
def test_integers_that_float64_would_round(frame: Any) -> None:
    with pytest.raises(PrecisionError, match="column 'id' holds the integer 9007199254740993"):
        open_source(frame)
    assert equal(open_source(frame, Reading(columns=["x"])), [[1], [2]])


# --- dicts of columns --------------------------------------------------------------------------------------


def test_a_dict_of_columns() -> None:
    data = {"a": [1, None, 3], "b": np.ones(3, np.float32), 7: pd.Series([1, 2, 3])}
    source = open_source(data)
    assert source.names == ("a", "b", "7")
    assert equal(source, [[1, 1, 1], [NAN, 1, 2], [3, 1, 3]])
    assert data["a"] == [1, None, 3]


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({}, ColumnError, "no columns"),
        ({"a": 1}, UnreadableError, "column 'a'.*one list"),
        ({"a": np.eye(2)}, UnreadableError, "column 'a'.*one-dimensional"),
        ({"a": [1, 2], "b": [1]}, UnreadableError, "'a' has 2 values but 'b' has 1"),
        ({"a": [1], "b": ["x"]}, ColumnError, "'b' holds text"),
        ({"a": [1], "b": [True]}, ColumnError, "'b' holds true/false"),
        ({"a": [1], "b": [1j]}, UnreadableError, "'b'.*complex"),
        ({"a": [1], "b": [2**70]}, PrecisionError, f"'b' holds the integer {2**70}"),
        ({1: [1], "1": [2]}, ColumnError, "several columns named '1'"),
    ],
)
def test_bad_dicts(data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        open_source(data)


def test_objects_that_are_all_numbers_are_numbers() -> None:
    values = [1, 2.5, None, Decimal("4.25"), np.float32(0.5)] * 8
    long = pd.Series([2**60 + k for k in range(40)], dtype=object)
    frame = pd.DataFrame({"a": COLUMN, "b": pd.Series(values, dtype=object), "long": long})
    source = open_any(frame)
    assert source.names == ("a", "b")
    assert source.array is not None
    assert source.array[:5, 1].tolist()[:2] == [1.0, 2.5]
    assert np.isnan(source.array[2, 1])
    assert source.array[3, 1] == 4.25


def test_numbers_beside_text_are_set_aside_with_what_to_do() -> None:
    frame = pd.DataFrame({"a": COLUMN, "b": COLUMN[::-1], "c": [1, "x", 2.5, None] * 10, "d": [True, 2] * 20})
    roles = {one.name: (one.role, one.reason) for one in open_any(frame).columns}
    assert roles["c"] == ("unusable", "numbers beside text such as 'x'")
    assert roles["d"][0] == "unusable"
    with pytest.raises(ColumnError, match=r"'c' hold[s]? numbers beside text such as 'x': .* pandas.to_numeric"):
        open_source(frame, Reading(columns=["a", "c"]))


def test_objects_that_arrow_has_no_type_for_can_be_categories() -> None:
    frame = pd.DataFrame({"a": COLUMN, "b": COLUMN[::-1], "c": pd.Series([1, "x", None, "x"] * 10, dtype=object)})
    source = open_source(frame, Reading(columns=["a", "b"], adjust=["c"]))
    np.testing.assert_array_equal(next(source.batches(4))[:, 2], [0.0, 1.0, np.nan, 1.0])
    assert source.covariates[0].levels == ["1", "x"]
