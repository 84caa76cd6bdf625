"""Paths that are not UTF-8: read and written like any other, and shown with escapes."""

from __future__ import annotations

import io
import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

from ordag.cli.options import title_of
from ordag.common.words import harmless, shell_word, spelled

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="all file names are Unicode there")

FOLDER, TABLE = os.fsdecode(b"f\xf6lder"), os.fsdecode(b"f\xf6lder/gr\xf6\xdfe.csv")


def named(name: bytes) -> str:
    return os.path.join(FOLDER, os.fsdecode(name))


@pytest.fixture
def call(run, tmp_path, monkeypatch):
    """Run `ordag` with these words; gives the status and what a terminal in UTF-8 would get."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    rows[:, 1] += rows[:, 0]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    (tmp_path / FOLDER).mkdir()
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    os.replace(tmp_path / "x.csv", tmp_path / TABLE)
    os.replace(tmp_path / "x.parquet", tmp_path / named(b"p\xf6.parquet"))

    def called(*words):
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        status = run(*words)[0]
        for stream in (out, err):
            stream.flush()
        return status, out.buffer.getvalue().decode("utf-8"), err.buffer.getvalue().decode("utf-8")

    return called


@pytest.mark.slow
def test_the_commands_that_read_a_table(call):
    for words in (["learn", TABLE], ["check", TABLE], ["compare", TABLE, "--methods", "cvs"]):
        status, out, err = call(*words)
        assert (status, err) == (0, "")
        assert "gr\\xf6\\xdfe.csv" in out.splitlines()[0]
    status, out, _ = call("learn", named(b"p\xf6.parquet"), "--json")
    assert status == 0
    assert json.loads(out)["rows"] == 40
    assert call("effect", TABLE, "--from", "a", "--to", "b", "--interval", "given-graph")[0] == 0


@pytest.mark.slow
def test_the_commands_that_write_files(call, tmp_path):
    words = ["--report", named(b"r\xf6.html"), "--out", named(b"g\xf6.json"), "--plot", named(b"g\xf6.svg")]
    status, _, err = call("learn", TABLE, *words)
    assert status == 0
    assert len([line for line in err.splitlines() if line.startswith("written: ")]) == 3
    page = (tmp_path / named(b"r\xf6.html")).read_text(encoding="utf-8")
    assert "<title>gr\\xf6\\xdfe.csv · Ordag</title>" in page
    assert r"ordag learn $'f\\xf6lder/gr\\xf6\\xdfe.csv' --report" in page
    status, out, _ = call("moments", TABLE, "--out", named(b"m\xf6.moments"))
    assert (status, out) == (0, "gr\\xf6\\xdfe.csv: 40 rows · 3 columns\n")
    assert call("learn", named(b"m\xf6.moments"))[0] == 0
    assert call("simulate", "--out", named(b"s\xf6.csv"), "--truth", named(b"t\xf6.json"))[0] == 0
    truth = ["--truth", named(b"t\xf6.json"), "--methods", "cvs"]
    assert call("compare", named(b"s\xf6.csv"), *truth)[0] == 0


@pytest.mark.slow
def test_the_commands_that_take_a_graph_or_a_saved_fit(call, tmp_path):
    graph, fit, ends = named(b"m\xf6.dagitty"), named(b"a\xf6.ordag"), ["--from", "a", "--to", "b"]
    (tmp_path / graph).write_text("dag { a -> b }")
    assert call("learn", TABLE, "--out", fit)[0] == 0
    for words in (
        ["test", graph, TABLE],
        ["adjust", graph, TABLE, *ends, "--plot", named(b"p\xf6.svg")],
        ["adjust", fit, *ends],
        ["changes", TABLE, named(b"p\xf6.parquet"), "--graph", graph],
        ["explain", TABLE, "--fit", fit],
        ["intervene", fit, "--set", "a=1"],
    ):
        status, out, err = call(*words)
        assert status == 0
        assert "\\udcf6" not in out + err


@pytest.mark.parametrize(
    "words",
    [
        ["learn", named(b"n\xf6.csv")],
        ["learn", named(b"n\xf6/n\xf6.csv")],
        ["test", named(b"n\xf6.dagitty"), TABLE],
        ["explain", TABLE, "--fit", named(b"n\xf6.ordag")],
        ["compare", TABLE, "--truth", named(b"n\xf6.dot")],
        ["learn", TABLE, "--out", TABLE],
        ["learn", TABLE, "--out", named(b"g\xf6.xyz")],
        ["learn", TABLE, "--knowledge", named(b"k\xf6.txt")],
    ],
)
def test_what_is_wrong_is_one_sentence(call, words):
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    assert "\\xf6" in err
    assert "\\\\" not in err
    assert "udc" not in err


@pytest.mark.parametrize("words", [["learn", TABLE, "--columns", os.fsdecode(b"\xf6")], [os.fsdecode(b"\xf6")]])
def test_nor_is_a_name_that_is_not_utf_8_a_fault(call, words):
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1


def test_the_workbench_gets_text_that_json_holds(call, tmp_path, monkeypatch):
    from ordag.workbench.tables import Tables

    tables = Tables(2**28)
    tables.start_with(TABLE, title_of(TABLE), {})
    assert tables.first_unread is None
    assert title_of([TABLE, TABLE]).encode() == b"gr\\xf6\\xdfe.csv and 1 more file"


def test_bytes_are_spelled_alike_everywhere():
    assert spelled(TABLE) == harmless(TABLE) == "f\\xf6lder/gr\\xf6\\xdfe.csv"
    assert spelled("größe.csv") == "größe.csv"
    assert shell_word(TABLE) == r"$'f\xf6lder/gr\xf6\xdfe.csv'"
