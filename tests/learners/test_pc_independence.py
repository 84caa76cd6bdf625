"""The kernel of PC: partial correlations for many (i, j, S) at once."""

from itertools import combinations

import numpy as np
import pytest
from budgets import thorough
from hypothesis import given
from hypothesis import strategies as st
from oracles import pc as oracles
from strategies.tables import tables

from ordag import Moments, simulate
from ordag.errors import CollinearError, DataError
from ordag.learners.pc import independence, pc_search
from ordag.learners.pc.independence import PartialCorrelations
from ordag.parents.tests import named_test


def every_test(p, k):
    found = [(i, j, S) for i, j in combinations(range(p), 2) for S in combinations(sorted({*range(p)} - {i, j}), k)]
    i, j, S = zip(*found, strict=True)
    return np.array(i), np.array(j), np.array(S, dtype=np.intp).reshape(len(found), k)


def random_tests(p, k, count, rng):
    nodes = np.array([rng.permutation(p)[: k + 2] for _ in range(count)])
    return nodes[:, 0], nodes[:, 1], nodes[:, 2:]


@pytest.mark.slow
@given(tables(min_p=3, max_p=6))
def test_equal_regressions_on_the_rows(X):
    correlation = PartialCorrelations(Moments.from_rows(X))
    for k in range(X.shape[1] - 1):
        i, j, S = every_test(X.shape[1], k)
        expected = [oracles.residual_correlation(X, *one) for one in zip(i, j, S, strict=True)]
        assert np.allclose(correlation(i, j, S), expected, atol=1e-9)


@given(tables(min_p=3, max_p=6), st.integers(0, 2**32 - 1))
def test_the_orthogonal_route_agrees_with_the_quick_one(X, seed):
    correlation = PartialCorrelations(Moments.from_rows(X))
    i, j, S = random_tests(X.shape[1], 1, 20, np.random.default_rng(seed))
    by_columns = correlation._orthogonalised(np.concatenate([S.T, i[None], j[None]]))
    assert np.allclose(correlation(i, j, S), by_columns, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "seed"), [(20, 4), *(thorough(p, s) for p, s in ((50, 1), (50, 2), (80, 1)))])
def test_keep_their_digits_in_the_papers_dense_design(p, seed):
    """Against 80 digits: right to 1e-9, or where a column is shorter than 1e-7, to ten roundings of its length."""
    _, X = simulate("homogeneous", p=p, n=120, seed=seed)
    correlation = PartialCorrelations(Moments.from_rows(X))
    rng = np.random.default_rng(seed)
    steep = np.argsort(X.std(axis=0))[-(p // 3) :]
    for k in range(5):
        i, j, S = (steep[part] for part in random_tests(len(steep), k, 8, rng))
        found = correlation(i, j, S)
        for r, *one in zip(found, i, j, S, strict=True):
            expected, shortest = oracles.exact_correlation(X, *one)
            assert r == pytest.approx(expected, abs=1e-9 + 10 * 2.2e-16 / shortest)


def test_a_bare_correlation_matrix_would_not_do():
    """What the guard is for: where the rows still tell, float64 correlations give the wrong first digit."""
    _, X = simulate("homogeneous", p=80, n=200, seed=1)
    C = np.corrcoef(X.T)
    correlation = PartialCorrelations(Moments.from_rows(X))
    steep = np.argsort(X.std(axis=0))[-20:]
    i, j, S = (steep[part] for part in random_tests(20, 4, 100, np.random.default_rng(0)))
    found = correlation(i, j, S)
    wrong = 0
    for r, *nodes in zip(found, i, j, *S.T, strict=True):
        assert r == pytest.approx(oracles.residual_correlation(X, nodes[0], nodes[1], nodes[2:]), abs=1e-4)
        K = np.linalg.pinv(C[np.ix_(nodes, nodes)])
        wrong += not abs(-K[0, 1] / np.sqrt(abs(K[0, 0] * K[1, 1])) - r) < 0.1
    assert wrong >= 5


@pytest.mark.parametrize("workspace", [1, 1000])
def test_batches_of_columns_change_nothing(monkeypatch, workspace):
    _, X = simulate("homogeneous", p=50, n=100, seed=3)
    correlation = PartialCorrelations(Moments.from_rows(X))
    i, j, S = random_tests(50, 3, 400, np.random.default_rng(0))
    expected = correlation(i, j, S)
    monkeypatch.setattr(independence, "NUMBERS_PER_BATCH", workspace)
    assert np.allclose(correlation(i, j, S), expected, rtol=0, atol=1e-12)
    assert np.isfinite(expected).all()
    assert np.abs(expected).max() < 1


def test_sets_that_are_skipped_have_minus_one_for_a_p_value_and_are_not_counted():
    moments = Moments.from_rows(np.random.default_rng(0).standard_normal((40, 4)))
    tester = independence.Tester(moments, named_test("fisher-z"), 0.05)
    pairs, S = (np.array([0, 1]), np.array([1, 2])), np.array([[[2], [3]], [[0], [3]]])
    skip = np.array([[False, True], [True, False]])
    every = tester(*pairs, S)
    assert tester(*pairs, S, skip).tolist() == np.where(skip, -1.0, every).tolist()
    assert ((every >= 0) & (every <= 1)).all()


@pytest.mark.parametrize("test", ["fisher-z", "t", "mutual-information"])
def test_a_perfect_correlation_stays_below_one(test):
    x = np.random.default_rng(0).standard_normal(50)
    result = pc_search(Moments.from_rows(np.column_stack([x, 3 * x + 1])), test=test)
    assert result.graph.undirected == (("X1", "X2"),)
    assert result.p_values[0, 1] == 0.0


def test_a_copied_column_is_named():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 4))
    with pytest.raises(CollinearError, match=r"Column (b is a copy of e|e is a copy of b), .* leave one"):
        pc_search(Moments.from_rows(np.column_stack([X, 1000 - 7 * X[:, 1]]), list("abcde")))


