"""Columns held fixed: the moments are those of what a regression on them leaves, however the rows come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.covariates import residuals

from ordag import Moments
from ordag.data.covariates import Covariate, Root, merged
from ordag.data.holding import Adjustment, RootAccumulator
from ordag.data.table import Table
from ordag.errors import ColumnError, ConstantColumnError, DataError, SettingError, TooFewRowsError

WORDS = list("abcdefgh")


def code(values, levels):
    """Number the values by a list of levels, which grows."""
    for value in values:
        if value not in levels:
            levels.append(value)
    return np.array([levels.index(value) for value in values], float)


def gather(X, covariates, cuts=()):
    """The root of rows that come in blocks, categories as numbers of levels."""
    known = [Covariate(f"z{k}", [] if isinstance(values[0], str) else None) for k, values in enumerate(covariates)]
    total = RootAccumulator(X.shape[1], known)
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        columns = [
            np.asarray(values)[rows] if one.levels is None else code([values[i] for i in rows], one.levels)
            for one, values in zip(known, covariates, strict=True)
        ]
        total.add(np.column_stack([X[rows], *columns]))
    return total.finish()


def same_as_regression(root, X, covariates):
    expected, rank = residuals(X, covariates)
    found = Adjustment.of(root)
    assert found.rank == rank
    scatter = expected.T @ expected
    scale = np.sqrt(np.outer(scatter.diagonal(), scatter.diagonal())) + 1e-12
    assert np.abs((found.R.T @ found.R - scatter) / scale).max() < 1e-8


@st.composite
def questions(draw):
    n = draw(st.integers(30, 60))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    covariates = []
    for kind in draw(
        st.lists(st.sampled_from(["number", "category", "rare", "copy", "constant", "nested"]), min_size=1, max_size=4)
    ):
        before = [values for values in covariates if isinstance(values[0], str)]
        if kind == "number":
            covariates.append((random.standard_normal(n) * 10.0 ** random.integers(-3, 6) + 1e3).tolist())
        elif kind == "category":
            covariates.append(random.choice(WORDS[: random.integers(2, 9)], n).tolist())
        elif kind == "rare":
            covariates.append(["once" if i == n // 2 else WORDS[i % 2] for i in range(n)])
        elif kind == "copy" and covariates:
            covariates.append(list(covariates[-1]))
        elif kind == "constant":
            covariates.append(["same"] * n)
        elif kind == "nested" and before:
            covariates.append([f"{value}{i % 2}" for i, value in enumerate(before[-1])])
        else:
            covariates.append([0.1] * n)
    p = draw(st.integers(1, 5))
    groups = np.array([hash_of(values[i]) for values in covariates for i in range(n)]).reshape(len(covariates), n).T
    X = random.standard_normal((n, p)) @ random.standard_normal((p, p)) + groups @ random.standard_normal(
        (len(covariates), p)
    )
    return X + 50.0, covariates, random


def hash_of(value):
    return float(sum(map(ord, value))) if isinstance(value, str) else 0.0


@given(questions(), st.data())
def test_the_root_is_that_of_residuals_in_whatever_blocks(question, data):
    X, covariates, _ = question
    cuts = data.draw(st.lists(st.integers(0, len(X)), max_size=4))
    same_as_regression(gather(X, covariates, cuts), X, covariates)


@given(questions(), st.data())
def test_parts_merge_in_any_order_with_levels_matched_by_name(question, data):
    X, covariates, _ = question
    rows = np.split(np.arange(len(X)), sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=4))))
    parts = [gather(X[part], [[values[i] for i in part] for values in covariates]) for part in rows if len(part)]
    parts = [parts[i] for i in data.draw(st.permutations(range(len(parts))))]
    while len(parts) > 1:
        i = data.draw(st.integers(0, len(parts) - 2))
        parts[i : i + 2] = [merged(parts[i : i + 2])]
    same_as_regression(parts[0], X, covariates)
    levels = {one.name: set(one.levels) for one in parts[0].covariates if one.levels is not None}
    assert levels == {f"z{k}": set(values) for k, values in enumerate(covariates) if isinstance(values[0], str)}


def test_many_rows_sorted_by_group_and_rows_that_hardly_differ_within_groups():
    random = np.random.default_rng(1)
    groups = np.sort(random.integers(0, 40, 6000))
    hidden = random.standard_normal((6000, 1))
    X = np.concatenate(
        [hidden, hidden + 1e-5 * random.standard_normal((6000, 1)), random.standard_normal((6000, 1))], axis=1
    )
    X += 1e4 * groups[:, None]
    covariates = [[f"g{k}" for k in groups]]
    root = gather(X, covariates, range(100, 6000, 100))
    same_as_regression(root, X, covariates)
    expected = residuals(X, covariates)[0]
    after = np.linalg.qr(expected, mode="r")[1, 1]
    assert abs(Adjustment.of(root).R[1, 1]) == pytest.approx(
        abs(after), rel=1e-5
    )  # 10⁻⁵ of 10⁵: what float64 has of it


@pytest.mark.parametrize("unit", [1e-170, 1e170])
def test_the_unit_of_a_covariate_changes_nothing(unit):
    random = np.random.default_rng(3)
    X, age = random.standard_normal((30, 2)), random.standard_normal(30)
    expected, found = (Adjustment.of(gather(X, [(age * factor).tolist()])) for factor in (1.0, unit))
    assert found.rank == expected.rank == 1
    np.testing.assert_allclose(found.B * unit, expected.B, rtol=1e-12)
    np.testing.assert_allclose(found.R.T @ found.R, expected.R.T @ expected.R, rtol=1e-12)


def test_rows_with_the_covariates_at_their_means():
    random = np.random.default_rng(2)
    X, groups, age = (
        random.standard_normal((50, 2)),
        [WORDS[k] for k in random.integers(0, 3, 50)],
        random.standard_normal(50),
    )
    root = gather(X, [groups, age.tolist()])
    found = Adjustment.of(root)
    levels = []  # in another order than the root has them
    block = np.column_stack([X[::-1], code(groups[::-1], levels), age[::-1]])
    left = found.residuals(block, [Covariate("z0", levels), Covariate("z1")])
    np.testing.assert_allclose(left[::-1] - X.mean(axis=0), residuals(X, [groups, age.tolist()])[0], atol=1e-12)
    unknown = found.residuals(np.array([[0.0, 0.0, 3.0, 0.0]]), [Covariate("z0", [*levels, "new"]), Covariate("z1")])
    assert np.isnan(unknown).all()


def test_levels_without_rows_are_none():
    total = RootAccumulator(1, [Covariate("g", ["a", "b", "c", "d"])])
    total.add(np.array([[1.0, 1.0], [2.0, 3.0], [4.0, 3.0]]))
    assert total.finish().covariates == (Covariate("g", ("b", "d")),)


def test_parts_with_other_covariates_are_refused():
    one = Root(3, np.zeros(2), np.eye(2), (Covariate("age"),))
    with pytest.raises(ColumnError, match="held fixed in one part only"):
        merged([one, Root(3, np.zeros(2), np.eye(2), (Covariate("year"),))])
    with pytest.raises(ColumnError, match="category in one part and a number in another"):
        merged([one, Root(3, np.zeros(1), np.eye(1), (Covariate("age", ("old",)),))])


@pytest.fixture
def data():
    random = np.random.default_rng(3)
    age, year = random.standard_normal(90), random.standard_normal(90)
    X = random.standard_normal((90, 3)) @ random.standard_normal((3, 3)) + np.outer(age, [3.0, 1.0, 0.0]) + 7.0
    return {"x": X[:, 0], "age": age, "y": X[:, 1], "year": year, "z": X[:, 2]}


def test_a_table_has_the_moments_and_the_rows_of_residuals(data):
    table = Table(data, adjust=["age", "year"])
    assert table.names == ("x", "y", "z")
    expected, rank = residuals(np.column_stack([data[name] for name in "xyz"]), [data["age"], data["year"]])
    moments = table.moments
    assert (moments.n, moments.rows, rank) == (88, 90, 2)
    np.testing.assert_allclose(moments.R.T @ moments.R, expected.T @ expected, rtol=1e-10)
    np.testing.assert_allclose(table.rows.values, expected + moments.mean, atol=1e-12)
    np.testing.assert_allclose(table.profile.rows, table.rows.values, atol=1e-12)
    assert [one.name for one in moments.adjusted_for] == ["age", "year"]


def test_moments_alone_can_hold_numbers_fixed(data):
    whole = Moments.from_rows(data)
    for given_ in (
        whole,
        Moments.scan(data, adjust=["age"]),
        [
            Moments.scan({k: v[:40] for k, v in data.items()}, adjust=["age"]),
            Moments.scan({k: v[40:] for k, v in data.items()}, adjust=["age"]),
        ],
    ):
        found = Table(given_, adjust=["age", "year"]).moments
        expected = Table(data, adjust=["age", "year"]).moments
        np.testing.assert_allclose(found.R, expected.R, rtol=1e-9, atol=1e-12)
        assert (found.n, found.rows, found.names) == (88, 90, expected.names)


def test_units_and_columns_change_beside_covariates(data):
    changes = {"x": 10.0, "y": "standardise"}
    scaled = data | {"x": 10.0 * data["x"], "y": data["y"] / np.std(data["y"], ddof=1)}
    table = Table(data, adjust=["age"])
    _ = table.moments
    for found in (
        Table(data, adjust=["age"], columns=["z", "y", "x"], transform=changes),
        table.transformed(changes, ["z", "y", "x"]),
        Table(Moments.from_rows(data), adjust=["age"], columns=["z", "y", "x"], transform=changes),
        Table(Moments.from_rows(data), adjust=["age"]).transformed(changes, ["z", "y", "x"]),
    ):
        expected = Table(scaled, adjust=["age"], columns=["z", "y", "x"])
        np.testing.assert_allclose(found.moments.R, expected.moments.R, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.moments.mean, expected.moments.mean, rtol=1e-9)
        if found.source is not None:
            np.testing.assert_allclose(found.rows.values, expected.rows.values, rtol=1e-9, atol=1e-12)
    logs = {name: np.exp(values) for name, values in data.items()}
    table = Table(logs, adjust=["age"])
    _ = table.moments
    expected = Table(data | {"age": logs["age"]}, adjust=["age"], columns=["x", "y"]).moments
    np.testing.assert_allclose(
        table.transformed({"x": "log", "y": "log"}, ["x", "y"]).moments.R, expected.R, rtol=1e-9, atol=1e-12
    )


def test_files_of_moments_keep_covariates(tmp_path, data):
    half = {name: values[:45] for name, values in data.items()}, {name: values[45:] for name, values in data.items()}
    paths = [tmp_path / f"{k}.moments" for k in range(2)]
    for path, part in zip(paths, half, strict=True):
        Moments.scan(part, adjust=["age"]).save(path)
    found = Table(paths).moments
    np.testing.assert_allclose(found.R, Table(data, adjust=["age"]).moments.R, rtol=1e-9, atol=1e-12)
    found.save(tmp_path / "adjusted.moments")
    again = Moments.load(tmp_path / "adjusted.moments")
    assert (again.n, again.rows, again.adjusted_for, again.covariates) == (89, 90, (Covariate("age"),), ())
    with pytest.raises(DataError, match="age has been taken out of one part already"):
        Moments.load(tmp_path / "adjusted.moments").merge(Moments.from_rows(data).select(["x", "y", "year", "z"]))


@pytest.mark.parametrize(
    ("error", "sentence", "more"),
    [
        (ColumnError, "no column 'agee' .adjust.*Did you mean", {"adjust": ["agee"]}),
        (
            SettingError,
            "columns and adjust both name 'age'",
            {"adjust": ["age"], "columns": ["x", "age"]},
        ),
        (SettingError, "adjust='age' is a single text", {"adjust": "age"}),
        (ConstantColumnError, "y never changes with age held fixed", {"adjust": ["age"], "columns": ["x", "y", "z"]}),
        (TooFewRowsError, "takes 3 rows of 4", {"adjust": ["age", "x", "z"]}),
    ],
)
def test_what_cannot_be_held_fixed(data, error, sentence, more):
    if error is ConstantColumnError:
        data = data | {"y": 2.0 * data["age"] + 1.0}
    if error is TooFewRowsError:
        data = {name: values[:4] for name, values in data.items()}
    with pytest.raises(error, match=sentence):
        _ = Table(data, **more).needing(lambda p: 2).moments


def test_a_category_with_too_many_levels_is_refused():
    total = RootAccumulator(1, [Covariate("name", [])])
    total.add(np.column_stack([np.arange(10.0), np.arange(10.0)]))
    with pytest.raises(ColumnError, match="name has more than 2,000 different values"):
        total.add(np.array([[1.0, 2000.0]]))
