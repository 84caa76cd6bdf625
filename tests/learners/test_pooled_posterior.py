"""The posterior of arrows: all graphs counted, and chains that agree with the count."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles
from oracles.evidence import compelled_arrows
from oracles.model import regression
from oracles.pooled import masks

from ordag import LinearSEM, learn, simulate
from ordag.common.bits import members, packed_columns
from ordag.common.linalg import inverse
from ordag.data.datasets import load
from ordag.data.moments import Moments
from ordag.errors import SettingError
from ordag.graph.partly_directed import completed
from ordag.learners.order_search import kernel, layout
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled import chain, posterior, resampled
from ordag.learners.pooled.exact import AllGraphs, all_graphs
from ordag.learners.pooled.posterior import Probabilities, usual_draws
from ordag.learners.pooled.resampled import Redrawn, strength_for
from ordag.learners.pooled.sampler import Sampler, Walk
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.search import EVEN, ODD
from ordag.learners.pooled.variances import log_variances

seeds = st.integers(0, 2**32 - 1)
COUNTS = {1: 1, 2: 3, 3: 25, 4: 543, 5: 29281}


def variances_of(moments):
    return log_variances(moments, inverse(np.asfortranarray(moments.R.T)))


def of_rows(X):
    return variances_of(Moments.from_rows(X))


def exact_probabilities(score, variances, *masks):
    every = AllGraphs(score.p, *masks)
    return every.arrows(every.weights(score, variances))


def as_it_stands(module, patch):
    """A module anew, where nothing is compiled; others that import it meanwhile have that one."""
    spec = importlib.util.spec_from_file_location(module.__name__, module.__file__)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    patch.setitem(sys.modules, module.__name__, plain)
    return plain


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
def test_the_marks_have_the_graph_of_the_paper():
    fit = learn("marks", method="pooled", graph="best")
    assert set(fit.graph.directed) == PAPER
    assert fit.details["start_scores"] == {"all graphs": fit.score}
    X, names = marks()
    parents = [frozenset(names.index(a) for a, b in PAPER if b == name) for name in names]
    assert fit.score == pytest.approx(oracles.score_of(X, parents), abs=1e-3)
    probabilities = fit.probabilities
    np.testing.assert_array_equal(probabilities.joined, probabilities.arrows + probabilities.arrows.T)
    at = {name: k for k, name in enumerate(fit.names)}
    for _, row in fit.edges.iterrows():
        i, j = at[row["source"]], at[row["target"]]
        assert row["probability"] == probabilities.arrows[i, j] > probabilities.arrows[j, i]
        assert row["edge_probability"] == probabilities.joined[i, j]


@pytest.mark.thorough
def test_no_graph_of_the_marks_has_a_lower_score(five):
    X, _ = marks()
    fit = learn("marks", method="pooled", graph="best", draws=0)
    assert fit.score == pytest.approx(oracles.scores_of(X, five).min(), abs=1e-3)


def sampler_of(score, variances, near, allowed=None, required=None):
    p = score.p
    nothing = np.zeros((p, p), dtype=bool)
    allowed = ~np.eye(p, dtype=bool) if allowed is None else allowed
    known = (allowed, nothing if required is None else required, nothing)
    return Sampler(OrderSearch(**variances.correlations(), known=known), score, near)


def chain_of(score, variances, steps, seed, allowed=None, required=None):
    p = score.p
    start = [0] * p if required is None else packed_columns(required)
    v = np.array([variances.log_variance(j, mask) for j, mask in enumerate(start)])
    near = score.local(v, sum(mask.bit_count() for mask in start))
    walk, random = Walk(sampler_of(score, variances, near, allowed, required), start), np.random.default_rng(seed)
    for length in (steps // 10, steps):
        walk.start_counting()
        walk.go(random.random((length, 4)), np.zeros(1, dtype=np.int64))
    return walk.shares(steps)


@pytest.mark.thorough
def test_chains_come_back_from_the_empty_graph_as_often_as_they_should():
    """Independent columns, where the empty graph has most of the probability."""
    X = np.random.default_rng(3).standard_normal((30, 2))
    score, variances = PooledScore(30, 2), of_rows(X)
    expected = exact_probabilities(score, variances)
    assert 0.1 < expected.sum() < 0.5
    np.testing.assert_allclose(chain_of(score, variances, 40_000, 0), expected, atol=0.015)


@pytest.mark.thorough
def test_chains_reach_columns_without_any_correlation():
    S = np.eye(3)
    S[0, 1] = S[1, 0] = 0.5
    variances = variances_of(Moments.from_covariance(S, 30))
    score = PooledScore(30, 3)
    expected = exact_probabilities(score, variances)
    assert expected[0, 2] > 0.02
    np.testing.assert_allclose(chain_of(score, variances, 40_000, 0), expected, atol=0.03)


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
        found = np.mean([chain_of(score, variances, 25_000, number) for number in range(3)], axis=0)
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
    found = chain_of(score, variances, 40_000, seed, allowed, required)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert found[i, j] == pytest.approx(1.0)
    assert not found[~allowed].any()


def walk_of(X, groups=None, start=None):
    n, p = X.shape
    score = PooledScore(n, p, groups)
    return Walk(sampler_of(score, of_rows(X), score.local(np.zeros(p), 0)), [0] * p if start is None else start)


@pytest.mark.slow
@given(seed=seeds)
def test_the_books_are_kept(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    n = int(rng.integers(p + 3, 80))
    X = oracles.random_rows(p, n, rng, size=0.5, spread=1.0)
    groups = [None, [[0, 1]], [[j] for j in range(p)]][rng.integers(3)]
    walk, rows, stop = walk_of(X, groups), oracles.Rows(X), np.zeros(1, dtype=np.int64)
    walk.start_counting()
    counted = np.zeros((p, p))
    for _ in range(300):
        counted += walk.F >= 0  # a step counts the graph that it leaves
        walk.go(rng.random((1, 4)), stop)
    count = walk.I[chain.COUNT]
    graph = [frozenset(walk.P[j, : count[j]].tolist()) for j in range(p)]
    assert oracles.is_acyclic(graph)
    edges = walk.E[: walk.I[chain.LAST, chain.EDGES]].tolist()
    assert sorted(edges) == sorted([i, j] for j, parents in enumerate(graph) for i in parents)
    assert all(walk.F[i, j] == k for k, (i, j) in enumerate(edges))
    assert (walk.F >= 0).sum() == len(edges)
    v = rows.of(graph)
    np.testing.assert_allclose(walk.V[p], v, atol=1e-7)
    for number, group in enumerate(walk.sampler.score.groups):
        away = v[group] - walk.S[number, chain.CENTRE]
        assert walk.S[number, chain.SUM] == pytest.approx(away.sum(), abs=1e-6)
        assert walk.S[number, chain.SQUARES] == pytest.approx((away**2).sum(), abs=1e-6)
    np.testing.assert_allclose(walk.shares(300), counted / 300)
    children = [walk.D[i, : walk.I[chain.CHILDREN, i]].tolist() for i in range(p)]
    assert [sorted(own) for own in children] == [np.flatnonzero(row >= 0).tolist() for row in walk.F]
    anew = walk_of(X, groups, [sum(1 << i for i in parents) for parents in graph])
    np.testing.assert_allclose(walk.Q[:p], anew.Q[:p], rtol=1e-4, atol=1e-12)
    for j, i in permutations(range(p), 2):  # what a variable would have with one parent more or less
        v = np.log(walk.V[j, i]) + walk.sampler.terms[layout.SCALE, j]
        assert v == pytest.approx(rows.v(j, graph[j] ^ {i}), abs=1e-7)


@pytest.fixture(scope="module")
def plain():
    """The kernel and the chain as they stand, not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAG_COMPILED", "0")
        return [as_it_stands(module, patch) for module in (kernel, chain)][1]


