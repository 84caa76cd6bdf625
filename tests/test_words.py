"""How names, lists and counts are written in sentences."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordag.common.words import (
    LEFT_TO_RIGHT,
    about,
    amount,
    chance,
    counted,
    did_you_mean,
    harmless,
    joined,
    listed,
    number,
    percent,
    probability,
    share,
    shortened_apart,
    shown,
)

TURNING = "\u061c\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("algebra", "algebra"),
        ("a b", "a b"),
        ("% fat", "% fat"),
        ("", "''"),
        (" a", "' a'"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[31mred", r"'\x1b[31mred'"),
        ("evil\u202etxt", r"'evil\u202etxt'"),
        ("عمر", "عمر" + LEFT_TO_RIGHT),
        ("می\u200cشود", "می\u200cشود" + LEFT_TO_RIGHT),
    ],
)
def test_a_name_reads_as_one_piece(name, seen):
    assert shown(name) == seen


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(TURNING + "\x1b\x9b\r\n")))
def test_nothing_that_is_shown_acts_on_a_terminal_or_turns_the_direction(text):
    for seen in (shown(text), harmless(text)):
        assert not set(seen) & set(TURNING)
        assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in seen)
    assert harmless(shown(text)) == shown(text)


@given(st.lists(st.text("ab1 ", min_size=20, max_size=40), min_size=2, max_size=12, unique=True))
def test_short_texts_fit(texts):
    short = shortened_apart(texts, 18)
    assert all(len(short[text]) <= 18 for text in texts)


def test_short_texts_stay_apart():
    texts = [f"{'x' * 30}{j:03d}{'y' * 30}" for j in range(200)]
    assert len(set(shortened_apart(texts, 18).values())) == 200


def test_numbers_that_differ_are_shown_whole():
    texts = [f"{'x' * 20}{number}{'y' * 20}" for number in ("13", "14")]
    assert [short.strip("xy…") for short in shortened_apart(texts, 12).values()] == ["13", "14"]
    assert [short.strip("x…") for short in shortened_apart([f"{'x' * 20}{k}" for k in (13, 14)], 12).values()] == [
        "13",
        "14",
    ]
    assert list(shortened_apart(["1" * 30 + "2", "1" * 30 + "3"], 12)) == ["1" * 30 + "2", "1" * 30 + "3"]


def test_lists_and_counts():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", " c"]) == "a, b and ' c'"
    assert listed("abcdefghij") == "a, b, c, d, e, f, g, h and 2 more"
    assert joined([]) == ""
    assert [counted(k, "row") for k in (0, 1, 2, 1000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    assert counted(2, "entry", "entries") == "2 entries"


def test_numbers_read_well():
    nothing = (None, float("nan"))
    assert [number(x) for x in (1234.567, 0.000123456, -2.0, *nothing)] == ["1235", "0.0001235", "-2", "", ""]
    assert number(1234.567, 6) == "1234.57"
    assert [probability(x) for x in (1e-300, 0.0, 0.0123, 1.0, *nothing)] == [
        "< 1e-16",
        "< 1e-16",
        "0.012",
        "1",
        "",
        "",
    ]
    assert [chance(x) for x in (1e-300, 1e-16, 0.0314, 1.0)] == ["p < 1e-16", "p = 1e-16", "p = 0.031", "p = 1"]
    assert [percent(x) for x in (0.0, 0.004, 0.996, 1.0)] == ["0 %", "0 %", "100 %", "100 %"]
    assert [share(x) for x in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "0 %",
        "less than 1 %",
        "50 %",
        "more than 99 %",
        "100 %",
    ]
    assert [amount(x) for x in (0.12345, 12.345, 123.45, -4567.8, 1e7)] == ["0.123", "12.3", "123", "-4,568", "1e+07"]


def test_a_name_that_is_not_there_is_answered_with_those_that_resemble_it():
    names = ["height", "weight", "age"]
    assert did_you_mean("hieght", names) == " Did you mean 'height'?"
    assert did_you_mean(["heigth", "agee"], names, each=2) == " Did you mean 'height', 'weight', 'age'?"
    assert did_you_mean("HEIGHT", names) == " Did you mean 'height'?"
    assert did_you_mean("zebra", names) == ""
    assert did_you_mean("x" * 5000, ["x" * 4999, "x"]) == ""  # it would take as long as both are long, multiplied


def test_about_is_said_of_numbers_only():
    assert [about(value) for value in (0.0, 0.001, 0.05, 0.999, 1.0)] == [
        "about 0 %",
        "less than 1 %",
        "about 5 %",
        "more than 99 %",
        "about 100 %",
    ]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (115_140.0, 4, "115,100"),
        (-131.9, 2, "-130"),
        (9_999_999.0, 4, "10,000,000"),
        (1e7, 4, "1e+07"),
        (0.00012345, 3, "0.000123"),
        (1.2e-9, 2, "1.2e-09"),
        (float("nan"), 4, ""),
        (1234.5, 4, "1234"),
    ],
)
def test_numbers_are_written_without_an_exponent_while_they_are_short(value, digits, text):
    assert number(value, digits) == text
