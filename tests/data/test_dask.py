"""Tables of Dask, whose partitions are worked on one after the other in this process: test_cluster.py has real ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordag
from ordag.data.sources.dask import DaskSource
from ordag.data.table import Table
from ordag.errors import (
    ColumnError,
    ColumnWarning,
    MissingValuesError,
    NonFiniteError,
    SettingError,
    TooFewRowsError,
    UnreadableError,
)

dask = pytest.importorskip("dask")
bag = pytest.importorskip("dask.bag")
arrays = pytest.importorskip("dask.array")
frames = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.system


@pytest.fixture(autouse=True, scope="module")
def in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def made(n=600, names="abcd", seed=0):
    X = np.random.default_rng(seed).standard_normal((n, len(names)))
    for j in range(1, len(names)):
        X[:, j] += 0.8 * X[:, j - 1]
    return pd.DataFrame(X, columns=list(names))


def cut(frame, *ends):
    """A Dask frame of these rows, whose partitions end there."""
    places = [0, *ends, len(frame)]
    pieces = [frame.iloc[a:b] for a, b in pairwise(places)]
    return frames.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0])


def tables(frame, *ends):
    """The same rows as each kind of table of Dask; the last of the bag's partitions has none."""
    places = [0, *ends, len(frame)]
    arrow = [pa.Table.from_pandas(frame.iloc[a:b]) for a, b in pairwise(places)]
    chunks = tuple(b - a for a, b in pairwise(places))
    return {
        "frame": cut(frame, *ends),
        "array": arrays.from_array(frame.to_numpy(), chunks=(chunks, 3)),
        "bag": bag.from_delayed([dask.delayed([one]) for one in arrow] + [dask.delayed([])]),
    }


def test_every_kind_gives_the_answer_of_one_process():
    frame = made()
    for kind, table in tables(frame, 100, 101, 450).items():
        names = ["X1", "X2", "X3", "X4"] if kind == "array" else list(frame)
        here = frame.set_axis(names, axis=1)
        assert isinstance(Table(table).source, DaskSource)
        there, one = ordag.Moments.scan(table), ordag.Moments.scan(here)
        assert (there.n, there.names, there.dropped) == (one.n, one.names, one.dropped)
        np.testing.assert_allclose(there.mean, one.mean, atol=1e-14)
        np.testing.assert_allclose(np.abs(there.R), np.abs(one.R), rtol=1e-11, atol=1e-11)
        fit, alike = ordag.learn(table), ordag.learn(here)
        assert (fit.order, fit.graph.directed) == (alike.order, alike.graph.directed)
        assert fit.verdict.sentence == alike.verdict.sentence
        assert ordag.compare(table, ["cvs", "pc"]).edge_rows == ordag.compare(here, ["cvs", "pc"]).edge_rows


def test_check_finds_what_it_finds_in_one_process():
    frame = made(3000)
    there, one = (ordag.check(data, method="cvs") for data in (cut(frame, 7, 1000), frame))
    assert [(f.key, f.level, f.sentence) for f in there.findings] == [
        (f.key, f.level, f.sentence) for f in one.findings
    ]


