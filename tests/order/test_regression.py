"""Orders by out-of-fold errors: against one prediction at a time, and where straight lines see nothing."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import estimators as oracles
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from ordag import Moments
from ordag.order.least_squares import forward
from ordag.order.regression import regression_forward


def waves(n, seed, p=6):
    """A chain of sines, in which the parent is a wave that a straight line does not see; errors N(0, 1), columns mixed."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 2.0 * np.cos(2.0 * X[:, j - 1])
    mixed = random.permutation(p)
    return X[:, mixed], np.argsort(mixed).tolist()


def by_least_squares(Z, y):
    design = np.column_stack([np.ones(len(Z)), Z])
    w = np.linalg.lstsq(design, y, rcond=None)[0]
    return lambda row: w[0] + row @ w[1:]


def test_equals_one_prediction_at_a_time():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 5)) @ (np.eye(5) + np.triu(random.uniform(-1.0, 1.0, (5, 5)), 1))
    parts = list(KFold(4, shuffle=True, random_state=3).split(X))
    found = regression_forward(X, LinearRegression(), folds=4, seed=3)
    order = []
    for step in range(5):
        rest = [j for j in range(5) if j not in order]
        errors = sorted((oracles.errors_out_of_fold(by_least_squares, X, order, j, parts), j) for j in rest)
        assert found.order[step] == errors[0][1]
        assert found.variances[step] == pytest.approx(errors[0][0])
        assert found.runner_up[step] == pytest.approx(errors[1][0] if len(errors) > 1 else np.inf)
        order.append(errors[0][1])


def test_all_targets_in_one_go_are_the_same_as_one_by_one():
    from ordag.order.regression import spline_ridge

    X, _ = waves(150, 1, 4)
    together, alone = regression_forward(X), regression_forward(X, spline_ridge())
    assert together.order.tolist() == alone.order.tolist()
    assert together.variances == pytest.approx(alone.variances)
    assert together.runner_up == pytest.approx(alone.runner_up)


@pytest.mark.slow
def test_finds_waves_where_straight_lines_fail():
    linear = 0
    for seed in range(3):
        X, truth = waves(400, seed)
        given = X.copy()
        found = regression_forward(X)
        assert np.array_equal(X, given)
        assert found.order.tolist() == truth
        parents = [one.tolist() for one in found.support]
        assert all(truth[k - 1] in parents[k] for k in range(1, 6))
        assert sum(map(len, parents)) <= 6
        linear += forward(Moments.from_rows(X)).order.tolist() == truth
    assert linear < 3


def test_any_regressor_will_do():
    X, truth = waves(500, 5, 3)
    boosted = regression_forward(X, GradientBoostingRegressor(n_estimators=40, max_depth=2, random_state=0), folds=3)
    assert boosted.order.tolist() == truth


def test_keeps_to_a_partial_order():
    X, truth = waves(200, 6, 4)
    before = np.zeros((4, 4), dtype=bool)
    before[truth[2], truth[0]] = True
    place = np.argsort(regression_forward(X, LinearRegression(), before).order)
    assert place[truth[2]] < place[truth[0]]
