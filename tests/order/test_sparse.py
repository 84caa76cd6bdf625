"""The order with sparse supports against a literal search, and what must not change it."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles.sparse import sparse_order

from ordag import simulate
from ordag.data.table import Table
from ordag.order import find_order, parent_sets
from ordag.order.parent_sets import ALONE, Correlations, Regression, Score, exchanged, partial_table, regression
from ordag.order.sparse import joint_score, parent_sets_along, sparse_forward, usual_width


@st.composite
def covariances(draw, max_p=8):
    """(S, n) of random linear models, with n from 5 on, also where p ≥ n."""
    return of_a_model(draw(st.integers(2, max_p)), draw(st.integers(5, 40)), draw(st.integers(0, 2**32 - 1)))


def of_a_model(p, n, seed):
    rng = np.random.default_rng(seed)
    B = np.triu(rng.uniform(-1.5, 1.5, (p, p)) * (rng.random((p, p)) < 0.6), 1)
    X = rng.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - B)
    return np.cov(X[:, rng.permutation(p)].T), n


def near_duplicates(seed, p=7, n=30, size=1e-3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 3:] = X[:, rng.integers(0, 3, p - 3)] + size * rng.standard_normal((n, p - 3))
    return np.cov(X[:, rng.permutation(p)].T), n


def same_as_the_literal_one(S, n, **options):
    found = sparse_forward(S, n, **options)
    order, criteria, variances, supports = sparse_order(S, n, **options)
    assert found.order.tolist() == order
    assert [one.tolist() for one in found.parent_sets] == supports
    digits = 1e-11 * S.diagonal().max()
    np.testing.assert_allclose(found.chosen, criteria, rtol=1e-6, atol=digits)
    np.testing.assert_allclose(found.variances, variances, rtol=1e-6, atol=digits)
    assert (found.runner_up[:-1] >= found.chosen[:-1] * (1 - 1e-9)).all()
    assert np.isinf(found.runner_up[-1])
    return found


@pytest.mark.slow
@given(covariances(), st.sampled_from([0, 1, 2, 3, 10]), st.sampled_from([None, 0, 1, 2]))
def test_it_is_the_literal_search(drawn, most, width):
    same_as_the_literal_one(*drawn, most=most, width=width)


def test_a_parent_set_has_a_lower_score_below_that_rest():
    score = Score(50, 3.0, 4)
    rest = float(score.rest_below(np.array(-7.0), 2))
    assert score.of(rest, 2) == pytest.approx(-7.0 - score.tolerance)


def test_chosen_variables_that_have_nothing_to_do_with_another_are_pairs_beside_it():
    table = parent_sets.partial_table(np.eye(3), np.zeros(3), np.ones(3))
    assert np.array_equal(table.h, 1.0 - np.eye(3))
    assert np.array_equal(table.h_rho, np.zeros((3, 3)))
    assert np.array_equal(table.reach, np.full(3, 2.0))


def literal_gain(C, i, members):
    """What the members explain of a variable of unit variance."""
    r = C[i, members]
    return float(r @ np.linalg.solve(C[np.ix_(members, members)], r))


@pytest.mark.parametrize("width", [None, 1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_triples_are_those_of_all_pairs(seed, width):
    """The last of nine variables is m, the first three wait, the five between are chosen."""
    C = np.corrcoef(np.random.default_rng(seed).standard_normal((30, 9)).T)
    chosen, waiting, m = list(range(3, 8)), range(3), 8
    z = C[chosen, m]
    table = parent_sets.partial_table(C[np.ix_(chosen, chosen)], z, 1.0 / np.sqrt(1.0 - z * z))
    left = np.array([C[i, chosen] - C[i, m] * z for i in waiting]) / np.sqrt(1.0 - z * z)
    gains = {
        (i, b, a): literal_gain(C, i, [m, chosen[a], chosen[b]]) - C[i, m] ** 2
        for i in waiting
        for a in range(5)
        for b in range(a)
    }
    largest = [np.argsort(-abs(left[i]))[: width or 5] for i in waiting]
    open_ = {key: gain for key, gain in gains.items() if {key[1], key[2]} & set(largest[key[0]].tolist())}
    best = [max((key for key in open_ if key[0] == i), key=open_.get) for i in waiting]
    at = np.array([open_[key] for key in best])
    assert list(parent_sets.best_triples(left, table, 0.999 * at, width)) == best
    assert list(parent_sets.best_triples(left, table, at * [0.999, 1.001, 0.999], width)) == [best[0], best[2]]


@pytest.mark.parametrize(("width", "best"), [(1, (0, 0, 1)), (2, (0, 1, 2)), (None, (0, 1, 2))])
def test_a_pair_is_looked_at_only_if_one_of_it_is_among_the_largest(width, best):
    """The last two together gain .4, the first with one of them .29."""
    C = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -0.8], [0.0, -0.8, 1.0]])
    table = parent_sets.partial_table(C, np.zeros(3), np.ones(3))
    assert list(parent_sets.best_triples(np.array([[0.5, 0.2, 0.2]]), table, np.array([0.1]), width)) == [best]


@pytest.mark.parametrize("seed", [1, 5])
def test_the_member_that_leaves_is_the_one_that_the_newcomer_replaces_best(seed):
    """Tables in which it matters: supports are full, and not mended by triples."""
    same_as_the_literal_one(*of_a_model(9, 50, seed), most=3, width=0)


def test_members_leave_for_the_newcomer_in_large_sets_too():
    same_as_the_literal_one(*of_a_model(12, 60, 2), most=10, width=0)


@pytest.mark.parametrize("made", [None, Regression(1.0, np.zeros(2), np.eye(2))])
def test_a_move_that_the_regression_does_not_bear_out_is_not_made(made, monkeypatch):
    among, r = Correlations(np.eye(3), np.arange(3)), np.full(3, 0.5)
    start = regression(among.block(np.arange(1)), r[:1])
    monkeypatch.setattr(parent_sets, "regression", lambda R, r: made)
    found, kept = exchanged(among, r, np.arange(1), start, Score(n=100, penalty=1.0, most=3))
    assert (found.tolist(), kept) == ([0], start)


@pytest.mark.parametrize("weights", [(0.6, 0.6), (0.02, 0.99), (0.99, 0.02), (1.2, -0.9)])
@pytest.mark.parametrize("share", [0.5, 0.9, 1.1, 30.0])
def test_three_variables_are_regressors_together_where_each_keeps_its_share(weights, share):
    """m is `weights` of a and b, but for a share of about so many times the least one."""
    w, left = np.array(weights), share * ALONE
    rho = (1.0 - left - w @ w) / (2.0 * w[0] * w[1])
    C = np.array([[1.0, rho], [rho, 1.0]])
    z = C @ w
    determinant = left * (1.0 - rho**2)
    shares = determinant / np.array([1.0 - rho**2, 1.0 - z[1] ** 2, 1.0 - z[0] ** 2])  # of m, a and b given the others
    h = partial_table(C, z, 1.0 / np.sqrt(1.0 - z * z)).h
    assert (h[0, 1] == 0.0) == (shares.min() < ALONE)
    assert h[0, 0] == h[1, 1] == 0.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1e-1, 1e-3, 3e-5])
def test_near_duplicates(seed, size):
    same_as_the_literal_one(*near_duplicates(seed, size=size))


@pytest.mark.parametrize("size", [1e-7, 1e-9, 0.0])
def test_duplicates_without_digits_are_no_obstacle(size):
    S, n = near_duplicates(1, p=12, size=size)
    found = sparse_forward(S, n)
    assert sorted(found.order) == list(range(12))
    assert (found.variances > 0).all()
    assert np.isfinite(found.chosen).all()


@pytest.mark.parametrize("design", ["chain", "hub", "er4", "rs40", "erdos-renyi", "homogeneous"])
@pytest.mark.parametrize("seed", tries(2, 4))
def test_population_covariances(design, seed):
    sem = simulate(design, p=8, n=1, seed=seed).sem
    found = same_as_the_literal_one(sem.covariance(), 10_000)
    B = sem.B[np.ix_(found.order, found.order)]
    assert not np.tril(B).any()
    for j, members in zip(found.order, found.parent_sets, strict=True):
        assert members.tolist() == np.flatnonzero(sem.B[:, j]).tolist()
    np.testing.assert_allclose(found.variances, 1.0, rtol=2e-3)


@pytest.mark.slow
@given(covariances(max_p=7), st.integers(0, 2**32 - 1))
def test_before_is_kept_to(drawn, seed):
    S, n = drawn
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(S))
    before = (place[:, None] < place) & (rng.random(S.shape) < 0.4)
    found = same_as_the_literal_one(S, n, before=before)
    position = np.argsort(found.order)
    assert (position[:, None] < position)[before].all()


@pytest.mark.slow
@given(covariances(max_p=12), st.integers(0, 2**32 - 1))
def test_relabelling_relabels_the_answer(drawn, seed):
    S, n = drawn
    labels = np.random.default_rng(seed).permutation(len(S))
    found, other = sparse_forward(S, n), sparse_forward(S[np.ix_(labels, labels)], n)
    assert labels[other.order].tolist() == found.order.tolist()
    for one, its in zip(found.parent_sets, other.parent_sets, strict=True):
        assert sorted(labels[its]) == one.tolist()
    np.testing.assert_allclose(other.chosen, found.chosen, rtol=1e-9)


@pytest.mark.slow
@given(covariances(max_p=12), st.integers(-40, 40))
def test_a_common_scale_is_a_common_scale(drawn, exponent):
    S, n = drawn
    scale = 4.0**exponent  # no digit is rounded differently
    found, other = sparse_forward(S, n), sparse_forward(scale * S, n)
    assert other.order.tolist() == found.order.tolist()
    assert [one.tolist() for one in other.parent_sets] == [one.tolist() for one in found.parent_sets]
    for name in ("variances", "chosen", "runner_up"):
        assert (getattr(other, name) == scale * getattr(found, name)).all()


def test_of_equal_variables_the_first_column_comes_first():
    found = sparse_forward(np.eye(6), 20)
    assert found.order.tolist() == list(range(6))
    assert not any(map(len, found.parent_sets))
    assert found.chosen.tolist() == [*found.runner_up[:-1].tolist(), 1.0]


def test_what_is_given_stays_as_it_is():
    S, n = near_duplicates(1)
    before = np.zeros(S.shape, dtype=bool)
    kept = S.copy()
    sparse_forward(S, n, before)
    assert (kept == S).all()
    assert not before.any()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")
@pytest.mark.parametrize("width", [None, 5])
@pytest.mark.parametrize("design", ["chain", "hub", "er2"])
def test_compiled_and_plain_give_the_same(design, width, monkeypatch):
    X = simulate(design, p=30, n=25, seed=1).X
    S = np.cov(X.T)
    monkeypatch.setattr(parent_sets, "COMPILED_FROM", 2)
    compiled = sparse_forward(S, 25, width=width)
    assert parent_sets._compiled() is not None
    monkeypatch.setattr(parent_sets, "COMPILED_FROM", 1000)
    plain = sparse_forward(S, 25, width=width)
    assert compiled.order.tolist() == plain.order.tolist()
    assert [one.tolist() for one in compiled.parent_sets] == [one.tolist() for one in plain.parent_sets]
    assert compiled.chosen.tolist() == plain.chosen.tolist()


@pytest.mark.slow
def test_blocks_of_rows_do_not_matter(monkeypatch):
    S = np.cov(simulate("hub", p=40, n=30, seed=2).X.T)
    whole = sparse_forward(S, 30)
    monkeypatch.setattr(parent_sets, "BLOCK_ROWS", 3)
    monkeypatch.setattr("ordag.order.sparse.CACHE_NUMBERS", 50)
    pieces = sparse_forward(S, 30)
    assert pieces.order.tolist() == whole.order.tolist()
    assert [one.tolist() for one in pieces.parent_sets] == [one.tolist() for one in whole.parent_sets]


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["chain", thorough("hub")])
def test_more_variables_than_rows(design):
    drawn = simulate(design, p=100, n=80, seed=3)
    found = sparse_forward(np.cov(drawn.X.T), 80)
    B = drawn.sem.B[np.ix_(found.order, found.order)]
    assert np.count_nonzero(np.tril(B)) <= 0.02 * np.count_nonzero(B)


def test_width_is_chosen_by_cost():
    assert usual_width(2) is usual_width(1000) is None
    widths = [usual_width(p) for p in (1001, 1500, 2000, 3000, 3900)]
    assert widths == sorted(widths, reverse=True)
    assert usual_width(2000) == 31
    assert usual_width(5000) == 0


@pytest.mark.parametrize("weak", range(2))
def test_a_weak_member_is_exchanged_for_a_strong_candidate(weak):
    """Three candidates that have nothing to do with each other; no more than two may be members."""
    among = Correlations(np.eye(3), np.arange(3))
    r = np.full(3, 0.6)
    r[weak] = 0.3
    A = np.arange(2)
    found, small = exchanged(among, r, A, regression(among.block(A), r[A]), Score(n=100, penalty=5.0, most=2))
    assert found.tolist() == sorted({0, 1, 2} - {weak})
    assert small.rest == pytest.approx(1.0 - 2 * 0.36)


def test_the_joint_score_is_what_its_formula_says():
    """n p log of the mean residual variance, by least squares on the rows, and log n + 2 log p for each arrow."""
    rng, n, p = np.random.default_rng(4), 60, 4
    X = rng.normal(size=(n, p)) @ np.triu(rng.normal(size=(p, p)) + np.eye(p))
    X -= X.mean(axis=0)
    sets = [[], [0], [0, 1], [2]]
    left = []
    for j, A in enumerate(sets):
        explained = X[:, A] @ np.linalg.lstsq(X[:, A], X[:, j], rcond=None)[0] if A else 0.0
        left.append(np.square(X[:, j] - explained).sum())
    found = joint_score(X.T @ X, n, SimpleNamespace(order=range(p), parent_sets=sets))
    assert found == pytest.approx(n * p * np.log(np.mean(left)) + 4 * (np.log(n) + 2 * np.log(p)))


def test_parent_sets_along_an_order_keep_to_it():
    X = np.random.default_rng(3).normal(size=(50, 4)) @ np.triu(np.ones((4, 4)))
    steps = parent_sets_along(np.cov(X.T), 50, np.array([2, 0, 3, 1]))
    assert steps.order.tolist() == [2, 0, 3, 1]


def test_a_variable_has_ten_parents_at_most():
    X = np.random.default_rng(0).normal(size=(400, 12))
    X[:, 11] = X[:, :11].sum(axis=1) + 4.0 * X[:, 11]
    sets = find_order(Table(X), variance="sparse").parent_sets
    assert [len(one) for one in sets] == [0] * 11 + [10]
