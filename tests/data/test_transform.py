"""Columns in other units: what is learned is what would be learned from a table that was changed by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from budgets import crossed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordag
from ordag.bootstrapping import bootstrap
from ordag.cli.options import _changes
from ordag.data.given_moments import read_as
from ordag.data.moments import Moments
from ordag.data.reading import Reading, changes_from_text
from ordag.data.table import Table
from ordag.errors import ColumnError, DataError, SettingError, UnreadableError

NAMES = ["a", "b", "c", "d"]
CHANGES = {"b": 100.0, "a": "log", "d": "standardise"}


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(np.exp(ordag.simulate("homogeneous", 4, 300, seed=2).X / 4), columns=NAMES)


def by_hand(frame: pd.DataFrame, changes: dict) -> pd.DataFrame:
    """The oracle: every column by itself, of the rows without missing values."""
    changed = frame.dropna().copy()
    for name, change in changes.items():
        column = changed[name]
        changed[name] = (
            np.log(column) if change == "log" else column / column.std() if change == "standardise" else column * change
        )
    return changed


def assert_same(one: ordag.Fit, other: ordag.Fit) -> None:
    assert (one.names, one.graph, one.order, one.n) == (other.names, other.graph, other.order, other.n)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.moments.mean, other.moments.mean, rtol=1e-9)
    np.testing.assert_allclose(one.moments.covariance(), other.moments.covariance(), rtol=1e-9)
    for which in ("least", "most"):
        np.testing.assert_allclose(getattr(one.profile, which), getattr(other.profile, which), rtol=1e-9)


def written(frame: pd.DataFrame, kind: str, folder) -> object:
    if kind == "array":
        return frame.to_numpy()
    if kind == "dict":
        return {name: frame[name].tolist() for name in frame}
    if kind == "frame":
        return frame
    if kind == "iterator":
        return (frame[start : start + 70] for start in range(0, len(frame), 70))
    if kind == "stream":
        return pa.Table.from_pandas(frame).to_reader(max_chunksize=50)
    path = folder / f"table.{kind}"
    if kind.startswith("csv"):
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=90)
    else:
        frame.to_feather(path)
    return path


KINDS = ("array", "dict", "frame", "csv", "csv.gz", "parquet", "feather")


@pytest.mark.parametrize(("kind", "method"), crossed(KINDS, ["pooled", "cvs"]))
def test_learns_what_the_changed_table_gives(kind, method, frame, tmp_path):
    names = (
        {name: f"X{j + 1}" for j, name in enumerate(NAMES)} if kind == "array" else dict(zip(NAMES, NAMES, strict=True))
    )
    frame = frame.rename(columns=names)
    changes = {names[name]: change for name, change in CHANGES.items()}
    before = frame.copy()
    data = written(frame, kind, tmp_path)
    assert_same(ordag.learn(data, method, transform=changes), ordag.learn(by_hand(frame, changes), method))
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_with_some_columns_and_missing_values(kind, frame, tmp_path):
    frame.iloc[3, 0] = np.nan
    frame.iloc[200, 2] = np.nan
    frame.iloc[3, 3] = -1.0  # in a row that is not used
    data, chosen = written(frame, kind, tmp_path), ["d", "a", "c"]
    changes = {"d": "log", "a": "standardise", "c": -0.01}
    learned = ordag.learn(data, "cvs", columns=chosen, missing="drop", transform=changes)
    assert_same(learned, ordag.learn(by_hand(frame[chosen], changes), "cvs"))
    assert learned.moments.dropped == 2
    with pytest.raises(ordag.errors.MissingValuesError, match="2 rows of 300 have missing values"):
        ordag.learn(data, "cvs", columns=chosen, missing="refuse", transform=changes)


@pytest.mark.parametrize("kind", ["iterator", "stream"])
def test_what_goes_by_once_takes_factors_and_logarithms_but_no_second_pass(kind, frame, tmp_path):
    changes = {"a": "log", "b": 3}
    assert_same(
        ordag.learn(written(frame, kind, tmp_path), "cvs", transform=changes),
        ordag.learn(by_hand(frame, changes), "cvs"),
    )
    with pytest.raises(UnreadableError, match="only once"):
        ordag.learn(written(frame, kind, tmp_path), "cvs", transform={"a": "standardise"})


@pytest.mark.slow
def test_every_call_that_takes_a_table_takes_it(frame, tmp_path):
    path, other = written(frame, "csv", tmp_path), by_hand(frame, CHANGES)
    one, two = (
        ordag.check(path, method="cvs", transform=CHANGES),
        ordag.check(other, method="cvs"),
    )
    assert [finding.level for finding in one.findings] == [finding.level for finding in two.findings]
    one, two = (
        ordag.compare(data, ["cvs", "ges"], **more) for data, more in ((path, {"transform": CHANGES}), (other, {}))
    )
    assert all(one[name].graph == two[name].graph for name in ("cvs", "ges"))
    assert one["ges"].transform == CHANGES
    for kind in ("rows", "poisson", "wishart"):
        one = bootstrap(path, 12, method="cvs", seed=1, kind=kind, workers=1, transform=CHANGES)
        two = bootstrap(other, 12, method="cvs", seed=1, kind=kind, workers=1)
        np.testing.assert_allclose(one.edge_support, two.edge_support, atol=0.1)
        assert one.fit.transform == CHANGES
    scanned = Moments.scan(path, transform=CHANGES)
    np.testing.assert_allclose(scanned.covariance(), other.cov(), rtol=1e-9)
    graph = ordag.Dag.from_edges(NAMES, [("a", "b")])
    np.testing.assert_allclose(
        ordag.refit(path, graph, transform=CHANGES).sem.B, ordag.refit(other, graph).sem.B, rtol=1e-9
    )


@pytest.mark.slow
def test_rows_are_changed_for_learners_that_take_rows(frame):
    one = ordag.learn(frame, "cvs", variance="robust", transform=CHANGES)
    two = ordag.learn(by_hand(frame, CHANGES), "cvs", variance="robust")
    assert_same(one, two)


def test_moments_take_factors_and_standard_deviations(frame, tmp_path):
    moments = Moments.from_rows(frame)
    moments.save(tmp_path / "a.moments")
    changes = {"b": -4.0, "d": "standardise"}
    for data in (moments, tmp_path / "a.moments"):
        learned = ordag.learn(data, "cvs", transform=changes, columns=["d", "b", "a"])
        other = ordag.learn(by_hand(frame, changes)[["d", "b", "a"]], "cvs")
        assert (learned.graph, learned.transform) == (other.graph, changes)
        np.testing.assert_allclose(learned.weights, other.weights, rtol=1e-9, atol=1e-12)
        with pytest.raises(DataError, match="transform takes logarithms of 'a', which needs the rows"):
            ordag.learn(data, "cvs", transform={"a": "log"})


def test_moments_of_which_every_column_is_changed_or_none():
    moments = Moments.from_rows(np.random.default_rng(0).standard_normal((20, 3)), names=("a", "b", "c"))
    factors = {"a": 2.0, "b": -4.0, "c": 0.5}
    changed = read_as(moments, Reading(transform=factors))
    np.testing.assert_allclose(changed.spread, moments.spread * [2.0, 4.0, 0.5])
    assert read_as(moments, Reading(transform=dict.fromkeys("abc", 1.0))) is moments


@pytest.mark.slow
def test_partitions_are_changed_where_they_lie(frame):
    dask = pytest.importorskip("dask.dataframe")
    parts = dask.from_pandas(frame, npartitions=3)
    assert_same(ordag.learn(parts, "cvs", transform=CHANGES), ordag.learn(by_hand(frame, CHANGES), "cvs"))
    frame.iloc[250, 0] = 0.0
    with pytest.raises(DataError, match=r"partition 2 of the Dask data frame: column 'a' holds 0 in data row 51"):
        ordag.learn(dask.from_pandas(frame, npartitions=3), "cvs", transform=CHANGES)


@pytest.mark.parametrize("kind", ["frame", "csv", "moments"])
def test_a_table_that_is_open_is_changed_without_reading_it_again(kind, frame, tmp_path, monkeypatch):
    changes = {"b": -100.0, "d": "standardise"}
    table = Table(Moments.from_rows(frame) if kind == "moments" else written(frame, kind, tmp_path))
    _ = table.moments, table.profile
    if kind == "csv":
        monkeypatch.setattr(type(table.source), "batches", None)
    for columns in (None, ["d", "b", "c"]):
        other = by_hand(frame, changes)[columns or NAMES]
        changed = table.transformed(changes, columns)
        assert (changed.names, changed.transform, changed.n) == (tuple(columns or NAMES), changes, 300)
        np.testing.assert_allclose(changed.moments.covariance(), other.cov(), rtol=1e-9)
        np.testing.assert_allclose(changed.moments.mean, other.mean(), rtol=1e-9)
        if kind != "moments":
            np.testing.assert_allclose(changed.rows.values, other, rtol=1e-9)
            np.testing.assert_allclose(changed.profile.least, other.min(), rtol=1e-9)
            logs = table.transformed({"b": "log"}, columns)
            np.testing.assert_allclose(
                logs.moments.mean, by_hand(frame, {"b": "log"})[columns or NAMES].mean(), rtol=1e-9
            )
    assert (table.names, table.transform) == (tuple(NAMES), {})
    same = table.transformed(None)
    np.testing.assert_array_equal(same.moments.R, table.moments.R)
    with pytest.raises(SettingError, match="'b' have been changed already"):
        table.transformed({"b": 2.0}).transformed({"b": 2.0})


def test_rows_are_read_again_where_others_are_complete_now(frame, tmp_path):
    frame.iloc[5, 0] = np.nan
    for kind in ("frame", "csv"):
        table = Table(written(frame, kind, tmp_path), missing="drop")
        assert table.moments.n == 299
        without = table.transformed({"b": 10.0}, ["b", "c"])
        assert (without.moments.n, without.moments.dropped) == (300, 0)
        np.testing.assert_allclose(without.moments.covariance(), by_hand(frame[["b", "c"]], {"b": 10}).cov(), rtol=1e-9)
        logs = table.transformed({"c": "log"})
        assert (logs.moments.n, logs.moments.dropped) == (299, 1)
        np.testing.assert_allclose(logs.moments.mean, by_hand(frame, {"c": "log"}).mean(), rtol=1e-9)


@pytest.mark.slow
def test_of_a_table_of_more_rows_than_are_kept_logarithms_take_another_pass(tmp_path):
    rows = np.exp(np.random.default_rng(1).standard_normal((50_000, 3)))
    path = written(pd.DataFrame(rows, columns=list("abc")), "parquet", tmp_path)
    table = Table(path)
    assert table.rows.stride > 1
    logs = table.transformed({"a": "log"})
    np.testing.assert_allclose(logs.moments.mean[0], np.log(rows[:, 0]).mean(), rtol=1e-9)
    doubled = table.transformed({"a": 2.0})
    assert doubled.rows.stride == table.rows.stride
    np.testing.assert_allclose(doubled.rows.values[:, 0], 2.0 * table.rows.values[:, 0])


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_a_table_of_one_column_or_of_absurd_units_is_refused_as_ever(kind, frame, tmp_path):
    table = Table(written(frame, kind, tmp_path))
    with pytest.raises(DataError, match="There is only one column"):
        table.transformed(None, ["a"]).moments  # noqa: B018
    with pytest.raises(DataError, match="too large to square"):
        table.transformed({"a": 1e200}).moments  # noqa: B018
    with pytest.raises(DataError, match="their squares vanish"):
        table.transformed({"a": 1e-200}).moments  # noqa: B018


def test_logarithms_of_what_has_none_are_refused_with_the_place(frame, tmp_path):
    frame.iloc[40, 2] = -2.5
    for kind, called in (("frame", "the data frame"), ("csv", "table.csv")):
        with pytest.raises(DataError, match=re.escape(f"{called}: column 'c' holds -2.5 in data row 41, and has no")):
            ordag.learn(written(frame, kind, tmp_path), transform={"c": "log"})
        with pytest.raises(DataError, match=r"column 'c' holds -2\.5 in data row 41"):
            Table(written(frame, kind, tmp_path)).transformed({"c": "log"}).moments  # noqa: B018


def test_a_constant_column_is_refused_as_one(frame):
    frame["c"] = 7.0
    with pytest.raises(ordag.errors.ConstantColumnError, match="Column c never changes"):
        ordag.learn(frame, transform={"c": "standardise"}, strict=True)


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        (5, "transform=5: give a mapping from columns to changes"),
        ({"a": 0}, "transform of column 'a' is 0: give a factor"),
        ({"a": float("inf")}, "transform of column 'a' is inf"),
        ({"a": True}, "transform of column 'a' is True"),
        ({"a": None}, "transform of column 'a' is None"),
        ({"a": "standardize"}, "Did you mean 'standardise'?"),
    ],
)
def test_other_changes_are_refused(transform, said, frame):
    with pytest.raises(SettingError, match=re.escape(said)):
        ordag.learn(frame, transform=transform)


def test_unknown_columns_are_refused_with_a_hint(frame, run):
    frame = frame.rename(columns={"a": "algebra"})
    for data in (frame, Moments.from_rows(frame)):
        with pytest.raises(ColumnError, match=r"transform names 'algbra'.*Did you mean 'algebra'\?"):
            ordag.learn(data, transform={"algbra": 2})
    with pytest.raises(ColumnError, match="no such column in use"):
        ordag.learn(frame, columns=["b", "c"], transform={"algebra": 2})
    assert "--transform names 'algbra'" in run("learn", "marks", "--transform", "algbra=2")[2]


def test_on_the_command_line_the_last_equals_sign_parts_name_and_change(run):
    assert changes_from_text(["a=b=2", "c=log", "d= 1e-3"]) == {"a=b": 2.0, "c": "log", "d": 1e-3}
    assert Reading(transform={"a": 1}).transform == {"a": 1.0}
    for word, said in (
        ("algebra", "write the column, =, and its change"),
        ("=2", "write the column, =, and its change"),
        ("algebra=", "write the column, =, and its change"),
        ("algebra=twice", "--transform of column 'algebra' is 'twice'"),
        ("algebra=0", "--transform of column 'algebra' is 0.0: give a factor"),
        ("algebra=nan", "is nan"),
    ):
        status, _, err = run("learn", "marks", "--transform", word)
        assert (status, said in err) == (2, True), err
    status, _, err = run("learn", "marks", "--transform", "algebra=2", "--transform", "algebra=log")
    assert (status, "has a change already" in err) == (2, True)


def test_shells_are_offered_the_changes_that_have_a_name():
    assert [item.value for item in _changes(None, None, "algebra=")] == ["algebra=log", "algebra=standardise"]
    assert [item.value for item in _changes(None, None, "a=b=s")] == ["a=b=standardise"]
    assert _changes(None, None, "alg") == []


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.floats(1e-3, 1e3) | st.floats(-1e3, -1e-3), min_size=3, max_size=3),
    st.permutations(["x", "y", "z"]),
)
def test_factors_scale_moments_and_rows_alike(factors, columns):
    X = np.random.default_rng(5).standard_normal((40, 3)) + 3.0
    changes = dict(zip("xyz", factors, strict=True))
    table = Table({name: X[:, j] for j, name in enumerate("xyz")})
    changed = table.transformed(changes, columns)
    wanted = np.cov((X * factors)[:, ["xyz".index(name) for name in columns]].T)
    np.testing.assert_allclose(changed.moments.covariance(), wanted, rtol=1e-8, atol=1e-10)
    assert (np.diagonal(changed.moments.R) >= 0).all()
    np.testing.assert_allclose(changed.qr_moments.covariance(), wanted, rtol=1e-8, atol=1e-10)
