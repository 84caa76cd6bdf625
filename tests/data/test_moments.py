"""Moments: one pass, any grouping, all digits."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.tables import tables

from ordag import Moments, simulate
from ordag.data.scatter import Accumulator, _resolved, root_of_rows
from ordag.data.table_checks import check_names, not_positive_definite
from ordag.data.transform import Changes
from ordag.errors import ColumnError, CovarianceError, DataError, MissingValuesError, NonFiniteError, SettingError


def scatter(X):
    Z = X - X.mean(axis=0)
    return Z.T @ Z


@given(tables())
def test_from_rows_is_the_centred_scatter(X):
    before = X.copy()
    moments = Moments.from_rows(X)
    assert moments.n == len(X)
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.R.T @ moments.R, scatter(X), rtol=1e-9, atol=1e-9)
    assert (np.tril(moments.R, -1) == 0).all()
    np.testing.assert_allclose(moments.covariance(), np.cov(X.T), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(X, before)


@given(tables(), st.data())
def test_merging_in_any_order_and_grouping_is_the_whole(X, data):
    whole = Moments.from_rows(X)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=4)))  # some parts have no rows
    parts = [Moments.from_rows(block) for block in np.split(X, cuts)]
    parts = [parts[i] for i in data.draw(st.permutations(range(len(parts))))]
    while len(parts) > 1:
        i = data.draw(st.integers(0, len(parts) - 2))
        parts[i : i + 2] = [parts[i].merge(parts[i + 1])]
    assert parts[0].n == whole.n
    np.testing.assert_allclose(parts[0].mean, whole.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts[0].R, whole.R, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_the_spread_is_the_length_of_each_centred_column(size):
    X = size * np.random.default_rng(3).normal(size=(30, 3)) * [1.0, 2.0, 0.1]
    for moments in (Moments.from_rows(X), Moments.from_covariance(np.cov(X.T), 30)):
        np.testing.assert_allclose(moments.spread, np.sqrt(30) * X.std(axis=0))


def test_streaming_keeps_the_digits_of_ill_conditioned_rows():
    X = simulate("homogeneous", 60, 5000, 1).X
    total = Accumulator(60)
    for block in np.array_split(X, 37):
        total.add(block)
    n, mean, R = total.finish()
    expected = root_of_rows(X)
    assert n == 5000
    np.testing.assert_allclose(mean, expected[1], rtol=1e-10, atol=1e-9 * np.abs(expected[1]).max())
    assert np.abs(R / np.diagonal(expected[2])[:, None] - expected[2] / np.diagonal(expected[2])[:, None]).max() < 1e3
    np.testing.assert_allclose(np.diagonal(R), np.diagonal(expected[2]), rtol=1e-5)


def test_streaming_notices_when_later_rows_do_not_resemble_the_first():
    rng = np.random.default_rng(0)
    first = rng.standard_normal((3000, 4)) * [1, 1e-9, 1, 1]
    later = rng.standard_normal((4000, 1)) * np.ones(4) * 1e6 + rng.standard_normal((4000, 4)) * 1e-3
    X = np.concatenate([first, later])
    total = Accumulator(4)
    for block in np.array_split(X, 13):
        total.add(block)
    _, _, R = total.finish()
    np.testing.assert_allclose(R, root_of_rows(X)[2], rtol=1e-6, atol=1e-9)


def test_streaming_takes_a_column_that_is_constant_at_first():
    X = np.random.default_rng(0).standard_normal((2048, 2))
    X[:1024, 1] = 3.0
    total = Accumulator(2)
    for block in np.array_split(X, 2):
        total.add(block)
    np.testing.assert_allclose(total.finish()[2], root_of_rows(X)[2], rtol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-120, 1e120, 1e-160])
@pytest.mark.parametrize("drift", [0.0, 30.0, 1e3])
def test_streaming_keeps_the_digits_of_well_conditioned_rows(unit, drift):
    """Later rows lie elsewhere than the first, and close together there."""
    random = np.random.default_rng(0)
    X = random.standard_normal((9000, 4)) @ (np.eye(4) + 0.3)
    X[1500:] += drift
    total = Accumulator(4)
    for block in np.array_split(X * unit, 7):
        total.add(block)
    n, mean, R = total.finish()
    assert n == 9000
    np.testing.assert_allclose(mean, X.mean(axis=0) * unit, rtol=1e-12, atol=1e-12 * unit)
    np.testing.assert_allclose(R / unit, root_of_rows(X)[2], rtol=1e-11, atol=1e-9)


def test_a_long_column_far_from_zero_keeps_its_spread():
    x = 1e8 + np.random.default_rng(0).standard_normal((200_000, 2))
    moments = Moments.from_rows(x)
    np.testing.assert_allclose(moments.covariance(), np.cov((x - 1e8).T), rtol=1e-7, atol=1e-7)


def test_scan_reads_files_frames_and_arrays_alike(tmp_path):
    frame = pd.DataFrame(simulate("heterogeneous", 6, 3000, 0).X, columns=list("abcdef"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    whole = Moments.from_rows(frame)
    counted = []
    for data in (tmp_path / "t.csv", str(tmp_path / "t.parquet"), frame, frame.to_numpy()):
        moments = Moments.scan(data, progress=counted.append)
        np.testing.assert_allclose(moments.R, whole.R, rtol=1e-8, atol=1e-8)
    assert counted[-1] == 3000
    some = Moments.scan(tmp_path / "t.csv", columns=["d", "a"])
    assert some.names == ("d", "a")
    np.testing.assert_allclose(some.R, whole.select(["d", "a"]).R, rtol=1e-8)


def test_merge_aligns_columns_by_name_and_refuses_others():
    X = np.random.default_rng(0).standard_normal((50, 3))
    a = Moments.from_rows(X[:20], names=["a", "b", "c"])
    b = Moments.from_rows(X[20:, ::-1], names=["c", "b", "a"])
    np.testing.assert_allclose(a.merge(b).R, Moments.from_rows(X).R, rtol=1e-9, atol=1e-9)
    with pytest.raises(ColumnError, match="d"):
        a.merge(Moments.from_rows(X, names=["a", "b", "d"]))


@pytest.mark.parametrize(("left", "resolved"), [(0.0, False), (8.0 * 2.0**-52, False), (9.0 * 2.0**-52, True)])
def test_a_root_resolves_columns_of_which_more_than_rounding_is_left(left, resolved):
    assert _resolved(np.array([[3.0, 1.0], [0.0, left]])) == resolved
    assert not _resolved(np.diag([1.0, 0.0]))


def test_what_moments_are_not_made_of():
    moments = Moments.from_rows(np.random.default_rng(1).standard_normal((9, 2)), names=["a", "b"])
    with pytest.raises(SettingError, match=r"7 cannot be merged: give Moments\."):
        moments.merge(7)
    assert moments.merge() is moments
    with pytest.raises(ColumnError, match="adjust names c, and there is no such column: the columns are a and b"):
        moments.holding(["c"])
    with pytest.raises(SettingError, match="give either R or scatter"):
        Moments(9, moments.mean, moments.names)


def test_missing_values_are_counted_by_column_or_dropped():
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[[3, 5], 0] = np.nan
    X[5, 2] = np.nan
    with pytest.raises(
        MissingValuesError, match=r"2 rows of 40 have missing values, in X1 \(2 rows\) and X3 \(1 row\)"
    ):
        Moments.from_rows(X, missing="refuse")
    moments = Moments.from_rows(X, missing="drop")
    assert (moments.n, moments.dropped) == (38, 2)
    np.testing.assert_allclose(moments.R, Moments.from_rows(np.delete(X, [3, 5], axis=0)).R, rtol=1e-9, atol=1e-12)
    X[5, 1] = np.inf  # in a row that is not used
    assert Moments.from_rows(X, missing="drop").n == 38
    X[7, 1] = np.inf
    with pytest.raises(NonFiniteError, match=r"X2 \(1 row\)"):
        Moments.from_rows(X, missing="drop")
    with pytest.raises(SettingError, match="drop"):
        Moments.from_rows(X, missing="impute")


def test_from_covariance_checks_what_it_is_given():
    S = np.array([[2.0, 1.0], [1.0, 3.0]])
    moments = Moments.from_covariance(pd.DataFrame(S, columns=["u", "v"]), 11)
    assert moments.names == ("u", "v")
    np.testing.assert_allclose(moments.R.T @ moments.R, 10 * S)
    with pytest.raises(CovarianceError, match=r"not symmetric: 1 at \(X1, X2\) but 2 at \(X2, X1\)"):
        Moments.from_covariance([[2, 1], [2, 3]], 11)
    with pytest.raises(CovarianceError, match=r"not positive definite.*X2"):
        Moments.from_covariance([[1, 1], [1, 1]], 11)
    with pytest.raises(CovarianceError, match="X1"):
        Moments.from_covariance([[-1, 0], [0, 1]], 11)
    with pytest.raises(CovarianceError, match="square"):
        Moments.from_covariance([[1, 2, 3], [4, 5, 6]], 11)
    with pytest.raises(NonFiniteError, match="X2"):
        Moments.from_covariance([[1, np.nan], [np.nan, 1]], 11)
    with pytest.raises(SettingError, match="n=1"):
        Moments.from_covariance(S, 1)
    with pytest.raises(ColumnError, match="3 names"):
        Moments.from_covariance(S, 11, names=["a", "b", "c"])


def test_moments_without_rows_together_have_none():
    frame = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, np.nan]})
    empty = Moments.scan(frame.iloc[:0])
    both = empty.merge(empty)
    assert (both.n, both.dropped) == (0, 0)
    assert both.mean.tolist() == [0.0, 0.0]
    assert not both.R.any()


def test_what_is_no_root_is_made_one_or_refused():
    X = np.random.default_rng(0).standard_normal((40, 3))
    centred = X - X.mean(axis=0)
    square = np.linalg.qr(centred @ np.linalg.qr(np.ones((3, 3)) + np.eye(3))[0])[1] @ np.ones((3, 3))
    moments = Moments(40, X.mean(axis=0), list("abc"), R=square + np.eye(3))
    assert (np.tril(moments.R, -1) == 0.0).all()
    expected = (square + np.eye(3)).T @ (square + np.eye(3))
    np.testing.assert_allclose(moments.R.T @ moments.R, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Moments.from_bytes(moments.to_bytes()).covariance(), expected / 39, rtol=1e-9, atol=1e-9)
    large = np.eye(400, order="F")
    large[399, 0] = 1.0
    for R in (large, np.ascontiguousarray(large)):
        assert not np.tril(Moments(500, np.zeros(400), [f"v{j}" for j in range(400)], R=R).R, -1).any()
    for wrong in (np.nan, np.inf):
        with pytest.raises(NonFiniteError, match="The moments of b are not finite"):
            Moments(40, [0.0, wrong], ["a", "b"], R=np.eye(2))
        with pytest.raises(NonFiniteError, match="The moments of b are not finite"):
            Moments(40, [0.0, 0.0], ["a", "b"], R=[[1.0, wrong], [0.0, 1.0]])
        with pytest.raises(NonFiniteError, match="The moments of a are not finite"):
            Moments(40, [0.0, 0.0], ["a", "b"], scatter=[[wrong, 0.0], [0.0, 1.0]])
    with pytest.raises(ColumnError, match="no columns"):
        Moments(40, [], [], R=np.empty((0, 0)))


@pytest.mark.parametrize("factor", [0.0, np.nan, np.inf])
def test_factors_are_numbers_other_than_zero(factor):
    moments = Moments.from_rows(np.random.default_rng(0).standard_normal((40, 2)))
    with pytest.raises(SettingError, match="The factor of X2 is 0 or not finite"):
        moments.scaled([1.0, factor])


@pytest.mark.slow
@pytest.mark.parametrize("p", [6, 300])
def test_the_first_column_without_variance_is_named(p, monkeypatch):
    """In blocks too, as very many columns are factorised."""
    monkeypatch.setattr("ordag.common.linalg.LAPACK_COLUMNS", 100)
    monkeypatch.setattr("ordag.common.linalg.LARGE_INVERSE_ROWS", 64)
    S = np.eye(p)
    S[-2:, -2:] = 1.0
    with pytest.raises(CovarianceError, match=f"X{p} has no variance left given X1"):
        Moments.from_covariance(S, 401)  # 400 times S, whose root is a whole number


@pytest.mark.parametrize(
    ("k", "given"), [(1, "X1 has no variance left."), (3, "X3 has no variance left given X1 and X2.")]
)
def test_the_columns_before_the_one_without_variance_are_named_where_there_are_some(k, given):
    scatter = np.eye(4)
    scatter[k - 1, k - 1] = -1.0
    assert given in str(not_positive_definite(scatter, ("X1", "X2", "X3", "X4")))


@pytest.mark.thorough
def test_very_many_names_are_no_work():
    """One look at all names for every name would take minutes."""
    names = [f"v{j}" for j in range(200_000)]
    assert check_names(names) == tuple(names)
    with pytest.raises(ColumnError, match="v7 is repeated"):
        check_names([*names, "v7"])
    changes = Changes.of(dict.fromkeys(names[::2], 2.0), names, "the table")
    assert changes.factors.sum() == 300_000.0


def test_no_columns_and_values_too_large():
    with pytest.raises(DataError):
        Moments.from_rows(np.empty((5, 0)))
    with pytest.raises(SettingError, match="columns is empty: name at least one column, or leave columns out"):
        Moments.from_rows(np.eye(5)).select([])
    with np.errstate(over="ignore"):
        assert np.isinf(Moments.from_rows(np.array([[1e200, 1.0], [-1e200, 2.0], [0.0, 3.0]])).variances[0])


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda moments: pickle.loads(pickle.dumps(moments))])
@pytest.mark.parametrize("squared", [False, True])
def test_copies_are_as_frozen_as_the_original(again, squared):
    X = np.random.default_rng(0).standard_normal((40, 3))
    moments = Moments.from_covariance(np.cov(X.T), 40) if squared else Moments.from_rows(X)
    copied = again(moments)
    assert copied.squared == squared
    for one, other in ((copied.mean, moments.mean), (copied.R, moments.R), (copied.scatter, moments.scatter)):
        assert np.array_equal(one, other)
        assert one is None or not one.flags.writeable


def test_what_squares_have_lost_is_remembered():
    X = np.random.default_rng(0).standard_normal((40, 3))
    merged = Moments.from_rows(X).merge(Moments.from_covariance(np.cov(X.T), 40))
    assert merged.squared
    assert merged.select(["X3", "X1"]).squared


def test_moments_are_never_changed():
    moments = Moments.from_rows(np.random.default_rng(0).standard_normal((40, 3)))
    for name in ("n", "mean", "names", "R", "scatter", "squared", "dropped"):
        with pytest.raises(FrozenInstanceError):
            setattr(moments, name, None)


@pytest.mark.parametrize("kind", ["rows", "covariance", "merged"])
def test_a_selection_keeps_all_that_is_known_of_the_rows(kind):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[7, 1] = np.nan
    moments = Moments.from_rows(X, missing="drop")
    if kind != "rows":
        other = Moments.from_covariance(np.cov(X[8:].T), 32, mean=[1.0, 2.0, 3.0])
        moments = other if kind == "covariance" else moments.merge(other)
    chosen = moments.select(["X3", "X1"])
    assert (chosen.n, chosen.dropped, chosen.squared) == (moments.n, moments.dropped, moments.squared)
    assert (chosen.scatter is None) == (moments.scatter is None)
    np.testing.assert_array_equal(chosen.mean, moments.mean[[2, 0]])
    np.testing.assert_allclose(chosen.covariance(), moments.covariance()[np.ix_([2, 0], [2, 0])], rtol=1e-12)
