"""`ordag.explore`: the workbench from Python."""

from __future__ import annotations

import pandas as pd
import pytest

import ordag
from ordag.errors import SettingError


@pytest.fixture
def served(monkeypatch):
    """What is served, instead of serving it."""
    found = []

    def serve(tables, *, host, port, ready):
        found.append((tables, host, port))
        ready("http://127.0.0.1:1/token/")

    monkeypatch.setattr("ordag.workbench.serve.serve", serve)
    return found


def test_a_file_and_a_frame_are_opened_and_the_address_is_printed(served, tmp_path, capsys):
    frame = pd.DataFrame({"a": [1.0, 2, 4, 3, 7], "b": [2.0, 1, 5, 4, 4]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    ordag.explore(tmp_path / "t.csv", browser=False)
    ordag.explore(frame, title="mine", browser=False, port=7)
    ordag.explore(browser=False)
    first, second, empty = (tables.first for tables, _, _ in served)
    assert (first.request.name, first.table.names) == ("t.csv", ("a", "b"))
    assert (second.request.name, second.table.names) == ("mine", ("a", "b"))
    assert empty is None
    assert [port for _, _, port in served] == [0, 7, 0]
    assert capsys.readouterr().out.splitlines() == ["http://127.0.0.1:1/token/"] * 3


def test_a_table_that_could_be_read_otherwise_is_said(served, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n2,1,y\n4,5,z\n3,4,u\n5,1,v\n")
    ordag.explore(tmp_path / "t.csv", browser=False, strict=True)
    assert "holds text" in capsys.readouterr().out


def test_without_its_packages_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("ordag.exploring.find_spec", lambda name: None)
    with pytest.raises(SettingError, match="pip install starlette uvicorn"):
        ordag.explore("marks")
