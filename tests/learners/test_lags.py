"""Graphs of series: the truth from population moments, knowledge, methods, and what a fit says of them."""

from __future__ import annotations

import numpy as np
import pytest
from strategies.series import random_model, rows_of, window_covariance

import ordag
from ordag import errors
from ordag.data.moments import Moments
from ordag.data.series import Series
from ordag.data.table import Table
from ordag.knowledge.knowledge import Knowledge
from ordag.learners.methods import learn_from, settings_for, within_time
from ordag.learners.pooled.resampled import redrawn
from ordag.learners.pooled.score import PooledScore


def of_population(B, omega, n=1_000_000, method="pooled", **settings):
    """Learn from the moments of a model that has run for ever."""
    lags, p = len(B) - 1, B.shape[1]
    series = Series(tuple("abcdefgh"[:p]), lags)
    moments = Moments.from_covariance(window_covariance(B, omega), n, names=series.columns)
    table = Table.of_moments(moments, None, series=series)
    if method == "pooled":
        settings = {"draws": 0, "graph": "best", **settings}
    return learn_from(table, settings_for(table, method, settings))


@pytest.mark.parametrize("seed", range(6))
def test_the_truth_is_learned_from_population_moments(seed):
    random = np.random.default_rng(seed)
    p, lags = 3 + seed % 3, 1 + seed % 2
    B, _ = random_model(random, p, lags)
    found = of_population(B, np.ones(p))
    assert np.array_equal(found.graph.adjacency[:, :p].reshape(lags + 1, p, p), B != 0)
    assert not found.graph.adjacency[:, p:].any()
    np.testing.assert_allclose(found.series.blocks_of(found.sem.B), B, atol=1e-6)


@pytest.mark.parametrize("method", ["ges", "pc"])
def test_classes_have_the_truth_in_them(method):
    B, _ = random_model(np.random.default_rng(1), 4, 1)
    found = of_population(B, np.array([1.0, 3.0, 0.5, 2.0]), method=method)
    graph, p = found.graph.adjacency[:, :4].reshape(2, 4, 4), 4
    assert np.array_equal(graph[1], B[1] != 0)
    assert np.array_equal(graph[0] | graph[0].T, (B[0] != 0) | (B[0] != 0).T)
    assert not found.graph.adjacency[:, p:][p:].any()


def test_masks_of_time():
    series = Series(("a", "b"), 1)
    names = series.columns
    known = Knowledge.of({"forbidden": [["a", "b"]], "required": [["b[-1]", "a"]]}).over(names)
    found = within_time(series, known, names)
    assert not found.allowed[:, 2:].any()
    assert not found.allowed[0, 1]
    assert found.allowed[1, 0]
    assert found.required[3, 0]
    assert found.before[2:, :2].all()
    assert not found.before[:2, 2:].any()
    assert known.allowed[0, 2], "the knowledge itself is left as it was"
    with pytest.raises(errors.SettingError, match=r"no cause of an earlier value is looked for"):
        within_time(series, Knowledge.of({"required": [["a", "b[-1]"]]}).over(names), names)


@pytest.mark.parametrize("method", ["cvs", "gds"])
def test_methods_that_compare_all_columns_are_refused(method):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(errors.DataError, match=f"method='{method}' .* take pooled, ges or pc with lags"):
        ordag.learn(X, method, lags=1)
    with pytest.raises(errors.SettingError, match="orient_by_order directs edges along an order of all columns"):
        ordag.learn(X, "ges", lags=1, orient_by_order="class")


def test_the_edge_prior_is_over_the_pairs_that_can_be_joined():
    fit = ordag.learn(np.random.default_rng(0).normal(size=(80, 3)), lags=2, draws=0)
    score = fit.result.score
    assert score.pairs == 3 + 2 * 9
    assert [len(group) for group in score.groups] == [3]
    again = PooledScore(**score.arguments())
    np.testing.assert_array_equal(again.edge_priors, score.edge_priors)