def test_weights_are_exponentials_to_five_digits(plain):
    changes = np.linspace(-60.0, 60.0, 241)
    np.testing.assert_allclose([plain.weight_of(one) for one in changes], np.exp(-changes / 2.0), rtol=1e-5)
    assert plain.weight_of(-np.inf) == plain.weight_of(-60.0)


def test_a_pooling_is_interpolated_up_to_the_last_in_its_table(plain):
    M = np.array([[0.0, 1.0, 4.0, 9.0]])
    for log, expected in ((-1.0, 0.0), (0.5, 0.5), (1.5, 2.5), (2.5, 6.5), (3.5, 9.0)):
        assert plain.pooled_at(M, 0.0, 1.0, 0, np.exp(log)) == pytest.approx(expected)


@pytest.mark.parametrize("groups", [None, [[j] for j in range(6)]])
def test_moves_have_the_weights_of_the_changes_of_the_sum(groups, plain):
    X = oracles.random_rows(6, 50, np.random.default_rng(1), size=0.3, spread=1.0)
    parents = [0, 0b1, 0b11, 0b100, 0, 0b10101]
    walk = walk_of(X, groups, parents)
    sampler, Q, V = walk.sampler, walk.Q.copy(), walk.V.copy()
    price, exact = sampler.terms[layout.NUMBERS, layout.PRICE], []
    for j, mask in enumerate(parents):
        walk.P[6, : mask.bit_count()] = members(mask)
        given = sampler.search.C, walk.root, sampler.search.may, sampler.terms, walk.W, walk.V, walk.Q
        v = plain.weigh(*given, j, walk.P, mask.bit_count(), j, j)
        assert v == pytest.approx(V[6, j], abs=1e-9)
        half, weight, mean = sampler.terms[[layout.HALF, layout.WEIGHT, layout.MEAN], j]
        vertex = -half / (2.0 * weight) if weight > 0.0 else -np.inf

        def term(v, half=half, weight=weight, mean=mean, vertex=vertex):
            away = max(v - mean, vertex)
            return half * away + weight * away**2

        for i in set(range(6)) - {j}:
            change = term(np.log(walk.V[j, i]) + sampler.terms[layout.SCALE, j]) - term(v)
            change += -price if mask >> i & 1 else price
            exact.append((walk.Q[j, i], np.exp(-np.clip(change, -60.0, 60.0) / 2.0)))
    np.testing.assert_allclose(*np.transpose(exact), rtol=2e-5)
    np.testing.assert_allclose(walk.Q[:6], Q[:6], rtol=1e-9)
    np.testing.assert_allclose(walk.V[:6], V[:6], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 20))
