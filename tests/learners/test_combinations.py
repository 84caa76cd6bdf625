"""Every estimator of conditional variances with every kind of test: an answer, or a sentence that says why not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from budgets import THOROUGH, crossed, thorough
from scipy.special import stdtr
from sklearn.linear_model import LinearRegression

import ordag
from ordag.errors import SettingError
from ordag.learners.cvs import CvsSettings
from ordag.order import ESTIMATORS
from ordag.parents.tests import student_t


class LeastSquares:
    """As a user would write it."""

    def conditional_variance(self, x, Z):
        Z = np.column_stack([np.ones(len(x)), Z])
        return float(np.linalg.lstsq(Z, x, rcond=None)[1][0] / (len(x) - Z.shape[1]))


def of_correlations(r, n, k):
    return student_t(r, n, k)


def of_rows(x, y, Z):
    k = Z.shape[1]
    Z = np.column_stack([np.ones(len(x)), Z])
    x, y = (v - Z @ np.linalg.lstsq(Z, v, rcond=None)[0] for v in (x, y))
    return float(student_t(np.corrcoef(x, y)[0, 1], len(x), k))


TESTS = [None, "fisher-z", "t", "mutual-information", "distance-correlation", of_correlations, of_rows]
VARIANCES = [None, "auto", *ESTIMATORS, LinearRegression(), LeastSquares()]


def straight(n=300, p=5):
    """A chain of strong effects; columns as they cause each other."""
    X = np.random.default_rng(4).standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 0.9 * X[:, j - 1]
    return X


def bent(n=400):
    """x → y by a square, y → z by a wave, and a column of nothing."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 4))
    X[:, 1] += X[:, 0] ** 2
    X[:, 2] += 2.0 * np.sin(2.0 * X[:, 1])
    return X


CHAIN = {("X1", "X2"), ("X2", "X3"), ("X3", "X4"), ("X4", "X5")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variance", "test"),
    [*crossed([one for one in VARIANCES if one != "robust"], TESTS), *(thorough("robust", test) for test in TESTS)],
    ids=lambda one: one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__),
)
def test_all_find_a_chain(variance, test, tmp_path):
    X = straight()
    given = X.copy()
    fit = ordag.learn(X, "cvs", variance=variance, test=test, alpha=0.001)
    np.testing.assert_array_equal(X, given)
    assert set(fit.graph.directed) == CHAIN
    document = json.loads(fit.to_json())
    assert document["settings"]["test"] == (getattr(test, "__name__", test))
    assert all(0.0 <= edge["p_value"] <= 0.001 for edge in document["edges"])
    fit.report(tmp_path / "x.html")


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["sparse", "lasso"])
def test_with_few_rows_a_test_is_of_the_support(variance):
    X = ordag.simulate("er2", 30, 24, seed=3).X
    for test in TESTS if THOROUGH or variance == "sparse" else ("t", of_rows):
        fit = ordag.learn(X, "cvs", variance=variance, test=test, alpha=0.1)
        assert fit.details["p_values"] == "after selection"
        if test == "t":
            usual = ordag.learn(X, "cvs", variance=variance, alpha=0.1)
            assert usual.graph == fit.graph
            np.testing.assert_allclose(fit.edges["p_value"], usual.edges["p_value"], rtol=1e-6)
        if test is of_rows:
            np.testing.assert_allclose(fit.edges["p_value"], by_least_squares(X, fit), rtol=1e-6)


def by_least_squares(X, fit):
    """P-values of t tests, each regression made from the rows."""
    values = []
    for a, b in zip(fit.edges["source"], fit.edges["target"], strict=True):
        i, j = fit.names.index(a), fit.names.index(b)
        parents = [i, *(k for k in np.flatnonzero(fit.graph.adjacency[:, j]) if k != i)]
        Z = np.column_stack([X[:, parents], np.ones(len(X))])
        w, rest, *_ = np.linalg.lstsq(Z, X[:, j], rcond=None)
        d = len(X) - Z.shape[1]
        error = np.sqrt(rest[0] / d * np.linalg.inv(Z.T @ Z)[0, 0])
        values.append(2.0 * stdtr(d, -abs(w[0] / error)))
    return values


@pytest.mark.thorough
def test_curves_that_straight_lines_miss():
    X = bent()
    truth = {("X1", "X2"), ("X2", "X3")}
    assert set(ordag.learn(X, "cvs", variance="regression").graph.directed) == truth
    assert set(ordag.learn(X, "cvs", variance="regression", test="distance-correlation").graph.directed) == truth
    for test in ("fisher-z", "t", of_correlations):
        straight = ordag.learn(X, "cvs", variance="regression", test=test)
        assert straight.order == ordag.learn(X, "cvs", variance="regression").order
        assert ("X1", "X2") not in straight.graph.directed


