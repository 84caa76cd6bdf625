"""Factor models by maximum likelihood, and whether hidden common causes do as well as the graph."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from budgets import tries
from oracles import evidence as oracle

import ordag
from ordag.assess.common_factor import LEAST_UNIQUENESS, common_factor, factor_model

QUICK = {"pooled": {"draws": 0}, "cvs": {}}
"""The graph counts here, and no probabilities."""


def factor_table(p, n, seed, k=1):
    rng = np.random.default_rng([1, p, n, seed])
    loadings = rng.uniform(0.5, 1.5, (k, p)) * rng.choice([-1.0, 1.0], (k, p))
    return rng.standard_normal((n, k)) @ loadings + rng.standard_normal((n, p))


def root_of(X):
    R = ordag.Moments.from_rows(X).R
    return R / np.sqrt(np.square(R).sum(axis=0))


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_as_many_factors_are_tried_as_may_pay(unit):
    assert common_factor(ordag.learn(unit * factor_table(10, 80, 0, k=4), "cvs")).factors == 4


@pytest.mark.parametrize(("p", "k"), [(5, 1), (8, 2), (12, 3)])
def test_the_likelihood_is_that_of_scikit_learn_on_the_rows(p, k):
    from sklearn.decomposition import FactorAnalysis

    X = factor_table(p, 300, seed=2, k=k)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = FactorAnalysis(k, svd_method="lapack", tol=1e-9, max_iter=20_000).fit(Z).score(Z) * len(Z)
    ours = factor_model(root_of(X), k)
    literal = oracle.factor_log_likelihood(X, ours.loadings, ours.uniquenesses)
    assert literal == pytest.approx(theirs, abs=1e-4)
    saturated = -0.5 * len(Z) * (p * np.log(2 * np.pi) + np.linalg.slogdet(np.corrcoef(X.T))[1] + p)
    assert 2 * (saturated - literal) == pytest.approx(len(Z) * ours.discrepancy, abs=1e-6)


def test_a_factor_model_comes_back_from_its_own_covariance():
    loadings, psi = np.array([[0.9, 0.8, -0.7, 0.5, 0.3]]).T, np.array([0.19, 0.36, 0.51, 0.75, 0.91])
    root = np.linalg.cholesky(loadings @ loadings.T + np.diag(psi)).T
    found = factor_model(root)
    assert found.discrepancy == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.uniquenesses, psi, atol=1e-4)
    np.testing.assert_allclose(np.abs(found.loadings), np.abs(loadings), atol=1e-4)


def test_a_factor_that_is_one_of_the_columns_stops_at_the_least_uniqueness():
    sem = ordag.LinearSEM.from_edges(list("abcde"), {("a", other): 2.0 for other in "bcde"})
    found = factor_model(root_of(sem.sample(5000, seed=1)))
    assert found.uniquenesses.min() == pytest.approx(LEAST_UNIQUENESS)


def test_the_figures_are_those_of_regressions_on_the_rows():
    X = ordag.simulate("erdos-renyi", 7, 300, seed=3, degree=3).X
    fit = ordag.learn(X, "cvs")
    found = common_factor(fit)
    assert found.graph_bic == pytest.approx(oracle.graph_bic(X, fit.graph.adjacency))
    model = factor_model(root_of(X), found.factors)
    loadings = 7 * found.factors - found.factors * (found.factors - 1) // 2
    left_out = 300 * 7 * (np.log(2 * np.pi) + 1) - 2 * 300 * np.log(X.std(axis=0)).sum()
    deviance = -2 * oracle.factor_log_likelihood(X, model.loadings, model.uniquenesses) - left_out
    assert found.bic == pytest.approx(deviance + np.log(300) * loadings)
    assert found.df == 21 - loadings


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"graph": "best"}, {"alpha": 0.05}, {"method": "ges"}])
def test_one_factor_explains_the_marks_nearly_as_well_as_the_graph(settings):
    found = common_factor(ordag.learn("marks", **settings))
    assert found.nearly
    assert not found.explains
    assert found.factors == 1
    assert (found.df, round(found.chi_square, 1), round(found.p_value, 2)) == (5, 8.7, 0.12)
    if settings.get("method") != "ges":
        assert found.worse == pytest.approx(3.7, abs=0.05)
        assert "nearly as well as the graph (BIC only 3.7 worse; χ² = 8.7 on 5 df, p = 0.12)" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "cvs"])
@pytest.mark.parametrize("k", [1, 2])
def test_tables_without_arrows_are_explained_by_their_factors(method, k):
    for seed in tries(2, 5):
        found = common_factor(ordag.learn(factor_table(10, 400, seed, k), method, **QUICK[method]))
        assert found.explains, (seed, found)
        assert found.factors == k
        assert "better than the graph" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "cvs"])
def test_tables_of_graphs_are_not(method):
    for seed in tries(4, 10):
        found = common_factor(
            ordag.learn(ordag.simulate("erdos-renyi", 8, 300, seed=seed, degree=3).X, method, **QUICK[method])
        )
        assert not found.explains
        assert not found.nearly


@pytest.mark.slow
def test_a_column_that_causes_all_others_is_no_hidden_factor():
    names = list("abcdefgh")
    sem = ordag.LinearSEM.from_edges(names, {("a", other): 0.8 for other in names[1:]})
    hubs = 0
    for seed in range(10):
        found = common_factor(ordag.learn(dict(zip(names, sem.sample(150, seed=seed).T, strict=True)), "cvs"))
        assert not found.explains
        hubs += found.hub == "a"
        assert found.hub is None or "column a in its place" in found.sentence
    assert hubs > 3


def test_it_needs_four_variables():
    X = factor_table(6, 100, 0)
    assert common_factor(ordag.learn(X[:, :3])) is None
    assert common_factor(ordag.learn(X[:8], "cvs")) is not None


def test_badly_conditioned_tables_give_numbers_and_no_warnings():
    X = ordag.simulate("homogeneous", 40, 200, seed=1).X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = common_factor(ordag.learn(X, "cvs"))
    assert not found.explains
    assert np.isfinite([found.bic, found.graph_bic]).all()


@pytest.mark.slow
def test_units_and_the_order_of_columns_do_not_matter():
    X = factor_table(6, 200, 4)
    first = common_factor(ordag.learn(X, "ges"))
    second = common_factor(ordag.learn(X[:, ::-1] * np.array([1e3, 1e-3, 7.0, 1.0, 0.2, 50.0]), "ges"))
    assert second.worse == pytest.approx(first.worse, abs=1e-4)
    assert second.chi_square == pytest.approx(first.chi_square, abs=1e-4)


@pytest.mark.slow
def test_there_are_as_many_factors_as_bic_asks_for():
    found = common_factor(ordag.learn(factor_table(30, 800, 0, 5), "cvs"))
    assert found.factors == 5
    assert found.explains
    assert found.sentence.startswith(
        "Five hidden common causes of all columns, without any arrow, explain the table better"
    )