def test_the_walk_is_the_same_where_it_is_not_compiled(seed, plain):
    X = oracles.random_rows(6, 50, np.random.default_rng(seed), size=0.5, spread=1.0)
    walks = [walk_of(X, [[0, 1, 2], [3, 4]]) for _ in range(2)]
    walks[1].sampler.kernel = plain
    uniforms, stop = np.random.default_rng(seed).random((400, 4)), np.zeros(1, dtype=np.int64)
    for walk in walks:
        walk.go(uniforms, stop)
    for name in ("I", "P", "E", "F", "counts"):
        np.testing.assert_array_equal(getattr(walks[0], name), getattr(walks[1], name))
    np.testing.assert_allclose(walks[0].S, walks[1].S, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_resample_has_the_covariance_of_the_rows_drawn(seed):
    p = 2 + seed
    X = oracles.random_rows(p, 30, np.random.default_rng(seed), spread=1.0) + 5.0
    unit, scale = Redrawn(Moments.from_rows(X), X, scarce=False).draw(np.random.default_rng(seed))
    drawn = oracles.resample(X, seed)
    np.testing.assert_allclose(unit @ unit.T, np.corrcoef(drawn.T), atol=1e-10)
    np.testing.assert_allclose(np.exp(scale), drawn.var(axis=0), rtol=1e-10)
    same, own = Redrawn(Moments.from_rows(X), X, scarce=True).draw(np.random.default_rng(seed))
    np.testing.assert_allclose(same, np.corrcoef(drawn.T), atol=1e-10)
    np.testing.assert_allclose(own, scale, atol=1e-10)
    for strength in (0.3, 1.0, 1.7):
        unit, scale = Redrawn(Moments.from_rows(X), X, scarce=False, strength=strength).draw(
            np.random.default_rng(seed)
        )
        far = oracles.resample(X, seed, strength)
        np.testing.assert_allclose(unit @ unit.T, np.corrcoef(far.T), atol=1e-9)
        np.testing.assert_allclose(np.exp(scale), far.var(axis=0), rtol=1e-9)


def test_resamples_are_as_far_from_the_table_as_their_strength():
    X = oracles.random_rows(3, 400, np.random.default_rng(1))
    S = np.cov(X.T, bias=True)
    for strength in (0.9, 1.8):
        redrawn = Redrawn(Moments.from_rows(X), None, scarce=False, strength=strength)
        own = [np.exp(redrawn.draw(np.random.default_rng(seed))[1]) for seed in range(400)]
        np.testing.assert_allclose(np.std(own, axis=0), strength * S.diagonal() * np.sqrt(2.0 / 400), rtol=0.15)


@pytest.mark.parametrize("scarce", [False, True])
def test_a_drawn_graph_has_the_weights_of_its_resample(scarce):
    X = oracles.random_rows(4, 30, np.random.default_rng(3), spread=1.0) + 5.0
    graph = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)
    model = Redrawn(Moments.from_rows(X), X, scarce=scarce).model(np.random.SeedSequence(7), graph)
    drawn = oracles.resample(X, np.random.SeedSequence(7))
    for j in range(4):
        parents = np.flatnonzero(graph[:, j])
        np.testing.assert_allclose(model.B[parents, j], regression(drawn, parents, j)[1], atol=1e-9)
    np.testing.assert_array_equal(model.B != 0, graph)