@pytest.mark.slow
def test_the_regressions_own_tests_obey_level_correction_and_knowledge():
    X = np.column_stack([bent(), np.random.default_rng(1).standard_normal((400, 4))])
    loose, strict = (ordag.learn(X, "cvs", variance="regression", alpha=alpha) for alpha in (0.3, 1e-6))
    assert loose.graph.edge_count > strict.graph.edge_count
    corrected = ordag.learn(X, "cvs", variance="regression", alpha=0.3, correction="bonferroni")
    assert corrected.graph.edge_count < loose.graph.edge_count
    assert corrected.expected_false_edges == pytest.approx(0.3)
    known = ordag.learn(
        X, "cvs", variance="regression", knowledge={"required": [("X8", "X1")], "forbidden": [("X1", "X2")]}
    )
    assert ("X8", "X1") in known.graph.directed
    assert ("X1", "X2") not in known.graph.directed
    assert "direction_p_value" not in known.edges


@pytest.mark.thorough
def test_rules_without_tests_take_regressions_on_all_earlier_variables():
    X = straight()
    for variance in ("sparse", "lasso", "regression"):
        for parents in ("bic", "adaptive"):
            assert set(ordag.learn(X, "cvs", variance=variance, parents=parents).graph.directed) >= CHAIN
    few = ordag.simulate("er2", 30, 24, seed=3).X
    with pytest.raises(
        SettingError, match=r"parents='bic' takes regressions on all earlier variables.* 32 rows .* there are 24"
    ):
        ordag.learn(few, "cvs", variance="sparse", parents="bic")
    with pytest.raises(SettingError, match="test='t' takes regressions on all earlier variables"):
        ordag.learn(few, "cvs", variance="regression", test="t")
    with pytest.raises(SettingError, match="correction='bonferroni'"):
        ordag.learn(few, "cvs", variance="sparse", correction="bonferroni")


@pytest.mark.slow
@pytest.mark.parametrize("variance", VARIANCES, ids=lambda one: one if isinstance(one, str) else type(one).__name__)
def test_halves(variance):
    X = straight()
    for test in (None, "t", "distance-correlation"):
        if test is None and (variance == "regression" or isinstance(variance, LinearRegression)):
            with pytest.raises(SettingError, match="test of rows"):
                ordag.learn(X, "cvs", variance=variance, test=test, split=True)
            continue
        fit = ordag.learn(X, "cvs", variance=variance, test=test, split=True)
        assert set(fit.graph.directed) >= CHAIN
        assert fit.details["p_values"] == "of other rows than the graph"
        assert fit.n == 150
    other = X[np.random.default_rng(0).permutation(300)[1::2]]
    if variance is None:
        fit = ordag.learn(X, "cvs", variance=variance, split=True)
        np.testing.assert_allclose(fit.edges["p_value"], by_least_squares(other, fit), rtol=1e-6)


@pytest.mark.thorough
def test_checks_and_resamples_go_with_combinations():
    X = straight(60)
    for variance, test in (("sparse", "t"), ("regression", "distance-correlation"), ("robust", "t"))[
        : 3 if THOROUGH else 2
    ]:
        diagnosis = ordag.check(X, method="cvs", variance=variance, test=test, draws=1)
        assert {one.key for one in diagnosis.findings} >= {"sorting"}
        done = ordag.bootstrap(X, 2, method="cvs", variance=variance, test=test, seed=1, workers=1)
        assert done.completed == 2


def test_as_many_rows_as_regressions_on_all_earlier_variables_take_are_enough():
    X = ordag.simulate("er2", 6, 8, seed=3).X
    assert ordag.learn(X, "cvs", variance="sparse", parents="bic").graph.nodes
    with pytest.raises(SettingError, match="8 rows for them; there are 7"):
        ordag.learn(X[:7], "cvs", variance="sparse", parents="bic")


def test_a_device_goes_with_least_squares_forward_only():
    assert CvsSettings(device="cuda", variance="least-squares").device == "cuda"
    for other in ({"direction": "backward"}, {"variance": "sparse"}):
        with pytest.raises(SettingError, match="device='cuda' goes with"):
            CvsSettings(device="cuda", **other)


def test_rows_that_lie_elsewhere_bring_no_products_to_a_device(monkeypatch):
    """Where the device finds that a Gram matrix has too few digits, the order is found as elsewhere."""
    asked = []
    monkeypatch.setattr("ordag.learners.cvs.torch_device", lambda device: None)
    monkeypatch.setattr("ordag.learners.cvs.forward_on", lambda moments, *given: asked.append(given))
    assert ordag.learn("marks", "cvs", device="cuda").graph == ordag.learn("marks", "cvs").graph
    assert asked == [("cuda", None)]
