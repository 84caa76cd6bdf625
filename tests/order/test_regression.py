"""Orders by out-of-fold errors: against one prediction at a time, and where straight lines see nothing."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import thorough
from oracles import estimators as oracles
from scipy.stats import norm
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from ordag import Moments
from ordag.order.least_squares import forward
from ordag.order.regression import regression_forward, regression_rule


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


@pytest.mark.slow
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


def whole_numbers(n, seed, p):
    """Waves with a column of two values and one of few."""
    X, truth = waves(n, seed, p)
    X[:, 1], X[:, 2] = X[:, 1] > 0.3, np.round(2.0 * X[:, 2])
    return X, truth


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "p", "draw"), [(150, 4, waves), thorough(40, 7, waves), (60, 4, whole_numbers)])
def test_the_quick_way_for_splines_is_the_same_as_one_fit_after_the_other(n, p, draw):
    X, _ = draw(n, 1, p)
    quick, slow = regression_forward(X), regression_forward(X, oracles.spline_ridge())
    assert quick.order.tolist() == slow.order.tolist()
    np.testing.assert_allclose(quick.variances, slow.variances, rtol=1e-9)
    np.testing.assert_allclose(quick.runner_up, slow.runner_up, rtol=1e-9)
    np.testing.assert_allclose(quick.p_values, slow.p_values, rtol=1e-6, atol=1e-12)
    assert [one.tolist() for one in quick.parent_sets] == [one.tolist() for one in slow.parent_sets]


def test_p_values_are_of_the_rise_without_a_variable():
    X, _ = waves(80, 2, 4)
    parts = list(KFold(5, shuffle=True, random_state=0).split(X))
    found = regression_forward(X, LinearRegression())

    def errors(given, target):
        one = np.empty(len(X))
        for inside, outside in parts:
            predict = by_least_squares(X[inside][:, given], X[inside, target])
            one[outside] = [(X[i, target] - predict(X[i, given])) ** 2 for i in outside]
        return one

    order = found.order.tolist()
    for m, target in enumerate(order):
        for j, k in enumerate(order[:m]):
            rise = errors([c for c in order[:m] if c != k], target) - errors(order[:m], target)
            z = rise.mean() / (rise.std(ddof=1) / np.sqrt(80))
            assert found.p_values[m, j] == pytest.approx(norm.sf(z), rel=1e-6)
        assert (found.p_values[m, m:] == 1.0).all()


@pytest.mark.slow
def test_other_labels_give_the_same_answer():
    X, _ = waves(150, 3, 5)
    mixed = np.array([3, 0, 4, 1, 2])
    plain, other = regression_forward(X), regression_forward(X[:, mixed])
    assert mixed[other.order].tolist() == plain.order.tolist()
    np.testing.assert_allclose(other.p_values, plain.p_values, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_finds_waves_where_straight_lines_fail():
    linear = 0
    for seed in range(3):
        X, truth = waves(400, seed)
        given = X.copy()
        found = regression_forward(X)
        assert np.array_equal(X, given)
        assert found.order.tolist() == truth
        parents = [one.tolist() for one in found.parent_sets]
        assert all(truth[k - 1] in parents[k] for k in range(1, 6))
        assert sum(map(len, parents)) <= 6
        linear += forward(Moments.from_rows(X)).order.tolist() == truth
    assert linear < 3


@pytest.mark.thorough
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


def test_a_rule_has_the_name_of_its_regressor():
    assert regression_rule().name == "regression"
    assert regression_rule(LinearRegression()).name == "LinearRegression"


@pytest.mark.parametrize(("p_value", "parents"), [(0.01, 2), (0.0101, 0)])
def test_a_parent_has_a_rise_at_the_level_of_one_per_cent(p_value, parents, monkeypatch):
    monkeypatch.setattr("ordag.order.regression.no_rise", lambda rise: np.full(rise.shape[1], p_value))
    found = regression_forward(np.random.default_rng(1).standard_normal((30, 3)), LinearRegression())
    assert [len(one) for one in found.parent_sets] == [0, min(1, parents), parents]
