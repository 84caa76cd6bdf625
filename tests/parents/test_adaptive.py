"""Parents by the edge prior against regressions of the rows, and what the screened elimination promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from budgets import thorough
from hypothesis import given
from hypothesis import strategies as st
from oracles import parents as oracles
from strategies.tables import permutations, tables

from ordag import CVS, Moments, hamming, learn, simulate
from ordag.common.linalg import triangle
from ordag.errors import SettingError
from ordag.order.least_squares import forward
from ordag.parents import adaptive
from ordag.parents.adaptive import (
    LEAST_PENALTY,
    FromRoot,
    FromScatter,
    _dropped,
    adaptive_elimination,
    edge_penalty,
)
from ordag.parents.selection import Question
from ordag.parents.tests import fisher_z


def chosen(ordering, allowed=None, required=None):
    return adaptive_elimination(Question(ordering, 0.01, fisher_z, "none", allowed, required))


def by_column(ordering, kept):
    order = ordering.order.tolist()
    return {order[m]: {order[j] for j in np.flatnonzero(kept[m])} for m in range(len(order))}


@pytest.mark.slow
@given(tables(max_p=6))
def test_it_is_literal_backward_elimination(X):
    ordering = forward(Moments.from_rows(X))
    found = chosen(ordering)
    expected, penalty, share = oracles.edge_prior_parents(X, ordering.order.tolist())
    assert by_column(ordering, found.parents) == {j: set(parents) for j, parents in expected.items()}
    assert found.penalty == pytest.approx(penalty)
    assert found.share == pytest.approx(share)
    assert 0 <= found.expected_false <= math.comb(X.shape[1], 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "p", "n"),
    [("homogeneous", 20, 100), thorough("homogeneous", 30, 300), ("4.2", 12, 18)],
)
def test_dense_and_ill_conditioned_tables(design, p, n):
    X = simulate(design, p, n, 2).X
    ordering = forward(Moments.from_rows(X))
    expected, penalty, _ = oracles.edge_prior_parents(X, ordering.order.tolist())
    found = chosen(ordering)
    assert by_column(ordering, found.parents) == {j: set(parents) for j, parents in expected.items()}
    assert found.penalty == pytest.approx(penalty)


def test_many_predecessors_are_screened_to_the_same_answer():
    X = simulate("erdos-renyi", 40, 500, 3, degree=3).X
    ordering = forward(Moments.from_rows(X))
    literal = chosen(ordering)
    for limit, scarce in ((0, 0.0), (0, math.inf), (10, 1e-9)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "ONE_BY_ONE", limit)
            patch.setattr(adaptive, "SCARCE", scarce)
            screened = chosen(ordering)
        assert (screened.parents == literal.parents).all()
        assert screened.penalty == pytest.approx(literal.penalty)


@pytest.mark.slow
@given(tables(min_p=4, max_p=7), st.integers(0, 2**16), st.booleans())
def test_after_screening_neither_one_more_nor_one_fewer_is_better(X, seed, scarce):
    rng = np.random.default_rng(seed)
    p = X.shape[1]
    allowed = np.tril(rng.random((p, p)) < 0.8, -1)
    required = allowed & (rng.random((p, p)) < 0.2)
    ordering = forward(Moments.from_rows(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "ONE_BY_ONE", 0)
        patch.setattr(adaptive, "SCARCE", math.inf if scarce else 0.0)
        found = chosen(ordering, allowed, required)
    assert not (found.parents & ~allowed).any()
    assert found.parents[required].all()
    order = ordering.order.tolist()
    for m in range(1, p):
        kept = [order[j] for j in np.flatnonzero(found.parents[m])]
        now, weight = oracles.rss(X, order[m], kept), max(ordering.n - m - 1, 1)
        for j in range(m):
            other = [k for k in kept if k != order[j]] if found.parents[m, j] else [*kept, order[j]]
            change = weight * abs(math.log(oracles.rss(X, order[m], other) / now))
            if found.parents[m, j]:
                assert required[m, j] or change >= found.penalty - 1e-6
            elif allowed[m, j]:
                assert change <= found.penalty + 1e-6


def test_both_ways_to_the_gains_agree():
    X = simulate("erdos-renyi", 30, 200, 7, degree=4).X
    ordering = forward(Moments.from_rows(X))
    scatter, root = (
        FromScatter(ordering.factor, np.ones(len(ordering.order))),
        FromRoot(ordering.L, ordering.W),
    )
    for m, parents in ((20, [3, 7, 11]), (29, list(range(0, 29, 2))), (5, [])):
        chosen_ones = np.array(parents, dtype=np.intp)
        np.testing.assert_allclose(np.abs(scatter.root(m, chosen_ones)), np.abs(root.root(m, chosen_ones)), atol=1e-9)
        one, other = scatter.gains(m, chosen_ones, 0.0), root.gains(m, chosen_ones, 0.0)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-8, atol=1e-8)
        assert one.rss == pytest.approx(other.rss)
        column = ordering.order[[*parents, m]].tolist()
        assert one.rss == pytest.approx(oracles.rss(X, column[-1], column[:-1]))
        bounds = root.gains(m, chosen_ones, 0.05).values
        likely = one.values >= 0.05 * one.rss
        np.testing.assert_allclose(bounds[likely], other.values[likely], rtol=1e-12)  # summed in other blocks
        assert (bounds >= one.values - 1e-8).all()


def dropped_by_regressions(X, y, n, penalty):
    """Half of the weakest go at once while they are more than six, then one by one; those left, the largest and the least statistic."""

    def rss(columns):
        return float(np.sum((y - X[:, columns] @ np.linalg.lstsq(X[:, columns], y, rcond=None)[0]) ** 2))

    left, largest = list(range(X.shape[1])), -math.inf
    while True:
        of = {k: n * math.log(rss([j for j in left if j != k]) / rss(left)) for k in left}
        weak = sorted((k for k in left if of[k] < penalty), key=of.get)
        if not weak:
            return left, largest, min(of.values())
        gone = weak[: len(weak) // 2 if len(weak) > 6 else 1]
        largest = max(largest, of[gone[-1]])
        left = [k for k in left if k not in gone]


@pytest.mark.parametrize("seed", range(3))
def test_half_of_the_weakest_are_dropped_at_once(seed):
    random = np.random.default_rng(seed)
    causes = random.standard_normal((200, 10))
    X = np.column_stack([causes, causes + 0.05 * random.standard_normal((200, 10))])  # either of two can go
    y = causes @ np.linspace(0.5, 1.5, 10) + random.standard_normal(200)
    U = triangle(np.column_stack([X, y]))
    left, largest, least = _dropped(U, np.arange(20), 200.0, 8.0, np.zeros(20, dtype=bool))
    expected = dropped_by_regressions(X, y, 200, 8.0)
    assert (left.tolist(), largest, least) == (expected[0], pytest.approx(expected[1]), pytest.approx(expected[2]))


@pytest.mark.slow
def test_products_without_digits_are_not_relied_upon():
    """Beside a nearly exact copy a scatter matrix has nothing left to say; its root has."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 108))
    X[:, 1] = X[:, 0] + 1e-8 * X[:, 1]
    X[:, 107] = 3.0 * X[:, 0] + 2.0 * X[:, 5] + 4.0 * X[:, 107]
    ordering = forward(Moments.from_rows(X))
    found = by_column(ordering, chosen(ordering).parents)
    assert found[107] in ({0, 5}, {1, 5})


