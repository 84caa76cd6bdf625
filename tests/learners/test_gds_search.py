import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from budgets import tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import gds as oracles
from strategies.tables import tables

from ordag.data.datasets import load
from ordag.data.moments import Moments
from ordag.errors import CollinearError, GraphError, SettingError, TooFewRowsError
from ordag.graph.dag import Dag
from ordag.learners.gds import gds_score, gds_search
from ordag.learners.gds.search import NEIGHBOURS_AFTER_KICK, _Search, target_order
from ordag.model import simulate

REFERENCE = Path(__file__).parents[1] / "reference"
SETS = ["hom_p5_n200", "het_p5_n1000", "hom_p10_n1000", "het_p10_n200", "hom_p20_n200", "het_p20_n1000", "marks"]


def stored(name, method="GDS"):
    return json.loads((REFERENCE / "gds" / f"{name}__{method}.json").read_text(encoding="utf-8"))


def moments_of(name):
    return Moments.scan(load(name).path if name == "marks" else REFERENCE / "data" / f"{name}.csv")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["GDS", "GDS_checkAll1"])
def test_the_score_is_that_of_r(name, method):
    moments, r = moments_of(name), stored(name, method)
    found = Dag(moments.names, r["adjacency"])
    assert gds_score(moments, found) == pytest.approx(r["score"], rel=1e-9)
    if name != "marks":
        truth = json.loads((REFERENCE / "data" / f"{name}.truth.json").read_text(encoding="utf-8"))
        assert gds_score(moments, Dag(moments.names, np.array(truth["B"]).T)) == pytest.approx(
            r["score_true_dag"], rel=1e-9
        )
        assert gds_score(moments, Dag.empty(moments.names)) == pytest.approx(r["score_empty"], rel=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_the_steepest_descent_ends_where_r_ends(name):
    moments, r = moments_of(name), stored(name, "GDS_checkAll1")
    result = gds_search(moments, strategy="steepest")
    np.testing.assert_array_equal(result.graph.adjacency, np.array(r["adjacency"], dtype=bool))
    assert result.score == pytest.approx(r["score"], rel=1e-9)
    assert result.kicks == 0
    assert result.restarts == (result.score,)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", tries(1, 5))
def test_the_score_reached_is_at_least_as_good_as_that_of_r(name, seed):
    moments, r = moments_of(name), stored(name)
    result = gds_search(moments, seed=seed)
    assert result.score <= r["score"] * (1 + 1e-9)
    assert result.score <= r.get("score_true_dag", r["score"]) * (1 + 1e-9)
    assert result.score == pytest.approx(gds_score(moments, result.graph), rel=1e-9)
    assert result.score <= min(result.restarts)
    assert len(result.restarts) == 5


@given(X=tables(max_p=5), seed=st.integers(0, 2**32 - 1), penalty=st.floats(0, 3))
def test_the_score_is_the_literal_one(X, seed, penalty):
    A = oracles.random_dag(X.shape[1], np.random.default_rng(seed))
    moments = Moments.from_rows(X)
    ours = gds_score(moments, Dag(moments.names, A), penalty=penalty)
    assert ours == pytest.approx(oracles.score(X, A, penalty), rel=1e-9, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 4, 9, 100])
@pytest.mark.parametrize("seed", tries(2, 6))
def test_the_published_search_is_the_walk_neighbour_by_neighbour(k, seed):
    X = simulate("heterogeneous", p=5, n=40, seed=seed).X
    X = X[:, X.var(axis=0).argsort()]  # the order in which chance falls on them
    generator = np.random.default_rng(seed)
    A, moves, checked = oracles.walk(X, k, lambda rss: target_order(rss, generator))
    result = gds_search(Moments.from_rows(X), restarts=[k], kicks=0, seed=seed)
    np.testing.assert_array_equal(result.graph.adjacency, A)
    assert (result.moves, result.checked) == (moves, checked)


@pytest.mark.slow
def test_nodes_are_drawn_in_proportion_to_their_excess():
    rss = np.array([8.0, 2.0, 5.0])
    weights = [9.0, 3.0, 6.0]  # 6, 0 and 3 above the smallest, and the smallest positive excess more
    generator = np.random.default_rng(0)
    draws = [tuple(target_order(rss, generator).tolist()) for _ in range(20_000)]
    for order in permutations(range(3)):
        expected = oracles.order_probability(order, weights)
        assert draws.count(order) / len(draws) == pytest.approx(expected, abs=0.015)
    assert sorted(target_order(np.ones(4), generator).tolist()) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("design", ["homogeneous", "heterogeneous"])
