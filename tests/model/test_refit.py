"""Refits against regressions on the rows, and robustness values against the published example and a hidden common cause."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import model as oracles
from sems import relabelled, sems, table

from ordag import learn
from ordag.data.moments import Moments
from ordag.errors import CollinearError, ConstantColumnError, GraphError, TooFewRowsError
from ordag.graph.dag import Dag
from ordag.model import refit, simulate
from ordag.model.effects import effect_robustness
from ordag.model.refit import robustness_value


@given(sems(), st.integers(0, 2**32 - 1))
def test_equals_least_squares_on_the_rows(sem, seed):
    X = sem.sample(15, seed)
    result = refit(table(X), sem.dag)
    for j in range(len(sem.names)):
        parents = np.flatnonzero(sem.B[:, j])
        intercept, weights, errors, variance = oracles.regression(X, parents, j)
        assert np.allclose(result.sem.B[parents, j], weights, rtol=1e-6, atol=1e-8)
        assert np.allclose(result.std_error[parents, j], errors, rtol=1e-6)
        assert result.sem.omega[j] == pytest.approx(variance, rel=1e-8)
        assert result.sem.intercept[j] == pytest.approx(intercept, rel=1e-5, abs=1e-6)
        assert result.residual_df[j] == 14 - len(parents)
    assert np.array_equal(np.isnan(result.std_error), sem.B == 0)


@pytest.mark.thorough
def test_keeps_its_digits_in_dense_graphs():
    sem, X = simulate("homogeneous", p=50, n=120, seed=9)
    assert np.linalg.cond(X) > 1e10
    result = refit(table(X), sem.dag)
    for j in np.argsort((sem.B != 0).sum(axis=0))[-1:]:
        parents = np.flatnonzero(sem.B[:, j])
        weights, rss = oracles.exact_regression(X, parents, j)
        assert len(parents) > 35
        assert (abs(result.sem.B[parents, j] - weights) / result.std_error[parents, j]).max() < 1e-5
        assert result.sem.omega[j] * result.residual_df[j] == pytest.approx(rss, rel=1e-5)


@pytest.mark.slow
def test_standard_errors_have_the_right_size():
    sem, _ = simulate("nonfaithful", n=1)
    scores = []
    for seed in range(200):
        result = refit(table(sem.sample(30, seed)), sem.dag)
        scores.append(((result.sem.B - sem.B) / result.std_error)[sem.B != 0])
    assert np.std(scores, axis=0) == pytest.approx(1, abs=0.2)


def test_finds_the_model_in_its_own_covariance():
    sem, _ = simulate("scale-free", p=30, n=1, degree=4, variances=(1, 3), seed=5)
    n = 10**9
    R = np.linalg.qr(np.sqrt(n * sem.omega)[:, None] * (np.eye(30) + oracles.total_effects(sem.B)), mode="r")
    result = refit(Moments(n, np.zeros(30), sem.names, R=R), sem.dag)
    assert np.allclose(result.sem.B, sem.B)
    assert np.allclose(result.sem.omega, sem.omega)


@given(sems(min_p=2), st.randoms(use_true_random=False))
def test_relabelling_relabels_the_answer(sem, random):
    labels = list(range(len(sem.names)))
    random.shuffle(labels)
    X = sem.sample(15, 1)
    result = refit(table(X), sem.dag)
    other = refit(table(X[:, labels], [sem.names[i] for i in labels]), relabelled(sem, labels).dag)
    pairs = np.ix_(labels, labels)
    assert np.allclose(other.sem.B, result.sem.B[pairs], rtol=1e-6, atol=1e-8)
    assert np.allclose(other.std_error, result.std_error[pairs], rtol=1e-6, equal_nan=True)
    assert np.array_equal(other.residual_df, result.residual_df[labels])


def test_nodes_may_come_in_another_order():
    X = np.random.default_rng(0).standard_normal((20, 3))
    straight = refit(table(X, "abc"), Dag.from_edges([*"abc"], [("a", "b"), ("c", "b")]))
    shuffled = refit(table(X, "abc"), Dag.from_edges([*"cba"], [("a", "b"), ("c", "b")]))
    assert straight.sem == shuffled.sem


def test_more_variables_than_rows_will_do_if_parents_are_few():
    sem, X = simulate("erdos-renyi", p=60, n=25, degree=2, seed=3)
    result = refit(table(X), sem.dag)
    j = int(np.argmax((sem.B != 0).sum(axis=0)))
    parents = np.flatnonzero(sem.B[:, j])
    assert np.allclose(result.sem.B[parents, j], oracles.regression(X, parents, j)[1])


def test_says_who_has_too_many_parents():
    X = np.random.default_rng(0).standard_normal((4, 4))
    graph = Dag.from_edges([*"abcd"], [("a", "d"), ("b", "d"), ("c", "d")])
    with pytest.raises(TooFewRowsError, match="d has 3 parents, which takes at least 5 rows; there are 4"):
        refit(table(X, "abcd"), graph)


def test_says_which_columns_are_collinear():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 2] = X[:, 0] - 2 * X[:, 1]
    with pytest.raises(CollinearError, match=r"Column c is a linear combination of a and b"):
        refit(table(X, "abc"), Dag.from_edges([*"abc"], [("a", "c"), ("b", "c")]))
    X[:, 0] = 3.0
    with pytest.raises(ConstantColumnError, match=r"Column a never changes"):
        refit(table(X, "abc"), Dag.from_edges([*"abc"], []))


def test_says_which_nodes_are_not_columns():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(GraphError, match="b and z"):
        refit(table(X, "ab"), Dag.from_edges([*"az"], []))


def test_takes_moments_from_the_gate():
    sem, X = simulate("heterogeneous", p=8, n=50, seed=1)
    moments = Moments.from_rows(X, names=sem.names)
    assert np.allclose(refit(moments, sem.dag).sem.B, refit(table(X), sem.dag).sem.B)
    assert sem.log_likelihood(moments) == pytest.approx(sem.log_likelihood(X))


def test_leaves_its_input_alone():
    X = np.random.default_rng(0).standard_normal((20, 3))
    moments = table(X, "abc")
    before = moments.R.copy()
    result = refit(moments, Dag.from_edges([*"abc"], [("a", "c"), ("b", "c")]))
    assert np.array_equal(moments.R, before)
    with pytest.raises(ValueError, match="read-only"):
        result.std_error[0] = 0


def test_darfur():
    """Cinelli & Hazlett (2020), Table 1: t = 4.18 on 783 degrees of freedom has the partial R² 2.2 % and the value 13.9 %."""
    f = 4.18 / np.sqrt(783)
    assert f**2 / (1 + f**2) == pytest.approx(0.022, abs=5e-4)
    assert robustness_value(f) == pytest.approx(0.139, abs=5e-4)


@given(st.floats(1e-6, 1e3))
def test_a_robustness_value_is_the_share_at_which_both_sides_are_equal(f):
    r = float(robustness_value(f))
    assert 0 < r < 1
    assert r**2 == pytest.approx(f**2 * (1 - r), rel=1e-6)


def test_limits_of_robustness():
    np.testing.assert_array_equal(robustness_value(np.array([0.0, np.inf])), [0.0, 1.0])
    assert np.isnan(robustness_value(np.nan))


@pytest.mark.parametrize("seed", range(2))
def test_a_hidden_cause_of_that_strength_takes_an_arrow_away(seed):
    sem, X = simulate("erdos-renyi", 5, 40, seed=seed, degree=3)
    fitted = refit(table(X), sem.dag)
    source, target = np.nonzero(sem.B)
    for i, j, value in zip(source, target, fitted.robustness_of(source, target), strict=True):
        others = [k for k in np.flatnonzero(sem.B[:, j]) if k != i]
        assert value == pytest.approx(oracles.robustness_value(X, others, i, j), abs=1e-6)
    assert np.isnan(fitted.robustness_of(target, source)).all()


@pytest.mark.parametrize("seed", range(2))
def test_an_effect_in_a_complete_graph_is_that_of_the_regression_on_the_cause_and_its_parents(seed):
    sem, X = simulate("erdos-renyi", 5, 40, seed=seed, degree=4)
    fitted = refit(table(X), sem.dag).sem
    reached = fitted.total_effects() != 0
    values = effect_robustness(table(X).R, sem.dag.links, fitted.total_effects(), reached)
    assert reached.sum() == 10
    np.testing.assert_array_equal(np.isnan(values), ~reached)
    for i, j in np.argwhere(reached):
        parents = np.flatnonzero(sem.B[:, i]).tolist()
        assert values[i, j] == pytest.approx(oracles.robustness_value(X, parents, i, j), abs=1e-6)


def test_the_robustness_of_an_effect_is_where_its_picture_reaches_zero():
    fit = learn("marks", "cvs", alpha=0.05)
    effect = fit.effects(interval="given-graph").of("algebra", "mechanics")
    ax = fit.plot("robustness", source="algebra", target="mechanics")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"as estimated: {effect.estimate:.3g}" in legend
    (zero,) = (one for one in ax.collections if np.allclose(one.get_linewidth(), 1.6))
    at = np.concatenate([path.vertices for path in zero.get_paths()])
    nearest = at[np.abs(at[:, 0] - at[:, 1]).argmin()]
    np.testing.assert_allclose(nearest, effect.robustness, atol=0.01)
    assert not fit.plot("robustness", source="mechanics", target="algebra").collections


def test_robustness_is_the_same_in_all_units():
    X = simulate("erdos-renyi", 5, 40, seed=1, degree=3).X
    fit = learn(X, "cvs", alpha=0.05)
    other = refit(table(X * [1e3, 1e-3, 7.0, -1.0, 1.0]), fit.graph)
    ends = fit.graph.arrows.source, fit.graph.arrows.target
    np.testing.assert_allclose(other.robustness_of(*ends), fit.refit.robustness_of(*ends))