@pytest.mark.slow
@given(tables(max_p=6), st.data())
def test_relabelling_the_columns_relabels_the_answer(X, data):
    new = list(data.draw(permutations(X.shape[1])))
    here = learn(X, parents="adaptive").graph.adjacency
    there = learn(X[:, new], parents="adaptive").graph.adjacency
    np.testing.assert_array_equal(there, here[np.ix_(new, new)])


@pytest.mark.parametrize("limit", [0, 100])
def test_what_is_known_is_kept(limit, monkeypatch):
    monkeypatch.setattr(adaptive, "ONE_BY_ONE", limit)
    drawn = simulate("erdos-renyi", 12, 300, 1, degree=3)
    truth = drawn.dag.directed
    knowledge = {"forbidden": [truth[0], truth[1]], "required": [("X9", "X12")]}
    absent = ("X9", "X12") not in truth
    fit = learn(drawn.X, parents="adaptive", knowledge=knowledge)
    assert absent
    assert ("X9", "X12") in fit.graph.directed
    assert not {truth[0], truth[1]} & set(fit.graph.directed)


def test_knowledge_is_literal_too():
    X = simulate("homogeneous", 8, 60, 4).X
    rng = np.random.default_rng(0)
    ordering = forward(Moments.from_rows(X))
    order = ordering.order
    allowed = np.tril(rng.random((8, 8)) < 0.7, -1)
    required = allowed & (rng.random((8, 8)) < 0.3)
    at_columns = [np.zeros((8, 8), dtype=bool) for _ in range(2)]
    for mask, placed in zip(at_columns, (allowed, required), strict=True):
        later, earlier = np.nonzero(placed)
        mask[order[earlier], order[later]] = True
    expected, _, _ = oracles.edge_prior_parents(X, order.tolist(), *at_columns)
    found = chosen(ordering, allowed, required)
    assert by_column(ordering, found.parents) == {j: set(parents) for j, parents in expected.items()}


