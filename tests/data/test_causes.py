"""Categories as causes: regressions on their columns, F tests, group means, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.causes import f_test, rss

import ordag
from ordag import Moments
from ordag.data.causes import Categories
from ordag.data.table import Table
from ordag.errors import ColumnError, ConstantColumnError, SettingError

WORDS = np.array(list("abcdefgh"))


def table(seed, n, p, levels, scale=1.0):
    """Rows whose means differ between groups, and the groups by category; `scale` spreads the units of the columns."""
    random = np.random.default_rng(seed)
    groups = [WORDS[random.integers(0, count, n)] for count in levels]
    X = random.standard_normal((n, p)) @ random.standard_normal((p, p))
    for values in groups:
        X += random.standard_normal((8, p))[np.searchsorted(WORDS, values)]
    return X * scale ** np.arange(p) + 3.0, groups


def columns(X, groups):
    named = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return named | {f"g{k}": values for k, values in enumerate(groups)}, [f"g{k}" for k in range(len(groups))]


def categories(X, groups, **reading):
    data, names = columns(X, groups)
    return Categories(Table(data, cause=names, **reading).moments.causes)


@given(st.integers(0, 10**6), st.sampled_from([(2,), (3,), (2, 3), (4, 2, 3)]), st.sampled_from([1.0, 1e3, 1e-4]))
def test_sums_of_squares_and_f_tests_are_those_of_regressions_on_indicators(seed, levels, scale):
    X, groups = table(seed, 80, 3, levels, scale)
    found, random = categories(X, groups), np.random.default_rng(seed)
    j = int(random.integers(3))
    parents = [i for i in range(3) if i != j and random.random() < 0.5]
    chosen = [c for c in range(len(levels)) if random.random() < 0.5]
    expected = rss(X, j, parents, [groups[c] for c in chosen])[0]
    assert found.rss(j, parents, chosen) == pytest.approx(expected, rel=1e-8)
    c = int(random.integers(len(levels)))
    others = [groups[k] for k in chosen if k != c]
    test, (statistic, q, df, p_value) = found.test(c, j, parents, chosen), f_test(X, j, parents, groups[c], others)
    assert (test.columns, test.rows) == (q, df)
    assert test.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-8)
    assert test.p_value == pytest.approx(p_value, rel=1e-5, abs=1e-12)


def test_means_and_differences_are_those_of_the_groups():
    X, groups = table(1, 90, 2, (3, 2))
    found = categories(X, groups)
    means = found.means(0, 1)
    for level, share, mean in zip(means.levels, means.shares, means.means, strict=True):
        own = X[groups[0] == level, 1]
        assert (share * 90, mean) == (pytest.approx(len(own)), pytest.approx(own.mean(), rel=1e-10))


def test_a_mean_is_zero_only_where_rounding_hides_it():
    groups, x = np.array(["x", "y"] * 200), np.tile([1.0, 1.0, -1.0, -1.0], 100)
    for level, expected in ((0.0, 0.0), (1e-11, 1e-11)):
        means = categories(
            np.column_stack([x + level * (groups == "x"), np.random.default_rng(1).random(400)]), [groups]
        ).means(0, 0)
        assert means.means[0] == pytest.approx(expected, rel=1e-2, abs=0.0)


def test_moments_of_parts_files_and_columns_keep_the_categories(tmp_path):
    X, groups = table(2, 60, 3, (3, 2))
    data, names = columns(X, groups)
    parts = [Moments.scan({name: values[k::2] for name, values in data.items()}, cause=names) for k in range(2)]
    for k, part in enumerate(parts):
        part.save(tmp_path / f"{k}.moments")
    loaded = Moments.load(tmp_path / "0.moments", tmp_path / "1.moments")
    for whole in (parts[0].merge(parts[1]), loaded):
        found = Categories(whole.adjusted().causes)
        assert found.names == ("g0", "g1")
        assert found.rss(2, [0], [0, 1]) == pytest.approx(categories(X, groups).rss(2, [0], [0, 1]), rel=1e-9)
    some = Table(data, cause=names).moments.select(["x2", "x0"]).scaled([2.0, -1.0])
    assert Categories(some.causes).rss(0, [1], [1]) == pytest.approx(4.0 * rss(X, 2, [0], [groups[1]])[0], rel=1e-9)
    again = Table(loaded, adjust=["g0"]).moments
    assert [one.name for one in again.adjusted_for] == ["g0"]
    assert [one.name for one in again.causes.covariates] == ["g1"]


def test_what_is_held_fixed_is_taken_out_of_the_categories_too():
    X, groups = table(3, 100, 2, (3, 4))
    data, _ = columns(X, groups)
    moments = Table(data, adjust=["g0"], cause=["g1"]).moments
    found = Categories(moments.causes)
    assert moments.n == 98
    assert found.rss(1, [0], [0]) == pytest.approx(rss(X, 1, [0], groups)[0], rel=1e-9)
    test, expected = found.test(0, 1, [0], []), f_test(X, 1, [0], groups[1], [groups[0]])
    assert (test.columns, test.rows, test.p_value) == (expected[1], expected[2], pytest.approx(expected[3], rel=1e-6))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"g0": np.array([f"row {k}" for k in range(60)])}, ColumnError, "60 different values in 60 rows"),
        ({"g0": np.repeat("same", 60)}, ColumnError, "the same value in all rows"),
        ({"g1": np.repeat(list("abc"), 20), "g0": np.repeat(list("uvwxyz"), 10)}, ColumnError, "follows in part from"),
        (
            {"g0": np.repeat(list("abc"), 20), "x1": np.repeat([1.0, 2.0, 5.0], 20)},
            ConstantColumnError,
            "x1 never changes",
        ),
    ],
)
def test_categories_that_cannot_be_causes_are_refused(change, error, words):
    X, groups = table(4, 60, 3, (3, 2))
    data, names = columns(X, groups)
    with pytest.raises(error, match=words):
        _ = Table(data | change, cause=names).moments


def test_settings_that_do_not_go_together():
    X, groups = table(5, 60, 3, (3, 2))
    data, _ = columns(X, groups)
    with pytest.raises(SettingError, match="adjust and cause both name 'g0'"):
        Table(data, cause=["g0"], adjust=["g0"])
    with pytest.raises(SettingError, match="cause does not go with cluster"):
        Table(data, cause=["g0"], cluster="g1")
    with pytest.raises(ColumnError, match=r"no column 'g9' \(cause\)"):
        Table(data, cause=["g9"])
    with pytest.raises(ColumnError, match="cause names g1, and moments hold the categories that were named when"):
        ordag.learn(Table(data, cause=["g0"]).moments, cause=["g1"])


def test_a_number_that_is_named_is_a_category():
    X, groups = table(6, 60, 2, (3,))
    data, _ = columns(X, groups)
    data["g0"] = np.searchsorted(WORDS, groups[0]) + 1
    found = Table(data, cause=["g0"]).moments.causes
    assert sorted(found.covariates[0].levels) == ["1", "2", "3"]
