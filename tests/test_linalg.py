"""Products and inverses in place, against loops; and how much memory the largest of them take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import ordag
from ordag import linalg


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
def test_block_columns_of_an_inverse_equal_substitution(p, ill, order, monkeypatch):
    for name, value in {"WHOLE": 0, "BLOCK_COLUMN": 8, "BLOCK_ROWS": 16}.items():
        monkeypatch.setattr(linalg, name, value)
    L = np.array(lower_triangle(p, ill=ill), order=order)
    before, told = L.copy(), []
    W = linalg.inverse(L, told.append)
    expected = substituted(L)
    scale = np.maximum.accumulate(np.abs(expected), axis=0).max(axis=1, keepdims=True)
    assert (np.abs(W - expected) <= 1e-9 * scale).all()
    assert not np.triu(W, 1).any()
    np.testing.assert_array_equal(L, before)
    assert told == sorted(told)
    assert told[-1] == p


@pytest.mark.parametrize("p", [1, 5, 64, 65, 200])
@pytest.mark.parametrize("by_rows", [False, True])
def test_products_are_added_to_a_part_of_a_matrix_and_to_nothing_else(p, by_rows, monkeypatch):
    monkeypatch.setattr(linalg, "AT_ONCE", 1)  # in slabs of 64 columns
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
@pytest.mark.parametrize("correction", ["none", "bh"])
def test_learning_takes_three_matrices(correction, monkeypatch):
    """The scatter, the factor and its inverse; beside them a few slabs."""
    monkeypatch.setattr(linalg, "WHOLE", 0)
    p = 1500
    X = np.random.default_rng(0).standard_normal((2000, p))
    taken, fit = peak(lambda: ordag.learn(X, "cvs", correction=correction))
    assert fit.ordering.L.shape == (p, p)
    assert taken < 3.4 * 8 * p * p


@pytest.mark.slow
def test_products_and_inverse_copy_nothing():
    p = 1500
    L = lower_triangle(p)
    taken, _ = peak(lambda: linalg.add_products(L, np.ones((p, 10))))
    assert taken < 0.01 * 8 * p * p
