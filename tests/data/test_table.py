"""How often a table's rows are gone through, and what is kept of them on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.data.reading import Reading, split_reading
from ordag.data.sources.arrays import ArraySource
from ordag.data.sources.csv import CsvSource
from ordag.data.sources.parquet import ParquetSource
from ordag.data.table import Table
from ordag.errors import SettingError, TooFewRowsError

KNOWN = {"forbidden": [("d", "a")]}
QUESTIONS = {
    "learn": lambda data: ordag.learn(data),
    **{
        f"{m} knowledge": lambda data, m=m: ordag.learn(data, m, knowledge=KNOWN)
        for m in ("pooled", "cvs", "pc", "ges", "gds")
    },
    **{f"{m} orient": lambda data, m=m: ordag.learn(data, m, orient_by_order="class") for m in ("pc", "ges")},
    "orient with knowledge": lambda data: ordag.learn(data, "pc", orient_by_order="skeleton", knowledge=KNOWN),
    "backward": lambda data: ordag.learn(data, "cvs", direction="backward"),
    "diagnose": lambda data: ordag.diagnose(data, method="cvs", knowledge=KNOWN),
    "bootstrap rows": lambda data: ordag.bootstrap(data, 3, workers=1, seed=0),
    "bootstrap wishart": lambda data: ordag.bootstrap(data, 3, workers=1, seed=0, kind="wishart"),
    "compare": lambda data: ordag.compare(data, ["cvs", "pc"], knowledge=KNOWN),
}


@pytest.fixture
def passes(monkeypatch):
    """The passes over any rows so far."""
    begun = []
    for kind in (CsvSource, ParquetSource, ArraySource):

        def counted(source, rows, batches=kind.batches):
            begun.append(source.describe)
            return batches(source, rows)

        monkeypatch.setattr(kind, "batches", counted)
    return begun


@pytest.fixture
def frame():
    X = np.random.default_rng(0).standard_normal((200, 4))
    for j in range(1, 4):
        X[:, j] += 0.8 * X[:, j - 1]
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_file_is_read_once(question, ending, frame, passes, tmp_path):
    path = tmp_path / f"table.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert Table(path).names == ("a", "b", "c", "d")
    assert not passes
    QUESTIONS[question](path)
    assert len(passes) == 1


def test_weights_for_the_rows_of_a_file_take_a_second_pass(frame, passes, tmp_path):
    """The first gives the root that whitens them."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    ordag.bootstrap(tmp_path / "table.csv", 3, workers=1, seed=0, kind="poisson")
    assert len(passes) == 2


def test_rows_in_memory_are_transformed_once_at_most(frame, passes):
    X = frame.to_numpy(copy=True)
    ordag.learn(X, "cvs")
    assert not passes
    X[:, 3] = X[:, 0] + 1e-8 * X[:, 3]
    table = Table(X)
    assert table.moments is table.qr_moments
    assert len(passes) == 1


def test_as_many_rows_are_kept_as_were_asked_for(frame, tmp_path):
    X = np.arange(200_000.0).reshape(50_000, 4) % 977.0
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "long.parquet")
    for keep, stride in ((0, 4), (120_000, 2), (200_000, 1)):
        table = Table(tmp_path / "long.parquet", keep=keep)
        assert table.rows.stride == stride
        np.testing.assert_array_equal(table.rows.values, X[::stride])
        np.testing.assert_array_equal(table.profile.rows, X[::4])
        assert table.profile.rows.base is None or table.profile.rows.base.size <= X[::4].size
    gaps = frame.mask(frame > 2.0)
    np.testing.assert_array_equal(Table(gaps, missing="drop").rows.values, gaps.dropna().to_numpy())


def test_the_settings_of_reading_are_told_from_the_others():
    given = {"alpha": 0.05, "decimal": ",", "missing": "drop"}
    assert split_reading(given) == ({"missing": "drop", "decimal": ","}, {"alpha": 0.05})
    with pytest.raises(SettingError, match=r"missing='fill' is not known: use 'error' or 'drop'\."):
        Reading(missing="fill")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_rule_that_takes_fewer_rows_reads_them_once(ending, frame, passes, tmp_path):
    path = tmp_path / f"short.{ending}"
    frame[:5].to_csv(path, index=False) if ending == "csv" else frame[:5].to_parquet(path)
    table = Table(path)
    assert table.needing(lambda _: 3).moments.n == 5
    assert len(table.profile.rows) == len(table.rows.values) == 5
    assert len(passes) == 1
    with pytest.raises(TooFewRowsError, match="at least 8 rows"):
        table.needing(lambda p: 2 * p)
