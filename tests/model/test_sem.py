import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import model as oracles
from sems import relabelled, sems, table

from ordag.errors import (
    ColumnError,
    DataError,
    GraphError,
    GraphFormatError,
    NonFiniteError,
    PrecisionError,
    SettingError,
)
from ordag.model import LinearSEM, simulate


@pytest.mark.slow
@given(sems())
def test_total_effects_sum_over_paths(sem):
    effects = sem.total_effects()
    assert np.allclose(effects, oracles.total_effects(sem.B), rtol=1e-12, atol=1e-12)
    assert not np.diag(effects).any()


@pytest.mark.slow
def test_total_effects_keep_their_digits_in_dense_graphs():
    sem, _ = simulate("homogeneous", p=50, n=1, seed=3)
    S = oracles.exact_covariance(sem.B, sem.omega)
    exact = np.array([float(S[k, k]) for k in range(50)])
    T = sem.total_effects() + np.eye(50)
    assert exact.max() / exact.min() > 1e12
    assert np.allclose((T**2 * sem.omega[:, None]).sum(axis=0), exact, rtol=1e-10)


@given(sems())
def test_covariance_precision_and_mean(sem):
    S = oracles.covariance(sem.B, sem.omega)
    assert np.allclose(sem.covariance(), S, rtol=1e-9, atol=1e-9)
    assert np.allclose(sem.precision() @ S, np.eye(len(S)), atol=1e-6 * S.max())
    assert np.allclose(sem.mean() @ (np.eye(len(S)) - sem.B), sem.intercept, atol=1e-9 * (1 + abs(sem.mean()).max()))


@given(sems(), st.integers(0, 2**32 - 1))
def test_log_likelihood_is_the_gaussian_density(sem, seed):
    X = sem.sample(12, seed)
    expected = oracles.log_density(X, sem.mean(), oracles.covariance(sem.B, sem.omega))
    assert sem.log_likelihood(X) == pytest.approx(expected, rel=1e-7)
    assert sem.log_likelihood(table(X)) == pytest.approx(expected, rel=1e-7)


def test_log_likelihood_where_the_covariance_is_singular_in_float64():
    sem, X = simulate("homogeneous", p=50, n=400, seed=1)
    errors = X - X @ sem.B
    expected = -0.5 * (X.size * np.log(2 * np.pi) + (errors**2).sum())
    assert np.linalg.cond(sem.covariance()) > 1e16
    assert sem.log_likelihood(X) == pytest.approx(expected, rel=1e-12)
    assert sem.log_likelihood(table(X)) == pytest.approx(expected, rel=1e-5)


def test_sample_has_the_models_moments():
    sem = LinearSEM.from_edges(
        ["a", "b", "c"], {("c", "a"): 2.0, ("a", "b"): -1.0, ("c", "b"): 0.5}, [1, 2, 3], [4, 5, 6]
    )
    X = sem.sample(200_000, seed=1)
    assert np.allclose(X.mean(axis=0), sem.mean(), atol=0.05)
    assert np.allclose(np.cov(X.T), sem.covariance(), rtol=0.02, atol=0.05)


def test_sample_is_right_across_blocks():
    sem, X = simulate("erdos-renyi", p=200, n=2000, degree=6, weights=(0.2, 0.8), variances=(1, 3), seed=2)
    errors = X - X @ sem.B
    assert np.allclose(errors @ (np.eye(200) + oracles.total_effects(sem.B)), X)
    assert np.allclose(errors.var(axis=0), sem.omega, rtol=0.2)
    assert abs(np.corrcoef(errors.T) - np.eye(200)).max() < 0.12


def test_sample_of_many_variables():
    sem, X = simulate("erdos-renyi", p=3000, n=50, degree=6, weights=(0.1, 0.5), seed=2)
    assert X.shape == (50, 3000)
    assert (X - X @ sem.B).var() == pytest.approx(1, rel=0.03)


def test_more_rows_than_memory_holds_are_refused():
    with pytest.raises(SettingError, match=r"n=1000000000000000: so many rows do not fit in memory"):
        LinearSEM(np.zeros((20, 20))).sample(10**15)


def test_sample_takes_every_kind_of_seed():
    sem, _ = simulate(p=5, n=1, seed=0)
    kinds = [7, np.random.default_rng(7), np.random.SeedSequence(7)]
    first, second, third = (sem.sample(3, seed) for seed in kinds)
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert not np.array_equal(first, sem.sample(3, 8))
    with pytest.raises(SettingError, match="at least one"):
        sem.sample(0)


@given(sems(min_p=2), st.randoms(use_true_random=False))
def test_relabelling_relabels_everything(sem, random):
    labels = list(range(len(sem.names)))
    random.shuffle(labels)
    other = relabelled(sem, labels)
    pairs = np.ix_(labels, labels)
    X = sem.sample(9, 1)
    assert np.allclose(other.total_effects(), sem.total_effects()[pairs], atol=1e-9)
    assert np.allclose(other.covariance(), sem.covariance()[pairs], rtol=1e-9, atol=1e-9)
    assert np.allclose(other.mean(), sem.mean()[labels])
    assert other.log_likelihood(X[:, labels]) == pytest.approx(sem.log_likelihood(X), rel=1e-9)


def test_order_has_causes_first():
    sem, _ = simulate(p=30, n=1, seed=4)
    assert oracles.is_causal(sem.B, list(sem.order))
    assert sem.order == LinearSEM(sem.B, sem.omega).order