def test_a_few_rows_stand_for_all():
    """Around the moments of all rows, resamples of a quarter of them differ by half as much."""
    X = oracles.random_rows(3, 400, np.random.default_rng(1))
    moments, few = Moments.from_rows(X), X[::4]

    def covariance(rows, seed):
        unit, scale = Redrawn(moments, rows, scarce=False).draw(np.random.default_rng(seed))
        return unit @ unit.T * np.exp((scale[:, None] + scale) / 2.0)

    drawn = few[np.random.default_rng(7).integers(100, size=100)]
    expected = np.cov(X.T, bias=True) + oracles.STRENGTH * (np.cov(drawn.T, bias=True) - np.cov(few.T, bias=True)) / 2.0
    np.testing.assert_allclose(covariance(few, 7), expected, atol=1e-10)
    gaussian = np.array([covariance(None, seed) for seed in range(400)])
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(gaussian.mean(axis=0), S, atol=4.0 * np.abs(S).max() * np.sqrt(2.0 / 400) / 20.0)
    spread = oracles.STRENGTH * S.diagonal() * np.sqrt(2.0 / 400)
    np.testing.assert_allclose(gaussian.std(axis=0).diagonal(), spread, rtol=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 3, 4])
def test_probabilities_are_averages_over_resamples(p):
    X = oracles.random_rows(p, 60, np.random.default_rng(p), size=0.5)
    groups = [list(range(p))]
    fit = learn(X, method="pooled", groups=[[f"X{j + 1}" for j in groups[0]]], draws=12)
    seeds_of = np.random.SeedSequence(0).spawn(2)[1].spawn(12)
    expected = oracles.bagged(X, oracles.all_dags(p), seeds_of, groups, 0.25)
    np.testing.assert_allclose(fit.probabilities.arrows, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("p", "n", "density", "far"),
    [(5, 400, 1.0, False), (6, 400, 1.0, True), (8, 400, 1.0, True), (8, 400, 0.2, False), (8, 60, 1.0, False)],
)
def test_dense_graphs_are_resampled_farther_from_the_table(p, n, density, far):
    X = oracles.random_rows(p, n, np.random.default_rng(p), density=density)
    result = learn(X, method="pooled", draws=0).result
    assert strength_for(result) == pytest.approx(oracles.strength_for(result.best.edges, p, n))
    assert (strength_for(result) > 1.3) == far


