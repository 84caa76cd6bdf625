from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from compiling import as_it_stands
from hypothesis import given
from hypothesis import strategies as st

import ordag
from ordag import Moments
from ordag.data import em, passes
from ordag.data.em import Block, Em, Gaussian, Reweighted, Sums, Totals
from ordag.data.holes import is_nearly_empty, pooled
from ordag.data.missing import PRIOR, made_of
from ordag.data.table import Table
from ordag.errors import (
    CollinearError,
    ColumnWarning,
    ConstantColumnError,
    DataError,
    MissingValuesError,
    NonFiniteError,
    SettingError,
)
from tests.oracles import missing as oracle


def with_holes(seed: int, n: int = 80, p: int = 4, share: float = 0.2) -> np.ndarray:
    """Draw rows with different scales and means and holes at random, with at least one value in each row."""
    random = np.random.default_rng(seed)
    B = np.triu(random.normal(size=(p, p)), 1)
    X = random.normal(size=(n, p)) @ np.linalg.inv(np.eye(p) - B) * random.uniform(0.01, 100.0, p)
    X += random.normal(size=p) * 50.0
    gone = random.random(X.shape) < share
    gone[np.arange(n), random.integers(p, size=n)] = False
    X[gone] = np.nan
    return X


def assert_same(moments: Moments, mean, S, tolerance=1e-5):
    size = np.sqrt(np.diag(S))
    n = moments.rows
    estimated = moments.covariance() * (n - 1.0) / n
    np.testing.assert_allclose(moments.mean / size, mean / size, atol=tolerance, rtol=1e-7)
    np.testing.assert_allclose(estimated / np.outer(size, size), S / np.outer(size, size), atol=tolerance)


@pytest.mark.parametrize(("n", "p", "share"), [(80, 4, 0.2), (150, 5, 0.3), (60, 3, 0.4), (200, 6, 0.1), (50, 2, 0.3)])
def test_moments_are_those_of_literal_em(n, p, share):
    X = with_holes(n, n, p, share)
    assert_same(Moments.from_rows(X), *oracle.em(X))


@pytest.mark.parametrize("seed", range(2))
def test_moments_maximise_the_likelihood_of_what_was_observed(seed):
    X = with_holes(seed, 40, 3, 0.25)
    moments = Moments.from_rows(X)
    assert_same(moments, *oracle.maximise(X), tolerance=2e-5)
    S = moments.covariance() * (moments.rows - 1.0) / moments.rows
    best = oracle.log_likelihood(X, moments.mean, S)
    random = np.random.default_rng(seed)
    for _ in range(8):
        E = 0.02 * random.normal(size=S.shape) * np.sqrt(np.outer(np.diag(S), np.diag(S)))
        assert oracle.log_likelihood(X, moments.mean, S + E + E.T) < best


def test_steps_raise_the_likelihood_that_they_report():
    X = with_holes(5, 100, 5, 0.4)
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    block = Block.of(X, centre, scale)
    totals = Totals(len(X), block.X.sum(axis=0), block.X.T @ block.X, len(block.holes))
    em = Em(totals, lambda K, h: block.add_to(Sums.zero(5), K, h))
    Z, at = (X - centre) / scale, Gaussian(np.full(5, 0.3), np.eye(5) + 0.2)
    reported, true = [], []
    for _ in range(6):
        after, likelihood = em.step(at)
        reported.append(likelihood)
        true.append(oracle.log_likelihood(Z, *at))
        mean, S = oracle.em_step(Z, *at)
        np.testing.assert_allclose(after.mean, mean, atol=1e-10)
        np.testing.assert_allclose(after.S, S, atol=1e-10)
        at = after
    assert (np.diff(reported) > 0.0).all()
    np.testing.assert_allclose(np.diff(reported), np.diff(true), atol=1e-8)


def test_a_prior_is_rows_of_uncorrelated_columns():
    X = with_holes(8, 6, 4, 0.3)
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    block = Block.of(X, centre, scale)
    totals = Totals(len(X), block.X.sum(axis=0), block.X.T @ block.X, len(block.holes))
    at = Gaussian(np.zeros(4), np.eye(4))
    after = Em(totals, lambda K, h: block.add_to(Sums.zero(4), K, h), prior=0.6).step(at)[0]
    mean, S = oracle.em_step((X - centre) / scale, *at, prior=0.6, shape=np.eye(4))
    np.testing.assert_allclose(after.S, S, atol=1e-12)
    np.testing.assert_allclose(after.mean, mean, atol=1e-12)


