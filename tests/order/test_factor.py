"""A triangular matrix and its inverse in one array, against substitution one entry at a time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ordag.common import linalg
from ordag.order.factor import Factor


def literal_inverse(L):
    """Row by row, so that every row of W has the digits that L leaves it."""
    p = len(L)
    W = np.zeros((p, p))
    for m in range(p):
        W[m, m] = 1 / L[m, m]
        for j in reversed(range(m)):
            W[m, j] = -sum(W[m, i] * L[i, j] for i in range(j + 1, m + 1)) / L[j, j]
    return W


def lower_triangle(p, *, ill):
    random = np.random.default_rng(p)
    L = np.tril(random.standard_normal((p, p)), -1) / (1 if ill else np.sqrt(p))
    L[np.diag_indices(p)] = 10.0 ** random.uniform(-3, 3, p) if ill else 1 + random.random(p)
    return L


@pytest.fixture(params=["usual", "small"])
def blocks(request, monkeypatch):
    """Blocks as they are, and so small that there are several of everything."""
    if request.param == "small":
        for name, value in {"INVERSE_ROWS": 8, "INVERSE_COLUMNS": 16, "TILE": 3}.items():
            monkeypatch.setattr(linalg, name, value)


@pytest.mark.parametrize("p", [1, 2, 3, 7, 8, 9, 40, 65])
@pytest.mark.parametrize("ill", [False, True])
@pytest.mark.usefixtures("blocks")
def test_both_are_those_of_matrices_of_their_own(p, ill):
    L = lower_triangle(p, ill=ill)
    W = literal_inverse(L)
    room = Factor.empty(p)
    room.lower[:] = L + np.triu(np.full((p, p), np.nan), 1)  # whatever lies above the diagonal
    told = []
    room.invert(told.append)
    np.testing.assert_array_equal(room.L, L)
    products = np.abs(W) @ np.abs(L)
    assert (np.abs(room.W - W) <= 1e-14 * products @ np.abs(W)).all()
    assert not np.triu(room.W, 1).any()
    assert (np.abs(room.W @ L - np.eye(p)) <= 1e-14 * products).all()  # rows are solutions for an L close by
    assert told == sorted(told)
    assert told[-1] == len(room) == p


@pytest.mark.parametrize("p", [1, 2, 3, 40])
def test_parts_are_those_of_the_whole(p):
    L = lower_triangle(p, ill=False)
    room = Factor.of(L)
    W = room.W
    np.testing.assert_array_equal(room.L, L)
    np.testing.assert_array_equal(room.L_diagonal, L.diagonal())
    np.testing.assert_array_equal(room.W_diagonal, W.diagonal())
    rows, columns = np.tril_indices(p)
    np.testing.assert_array_equal(room.L_at(rows, columns), L[rows, columns])
    np.testing.assert_array_equal(room.W_at(rows, columns), W[rows, columns])
    for start, stop in ((0, p), (p // 3, p // 2 + 1), (p - 1, p)):
        np.testing.assert_array_equal(room.L_columns(start, stop), L[start:, start:stop].T)
        np.testing.assert_array_equal(room.W_rows(start, stop), W[start:stop, :stop])
        np.testing.assert_array_equal(room.L_at(stop - 1, slice(stop)), L[stop - 1, :stop])
        np.testing.assert_array_equal(room.W_at(stop - 1, slice(stop)), W[stop - 1, :stop])
    scale = np.arange(1.0, p + 1)
    np.testing.assert_allclose(room.condition(scale), np.abs(W) @ scale, rtol=1e-14)
    for count in (0, p // 2):
        np.testing.assert_allclose(room.condition(scale[:count]), np.abs(W[:count, :count]) @ scale[:count], rtol=1e-14)
    again = pickle.loads(pickle.dumps(room))
    np.testing.assert_array_equal(again.both, room.both)
    assert again.both.flags.f_contiguous


def test_the_first_variables_alone_are_inverted():
    L = lower_triangle(20, ill=False)
    L[13, 13] = 0.0
    room = Factor.empty(20)
    room.lower[:] = L
    room.invert(count=13)
    np.testing.assert_allclose(room.W_rows(0, 13), literal_inverse(L[:13, :13]), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(room.L, L)


def test_readers_give_copies():
    room = Factor.of(lower_triangle(9, ill=False))
    before = room.both.copy()
    for part in (room.L, room.W, room.L_columns(2, 5), room.W_rows(2, 5)):
        part[:] = 3.0
    np.testing.assert_array_equal(room.both, before)


@pytest.mark.parametrize("together", [1, 30, 2**18])
def test_sums_over_what_comes_later_are_those_of_the_whole(together, monkeypatch):
    monkeypatch.setattr("ordag.order.factor.CACHE_NUMBERS", together)  # one, three or all steps at a time
    L = lower_triangle(10, ill=False)
    literal = np.array([[sum(L[b, m : b + 1] ** 2) for b in range(10)] for m in range(11)])
    for first in (0, 4):
        steps = []
        for start, sums in Factor.of(L).tail_sums(first):
            np.testing.assert_allclose(sums, literal[start : start + len(sums), start:], rtol=1e-13)
            steps += range(start, start + len(sums) - 1)
        assert set(range(first, 10)) <= set(steps)


@pytest.mark.parametrize("together", [1, 30, 2**18])
def test_precisions_among_the_first_are_those_of_the_whole(together, monkeypatch):
    monkeypatch.setattr("ordag.order.factor.CACHE_NUMBERS", together)
    L = lower_triangle(10, ill=False)
    factor, steps = Factor.of(L), []
    for start, sums in factor.precision_sums():
        for m in range(max(start, 1), start + len(sums)):
            precision = np.linalg.inv(L[:m, :m] @ L[:m, :m].T).diagonal()
            np.testing.assert_allclose(sums[m - start, :m], precision, rtol=1e-9)
        steps += range(start, start + len(sums) - 1)
    assert steps == list(range(10))