def test_no_dag_is_better_than_the_one_found(p, design):
    dags = list(oracles.all_dags(p))
    assert len(dags) == {2: 3, 3: 25, 4: 543}[p]
    for seed in tries(1, 3):
        X = simulate(design, p=p, n=30, seed=seed).X
        best = min(oracles.score(X, A) for A in dags)
        assert gds_search(Moments.from_rows(X), seed=seed).score == pytest.approx(best, rel=1e-9)
        assert gds_search(Moments.from_rows(X), strategy="steepest").score >= best - 1e-6


@pytest.mark.slow
@given(X=tables(min_p=3, max_p=5))
def test_every_step_of_the_steepest_descent_is_the_best_there_is(X):
    p = X.shape[1]
    moments = Moments.from_rows(X)
    A = np.zeros((p, p), dtype=bool)
    scores = []
    result = gds_search(moments, strategy="steepest", progress=lambda moves, score: scores.append(score))
    for score in scores:
        neighbours = [oracles.neighbour(A, i, j) for i, j in permutations(range(p), 2)]
        A = min((B for B in neighbours if B is not None), key=lambda B: oracles.score(X, B))
        assert oracles.score(X, A) == pytest.approx(score, rel=1e-9, abs=1e-7)
    np.testing.assert_array_equal(result.graph.adjacency, A)
    assert result.moves == len(scores)


@pytest.mark.slow
@given(X=tables(min_p=3, max_p=6), data=st.data())
def test_relabelling_relabels(X, data):
    p = X.shape[1]
    order = data.draw(st.permutations(range(p)))
    moments = Moments.from_rows(X, names=[f"v{k}" for k in range(p)])
    other = Moments.from_rows(X[:, order], names=[f"v{k}" for k in order])
    ours, theirs = (gds_search(m, strategy="steepest") for m in (moments, other))
    assert theirs.graph.reorder(moments.names) == ours.graph
    assert theirs.score == pytest.approx(ours.score, rel=1e-9)
    assert gds_score(other, ours.graph) == pytest.approx(gds_score(moments, ours.graph), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("standardised", [False, True])
def test_the_random_search_does_not_depend_on_the_order_of_the_columns(standardised):
    rng = np.random.default_rng(0)
    for seed in tries(8, 150):
        p, n = int(rng.integers(3, 7)), int(rng.integers(20, 60))
        B = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.6), 1)
        X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, p) @ np.linalg.inv(np.eye(p) - B)
        X = (X - X.mean(axis=0)) / X.std(axis=0) if standardised else X
        names, order = [f"v{k}" for k in range(p)], rng.permutation(p)
        ours = gds_search(Moments.from_rows(X, names=names), seed=seed)
        theirs = gds_search(Moments.from_rows(X[:, order], names=[names[k] for k in order]), seed=seed)
        assert theirs.graph.nodes == tuple(names[k] for k in order)
        assert theirs.graph.reorder(tuple(names)) == ours.graph
        assert (theirs.moves, theirs.checked, theirs.kicks) == (ours.moves, ours.checked, ours.kicks)


@pytest.mark.parametrize("p", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(3))
def test_the_truth_is_found_in_the_population(p, seed):
    sem = simulate("erdos-renyi", p=p, n=1, seed=seed, degree=min(3, p - 1)).sem
    population = Moments.from_covariance(sem.covariance(), n=10_000, names=sem.names)
    assert gds_search(population, seed=seed).graph == sem.dag


@pytest.mark.thorough
def test_a_dense_model_is_fitted_better_than_by_the_truth():
    simulation = simulate("homogeneous", p=30, n=1000, seed=0)
    moments = Moments.from_rows(simulation.X)
    result = gds_search(moments, seed=0)
    assert result.score <= gds_score(moments, simulation.dag)
    assert result.score < min(result.restarts)
    assert result.kicks >= 60


def test_the_usual_restarts_are_five():
    moments = Moments.from_rows(simulate("homogeneous", 6, 60, seed=3).X)
    usual, given = (gds_search(moments, restarts=some, kicks=0, seed=1) for some in (None, (6, 12, 18, 30, 300)))
    assert (usual.restarts, usual.moves, usual.checked) == (given.restarts, given.moves, given.checked)