def test_nothing_and_everything():
    rng = np.random.default_rng(1)
    empty = learn(rng.standard_normal((200, 30)), parents="adaptive")
    assert empty.graph.edge_count == 0
    assert empty.expected_false_edges < 0.1
    B = np.triu(np.full((8, 8), 0.7), 1)
    full = learn(rng.standard_normal((3000, 8)) @ np.linalg.inv(np.eye(8) - B), parents="adaptive")
    assert full.graph.edge_count == 28
    assert full.expected_false_edges == 0
    assert full.details["penalty"] == LEAST_PENALTY
    pair = learn(rng.standard_normal((20, 2)), parents="adaptive")
    assert pair.graph.edge_count in (0, 1)


def test_the_price_follows_the_share():
    assert edge_penalty(100, 45, 0)[0] == pytest.approx(math.log(100) + 2 * math.log(91))
    assert edge_penalty(100, 45, 22)[1] == pytest.approx(22.5 / 46)
    assert edge_penalty(100, 45, 45)[0] == LEAST_PENALTY
    prices = [edge_penalty(500, 45, k)[0] for k in range(46)]
    assert prices == sorted(prices, reverse=True)


@pytest.mark.thorough
def test_false_edges_are_as_many_as_announced():
    """Along the true order, over 30 sparse tables."""
    announced = false = 0.0
    for seed in range(30):
        drawn = simulate("erdos-renyi", 30, 300, seed, degree=4)
        fit = learn(drawn.X, parents="adaptive", knowledge={"tiers": [[name] for name in true_order(drawn.dag)]})
        announced += fit.expected_false_edges
        false += len(set(fit.graph.directed) - set(drawn.dag.directed))
    assert announced / 2 <= false <= 2 * announced


def true_order(dag):
    left, order = list(dag.nodes), []
    while left:
        order.append(next(name for name in left if not set(dag.parents(name)) & set(left)))
        left.remove(order[-1])
    return order


@pytest.mark.slow
def test_it_beats_tests_at_one_per_cent():
    distances = np.zeros(2)
    for seed in range(5):
        drawn = simulate("erdos-renyi", 60, 200, seed)
        distances += [hamming(learn(drawn.X, parents=rule).graph, drawn.dag) for rule in ("test", "adaptive")]
    assert distances[1] < distances[0] / 3


@pytest.mark.slow
def test_settings_details_and_sentences():
    fit = learn("sachs", parents="adaptive")
    assert fit.settings["parents"] == "adaptive"
    assert fit.details["penalty"] == fit.selection.penalty
    assert fit.to_dict()["details"]["share"] == pytest.approx((fit.graph.edge_count + 0.5) / 56)
    assert "along this order (edge prior: 17.0 % of 55 pairs joined, penalty 9.93 for each edge)" in fit.result.note(
        fit
    )
    assert "p_value" in fit.edges
    assert math.isnan(learn("sachs", method="cvs").selection.penalty)
    assert (CVS(parents="adaptive").fit("sachs").adjacency_ == fit.graph.adjacency).all()
    with pytest.raises(SettingError, match="use 'test', 'bic' or 'adaptive'"):
        learn("sachs", "cvs", parents="prior")


@pytest.mark.slow
@pytest.mark.parametrize("parents", ["adaptive", "bic"])
@pytest.mark.parametrize("factor", [1e-110, thorough(1e-80), thorough(1e78), 1e120])
def test_parents_do_not_depend_on_the_unit(parents, factor):
    X = simulate("er4", p=130 if parents == "adaptive" else 30, n=300, seed=3).X
    known = learn(X, "cvs", parents=parents)
    assert learn(X * factor, "cvs", parents=parents).graph == known.graph


@pytest.mark.parametrize(
    "more", [{"parents": "adaptive"}, {"parents": "bic"}, {"parents": "adaptive", "variance": "sparse"}]
)
def test_units_far_apart_join_nothing(more):
    X = np.random.default_rng(0).standard_normal((200, 3))
    assert learn(X * [1e80, 1e-80, 1.0], "cvs", **more).graph == learn(X * [1e20, 1e-20, 1.0], "cvs", **more).graph
