"""Lines that fit the screen: names shrink last, nothing is broken letter by letter, and pipes have no width."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from budgets import crossed, thorough
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ordag import simulate
from ordag.show.screen import Column, Screen, folds, print_head, say, show_table

MARKS = ("mechanics", "vectors", "algebra", "analysis", "statistics")
COMMANDS = [
    ["learn", "marks"],
    ["learn", "marks", "--alpha", "0.05"],
    ["learn", "marks", "--method", "pc", "--alpha", "0.05"],
    ["check", "marks"],
    ["compare", "marks"],
    ["compare", "--simulate", "homogeneous", "-p", "5", "-n", "100", "--seed", "1"],
    ["effect", "marks", "--from", "algebra", "--to", "mechanics", "--replicates", "5"],
]


def names_whole(out):
    """Every line after the heading that speaks of a variable of the marks does so with its whole name."""
    pieces = {name[:k] for name in MARKS for k in range(2, len(name))} - {"me", "ve", "st", "al", "an"}
    return not pieces & set(re.findall(r"\w+", out))


@pytest.mark.slow
@pytest.mark.parametrize(("words", "width"), crossed(COMMANDS, [40, 60, 80]))
def test_lines_fit_and_names_stay_whole(run, monkeypatch, words, width):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, _ = run(*words)
    assert status == 0
    assert all(line == line.rstrip() for line in out.splitlines())
    assert names_whole(out)
    assert max(map(cell_len, out.splitlines())) <= width


@pytest.mark.slow
def test_a_narrow_table_keeps_names_and_says_what_it_leaves_out(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    out = run("learn", "marks", "--alpha", "0.05")[1]
    assert "algebra   →  statistics  0.7653" in out
    assert "left out at this width: s.e., p edge, p direction, robust, direction; see --json or --out" in " ".join(
        out.split()
    )
    steps = out.split("Graph")[0]
    assert all(name in steps for name in MARKS)
    monkeypatch.setenv("COLUMNS", "80")
    out = run("learn", "marks", "--alpha", "0.05")[1]
    assert "left out" not in out
    assert "analysis, statistics !" in out


def test_methods_have_their_names_at_eighty_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = run("compare", "--simulate", "homogeneous", "-p", "5", "-n", "100", "--seed", "1")[1]
    table = out.split("Adjacent")[0]
    assert "left out" not in table
    assert re.findall(r"^  (\w+) +\d", table, re.MULTILINE) == ["pooled", "cvs", "pc", "ges", "gds"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [*(COMMANDS[k] for k in (0, 3, 5, 6)), *(thorough(COMMANDS[k]) for k in (1, 2, 4))], ids=" ".join
)
def test_a_pipe_has_no_width(run, monkeypatch, words):
    monkeypatch.delenv("COLUMNS", raising=False)
    status, out, _ = run(*words)
    assert status == 0
    lines = out.splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert "left out" not in out
    sentences = [line for line in lines if line.startswith("  Expect about")]
    assert all(line.endswith(".") for line in sentences)
    assert sentences or "learn" not in words


def test_long_names_run_on_between_their_parts(run, monkeypatch, tmp_path):
    X = simulate("heterogeneous", p=3, n=200, seed=1).X
    names = ["systolic_blood_pressure_at_first_visit", "age of the patient at admission", "averylongnamewithoutaplace"]
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setenv("COLUMNS", "40")
    out = run("learn", "t.csv")[1]
    assert max(map(cell_len, out.splitlines())) <= 40
    assert "blood_" in out
    assert "weight" in out


def test_folds_break_at_spaces_then_marks_then_anywhere():
    assert folds("a, b, c !", 5) == ["a, b,", "c !"]
    assert folds("very_long_name of it", 10) == ["very_long_", "name of it"]
    assert folds("abcdefg", 3) == ["abc", "def", "g"]
    assert folds("漢字漢字", 4) == ["漢字", "漢字"]
    assert folds("", 5) == [""]


@given(st.text("ab _-漢é", max_size=40), st.integers(2, 12))
def test_folds_lose_nothing_and_fit(text, width):
    pieces = folds(text, width)
    assert all(cell_len(piece) <= width for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


words = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=4).map(" ".join)


@given(
    st.lists(st.tuples(words, st.lists(words, min_size=2, max_size=2), st.booleans()), min_size=1, max_size=5),
    st.integers(30, 90),
)
def test_tables_keep_names_say_what_they_leave_out_and_fit(numbers, width):
    """One column of names and some of numbers: what is not there is named, and what is there is whole."""
    console = Console(file=io.StringIO(), width=width)
    titles = [f"{title} {k}" for k, (title, _, _) in enumerate(numbers)]
    ranked = [
        Column(t, cells, right=r, rank=k) for k, (t, (_, cells, r)) in enumerate(zip(titles, numbers, strict=True))
    ]
    show_table(console, [Column("name", ["some_name", "other"]), *ranked], elsewhere="; elsewhere")
    lines = console.file.getvalue().splitlines()
    assert all(cell_len(line) <= width for line in lines)
    said = " ".join(line.strip() for line in lines).partition("left out at this width: ")[2].partition("; elsewhere")[0]
    left_out = said.split(", ") if said else []
    assert left_out == titles[: len(left_out)]  # the lowest ranks go first
    head = next(k for k, line in enumerate(lines) if line.startswith("  name")) + 1
    for row, line in enumerate(lines[head : head + 2]):
        kept = [cells[row] for _, cells, _ in numbers[len(left_out) :]]
        assert line.split() == " ".join([["some_name", "other"][row], *kept]).split()


def test_titles_are_broken_where_that_makes_them_narrowest():
    assert Column("variance given earlier", ["1.5"]).broken() == ["variance", "given earlier"]
    assert Column("variance given earlier", ["x" * 30]).broken() == ["variance given earlier"]
    assert Column("probability", ["1"]).broken() == ["probability"]
    assert Column("", ["a long list of names"], prose=True).least == 10
    assert Column("", ["a long list of names"]).least == 20


def test_sentences_wrap_between_words_with_the_same_indent():
    console = Console(file=io.StringIO(), width=24)
    say(console, "one two three four [five] six seven", "    ")
    lines = console.file.getvalue().splitlines()
    assert all(line.startswith("    ") and len(line) <= 24 for line in lines)
    assert " ".join(line.strip() for line in lines) == "one two three four [five] six seven"
    print_head(console, "", "3 rows")
    print_head(console, "a\nb", "3 rows")
    assert console.file.getvalue().splitlines()[-2:] == ["Ordag · 3 rows", r"Ordag · 'a\nb' · 3 rows"]


def test_columns_go_by_rank(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    columns = [Column("name", ["a" * 12]), Column("first", ["1"], rank=2), Column("second", ["2"], rank=1)]
    show_table(Screen(), [*columns, Column("third", ["3"], right=True)], elsewhere="; ask")
    assert capsys.readouterr().out.splitlines() == [
        "  name          first  third",
        "  aaaaaaaaaaaa  1          3",
        "  left out at this width:",
        "  second; ask",
    ]


@pytest.mark.slow
def test_odd_names_do_nothing_to_a_terminal(run, tmp_path):
    X = np.random.default_rng(0).standard_normal((80, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    odd = ["\x1b[31mred\x1b[0m\x07", "evil\u202etxt", "\u0639\u0645\u0631"]
    pd.DataFrame(X, columns=odd).to_csv(tmp_path / "t.csv", index=False)
    for words in (
        ["learn", "t.csv"],
        ["learn", "t.csv", "--alpha", "0.05"],
        ["learn", "t.csv", "--method", "pc"],
        ["check", "t.csv", "--method", "cvs"],
        ["compare", "t.csv"],
        ["effect", "t.csv", "--from", odd[0], "--to", odd[1], "--replicates", "3"],
        ["effect", "t.csv", "--from", odd[0], "--to", "green"],
        ["learn", "t.csv", "--columns", odd[0]],
    ):
        _, out, err = run(*words)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out + err)
        assert r"\x1b[31mred" in out + err
