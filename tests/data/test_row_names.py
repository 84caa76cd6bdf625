"""A first column without a name holds row names, as R and pandas write them: it is set aside, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import ordag
from ordag.data.datasets import load
from ordag.data.table import Table
from ordag.errors import ColumnWarning


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """The marks with row names, and without."""
    frame = pd.read_csv(load("marks").path)
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    frame.rename(index=lambda k: f"student {k}").to_csv(named)
    frame.to_csv(plain, index=False)
    return named, plain


def test_row_names_are_set_aside_and_said(tables: tuple[Path, Path]) -> None:
    with pytest.warns(ColumnWarning, match=r"^Set aside: row names\.$"):
        named = ordag.learn(tables[0], "cvs")
    plain = ordag.learn(tables[1], "cvs")
    assert named.graph == plain.graph
    assert (named.moments.R == plain.moments.R).all()
    assert named.warnings[0].startswith("Set aside: row names.")
    assert named.warnings[1:] == plain.warnings
    with pytest.warns(ColumnWarning):
        assert ordag.compare(tables[0], ["cvs"])["cvs"].warnings == named.warnings
    assert "Set aside" in str(named)


def test_it_is_said_with_other_units_too(tables: tuple[Path, Path]) -> None:
    assert Table(tables[0], transform={"algebra": 10}).remarks == Table(tables[0]).remarks != ()


def test_columns_that_are_named_are_taken_as_they_are(tables: tuple[Path, Path]) -> None:
    assert Table(tables[0], columns=["algebra", "vectors"]).remarks == ()
    assert Table(tables[1]).remarks == ()