def test_inputs_are_copied_and_fields_cannot_be_written():
    B, omega, intercept = np.array([[0.0, 1.0], [0.0, 0.0]]), np.ones(2), np.zeros(2)
    sem = LinearSEM(B, omega, intercept)
    B[0, 1] = omega[0] = intercept[0] = 9.0
    assert sem.B[0, 1] == sem.omega[0] == 1.0
    assert sem.intercept[0] == 0.0
    for array in (sem.B, sem.omega, sem.intercept):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        sem.B = B


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((np.zeros((2, 3)),), DataError, "square"),
        ((3.0,), DataError, "square"),
        ((np.zeros((0, 0)),), DataError, "square"),
        (([[0, np.nan], [0, 0]],), DataError, r"B is not finite at \[0, 1\]"),
        ((np.zeros((2, 2)), [1, 0]), DataError, "X2 is 0"),
        ((np.zeros((2, 2)), [1, 2, 3]), DataError, r"\(2,\)"),
        ((np.zeros((2, 2)), 1, [1, np.inf]), DataError, "intercept is not finite"),
        ((np.zeros((2, 2)), 1, 0, ["a", "a"]), GraphError, "name"),
        ((np.zeros((2, 2)), 1, 0, ["a"]), GraphError, "name"),
        (([[0, 1], [1, 0]], 1, 0, ["here", "there"]), GraphError, "here"),
        (([[1.0]],), GraphError, "X1"),
    ],
)
def test_refuses_what_is_no_model(arguments, error, words):
    with pytest.raises(error, match=words):
        LinearSEM(*arguments)


def test_refuses_values_beyond_float64():
    chain = LinearSEM(np.diag(np.full(399, 10.0), 1))
    with pytest.raises(PrecisionError, match="float64"):
        chain.total_effects()
    with pytest.raises(PrecisionError, match="float64"):
        chain.sample(1, 0)
    with pytest.raises(PrecisionError, match="float64"):
        LinearSEM(np.diag(np.full(199, 10.0), 1)).covariance()


def test_log_likelihood_refuses_other_columns():
    sem = LinearSEM(np.zeros((2, 2)), names=["a", "b"])
    with pytest.raises(DataError, match="2 columns"):
        sem.log_likelihood(np.zeros((5, 3)))
    with pytest.raises(ColumnError, match="same names"):
        sem.log_likelihood(table(sem.sample(5, 0), ["b", "a"]))


@given(sems())
def test_json_round_trip(sem):
    text = sem.to_json()
    assert LinearSEM.from_json(text) == sem
    assert set(json.loads(text)) == {"names", "intercept", "omega", "edges"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"names": ["a"], "omega": [1], "intercept": [0], "edges": [3]}'])
def test_json_that_is_no_model(text):
    with pytest.raises(GraphFormatError, match="to_json"):
        LinearSEM.from_json(text)


def test_json_with_an_unknown_node():
    text = '{"names": ["a"], "omega": [1], "intercept": [0], "edges": [{"source": "a", "target": "z", "weight": 1}]}'
    with pytest.raises(GraphError, match="a → z"):
        LinearSEM.from_json(text)


def test_pickling_keeps_the_model_locked():
    sem, _ = simulate(p=4, n=1, seed=0)
    again = pickle.loads(pickle.dumps(sem))
    assert again == sem
    assert not again.B.flags.writeable


def test_equality_hash_and_repr():
    edges = {("a", "b"): 2.0}
    one, same = (LinearSEM.from_edges(["a", "b"], edges) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != LinearSEM.from_edges(["a", "b"], edges, omega=2.0)
    assert one != "a → b"
    assert repr(one) == "LinearSEM(2 variables, 1 edge)"
    assert one.dag.adjacency.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("text", ['{"names": [], "names": []}', "[" * 100_000])
def test_json_with_a_key_twice_or_nested_without_end_is_refused(text):
    with pytest.raises(GraphFormatError, match="not a model"):
        LinearSEM.from_json(text)


@given(sems(), st.integers(0, 2**32 - 1))
def test_a_model_by_its_arrows_is_that_of_its_matrix(sem, seed):
    by_arrows = LinearSEM.of(sem.dag, sem.weights, sem.omega, sem.intercept)
    assert by_arrows == sem == LinearSEM.from_edges(sem.names, sem.edges, sem.omega, sem.intercept)
    assert "B" not in vars(by_arrows)
    assert by_arrows.order == sem.order
    np.testing.assert_array_equal(by_arrows.sample(5, seed), sem.sample(5, seed))
    np.testing.assert_array_equal(by_arrows.mean(), sem.mean())
    X = np.random.default_rng(seed).standard_normal((4, len(sem.names)))
    for few in (0, 2**40):  # by the matrix, by the arrows
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ordag.model.sem.ARROW_COST", few)
            assert np.allclose(by_arrows.by_parents(X), X @ sem.B, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(by_arrows.B, sem.B)
    assert not by_arrows.B.flags.writeable


def test_an_arrow_of_weight_zero_is_none():
    dag = LinearSEM.from_edges(list("abc"), {("a", "b"): 1.0, ("b", "c"): 2.0}).dag
    assert LinearSEM.of(dag, [0.0, 2.0]).dag.directed == (("b", "c"),)
    with pytest.raises(DataError, match="2 arrows"):
        LinearSEM.of(dag, [1.0])
    with pytest.raises(NonFiniteError, match="a → b is nan"):
        LinearSEM.from_edges(["a", "b"], {("a", "b"): float("nan")})
