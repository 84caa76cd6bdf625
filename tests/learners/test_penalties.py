"""Named penalties of GES and GDS: their scores from the rows, their fixed points, and what is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from budgets import tries
from hypothesis import given
from oracles.parents import rss
from strategies.tables import tables

from ordag import GDS, GES, Moments, compare, hamming, learn, simulate
from ordag.errors import SettingError
from ordag.graph.cpdag import extend, to_cpdag
from ordag.learners.ges import ges_search
from ordag.learners.penalties import LEAST_PRICE, MOST_SEARCHES, EdgePenalty, search_with_penalty
from ordag.learners.settings import PENALTIES as NAMED


def extra(name, p, pairs, k):
    return {"bic": 0.0, "ebic": k * math.log(p), "adaptive": math.log(math.comb(pairs, k))}[name]


def sums(X, dag):
    return [rss(X, j, np.flatnonzero(dag.adjacency[:, j])) for j in range(X.shape[1])]


@pytest.mark.slow
@given(tables(min_p=3, max_p=6))
def test_the_scores_of_ges_are_those_of_regressions(X):
    n, p = X.shape
    for name in NAMED:
        fit = learn(X, method="ges", penalty=name)
        dag = extend(fit.graph)
        k = dag.edge_count
        likelihood = sum(-n / 2 * (1 + math.log(value / n)) for value in sums(X, dag))
        bic = likelihood - math.log(n) / 2 * (p + k)
        assert fit.score == pytest.approx(bic - extra(name, p, math.comb(p, 2), k), rel=1e-9)
        empty = sum(-n / 2 * (1 + math.log(value / n)) for value in X.var(axis=0) * n) - math.log(n) / 2 * p
        assert fit.details["score_empty"] == pytest.approx(empty, rel=1e-9)
        assert fit.settings["penalty"] == name


@pytest.mark.slow
@given(tables(min_p=3, max_p=5))
def test_the_scores_of_gds_are_those_of_regressions(X):
    n, p = X.shape
    for name in NAMED:
        fit = learn(X, method="gds", penalty=name, seed=1, restarts=[5], kicks=1)
        k, rows = fit.graph.edge_count, n * p
        total = sum(sums(X, fit.graph))
        score = rows / 2 * math.log(2 * math.pi * total / (rows - 1)) + n * (rows - 1) / (2 * (n - 1))
        expected = score + math.log(n) / 2 * (k + 1) + extra(name, p, math.comb(p, 2), k)
        assert fit.score == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "more"), [("ges", {}), ("gds", {"seed": 3})])
def test_bic_is_a_factor_of_one_to_the_last_digit(method, more):
    X = simulate("heterogeneous", 8, 200, 1).X
    default, one, word = (
        learn(X, method=method, **more, **given) for given in ({}, {"penalty": 1}, {"penalty": "bic"})
    )
    assert default.graph == one.graph == word.graph
    assert default.score == one.score == word.score
    assert "edge_price" not in default.details
    assert word.details["edge_price"] == pytest.approx(math.log(200) / 2)


def test_the_edge_prior_is_a_fixed_point():
    moments = Moments.from_rows(simulate("erdos-renyi", 25, 300, 2).X)
    fit = learn(moments, method="ges", penalty="adaptive")
    k, pairs, unit = fit.graph.edge_count, math.comb(25, 2), math.log(300) / 2
    price = unit + math.log((pairs - k) / (k + 1))
    assert fit.details["edge_price"] == pytest.approx(price)
    assert ges_search(moments, penalty=price / unit).graph == fit.graph
    assert 2 <= fit.details["rounds"] <= 10


def test_a_price_that_does_not_depend_on_the_graph_takes_one_search():
    fit = learn(simulate("heterogeneous", 6, 200, 1).X, method="ges", penalty="ebic")
    assert fit.details["rounds"] == 1
    assert fit.details["edge_price"] == pytest.approx(math.log(200) / 2 + math.log(6))


@dataclass(frozen=True)
class Counted:
    """A result with so many edges."""

    graph: SimpleNamespace
    score: float = 0.0
    score_empty: float = 0.0
    price: object = None


@pytest.mark.parametrize(
    ("penalty", "counts", "rounds"),
    [
        ("bic", [7], 1),
        ("ebic", [7], 1),
        ("adaptive", [7, 7], 2),
        ("adaptive", [7, 5, 4, 5], 4),
        ("adaptive", [7, 5, 4, 7], 4),
        ("adaptive", range(40), MOST_SEARCHES),
    ],
)
def test_searches_end_when_a_number_of_edges_comes_up_again(penalty, counts, rounds):
    waiting, before = iter(counts), []

    def search(factor, last):
        before.append(last)
        return Counted(SimpleNamespace(edge_count=next(waiting)))

    moments = Moments.from_rows(np.random.default_rng(0).standard_normal((50, 10)))
    found = search_with_penalty(search, penalty, moments, None, variances=10, sign=1.0)
    assert found.price["rounds"] == len(before) == rounds
    assert before[0] is None
    assert [last.graph.edge_count for last in before[1:]] == list(counts)[: rounds - 1]


def test_the_price_of_an_edge():
    named = EdgePenalty("adaptive", 100, 10, 45)
    unit = math.log(100) / 2
    assert named.factor(None) * unit == pytest.approx(unit + math.log(10))
    assert named.factor(0) * unit == pytest.approx(unit + math.log(45))
    assert named.factor(45) * unit == pytest.approx(max(unit + math.log(0.5 / 46), LEAST_PRICE))
    steps = [named.beyond_bic(k + 1) - named.beyond_bic(k) for k in range(30)]
    assert steps == pytest.approx([(named.factor(k) - 1) * unit for k in range(30)])
    assert EdgePenalty("ebic", 100, 10, 45).factor(7) * unit == pytest.approx(unit + math.log(10))
    assert EdgePenalty("ebic", 100, 10, 40, fixed=5).beyond_bic(7) == pytest.approx(2 * math.log(10))


@pytest.mark.slow
def test_fewer_false_edges_with_many_variables():
    distances = dict.fromkeys(NAMED, 0)
    for seed in tries(2, 4):
        drawn = simulate("erdos-renyi", 40, 150, seed)
        for name in NAMED:
            distances[name] += hamming(learn(drawn.X, method="ges", penalty=name).graph, to_cpdag(drawn.dag))
    assert max(distances["ebic"], distances["adaptive"]) < distances["bic"] / 2


@pytest.mark.parametrize("method", ["ges", "gds"])
@pytest.mark.parametrize("penalty", NAMED)
def test_what_is_known_is_kept(method, penalty):
    drawn = simulate("erdos-renyi", 8, 200, 5, degree=2)
    knowledge = {"required": [("X1", "X8")], "forbidden": [("X2", "X3"), ("X3", "X2")]}
    more = {"seed": 0} if method == "gds" else {}
    fit = learn(drawn.X, method=method, penalty=penalty, knowledge=knowledge, **more)
    assert ("X1", "X8") in fit.graph.directed
    assert not fit.graph.skeleton[1, 2]


def test_relabelling_the_columns_relabels_the_class():
    X = simulate("erdos-renyi", 9, 400, 4).X
    new = np.random.default_rng(0).permutation(9)
    for name in NAMED:
        here = learn(X, method="ges", penalty=name).graph.adjacency
        there = learn(X[:, new], method="ges", penalty=name).graph.adjacency
        np.testing.assert_array_equal(there, here[np.ix_(new, new)])


@pytest.mark.slow
def test_estimators_comparisons_and_bootstraps():
    X = simulate("erdos-renyi", 8, 300, 6).X
    for estimator, named, more in ((GES, {}, {}), (GDS, {"random_state": 1}, {"seed": 1})):
        found = estimator(penalty="adaptive", **named).fit(X)
        expected = learn(X, method=found.method, penalty="adaptive", **more)
        assert found.graph_ == expected.graph
    both = compare(X, ["ges", "gds"], penalty="ebic", seed=1)
    assert both["ges"].settings["penalty"] == both["gds"].settings["penalty"] == "ebic"
    assert learn(X, method="ges", penalty="ebic", bootstrap=3).support.replicates == 3


@pytest.mark.parametrize("method", ["ges", "gds"])
@pytest.mark.parametrize("penalty", ["aic", None, True, [1], "1"])
def test_other_penalties_are_refused(method, penalty):
    with pytest.raises(SettingError, match="use 'bic', 'ebic', 'adaptive', or a factor of BIC's penalty"):
        learn("marks", method=method, penalty=penalty)
