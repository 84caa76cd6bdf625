"""Dense models whose covariance matrix float64 cannot hold: cond(S) near 1e20."""

import numpy as np
import pytest
from ges_cases import moments
from oracles import ges as oracles

from ordag.graph import extend
from ordag.learners.ges import ges_search
from ordag.learners.ges.scores import Scores
from ordag.model import simulate


@pytest.fixture(scope="module")
def dense():
    simulation = simulate("homogeneous", p=50, n=1000, seed=3)
    model = moments(simulation.X)
    assert np.linalg.cond(model.R) > 5e9
    return simulation, model


@pytest.mark.thorough
def test_the_search_ends_with_a_finite_score_that_a_qr_of_the_rows_confirms(dense):
    simulation, model = dense
    result = ges_search(model)
    dag = frozenset((i, j) for i, j in np.argwhere(extend(result.graph).adjacency).tolist())
    assert result.graph.valid
    assert result.uncertainty < 0.01
    assert result.score == pytest.approx(oracles.score(simulation.X, dag), abs=result.uncertainty)


def test_local_scores_are_those_of_the_rows(dense):
    simulation, model = dense
    scores = Scores(model)
    rng = np.random.default_rng(1)
    order = list(simulation.order)
    for size in (0, 1, 5, 20, 45):
        # the last in the causal order on those before it: where most of the variance goes
        node, others = order[-1], rng.permutation(order[:-1])[: size + 1].tolist()
        given, extra = others[:size], others[size]
        parents = sum(1 << k for k in given)
        before = oracles.local_score(simulation.X, node, given)
        after = oracles.local_score(simulation.X, node, [*given, extra])
        assert scores.local(node, parents) == pytest.approx(before, abs=1e-4)
        assert scores.adding(node, parents)[extra] == pytest.approx(after - before, abs=1e-4)
        assert scores.dropping(node, parents | 1 << extra)[extra] == pytest.approx(before - after, abs=1e-4)
