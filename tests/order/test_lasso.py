"""The lasso order against cyclic descent from zero, and what any order has to do."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries
from oracles import estimators as oracles

from ordag import simulate
from ordag.order.lasso import lasso_forward


def drawn(p, n, seed):
    simulation = simulate("erdos-renyi", p, n, seed, degree=2.0, weights=(0.5, 1.0))
    return simulation, np.cov(simulation.X, rowvar=False)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n", "seed"), [(6, 40, 1), (8, 100, 2), (8, 12, 3), (8, 7, 3)])
def test_equals_a_lasso_by_cycles(p, n, seed):
    _, S = drawn(p, n, seed)
    found = lasso_forward(S, n)
    order, variances, supports = oracles.lasso_order(S, n)
    assert found.order.tolist() == order
    assert found.variances == pytest.approx(variances, rel=1e-3)
    assert [one.tolist() for one in found.parent_sets] == supports


@pytest.mark.slow
def test_units_change_the_variances_and_nothing_else():
    _, S = drawn(12, 60, 4)
    found, larger = lasso_forward(S, 60), lasso_forward(9.0 * S, 60)
    assert larger.order.tolist() == found.order.tolist()
    assert larger.variances == pytest.approx(9.0 * found.variances)


@pytest.mark.slow
def test_relabelling_the_columns_relabels_the_answer():
    _, S = drawn(12, 60, 5)
    mixed = np.random.default_rng(0).permutation(12)
    found, other = lasso_forward(S, 60), lasso_forward(S[np.ix_(mixed, mixed)], 60)
    assert mixed[other.order].tolist() == found.order.tolist()
    assert other.runner_up == pytest.approx(found.runner_up)


@pytest.mark.slow
def test_support_comes_before_and_runner_ups_are_no_less():
    _, S = drawn(20, 15, 6)
    kept = S.copy()
    found = lasso_forward(S, 15)
    assert np.array_equal(S, kept)
    place = np.argsort(found.order)
    assert all((place[one] < k).all() for k, one in enumerate(found.parent_sets))
    assert (found.runner_up >= found.chosen).all()
    assert found.runner_up[-1] == np.inf


@pytest.mark.slow
def test_keeps_to_a_partial_order():
    _, S = drawn(10, 50, 7)
    order = lasso_forward(S, 50).order
    before = np.zeros((10, 10), dtype=bool)
    before[order[-1], order[0]] = True
    turned = np.argsort(lasso_forward(S, 50, before).order)
    assert turned[order[-1]] < turned[order[0]]


@pytest.mark.thorough
def test_finds_the_order_of_a_sparse_graph_from_fewer_rows_than_columns():
    right = pairs = 0
    for seed in tries(1, 3):
        simulation, S = drawn(60, 50, seed)
        place = np.argsort(lasso_forward(S, 50).order)
        causes, effects = np.nonzero(simulation.dag.adjacency)
        right, pairs = right + (place[causes] < place[effects]).sum(), pairs + len(causes)
    assert right > 0.9 * pairs