def test_complete_rows_give_the_moments_of_complete_rows():
    X = ordag.simulate("homogeneous", p=6, n=60, seed=1).X
    for missing in ("auto", "em", "drop", "refuse"):
        moments = Moments.from_rows(X, missing=missing)
        assert (moments.R == Moments.from_rows(X).R).all()
        assert moments.holes is None
        assert (moments.n, moments.rows) == (60, 60)


def test_rows_count_for_the_triples_that_they_hold():
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[:10, 0] = np.nan
    X[10:14, 1:3] = np.nan
    X[14] = np.nan
    moments = Moments.from_rows(X)
    assert moments.n == 25 + int(10 * 1 / 4 + 4 * 0)
    assert (moments.rows, moments.dropped) == (39, 1)


def test_a_few_incomplete_rows_are_left_out_unless_asked_for():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:4, 0] = np.nan
    left = Moments.from_rows(X)
    assert (left.n, left.dropped, left.holes.how) == (196, 4, "drop")
    np.testing.assert_allclose(left.R, Moments.from_rows(X[4:]).R, atol=1e-12)
    assert Moments.from_rows(X, missing="em").holes.how == "em"
    X[4, 0] = np.nan
    assert Moments.from_rows(X).holes.how == "em"
    assert Moments.from_rows(X, missing="drop").n == 195


@given(st.integers(0, 10_000))
def test_the_order_of_columns_and_rows_and_their_units_change_nothing_else(seed):
    random = np.random.default_rng(seed)
    X = with_holes(seed, 40, 4, 0.2)
    names = ["a", "b", "c", "d"]
    one = Moments.from_rows(X, names, missing="em")
    columns, rows, units = random.permutation(4), random.permutation(40), random.uniform(0.1, 10.0, 4)
    before = X.copy()
    other = Moments.from_rows((X * units)[rows][:, columns], [names[j] for j in columns], missing="em")
    again = other.select(names)
    np.testing.assert_array_equal(X, before)
    assert again.n == one.n
    size = np.sqrt(np.diag(one.covariance()))
    np.testing.assert_allclose(
        again.covariance() / np.outer(units, units) / np.outer(size, size),
        one.covariance() / np.outer(size, size),
        atol=1e-4,
    )


@pytest.mark.parametrize("kind", ["parquet", "csv", "stream", "reread"])
def test_every_source_gives_the_same(kind, tmp_path, monkeypatch):
    X = with_holes(3, 3000, 4, 0.1)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    expected = Moments.scan(X)
    if kind == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
        found = Moments.scan(tmp_path / "t.csv")
    elif kind == "stream":
        table = pa.Table.from_pandas(frame)
        found = Moments.scan(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100)))
    else:
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=500)
        if kind == "reread":
            monkeypatch.setattr(passes, "KEPT", 100)
        found = Moments.scan(tmp_path / "t.parquet")
    assert (found.n, found.rows) == (expected.n, expected.rows)
    np.testing.assert_allclose(found.R, expected.R, rtol=1e-4, atol=1e-6 * np.abs(expected.R).max())


def test_a_stream_with_too_many_incomplete_rows_is_refused(monkeypatch):
    monkeypatch.setattr(passes, "KEPT", 100)
    table = pa.Table.from_pandas(pd.DataFrame(with_holes(3, 300, 4, 0.1)).rename(columns=str))
    with pytest.raises(DataError, match="can be read once only: write it to a file"):
        Moments.scan(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))


def test_no_complete_row_is_needed():
    X = with_holes(1, 60, 4, 0.0)
    X[np.arange(60), np.arange(60) % 4] = np.nan
    moments = Moments.from_rows(X)
    S = moments.covariance() * (moments.rows - 1.0) / moments.rows
    assert_same(moments, *oracle.em_step(X, moments.mean, S))
    fit = ordag.learn(X)
    assert fit.graph.edge_count
    with pytest.raises(MissingValuesError, match=r"Every row has missing values.*missing='em'"):
        ordag.learn(X, missing="drop")


