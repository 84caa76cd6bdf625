"""A first column without a name holds row names, as R and pandas write them: it is set aside, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import ordag
from ordag.data.datasets import load
from ordag.data.table import Table


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """The marks with row names, and without."""
    frame = pd.read_csv(load("marks").path)
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    frame.rename(index=lambda k: f"student {k}").to_csv(named)
    frame.to_csv(plain, index=False)
    return named, plain


def test_row_names_are_set_aside_and_said(tables: tuple[Path, Path]) -> None:
    named, plain = (ordag.learn(path, "cvs") for path in tables)
    assert named.graph == plain.graph
    assert (named.moments.R == plain.moments.R).all()
    assert named.warnings[0].startswith("Set aside: the first column, which has no name: it holds row names.")
    assert named.warnings[1:] == plain.warnings
    assert ordag.compare(tables[0], ["cvs"])["cvs"].warnings == named.warnings
    assert "Set aside" in str(named)


def test_it_is_said_with_other_units_too(tables: tuple[Path, Path]) -> None:
    assert Table(tables[0], transform={"algebra": 10}).remarks == Table(tables[0]).remarks != ()


def test_columns_that_are_named_are_taken_as_they_are(tables: tuple[Path, Path]) -> None:
    assert Table(tables[0], columns=["algebra", "vectors"]).remarks == ()
    assert Table(tables[1]).remarks == ()
