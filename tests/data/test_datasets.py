"""The built-in data sets are what they say they are."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from ordag.data.datasets import DATASETS, load
from ordag.data.sources import open_source
from ordag.errors import SettingError


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_rows_and_columns_are_as_described(name: str) -> None:
    dataset = load(name)
    source = open_source(name)
    table = np.concatenate(list(source.batches(100)))
    assert source.names == dataset.columns
    assert [one.name for one in source.columns if not one.is_variable] == list(dataset.labels)
    assert table.shape == (dataset.rows, len(dataset.columns))
    assert np.isfinite(table).all()
    assert dataset.name == name
    assert all((dataset.title, dataset.source, dataset.terms))


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_the_files_come_with_the_package(name: str) -> None:
    folder = files("ordag.data.datasets")
    assert folder.joinpath(f"{name}.csv").is_file()
    assert f"## {name}.csv" in folder.joinpath("SOURCES.md").read_text(encoding="utf-8")
    assert load(name).path.is_file()


def test_marks_as_printed() -> None:
    table = np.concatenate(list(open_source("marks").batches(100)))
    assert table[0].tolist() == [77, 82, 67, 67, 81]
    assert table.min() >= 0
    assert table.max() <= 100
    assert table.mean(axis=0) == pytest.approx([38.955, 50.591, 50.602, 46.682, 42.307], abs=5e-4)


def test_the_consensus_network_is_acyclic_and_about_the_columns() -> None:
    arrows = load("sachs").consensus
    columns = load("sachs").columns
    assert len(arrows) == len(set(arrows)) == 20
    adjacency = np.zeros((len(columns), len(columns)), dtype=int)
    for cause, effect in arrows:
        adjacency[columns.index(cause), columns.index(effect)] = 1
    assert not np.linalg.matrix_power(adjacency, len(columns)).any()
    assert load("marks").consensus == ()
    assert len(load("sachs_experiments").consensus) == 17


def test_an_unknown_data_set() -> None:
    with pytest.raises(
        SettingError,
        match=r"no data set 'mark': the data sets are marks, sachs, sachs_experiments, birthweights, autompg\. Did you mean 'marks'",
    ):
        load("mark")