def test_columns_never_seen_together_are_named():
    X = np.random.default_rng(2).normal(size=(200, 3))
    X[:100, 0] = np.nan
    X[100:, 1] = np.nan
    fit = ordag.learn({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    assert any("No row has both a and b" in warning for warning in fit.warnings)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda X: X.__setitem__((slice(3, None), 0), np.nan), MissingValuesError, "X1 in 3.*leave X1 out"),
        (
            lambda X: X.__setitem__((slice(None), 0), np.where(np.isnan(X[:, 0]), np.nan, 2.0)),
            ConstantColumnError,
            "X1",
        ),
        (lambda X: X.__setitem__((slice(None), 0), X[:, 1] + X[:, 2]), CollinearError, "follow from each other"),
        (lambda X: X.__setitem__((0, slice(None)), [np.inf, np.nan, 1.0, 1.0]), NonFiniteError, "X1"),
    ],
)
def test_what_cannot_be_estimated_is_said(change, error, words):
    X = with_holes(4, 100, 4, 0.1)
    change(X)
    with pytest.raises(error, match=words):
        ordag.learn(X, strict=True)


def test_complete_rows_may_hide_that_columns_differ():
    X = with_holes(4, 100, 4, 0.1)
    X[:, 3] = 24.0 - X[:, 0]
    X[:8, 3] += 0.05 * np.nanstd(X[:, 0]) * np.arange(8)
    X[:8, 1] = np.nan
    moments = Moments.from_rows(X)
    S = moments.covariance() * (moments.rows - 1.0) / moments.rows
    assert_same(moments, *oracle.em_step(X, moments.mean, S))


def test_more_columns_than_rows_are_drawn_towards_no_correlation():
    X = np.random.default_rng(0).normal(size=(30, 20))
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    moments = Moments.from_rows(X)
    assert np.isfinite(moments.R).all()
    assert "drawn towards" in moments.holes.sentences[1]


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2, 6])
def test_columns_made_up_in_too_few_rows_are_not_taken_for_relations(degree):
    """100 rows of 46 columns, 12 of them with holes: the likelihood grows without end, and no column is left out for that."""
    drawn = ordag.simulate("erdos-renyi", p=46, n=100, degree=degree, seed=2)
    H = drawn.X.copy()
    H[:, :12][np.random.default_rng(3).random((100, 12)) < 0.18] = np.nan
    moments = Moments.from_rows(H)
    assert moments.holes.prior == PRIOR
    assert "drawn towards" in moments.holes.sentences[1]
    with warnings.catch_warnings(action="error"):
        fit = ordag.learn(H, draws=0)
    wrong = ordag.hamming(ordag.learn(drawn.X, draws=0).graph, drawn.dag)
    assert fit.moments.p == 46
    assert ordag.hamming(fit.graph, drawn.dag) < 2 * wrong + 10


def test_a_column_that_others_nearly_make_up_is_set_aside_with_their_names():
    random = np.random.default_rng(2)
    X = random.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + X[:, 1] + 1e-6 * random.standard_normal(60)
    X[random.random(X.shape) < 0.1] = np.nan
    table = Table(dict(zip("abcd", X.T, strict=True)), missing="em")
    with pytest.warns(ColumnWarning, match=r"d \(follows from a and b\)"):
        table.warn()
    assert table.names == ("a", "b", "c")


@pytest.mark.parametrize(("rest", "units"), [(1e-4, [1.0] * 4), (1e-4, [1e3, 1e-3, 1.0, 1e2]), (0.0, [1.0] * 4)])
def test_what_makes_a_column_up_is_named_in_any_unit(rest, units):
    S = np.eye(4)
    S[3] = S[:, 3] = [0.8, 0.6, 0.0, 1.0 + rest]  # 0.8 of the first and 0.6 of the second
    assert made_of(S * np.outer(units, units), 3).tolist() == [True, True, False, True]


def test_loops_that_are_compiled_invert_and_know_determinants():
    plain = as_it_stands(em)
    for m in (1, 2, 5):
        S = np.cov(np.random.default_rng(m).standard_normal((m, 20))).reshape(m, m)
        A = np.pad(S, (0, 1), constant_values=7.0)
        assert plain.invert(A, np.empty((m, m)), m) == pytest.approx(np.linalg.slogdet(S)[1])
        np.testing.assert_allclose(A[:m, :m] @ S, np.eye(m), atol=1e-12)
        assert (A[m] == 7.0).all()


def test_resamples_are_drawn_as_the_estimate_is():
    X = with_holes(3, 50, 4, 0.3)
    start = Moments.from_rows(X, missing="em")
    found = Reweighted(X, start.mean, start.covariance(), 1e6).gaussian(np.ones(len(X)))
    assert np.abs(found.S - np.diag(start.spread**2 / (start.n - 1.0))).max() < 1e-2 * np.abs(found.S).max()


