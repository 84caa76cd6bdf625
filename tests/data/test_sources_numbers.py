"""Numbers as people write them in text, and tables that do not begin in the first line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strictly import open_source

from ordag.data.reading import Reading
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.errors import ColumnError, OrdagError, SettingError


def read(
    text: str | bytes, name: str = "t.csv", rows: int = 1000, **reading: Any
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    content = text if isinstance(text, bytes) else text.encode()
    source = open_source(Upload(name, content), Reading(**reading))
    blocks = list(source.batches(rows))
    return source.names, np.concatenate(blocks), source.notes


def refusal(text: str, **reading: Any) -> OrdagError:
    with pytest.raises(OrdagError) as refused:
        read(text, **reading)
    return refused.value


def grouped(value: float, decimal: str, thousands: str) -> str:
    """Write a number by hand: the digits of `repr`, in groups of three."""
    whole, _, rest = format(abs(value), "f").partition(".")
    parts = []
    while len(whole) > 3:
        whole, last = whole[:-3], whole[-3:]
        parts.insert(0, last)
    text = thousands.join([whole, *parts]) + (decimal + rest if rest else "")
    return f"-{text}" if value < 0 else text


SEMICOLONS = ["Split at semicolons", "Decimal commas are read as such"]
NUMBERS = st.lists(st.integers(-(10**9), 10**9).map(lambda k: k / 64), min_size=3, max_size=20)


@given(
    NUMBERS,
    st.sampled_from([(",", "."), (",", " "), (".", ","), (".", "'"), (".", " "), (",", "\u202f"), (".", "\u2019")]),
)
def test_numbers_are_those_of_their_digits(values: list[float], marks: tuple[str, str]) -> None:
    decimal, thousands = marks
    cells = [grouped(value, decimal, thousands) for value in [*values, 1234567.5]]
    plain = [float(cell.replace(thousands, "").replace(decimal, ".")) for cell in cells]
    text = "\n".join(["a;b", *(f"{cell};{k}" for k, cell in enumerate(cells))])
    assert read(text)[1].tolist() == [[value, k] for k, value in enumerate(plain)]
    quoted = "\n".join(["a,b", *(f'"{cell}",{k}' for k, cell in enumerate(cells))])
    assert read(quoted)[1].tolist() == [[value, k] for k, value in enumerate(plain)]


@pytest.mark.parametrize("cell", ["1.5", "-2", "0.1", ".5", "5.", "1e3", "1.234", "1234.567"])
def test_plain_numbers_are_read_without_a_word(cell: str) -> None:
    _, X, notes = read(f"a,b\n{cell},1\n{cell},2\n")
    assert (X[:, 0].tolist(), notes) == ([float(cell)] * 2, ())


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("a;b\n1,5;2\n-3,25;4\n", [[1.5, 2], [-3.25, 4]], ["Split at semicolons", "Decimal commas are read as such"]),
        ("a\tb\n1,5\t2\n3,25\t4\n", [[1.5, 2], [3.25, 4]], ["Split at tabs", "Decimal commas are read as such"]),
        ('a,b\n"1,5",2\n"3,25",4\n', [[1.5, 2], [3.25, 4]], ["Decimal commas are read as such"]),
        ("a,b\n12%,$3\n13.5 %,-$4.5\n,$5\n", [[12, 3], [13.5, -4.5], [np.nan, 5]],
         ["The sign % in a is left out", "The sign $ in b is left out"]),
        ("a;b\n1.234,50 €;2\n12,00 €;4\n", [[1234.5, 2], [12, 4]],
         [*SEMICOLONS, "The points between thousands in a are left out", "The sign € in a is left out"]),
        ("a,b\n\u22121,2\n3,4\n", [[-1, 2], [3, 4]], []),
        ("a,b\ncm,kg\n1,2\n3,4.5\n", [[1, 2], [3, 4.5]], ["The row below the header is read as units (cm and kg)"]),
        ("a;b\ncm;kg\n1;2,5\n3;4,5\n", [[1, 2.5], [3, 4.5]],
         ["Split at semicolons", "Decimal commas are read as such", "The row below the header is read as units (cm and kg)"]),
        ("# by hand\n# on paper\na,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ["2 lines above the header left out"]),
        ("Heights, in 1990\n\na;b\n1;2\n3;4\n", [[1, 2], [3, 4]], ["Split at semicolons", "2 lines above the header left out"]),
        ("Heights,,\n,,\na,b,c\n1,2,3\n3,4,5\n", [[1, 2, 3], [3, 4, 5]], ["2 lines above the header left out"]),
        ("# a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], []),
        ("# by hand\n# a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ["1 line above the header left out"]),
        ("a,b,\n1,2,\n3,4,\n", [[1, 2], [3, 4]], []),
        ("a,b\n1,2,\n3,4,\n", [[1, 2], [3, 4]], []),
        ("a|b\n1|2\n3|5\n", [[1, 2], [3, 5]], ["Split at vertical bars"]),
        ("a b\n1 2\n3 5\n", [[1, 2], [3, 5]], ["Split at spaces"]),
        ("\ufeffa,b\n1,2\n3,5\n", [[1, 2], [3, 5]], []),
    ],
)  # fmt: skip
def test_what_is_recognised_is_said(text: str, rows: list[list[float]], said: list[str]) -> None:
    names, X, notes = read(text)
    assert names[:2] == ("a", "b")
    assert np.array_equal(X, rows, equal_nan=True)
    assert list(notes) == said


def test_units_stand_above_text_too() -> None:
    names, X, notes = read("a,b,t\ncm,kg,-\n1,2,x\n3,4.5,y\n", columns=["a", "b"], adjust=["t"])
    assert (names, X.tolist()) == (("a", "b"), [[1, 2, 0], [3, 4.5, 1]])
    assert notes == ("The row below the header is read as units (cm and kg)",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("% a,b\n1,2\n3,4\n", ("% a", "b")),  # it may be a name
        ("% by hand\n% a,b\n1,2\n3,4\n", ("a", "b")),
        ("# a,b\n1,2\n3,4\n", ("a", "b")),
        ("# a,b\nx,y\n1,2\n3,4\n", ("# a", "b")),
        ("# a\nx,y\n1,2\n3,4\n", ("x", "y")),
    ],
)
def test_signs_of_comments_in_names(text: str, names: tuple[str, ...]) -> None:
    found, X, _ = read(text)
    assert (found, X.tolist()) == (names, [[1, 2], [3, 4]])


def test_a_comment_above_rows_without_a_header_is_left_out() -> None:
    _, X, notes = read("# by hand\n1,2\n3,4\n", header=False)
    assert (X.tolist(), notes) == ([[1, 2], [3, 4]], ("1 line of comment left out",))


@pytest.mark.parametrize(
    "text", ['"a","b"\n"x",1,2\n"y",3,4\n', '"a" "b"\n"x" 1 2\n"y" 3 4\n', "a\tb\n1\t1\t2\n2\t3\t4\n"]
)
def test_row_names_as_r_writes_them(text: str) -> None:
    names, X, notes = read(text, columns=["a", "b"])
    assert (names, X.tolist()) == (("a", "b"), [[1, 2], [3, 4]])
    assert "The first column, for which the header has no name, is read as row names" in notes


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-32", "utf-8-sig"])
def test_encodings_are_recognised(encoding: str) -> None:
    names, X, notes = read("größe,b\n1,2\n3,4\n".encode(encoding))
    assert (names, X.tolist()) == (("größe", "b"), [[1, 2], [3, 4]])
    assert [note[:20] for note in notes] == ([] if encoding == "utf-8-sig" else ["Read in the encoding"])


def test_an_encoding_of_another_script_is_asked_for() -> None:
    with pytest.raises(OrdagError, match="not encoded in UTF-8"):
        read("привет,b\n1,2\n3,4\n".encode("cp1251"))
    assert read("привет,b\n1,2\n3,4\n".encode("cp1251"), encoding="cp1251")[0][0] == "привет"


def test_what_is_ambiguous_is_asked_for_once() -> None:
    text = "a;b\n1,234;2\n3,524;4\n"
    error = refusal(text)
    assert isinstance(error, ColumnError)
    assert (
        "column 'a' holds numbers such as '1,234', in which the comma may be the decimal mark or group thousands"
        in str(error)
    )
    found = [read(text, **remedy.reading)[1][:, 0].tolist() for remedy in error.remedies]
    assert found == [[1.234, 3.524], [1234, 3524]]
    assert read("a;b\n1,234;2\n3,524;4,5\n")[1][0, 0] == 1.234  # the other column settles it


def test_columns_that_contradict_each_other_are_not_guessed_at() -> None:
    assert "decimal commas" in str(refusal("a;b\n1,5;2.5\n3,5;4.5\n"))
    assert "written in different ways" in str(refusal("a;b\n1,234.5;2,5\n3,500.5;4,5\n"))


def test_the_first_block_decides_and_a_later_cell_is_named() -> None:
    rows = [f'"{k % 900 + 1},{k % 900:03}.5",{k}' for k in range(60_000)]
    text = "\n".join(["a,b", *rows])
    assert read(text)[1][1000].tolist() == [float(rows[1000].split('"')[1].replace(",", "")), 1000]
    rows[59_000] = '"1.234,5",7'
    with pytest.raises(
        ColumnError, match=r"column 'a' holds '1\.234,5' in data row 59001, which is no number written like those"
    ):
        read("\n".join(["a,b", *rows]))


def test_integers_that_float64_would_round_are_found_behind_their_separators() -> None:
    with pytest.raises(OrdagError, match="integer 9007199254740993"):
        read('a,b\n"9,007,199,254,740,993",1\n"1,000",2\n"1,000,000",3\n')


@pytest.mark.parametrize(
    "text", ["1.2.3", "12.5.2020", "1,2,3", "1-2", "12%5", "% 5 %", "$", "1 2", "12 345 6", "0x1F", "1/2"]
)
def test_other_text_stays_text(text: str) -> None:
    assert read(f"a;b;c\n{text};1;2\n{text};3;5\n", columns=["b", "c"])[1].tolist() == [[1, 2], [3, 5]]
    with pytest.raises(OrdagError):
        read(f"a;b;c\n{text};1;2\n{text};3;5\n", columns=["a", "b"])


def test_percent_signs_in_some_cells_only_are_not_guessed_at() -> None:
    with pytest.raises(OrdagError):
        read("a,b\n12%,1\n0.12,2\n", columns=["a", "b"])


def test_settings_that_cannot_be() -> None:
    for reading in ({"thousands": "x"}, {"thousands": ","} | {"decimal": ","}):
        with pytest.raises(SettingError, match="thousands="):
            read("a;b\n1;2\n", **reading)


@pytest.mark.parametrize(
    "cells", [["1,5", "2,5", "x", "3,25"], ["1,234.5", "2,000", "x", "3,250"], ["12", "1 500", "x", "3 250"]]
)
def test_one_cell_that_is_no_number_among_such_numbers(cells: list[str]) -> None:
    text = "\n".join(["a;b", *(f"{cell};{k}" for k, cell in enumerate(cells))])
    assert "column 'a' holds 'x' in data row 3" in str(refusal(text))


def test_all_that_was_recognised_is_one_sentence() -> None:
    table = Table(Upload("t.csv", b"a;b\n1,5;2\n2,5;3\n"))
    assert table.remarks == ("Split at semicolons; decimal commas are read as such.",)
