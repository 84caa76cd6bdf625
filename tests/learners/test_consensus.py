"""The graph that probabilities speak for, against all DAGs over few variables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles

import ordag
from ordag.graph.acyclic import find_cycle
from ordag.learners.pooled.posterior import JOINED, LIKELY, consensus


def probabilities(p, seed, graphs=12):
    """Shares of random DAGs that have each arrow."""
    random = np.random.default_rng(seed)
    arrows = np.zeros((p, p))
    for _ in range(graphs):
        order = random.permutation(p)
        arrows[np.ix_(order, order)] += np.triu(random.random((p, p)) < random.random(), 1)
    return arrows / graphs


@given(st.integers(2, 8), st.integers(0, 10**6), st.integers(1, 12))
def test_no_cycle_and_no_arrow_whose_reverse_is_more_probable(p, seed, graphs):
    arrows = probabilities(p, seed, graphs)
    graph = consensus(arrows)
    assert find_cycle(graph) is None
    assert not (graph & (arrows < arrows.T)).any()
    assert not (graph & (arrows <= LIKELY) & (arrows + arrows.T < JOINED)).any()


@given(st.integers(0, 10**6))
def test_nearly_the_fewest_wrong_entries_of_all_dags(seed):
    arrows = probabilities(4, seed)

    def wrong(graph):
        return float(np.where(graph, 1.0 - arrows, arrows).sum())

    least = min(wrong(np.asarray(dag, dtype=bool)) for dag in oracles.all_dags(4))
    # an edge that is likely, whichever way, costs at most 1 − JOINED more than none; arrows that close a cycle are few
    assert wrong(consensus(arrows)) <= least + 6 * (1.0 - JOINED) + 1e-9


def test_relabelling_relabels_the_graph():
    arrows = probabilities(7, 3) + np.random.default_rng(0).random((7, 7)) * 1e-6
    place = np.random.default_rng(1).permutation(7)
    at = np.ix_(place, place)
    assert (consensus(arrows[at]) == consensus(arrows)[at]).all()


def test_who_comes_first_is_kept():
    arrows = np.array([[0.0, 0.1, 0.9], [0.6, 0.0, 0.0], [0.0, 0.9, 0.0]])
    assert consensus(arrows).tolist() == [[False, False, True], [False, False, False], [False, True, False]]
    before = np.zeros((3, 3), dtype=bool)
    before[1, 0] = True
    assert consensus(arrows, before).tolist() == [[False, False, True], [True, False, False], [False, False, False]]


@pytest.mark.slow
def test_no_shown_arrow_is_less_probable_than_its_reverse():
    for seed in range(3):
        X = ordag.simulate("erdos-renyi", 8, 120, seed=seed, degree=4).X
        fit = ordag.learn(X / X.std(axis=0), draws=40)
        shown = fit.graph.adjacency
        assert fit.optimum is not None
        assert (fit.probabilities.arrows[shown] >= fit.probabilities.arrows.T[shown]).all()
        best = ordag.learn(X / X.std(axis=0), draws=40, graph="best")
        assert best.optimum is None
        assert best.graph == fit.optimum
        np.testing.assert_array_equal(best.probabilities.arrows, fit.probabilities.arrows)