@pytest.mark.parametrize(("p", "kicks"), [(4, 20), (12, 24)])
def test_fruitless_kicks_are_twice_the_variables_and_twenty_at_the_least(p, kicks):
    moments = Moments.from_covariance(np.eye(p), 200)
    assert gds_search(moments, restarts=[p], seed=0).kicks == kicks


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result():
    moments = Moments.from_rows(simulate("homogeneous", p=8, n=100, seed=0).X)
    result = gds_search(moments, seed=3)
    assert gds_search(moments, seed=3) == result
    first, second = (gds_search(moments, seed=np.random.default_rng(3)) for _ in range(2))
    assert first == second
    sequence = np.random.SeedSequence(3)
    assert gds_search(moments, seed=sequence) == result == gds_search(moments, seed=sequence)
    assert gds_search(moments).score <= result.score_empty


def test_a_search_begins_where_it_is_told_to():
    moments = moments_of("hom_p10_n1000")
    best = Dag(moments.names, stored("hom_p10_n1000")["adjacency"])
    shuffled = best.reorder(moments.names[::-1])
    for strategy in ("steepest", "random"):
        result = gds_search(moments, start=shuffled, strategy=strategy, kicks=0, seed=0)
        assert result.graph == best
        assert result.moves == 0
        assert result.score_empty == pytest.approx(stored("hom_p10_n1000")["score_empty"], rel=1e-9)


def test_kicks_help_the_steepest_descent_too():
    moments = moments_of("hom_p5_n200")
    kicked = gds_search(moments, strategy="steepest", kicks=20, seed=0)
    assert kicked.score == pytest.approx(stored("hom_p5_n200")["score"], rel=1e-9)
    assert kicked.score < kicked.restarts[0]


def test_the_penalty_prices_edges():
    moments = moments_of("marks")
    counts = [gds_search(moments, penalty=penalty, seed=0).graph.edge_count for penalty in (0.0, 1.0, 5.0, 1e6)]
    assert counts[0] == 10
    assert counts[3] == 0
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("method", ["random", "steepest"])
def test_after_a_kick_the_random_search_sees_so_many_neighbours_and_the_steepest_all(monkeypatch, method):
    seen, descend = [], _Search.descend
    monkeypatch.setattr(_Search, "descend", lambda self, *given: (seen.append(given[1]), descend(self, *given))[1])
    gds_search(Moments.from_rows(np.random.default_rng(0).standard_normal((60, 4))), strategy=method, kicks=1, seed=0)
    assert seen[-1] == (NEIGHBOURS_AFTER_KICK * 4 if method == "random" else None)


def test_nothing_that_was_given_is_changed():
    moments = moments_of("marks")
    start = Dag(moments.names, np.triu(np.ones((5, 5)), 1))
    before = moments.R.copy(), moments.mean.copy(), start.adjacency.copy(), moments.names
    gds_search(moments, start=start, seed=0)
    after = moments.R, moments.mean, start.adjacency, moments.names
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_progress_tells_moves_and_the_lowest_score():
    told = []
    result = gds_search(moments_of("marks"), seed=0, progress=lambda *news: told.append(news))
    assert [moves for moves, _ in told] == list(range(1, result.moves + 1))
    scores = [score for _, score in told]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == pytest.approx(result.score, rel=1e-12)


def test_an_interrupt_ends_the_search_and_leaves_nothing_behind():
    moments = moments_of("hom_p5_n200")
    expected = gds_search(moments, seed=1)

    def interrupt(moves, score):
        if moves == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gds_search(moments, seed=1, progress=interrupt)
    assert gds_search(moments, seed=1) == expected


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"strategy": "lazy"}, "steepest"),
        ({"strategy": "steepest", "restarts": [5]}, "one run"),
        ({"restarts": []}, "restart"),
        ({"restarts": [5, 0]}, "from 1 on"),
        ({"restarts": [2.5]}, "from 1 on"),
        ({"kicks": -1}, "kicks"),
        ({"kicks": True}, "kicks"),
        ({"penalty": -1.0}, "penalty"),
        ({"penalty": float("nan")}, "penalty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, word):
    with pytest.raises(SettingError, match=word):
        gds_search(moments_of("marks"), **settings)


def test_data_and_graphs_that_cannot_be_used_are_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    with pytest.raises(CollinearError, match="X3"):
        gds_search(Moments.from_rows(np.column_stack([X[:, 0], X[:, 1], X[:, 0]])))
    with pytest.raises(TooFewRowsError):
        gds_search(Moments.from_rows(X[:4]))
    with pytest.raises(GraphError, match="different nodes"):
        gds_search(Moments.from_rows(X), start=Dag.empty(["a", "b", "c"]))
