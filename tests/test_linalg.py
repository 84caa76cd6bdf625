"""Products and inverses in place, against loops; and how much memory the largest of them take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from budgets import thorough

import ordag
from ordag.common import linalg


def substituted(L):
    """The inverse of a lower triangular matrix, one entry at a time."""
    p = len(L)
    W = np.zeros((p, p))
    for j in range(p):
        W[j, j] = 1 / L[j, j]
        for m in range(j + 1, p):
            W[m, j] = -(L[m, j:m] @ W[j:m, j]) / L[m, m]
    return W


def lower_triangle(p, *, ill=False):
    random = np.random.default_rng(p)
    L = np.tril(random.standard_normal((p, p)), -1) / (1 if ill else np.sqrt(p))
    L[np.diag_indices(p)] = 10.0 ** random.uniform(-3, 3, p) if ill else 1 + random.random(p)
    return np.asfortranarray(L)


@pytest.mark.parametrize("p", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("ill", [False, True])
@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("whole", [0, 3000])
def test_an_inverse_equals_substitution(p, ill, order, whole, monkeypatch):
    for name, value in {"LAPACK_COLUMNS": whole, "LARGE_INVERSE_ROWS": 8, "INVERSE_COLUMNS": 16}.items():
        monkeypatch.setattr(linalg, name, value)
    L = np.array(lower_triangle(p, ill=ill), order=order)
    before = L.copy()
    W = linalg.inverse(L)
    expected = substituted(L)
    assert (np.abs(W - expected) <= 1e-9 * largest_so_far(expected)).all()
    assert not np.triu(W, 1).any()
    np.testing.assert_array_equal(L, before)


@pytest.mark.parametrize("p", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("whole", [0, 3000])
def test_a_root_times_itself_is_the_matrix(p, whole, monkeypatch):
    for name, value in {"LAPACK_COLUMNS": whole, "LARGE_INVERSE_ROWS": 8}.items():
        monkeypatch.setattr(linalg, name, value)
    expected = lower_triangle(p)
    S = expected @ expected.T
    given = np.tril(S) + np.triu(np.full((p, p), np.nan), 1)
    L = linalg.cholesky(given)
    np.testing.assert_allclose(L, expected, rtol=1e-9, atol=1e-11)
    assert not np.triu(L, 1).any()
    np.testing.assert_array_equal(np.tril(given), np.tril(S))
    S[-1, -1] = -1.0
    assert linalg.cholesky(S) is None


def largest_so_far(W):
    """The largest entry of every row and of those before it."""
    return np.maximum.accumulate(np.abs(W), axis=0).max(axis=1, keepdims=True)


@pytest.mark.parametrize("p", [1, 5, 64, 65, 200])
@pytest.mark.parametrize("by_rows", [False, True])
def test_products_are_added_to_a_part_of_a_matrix_and_to_nothing_else(p, by_rows, monkeypatch):
    monkeypatch.setattr(linalg, "MULTIPLICATIONS_PER_CALL", 1)  # in slabs of 64 columns
    random = np.random.default_rng(p)
    whole = np.asfortranarray(random.standard_normal((p + 7, p + 7)))
    before = whole.copy()
    A = random.standard_normal((p, 9))[:, 1:5] if by_rows else random.standard_normal((9, p + 2))[3:7, 1 : p + 1].T
    linalg.add_products(whole[3 : p + 3, 3 : p + 3], A, alpha=-0.5)
    expected = before.copy()
    expected[3 : p + 3, 3 : p + 3] -= 0.5 * np.tril(A @ A.T)
    inside = np.zeros(whole.shape, dtype=bool)
    inside[3 : p + 3, 3 : p + 3] = np.tri(p, dtype=bool)
    np.testing.assert_array_equal(whole[~inside], before[~inside])
    np.testing.assert_allclose(whole, expected, atol=1e-13)


def peak(call):
    """What a call takes at its peak, and its result."""
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "matrices"), [({}, 2.3), thorough({"correction": "bh"}, 2.3), thorough({"parents": "adaptive"}, 3.3)]
)
def test_learning_takes_two_matrices_and_the_edge_prior_three(settings, matrices):
    """The scatter, the factor with its inverse, and for the edge prior the scatter in order; beside them a few slabs."""
    p = 1500
    X = np.random.default_rng(0).standard_normal((1800, p))
    ordag.learn(X[:, :120], "cvs", **settings)  # whatever is imported
    taken, fit = peak(lambda: ordag.learn(X, "cvs", **settings))
    assert len(fit.ordering.factor) == p
    assert taken < matrices * 8 * p * p


def follows(fit):
    """What a user asks of a fit: none of it is kept from before."""
    return fit.edges, fit.sem, fit.steps, fit.verdict, fit.to_json(), str(fit)


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [False, True])
def test_what_follows_from_a_fit_makes_no_matrix_and_of_the_rows_two_copies(rows):
    """The verdict looks at rows, where there are any: centred, and rotated."""

    def learned(p, n):
        X = ordag.simulate("er2", p, n, seed=1).X
        return ordag.learn(X if rows else ordag.Moments.from_rows(X), "cvs", correction="bh")

    p, n = 1600, 1800
    fit = learned(p, n)
    follows(learned(20, 200))  # whatever is imported
    taken, _ = peak(lambda: follows(fit))
    assert taken < (2.5 * 8 * n * p if rows else 0.9 * 8 * p * p)


def test_products_and_inverse_copy_nothing():
    p = 1500
    L = lower_triangle(p)
    taken, _ = peak(lambda: linalg.add_products(L, np.ones((p, 10))))
    assert taken < 0.01 * 8 * p * p


@pytest.mark.parametrize("p", [1, 2, 7, 40])
@pytest.mark.parametrize("ill", [False, True])
def test_the_reciprocal_condition_is_close_to_that_of_the_inverse_and_not_below(p, ill):
    L = lower_triangle(p, ill=ill)
    norms = [np.abs(matrix).sum(axis=0).max() for matrix in (L, substituted(L))]
    exact = 1.0 / (norms[0] * norms[1])
    given = L + np.triu(np.full((p, p), np.nan), 1)  # whatever lies above the diagonal
    for estimate in (
        linalg.reciprocal_condition(given, "L"),
        linalg.reciprocal_condition(np.ascontiguousarray(L), "L"),
    ):
        assert exact * (1 - 1e-12) <= estimate <= 3.0 * exact
    of_rows = [np.abs(matrix).sum(axis=1).max() for matrix in (L, substituted(L))]
    assert linalg.reciprocal_condition(L.T, "U") == pytest.approx(1.0 / (of_rows[0] * of_rows[1]), rel=2.0)
