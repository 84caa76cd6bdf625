"""The three operators against all classes that one edge leads to."""

import numpy as np
import pytest
from budgets import THOROUGH, tries
from ges_cases import as_essential, as_pairs, moments, random_dag, rows
from oracles import ges as oracles

from ordag.learners.ges.essential import essential
from ordag.learners.ges.operators import OPERATORS
from ordag.learners.ges.scores import Scores
from ordag.learners.ges.search import Candidates

PHASES = sorted(OPERATORS)


@pytest.fixture(scope="module")
def four():
    """Data of four variables, and one DAG of each of the 185 classes."""
    classes = {oracles.class_key(dag): dag for dag in oracles.all_dags(4)}
    assert len(classes) == 185
    return rows(4, 60, np.random.default_rng(1)), list(classes.values())


def check_moves(X, dag, phase, scores):
    """The moves lead to exactly the classes one edge away, each by its difference in score; the best is the best."""
    p = X.shape[1]
    operator = OPERATORS[phase]
    graph = as_essential(dag, p)
    now = oracles.score(X, dag)
    expected = {key: oracles.score(X, other) - now for key, other in oracles.one_edge_away(dag, p, phase).items()}
    gains = {}
    for target in range(p):
        for move in operator.candidates(graph, scores, target, -np.inf):
            if operator.allowed(graph, move):
                key = oracles.class_key(as_pairs(operator.applied(graph, move)))
                gains.setdefault(key, []).append(move.gain)
    assert gains.keys() == expected.keys()
    for key, found in gains.items():
        assert found == pytest.approx([expected[key]] * len(found), abs=1e-7)
    best = Candidates(operator, scores, 1e-9).best(graph)
    if best is None:
        assert max(expected.values(), default=0.0) <= 1e-9
    else:
        assert best.gain == pytest.approx(max(expected.values()), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_every_class_on_four_nodes(four, phase):
    X, classes = four
    scores = Scores(moments(X))
    for dag in classes:
        check_moves(X, dag, phase, scores)


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("p", [5, 6])
def test_random_classes(p, phase):
    rng = np.random.default_rng(p)
    X = rows(p, 80, rng)
    scores = Scores(moments(X))
    for _ in tries(8, 24) if p == 5 else tries(3, 8):
        check_moves(X, random_dag(p, rng.uniform(0.3, 1.0), rng), phase, scores)


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_undirected_classes(phase):
    """Trees and chordal graphs without arrows, where the sets of neighbours are largest."""
    rng = np.random.default_rng(7)
    p = 6 if THOROUGH else 5
    X = rows(p, 80, rng)
    scores = Scores(moments(X))
    path = {(k, k + 1) for k in range(p - 1)}
    star = {(0, k) for k in range(1, p)}
    fan = star | {(k, k + 1) for k in range(1, p - 1)}
    strip = path | {(k, k + 2) for k in range(p - 2)}
    complete = {(i, j) for i in range(p) for j in range(i + 1, p)}
    for dag in (path, star, fan, strip, complete):
        assert not any(as_essential(dag, p).parents)
        check_moves(X, frozenset(dag), phase, scores)


@pytest.mark.parametrize("phase", PHASES)
def test_what_a_move_leaves_as_it_was_needs_no_second_look(phase):
    """Candidates renewed where they were touched are those that a fresh start finds."""
    rng = np.random.default_rng(8)
    p = 9
    scores = Scores(moments(rows(p, 100, rng)), penalty=0.3)
    kinds = {name: Candidates(operator, scores, 1e-9) for name, operator in OPERATORS.items()}
    graph = essential([0] * p)
    for step in range(60):
        walking = phase if step % 3 == 0 else PHASES[int(rng.integers(3))]
        operator = OPERATORS[walking]
        moves = [
            move
            for target in range(p)
            for move in operator.candidates(graph, scores, target, -np.inf)
            if operator.allowed(graph, move)
        ]
        if not moves:
            continue
        move = moves[rng.integers(len(moves))]
        new = essential(operator.applied(graph, move), graph.order)
        for candidates in kinds.values():
            candidates.outdate(new, new.changed(since=graph), 1 << move.source | 1 << move.target)
        graph = new
        for name, candidates in kinds.items():
            fresh = Candidates(OPERATORS[name], scores, 1e-9)
            assert candidates.best(graph) == fresh.best(graph)
            assert candidates._lists == fresh._lists


@pytest.mark.slow
def test_all_dags_of_a_class_have_the_same_score(four):
    X, classes = four
    scores = Scores(moments(X), penalty=1.3)
    for dag in classes:
        totals = [
            sum(scores.local(node, parents) for node, parents in enumerate(as_essential(other, 4).dag))
            for other in oracles.members(dag, 4)
        ]
        assert totals == pytest.approx([oracles.score(X, dag, 1.3)] * len(totals), abs=1e-8)


def test_local_scores_are_counted_as_they_are_computed():
    scores = Scores(moments(rows(5, 50, np.random.default_rng(0))))
    for compute, count in ((scores.local, 1 + 1), (scores.adding, 5 - 2), (scores.dropping, 2 + 1)):
        before = scores.evaluated
        for _ in range(2):  # those of all neighbours at once are remembered
            compute(0, 0b110)
        assert scores.evaluated - before == count