def test_probabilities_say_whether_they_have_settled():
    none = np.zeros((2, 2))
    near, far = (Probabilities(none, "rows", 100, none + error, none) for error in (0.05, 0.06))
    assert near.settled
    assert "ask for more" not in near.sentence
    assert not far.settled
    assert "standard errors of up to 0.06: ask for more" in far.sentence
    assert "longer ones may agree, with kicks=500" in replace(far, searches=0.06).sentence
    assert far.to_dict() == {"kind": "rows", "draws": 100, "error": 0.06, "settled": False}


def test_a_resample_is_not_searched_from_a_graph_that_is_far_worse(monkeypatch):
    X = oracles.random_rows(9, 300, np.random.default_rng(0), size=2.0, density=0.6)
    result = learn(X, method="pooled", draws=0).result
    empty, same = result.fitted([0] * 9), replace(result.best, score=result.best.score + 150.0)
    assert empty.score > result.best.score + 1000.0
    once, searched = OrderSearch.descend_once, []
    monkeypatch.setattr(OrderSearch, "descend_once", lambda *given: searched.append(given[2]) or once(*given))
    for second, expected in ((empty, [result.best]), (same, [result.best, same])):
        searched.clear()
        resampled.Resampled(replace(result, optima=(result.best, second)), X).run([np.random.SeedSequence(1)])
        assert searched == expected
    others = [replace(result.best, score=result.best.score + k, parents=(k,) * 9) for k in range(1, 6)]
    halves = (EVEN, EVEN, ODD, EVEN, ODD, ODD)
    given = resampled.Resampled(replace(result, ends=tuple(zip((result.best, *others), halves, strict=True))), X)
    kept = [(result.best, EVEN), (others[0], EVEN), (others[1], ODD), (others[3], ODD)]
    assert [(one.score, half) for one, half in given.starts[:4]] == [(one.score, half) for one, half in kept]
    assert all(half == EVEN | ODD for _, half in given.starts[4:])


@pytest.mark.slow
def test_resamples_of_standardised_tables_begin_with_any_graph_of_the_class():
    X = simulate("erdos-renyi", 9, 300, 3, degree=3).X
    X /= X.std(axis=0)
    result, random = learn(X, method="pooled", draws=0).result, np.random.default_rng(0)
    graph, every = result.best.adjacency(), resampled.Resampled(result, X)
    turned = [every._turned(result.best, random) for _ in range(40)]
    for one in turned:
        np.testing.assert_array_equal(completed(one.adjacency()), completed(graph))
        assert all(one.order.index(i) < one.order.index(j) for i, j in zip(*np.nonzero(one.adjacency()), strict=True))
    ways = np.mean([one.adjacency() for one in turned], axis=0)
    free = completed(graph) & completed(graph).T
    assert free.any()
    assert (ways[free] > 0.0).all()
    apart = learn(X * 3.0 ** np.arange(9), method="pooled", draws=0).result
    assert resampled.Resampled(apart, X)._turned(apart.best, random) is apart.best


@pytest.mark.slow
@pytest.mark.parametrize(
    "knowledge", [{"forbidden": [("X6", "X5")], "required": [("X8", "X9")]}, {"tiers": [["X1"], ["X3"]]}]
)
def test_graphs_that_resamples_begin_with_and_end_in_keep_to_knowledge(knowledge):
    """In a chain any variable can be the first. X2 is in no tier: X3 → X2 → X1 has only allowed arrows, and is against the tiers."""
    arrows = {(f"X{k}", f"X{k + 1}"): 0.8 for k in range(1, 9)}
    X = LinearSEM.from_edges([f"X{k}" for k in range(1, 10)], arrows).sample(300, seed=1)
    fit, random = learn(X / X.std(axis=0), method="pooled", draws=30, knowledge=knowledge), np.random.default_rng(0)
    result = fit.result
    every = resampled.Resampled(result, X)
    turned = [every._turned(result.best, random) for _ in range(40)]
    assert len({one.parents for one in turned}) > 1
    for one in turned:
        graph = one.adjacency()
        np.testing.assert_array_equal(completed(graph), completed(result.best.adjacency()))
        assert not (graph & ~result.known.allowed).any()
        assert not (result.known.required & ~graph).any()
        before = result.known.before | graph
        assert all(one.order.index(i) < one.order.index(j) for i, j in zip(*np.nonzero(before), strict=True))
    for graph in fit.posterior._graphs["rows"]:
        mask = np.unpackbits(graph, count=81).reshape(9, 9).astype(bool)
        assert not (mask & ~result.known.allowed).any()
        assert not (result.known.required & ~mask).any()


