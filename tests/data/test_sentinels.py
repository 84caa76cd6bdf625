"""Numbers that may stand for missing values are asked about, and read as missing where the user says so, in every kind of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ordag
from ordag.data.reading import Reading
from ordag.data.sentinels import Sentinel, sentinels
from ordag.data.table import Table
from ordag.errors import SettingError

RANDOM = np.random.default_rng(5)
N = 120
AGE = RANDOM.integers(18, 80, N).astype(float)
PLACES = RANDOM.choice(N, 7, replace=False)


def coded(values, code, places=PLACES):
    column = np.array(values, dtype=float)
    column[places] = code
    return column


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (coded(AGE, -99), [-99.0]),
        (coded(AGE, 99), [99.0]),
        (coded(AGE, 999), [999.0]),
        (coded(AGE, -9), [-9.0]),
        (coded(RANDOM.normal(size=N), -999.25), [-999.25]),
        (coded(coded(AGE, 998, PLACES[:3]), 999, PLACES[3:]), [999.0, 998.0]),
        (coded(RANDOM.integers(1, 6, N), 9), []),  # grades
        (coded(RANDOM.integers(1, 4, N), 9), [9.0]),
        (coded(AGE, 99, PLACES[:2]), []),  # two people of 99
        (coded(AGE, 85), []),  # no code
        (coded(RANDOM.normal(0.0, 60.0, N), -99), []),  # within the others
        (coded(RANDOM.normal(0.0, 1.0, N), 99, np.arange(115)), []),  # nearly all
        (np.where(RANDOM.random(N) < 0.5, 0.0, 99.0), []),  # two values
        (np.full(N, np.nan), []),
        (np.empty(0), []),
    ],
)
def test_codes_that_are_frequent_and_far_from_the_rest(values, codes):
    assert [one.value for one in sentinels(values)] == codes


def test_rows_are_counted_in_the_whole_column():
    long = np.tile(coded(AGE, -99), 1000)
    assert sentinels(long) == [Sentinel(-99.0, 7000)]


@pytest.fixture
def frame():
    income = coded(50 * AGE + RANDOM.normal(0, 300, N), -99)
    height = coded(RANDOM.normal(170, 9, N), 999, PLACES[:4])
    counts = np.arange(N) % 23 - 70
    counts[0] = -99
    return pd.DataFrame({"age": AGE, "income": income.round(2), "height": height.round(1), "score": counts})


def test_the_question_names_the_settings_and_what_else_they_do(frame):
    fit = ordag.learn(frame, "cvs")
    assert fit.warnings[0] == (
        "-99 in income (7 rows) and 999 in height (4 rows) are far from the other values: if they stand for missing values, "
        "na=['-99', '999'] reads them so (then also in score); if not, role={'income': 'variable', 'height': 'variable'} says so."
    )
    assert fit.n == N
    assert fit.to_dict()["columns"][1]["sentinels"] == [{"value": -99.0, "rows": 7, "also": ("score",)}]
    known = ordag.learn(frame, "cvs", role={"income": "variable", "height": "variable"})
    assert not known.warnings


def test_a_saved_fit_keeps_the_question(frame, tmp_path):
    fit = ordag.learn(frame, "cvs")
    fit.save(tmp_path / "f.ordag")
    assert ordag.load(tmp_path / "f.ordag").columns == fit.columns


def test_the_command_line_asks_in_options(run, tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    status, out, _ = run("learn", "t.csv", "--method", "cvs")
    words = " ".join(out.split())
    assert status == 0
    assert "--na -99,999 reads them so" in words
    assert "--role income=variable --role height=variable says so." in words
    assert "far from" not in run("learn", "t.csv", "--method", "cvs", "--na", "-99,999")[1]


@pytest.mark.parametrize("kind", ["frame", "arrow", "parquet", "csv", "dict", "decimals"])
def test_numbers_are_read_as_missing_in_every_kind_of_table(kind, frame, tmp_path):
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), path)
    elif kind in ("csv", "decimals"):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False, float_format="%.2f" if kind == "decimals" else None)
    made = {"frame": frame, "arrow": pa.Table.from_pandas(frame), "dict": dict(frame)}
    data = made.get(kind, path)
    found = Table(data, na=["-99", "999"])
    holes = found.moments.holes
    assert holes is not None
    assert dict(holes.columns) == {"age": 0, "income": 7, "height": 4, "score": 1}
    whole = frame.replace({-99.0: np.nan, 999.0: np.nan})
    assert np.allclose(found.moments.R, Table(whole).moments.R, rtol=1e-6, atol=1e-6)
    assert not any("far from" in remark for remark in found.remarks)


def test_codes_go_before_units(frame):
    moments = Table(frame, na=[-99, 999], transform={"income": 2.0, "age": "standardise"}, missing="drop").moments
    whole = frame.replace({-99.0: np.nan, 999.0: np.nan}).dropna()
    expected = [1.0, 2.0 * whole["income"].std()]
    assert np.allclose(moments.spread[:2] / np.sqrt(moments.n - 1), expected)


def test_text_can_be_missing_in_text_files_only(frame):
    with pytest.raises(SettingError, match="only numbers can stand for missing values"):
        Table(frame, na=["-99", "?"])
    with pytest.raises(SettingError, match="has no rows, in which values could be missing"):
        Table(Table(frame).moments, na=["-99"])
    assert Reading(na=["-99", "?", "1e3", " 7"]).absent == (-99.0, 1000.0, 7.0)
