"""The pooled search: against exhaustive search, on population moments, and under everything that should not matter."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from budgets import thorough, tries, whole_methods
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles
from strategies.tables import tables

from ordag import Moments, learn, simulate
from ordag.data.table import Table
from ordag.graph import Dag, hamming, to_cpdag
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled import search
from ordag.learners.pooled.search import AtOtherPrice, pooled_search
from ordag.order import find_order

seeds = st.integers(0, 2**32 - 1)


def groups_of(fit):
    """All columns, or none where they are two or standardised."""
    return None if fit.result.score.groups else []


def parents_of(graph):
    return tuple(frozenset(np.flatnonzero(column).tolist()) for column in np.asarray(graph.adjacency).T)


def mixed_rows(p, seed):
    """Tables with equal and unequal error variances, few rows and many, few edges and many."""
    rng = np.random.default_rng(1000 * p + seed)
    return oracles.random_rows(
        p, int(rng.choice([30, 100, 400])), rng, float(rng.choice([0.3, 0.6, 0.9])), float(rng.choice([0.0, 0.4, 1.5]))
    )


@pytest.mark.slow
def test_over_five_variables_nothing_is_missed():
    graphs = oracles.all_dags(5)
    gaps = []
    for seed in tries(2, 40):
        X = mixed_rows(5, seed)
        fit = learn(X, method="pooled", draws=0)
        gaps.append(fit.score - oracles.scores_of(X, graphs, groups_of(fit)).min())
    assert np.abs(gaps).max() < 1e-3


@pytest.mark.thorough
def test_over_six_and_seven_variables_hardly_any_graph_has_a_lower_sum():
    """The terms at the graph found bound the score: a lower sum over any graph would be a lower score."""
    gaps = []
    for p, count in ((6, len(tries(10, 34))), (7, len(tries(1, 6)))):
        for seed in range(count):
            X = mixed_rows(p, seed)
            ordering = find_order(Table(X))
            found = pooled_search(ordering, spread=1.0)
            rows = oracles.Rows(X[:, ordering.order])
            best = found.best
            local = found.score.local(best.v, best.edges)

            def cost(j, parents, rows=rows, local=local):
                own = oracles.term(rows.v(j, parents), local.half[j], local.mean[j], local.weight[j])
                return own + local.price * len(parents)

            here = sum(cost(j, parents) for j, parents in enumerate(parents_of_masks(best.parents)))
            gaps.append(here - oracles.best_over_sets(p, cost))
    assert min(gaps) > -1e-6
    assert max(gaps) < 1.0
    assert sum(gap > 1e-4 for gap in gaps) <= 1


def parents_of_masks(parents):
    p = len(parents)
    return [frozenset(k for k in range(p) if mask >> k & 1) for mask in parents]


@pytest.mark.parametrize("p", [7, 14])
def test_no_graph_that_is_known_has_a_better_class_than_the_one_that_is_kept(p):
    X = oracles.random_rows(p, 400, np.random.default_rng(0), density=0.6, size=1.5)
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    for rows in (X, standardised):
        found = learn(rows, method="pooled", draws=0).result
        graphs = [parents_of_masks(one.parents) for one in (found.free, found.best)]
        own, of_best = oracles.scores_of(X, graphs, [])
        assert own <= of_best + 1e-6
    assert found.score.groups == []  # the best graph has the least score that is known
    assert own == pytest.approx(of_best, abs=1e-6)


def test_the_two_exhaustive_searches_agree():
    rng = np.random.default_rng(0)
    for p in (2, 3, 4, 5):
        rows = oracles.Rows(oracles.random_rows(p, 40, rng))

        def cost(j, parents, rows=rows):
            return oracles.term(rows.v(j, parents), 20.0, 0.1, 3.0) + 1.5 * len(parents)

        lowest = oracles.best_over_orders(p, cost)
        assert oracles.best_over_sets(p, cost) == pytest.approx(lowest, abs=1e-9)
        if p < 5:
            graphs = oracles.all_dags(p)
            assert min(sum(cost(j, g[j]) for j in range(p)) for g in graphs) == pytest.approx(lowest, abs=1e-9)


@pytest.mark.slow
@given(X=tables())
def test_score_and_order_are_those_of_the_graph(X):
    fit = learn(X, method="pooled", draws=0)
    assert fit.score == pytest.approx(oracles.score_of(X, parents_of(fit.graph), groups_of(fit)), abs=1e-3, rel=1e-9)
    assert sorted(fit.order) == sorted(fit.names)
    place = {name: k for k, name in enumerate(fit.order)}
    assert all(place[a] < place[b] for a, b in fit.graph.directed)
    assert fit.score <= min(fit.details["start_scores"].values()) + 1e-9


def population(seed, p, free, density=0.5):
    rng = np.random.default_rng(seed)
    B = np.triu(rng.uniform(0.4, 1.2, (p, p)) * rng.choice([-1, 1], (p, p)) * (rng.random((p, p)) < density), 1)
    shuffle = rng.permutation(p)
    B = B[np.ix_(shuffle, shuffle)]
    omega = np.exp(rng.normal(0.0, 1.5, p)) if free else np.full(p, 1.7)
    T = np.linalg.inv(np.eye(p) - B)
    names = [f"x{j}" for j in range(p)]
    return Dag(names, B), Moments.from_covariance(T.T @ np.diag(omega) @ T, 10**8, names=names)


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 5, 9, 12])
@pytest.mark.parametrize("seed", range(3))
def test_equal_variances_give_the_truth_from_population_moments(p, seed):
    truth, moments = population(seed, p, free=False)
    for more in ({}, {"units": "commensurable"}):
        fit = learn(moments, method="pooled", draws=0, **more)
        assert fit.graph == truth
        assert fit.details["spread"] == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 5, 8])
@pytest.mark.parametrize("seed", range(4))
def test_free_variances_give_the_class_from_population_moments(p, seed):
    truth, moments = population(seed, p, free=True)
    for more in ({}, {"groups": []}):
        fit = learn(moments, method="pooled", draws=0, **more)
        assert to_cpdag(fit.graph) == to_cpdag(truth)


@pytest.mark.slow
@whole_methods
@given(X=tables(min_p=2, max_p=7), seed=seeds)
def test_relabelling_relabels(X, seed):
    p = X.shape[1]
    names = [f"x{j}" for j in range(p)]
    shuffle = np.random.default_rng(seed).permutation(p)
    here = learn(Moments.from_rows(X, names=names), method="pooled")
    there = learn(Moments.from_rows(X[:, shuffle], names=[names[j] for j in shuffle]), method="pooled")
    assert there.graph.reorder(names) == here.graph
    assert there.score == pytest.approx(here.score, rel=1e-9, abs=1e-6)
    assert there.details["start_scores"] == pytest.approx(here.details["start_scores"], rel=1e-9, abs=1e-6)
    if p <= 5:
        np.testing.assert_allclose(
            there.probabilities.arrows, here.probabilities.arrows[np.ix_(shuffle, shuffle)], atol=1e-6
        )


@pytest.mark.slow
@whole_methods
@given(X=tables(), factor=st.sampled_from([1e-6, 0.25, 3.0, 1e5]), shift=st.floats(-100.0, 100.0))
def test_common_scaling_and_any_shift_change_nothing(X, factor, shift):
    n, p = X.shape
    here, there = learn(X, method="pooled", draws=0), learn(X * factor + shift, method="pooled", draws=0)
    assert there.graph == here.graph
    assert there.score - here.score == pytest.approx(n * p * np.log(factor), rel=1e-6, abs=1e-4)


@pytest.mark.slow
def test_flipping_a_sign_changes_nothing():
    X = mixed_rows(6, 1)
    assert learn(X * [1, -1, 1, 1, -1, -1], method="pooled").graph == learn(X, method="pooled").graph


@pytest.mark.slow
@whole_methods
@given(X=tables(max_p=6))
def test_rows_and_their_moments_in_parts_are_the_same_data(X):
    """The best graph is; the consensus is over resamples, and those of rows differ from those of moments."""
    names = [f"x{j}" for j in range(X.shape[1])]
    before = X.copy()
    X.flags.writeable = False
    whole = learn(Moments.from_rows(X, names=names), method="pooled", graph="best")
    np.testing.assert_array_equal(X, before)
    cut = len(X) // 3
    parts = [Moments.from_rows(part, names=names) for part in (X[:cut], X[cut:])] if cut >= 2 else []
    if parts:
        merged = parts[0].merge(parts[1])
        R = merged.R.copy()
        assert learn(merged, method="pooled", graph="best").graph == whole.graph
        np.testing.assert_array_equal(merged.R, R)
    assert learn(X, method="pooled", graph="best").graph.adjacency.tolist() == whole.graph.adjacency.tolist()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer():
    X = simulate("erdos-renyi", 12, 100, 3, degree=4).X
    first, again = (learn(X, method="pooled", kicks=4, draws=30) for _ in range(2))
    assert first.to_json() == again.to_json()
    np.testing.assert_array_equal(first.probabilities.arrows, again.probabilities.arrows)
    stated = learn(X, method="pooled", kicks=4, draws=30, seed=0)
    assert stated.to_json() == first.to_json()
    streams = [learn(X, method="pooled", draws=30, seed=np.random.default_rng(4)).probabilities for _ in range(2)]
    np.testing.assert_array_equal(streams[0].arrows, streams[1].arrows)


@pytest.mark.parametrize(("most", "asked"), [(6, True), (5, False)])
def test_few_variables_are_searched_at_another_price_too(most, asked, monkeypatch):
    prices = []
    monkeypatch.setattr(search, "MOST_FOR_ALL_SETS", 5)
    monkeypatch.setattr(search, "MOST_AT_OTHER_PRICE", most)
    monkeypatch.setattr(
        search, "AtOtherPrice", lambda score, factor: prices.append(factor) or AtOtherPrice(score, factor)
    )
    learn(mixed_rows(6, 1), method="pooled", draws=0, kicks=0)
    assert (set(prices) == {search.OTHER_PRICE}) == asked


@pytest.mark.slow
def test_several_chains_of_restarts_keep_every_good_graph_that_they_end_in(monkeypatch):
    """Of the first table chains of restarts find two graphs about as often, 0.5 apart; of the second always the same one."""
    drawn = {"degree": 4, "weights": (0.2, 1.0), "variances": (1.0, 20.0)}
    two, one = (simulate("erdos-renyi", 20, 300, seed, **drawn).X for seed in (8005, 8000))
    two, one = two / two.std(axis=0), one / one.std(axis=0)
    begun, restart = [], OrderSearch.restart

    def spied(self, score, best, *given, **named):
        begun.append(best)
        return restart(self, score, best, *given, **named)

    monkeypatch.setattr(OrderSearch, "restart", spied)
    single = learn(two, method="pooled", draws=0).result
    assert (len(begun), len(single.ends)) == (1, 1)
    begun.clear()
    found = learn(two, method="pooled", draws=1).result
    assert len(begun) == search.MOST_CHAINS
    assert len({tuple(start.order) for start in begun}) > 2
    assert found.best.score <= single.best.score + 1e-9
    scores = [end.score for end, _ in found.ends]
    assert len(scores) > 1
    assert (np.diff(scores) > 1e-6).all()
    assert scores[0] == found.best.score
    for end, halves in found.ends:
        assert found.fitted(end.parents).score == pytest.approx(end.score)
        assert halves in (search.EVEN, search.ODD, search.EVEN | search.ODD)
    begun.clear()
    [(end, halves)] = learn(one, method="pooled", draws=1).result.ends
    assert halves == search.EVEN | search.ODD
    assert len(begun) == search.FEWEST_CHAINS
    monkeypatch.setattr(search, "WORK_OF_CHAINS", 0)
    begun.clear()
    learn(one, method="pooled", draws=1)
    assert len(begun) == 1


@pytest.mark.thorough
def test_more_kicks_are_never_worse():
    for seed in tries(1, 3):
        X = simulate("erdos-renyi", 15, 60, seed, degree=6).X
        X *= np.exp(np.random.default_rng(seed).normal(size=15))  # error variances that nobody takes for equal
        fits = [learn(X, method="pooled", kicks=kicks, draws=0) for kicks in (0, 2, 8)]
        scores = [fit.score for fit in fits]
        assert scores == sorted(scores, reverse=True)
        assert fits[0].details["kicks"] == 0
        assert fits[2].details["kicks"] >= 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordag.errors.PrecisionWarning")
@pytest.mark.parametrize(("p", "seed"), [(50, 0), *(thorough(80, seed) for seed in range(3))])
def test_dense_graphs_are_no_worse_than_those_of_tests(p, seed):
    """At p = 80, seed 1, a graph along another order with hundreds of edges less has a lower score: the equal error variances
    of the first start decide there."""
    data = simulate("homogeneous", p, 1000, seed)
    pooled = learn(data.X, method="pooled", draws=0, kicks=0)
    tested = learn(data.X, parents="test", alpha=0.01)
    assert hamming(pooled.graph.adjacency, data.dag.adjacency) <= hamming(tested.graph.adjacency, data.dag.adjacency)


@pytest.mark.slow
def test_equal_variances_decide_only_where_all_are_compared(monkeypatch):
    """As if the graph of the lowest score had error variances that are further apart than those of the first start."""
    monkeypatch.setattr(search, "APART", 0.0)
    X = simulate("erdos-renyi", 14, 1000, 2, degree=3).X
    names = [f"X{j + 1}" for j in range(14)]
    groups = {
        "all": None,
        "none": [[name] for name in names],
        "two": [names[:2]],
        "all in one": [names],
        "halves": [names[:7], names[7:]],
    }
    fits = {title: learn(X, method="pooled", groups=some, draws=0) for title, some in groups.items()}
    decided = {title for title, fit in fits.items() if fit.details["kicks"] == 0}
    assert decided == {"all", "all in one"}
    first = learn(X, method="cvs", parents="adaptive")
    for title in decided:
        assert fits[title].graph == first.graph
        assert fits[title].details["start"] == "cvs"
    standardised = learn(
        X / X.std(axis=0), method="pooled", draws=0
    )  # nothing strikes where variances are alike anyway
    assert standardised.details["kicks"] > 0


@pytest.mark.parametrize(("left", "own", "striking"), [(0.2, 2.1, True), (0.2, 1.9, False), (0.4, 9.0, False)])
def test_alike_error_variances_are_striking_where_those_of_the_variables_are_not(left, own, striking):
    score = SimpleNamespace(p=10, groups=[range(10)], spread=lambda v: float(v[0]))
    problem = SimpleNamespace(score=score, variances=SimpleNamespace(log_variance=lambda j, parents: own))
    assert search._striking(problem, SimpleNamespace(v=np.full(10, left))) is striking


@pytest.mark.slow
@pytest.mark.parametrize("p", [9, 11])
def test_a_number_of_fruitless_kicks_ends_the_search_of_dense_graphs_too(p):
    rng = np.random.default_rng(0)
    B = np.triu(rng.random((p, p)) < 0.9, 1) * rng.uniform(0.4, 1.0, (p, p))
    X = (rng.normal(size=(60 * p, p)) * rng.uniform(1.0, 4.0, p)) @ np.linalg.inv(np.eye(p) - B)
    fit = learn(X, method="pooled", draws=0)
    assert 3 * fit.graph.edge_count > p * (p - 1) / 2
    again = learn(X, method="pooled", draws=0, kicks=100)
    assert 20 + p <= fit.details["kicks"] <= again.details["kicks"]
    assert 100 <= again.details["kicks"] < 300
    assert again.score <= fit.score


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n", "names"), [(5, 40, ["all graphs"]), (12, 80, ["cvs", "free"]), (20, 30, None)])
def test_the_starts_are_those_of_the_size_of_the_table(p, n, names):
    """With fewer than two rows for each variable the sparse order is one more."""
    fit = learn(simulate("erdos-renyi", p, n, 0, degree=3).X, method="pooled", draws=0)
    assert list(fit.details["start_scores"]) == (names or ["cvs", "sparse", "free"])


@pytest.mark.slow
def test_a_search_tells_of_the_best_start_and_of_restarts():
    said = []
    X = simulate("erdos-renyi", 12, 80, 0, degree=5).X
    found = pooled_search(find_order(Table(X)), groups=[], spread=1.0, kicks=20, progress=said.append)
    said = [words for words in said if words.startswith("pooled: ")]
    assert said[0].startswith(f"pooled: from {found.start}, score ")
    assert len(said) > 1
    assert all(words.startswith("pooled: restarts, score ") for words in said[1:])
    lowest = [float(words.rpartition(" ")[2]) for words in said]
    assert lowest == sorted(lowest, reverse=True)
    assert found.best.score <= lowest[-1] + 1e-3


def test_the_compelled_arrows_are_those_of_the_class_and_of_what_is_known():
    """a → c ← b compels both arrows and c → d; without b only knowledge of one arrow compels the rest."""
    T = np.array([[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1.0]])  # total effects
    whole = Moments.from_covariance(T.T @ T, 1_000_000, names=list("abcd"))

    def compelled(columns, **known):
        moments = whole.select(["abcd"[k] for k in columns])
        fit = learn(moments, method="pooled", knowledge=known or None)
        return {(fit.names[i], fit.names[j]) for i, j in np.argwhere(fit.posterior.compelled(None))}

    assert compelled([0, 1, 2, 3]) == {("a", "c"), ("b", "c"), ("c", "d")}
    assert compelled([0, 2, 3]) == set()
    assert compelled([0, 2, 3], required=[("a", "c")]) == {("a", "c"), ("c", "d")}
    assert compelled([0, 2, 3], forbidden=[("c", "d")]) == {("d", "c"), ("c", "a")}
    assert compelled([0, 2, 3], tiers=[["c"], ["a", "d"]]) == {("c", "a"), ("c", "d")}


@pytest.mark.slow
def test_the_complete_graph_alone_does_not_outweigh_all_graphs_around_another():
    drawn = simulate("homogeneous", 20, 1000, seed=110017)
    fit = learn(drawn.X, method="pooled", draws=0)
    problem = fit.result
    full = problem.fitted([(1 << j) - 1 for j in range(20)], range(20))
    best = problem.fitted([sum(1 << int(i) for i in np.flatnonzero(column)) for column in problem.best.adjacency().T])
    assert full.score < best.score < full.score + np.log(191)
    assert hamming(fit.graph, drawn.dag) < 10


@pytest.mark.slow
def test_very_many_variables_are_not_searched_again_unless_asked_for(monkeypatch):
    monkeypatch.setattr(search, "MOST_RESTARTED", 9)
    X = simulate("erdos-renyi", 10, 300, 1, degree=3).X
    kicks = [learn(X, method="pooled", draws=0, **given).details["kicks"] for given in ({}, {"kicks": 4})]
    assert kicks[0] == 0 < kicks[1]