@pytest.mark.slow
def test_the_error_counts_what_halves_of_the_searches_differ_by():
    """One half of the chains has ended in the best graph, the other one in a graph along the reverse order."""
    X = oracles.random_rows(9, 300, np.random.default_rng(0), size=2.0, density=0.6)
    X /= X.std(axis=0)
    fit = learn(X, method="pooled", draws=0)
    result, order = fit.result, fit.posterior.order
    reverse = result.fitted(packed_columns(result.best.adjacency().T))
    reverse = replace(reverse, score=result.best.score + 1.0)
    one, other = (
        posterior.Posterior(
            replace(result, ends=((result.best, first), (reverse, second))), order, 30, np.random.SeedSequence(1)
        ).probabilities(X)
        for first, second in ((EVEN | ODD, EVEN | ODD), (EVEN, ODD))
    )
    np.testing.assert_array_equal(one.arrows, other.arrows)
    assert one.searches == 0.0
    assert 0.05 < other.searches <= 0.5
    assert (other.errors >= one.errors).all()
    between = np.sqrt(np.square(other.errors) - np.square(one.errors))
    assert between.max() == pytest.approx(other.searches)
    assert not other.settled
    assert "kicks=500" in other.sentence


@pytest.mark.slow
def test_probabilities_depend_on_the_seed_alone_and_two_seeds_agree():
    X = oracles.random_rows(7, 60, np.random.default_rng(0), size=0.4)
    one, same, other = (learn(X, method="pooled", draws=40, seed=seed).probabilities for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.arrows, same.arrows)
    assert (one.arrows != other.arrows).any()
    assert one.draws == 40
    assert as_alike_as_they_say(one, other)
    assert ((one.compelled <= one.arrows + 0.3) & (one.compelled >= 0.0)).all()


def as_alike_as_they_say(one, other):
    """Whether two sets of probabilities differ by no more than their standard errors explain."""
    return bool((np.abs(one.arrows - other.arrows) <= 4.5 * np.hypot(one.errors, other.errors) + 0.01).all())


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "n", "degree"), [(4, 100, 2), (8, 200, 4), (12, 200, 3), (20, 300, 4), (50, 500, 3)])
def test_how_a_table_stands_changes_no_probability_beyond_its_error(p, n, degree):
    random = np.random.default_rng(p)
    X = simulate("erdos-renyi", p, n, p, degree=degree).X * np.exp(random.normal(size=p))
    here = learn(X, method="pooled").probabilities
    for there in (X[random.permutation(n)], 7.3 * X, X + 100.0):
        assert as_alike_as_they_say(learn(there, method="pooled").probabilities, here)
    assert as_alike_as_they_say(learn(X, method="pooled", seed=9).probabilities, here)
    shuffle = random.permutation(p)
    there = learn(X[:, shuffle], method="pooled").probabilities
    back = np.argsort(shuffle)
    arrows, errors = (one[np.ix_(back, back)] for one in (there.arrows, there.errors))
    assert as_alike_as_they_say(replace(there, arrows=arrows, errors=errors), here)


@pytest.mark.slow
def test_resamples_are_the_same_however_many_run_at_a_time(monkeypatch):
    X = oracles.random_rows(7, 60, np.random.default_rng(0), size=0.4)
    two = learn(X, method="pooled", draws=40).probabilities
    monkeypatch.setattr(resampled, "THREADS", 1)
    np.testing.assert_array_equal(learn(X, method="pooled", draws=40).probabilities.arrows, two.arrows)


