"""Hidden causes by place: the fit against a generic optimiser, the score against its formula, and what the search finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from compiling import as_it_stands
from oracles import hidden as oracle

import ordag
from ordag.assess.hidden_causes import hidden_causes
from ordag.learners.pooled import hidden_fit
from ordag.learners.pooled.hidden_fit import fit_hidden
from ordag.learners.pooled.hidden_search import SCREENED, HiddenModel, HiddenSearch, _with_one_more, near_cliques


def rows_with_hidden(p, n, seed, sets, degree=1.5, effects=(0.8, 1.5)):
    """Rows of a random DAG with a hidden cause in front of every set of columns."""
    rng = np.random.default_rng([24, p, n, seed])
    B = np.triu(rng.random((p, p)) < degree / (p - 1), 1) * rng.uniform(0.4, 1.2, (p, p)) * rng.choice([-1, 1], (p, p))
    E = rng.standard_normal((n, p)) * np.sqrt(rng.uniform(0.7, 1.5, p))
    for one in sets:
        E[:, one] += np.outer(rng.standard_normal(n), rng.uniform(*effects, len(one)) * rng.choice([-1, 1], len(one)))
    return E @ np.linalg.inv(np.eye(p) - B)


def graph_of(arrows, q):
    A = np.zeros((q, q), dtype=bool)
    for i, j in arrows:
        A[i, j] = True
    return A


CASES = {
    "one behind all": (5, graph_of([(5, j) for j in range(5)], 6)),
    "one behind four, with arrows": (5, graph_of([(5, 1), (5, 2), (5, 3), (5, 4), (0, 1), (0, 2), (1, 2)], 6)),
    "two": (
        6,
        graph_of([(6, 0), (6, 1), (6, 2), (6, 3), (7, 2), (7, 3), (7, 4), (7, 5), (0, 1)], 8),
    ),
    "nobody behind it": (4, graph_of([(0, 1), (1, 2)], 5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_likelihood_is_that_of_a_generic_optimiser(name):
    p, A = CASES[name]
    C = np.corrcoef(rows_with_hidden(p, 400, 1, [range(p)], degree=2.0).T)
    M = np.eye(len(A))
    M[:p, :p] = C
    for h in range(p, len(A)):  # to begin with, the mean of those behind it
        weights = A[h, :p] / max(A[h, :p].sum(), 1)
        M[h, :p] = M[:p, h] = C @ weights
    B, omega = np.zeros(A.shape), np.ones(len(A))
    value = fit_hidden(C, A, M, B, omega, 20_000, 1e-13)
    assert value == pytest.approx(oracle.discrepancy(B, omega, C), abs=1e-8)
    assert value == pytest.approx(oracle.least_discrepancy(A, C), abs=2e-5)
    assert not B[~A].any()
    np.testing.assert_allclose(M[:p, :p], C)


def test_the_loops_as_they_stand_give_what_the_compiled_ones_do():
    p, A = CASES["two"]
    C = np.corrcoef(rows_with_hidden(p, 400, 2, [[0, 1, 2, 3]]).T)
    M = np.eye(len(A))
    M[:p, :p] = C
    M[6, :p] = M[:p, 6] = C[:, 0] * 0.5
    M[7, :p] = M[:p, 7] = C[:, 5] * 0.5
    values, loops = [], as_it_stands(hidden_fit)
    for rounds in (1, 5):
        B, omega = np.zeros(A.shape), np.ones(len(A))
        values.append(loops.fit_hidden(C, A, M.copy(), B, omega, rounds, 0.0))
        compiled = fit_hidden(C, A, M.copy(), np.zeros(A.shape), np.ones(len(A)), rounds, 0.0)
        assert values[-1] == pytest.approx(compiled, abs=1e-12)
        assert values[-1] == pytest.approx(oracle.discrepancy(B, omega, C), abs=1e-10)
    assert values[1] < values[0] - 0.01
    enough = [loops.fit_hidden(C, A, M.copy(), B, omega, 5, enough) for enough in (10.0, 0.0)]
    assert enough[1] == values[1] < enough[0] < values[0]  # any improvement is enough after two rounds


def search_of(X, **settings):
    result = ordag.learn(X, draws=0, **settings).result
    given = result.variances.correlations()
    return result, HiddenSearch(given["C"], given["scale"], result.score, result.known)


@pytest.mark.slow
def test_the_score_is_its_formula():
    X = rows_with_hidden(6, 300, 3, [[0, 1, 2, 3]])
    result, search = search_of(X)
    _, A = CASES["two"]
    M = np.eye(8)
    M[:6, :6] = search.C
    M[6, :6] = M[:6, 6] = search.C[:, 0] * 0.5
    M[7, :6] = M[:6, 7] = search.C[:, 5] * 0.5
    model = search._fitted(A, tuple(range(8)), M, 3000)
    names = [int(name[1:]) - 1 for name in result.moments.names]
    deviance = oracle.least_discrepancy(A, search.C) + np.log(X.var(axis=0)[names]).sum()
    [group] = result.score.groups
    pooling = result.score.pooling(len(group), np.var(model.v[group]) * len(group))
    literal = 300 / 2 * deviance + pooling + result.score.edge_prior(1) + 2 * oracle.price(4, 6, 300)
    assert model.score == pytest.approx(literal, abs=0.02)


def test_near_cliques_have_all_fours_and_what_grows_from_them():
    rng = np.random.default_rng(0)
    for p, density in [(5, 0.9), (8, 0.5), (9, 0.7), (4, 1.0), (3, 1.0)]:
        joined = np.triu(rng.random((p, p)) < density, 1)
        joined = joined | joined.T
        found = near_cliques(joined)
        assert {one for one in found if len(one) == 4} == oracle.nearly_complete_fours(joined)
        shares = [joined[np.ix_(one, one)].sum() / (len(one) * (len(one) - 1)) for one in found]
        assert shares == sorted(shares, reverse=True)
        assert all(share >= 0.7 for share in shares)
    everything = near_cliques(~np.eye(14, dtype=bool))
    assert len(everything) == SCREENED
    assert everything[0] == tuple(range(14))


def places(fit):
    """The sets of columns behind the hidden causes that explain the table better than arrows."""
    return [{*one} for one in hidden_causes(fit).behind]


@pytest.mark.slow
def test_hidden_causes_are_found_at_their_place():
    for seed in range(3):
        behind = [1, 3, 4, 6, 8]
        found = places(ordag.learn(rows_with_hidden(10, 1000, seed, [behind]), draws=0))
        assert any(len({*behind} & one) >= 4 for one in found), (seed, found)
    sets = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    found = places(ordag.learn(rows_with_hidden(12, 1000, 0, sets), draws=0))
    assert all(any(len({*behind} & one) >= 4 for one in found) for behind in sets)


@pytest.mark.slow
def test_two_with_a_variable_in_common_are_found_behind_four_each():
    sets = [[0, 1, 2, 3], [3, 4, 5, 6]]
    found = places(ordag.learn(rows_with_hidden(8, 1000, 8, sets, 2.0, (0.5, 1.0)), draws=0))
    assert all(any(len({*behind} & one) >= 3 for one in found) for behind in sets), found


@pytest.mark.parametrize(
    ("changes", "causes"),
    [([3.0, -5.0, 1.0], 2), ([3.0, 2.0, -9.0], 1), ([9.0, -20.0], 0), ([-1.0, -0.5, 0.0], 2), ([-1.0, 3.0, -9.0], 1)],
)
def test_the_first_one_alone_may_raise_the_score_and_not_by_much(monkeypatch, changes, causes):
    result, search = search_of(rows_with_hidden(6, 100, 0, []))
    left = iter(changes)
    monkeypatch.setattr(search, "_one_more", lambda model: model._replace(score=model.score + next(left)))
    assert len(search.models(result.best)) == causes + 1


def test_arrows_that_gave_way_come_back_one_at_a_time():
    arrows = graph_of([(0, 1), (0, 2), (1, 2), (3, 0)], 4)
    A = np.zeros((5, 5), dtype=bool)
    A[4, :3] = A[0, 1] = A[3, 0] = True
    start = HiddenModel(0.0, A, (4, 3, 0, 1, 2), np.eye(5), np.zeros(5))
    more = [one & ~A[:4, :4] for one in _with_one_more(start, arrows)]
    assert [np.argwhere(one).tolist() for one in more] == [[[0, 2]], [[1, 2]]]


@pytest.mark.slow
def test_five_factors_with_six_items_each_are_five_hidden_causes():
    sets = [list(range(k, k + 6)) for k in range(0, 30, 6)]
    fit = ordag.learn(rows_with_hidden(30, 500, 0, sets, degree=0.0), draws=0)
    found = places(fit)
    assert all(any({*behind} <= one for one in found) for behind in sets)
    assert len(found) == 5


@pytest.mark.slow
def test_all_columns_can_be_behind_one_hidden_cause():
    assert places(ordag.learn(rows_with_hidden(12, 300, 0, [range(12)], degree=0.0), draws=0)) == [set(range(12))]


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2.0, 4.0])
def test_where_nothing_is_hidden_nothing_is_found(degree):
    for seed in range(4):
        assert places(ordag.learn(rows_with_hidden(10, 500, seed, [], degree), draws=0)) == []


@pytest.mark.slow
def test_the_score_falls_with_every_hidden_cause():
    fit = ordag.learn(rows_with_hidden(10, 500, 5, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], degree=0.5), draws=0)
    models = fit.result.with_hidden
    assert models is fit.result.with_hidden
    assert models[0].score == fit.score
    assert len(models) == 3
    for before, after in pairwise(models):
        assert after.score < before.score - 1.0
        assert len(after.adjacency) == len(before.adjacency) + 1


@pytest.mark.slow
def test_the_order_of_columns_and_common_units_do_not_matter():
    behind = [1, 3, 4, 6, 8]
    X = rows_with_hidden(10, 600, 7, [behind])
    first = ordag.learn(X, draws=0)
    order = np.random.default_rng(1).permutation(10)
    for other in (ordag.learn(X[:, order], draws=0), ordag.learn(X * 7.3, draws=0)):
        assert len(places(other)) == len(places(first))
        gains = [[one.score for one in fit.result.with_hidden] for fit in (first, other)]
        np.testing.assert_allclose(np.diff(gains[0]), np.diff(gains[1]), atol=1e-4)
    moved = places(ordag.learn(X[:, order], draws=0))
    assert [{int(order[j]) for j in one} for one in moved] == places(first)


@pytest.mark.slow
def test_any_units_are_alike_where_no_columns_share_one():
    X = rows_with_hidden(8, 600, 2, [[0, 1, 2, 3, 4]], degree=0.5)
    units = np.array([1e3, 1.0, 1e-2, 5.0, 1.0, 30.0, 0.1, 1.0])
    fits = [ordag.learn(one, draws=0, groups=[["X1"]]) for one in (X, X * units)]
    assert places(fits[0]) == places(fits[1])
    gains = [np.diff([one.score for one in fit.result.with_hidden]) for fit in fits]
    np.testing.assert_allclose(*gains, atol=1e-4)


@pytest.mark.slow
def test_knowledge_is_kept():
    behind = [1, 3, 4, 6, 8]
    X = rows_with_hidden(10, 1000, 0, [behind])
    required, forbidden = ("X4", "X2"), ("X5", "X7")
    fit = ordag.learn(X, draws=0, knowledge=ordag.Knowledge(required=[required], forbidden=[forbidden]))
    names = fit.result.moments.names
    models = fit.result.with_hidden
    assert len(models) > 1
    for model in models:
        assert model.adjacency[names.index(required[0]), names.index(required[1])]
        assert not model.adjacency[names.index(forbidden[0]), names.index(forbidden[1])]
        assert model.order.index(names.index("X4")) < model.order.index(names.index("X2"))


@pytest.mark.slow
def test_what_has_no_cause_has_no_hidden_one():
    X = rows_with_hidden(7, 400, 0, [range(7)], degree=0.0)
    assert places(ordag.learn(X, draws=0)) == [set(range(7))]
    found = places(ordag.learn(X, draws=0, knowledge=ordag.Knowledge(roots=["X1"])))
    assert found
    assert all(0 not in one for one in found)


@pytest.mark.parametrize("p", [2, 3])
def test_three_variables_leave_no_trace(p):
    assert ordag.learn(rows_with_hidden(p, 300, 0, [range(p)]), draws=0).result.with_hidden is None


@pytest.mark.slow
def test_tables_that_it_does_not_take():
    rng = np.random.default_rng(0)
    few = ordag.learn(rng.standard_normal((30, 40)) + rng.standard_normal((30, 1)), draws=0)
    assert few.result.with_hidden is None
    X = rows_with_hidden(6, 300, 0, [range(6)], degree=0.0)
    X[:, 5] = X[:, 0] + 1e-5 * X[:, 5]
    assert ordag.learn(X, draws=0).result.with_hidden is None
    alone = ordag.learn(rng.standard_normal((200, 5)), draws=0)
    assert alone.graph.edge_count == 0
    assert len(alone.result.with_hidden) == 1