@given(st.data())
def test_neither_partitions_nor_gaps_change_moments_or_sample(data):
    n = data.draw(st.integers(6, 90))
    ends = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    gaps = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 6))
    frame = made(n, "abc")
    frame.iloc[sorted(gaps), 1] = np.nan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordag.data.profile.FEWEST_ROWS", 10)
        patch.setattr("ordag.data.profile.MOST_ROWS", 10)
        there = Table(cut(frame, *ends), missing="drop")
        one = Table(iter([frame]), missing="drop")
        assert (
            (there.moments.n, there.moments.dropped)
            == (one.moments.n, one.moments.dropped)
            == (n - len(gaps), len(gaps))
        )
        np.testing.assert_allclose(np.abs(there.moments.R), np.abs(one.moments.R), rtol=1e-9, atol=1e-11)
        assert there.profile.stride == one.profile.stride
        for mine, theirs in zip(there.profile, one.profile, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(there.rows.values, one.rows.values)


def test_ill_conditioned_columns_keep_their_digits():
    frame = made(400)
    frame["d"] = frame["a"] + 1e-9 * frame["d"]
    there, one = ordag.Moments.scan(cut(frame, 150, 160)), ordag.Moments.scan(frame)
    assert abs(there.R[3, 3]) == pytest.approx(abs(one.R[3, 3]), rel=1e-5)


def test_what_comes_back_are_matrices_and_the_sample(monkeypatch):
    came = []

    def counting(tasks, describe, parts):
        found = dask.compute(*tasks)
        came.append(sum(len(part.root[2]) ** 2 if hasattr(part, "root") else part.size for part in found))
        return list(found)

    monkeypatch.setattr("ordag.data.sources.dask.computed", counting)
    monkeypatch.setattr("ordag.data.profile.MOST_ROWS", 200)
    frame = made(20_000)
    ordag.learn(cut(frame, 5000, 10_000), "cvs")
    assert came == [4 * 200, 4 * 4, 4 * 157]  # a look at the first rows; every 128th row


def test_weights_of_rows_are_those_of_one_process(tmp_path):
    frame = made(1500)
    frame.iloc[[3, 700], 0] = np.nan
    frame.to_parquet(tmp_path / "table.parquet")
    same = {"seed": 1, "workers": 1, "missing": "drop", "method": "cvs"}
    there = ordag.bootstrap(cut(frame, 0, 300, 300, 1001), 40, **same)
    one = ordag.bootstrap(tmp_path / "table.parquet", 40, kind="poisson", **same)
    assert there.kind == one.kind == "poisson"
    np.testing.assert_array_equal(there.edge_support, one.edge_support)
    np.testing.assert_allclose(there.weight_intervals.high, one.weight_intervals.high, atol=1e-12)
    with pytest.raises(SettingError, match=r"the Dask data frame lies on a cluster: use kind='poisson'"):
        ordag.bootstrap(cut(frame, 300), 40, kind="rows", **same)
    assert ordag.bootstrap(cut(frame, 300), 40, kind="wishart", **same).kind == "wishart"


def test_columns_are_chosen_by_name():
    frame = made().assign(word="x")
    chosen = ["c", "a"]
    for table in (cut(frame, 100), tables(frame.drop(columns="word"), 100)["bag"]):
        assert ordag.Moments.scan(table, columns=chosen).names == ("c", "a")
    with pytest.raises(ColumnError, match="the Dask data frame: column 'word' holds text"):
        ordag.learn(cut(frame, 100), strict=True)
    with pytest.warns(
        ColumnWarning,
        match=r"Set aside: word \(1 value or more; adjust=\['word'\] holds it fixed, cause=",
    ):
        assert ordag.learn(cut(frame, 100)).names == ("a", "b", "c", "d")
    with pytest.raises(ColumnError, match="'e'"):
        ordag.learn(cut(frame, 100), columns=["a", "e"])


def test_missing_and_infinite_values_are_named_with_their_partition():
    frame = made()
    frame.iloc[449, 1] = np.nan  # the last row of partition 2
    table = cut(frame, 100, 100, 450)
    with pytest.raises(
        MissingValuesError, match=r"1 row of 600 has missing values, in b \(1 row\), in partition 2 \(the first is 0\)"
    ):
        ordag.learn(table, missing="refuse")
    assert ordag.learn(table, missing="drop").moments.n == 599
    frame.iloc[[0, 599], 0] = np.inf
    with pytest.raises(NonFiniteError, match=r"in a \(2 rows\), in partitions 0, 2 and 3 "):
        ordag.learn(cut(frame, 100, 100, 450), missing="drop")


def test_a_partition_with_other_columns_is_named():
    frame = made()
    pieces = [frame[:200], frame[200:400].rename(columns={"b": "e"}), frame[400:]]
    parts = [dask.delayed([pa.Table.from_pandas(piece)]) for piece in pieces]
    other = bag.from_delayed(parts)
    with pytest.raises(
        ColumnError, match="partition 1 of the Dask bag lacks 'b' and has 'e', which the others have not"
    ):
        ordag.learn(other)
    with pytest.raises(ColumnError, match="partition 1 of the Dask bag lacks 'b'"):
        ordag.learn(other, columns=["a", "b"])
    assert ordag.Moments.scan(other, columns=["a", "c"]).n == 600
    unlike = frames.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0], verify_meta=False)
    with pytest.raises(ColumnError, match="partition 1 of the Dask data frame lacks 'b' and has 'e'"):
        ordag.learn(unlike)


def test_what_is_no_table_is_refused():
    frame = made()
    with pytest.raises(UnreadableError, match="A Dask Series was given"):
        ordag.learn(cut(frame)["a"])
    with pytest.raises(UnreadableError, match=r"the Dask array has shape \(600,\)"):
        ordag.learn(arrays.from_array(frame["a"].to_numpy()))
    with pytest.raises(ColumnError, match="the Dask array holds complex numbers"):
        ordag.learn(arrays.from_array(frame.to_numpy() * 1j))
    with pytest.raises(UnreadableError, match="the Dask bag holds objects of type int"):
        ordag.learn(bag.from_sequence([1, 2, 3]))
    with pytest.raises(UnreadableError, match="the Dask bag is empty: expected Arrow tables in its 1 partition"):
        ordag.learn(bag.from_delayed([dask.delayed([])]))
    with pytest.raises(TooFewRowsError, match="There are no rows"):
        ordag.learn(cut(frame[:0]))
    with pytest.raises(SettingError, match="separator: a table in memory is not read as text"):
        ordag.learn(cut(frame), separator=";")
    with pytest.raises(SettingError, match="client=3: give a Dask client"):
        ordag.learn(cut(frame), client=3)
    source = Table(cut(frame)).source
    with pytest.raises(UnreadableError, match="needs its rows one after the other"):
        source.batches(10)


def test_a_partition_that_cannot_be_made_is_one_sentence():
    def broken(piece):
        raise OSError("row group 3 is damaged")

    table = cut(made(), 100).map_partitions(broken, meta=made().iloc[:0])
    with pytest.raises(
        ordag.OrdagError, match=r"the Dask data frame: a worker failed with OSError \(row group 3 is damaged\)\.$"
    ):
        ordag.learn(table)


def test_a_partition_without_a_complete_row_does_not_hinder_the_bootstrap():
    frame = made()
    frame.iloc[100:250, 1] = np.nan
    same = {"seed": 1, "workers": 1, "missing": "drop", "method": "cvs", "kind": "poisson"}
    there, one = (ordag.bootstrap(data, 20, **same) for data in (cut(frame, 100, 250, 400), frame))
    np.testing.assert_array_equal(there.edge_support, one.edge_support)


def test_a_later_object_of_a_bag_that_is_no_table_is_named():
    table = pa.Table.from_pandas(made(50))
    with pytest.raises(
        UnreadableError, match="partition 1 of the Dask bag holds an object of type int: expected an Arrow"
    ):
        ordag.Moments.scan(bag.from_delayed([dask.delayed([table]), dask.delayed([table, 3])]))
    text = table.set_column(0, table.column_names[0], pa.array(["x"] * len(table)))
    with pytest.raises(ColumnError, match="partition 1 of the Dask bag, part 2: "):
        ordag.Moments.scan(bag.from_delayed([dask.delayed([table]), dask.delayed([table, text])]))
