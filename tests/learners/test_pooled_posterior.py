"""The posterior of arrows: all graphs counted, and chains that agree with the count."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles
from oracles.pooled import masks

from ordag import learn
from ordag.bits import members, packed_columns
from ordag.data.datasets import load
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.learners.pooled.all_graphs import all_graphs, exact_probabilities
from ordag.learners.pooled.posterior import effective_size, usual_draws
from ordag.learners.pooled.sampler import Chain, Sampler, _State
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import log_variances
from ordag.linalg import inverse

seeds = st.integers(0, 2**32 - 1)
COUNTS = {1: 1, 2: 3, 3: 25, 4: 543, 5: 29281}


def variances_of(moments):
    return log_variances(moments, inverse(np.asfortranarray(moments.R.T)))


def of_rows(X):
    return variances_of(Moments.from_rows(X))


def free(p):
    return [((1 << p) - 1) & ~(1 << j) for j in range(p)]


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_all_graphs_are_all_graphs(p):
    by_force = {tuple(masks(graph)) for graph in oracles.all_dags_by_force(p)}
    assert len(by_force) == COUNTS[p] == len(oracles.all_dags(p))
    assert {tuple(masks(graph)) for graph in oracles.all_dags(p)} == by_force
    assert {tuple(row) for row in all_graphs(p).tolist()} == by_force
    assert len(all_graphs(p)) == COUNTS[p]


@pytest.fixture(scope="module")
def five():
    return oracles.all_dags(5)


@pytest.mark.slow
def test_all_graphs_over_five(five):
    assert len(five) == COUNTS[5] == len(all_graphs(5))
    assert {tuple(masks(graph)) for graph in five} == {tuple(row) for row in all_graphs(5).tolist()}


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_the_enumeration(p, seed):
    rng = np.random.default_rng(seed)
    X = oracles.random_rows(p, int(rng.choice([10, 60, 300])), rng, spread=float(rng.choice([0.0, 1.0])), size=0.5)
    graphs = oracles.all_dags(p)
    for groups, spread in ((None, 2.0), (None, 0.5), ([[0, p - 1]], 0.5), ([], 2.0)):
        score = PooledScore(len(X), p, groups, spread)
        expected = oracles.probabilities(oracles.scores_of(X, graphs, groups, spread), graphs)
        np.testing.assert_allclose(exact_probabilities(score, of_rows(X)), expected, atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_under_knowledge_are_those_of_the_graphs_that_keep_to_it(seed):
    rng = np.random.default_rng(seed)
    X = oracles.random_rows(4, 40, rng, size=0.4)
    allowed = (rng.random((4, 4)) < 0.8) & ~np.eye(4, dtype=bool)
    required = np.zeros((4, 4), dtype=bool)
    i, j = np.argwhere(allowed)[rng.integers(allowed.sum())]
    required[i, j] = True
    allowed[j, i] = False
    kept = [
        graph
        for graph in oracles.all_dags(4)
        if i in graph[j] and all(allowed[a, b] for b in range(4) for a in graph[b])
    ]
    expected = oracles.probabilities(oracles.scores_of(X, kept), kept)
    found = exact_probabilities(PooledScore(40, 4), of_rows(X), allowed, required)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert found[i, j] == pytest.approx(1.0)
    assert not found[~allowed].any()


MARKS = ["mechanics", "vectors", "algebra", "analysis", "statistics"]
PAPER = {
    ("algebra", "vectors"),
    ("algebra", "analysis"),
    ("algebra", "statistics"),
    ("algebra", "mechanics"),
    ("vectors", "mechanics"),
    ("analysis", "statistics"),
}


def marks():
    frame = np.loadtxt(load("marks").path, delimiter=",", skiprows=1)
    names = load("marks").path.read_text(encoding="utf-8").splitlines()[0].replace('"', "").split(",")
    return frame, names


@pytest.mark.slow
def test_the_marks_by_the_plug_in_score_over_all_graphs(five):
    X, names = marks()
    rows = oracles.Rows(X)
    totals = np.array([oracles.plug_in_score(len(X), rows.of(g), sum(map(len, g))) for g in five])
    best = five[totals.argmin()]
    assert {(names[i], names[j]) for j, parents in enumerate(best) for i in parents} == PAPER
    found = oracles.probabilities(totals, five)
    at = {name: k for k, name in enumerate(names)}
    stated = {
        ("algebra", "vectors"): 0.91,
        ("algebra", "analysis"): 0.98,
        ("algebra", "statistics"): 0.98,
        ("algebra", "mechanics"): 0.91,
        ("vectors", "mechanics"): 0.75,
        ("mechanics", "vectors"): 0.24,
        ("analysis", "statistics"): 0.53,
        ("statistics", "analysis"): 0.35,
    }
    for (a, b), probability in stated.items():
        assert found[at[a], at[b]] == pytest.approx(probability, abs=0.0051), (a, b)


@pytest.mark.slow
def test_the_marks_have_the_graph_of_the_paper(five):
    X, names = marks()
    fit = learn("marks", method="pooled")
    assert set(fit.graph.directed) == PAPER
    assert fit.details["start_scores"] == {"all graphs": fit.score}
    totals = oracles.scores_of(X, five)
    assert fit.score == pytest.approx(totals.min(), abs=1e-3)
    expected = oracles.probabilities(totals, five)
    shuffle = [names.index(name) for name in fit.names]
    assert fit.probabilities.kind == "exact"
    np.testing.assert_allclose(fit.probabilities.arrows, expected[np.ix_(shuffle, shuffle)], atol=1e-3)
    np.testing.assert_array_equal(fit.probabilities.joined, fit.probabilities.arrows + fit.probabilities.arrows.T)
    for _, row in fit.edges.iterrows():
        i, j = names.index(row["source"]), names.index(row["target"])
        assert row["probability"] == pytest.approx(expected[i, j], abs=1e-3)
        assert row["edge_probability"] == pytest.approx(expected[i, j] + expected[j, i], abs=1e-3)


def chain_of(score, variances, steps, seed, allowed=None, required=None, start=None):
    p = score.p
    start = [0] * p if start is None else start
    v = np.array([variances.log_variance(j, mask) for j, mask in enumerate(start)])
    near = score.local(v, sum(mask.bit_count() for mask in start))
    sampler = Sampler(score, variances, near, allowed or free(p), required or [0] * p)
    return sampler.run(start, steps, np.random.default_rng(seed))


@pytest.mark.thorough
def test_chains_come_back_from_the_empty_graph_as_often_as_they_should():
    """Independent columns, where the empty graph has most of the probability."""
    X = np.random.default_rng(3).standard_normal((30, 2))
    score, variances = PooledScore(30, 2), of_rows(X)
    expected = exact_probabilities(score, variances)
    assert 0.1 < expected.sum() < 0.5
    np.testing.assert_allclose(chain_of(score, variances, 40_000, 0).arrows, expected, atol=0.015)


@pytest.mark.thorough
def test_chains_reach_columns_without_any_correlation():
    S = np.eye(3)
    S[0, 1] = S[1, 0] = 0.5
    variances = variances_of(Moments.from_covariance(S, 30))
    score = PooledScore(30, 3)
    expected = exact_probabilities(score, variances)
    assert expected[0, 2] > 0.02
    np.testing.assert_allclose(chain_of(score, variances, 40_000, 0).arrows, expected, atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "n", "size", "groups", "spread"),
    [
        (3, 20, 0.3, None, 2.0),
        thorough(4, 20, 0.4, None, 2.0),
        thorough(4, 100, 0.3, None, 0.5),
        thorough(5, 50, 0.4, None, 2.0),
        thorough(5, 200, 0.3, [[0, 1, 2], [3, 4]], 0.5),
        thorough(4, 60, 0.5, [[0], [1], [2], [3]], 0.5),
    ],
)
def test_chains_agree_with_the_count(p, n, size, groups, spread):
    for seed in tries(1, 4):
        X = oracles.random_rows(p, n, np.random.default_rng(seed), size=size)
        score, variances = PooledScore(n, p, groups, spread), of_rows(X)
        expected = exact_probabilities(score, variances)
        found = np.mean([chain_of(score, variances, 25_000, chain).arrows for chain in range(3)], axis=0)
        np.testing.assert_allclose(found, expected, atol=0.03)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
def test_chains_under_knowledge_agree_with_the_count(seed):
    rng = np.random.default_rng(seed)
    p, n = 4, 40
    X = oracles.random_rows(p, n, rng, size=0.4)
    allowed = (rng.random((p, p)) < 0.8) & ~np.eye(p, dtype=bool)
    required = np.zeros((p, p), dtype=bool)
    i, j = np.argwhere(allowed)[rng.integers(allowed.sum())]
    required[i, j], allowed[j, i] = True, False
    score, variances = PooledScore(n, p), of_rows(X)
    expected = exact_probabilities(score, variances, allowed, required)
    start = packed_columns(required)
    found = chain_of(score, variances, 40_000, seed, packed_columns(allowed), start, start).arrows
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert found[i, j] == pytest.approx(1.0)
    assert not found[~allowed].any()


@pytest.mark.slow
@given(seed=seeds)
def test_the_books_are_kept(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    n = int(rng.integers(p + 3, 80))
    X = oracles.random_rows(p, n, rng, size=0.5, spread=1.0)
    groups = [None, [[0, 1]], [[j] for j in range(p)]][rng.integers(3)]
    score, rows = PooledScore(n, p, groups), oracles.Rows(X)
    sampler = Sampler(score, of_rows(X), score.local(np.zeros(p), 0), free(p), [0] * p)
    state = _State(sampler, [0] * p)
    counted = np.zeros((p, p))
    for _ in range(300):
        state.step(rng)
        for i, j in state.edges:
            counted[i, j] += 1
    graph = [frozenset(members(mask)) for mask in state.parents]
    assert oracles.is_acyclic(graph)
    assert sorted(state.edges) == sorted((i, j) for j, parents in enumerate(graph) for i in parents)
    assert state.place == {edge: k for k, edge in enumerate(state.edges)}
    assert state.children == masks([[j for j in range(p) if i in graph[j]] for i in range(p)])
    v = rows.of(graph)
    np.testing.assert_allclose(state.v, v, atol=1e-7)
    for number, group in enumerate(score.groups):
        away = v[group] - state.centre[number]
        assert state.sums[number] == pytest.approx(away.sum(), abs=1e-6)
        assert state.squares[number] == pytest.approx((away**2).sum(), abs=1e-6)
    np.testing.assert_allclose(state.shares(), counted / 300)


@pytest.mark.slow
def test_a_step_changes_the_score_by_what_it_says():
    rng = np.random.default_rng(0)
    X = oracles.random_rows(5, 50, rng)
    score = PooledScore(50, 5, [[0, 1, 2], [3, 4]])
    sampler = Sampler(score, of_rows(X), score.local(np.zeros(5), 0), free(5), [0] * 5)
    state = _State(sampler, [0] * 5)
    for _ in range(100):
        state.step(rng)
        v = np.array(state.v)
        changed = {int(j): float(rng.normal()) for j in rng.permutation(5)[:2]}
        after = v.copy()
        after[list(changed)] = list(changed.values())
        edges = len(state.edges)
        more = 1 if edges < 10 else -1
        expected = score.total(after, edges + more) - score.total(v, edges)
        assert state._change(changed, more) == pytest.approx(expected, abs=2e-3)


@pytest.mark.slow
def test_chains_depend_on_the_seed_alone():
    X = oracles.random_rows(7, 60, np.random.default_rng(0), size=0.4)
    one, same, other = (learn(X, method="pooled", draws=40, seed=seed).probabilities for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.arrows, same.arrows)
    assert (one.arrows != other.arrows).any()
    assert one.kind == "sampled"
    assert one.draws == 40
    assert 0.0 <= one.disagreement <= 1.0
    assert 0.0 < one.effective <= 40
    score, variances = PooledScore(60, 7), of_rows(X)
    sampler = Sampler(score, variances, score.local(np.zeros(7), 0), free(7), [0] * 7)
    first = sampler.run([0] * 7, 200, np.random.default_rng(1))
    again = sampler.run([0] * 7, 200, np.random.default_rng(1))  # the tables are full by now
    np.testing.assert_array_equal(first.arrows, again.arrows)
    np.testing.assert_allclose(first.tenths.mean(axis=0), first.arrows)


@pytest.mark.slow
def test_what_the_sampler_keeps_is_bounded(monkeypatch):
    X = oracles.random_rows(6, 40, np.random.default_rng(0))
    score, variances = PooledScore(40, 6), of_rows(X)
    plain = chain_of(score, variances, 300, 0)
    monkeypatch.setattr("ordag.learners.pooled.sampler.MEMORY", 3 * (40 * 6 + 400))
    np.testing.assert_allclose(chain_of(score, variances, 300, 0).arrows, plain.arrows)


def pair(seed, n, weight):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return np.column_stack([x, weight * x + rng.standard_normal(n)])


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 500])
def test_two_columns_of_unknown_units_leave_the_direction_open(n):
    for seed in range(6):
        arrows = learn(pair(seed, n, 0.7), method="pooled").probabilities.arrows
        assert arrows.sum() > 0.95
        assert 0.3 < arrows[0, 1] / arrows.sum() < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 500])
def test_two_columns_of_one_unit_have_a_direction(n):
    for seed in range(6):
        arrows = learn(pair(seed, n, 1.5), method="pooled", units="commensurable").probabilities.arrows
        assert arrows[0, 1] / arrows.sum() > 0.8


@pytest.mark.slow
def test_probabilities_asked_for_and_not():
    X = oracles.random_rows(6, 60, np.random.default_rng(1))
    none = learn(X, method="pooled", draws=0)
    assert none.probabilities is None
    assert "probability" not in none.edges
    assert "probabilities" not in none.to_dict()
    some = learn(X, method="pooled", draws=21)
    assert {"probability", "edge_probability"} <= set(some.edges)
    document = some.to_dict()["probabilities"]
    assert document["kind"] == "sampled"
    assert document["draws"] == 21
    small = learn(X[:, :3], method="pooled", draws=50)
    assert small.probabilities.kind == "sampled"
    assert learn(X[:, :3], method="pooled").to_dict()["probabilities"] == {"kind": "exact"}
    arrows = some.probabilities.arrows
    assert np.isfinite(arrows).all()
    assert not arrows.diagonal().any()
    assert (some.probabilities.joined <= 1.0 + 1e-12).all()
    assert usual_draws(101) == 0 < usual_draws(100)
    for draws in (-1, 2.5, True, "many"):
        with pytest.raises(SettingError, match="graphs to sample"):
            learn(X, method="pooled", draws=draws)


def test_the_effective_size_of_independent_draws_is_their_number():
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(50):
        chains = [Chain(np.zeros((4, 4)), rng.binomial(50, 0.3, (10, 4, 4)) / 50) for _ in range(2)]
        sizes.append(effective_size(chains, 10**6))
    assert np.median(sizes) == pytest.approx(1000, rel=0.15)
    shares = [0.4, 0.6] * 10
    size = 20 * 0.5 * 0.5 / statistics.variance(shares)
    chains = [Chain(np.zeros((1, 1)), np.reshape(half, (10, 1, 1))) for half in (shares[:10], shares[10:])]
    assert effective_size(chains, 10**6) == pytest.approx(size)
    assert effective_size([Chain(np.ones((2, 2)), np.ones((10, 2, 2)))] * 2, 77) == 77
    assert math.isfinite(effective_size([Chain(np.full((2, 2), 0.5), np.full((10, 2, 2), 0.5))] * 2, 77))
