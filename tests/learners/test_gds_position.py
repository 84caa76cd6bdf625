from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import gds as oracles
from strategies.tables import tables

from ordag.data.moments import Moments
from ordag.learners.gds.position import Position
from ordag.learners.regressions import Regressions
from ordag.model import simulate


def position_of(X, A):
    n, p = X.shape
    return Position(Regressions(Moments.from_rows(X).R, n), A, float(np.exp(np.log(n) / (n * p))))


@pytest.mark.slow
@given(X=tables(max_p=6), seed=st.integers(0, 2**32 - 1))
def test_the_table_holds_every_neighbour(X, seed):
    n, p = X.shape
    A = oracles.random_dag(p, np.random.default_rng(seed))
    position = position_of(X, A)
    outcomes = position.outcomes()
    here = oracles.score(X, A)
    for i, j in permutations(range(p), 2):
        after = oracles.neighbour(A, i, j)
        if after is None:
            assert np.isinf(outcomes[j, i])
        else:
            gain = n * p / 2 * np.log(outcomes[j, i] / position.total)
            assert gain == pytest.approx(oracles.score(X, after) - here, rel=1e-6, abs=1e-6)
    assert np.isinf(outcomes.diagonal()).all()


@pytest.mark.slow
@given(X=tables(min_p=3, max_p=7), seed=st.integers(0, 2**32 - 1))
def test_the_table_stays_true_along_the_way(X, seed):
    rng = np.random.default_rng(seed)
    p = X.shape[1]
    position = position_of(X, oracles.random_dag(p, rng))
    for _ in range(12):
        edges = position.turnable()
        better = np.argwhere(position.outcomes() < position.bar)
        if len(edges) and (rng.random() < 0.4 or not len(better)):
            position.exchange(*edges[rng.integers(len(edges))])
        elif len(better):
            j, i = rng.choice(better).tolist()
            assert position.move(i, j)
        assert oracles.is_acyclic(position.adjacency)
        fresh = position_of(X, position.adjacency)
        np.testing.assert_allclose(position.outcomes(), fresh.outcomes(), rtol=1e-9)


@pytest.mark.parametrize("A", [[(1, 0)], [(0, 1), (2, 3)], [(3, 0), (1, 0)], [(1, 0), (3, 1), (2, 3)]])
def test_one_variable_of_enormous_variance_does_not_drown_the_others(A):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4)) * [1e8, 1.0, 1e3, 1.0]
    X[:, 1] += X[:, 0]
    X[:, 3] += X[:, 2]
    graph = np.zeros((4, 4), dtype=bool)
    graph[tuple(zip(*A, strict=True))] = True
    position = position_of(X, graph)
    outcomes = position.outcomes()
    for i, j in permutations(range(4), 2):
        after = oracles.neighbour(graph, i, j)
        if after is not None:
            total = sum(oracles.rss(X, k, np.flatnonzero(after[:, k])) for k in range(4))
            price = position.price ** (int(after.sum()) - int(graph.sum()))
            assert outcomes[j, i] == pytest.approx(total * price, rel=1e-7)


def test_a_promised_gain_that_is_not_there_is_put_right():
    X = simulate("homogeneous", p=5, n=100, seed=0).X
    position = position_of(X, np.zeros((5, 5), dtype=bool))
    lookup = position.outcomes()
    position.after[:] = position.regressions.rss(0, 0) * 1e-3
    honest = position_of(X, np.zeros((5, 5), dtype=bool))
    worse = [(i, j) for i, j in permutations(range(5), 2) if not lookup[j, i] < honest.bar]
    for i, j in worse:
        assert not position.move(i, j)
        assert position.outcomes()[j, i] == pytest.approx(lookup[j, i], rel=1e-12)
    assert not position.adjacency.any()