def test_error_is_called_refuse():
    X = with_holes(4)
    with pytest.raises(SettingError, match="missing='refuse'"):
        ordag.learn(X, missing="error")
    with pytest.raises(MissingValuesError, match=r"missing='em'.*missing='drop'"):
        ordag.learn(X, missing="refuse")


@pytest.mark.parametrize(
    ("holes", "said"),
    [
        ([(5, 1)], "1 of 200 rows has missing values and was left out; missing='em' (--missing em) uses what they hold."),
        ([(5, 0), (7, 1)], "2 of 200 rows have missing values and were left out; missing='em' (--missing em) uses what they hold."),
        ([(5, 0), (5, 1)], "1 of 200 rows has missing values, in all variables or in what is held fixed, and was left out."),
    ],
)  # fmt: skip
def test_rows_that_were_left_out_unasked_are_told(holes, said):
    X = np.random.default_rng(0).standard_normal((200, 2))
    X[tuple(np.transpose(holes))] = np.nan
    table = Table(X)
    assert table.moments.n == 200 - len({row for row, _ in holes})
    assert said in table.remarks
    silent = Table(X, missing="drop")
    assert silent.moments.n == table.moments.n
    assert silent.remarks == ()


@pytest.mark.parametrize("n", [10, 11])
def test_two_rows_for_every_column_and_level_are_few(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    X[0, 0] = X[1, 1] = np.nan
    table = Table(pd.DataFrame(X, columns=list("abc")).assign(g=list("xyz" * n)[:n]), missing="em", adjust=["g"])
    assert table.moments.rows == n
    said = "10 rows with missing values are few for 3 columns, so the estimate is drawn towards uncorrelated columns."
    assert (said in table.remarks) == (n == 10)


def test_without_a_complete_row_nothing_is_held_fixed():
    X = np.random.default_rng(1).standard_normal((60, 4))
    X[np.arange(60), np.arange(60) % 3] = np.nan
    with pytest.raises(MissingValuesError, match="Every row has missing values, and nothing can be held fixed"):
        _ = Table(pd.DataFrame(X, columns=list("abcd")), adjust=["d"], missing="em").moments


@pytest.mark.parametrize("seed", range(2))
def test_reweighted_rows_are_near_those_of_em_with_these_weights(seed):
    X = with_holes(seed, 120, 4, 0.2)
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    counts = np.random.default_rng(seed).multinomial(120, np.full(120, 1 / 120)).astype(float)
    start = oracle.em(X)
    found = Reweighted(X, *start).gaussian(counts)
    mean, S = oracle.em(X, weights=counts)
    moved = np.abs(S - start[1]).max()
    assert np.abs(found.S - S).max() < 0.05 * moved
    assert np.abs(found.mean - mean).max() < 0.02


def test_probabilities_rest_on_incomplete_rows_drawn_again():
    drawn = ordag.simulate("homogeneous", p=4, n=300, seed=2)
    X = drawn.X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    fit = ordag.learn(X)
    assert np.isnan(fit.sample).any()
    assert fit.probabilities.kind == "rows"
    assert ordag.hamming(fit.graph, drawn.dag) <= 1
    again = ordag.learn(X).probabilities.arrows
    assert (again == fit.probabilities.arrows).all()


@pytest.mark.slow
def test_a_bootstrap_estimates_every_sample_anew():
    X = with_holes(2, 200, 4, 0.1)
    for kind in ("rows", "half"):
        result = ordag.bootstrap(X, 20, seed=1, kind=kind)
        assert result.kind == kind
        assert np.isfinite(result.edge_support).all()
    with pytest.raises(SettingError, match="adds up complete rows"):
        ordag.bootstrap(X, 20, seed=1, kind="poisson")
    assert ordag.learn(X).bootstrap(20).kind == "rows"


def test_rows_for_methods_on_rows_are_the_complete_ones():
    X = with_holes(2, 200, 4, 0.1)
    whole = ~np.isnan(X).any(axis=1)
    table = Table(X)
    np.testing.assert_array_equal(table.rows.values, X[whole])
    np.testing.assert_array_equal(table.used_rows.values, X)
    fit = ordag.learn(X, method="cvs", variance="robust")
    assert any(f"takes complete rows: {whole.sum()} of them" in warning for warning in fit.warnings)


def test_logarithms_of_values_in_incomplete_rows_are_checked():
    X = np.exp(np.random.default_rng(0).normal(size=(100, 3)))
    X[:10, 0] = np.nan
    X[0, 1] = -1.0
    with pytest.raises(DataError, match="holds -1 in data row 1"):
        ordag.learn(X, transform={"X2": "log"})
    assert ordag.learn(X, transform={"X2": "log"}, missing="drop").n == 90


def test_covariates_are_held_fixed_in_what_is_estimated():
    X = with_holes(9, 120, 5, 0.15)
    random = np.random.default_rng(9)
    group, number = random.integers(3, size=120), random.normal(size=120)
    X += np.outer(group == 1, np.arange(5.0)) + np.outer(number, np.ones(5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(number=number, g1=group == 1.0, g2=group == 2.0)
    frame = frame.astype(float)
    mean, S = oracle.em(np.column_stack([number, group == 1, group == 2, X]))
    left = S[3:, 3:] - S[3:, :3] @ np.linalg.solve(S[:3, :3], S[:3, 3:])
    found = Table(frame, adjust=["number", "g1", "g2"]).moments
    ratio = found.covariance() / left
    size = np.sqrt(np.diag(left))
    np.testing.assert_allclose(
        found.covariance() / ratio[0, 0] / np.outer(size, size), left / np.outer(size, size), atol=1e-4
    )
    np.testing.assert_allclose(found.mean, mean[3:], atol=1e-4 * size.max())
    frame.loc[3, "number"] = np.nan
    assert Table(frame, adjust=["number", "g1", "g2"]).moments.rows == 119


def test_standardised_columns_have_variance_one():
    X = with_holes(6, 200, 4, 0.2)
    fit = ordag.learn(X, transform={f"X{j}": "standardise" for j in range(1, 5)})
    np.testing.assert_allclose(np.diag(fit.moments.covariance()), 1.0, rtol=1e-4)


def test_the_answer_says_where_the_holes_are(tmp_path):
    X = with_holes(6, 200, 4, 0.2)
    fit = ordag.learn(X)
    said = fit.to_dict()["missing"]
    gone = np.isnan(X)
    assert said["how"] == "em"
    assert said["incomplete"] == int(gone.any(axis=1).sum())
    assert [one["missing"] for one in said["columns"]] == gone.sum(axis=0).tolist()
    alone = next(one for one in said["patterns"] if one["columns"] == ["X1"])
    assert alone["rows"] == int((gone == [True, False, False, False]).all(axis=1).sum())
    assert said["count_for"] == fit.n < fit.moments.rows == 200
    fit.save(tmp_path / "fit.ordag")
    assert ordag.load(tmp_path / "fit.ordag").to_dict() == fit.to_dict()
    assert f"200 rows that count for {fit.n}" in str(fit)


def test_columns_with_hardly_a_value_are_set_aside():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 4)), columns=list("abcd"))
    X.loc[4:, "b"] = np.nan
    with pytest.warns(ordag.errors.ColumnWarning, match=r"b \(4 of 100 values present\)"):
        fit = ordag.learn(X)
    assert fit.names == ("a", "c", "d")
    assert fit.n == 100


