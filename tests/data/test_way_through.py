"""All that stands in the way of a table is said at once, with the settings that lead through it."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.cli.help import complete_command
from ordag.data.sources import Upload
from ordag.data.table import Table
from ordag.data.way_through import together, way_shown
from ordag.errors import ColumnError, DataError

ROWS = np.random.default_rng(0).normal(size=(30, 2)).round(3)
TEXT = "\n".join(
    [
        "a;b;same;endless;word",
        *(
            f"{str(x).replace('.', ',')};{'?' if k == 4 else y};7;{'inf' if k == 8 else k % 5};x{k % 3}"
            for k, (x, y) in enumerate(ROWS)
        ),
    ]
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(TEXT.replace(".", ","))
    return file


def refused(data, **reading):
    with pytest.raises(DataError) as found:
        ordag.learn(data, "cvs", **reading)
    return found.value


def test_one_message_names_every_fault_and_a_way_that_works(path):
    error = refused(path)
    assert isinstance(error, ColumnError)
    assert str(error).startswith("t.csv: column 'b' holds '?' in data row 5: only numbers can be used.")
    assert str(error).endswith(
        "Besides: Infinite values in endless (1 row): remove those rows or columns, or correct the values. "
        "All of it at once: na=['?'], drop=['endless']."
    )
    assert error.remedies[0] == ("take '?' for missing; go on without endless", error.way)
    assert Table(path, **error.way).names == ("a", "b")


def test_what_was_asked_for_stays(path):
    error = refused(path, columns=["a", "b", "same", "endless"], na=["nothing"])
    assert error.way == {"columns": ["a", "b"], "na": ["nothing", "?"]}
    assert "Column same never changes" in str(error)
    assert Table(path, **error.way).names == ("a", "b")


@pytest.mark.parametrize("call", [ordag.check, ordag.bootstrap, ordag.compare, lambda one: ordag.effect(one, "a", "b")])
def test_every_call_on_a_table_says_it(path, call):
    with pytest.raises(DataError, match="All of it at once"):
        call(path)


def test_the_command_goes_on_when_pasted(run, path):
    status, _, err = run("learn", "t.csv", "--method", "cvs", "--na", "nothing")
    command = err.splitlines()[-1].strip()
    assert status == 2
    assert command == "ordag learn t.csv --method cvs --na 'nothing,?' --drop endless"
    status, out, _ = run(*shlex.split(command)[1:])
    assert status == 0
    assert "30 rows" in out or "29 rows" in out


def test_a_table_with_one_fault_has_a_command_too(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"{k % 7},{'?' if k == 14 else k * 0.7 % 5}\n" for k in range(30))
    )
    _, _, err = run("learn", "t.csv", "--columns=a,b")
    assert "Besides" not in err
    assert err.splitlines()[-1] == "  ordag learn t.csv --columns=a,b --na '?'"


def test_a_table_from_a_pipe_has_no_command_to_paste():
    assert complete_command(["learn", "-"], {"na": ["?"]}) == ""
    assert complete_command(
        ["learn", "x y.csv", "--role", "a=id", "--strict"], {"role": {"a": "id", "b,c": "time"}}
    ) == ("ordag learn 'x y.csv' --strict --role a=id --role b,c=time")
    assert complete_command(["learn", "t.csv", "--na", "-9"], {"na": ["a,b"], "header": False}) == (
        "ordag learn t.csv --na a,b --na a,b --no-header"
    )


def test_frames_and_uploads_are_read_again_and_streams_are_not():
    frame = pd.DataFrame(
        {"a": ROWS[:, 0], "b": ROWS[:, 1], "c": np.where(np.arange(30) == 3, np.inf, ROWS[::-1, 1]), "d": ROWS[::-1, 0]}
    )
    assert refused(frame).way == {"drop": ["c"]}
    assert refused(Upload("t.csv", TEXT.replace(".", ",").encode())).way == {"na": ["?"], "drop": ["endless"]}
    assert refused(iter([frame])).way is None


def test_settings_add_up():
    given = {"na": ["?"], "drop": ["a"], "role": {"b": "id"}, "adjust": ["c", "d"]}
    more = {"na": ["-"], "drop": ["c"], "role": {"e": "time"}, "missing": "em"}
    assert together(given, more) == {
        "na": ["?", "-"],
        "drop": ["a", "c"],
        "role": {"b": "id", "e": "time"},
        "adjust": ["d"],
        "missing": "em",
    }
    assert given["drop"] == ["a"]
    assert together({"columns": ["a", "b"]}, {"drop": ["b"]}) == {"columns": ["a"]}


def test_an_error_without_a_way_is_as_it_was():
    error = DataError("Nothing can be done.")
    with pytest.raises(DataError, match=r"^Nothing can be done\.$"), way_shown("t.csv", {}):
        raise error
    assert error.way is None
