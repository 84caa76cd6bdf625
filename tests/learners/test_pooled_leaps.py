"""Leaps: what they say they change is what they change, and they lead out of optima of single moves."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries, whole_methods
from hypothesis import given
from hypothesis import strategies as st

from ordag import Moments, simulate
from ordag.bits import members, packed_columns
from ordag.graph.acyclic import topological_order
from ordag.learners.pooled import leaps
from ordag.learners.pooled.descent import Descent, Order
from ordag.learners.pooled.leaps import in_runs, leapt, promising
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import log_variances

seeds = st.integers(0, 2**32 - 1)


def searching(X):
    n, p = X.shape
    variances = log_variances(Moments.from_rows(X), None)
    return Descent(variances, PooledScore(n, p, extended=True), None)


def optimum(search, p, seed=0):
    return search.descend(np.random.default_rng(seed).permutation(p).tolist(), [0] * p)


@given(seed=seeds)
def test_an_order_in_runs_is_one_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 15))
    hidden = rng.permutation(p)
    A = np.zeros((p, p), dtype=bool)
    A[np.ix_(hidden, hidden)] = np.triu(rng.random((p, p)) < 0.3, 1)
    parents = packed_columns(A)
    needed = parents.copy()
    needed[int(hidden[-1])] |= 1 << int(hidden[0])
    order = in_runs(topological_order(A), needed, parents)
    assert sorted(order) == list(range(p))
    place = np.argsort(order)
    assert all(place[k] < place[j] for j in range(p) for k in members(needed[j]))
    for t in range(1, p):  # a child that could have followed, did
        waiting = [j for j in order[t:] if parents[j] >> order[t - 1] & 1]
        able = [j for j in waiting if all(place[k] < t for k in members(needed[j]))]
        assert not able or order[t] in able


@pytest.mark.parametrize("seed", range(4))
def test_the_change_of_a_moved_run_is_that_of_the_sum(seed):
    search = searching(simulate("hub5", 25, 30, seed).X)
    best = optimum(search, 25, seed)
    search.begin(best)
    position = Order(search.trees, in_runs(best.order, best.parents, best.parents))
    now = position.cost
    checked = 0
    for change, order in leaps._moved_runs(position):
        assert sorted(order) == list(range(25))
        assert Order(search.trees, order).cost - now == pytest.approx(change, abs=1e-6)
        checked += 1
    assert checked > 10


def test_a_turned_arrow_is_turned():
    search = searching(simulate("er2", 25, 30, 1).X)
    best = optimum(search, 25)
    search.begin(best)
    position = Order(search.trees, best.order)
    turned = list(leaps._turned_arrows(position))
    assert turned
    for _, order in turned:
        assert sorted(order) == list(range(25))
        place, before = np.argsort(order), np.argsort(best.order)
        arrows = [(k, j) for j, mask in enumerate(position.parents) for k in members(mask)]
        assert sum(place[k] > place[j] for k, j in arrows) == 1
        assert all(before[k] < before[j] for k, j in arrows)


@pytest.mark.slow
@whole_methods
@given(seed=seeds)
def test_leaps_never_lead_up(seed):
    search = searching(simulate("rs40", 20, 25, seed).X)
    best = optimum(search, 20, seed)
    after = leapt(search, best)
    assert after.score <= best.score
    assert len(promising(search, after)) <= leaps.TRIES
    assert after.score == pytest.approx(search.scored(after.order, after.parents).score)


@pytest.mark.thorough
def test_leaps_mend_orders_that_single_moves_do_not():
    gaps = []
    for seed in tries(4, 12):
        drawn = simulate("rs40", 30, 60, np.random.SeedSequence([5, seed]))
        search = searching(drawn.X)
        true = packed_columns(drawn.dag.adjacency)
        lowest = search.descend(topological_order(drawn.dag.adjacency), true).score
        alone = optimum(search, 30, seed)
        gaps.append((alone.score - lowest, leapt(search, alone).score - lowest))
    before, after = np.mean(np.maximum(gaps, 0.0), axis=0)
    assert before > 5.0
    assert after < 0.7 * before