@pytest.fixture(scope="module")
def learned():
    random = np.random.default_rng(4)
    B, _ = random_model(random, 3, 1)
    X = rows_of(B, 400, random)
    return B, ordag.learn(
        {"when": np.arange(400), "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}, time="when", lags=1, seed=1, draws=64
    )


def test_edges_have_a_lag(learned):
    B, fit = learned
    edges = fit.edges
    assert set(edges["source"]) | set(edges["target"]) <= set("abc")
    there = np.zeros_like(B, dtype=bool)
    for source, target, lag in zip(edges["source"], edges["target"], edges["lag"], strict=True):
        there[lag, "abc".index(source), "abc".index(target)] = True
    assert np.array_equal(there, fit.summary_graph.at_lags)
    assert (edges["reason"][edges["lag"] > 0] == "time").all()
    assert "time" not in set(edges["reason"][edges["lag"] == 0])


def test_the_summary_graph_joins_all_times(learned):
    _, fit = learned
    summary = fit.summary_graph
    assert summary.nodes == ("a", "b", "c")
    graph = summary.to_networkx()
    assert {(a, b): tuple(data["lags"]) for a, b, data in graph.edges(data=True)} == {
        (a, b): lags for a, b, lags in summary.edges
    }
    with pytest.raises(errors.SettingError, match="not of rows in time"):
        _ = ordag.learn(np.random.default_rng(0).normal(size=(40, 2)), draws=0).summary_graph


def test_the_document_says_what_the_columns_are(learned):
    _, fit = learned
    said = fit.to_dict()
    assert said["series"]["names"] == ["a", "b", "c"]
    assert said["series"]["lags"] == 1
    assert all({"source", "target", "lag"} <= set(edge) for edge in said["edges"])
    assert said["nodes"] == list(fit.names)
    assert said["summary_graph"][0].keys() == {"source", "target", "lags"}


def test_a_saved_fit_is_the_same(learned, tmp_path):
    _, fit = learned
    fit.save(tmp_path / "a.ordag")
    again = ordag.load(tmp_path / "a.ordag")
    assert again.summary_graph.edges == fit.summary_graph.edges
    assert again.ahead(3, seed=1).columns == fit.ahead(3, seed=1).columns
    assert again.response("a", "b", 3).columns == fit.response("a", "b", 3).columns


def test_rows_are_drawn_in_blocks(learned):
    _, fit = learned
    unit = fit.profile.labels.unit
    assert fit.series.block == 8
    assert np.bincount(unit).max() <= 16
    assert len(unit) == 399


def test_the_answer_reads_as_one_of_series(learned):
    _, fit = learned
    text = fit.summary(width=80)
    assert "399 rows · 3 variables · 1 lag" in text
    assert "[-1]" in text
    assert "Set aside" not in text
    assert "3 are that of time" in fit.verdict.grounds or "that of time" in fit.verdict.grounds


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda fit: fit.adjust("a", "b"), "This question takes a graph of variables at one time"),
        (lambda fit: fit.test(), "This question takes"),
        (lambda fit: fit.intervene(set={"a": 1}), "intervene takes"),
        (lambda fit: fit.explain(), "explain takes"),
        (lambda fit: fit.effects(), "A table of all effects takes"),
        (lambda fit: fit.bootstrap(20), "bootstrap takes"),
        (lambda fit: fit.effect("a[-1]", "b"), "Effects are those at the same time"),
    ],
)
def test_what_does_not_know_of_time_says_so(learned, call, told):
    with pytest.raises(errors.SettingError, match=told):
        call(learned[1])


def test_time_without_lags_changes_the_resamples_alone():
    X = np.random.default_rng(2).normal(size=(90, 3))
    plain, timed = ordag.learn(X, draws=0), ordag.learn(X, lags=0, draws=0)
    assert plain.graph == timed.graph
    assert plain.score == pytest.approx(timed.score)
    assert timed.profile.labels.unit is not None
    assert timed.effect("X1", "X2", interval="given-graph") is not None


def test_resamples_of_a_thinned_series_vary_as_all_of_its_rows_would(monkeypatch):
    random = np.random.default_rng(0)
    X = rows_of(random_model(random, 2, 1)[0], 4000, random)
    monkeypatch.setattr("ordag.data.table.sample_size", lambda p, keep=0: 500)
    fit = ordag.learn(X, lags=1, draws=0, graph="best")
    assert fit.profile.stride == 8
    drawn = redrawn(fit.result, fit.sample[:, fit.posterior.order], strength=1.0)
    changes = np.array([drawn._change(np.random.default_rng(seed)) for seed in range(100)])
    # the variance of a squared standard normal is 2
    assert 0.8 < changes[:, 0, 0].std() * np.sqrt(fit.n / 2.0) < 1.3
