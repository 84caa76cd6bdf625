"""Text files that cannot be read: each refusal says what is wrong, where, and what to change."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from strictly import open_source

import ordag
from ordag.data.reading import Reading
from ordag.data.sources.csv import _explained
from ordag.errors import (
    ColumnError,
    DataError,
    MissingValuesError,
    NonFiniteError,
    PrecisionError,
    SettingError,
    TooFewRowsError,
    UnreadableError,
)


def refusal(path: Path, content: str | bytes, error: type[Exception], **reading: Any) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(error) as caught:
        for _ in open_source(path, Reading(**reading)).batches(1000):
            pass
    message = str(caught.value)
    assert "\n" not in message
    if isinstance(caught.value, DataError):
        assert path.name in message
    return message


def says(message: str, *words: str) -> None:
    for word in words:
        assert word in message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


# --- nothing there, or not text ----------------------------------------------------------------------------


def test_an_empty_file(path: Path) -> None:
    says(refusal(path, b"", UnreadableError), "empty (0 bytes)")
    says(refusal(path, "\n \n\n", UnreadableError), "blank lines")


@pytest.mark.parametrize(
    ("start", "what", "remedy"),
    [
        (b"\x89PNG\r\n\x1a\n", "a PNG image", "holds the table"),
        (b"PK\x03\x04", "an Excel workbook", "the ending .xlsx"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "the ending .xls"),
        (b"%PDF-1.7\n", "a PDF document", "Save the table as CSV"),
        (b"PAR1", "a Parquet file", ".parquet"),
        (b"ARROW1", "an Arrow", "pass the table"),
        (b"\x93NUMPY", "a NumPy array", "numpy.load"),
        (b"SQLite format 3", "an SQLite database", "the ending .sqlite"),
    ],
)
def test_binary_files(path: Path, start: bytes, what: str, remedy: str) -> None:
    says(refusal(path, start + b"\0\1\2\n\0", UnreadableError), what, remedy)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("<!DOCTYPE html>\n<html><body>Log in</body></html>\n", "a web page"),
        ("\n  <HTML lang='en'>a,b</HTML>", "a web page"),
        ("<table><tr><td>1</td></tr></table>", "a web page"),
        ('<?xml version="1.0"?>\n<rows/>\n', "an XML document"),
        ('{"a": [1, 2], "b": [3, 4]}', "JSON"),
        ('[{"a": 1, "b": 2},\n {"a": 3, "b": 4}]\n', "JSON"),
        ('{"a": 1}\n{"a": 2}\n', "JSON"),
        ("[[1, 2], [3, 4]]", "JSON"),
        ("[1, 2, 3]", "JSON"),
    ],
)
def test_markup_and_json_are_called_by_their_names(path: Path, content: str, what: str) -> None:
    path.write_text(content)
    with pytest.raises(UnreadableError, match=f"is {what}.*, not a table in text"):
        open_source(path)


def test_names_may_look_a_little_like_markup(path: Path) -> None:
    for header in ("<b>,y", "[1],[2]", "[bold]a[/bold],b", "{a},b", "<10,x"):
        path.write_text(f"{header}\n1,2\n3,4\n")
        assert len(open_source(path).names) == 2


def test_zero_bytes(path: Path) -> None:
    says(refusal(path, b"a,b\n1,\0\n", UnreadableError), "byte 7", "not plain text", "utf-16")


def test_a_compressed_file_without_the_ending(path: Path) -> None:
    says(refusal(path, gzip.compress(b"a,b\n1,2\n"), UnreadableError), "gzip", ".csv.gz")


@pytest.mark.slow
def test_a_truncated_gzip(tmp_path: Path) -> None:
    short = gzip.compress(b"a,b\n1,2\n")
    says(refusal(tmp_path / "a.csv.gz", short[:-10], UnreadableError), "cut off")
    long = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(100_000)))
    says(refusal(tmp_path / "b.csv.gz", long[:-1000], UnreadableError), "cut off", "copy or download it again")
    says(refusal(tmp_path / "c.csv.gz", b"a,b\n1,2\n", UnreadableError), "is not compressed")


# --- encodings ---------------------------------------------------------------------------------------------


def test_invalid_utf8(path: Path) -> None:
    message = refusal(path, "a,b\n1,2\n3,ééé\n".encode("latin-1"), UnreadableError)
    says(message, "not encoded in UTF-8", "byte 11, line 3", 'encoding="latin-1"', "--encoding latin-1")


def test_invalid_utf8_far_down(path: Path) -> None:
    message = refusal(path, b"a,b\n" + b"1,2\n" * 100_000 + b"1,\xe9\n", UnreadableError)
    says(message, "not encoded in UTF-8", "column 'b' in data row 100001", 'encoding="latin-1"')


def test_a_wrong_encoding(path: Path) -> None:
    says(refusal(path, "a,b\n1,2\n", SettingError, encoding="klingon"), "'klingon'", "latin-1")
    says(refusal(path, "a,b\n1,2\n", SettingError, encoding="base64"), "'base64'")
    says(refusal(path, "ä,b\n1,2\n3,4\n", UnreadableError, encoding="utf-16"), "not encoded in utf-16", "UTF-8")
    says(refusal(path, "a,b\n1,2\n3,4", UnreadableError, encoding="utf-16-le"), "not encoded in utf-16-le", "UTF-8")
    bare = "a,b\n1,2\n3,4\n".encode("utf-16-be")
    says(refusal(path, bare, UnreadableError, encoding="utf-16"), "order of its bytes", 'encoding="utf-16-be"')


def test_a_wrong_encoding_far_down(path: Path) -> None:
    content = b"a,b\n" + b"1,2\n" * 100_000 + b"1,\x81\n"
    says(refusal(path, content, UnreadableError, encoding="cp1252"), "not encoded in cp1252", "0x81")


# --- separators, headers and names -------------------------------------------------------------------------


def test_columns_set_apart_by_several_spaces(path: Path) -> None:
    says(refusal(path, "a    b\n1    2\n", UnreadableError), "several spaces", "single tabs")


def test_a_separator_that_is_wrongly_set(path: Path) -> None:
    says(refusal(path, "a,b\n1,2\n", UnreadableError, separator=";"), "commas", 'separator=","')
    says(refusal(path, "a,b\n1,2\n", SettingError, separator=",,"), "',,'", "single character")
    says(refusal(path, "a,b\n1,2\n", SettingError, separator=""), "single character")


def test_a_name_in_quotes_may_contain_other_separators(path: Path) -> None:
    path.write_text('"a;b"\n1\n2\n')
    assert open_source(path).names == ("a;b",)


def test_no_header(path: Path) -> None:
    message = refusal(path, "1.5,2\n3,4\n", UnreadableError)
    says(message, "no header", "only numbers (1.5; 2)", "header=False", "--no-header")
    says(refusal(path, "1;2,5\n3;4,5\n", UnreadableError, separator=";", decimal=","), "no header")


def test_a_header_where_none_is_expected(path: Path) -> None:
    message = refusal(path, "a,b\n1,2\n3,4\n", ColumnError, header=False)
    says(message, "'X1'", "'a' in its first row", "leave out header=False")


def test_one_row_without_a_header(path: Path) -> None:
    says(refusal(path, "1,2", TooFewRowsError, header=False), "single row")


def test_duplicate_names(path: Path) -> None:
    says(refusal(path, "a,b,a\n1,2,3\n", ColumnError), "several columns named 'a' (2 times)", "rename")
    says(refusal(path, "a, a\n1,2\n", ColumnError), "'a'")
    says(refusal(path, "a,b,a\n1,2,3\n", ColumnError, columns=["b", "a"]), "'a'")
    path.write_text("a,b,a\n1,2,3\n")
    assert next(open_source(path, Reading(columns=["b"])).batches(5)).tolist() == [[2]]


def test_a_column_without_a_name(path: Path) -> None:
    message = refusal(path, "a,,b\n0,1,2\n1,3,4\n", ColumnError)
    says(message, "column 2 of 3 has no name", "row names", "columns=['a', 'b'] (--columns a,b on the command line)")
    says(refusal(path, ",a\n0,1\n1,3\n", ColumnError), "column 1 of 2 has no name")
    says(refusal(path, "a,b,\n1,2,3\n", ColumnError), "column 3 of 3 has no name", "separator at the end")


# --- rows --------------------------------------------------------------------------------------------------


def test_ragged_rows(path: Path) -> None:
    message = refusal(path, "a,b\n1,2\n3,4,5\n6,7\n", UnreadableError)
    says(message, "data row 2 has 3 fields where 2 are expected", "'3,4,5'", "Correct the row")
    says(refusal(path, "a,b\n1,2\n3,4,5\n", UnreadableError), "data row 2 has 3 fields", "Correct the row")
    message = refusal(path, "a,b\n" + "1,2\n" * 100_000 + "3\n4,5\n", UnreadableError)
    says(message, "data row 100001 has 1 field where 2 are expected", "Correct the row")
    message = refusal(path, "1,2\n3,4,5\n6,7\n", UnreadableError, header=False)
    says(message, "data row 2 has 3 fields where 2 are expected")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_file_cut_off_in_its_last_row(path: Path, end: str) -> None:
    says(refusal(path, f"a,b,c\n1,2,3\n4,5{end}", UnreadableError), "data row 2 has 2 fields", "last row", "cut off")


def test_an_open_quotation_mark(path: Path) -> None:
    says(refusal(path, 'a,b\n1,2\n"3,4\n5,6\n', UnreadableError), "data row 2", "quotation mark")
    says(refusal(path, 'a,b\n1,2\n"3,4\n' + "5,6\n" * 200_000, UnreadableError), "256 kB", "quotation mark")


# --- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["oops", "1.2.3", "1_000", "?", "0x10", "12 kg", "2020-01-01", "true"])
def test_one_value_that_is_no_number(path: Path, value: str) -> None:
    says(refusal(path, f"a,b\n1,2\n3,{value}\n4,5\n6,7\n", ColumnError), "column 'b'", f"'{value}' in data row 2")


def test_a_value_that_is_no_number_far_down(path: Path) -> None:
    message = refusal(path, "a,b\n" + "1,2\n" * 100_000 + "1,oops\n", ColumnError)
    says(message, "column 'b' holds 'oops' in data row 100001", "not a number", "leave the cell empty")
    message = refusal(path, "1,2\n" * 100_000 + "1,oops\n", ColumnError, header=False, columns=["X2"])
    says(message, "column 'X2' holds 'oops' in data row 100001")


def test_text_dates_times_and_truth_values(path: Path) -> None:
    content = "x,t,d,h,b\n1,u,2020-01-01,10:00:00,true\n2,v,2020-01-02,11:00:00,false\n"
    for column, holds in {"t": "text", "d": "dates", "h": "times", "b": "true/false"}.items():
        says(refusal(path, content, ColumnError, columns=["x", column]), f"column '{column}' holds {holds}")


def test_decimal_commas(path: Path) -> None:
    message = refusal(path, "a;b\n1,5;2.5\n2,5;3.5\n", ColumnError, separator=";")
    says(message, "column 'a' holds decimal commas ('1,5' in data row 1)", 'decimal=","', "--decimal ,")
    message = refusal(path, "a;b\n" + "1;2\n" * 100_000 + "1;2,5\n", ColumnError, separator=";")
    says(message, "column 'b' holds '2,5' in data row 100001", 'decimal=","')
    says(refusal(path, 'a,b\n"1,5",2.5\n', ColumnError), "decimal commas")


def test_decimal_points_where_commas_are_expected(path: Path) -> None:
    message = refusal(path, "a;b\n1,5;2\n2.5;3\n", ColumnError, separator=";", decimal=",")
    says(message, "'2.5' in data row 2", "expected with ','")


def test_a_decimal_mark_that_cannot_be(path: Path) -> None:
    says(refusal(path, "a,b\n1,2\n", SettingError, decimal=","), "decimal=','", "not the separator")
    says(refusal(path, "a,b\n1,2\n", SettingError, decimal="x"), "decimal='x'")


@pytest.mark.parametrize("value", ["9007199254740993", "-9007199254740993", "12345678901234567890", "1" * 5000])
def test_integers_that_float64_would_round(path: Path, value: str) -> None:
    message = refusal(path, f"a,id\n1,2\n3,{value}\n", PrecisionError)
    says(message, f"column 'id' holds the integer {value[:40]}", "in data row 2", "2^53")
    path.write_text(f"a,id\n1,2\n3,{value}\n")
    assert next(open_source(path, Reading(columns=["a"])).batches(5)).tolist() == [[1], [3]]


def test_an_integer_far_down_that_float64_would_round(path: Path) -> None:
    message = refusal(path, "a,id\n1e20,1\n" + "1,2\n" * 100_000 + "1,9007199254740993\n", PrecisionError)
    says(message, "'id'", "data row 100002")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Truncated data", "is cut off (Truncated data)"),
        ("Decompression failed", "is cut off (Decompression failed)"),
        ("Unexpected end of file", "is cut off (Unexpected end of file)"),
        ("something else\nat 7", "could not be read as CSV (something else)"),
    ],
)
def test_other_errors_of_the_reader_are_quoted(message: str, said: str) -> None:
    layout: Any = SimpleNamespace(file=SimpleNamespace(describe="t.csv"), compression=None)
    says(str(_explained(message, layout, {})), f"t.csv {said}")


@pytest.mark.slow
def test_compressed_data_that_are_damaged(tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f"{k * 0.731},{k * k % 97}\n" for k in range(200_000))
    packed = gzip.compress(text.encode())
    path = tmp_path / "x.csv.gz"
    for damaged in (packed[:-8] + bytes(4) + packed[-4:], packed + b"something else"):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableError, match=r"x\.csv\.gz cannot be unpacked .* damaged"):
            list(open_source(path).batches(10_000))


@pytest.mark.parametrize(
    ("content", "truth"),
    [
        (b"a,b\n1,2\n", r"it is not compressed, .* leave that ending out"),
        (bz2.compress(b"a,b\n1,2\n"), r"it is compressed with bz2, .* give it the ending \.bz2 instead"),
    ],
)
def test_an_ending_that_does_not_fit(tmp_path: Path, content: bytes, truth: str) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=rf"does not match its ending \.gz: {truth}"):
        open_source(path)


def test_without_an_ending_the_first_bytes_tell_how_it_is_compressed(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert [block.tolist() for block in open_source(path).batches(10)] == [[[1.0, 2.0], [3.0, 4.0]]]


def test_sentences_about_rows_name_the_file(path: Path) -> None:
    for text, error in (
        ("a,b\n", TooFewRowsError),
        ("a,b\n1,2\ninf,4\n3,3\n5,1\n4,4\n", NonFiniteError),
        ("a,b\n1,2\n,4\n3,3\n5,1\n4,4\n", MissingValuesError),
    ):
        path.write_text(text)
        with pytest.raises(error, match=rf"^{path.name}: "):
            ordag.learn(path, missing="refuse")


def test_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "x.csv").symlink_to("y.csv")
    with pytest.raises(UnreadableError, match=r"x\.csv is a link to y\.csv, which is not there"):
        open_source(tmp_path / "x.csv")