def pair(seed, n, weight):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return np.column_stack([x, weight * x + rng.standard_normal(n)])


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 500])
def test_two_columns_of_unknown_units_leave_the_direction_open(n):
    for seed in range(6):
        arrows = learn(pair(seed, n, 0.7) * [1.0, 10.0 ** (seed - 3)], method="pooled").probabilities.arrows
        assert arrows.sum() > 0.95
        assert 0.35 < arrows[0, 1] / arrows.sum() < 0.65


WOMEN = np.array([np.arange(58, 73), [115, 117, 120, 123, 126, 129, 132, 135, 139, 142, 146, 150, 154, 159, 164]]).T
"""Heights in inches and weights in pounds of American women (R's data set `women`)."""


@pytest.mark.parametrize("units", [(1.0, 1.0), (2.54, 0.4536), (25.4, 0.4536)], ids=["in, lb", "cm, kg", "mm, kg"])
def test_women_leave_the_direction_open_in_any_units(units):
    fit = learn(WOMEN * units, method="pooled")
    arrows = fit.probabilities.arrows
    assert arrows.sum() > 0.95
    assert 0.35 < arrows[0, 1] / arrows.sum() < 0.65
    assert fit.edges["reason"].tolist() == ["open"]
    assert fit.verdict.light != "green"


def test_class_is_said_of_arrows_that_nine_tenths_of_the_drawn_graphs_have_in_their_own_class(monkeypatch):
    monkeypatch.setattr(posterior, "LIKELY_ENOUGH", 0.0)  # the graphs as they were drawn
    said = 0
    for seed, n in ((0, 150), (1, 1500), (2, 1500)):
        E = np.random.default_rng(seed).standard_normal((n, 4))
        X = np.column_stack([E[:, 0], E[:, 1], E[:, :3].sum(axis=1), E[:, 3]])
        fit = learn(X, method="pooled", draws=20, seed=seed)
        drawn = list(fit.posterior.graphs(fit.sample))
        share = np.zeros((4, 4))
        for graph in drawn:
            for i, j in compelled_arrows(graph):
                share[i, j] += 1.0 / len(drawn)
        probabilities = fit.probabilities
        expected = (share >= 0.9 * probabilities.joined - 1e-12) & (probabilities.arrows > 0.5)
        np.testing.assert_array_equal(fit.posterior.compelled(fit.sample), expected)
        by_class = fit.edges[fit.edges["reason"] == "class"]
        ends = {(fit.names.index(a), fit.names.index(b)) for a, b in by_class[["source", "target"]].to_numpy()}
        assert ends == {tuple(ij) for ij in np.argwhere(expected & fit.graph.adjacency).tolist()}
        said += len(ends)
    assert said


@pytest.mark.slow
def test_beyond_two_hundred_variables_the_answer_says_that_probabilities_were_left_out():
    X = np.random.default_rng(0).standard_normal((320, 201))
    X[:, 1] += X[:, 0]
    fit = learn(X, method="pooled")
    assert fit.probabilities is None
    assert fit.verdict.sentence.startswith(
        "Whether the arrow is wrong is not known: probabilities take long for so many"
    )
    asked = learn(X, method="pooled", draws=4)
    assert asked.probabilities.draws == 4
    assert asked.verdict.expected is not None


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
    assert document["kind"] == "rows"
    assert document["draws"] == 21
    assert learn(Moments.from_rows(X), method="pooled", draws=21).probabilities.kind == "moments"
    arrows = some.probabilities.arrows
    assert np.isfinite(arrows).all()
    assert not arrows.diagonal().any()
    assert (some.probabilities.joined <= 1.0 + 1e-12).all()
    assert usual_draws(201) == 0 < usual_draws(200)
    for draws in (-1, 2.5, True, "many"):
        with pytest.raises(SettingError, match="resamples"):
            learn(X, method="pooled", draws=draws)


@pytest.mark.parametrize(("apart", "needed"), [(1.0, False), (1e-6, True)])
def test_resamples_take_the_root_where_correlations_have_too_few_digits(apart, needed):
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[:, 2] = X[:, 1] + apart * X[:, 2]
    result = learn(X, method="pooled", draws=0).result
    assert resampled.Resampled(result, X).needs_root is needed
