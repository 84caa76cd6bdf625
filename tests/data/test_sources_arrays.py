"""Arrays and lists of rows."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from strictly import open_source

from ordag.data.reading import Reading
from ordag.errors import ColumnError, PrecisionError, UnreadableError

X = np.arange(12.0).reshape(4, 3)


def test_a_float64_array_is_handed_on_as_it_is() -> None:
    source = open_source(X)
    assert source.array is X
    assert source.names == ("X1", "X2", "X3")
    assert source.rows == 4
    block = next(source.batches(2))
    assert np.shares_memory(block, X)
    assert not block.flags.writeable
    assert X.flags.writeable


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "longdouble", "i1", "u1", "i4", "u8", "i8"])
def test_other_numbers_are_converted(dtype: str) -> None:
    table = X.astype(dtype)
    before = table.copy()
    source = open_source(table)
    assert [block.dtype for block in source.batches(3)] == [np.float64, np.float64]
    assert np.array_equal(np.concatenate(list(source.batches(3))), X)
    assert source.array is not None
    assert np.array_equal(source.array, X)
    assert np.array_equal(table, before)
    assert table.dtype == before.dtype


@pytest.mark.parametrize("view", [np.asfortranarray(X), X[::-1], np.repeat(X, 2, axis=1)[:, ::2], np.asmatrix(X)])
def test_any_layout_gives_contiguous_batches(view: np.ndarray) -> None:
    blocks = list(open_source(view).batches(3))
    assert all(block.flags.c_contiguous and type(block) is np.ndarray for block in blocks)
    assert np.array_equal(np.concatenate(blocks), np.asarray(view))


def test_selected_columns() -> None:
    source = open_source(X, Reading(columns=["X3", "X1"]))
    assert source.array is not None
    assert np.array_equal(source.array, X[:, [2, 0]])
    assert np.array_equal(next(source.batches(9)), X[:, [2, 0]])


def test_masked_entries_are_missing() -> None:
    table = np.ma.array(np.array([[1, 2**60], [3, 4]]), mask=[[False, True], [False, False]])
    source = open_source(table)
    assert np.array_equal(next(source.batches(9)), [[1, np.nan], [3, 4]], equal_nan=True)
    assert np.array_equal(source.array, [[1, np.nan], [3, 4]], equal_nan=True)  # type: ignore[arg-type]
    assert table.mask[0, 1]
    assert open_source(np.ma.array([[2**60]], mask=True)).rows == 1


def test_infinities_and_nan_are_passed_on() -> None:
    table = np.array([[np.inf, 1], [np.nan, -np.inf]])
    assert np.array_equal(next(open_source(table).batches(5)), table, equal_nan=True)


def test_no_rows() -> None:
    source = open_source(np.empty((0, 3)))
    assert source.rows == 0
    assert list(source.batches(5)) == []


@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4)])
def test_not_two_dimensions(shape: tuple[int, ...]) -> None:
    with pytest.raises(UnreadableError, match=r"shape \(.*expected two dimensions, \(rows, variables\)") as caught:
        open_source(np.zeros(shape))
    assert str(shape) in str(caught.value)


def test_no_columns() -> None:
    with pytest.raises(ColumnError, match="no columns"):
        open_source(np.zeros((5, 0)))


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("c16", "complex numbers.*real part"),
        ("?", "true/false.*1/0"),
        ("U8", "text"),
        ("S8", "text"),
        ("M8[s]", "dates"),
        ("m8[s]", "times"),
        ("O", r"Python objects.*\.astype\(float\)"),
    ],
)
def test_not_real_numbers(dtype: str, words: str) -> None:
    with pytest.raises(ColumnError, match=words):
        open_source(X.astype(int).astype(dtype))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, -(2**63)])
def test_integers_that_float64_would_round(value: int) -> None:
    table = np.array([[1, 2], [3, value]])
    with pytest.raises(PrecisionError, match=rf"column 'X2' holds the integer {value}.*2\^53"):
        open_source(table)
    assert next(open_source(table, Reading(columns=["X1"])).batches(5)).tolist() == [[1], [3]]


def test_unsigned_integers_beyond_the_signed_range() -> None:
    with pytest.raises(PrecisionError, match=str(2**64 - 1)):
        open_source(np.array([[2**64 - 1, 1]], dtype=np.uint64))


def test_the_largest_exact_integers_pass() -> None:
    assert next(open_source(np.array([[2**53, -(2**53)]])).batches(1)).tolist() == [[2.0**53, -(2.0**53)]]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_matrices(make: Any) -> None:
    with pytest.raises(UnreadableError, match=r"sparse matrix of shape \(4, 3\).*toarray"):
        open_source(make(X))


def test_structured_arrays_are_columns() -> None:
    table = np.array([(1, 2.5), (3, np.nan)], dtype=[("a", "i4"), ("b", "f8")])
    source = open_source(table)
    assert source.names == ("a", "b")
    assert np.array_equal(next(source.batches(5)), [[1, 2.5], [3, np.nan]], equal_nan=True)


def test_objects_that_turn_into_arrays() -> None:
    class Tensor:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return X

    assert open_source(Tensor()).array is X


def test_lists_of_rows() -> None:
    rows = [[1, 2.5], (None, np.float32(3)), [Fraction(1, 2), np.int64(7)]]
    source = open_source(rows)
    assert source.names == ("X1", "X2")
    assert np.array_equal(next(source.batches(5)), [[1, 2.5], [np.nan, 3], [0.5, 7]], equal_nan=True)
    assert rows[1] == (None, np.float32(3))


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([], UnreadableError, "list is empty"),
        ([1, 2, 3], UnreadableError, "row 1 is 1: expected a list of rows"),
        (["ab", "cd"], UnreadableError, "row 1 is 'ab'"),
        ([{"a": 1}], UnreadableError, "row 1 is .*dict of columns"),
        ([[1, 2], [3]], UnreadableError, "row 1 has length 2 and row 2 length 1"),
        ([[], []], ColumnError, "no columns"),
        ([[1, 2], [3, "x"]], ColumnError, "column 'X2' holds 'x' in data row 2.*not a number"),
        ([[1, 2], [True, 3]], ColumnError, "column 'X1' holds True in data row 2.*1/0"),
        ([[1, 2j]], ColumnError, "column 'X2' holds 2j"),
        ([[1.0, 2], [3, 2**53 + 1]], PrecisionError, "column 'X2' holds the integer 9007199254740993 in data row 2"),
        ([[1, 2**70]], PrecisionError, "X2"),
    ],
)
def test_bad_lists(rows: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        open_source(rows)


def test_lists_of_tables_or_of_paths_say_what_to_do():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0]})
    with pytest.raises(
        UnreadableError, match=r"A list of 2 data frames was given: join them to one, or give iter\(…\)"
    ):
        open_source([frame, frame])
    with pytest.raises(UnreadableError, match="A list of paths was given, and only files of moments are put together"):
        open_source(["a.csv", Path("b.csv")])