def test_counts_means_and_squares_of_two_sets_are_those_of_both():
    random = np.random.default_rng(2)
    X = random.normal(5.0, 2.0, (9, 3))
    parts = [X[:4], X[4:], X[:0]]
    one, two, none = (
        (
            np.full(3, float(len(x))),
            x.mean(axis=0) if len(x) else np.zeros(3),
            ((x - x.mean(axis=0)) ** 2).sum(axis=0) if len(x) else np.zeros(3),
        )
        for x in parts
    )
    expected = [np.full(3, 9.0), X.mean(axis=0), ((X - X.mean(axis=0)) ** 2).sum(axis=0)]
    np.testing.assert_allclose(pooled(one, two), expected)
    np.testing.assert_allclose(pooled(two, one), expected)
    np.testing.assert_allclose(pooled(one, none), one)
    np.testing.assert_allclose(pooled(none, one), one)


@pytest.mark.parametrize(
    ("rows", "least"), [(4, 2), (6, 3), (8, 4), (10, 5), (50, 5), (59, 5), (60, 6), (100, 10), (200, 20), (10**6, 20)]
)
def test_a_column_needs_a_tenth_of_the_rows_or_twenty_values_and_five_or_half(rows, least):
    assert [is_nearly_empty(values, rows) for values in (least - 1, least)] == [True, False]