def test_from_a_covariance_matrix():
    _, X = simulate("erdos-renyi", p=8, n=300, seed=5, degree=3.0)
    from_rows = pc_search(Moments.from_rows(X))
    from_covariance = pc_search(Moments.from_covariance(np.cov(X.T), 300, mean=X.mean(axis=0) + 1e5))
    assert from_covariance.graph == from_rows.graph
    assert np.allclose(from_covariance.p_values, from_rows.p_values, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("left", "enough"), [(2.0**-40, True), (2.0**-52, False)])
def test_a_covariance_matrix_holds_half_the_digits_and_is_refused_where_they_are_spent(left, enough):
    """Powers of two, so that float64 holds the matrix and its root without rounding."""
    rng = np.random.default_rng(7)
    a, b, c = rng.standard_normal((3, 500))
    pc_search(Moments.from_rows(np.column_stack([a, a + 2.5e-8 * b, a + b + c, a + b - c])))
    moments = Moments.from_covariance([[1.0, 1.0, 0.5], [1.0, 1.0 + left, 0.5], [0.5, 0.5, 1.0]], 257)
    if enough:
        assert ("X1", "X2") in pc_search(moments).graph.undirected
    else:
        with pytest.raises(DataError, match=r"Column X[12] is a"):
            pc_search(moments)


def test_a_sum_of_columns_is_named():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3)) + rng.standard_normal((200, 1))
    total = X.sum(axis=1)
    rows = np.column_stack([X, total, total + rng.standard_normal(200)])
    with pytest.raises(CollinearError, match="Column total is a linear combination of c, b and a"):
        pc_search(Moments.from_rows(rows, ["a", "b", "c", "total", "x"]))


def test_columns_far_from_zero():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 5)) @ np.triu(rng.uniform(-1, 1, (5, 5)))
    near, far = (pc_search(Moments.from_rows(Y)) for Y in (X, X + 1e7))
    assert near.graph == far.graph
    assert np.allclose(near.p_values, far.p_values, atol=1e-4)


@pytest.mark.parametrize("p", [4, 30])
def test_more_columns_than_rows(p):
    X = np.random.default_rng(3).standard_normal((12, p))
    result = pc_search(Moments.from_rows(X))
    assert np.isfinite(result.p_values).all()


def test_squares_lose_twice_as_many_digits_as_often_as_columns_were_subtracted():
    nodes, blur, unit = np.arange(3)[:, None], np.ones(1), 2.0**-26
    tests = PartialCorrelations(Moments.from_covariance(np.eye(3), 100))
    for t, others in ((1, "a copy of X1"), (2, "a linear combination of X2 and X1")):
        tests._check(nodes, t, np.array([(t + 1.1) * unit]), blur)
        with pytest.raises(CollinearError, match=f"Column X{t + 1} is {others}, to the last digit"):
            tests._check(nodes, t, np.array([(t + 0.9) * unit]), blur)
    PartialCorrelations(Moments(100, np.zeros(3), ["a", "b", "c"], R=np.eye(3)))._check(
        nodes, 2, np.array([unit]), blur
    )
