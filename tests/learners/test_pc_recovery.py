"""PC finds the truth from population moments, step for step as with a graph in place of the tests."""

import numpy as np
import pytest
from budgets import tries
from oracles import pc as oracles
from oracles.graph import d_separated_by_moral_graph

from ordag import Moments, simulate
from ordag.common.linalg import triangle
from ordag.graph import Cpdag, to_cpdag
from ordag.learners.pc import pc_search
from ordag.learners.pc.search import COLLIDERS as RULES

ROWS = 10**12
"""So many rows that a correlation of 1e-5 is beyond doubt, and one that is rounding is not."""


def population(sem):
    """Moments whose scatter is exactly ROWS − 1 times the model's covariance."""
    root = np.sqrt(sem.omega * (ROWS - 1))[:, None] * np.linalg.inv(np.eye(len(sem.B)) - sem.B)
    return Moments(ROWS, np.zeros(len(sem.B)), sem.names, R=triangle(root))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("p", [2, 4, 6, 8, 10])
def test_recovers_the_class_of_the_truth(rule, p):
    for seed in tries(3, 8):
        sem = simulate("erdos-renyi", p=p, n=1, seed=seed, degree=min(2.5, p - 1), variances=(0.5, 2.0)).sem
        result = pc_search(population(sem), alpha=1e-6, colliders=rule)
        assert result.graph == to_cpdag(sem.dag)
        assert result.valid
        assert result.ambiguous == result.conflicts == result.denied == result.warnings == ()


@pytest.mark.parametrize("seed", range(12))
def test_every_step_is_that_of_d_separation(seed):
    p = 4 + seed % 4
    sem = simulate("erdos-renyi", p=p, n=1, seed=100 + seed, degree=2.0).sem
    p_value = oracles.separation(sem.dag.adjacency.tolist())
    around, separating, _ = oracles.skeleton(p, p_value, 0.5)
    result = pc_search(population(sem), alpha=1e-6, colliders="first")
    place = result.graph.index
    assert {i: set(np.flatnonzero(row).tolist()) for i, row in enumerate(result.graph.skeleton)} == around
    found = {tuple(sorted(map(place, pair))): set(map(place, S)) for pair, S in result.separating_sets.items()}
    assert found == {pair: set(S) for pair, S in separating.items()}
    for pair, S in result.separating_sets.items():
        a, b = ({place(name)} for name in pair)
        assert d_separated_by_moral_graph(sem.dag.adjacency, a, b, set(map(place, S)))
    colliders, _ = oracles.by_set(around, separating)
    expected = oracles.later_overwrites(around, colliders)
    assert result.graph == Cpdag(sem.names, expected) == to_cpdag(sem.dag)


@pytest.mark.slow
def test_more_rows_find_more():
    """Sparse models: the distance to the true class shrinks with n."""
    wrong = []
    for n in (100, 10_000):
        total = 0
        for seed in range(6):
            sem, X = simulate("erdos-renyi", p=10, n=n, seed=seed, degree=1.5)
            result = pc_search(Moments.from_rows(X), colliders="majority")
            total += int((result.graph.adjacency != to_cpdag(sem.dag).adjacency).sum())
        wrong.append(total)
    assert wrong[1] < wrong[0] / 2
