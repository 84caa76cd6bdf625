"""The bootstrap against samples drawn row by row, the theory of Wishart matrices, and itself on other workers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from budgets import tries
from oracles import resampling as oracle

import ordag
from ordag import bootstrapping as module
from ordag.bootstrapping import bootstrap
from ordag.data.moments import scan_source
from ordag.data.sources import open_source
from ordag.errors import DataError, MissingValuesError, SettingError
from ordag.resampling import replicates as replicates_module
from ordag.resampling import streaming
from ordag.resampling.intervals import intervals, percentiles
from ordag.resampling.resamplers import RowResampler, WishartResampler, child, seed_root, whiten

MATRICES = ("edge_support", "adjacency_support", "direction_support", "precedes")


def rows(p=6, n=120, seed=1, **options):
    return ordag.simulate("erdos-renyi", p, n, seed=seed, **options).X


def learner(**settings):
    def learn(sample):
        fit = ordag.learn(sample, **settings)
        return fit.graph.adjacency, fit.column_order, fit.weights

    return learn


def assert_same(one, two):
    for name in MATRICES:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("weight_intervals", "effect_intervals"):
        for part in ("low", "median", "high"):
            np.testing.assert_array_equal(getattr(getattr(one, name), part), getattr(getattr(two, name), part))
    np.testing.assert_array_equal(one.positions, two.positions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"graph": "best"}, 0.95),
        ({"direction": "backward"}, 0.95),
        ({"parents": "bic"}, 0.95),
        ({"correction": "bh"}, 0.8),
    ],
)
def test_equals_learning_from_rows_drawn_one_sample_at_a_time(settings, level):
    X = rows()
    found = bootstrap(X, 15, level=level, seed=7, workers=1, **settings)
    expected = oracle.bootstrap_by_rows(X, 15, 7, learner(**settings), level)
    for name in ("edge_support", "adjacency_support", "precedes"):
        np.testing.assert_allclose(getattr(found, name), expected[name], atol=1e-12)
    for name in ("weight_intervals", "effect_intervals"):
        parts = getattr(found, name)
        np.testing.assert_allclose(
            [parts.low, parts.median, parts.high], expected[name.replace("_intervals", "s")], rtol=1e-7, atol=1e-9
        )
    assert found.completed == found.replicates == 15
    assert found.kind == "rows"


@pytest.mark.slow
def test_equals_learning_from_drawn_rows_where_a_gram_matrix_has_no_digits():
    X = ordag.simulate("homogeneous", 40, 200, seed=3).X + 1e3
    found = bootstrap(X, 6, seed=1, workers=1, method="cvs")
    expected = oracle.bootstrap_by_rows(X, 6, 1, learner(method="cvs"))
    np.testing.assert_allclose(found.precedes, expected["precedes"], atol=1e-12)
    # A test whose p-value is within rounding of its level may fall either way.
    assert (np.abs(found.edge_support - expected["edge_support"]) > 1e-9).sum() <= 2


def test_moments_of_a_sample_are_those_of_its_rows():
    for p, n in ((4, 50), (40, 200), (10, 24)):
        X = ordag.simulate("homogeneous", p, n, seed=p).X
        resampler = RowResampler.of(X, ordag.Moments.scan(X))
        for b in range(3):
            drawn = ordag.Moments.from_rows(oracle.drawn_rows(X, 5, b))
            moments = resampler.moments(b, child(np.random.SeedSequence(5), b))
            assert moments.n == n
            np.testing.assert_allclose(moments.mean, drawn.mean, rtol=1e-8, atol=1e-8 * np.abs(X).max())
            np.testing.assert_allclose(np.abs(np.diag(moments.R)), np.abs(np.diag(drawn.R)), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pc", "ges", "gds"])
def test_other_methods(method):
    X = rows(4, 80)
    found = bootstrap(X, 8, method=method, seed=2, workers=1)
    assert found.precedes is None
    assert found.order_summary is None
    assert (found.weight_intervals is None) == (method != "gds")
    if method != "gds":
        expected = oracle.bootstrap_by_rows(X, 8, 2, learner(method=method))
        np.testing.assert_allclose(found.edge_support, expected["edge_support"])
        np.testing.assert_allclose(found.adjacency_support, expected["adjacency_support"])
    again = bootstrap(X, 8, method=method, seed=2, workers=1)
    np.testing.assert_array_equal(found.edge_support, again.edge_support)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.system
@pytest.mark.parametrize("kind", ["rows", "wishart", "poisson"])
def test_workers_do_not_matter(kind, monkeypatch):
    monkeypatch.setattr(replicates_module, "BATCH_SECONDS", 0.0)  # however quick the first replicate is
    monkeypatch.setattr(replicates_module, "PATIENCE", 0.0)
    X = rows(5, 600)
    one, two = (bootstrap(X, 70, seed=3, method="cvs", workers=workers, kind=kind) for workers in (1, 2))
    assert_same(one, two)
    assert one.kind == kind


@pytest.mark.thorough
@pytest.mark.system
def test_batches_and_passes_of_a_stream_do_not_matter(tmp_path, monkeypatch):
    X = rows(5, 1000)
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="X1,X2,X3,X4,X5", comments="", fmt="%.17g")
    source = open_source(path)
    base = scan_source(source)
    root = np.random.SeedSequence(9)
    sums = [
        streaming.poisson_sums(source, base, range(40), root, missing="refuse", batch=batch, workers=workers).sums
        for batch, workers in ((7, 1), (256, 2), (5000, 1))
    ]
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])
    whole = bootstrap(path, 70, seed=9, method="cvs", kind="poisson", workers=1)
    monkeypatch.setattr(module, "passes", lambda count, p, memory=0: streaming.passes(count, p, memory=1))
    assert len(module.passes(70, 5)) == 3
    assert_same(whole, bootstrap(path, 70, seed=9, method="cvs", kind="poisson", workers=2))
    monkeypatch.setattr(module, "IN_MEMORY", 100)
    assert_same(whole, bootstrap(path, 70, seed=9, method="cvs", workers=1))


def test_streamed_sums_are_those_of_weighted_rows():
    X = rows(4, 700)
    base = ordag.Moments.scan(X)
    root = np.random.SeedSequence(4)
    resampler = streaming.poisson_sums(open_source(X), base, range(32, 64), root, missing="refuse")
    for b in (32, 50, 63):
        weights = np.concatenate([streaming.poisson_weights(root, 1, block)[b - 32] for block in range(3)])[: len(X)]
        copies = np.repeat(X, weights.astype(int), axis=0)
        moments = resampler.moments(b, root)
        assert moments.n == len(copies)
        np.testing.assert_allclose(moments.mean, copies.mean(axis=0))
        np.testing.assert_allclose(moments.covariance(), np.cov(copies.T), rtol=1e-9, atol=1e-9)


def test_poisson_weights_are_poisson():
    root = np.random.SeedSequence(0)
    weights = np.stack([streaming.poisson_weights(root, 0, block) for block in range(40)])
    assert weights.mean() == pytest.approx(1, abs=0.01)
    assert weights.var() == pytest.approx(1, abs=0.02)
    assert streaming.QUANTILES.mean() == pytest.approx(1, abs=2e-5)
    assert streaming.QUANTILES.var() == pytest.approx(1, abs=2e-4)
    assert abs(np.corrcoef(weights[:, :2].transpose(1, 0, 2).reshape(2, -1))[0, 1]) < 0.04


@pytest.mark.thorough
def test_wishart_samples_have_the_mean_and_variance_of_theory():
    n = 12
    covariance = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 1.5]])
    base = ordag.Moments.from_covariance(covariance, n)
    root = np.random.SeedSequence(1)
    samples = [WishartResampler(base).moments(b, child(root, b)) for b in range(3_000)]
    S = np.stack([sample.covariance() for sample in samples])
    np.testing.assert_allclose(S.mean(axis=0), covariance, atol=0.05)
    theory = (covariance**2 + np.outer(covariance.diagonal(), covariance.diagonal())) / (n - 1)
    np.testing.assert_allclose(S.var(axis=0), theory, rtol=0.1)
    means = np.stack([sample.mean for sample in samples])
    np.testing.assert_allclose(np.cov(means.T), covariance / n, atol=0.02)
    assert samples[0].squared


@pytest.mark.thorough
def test_moments_alone_give_nearly_what_gaussian_rows_give():
    X = rows(5, 400, seed=4)
    from_rows = bootstrap(X, 300, seed=1, method="cvs", workers=1)
    from_moments = bootstrap(ordag.Moments.from_rows(X), 300, seed=2, method="cvs", workers=1)
    assert from_moments.kind == "wishart"
    assert np.abs(from_rows.edge_support - from_moments.edge_support).max() < 0.15
    np.testing.assert_allclose(from_rows.weight_intervals.median, from_moments.weight_intervals.median, atol=0.15)


@pytest.mark.thorough
def test_percentile_intervals_hold_the_truth_about_as_often_as_they_should():
    sem = ordag.LinearSEM.from_edges(["X1", "X2", "X3"], {("X1", "X2"): 1.0, ("X2", "X3"): 0.9})
    path = sem.total_effects() != 0
    hits = {"weight_intervals": 0, "effect_intervals": 0}
    for seed in tries(20, 60):
        found = bootstrap(sem.sample(150, seed=seed), 120, seed=seed, workers=1, level=0.9, alpha=0.001)
        for name, truth, where in (
            ("weight_intervals", sem.B, sem.B != 0),
            ("effect_intervals", sem.total_effects(), path),
        ):
            parts = getattr(found, name)
            hits[name] += ((parts.low <= truth) & (truth <= parts.high))[where].sum()
    assert 0.80 < hits["weight_intervals"] / (2 * len(tries(20, 60))) < 0.97
    assert 0.80 < hits["effect_intervals"] / (3 * len(tries(20, 60))) < 0.97


def test_percentiles_count_what_is_absent_as_zero():
    random = np.random.default_rng(0)
    dense = np.where(random.random((25, 8)) < 0.6, random.standard_normal((25, 8)), 0.0)
    replicate, cell = np.nonzero(dense)
    probabilities = [0.0, 0.1, 0.5, 0.93, 1.0]
    found = percentiles(cell.astype(np.int32), dense[replicate, cell], np.full(8, 25), probabilities)
    np.testing.assert_allclose(found, np.quantile(dense, probabilities, axis=0, method="weibull"), atol=1e-14)


@pytest.mark.parametrize("replicates", [40, 64, 500])
def test_percentiles_hold_the_share_asked_for_however_few_replicates_there_are(replicates):
    """On average over draws, the part of the distribution between the percentiles of 2.5 and 97.5 % is 95 %."""
    cells, tables = np.tile(np.arange(4000, dtype=np.int32), replicates), np.full(4000, replicates)
    values = np.random.default_rng(replicates).random(4000 * replicates)  # the part below a number is the number
    low, high = percentiles(cells, values, tables, [0.025, 0.975])
    assert (high - low).mean() == pytest.approx(0.95, abs=0.003)


def test_percentiles_of_what_is_there_are_those_of_the_values():
    random = np.random.default_rng(0)
    dense = np.where(random.random((25, 9)) < 0.3, random.standard_normal((25, 9)), np.nan)
    dense[:, [2, 8]] = np.nan
    dense[1:, 3], dense[0, 3] = np.nan, 1.5
    held = [np.flatnonzero(~np.isnan(row)).astype(np.int32) for row in dense]
    found = intervals(held, [row[cells] for row, cells in zip(dense, held, strict=True)], 3, 25, 0.9, zeros=False)
    for j, column in enumerate(dense.T):
        there = column[~np.isnan(column)]
        numbers = [float(one[divmod(j, 3)]) for one in (found.low, found.median, found.high, found.mean)]
        if len(there):
            np.testing.assert_allclose(
                numbers, [*np.quantile(there, [0.05, 0.5, 0.95], method="weibull"), there.mean()], atol=1e-14
            )
            spread = np.std(there, ddof=1) if len(there) > 1 else 0.0
            assert found.std_error[divmod(j, 3)] == pytest.approx(spread, abs=1e-14)
        else:
            assert np.isnan(numbers).all()
        assert found.share[divmod(j, 3)] == len(there) / 25


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_positions_are_given_with_the_quantiles_of_the_level(level):
    positions = np.tile(np.arange(101), (3, 1)).T  # as if there were so many variables, each at every place once
    found = replace(
        bootstrap("marks", 2, columns=["algebra", "vectors", "analysis"], workers=1), positions=positions, level=level
    )
    for _, row in found.order_summary.iterrows():
        assert row[["low", "median", "high"]].tolist() == pytest.approx([51 - 50 * level, 51, 51 + 50 * level])


@pytest.mark.slow
def test_shares_fit_together():
    found = bootstrap("marks", 60, alpha=0.05, seed=1, workers=1)
    np.testing.assert_allclose(found.edge_support + found.edge_support.T, found.adjacency_support)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose((found.precedes + found.precedes.T)[off], 1)
    joined = found.adjacency_support > 0
    np.testing.assert_allclose((found.direction_support + found.direction_support.T)[joined], 1)
    assert np.isnan(found.direction_support[~joined]).all()
    assert found.order_summary["node"][0] == "algebra"
    assert found.order_summary["mean"].mean() == pytest.approx(3)
    edges = found.edges
    assert edges["support"].is_monotonic_decreasing
    assert set(edges.loc[edges["learned"], "source"] + edges.loc[edges["learned"], "target"]) == {
        a + b for a, b in found.fit.graph.directed
    }
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["completed"] == 60
    assert all(edge["learned"] or edge["support"] >= 0.05 for edge in document["edges"])
    again = bootstrap("marks", 60, alpha=0.05, seed=found.entropy, workers=1)
    np.testing.assert_array_equal(again.edge_support, found.edge_support)
    assert "60 replicates" in repr(found)


@pytest.mark.slow
def test_seeds_of_every_kind_leave_their_owner_usable():
    X = rows(4, 60)
    sequence = np.random.SeedSequence(5)
    one, two = (bootstrap(X, 5, seed=sequence, workers=1) for _ in range(2))
    np.testing.assert_array_equal(one.positions, two.positions)
    generator = np.random.default_rng(5)
    assert seed_root(generator).spawn_key != seed_root(generator).spawn_key
    assert bootstrap(X, 3, workers=1).entropy != bootstrap(X, 3, workers=1).entropy


@pytest.mark.slow
def test_refused_samples_are_counted_with_their_reason():
    X = np.random.default_rng(0).standard_normal((12, 7))
    found = bootstrap(X, 60, seed=1, workers=1, method="cvs")
    assert 0 < found.completed < 60
    assert any("different rows" in reason for reason in found.failed)
    assert sum(entry["replicates"] for entry in found.to_dict()["failed"]) == 60 - found.completed
    with pytest.raises(DataError, match="All 10 bootstrap samples were refused"):
        bootstrap(np.random.default_rng(0).standard_normal((32, 30)), 10, seed=1, workers=1)


@pytest.mark.slow
def test_the_caller_s_data_are_not_touched_and_news_is_told():
    X = rows(4, 60)
    before, news = X.copy(), []
    bootstrap(X, 6, seed=1, workers=1, progress=news.append)
    np.testing.assert_array_equal(X, before)
    assert news[-1] == "bootstrap: 6 of 6 replicates"


@pytest.mark.slow
def test_missing_rows_are_dropped_when_asked():
    X = rows(4, 60)
    holed = np.insert(X, 10, np.nan, axis=0)
    with pytest.raises(MissingValuesError):
        bootstrap(holed, 5, seed=1, workers=1, missing="refuse")
    one, two = bootstrap(X, 5, seed=1, workers=1), bootstrap(holed, 5, seed=1, workers=1, missing="drop")
    np.testing.assert_array_equal(one.positions, two.positions)


@pytest.mark.slow
def test_effects_that_would_not_fit_are_left_out(monkeypatch):
    monkeypatch.setattr(module, "EFFECTS", 10)
    found = bootstrap(rows(4, 60), 5, seed=1, workers=1)
    assert found.effect_intervals is None
    assert found.weight_intervals is not None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"replicates": 1}, "from 2 on"),
        ({"replicates": 2.5}, "whole number"),
        ({"kind": "jackknife"}, "kind="),
        ({"method": "magic"}, "method="),
        ({"workers": 0}, "workers="),
        ({"level": 1.0}, "level="),
        ({"beta": 1}, "a setting of no method"),
        ({"beta": 1, "method": "cvs"}, "not a setting"),
    ],
)
def test_settings_are_checked(settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        bootstrap("marks", **settings)


def test_rows_are_asked_for_where_they_are_needed():
    with pytest.raises(SettingError, match="only moments were given"):
        bootstrap(ordag.Moments.from_rows(rows(3, 40)), 5, kind="rows")


@pytest.mark.slow
def test_the_answer_says_how_many_edges_replicates_have_beside_the_graph(run):
    X = ordag.simulate("erdos-renyi", 20, 60, seed=1, degree=1).X
    result = bootstrap(X, 20, method="cvs", alpha=0.05, correction="bh", seed=1)
    assert result.mean_edges == pytest.approx(np.triu(result.adjacency_support).sum())
    assert result.mean_edges > 1.2 * result.fit.graph.edge_count
    document = result.to_dict()
    assert document["mean_edges"] == result.mean_edges
    assert document["learned_edges"] == result.fit.graph.edge_count
    fit = ordag.learn(X, method="cvs", alpha=0.05, correction="bh", bootstrap=20, seed=1)
    assert "chance edges have support too" in repr(fit)
    out = run("learn", "marks", "--alpha", "0.05", "--bootstrap", "20", "--seed", "1")[1]
    assert "resamples that have the arrow; their graphs average" in " ".join(out.split())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 5])
def test_the_graph_is_that_of_learn_with_the_same_seed(seed):
    given = {} if seed is None else {"seed": seed}
    alone, resampled = (
        ordag.learn("marks", "gds", **given),
        ordag.learn("marks", "gds", bootstrap=3, workers=1, **given),
    )
    assert (alone.graph, alone.settings, alone.score) == (resampled.graph, resampled.settings, resampled.score)
    assert resampled.support.entropy == (seed or 0)
    split = bootstrap("marks", 3, method="cvs", split=True, seed=1, workers=1)
    assert split.fit.settings["split"]
    drawn = bootstrap("marks", 3, method="gds", workers=1)
    assert drawn.fit.settings["seed"] == drawn.entropy < 2**53


def test_replicates_that_are_done_ask_no_worker(monkeypatch):
    """A cluster that is lost while quick replicates are learned here is not needed."""

    def refuse(*_, **__):
        raise AssertionError("workers were asked for")

    monkeypatch.setattr(replicates_module, "in_parallel", refuse)
    assert ordag.bootstrap("marks", 3, method="cvs", seed=0).replicates == 3


def test_passes_are_as_few_as_memory_allows():
    assert streaming.passes(1000, 5) == [range(1000)]
    assert streaming.passes(70, 3000) == [
        range(32),
        range(32, 64),
        range(64, 70),
    ]  # 32 matrices of 3,001 columns take 1.1 GB


def test_sums_are_those_of_one_row_after_the_other(monkeypatch):
    """To the last digit, where there is room for the products of one row at a time."""
    X = rows(4, 50)
    source = open_source(X)
    base = scan_source(source)
    root = np.random.SeedSequence(9)
    monkeypatch.setattr(streaming, "AT_ONCE", 1)
    found = streaming.poisson_sums(source, base, range(3), root, missing="refuse").sums
    Y = np.concatenate([np.ones((50, 1)), whiten(X, base.mean, base.R)], axis=1)
    i, j = np.triu_indices(5)
    weights = streaming.poisson_weights(root, 0, 0)[:3]
    expected = np.zeros((3, len(i)))
    for row, y in enumerate(Y):
        expected += np.outer(weights[:, row], y[i] * y[j])
    np.testing.assert_array_equal(found, expected)


def test_a_fit_resamples_the_rows_that_it_keeps_or_its_moments():
    fit = ordag.learn("marks", "cvs")
    result = fit.bootstrap(20, seed=3, workers=1)
    assert result.kind == "rows"
    assert (result.edge_support == ordag.bootstrap("marks", 20, method="cvs", seed=3, workers=1).edge_support).all()
    assert ordag.learn(fit.moments, "cvs").bootstrap(4, workers=1).kind == "wishart"
    with pytest.raises(SettingError, match="level=2"):
        fit.bootstrap(4, level=2)
