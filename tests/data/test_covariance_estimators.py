"""Moments that outliers hardly move, and those drawn towards equal variances."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import THOROUGH, tries
from oracles import estimators as oracles
from sklearn.covariance import ledoit_wolf

import ordag
from ordag import Moments, simulate
from ordag.data.covariance_estimators import FAR_CELL, _inverse, robust_moments, shrinkage_moments
from ordag.order.least_squares import forward


def drawn(p, n, seed):
    return simulate("erdos-renyi", p, n, seed, degree=2.0, weights=(0.5, 1.0))


def wrong_arrows(moments, dag):
    place = np.argsort(forward(moments).order)
    causes, effects = np.nonzero(dag.adjacency)
    return int((place[causes] > place[effects]).sum())


@pytest.mark.thorough
def test_without_outliers_they_are_the_moments_of_nearly_all_rows():
    drawing = drawn(6, 800, 1)
    plain, robust = Moments.from_rows(drawing.X, drawing.names), robust_moments(drawing.X, drawing.names)
    assert robust.outlying == 800 - robust.n < 15
    spread = np.sqrt(plain.covariance().diagonal())
    assert robust.covariance() / np.outer(spread, spread) == pytest.approx(
        plain.covariance() / np.outer(spread, spread), abs=0.03
    )
    assert robust.mean == pytest.approx(plain.mean, abs=0.1)


def test_correlations_of_few_rows_are_shrunk_by_a_tenth():
    S = np.array([[4.0, 2.0], [2.0, 9.0]])
    np.testing.assert_allclose(_inverse(S, 4), np.linalg.inv([[4.0, 1.8], [1.8, 9.0]]))
    np.testing.assert_allclose(_inverse(S, 5), np.linalg.inv(S), rtol=1e-9)


@pytest.mark.slow
def test_single_cells_are_filled_as_em_fills_them():
    """A third of the rows have one wild cell, so that rows are not left out whole."""
    random = np.random.default_rng(2)
    n = 150
    X = random.standard_normal((n, 5)) @ (np.eye(5) + np.triu(random.uniform(0.3, 1.0, (5, 5)), 1))
    X /= X.std(axis=0)
    wild = np.zeros(X.shape, dtype=bool)
    wild[np.arange(n // 3), random.integers(0, 5, n // 3)] = True
    X[wild] = 1000.0
    found = robust_moments(X, list("abcde"))
    middle = np.median(X, axis=0)
    scale = 1.4826 * np.median(np.abs(X - middle), axis=0)
    missing = np.abs(X - middle) > FAR_CELL * scale
    mean, S = oracles.expectation_maximisation(X, missing, 60)
    pairs = [not (row[a] or row[b]) for row in missing for a in range(5) for b in range(a)]
    assert found.n == int(n * np.mean(pairs)) < n
    assert (found.dropped, found.outlying) == (0, 0)
    assert found.mean == pytest.approx(mean, abs=1e-4)
    assert found.covariance() == pytest.approx(S, abs=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["rows", "cells"])
def test_the_order_is_as_good_with_outliers_as_without(kind):
    clean = plain = robust = 0
    for seed in tries(2, 6):
        drawing = drawn(20, 400, seed)
        random = np.random.default_rng([seed, 1])
        shape = (400, 1) if kind == "rows" else (400, 20)
        far = random.standard_normal((400, 20)) * 10.0 * drawing.X.std(axis=0)
        X = np.where(random.random(shape) < 0.05, far, drawing.X)
        clean += wrong_arrows(Moments.from_rows(drawing.X), drawing.dag)
        plain += wrong_arrows(Moments.from_rows(X), drawing.dag)
        robust += wrong_arrows(robust_moments(X, drawing.names), drawing.dag)
    assert robust <= clean + 1
    assert plain > clean + (4 if THOROUGH else 2)


@pytest.mark.slow
def test_units_and_order_of_columns_do_not_matter():
    drawing = drawn(6, 200, 3)
    X = drawing.X.copy()
    X[:8] = 50.0
    given = X.copy()
    found = robust_moments(X, drawing.names)
    assert np.array_equal(X, given)
    units = np.array([1.0, 100.0, 0.01, 3.0, 7.0, 1e5])
    other = robust_moments((X * units)[:, ::-1], drawing.names[::-1])
    assert (other.n, other.outlying) == (found.n, found.outlying)
    assert other.covariance()[::-1, ::-1] / np.outer(units, units) == pytest.approx(found.covariance(), rel=1e-8)


def test_more_columns_than_rows_and_columns_of_few_values():
    drawing = drawn(40, 30, 4)
    X = drawing.X.copy()
    X[:, 0] = np.where(np.arange(30) < 20, 0.0, X[:, 0])
    found = robust_moments(X, drawing.names)
    assert np.isfinite(found.R).all()
    assert found.n + found.outlying == 30


def test_shrinkage_is_that_of_scikit_learn_and_needs_no_rows_to_spare():
    for p, n in [(10, 30), (30, 12)]:
        drawing = drawn(p, n, 5)
        found = shrinkage_moments(drawing.X, drawing.names)
        expected, share = ledoit_wolf(drawing.X)
        assert 0.0 < share < 1.0
        assert found.R.T @ found.R / n == pytest.approx(expected)
        assert (found.R.diagonal() > 0.1).all()


def test_columns_with_the_same_ranks_are_no_obstacle():
    drawing = drawn(4, 60, 6)
    X = np.column_stack([drawing.X, drawing.X[:, 0] * (1.0 + 1e-9)])
    found = robust_moments(X, list("abcde"))
    assert np.isfinite(found.R).all()
    assert found.n > 50


@pytest.mark.thorough
def test_rows_that_are_left_out_are_not_called_missing():
    drawing = drawn(5, 300, 2)
    X = drawing.X.copy()
    X[:9] += 100.0
    fit = ordag.learn(X, "cvs", variance="robust")
    assert fit.moments.outlying >= 9
    assert f"{fit.moments.outlying} outlying rows left out" in repr(fit)
    assert "missing" not in repr(fit)
    assert fit.to_dict()["rows_dropped"] == 0
