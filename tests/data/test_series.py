"""Rows in time beside a literal version, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from oracles.series import lagged_rows

from ordag import errors
from ordag.data.moments import Moments
from ordag.data.reading import Reading
from ordag.data.series import Series, _ends, _units
from ordag.data.table import Table
from ordag.data.trends import Trends


def panel(random, sizes, p=2, gaps=0.15):
    """Return {(series, step): values} with some steps left out."""
    rows = {}
    for who, size in enumerate(sizes):
        first = int(random.integers(50))
        for when in range(first, first + size):
            if random.random() > gaps:
                rows["abcdefgh"[who], when] = random.normal(3.0 * who, 1.0 + who, p).tolist()
    return rows


def frame_of(rows, random, step=1.0):
    table = pd.DataFrame(
        [
            {"who": who, "when": when * step, **{f"X{j}": v for j, v in enumerate(values)}}
            for (who, when), values in rows.items()
        ]
    )
    return table.sample(frac=1.0, random_state=int(random.integers(99)))


@pytest.mark.parametrize("seed", range(8))
def test_lagged_rows_are_those_of_the_literal_version(seed):
    random = np.random.default_rng(seed)
    lags, difference = int(random.integers(3)), int(random.integers(3))
    season = [None, 2, 3][seed % 3]
    rows = panel(random, [30, 25, 1, 40])
    expected = lagged_rows(rows, lags, difference, season)
    table = Table(
        frame_of(rows, random, step=0.25),
        time="when",
        cluster="who",
        lags=lags,
        difference=difference or None,
        season=season,
    )
    X = table.source.array
    mine = np.array(sorted(map(tuple, X[:, : 2 * (lags + 1)].tolist())))
    theirs = np.array(sorted(map(tuple, expected.values())))
    assert mine.shape == theirs.shape
    np.testing.assert_allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_moments_are_those_of_regressions_on_the_rows_that_count(seed):
    random = np.random.default_rng(seed)
    rows = panel(random, [40, 30, 35])
    literal = lagged_rows(rows, 1, season=2)
    table = Table(frame_of(rows, random), time="when", cluster="who", lags=1, season=2)
    values = np.array(list(literal.values()))
    own = np.array([who for who, _ in literal])
    for who in set(own):
        values[own == who] -= values[own == who].mean(axis=0)
    moments = table.moments
    np.testing.assert_allclose(moments.R.T @ moments.R, values.T @ values, rtol=1e-9, atol=1e-9)
    # one row for every other cluster, and one for every other place in the season
    assert (moments.rows, moments.n) == (len(values), len(values) - 2 - 1)


def test_names_and_what_columns_are():
    series = Series(("a", "b"), 2)
    assert series.columns == ("a", "b", "a[-1]", "b[-1]", "a[-2]", "b[-2]")
    assert (series.p, series.difference, series.block, series.place(3)) == (2, 0, 1, ("b", 1))
    assert series.earlier.tolist() == [False, False, True, True, True, True]
    B = np.arange(36.0).reshape(6, 6)
    assert series.blocks_of(B)[2, 1, 0] == B[5, 0]


def test_some_variables_of_a_series_keep_what_is_known_of_them():
    whole = Series(
        ("a", "b", "c"), 1, means=np.arange(6.0).reshape(2, 3), trends=Trends((0, 2), (1,), (1, 2), 12, True)
    )
    some = whole.select(["c", "a"])
    assert some.names == ("c", "a")
    assert some.trends == Trends((1, 0), (), (0,), 12, True)
    assert some.means.tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert whole.select(["a"]).trends == Trends((0,), (), (), None, True)


def test_an_array_is_taken_in_its_order():
    X = np.random.default_rng(0).normal(size=(30, 2))
    table = Table(X, lags=1)
    np.testing.assert_array_equal(table.source.array[:, :4], np.column_stack([X[1:], X[:-1]]))
    assert table.remarks == ("Rows are taken in their order, one step of time apart.",)


def test_a_missing_value_costs_the_rows_that_need_it():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[20, 1] = np.nan
    moments = Table(X, lags=2).moments
    assert (moments.n, moments.dropped) == (55, 3)


def test_large_tables_are_read_in_batches(monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 2))
    whole = Table(X, lags=1).moments
    monkeypatch.setattr("ordag.data.series.IN_MEMORY", 10)
    table = Table(X, lags=1)
    assert table.source.array is None
    np.testing.assert_allclose(np.abs(table.moments.R), np.abs(whole.R), rtol=1e-9, atol=1e-9)
    assert table.profile.labels.unit is not None


@pytest.mark.parametrize("block", [1, 3, 7])
def test_blocks_span_no_two_series_and_are_about_as_long(block):
    number = np.repeat([0, 1, 2], [1, 20, 33])
    units = _units(number, block)
    assert (np.diff(units) >= 0).all()
    for unit in set(units):
        assert len(set(number[units == unit])) == 1
    sizes = np.bincount(units)[1:]
    assert sizes.min() >= (block + 1) // 2
    assert sizes.max() <= 2 * block


def test_files_give_what_frames_give(tmp_path):
    random = np.random.default_rng(3)
    table = frame_of(panel(random, [60, 50]), random)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    known = {"time": "when", "cluster": "who", "lags": 2}
    frame = Table(table, **known).moments
    for name in ("a.csv", "a.parquet"):
        found = Table(tmp_path / name, **known).moments
        np.testing.assert_allclose(found.R.T @ found.R, frame.R.T @ frame.R, rtol=1e-9, atol=1e-12)
        assert found.n == frame.n


def test_all_row_columns_together():
    random = np.random.default_rng(5)
    n = 200
    table = pd.DataFrame(random.normal(size=(n, 3)), columns=list("xyz"))
    table["who"], table["when"] = np.repeat(["a", "b"], n // 2), np.tile(np.arange(n // 2), 2)
    table["act"], table["w"] = np.where(np.arange(n) % 10 < 3, "x", ""), random.uniform(0.5, 2.0, n)
    table["age"] = random.normal(size=n)
    read = Table(
        table, time="when", cluster="who", lags=2, experiment="act", weights="w", adjust=["age"], difference=1, season=4
    )
    moments = read.moments
    assert moments.names == ("x", "y", "z", *(f"{name}[-{lag}]" for lag in (1, 2) for name in "xyz"))
    assert len(moments.conditions) == 2
    assert moments.rows == n - 2 * 3


GOOD = pd.DataFrame(
    {
        "t": np.arange(30.0),
        "g": ["a"] * 30,
        "x": np.random.default_rng(0).normal(size=30),
        "y": np.sin(np.arange(30.0) ** 2),
    }
)


@pytest.mark.parametrize(
    ("change", "settings", "told"),
    [
        (
            {"t": [0.0, *range(29)]},
            {"time": "t", "lags": 1},
            r"Column t has the time 0 twice in one series \(rows 1 and 2; 1 such row\)",
        ),
        ({"t": [0.0, *range(29)]}, {"time": "t", "lags": 1, "cluster": "g"}, "twice within a value of g"),
        (
            {},
            {"time": "t", "lags": 30},
            "lags=30: 31 times in a row without a gap are needed, and the longest stretch has 30",
        ),
        ({"g": [f"g{k}" for k in range(30)]}, {"time": "t", "lags": 1, "cluster": "g"}, "the longest stretch has 1"),
        ({"t": [np.nan, *range(29)]}, {"time": "t", "lags": 1}, "1 row has no value in t"),
        (
            {"t": ["soon"] * 30},
            {"time": "t", "lags": 1},
            "'soon', which is no time: write times as numbers, or as dates",
        ),
        ({"x[-1]": GOOD["y"] ** 3}, {"time": "t", "lags": 1}, "has the name of an earlier value of another column"),
        ({}, {"time": "t", "season": 40}, "no row stands at 10 places of the season"),
        ({}, {"time": "t", "lags": 1, "missing": "em"}, "missing='em' does not go with time"),
        ({}, {"lags": 1, "clusters": "between", "cluster": "g"}, "compares cluster means, which have no time"),
        ({}, {"time": "nowhere", "lags": 1}, "nowhere"),
    ],
)
def test_one_sentence_for_what_cannot_be(change, settings, told):
    with pytest.raises(errors.OrdagError, match=told):
        _ = Table(GOOD.assign(**change), **settings).moments


def test_parts_and_moments_are_refused():
    with pytest.raises(errors.SettingError, match="the parts of a series follow one another"):
        Moments.scan(GOOD, time="t", lags=1)
    with pytest.raises(errors.SettingError, match="time: a table of moments has no rows in time"):
        Table(Moments.from_rows(GOOD[["x", "y"]]), time="t")
    with pytest.raises(errors.SettingError, match="lags: a table of moments has no rows in time"):
        Table(Moments.from_rows(GOOD[["x", "y"]]), lags=1)


def test_constant_series_are_named():
    with pytest.raises(errors.ConstantColumnError, match="x"):
        _ = Table(
            GOOD.assign(x=np.arange(30.0), z=GOOD["y"] ** 3), time="t", difference=1, role={"x": "variable"}
        ).moments


@pytest.mark.parametrize("value", [-1, 1.5, "two"])
def test_settings_are_checked(value):
    for name in ("lags", "difference", "season"):
        with pytest.raises(errors.SettingError, match=name):
            Reading(**{name: value})


def test_notes_say_how_times_were_read():
    gaps = GOOD.assign(t=np.r_[np.arange(15.0), np.arange(20.0, 35.0)])
    assert (
        Table(gaps, time="t", lags=1).remarks[-1]
        == "1 gap in time: rows whose earlier times are not there are left out."
    )
    uneven = GOOD.assign(t=np.cumsum(np.random.default_rng(1).uniform(0.1, 1.0, 30)))
    assert "not evenly spaced" in Table(uneven, time="t", lags=1).remarks[-1]


@pytest.mark.parametrize(("count", "kept"), [(10_000, 10_000), (10_001, 0)])
def test_the_ends_of_ten_thousand_series_are_kept(count, kept):
    which, none = np.arange(count), np.zeros(count, np.intp)
    source, series = SimpleNamespace(covariates=()), SimpleNamespace(lags=0, difference=0)
    values = np.zeros((count, 1))
    assert len(_ends(source, series, values, values, which, which, none, none, Reading())) == kept


def test_fewer_columns_keep_their_earlier_values():
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = Table(X, lags=1, season=4)
    _ = table.moments
    few = table.transformed(None, ["X3", "X1[-1]", "X1"])
    own = Table(X[:, [0, 2]], lags=1, season=4)
    assert few.names == ("X1", "X3", "X1[-1]", "X3[-1]")
    assert few.series.p == 2
    np.testing.assert_allclose(few.moments.R.T @ few.moments.R, own.moments.R.T @ own.moments.R, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(few.series.means, own.series.means)
    np.testing.assert_allclose(few.series.ends[0].last, own.series.ends[0].last)
    with pytest.raises(errors.SettingError, match="change the units when the table is opened"):
        table.transformed({"X1": 2.0})
    units = Table(X, lags=1, transform={"X1": 10.0})
    assert units.moments.spread[3] == pytest.approx(10.0 * table.transformed(None).moments.spread[3], rel=0.2)


def test_without_a_complete_row_a_constant_is_set_aside(tmp_path, monkeypatch):
    monkeypatch.setattr("ordag.data.sources.parquet.LOOKED_ROWS", 64)
    X = np.random.default_rng(1).standard_normal((100, 3))
    X[::2, 0] = X[1::2, 1] = np.nan
    pd.DataFrame(X, columns=list("abc")).assign(t=np.arange(100), one=7.0).to_parquet(tmp_path / "t.parquet")
    assert Table(tmp_path / "t.parquet", time="t", lags=1).series.names == ("a", "b", "c")


def test_what_all_rows_show_to_be_a_copy_is_no_variable_of_a_series(tmp_path, monkeypatch):
    monkeypatch.setattr("ordag.data.sources.parquet.LOOKED_ROWS", 64)
    X = np.random.default_rng(1).standard_normal((100, 2))
    for first_other, names in ((100, ("a", "b")), (90, ("a", "b", "c"))):
        c = np.where(np.arange(100) < first_other, X[:, 0], 7.0)
        frame = pd.DataFrame({"t": np.arange(100), "a": X[:, 0], "b": X[:, 1], "c": c})
        frame.to_parquet(tmp_path / "t.parquet")
        table = Table(tmp_path / "t.parquet", time="t", lags=1)
        assert table.series.names == names
        assert [one.role for one in table.columns if one.name == "c"] == ["variable" if "c" in names else "derived"]
