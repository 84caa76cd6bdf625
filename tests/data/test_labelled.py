"""Rows with conditions, clusters and weights: the moments are the literal ones, however the rows come, and parts merge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import labels as oracle
from oracles.covariates import residuals

import ordag
from ordag import Moments
from ordag.data.covariates import Condition, Covariate
from ordag.data.equations import LEFT_OUT, _group, of_conditions, together
from ordag.data.labelled import accumulator
from ordag.data.table import Table
from ordag.errors import ColumnError, DataError, SettingError, TooFewRowsError

NAMES = ["a", "b", "c"]


def rows(seed, n=60, clusters=7, conditions=3, offset=0.0):
    random = np.random.default_rng(seed)
    cluster = [f"s{k}" for k in random.integers(clusters, size=n)]
    condition = [f"c{k}" for k in random.integers(conditions, size=n)]
    X = random.standard_normal((n, 3)) @ np.array([[1, 0.5, 0], [0, 1, -0.8], [0, 0, 1]]) + offset
    X += np.array([[len(one) * int(one[1:]) for one in cluster]]).T * [1.0, 2.0, -1.0]
    return X, cluster, condition, random.uniform(0.2, 3.0, n)


def table(X, **labels):
    return dict(zip(NAMES, X.T, strict=True)) | labels


def same(moments, n, mean, scatter):
    assert moments.n == n
    np.testing.assert_allclose(moments.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moments.R.T @ moments.R, scatter, rtol=1e-8, atol=1e-8 * np.abs(scatter).max())


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 1e5]))
def test_moments_within_clusters_are_about_their_means(seed, weighted, offset):
    X, cluster, _, w = rows(seed, offset=offset)
    given = {"weights": "w"} if weighted else {}
    data = table(X, s=cluster, **({"w": w} if weighted else {}))
    found = Table(data, cluster="s", **given).qr_moments
    same(found, *oracle.within(X, cluster, w if weighted else None))
    assert found.rows == len(X)
    assert len(found.clusters.numbers) == len(set(cluster))


def test_rows_of_an_experiment_that_are_left_out_might_as_well_not_be_there():
    X, _, condition, _ = rows(4)
    kept = np.array(condition) != "c1"
    whole = Table(table(X, e=condition), experiment="e")
    expected = Table(table(X[kept], e=np.array(condition)[kept].tolist()), experiment="e").moments
    for left in (whole.leaving_out(["c1"]).moments, Table(whole.moments).leaving_out(["c1"]).moments):
        same(left, expected.n, expected.mean, expected.R.T @ expected.R)
        assert sorted(one.label for one in left.conditions) == ["c0", "c2"]
    assert whole.leaving_out([]).moments.n == whole.moments.n
    for labels, said in ((["c9"], "there is no condition 'c9'; the"), (["c0", "c1", "c2"], "no rows are left; the")):
        with pytest.raises(SettingError, match=rf"leave_out=.*: {said} conditions are 'c[012]', 'c[012]', 'c[012]'"):
            whole.moments.leaving_out(labels)
    with pytest.raises(SettingError, match="there is no condition 'c1'; name their column first"):
        Moments.from_rows(X).leaving_out(["c1"])
    with pytest.raises(DataError, match="these moments have conditions, so give adjust when they are made"):
        whole.moments.holding(["a"])


@pytest.mark.parametrize(
    ("kind", "label", "groups"),
    [
        ("set", "", [0, LEFT_OUT, 0]),
        ("changed", "b", [4, LEFT_OUT, 4]),
        ("shift", "b", [0, 4, 0]),
    ],
)
def test_rows_share_a_mean_unless_something_else_was_acted_on(kind, label, groups):
    condition = Condition(label, kind, None)
    assert [_group(condition, 3, j, (1,)) for j in range(3)] == groups


@given(st.integers(0, 10**6))
def test_weights_alone_count_for_kishs_number(seed):
    X, _, _, w = rows(seed)
    w[:3] = 0.0
    same(Table(table(X, w=w), weights="w").qr_moments, *oracle.within(X, [0] * len(X), w))


@given(st.integers(0, 10**6), st.booleans())
def test_every_condition_has_moments_of_its_own(seed, clustered):
    X, cluster, condition, _ = rows(seed)
    given = {"cluster": "s"} if clustered else {}
    data = table(X, what=condition, **({"s": cluster} if clustered else {}))
    moments = Table(data, environment="what", **given).qr_moments
    assert sorted(one.label for one in moments.conditions) == sorted(set(condition))
    for one in moments.conditions:
        own = [k for k, label in enumerate(condition) if label == one.label]
        n, mean, scatter = oracle.within(X[own], [cluster[k] for k in own] if clustered else [0] * len(own))
        assert (one.root.n, one.root.used) == (n, len(own))
        np.testing.assert_allclose(one.root.mean, mean)
        np.testing.assert_allclose(one.root.R.T @ one.root.R, scatter, atol=1e-8 * np.abs(scatter).max())


def test_conditions_together_have_the_mean_of_their_rows():
    """Also where one of them has a single row."""
    X, _, _, _ = rows(5, n=12)
    moments = Table(table(X, what=["a"] * 6 + ["b"] + ["c"] * 5), environment="what").qr_moments
    assert [one.root.used for one in moments.conditions] == [6, 1, 5]
    for chosen, own in (([0, 1, 2], slice(None)), ([0, 1], slice(7)), ([1, 2], slice(6, None))):
        found = of_conditions(moments, chosen)
        assert found.rows == len(X[own])
        same(found, *oracle.within(X[own], [0] * len(X[own]), None))
    for pattern, own in (([0, LEFT_OUT, 1], np.delete(X, 6, axis=0)), ([0, 1, 2], X), ([0, 1, 0], X)):
        assert together(moments, pattern).mean == pytest.approx(own.mean(axis=0))


@given(st.integers(0, 10**6))
def test_means_of_clusters_are_rows_of_their_own(seed):
    X, cluster, _, _ = rows(seed)
    table_between = Table(table(X, s=cluster), cluster="s", clusters="between")
    same(table_between.qr_moments, *oracle.between(X, cluster))
    assert len(table_between.rows.values) == len(table_between.profile.rows) == len(set(cluster))


def test_rows_of_weight_0_are_left_out_and_counted(tmp_path):
    X, w = np.random.default_rng(1).standard_normal((60, 3)), np.repeat([0.0, 1.0, 2.0], 20)
    data = pd.DataFrame(table(X, w=w, site=["a", "b", "c"] * 20))
    whole = Table(data, weights="w").qr_moments
    assert (whole.weightless, whole.rows) == (20, 40)
    same(whole, *oracle.within(X[20:], [0] * 40, w[20:]))
    whole.save(tmp_path / "a.moments")
    parts = [Table(data[k : k + 30], weights="w").qr_moments for k in (0, 30)]
    assert Moments.load(tmp_path / "a.moments").weightless == parts[0].merge(parts[1]).weightless == 20
    assert Table(data, weights="w", environment="site").qr_moments.weightless == 20
    data["w"] = 1.0 * (data["site"] != "a")  # nothing is left of one environment
    assert Table(data, weights="w", environment="site").qr_moments.weightless == 20
    fit = ordag.learn(data, "cvs", weights="w", drop=["site"])
    assert "Weighted by w; 20 rows of weight 0 left out." in str(fit)
    data["w"] = 0.0
    with pytest.raises(DataError, match="All rows have the weight 0"):
        ordag.learn(data, weights="w", drop=["site"])


@given(st.integers(0, 10**6), st.sampled_from(["cluster", "weights", "environment", "all"]), st.integers(1, 59))
def test_parts_merge_and_files_keep_them(seed, use, cut):
    X, cluster, condition, w = rows(seed)
    labels = {"cluster": cluster, "weights": w, "environment": condition}
    used = labels if use == "all" else {use: labels[use]}
    given = {name: name for name in used}

    def scanned(part):
        return Moments.scan(table(X[part], **{name: np.asarray(one)[part] for name, one in used.items()}), **given)

    whole = scanned(slice(None))
    parts = [Moments.from_bytes(scanned(part).to_bytes()) for part in (slice(0, cut), slice(cut, None))]
    merged = parts[0].merge(parts[1])
    same(merged, whole.n, whole.mean, whole.R.T @ whole.R)
    assert merged.rows == whole.rows
    for one in whole.conditions:
        other = next(some for some in merged.conditions if some.label == one.label).root
        assert (other.n, other.used) == (one.root.n, one.root.used)
        np.testing.assert_allclose(
            other.R.T @ other.R, one.root.R.T @ one.root.R, atol=1e-9 * np.abs(whole.R).max() ** 2
        )
    if whole.clusters is not None:
        same(merged.between(), whole.between().n, whole.between().mean, whole.between().R.T @ whole.between().R)


def test_a_later_condition_brings_new_levels():
    X, _, _, _ = rows(2)
    what, kind = ["a"] * 30 + ["b"] * 30, ["x", "y"] * 15 + ["x", "y", "z"] * 10

    def scanned(part):
        return Moments.scan(table(X[part], e=what[part], k=kind[part]), environment="e", adjust=["k"])

    left, rank = residuals(X, [what, kind])
    for found in (scanned(slice(None)), scanned(slice(30)).merge(scanned(slice(30, None)))):
        assert [one.levels for one in found.covariates] == [("x", "y", "z")]
        assert found.adjusted().n == 60 - rank
        np.testing.assert_allclose(found.adjusted().R.T @ found.adjusted().R, left.T @ left, atol=1e-9 * len(X))


@given(st.integers(0, 10**6))
def test_a_category_is_held_fixed_within_clusters(seed):
    X, cluster, condition, _ = rows(seed)
    moments = Table(table(X, s=cluster, z=condition), cluster="s", adjust=["z"]).qr_moments
    expected, rank = residuals(X, [cluster, condition])
    np.testing.assert_allclose(moments.R.T @ moments.R, expected.T @ expected, rtol=1e-8, atol=1e-6)
    assert moments.n == len(X) - rank


def test_blocks_of_rows_bring_new_levels_and_clusters():
    X, cluster, condition, w = rows(3)
    known = [Covariate("z", []), Covariate("s", [], "cluster"), Covariate("w", None, "weights")]

    def block(part):
        columns = []
        for one, values in zip(known, (condition, cluster, w), strict=True):
            if one.levels is None:
                columns.append(values[part])
                continue
            for value in values[part]:
                if value not in one.levels:
                    one.levels.append(value)
            columns.append(np.array([one.levels.index(value) for value in values[part]], float))
        return np.column_stack([X[part], *columns])

    in_blocks, whole = accumulator(3, known), accumulator(3, known)
    blocks = [block(slice(start, start + 7)) for start in range(0, 60, 7)]
    for one in blocks:
        in_blocks.add(one)
    whole.add(np.concatenate(blocks))
    found, expected = in_blocks.finish(), whole.finish()
    np.testing.assert_allclose(found.R.T @ found.R, expected.R.T @ expected.R, atol=1e-8)
    np.testing.assert_allclose(found.mean, expected.mean)


def test_labels_that_cannot_be_used_are_refused():
    X, cluster, condition, w = rows(1)
    with pytest.raises(DataError, match="has the weight -1: weights are numbers from 0 on"):
        _ = Table(table(X, w=np.where(np.arange(60) == 4, -1.0, w)), weights="w").qr_moments
    with pytest.raises(ColumnError, match="the weights in column 's' are not numbers"):
        Table(table(X, s=cluster), weights="s")
    with pytest.raises(SettingError, match="experiment and environment are both given"):
        Table(table(X, s=cluster, c=condition), experiment="s", environment="c")
    with pytest.raises(SettingError, match="name the column that says which"):
        Table(table(X), clusters="between")
    with pytest.raises(SettingError, match="without environment: leave that out"):
        Table(table(X, s=cluster, c=condition), cluster="s", clusters="between", environment="c")
    with pytest.raises(ColumnError, match="'site'"):
        Table(table(X), cluster="site")
    with pytest.raises(SettingError, match="give that when the moments are made"):
        Table(Moments.from_rows(X), cluster="s")


def test_clusters_that_leave_nothing_to_compare_are_refused():
    X = rows(1)[0]

    def moments(clusters, rows=60):
        return Table(table(X[:rows], s=[f"s{min(k, clusters - 1)}" for k in range(rows)]), cluster="s").qr_moments

    assert moments(40).n == 21  # fewer than half of the rows, and enough
    with pytest.raises(DataError, match="Column 's' has 57 different values in 60 rows, so hardly two rows can be"):
        moments(57)
    with pytest.raises(TooFewRowsError, match="4 rows and 3 variables"):  # more than half, and too few without clusters
        moments(2, 4)


def test_a_damaged_file_of_conditions_is_refused(tmp_path):
    X, cluster, condition, _ = rows(2)
    path = tmp_path / "x.moments"
    Moments.scan(table(X, s=cluster, c=condition), cluster="s", environment="c").save(path)
    whole = path.read_bytes()
    assert len(Moments.load(path).conditions) == 3
    for cut in (40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError):
            Moments.load(path)
    for place in range(16, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(DataError):
            Moments.load(path)
