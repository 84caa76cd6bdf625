"""The search over orders against exhaustive search, what it promises of its answer, and the compiled loops against the plain ones."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from budgets import thorough, tries
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles

from ordag import Knowledge, Moments, learn, simulate
from ordag.common.bits import members, packed_columns
from ordag.common.linalg import lengths
from ordag.data.table import Table
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search import engine, layout
from ordag.learners.order_search import kernel as compiled_kernel
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch
from ordag.learners.pooled.exact import best_graph
from ordag.learners.pooled.problem import Problem
from ordag.learners.pooled.score import Local, PooledScore
from ordag.learners.pooled.search import pooled_search
from ordag.learners.pooled.variances import GramRegressions, RootRegressions
from ordag.order import find_order


class Priced:
    """n/2 · Σ v and a price for every edge: a score that is a sum over variables itself."""

    def __init__(self, n, p, price):
        self.n, self.p, self.price = n, p, price

    def total(self, v, edges):
        return self.n / 2.0 * float(v.sum()) + self.price * edges

    def local(self, v, edges):
        return Local([self.n / 2.0] * self.p, [0.0] * self.p, [0.0] * self.p, self.price)


def gram(X, most=None):
    moments = Moments.from_rows(X)
    C = np.corrcoef(X.T)
    np.fill_diagonal(C, 1.0)
    return GramRegressions(C, lengths(moments.R) ** 2, moments.n, most)


def start(score, variances, order=None, known=None):
    """The graph of the arrows that must be, along an order."""
    p = score.p
    parents = [0] * p if known is None else packed_columns(known.required)
    v = np.array([variances.log_variance(j, parents[j]) for j in range(p)])
    edges = sum(mask.bit_count() for mask in parents)
    return Optimum(score.total(v, edges), tuple(range(p) if order is None else order), tuple(parents), v)


def searched(X, score, kernel, *, kicks=0, known=None, variances=None, order=None):
    variances = gram(X) if variances is None else variances
    search = OrderSearch.of(variances, known)
    search.kernel = kernel
    [[found]] = search.descend(((score,), start(score, variances, order, known)))
    return search.restart(score, found, kicks, 1)[0]


def rows(p, n, seed, **more):
    return oracles.random_rows(p, n, np.random.default_rng(seed), **more)


def sets(found):
    return [frozenset(members(mask)) for mask in found.parents]


def assert_consistent(found, score, variances):
    """Parents come before, and v and score are those of the graph."""
    position = np.argsort(found.order)
    assert all(position[i] < position[j] for j, parents in enumerate(sets(found)) for i in parents)
    v = [variances.log_variance(j, mask) for j, mask in enumerate(found.parents)]
    np.testing.assert_allclose(found.v, v, atol=1e-9)
    assert found.score == pytest.approx(score.total(np.array(v), found.edges), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(3, 60))
def test_no_graph_over_six_variables_is_better(plain, seed):
    X = rows(6, (30, 100, 400)[seed % 3], seed, density=0.7, spread=1.0)
    score = Priced(len(X), 6, math.log(len(X)) / 2.0)
    found = searched(X, score, plain, kicks=30)
    exact = oracles.Rows(X)
    lowest = oracles.best_over_sets(
        6, lambda j, parents: len(X) / 2.0 * exact.v(j, parents) + score.price * len(parents)
    )
    assert found.score == pytest.approx(lowest, abs=1e-6)
    assert_consistent(found, score, gram(X))


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 20))
def test_no_arrow_more_or_less_lowers_the_sum(plain, seed):
    X = rows(9, 200, seed, spread=0.5)
    score, variances = PooledScore(len(X), 9), gram(X)
    found = searched(X, score, plain)
    assert_consistent(found, score, variances)
    local = score.local(found.v, found.edges)
    for j, own in enumerate(found.parents):
        before = found.order[: found.order.index(j)]
        here = local.term(j, variances.log_variance(j, own))
        for i in before:
            other = own ^ 1 << i
            change = local.term(j, variances.log_variance(j, other)) - here
            change += local.price * (other.bit_count() - own.bit_count())
            assert change > -1e-6


@pytest.mark.slow
def test_knowledge_is_kept(plain):
    X = rows(7, 150, 3, density=0.8)
    names = Moments.from_rows(X).names
    free = searched(X, Priced(150, 7, 3.0), plain)
    turned = [(names[j], names[i]) for j, parents in enumerate(sets(free)) for i in parents][:2]
    known = Knowledge(required=turned[:1], forbidden=turned[1:], roots=[names[6]]).over(names)
    variances, score = gram(X), Priced(150, 7, 3.0)
    order = topological_order(known.before)
    found = searched(X, score, plain, kicks=10, known=known, order=order)
    adjacency = found.adjacency()
    assert (adjacency[known.required]).all()
    assert not (adjacency & ~known.allowed).any()
    position = np.argsort(found.order)
    assert all(position[i] < position[j] for i, j in np.argwhere(known.before))
    assert_consistent(found, score, variances)


@pytest.mark.slow
def test_there_are_no_more_parents_than_may_be(plain):
    X = rows(8, 60, 4, density=0.9)
    found = searched(X, Priced(60, 8, 0.1), plain, variances=gram(X, most=2), kicks=5)
    assert max(mask.bit_count() for mask in found.parents) == 2


@pytest.mark.slow
def test_the_root_gives_what_correlations_give_and_keeps_more_digits(plain):
    X = rows(7, 120, 5, spread=1.0)
    score = Priced(120, 7, 2.4)
    moments = Moments.from_rows(X)
    one, two = searched(X, score, plain), searched(X, score, plain, variances=RootRegressions(moments))
    assert one.parents == two.parents
    np.testing.assert_allclose(one.v, two.v, atol=1e-9)
    X[:, 6] = X[:, :6].sum(axis=1) + 1e-6 * X[:, 6]
    exact = RootRegressions(Moments.from_rows(X))
    found = searched(X, score, plain, variances=exact)
    v = [exact.log_variance(j, mask) for j, mask in enumerate(found.parents)]
    assert min(v) < -20.0
    np.testing.assert_allclose(found.v, v, atol=1e-6)


@given(
    v=st.floats(-3.0, 3.0),
    weight=st.sampled_from([-1.0, 0.0, 0.3, 5.0]),
    price=st.floats(0.1, 5.0),
)
def test_a_parent_is_worthwhile_from_the_share_on_that_pays_its_price(plain, v, weight, price):
    terms = np.zeros((layout.NUMBERS + 1, 3))
    terms[layout.MEAN], terms[layout.WEIGHT] = 0.5, weight
    terms[layout.HALF], terms[layout.NUMBERS, layout.PRICE] = 50.0, price
    share = plain.worthwhile(terms, 0, v)
    if share < 1.0:
        then = plain.term(terms, 0, v + math.log1p(-share))
        assert plain.term(terms, 0, v) - then == pytest.approx(price, rel=1e-6, abs=1e-6)


def test_equal_variances_have_the_sum_of_residuals(plain):
    """half · exp(v − mean) is the residual sum of squares over twice the variance that all share."""
    terms = np.zeros((layout.NUMBERS + 1, 3))
    terms[layout.MEAN], terms[layout.WEIGHT], terms[layout.HALF] = math.log(4.0), -1.0, 50.0
    assert plain.term(terms, 1, math.log(6.0)) == pytest.approx(50.0 * 6.0 / 4.0)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_and_kicks_never_harm(plain):
    X = rows(7, 80, 6, density=0.6, spread=1.0)
    score = PooledScore(80, 7)
    first, second = (searched(X, score, plain, kicks=5) for _ in range(2))
    assert (first.order, first.parents) == (second.order, second.parents)
    assert first.score <= searched(X, score, plain).score


@pytest.mark.parametrize("kicks", [False, True])
def test_an_interruption_ends_the_threads(plain, monkeypatch, kicks):
    def interrupted(*_):
        raise KeyboardInterrupt

    X = rows(8, 80, 6)
    score, variances = Priced(80, 8, 2.0), gram(X)
    search = OrderSearch.of(variances, None)
    search.kernel = plain
    monkeypatch.setattr(engine, "wait", interrupted)
    begin = start(score, variances)
    with pytest.raises(KeyboardInterrupt):
        _ = search.restart(score, begin, 1000, 0) if kicks else search.descend(((score,), begin), ((score,), begin))
    assert len(search._workspaces) == 2
    assert all(workspace.status[layout.STOP] == 1 for workspace in search._workspaces)


@pytest.mark.slow
def test_starts_and_scores_one_after_the_other_are_searched_as_if_alone(plain):
    X = rows(7, 90, 8, spread=1.0)
    variances, scores = gram(X), (PooledScore(90, 7, []), PooledScore(90, 7))
    starts = [start(scores[0], variances, order) for order in (range(7), range(6, -1, -1), (3, 1, 4, 0, 5, 2, 6))]

    def descend(*given):
        search = OrderSearch.of(variances, None)
        search.kernel = plain
        return search.descend(*given)

    together = descend(*((scores, begin) for begin in starts))
    for begin, [free, pooled] in zip(starts, together, strict=True):
        [[alone]] = descend((scores[:1], begin))
        [[then]] = descend((scores[1:], alone))
        assert (free.order, free.parents, free.score) == (alone.order, alone.parents, alone.score)
        assert pooled.parents == then.parents
        assert pooled.score == pytest.approx(
            then.score, abs=1e-9
        )  # what is kept of earlier regressions differs in the last digits
        assert_consistent(free, scores[0], variances)
        assert_consistent(pooled, scores[1], variances)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 3000, 30_000])
def test_where_the_work_is_too_much_the_graph_stands_as_it_is(plain, monkeypatch, limit):
    monkeypatch.setattr(engine, "WORK", limit)
    monkeypatch.setattr(engine, "WORK_PER_PAIR", 1)
    monkeypatch.setattr(engine, "SLOWDOWN", 1)  # the same limit with and without numba
    X = rows(10, 150, 2, density=0.7, spread=1.0)
    score, variances = PooledScore(150, 10), gram(X)
    search = OrderSearch.of(variances, None)
    search.kernel = plain
    assert search.limit == limit + 100
    begin = start(score, variances)
    [[found]] = search.descend(((score,), begin))
    assert_consistent(found, score, variances)
    assert found.score <= begin.score
    kicked, tried = search.restart(score, found, 10**6, 0)
    assert tried < 10**5
    assert_consistent(kicked, score, variances)
    assert kicked.score <= found.score + LEAST_GAIN


def near_twins(p, n, seed, noise=1e-5):
    """A dense graph in which the last two columns are equal but for noise."""
    rng = np.random.default_rng(seed)
    X = oracles.random_rows(p, n, rng, density=0.9)
    X[:, -1] = X[:, -2] + noise * rng.standard_normal(n)
    return X


@pytest.mark.parametrize("rooted", [False, True])
def test_the_work_of_a_fit_grows_with_its_parents_and_with_the_variables(plain, rooted):
    """Multiplications, in round numbers: a sweep over p variables for every parent, over the rows of a root too."""
    for p in (5, 9):
        X = rows(p, 300, 1, density=1.0)
        search = OrderSearch.of(RootRegressions(Moments.from_rows(X)) if rooted else gram(X), None)
        [workspace] = search._workspaces_for(1)
        G, P, _ = workspace.state.arrays
        workspace.state.begin(range(p), [0] * p)
        G[layout.POSITION] = np.argsort(G[layout.ORDER])
        search._take_terms(workspace, Priced(300, p, -1.0), np.zeros(p), 0)  # every parent pays
        given = (search.C, workspace.root, search.may, workspace.terms, G, P, workspace.W, workspace.status)
        for j in range(p):
            before = workspace.status[layout.WORK]
            assert plain.fit(*given, j, j, j)[0] == j
            done = workspace.status[layout.WORK] - before
            assert done == (4 * (j + 1) * p**2 if rooted else (j + 1) * (j + 2) * p)


def test_all_threads_go_on_from_a_better_graph_that_one_has_found(plain, monkeypatch):
    X = rows(5, 80, 3, density=0.7)
    score, search = PooledScore(80, 5), OrderSearch.of(gram(X), None)
    search.kernel = plain
    monkeypatch.setattr(engine, "THREADS", 3)
    worst = start(score, gram(X))
    copied, copy = [], engine._Workspace.copy

    def noted(self, other):
        copied.append((self, other))
        copy(self, other)

    monkeypatch.setattr(engine._Workspace, "copy", noted)
    found, _ = search.restart(score, worst, 1, 0)
    assert found.score < worst.score
    for one, other in copied:
        assert one is not other
    sources = [other for _, other in copied]
    assert len(sources) >= 4  # the start, and what was found
    assert all(sources.count(other) % 2 == 0 for other in sources)  # each time to both others


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 10))
def test_a_search_among_near_collinear_parents_ends(plain, seed):
    X = near_twins(8, 60, seed)
    score, exact = PooledScore(60, 8), RootRegressions(Moments.from_rows(X))
    found = searched(X, score, plain, kicks=4, variances=exact)
    assert min(found.v) < -15.0
    assert_consistent(found, score, exact)


def test_a_fit_that_would_grow_and_shrink_without_end_ends(plain, monkeypatch):
    """Lost digits may let a parent be dropped that has just been added."""
    p, n = 6, 100
    search = OrderSearch(np.corrcoef(rows(p, n, 1, density=0.9).T), np.zeros(p))
    [workspace] = search._workspaces_for(1)
    G, P, _ = workspace.state.arrays
    workspace.state.begin(range(p), [0] * p)
    G[layout.POSITION] = np.argsort(G[layout.ORDER])
    search._take_terms(workspace, Priced(n, p, 0.01), np.zeros(p), 0)
    times = []
    monkeypatch.setattr(plain, "join", lambda *given: times.append(1))
    monkeypatch.setattr(plain, "leave", lambda *given: None)
    monkeypatch.setattr(plain, "least_useful", lambda may, W, j, P, k: (k - 1, -0.999 * W[-1, layout.LEFT, j]))

    def fitted():
        times.clear()
        given = (search.C, workspace.root, search.may, workspace.terms, G, P, workspace.W, workspace.status)
        k, _ = plain.fit(*given, p - 1, p - 1, p - 1)
        assert k == 0
        return len(times)

    assert fitted() == plain.GROWTHS
    monkeypatch.setattr(plain, "GROWTHS", 50)
    assert fitted() == 50


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n", "noise", "seed"), [(9, 60, 5e-5, 2), (15, 300, 5e-5, 6), (15, 300, 1e-4, 4)])
def test_a_search_of_few_digits_does_not_go_on_until_the_work_is_too_much(monkeypatch, p, n, noise, seed):
    monkeypatch.setattr(engine, "WORK", 2**26)
    monkeypatch.setattr(engine, "WORK_PER_PAIR", 0)
    searches = []
    of = OrderSearch.of

    def noted(*given):
        searches.append(of(*given))
        return searches[-1]

    monkeypatch.setattr(OrderSearch, "of", noted)
    pooled_search(find_order(Table(near_twins(p, n, seed, noise))), spread=1.0)
    assert searches[0]._root is None
    assert max(workspace.status[layout.MOVES] for workspace in searches[0]._workspaces) < 5000


@pytest.mark.slow
@pytest.mark.parametrize("price", [-1.0, -1e-3])
def test_a_negative_price_gives_complete_graphs_even_where_nothing_is_explained(plain, price):
    X = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]] * 3)
    for variances in (gram(X), RootRegressions(Moments.from_rows(X))):
        found = searched(X, Priced(12, 3, price), plain, variances=variances)
        assert found.edges == 3
        assert found.score == pytest.approx(3.0 * price)
        assert searched(X, Priced(12, 3, -price), plain, variances=variances).edges == 0


def test_required_parents_stay_where_they_do_not_pay(plain):
    X = np.random.default_rng(0).standard_normal((40, 4))
    names = Moments.from_rows(X).names
    known = Knowledge(required=[(names[1], names[0]), (names[2], names[0])]).over(names)
    score = Priced(40, 4, 50.0)
    found = searched(X, score, plain, known=known, order=topological_order(known.before), kicks=3)
    assert sets(found) == [{1, 2}, set(), set(), set()]
    assert found.score == pytest.approx(score.total(oracles.Rows(X).of(sets(found)), 2))


def test_parents_that_others_make_needless_are_dropped(plain):
    """0 is 1 + 2, and 3 looks most like it; beside the two it is of no use."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    X[:, 3] += 1.5 * (X[:, 1] + X[:, 2])
    X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * X[:, 0]
    names = Moments.from_rows(X).names
    known = Knowledge(tiers=[[names[1], names[2]], [names[3]], [names[0]]]).over(names)
    v = oracles.Rows(X).v
    assert v(0, [3]) < min(v(0, [1]), v(0, [2]))
    found = searched(X, Priced(400, 4, 5.0), plain, known=known, order=(1, 2, 3, 0))
    assert sets(found)[0] == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 100))
def test_no_place_of_a_single_variable_is_better(plain, seed):
    """Each grows and shrinks the parents that it has; those to whom one more parent does not pay keep theirs."""
    p = 6
    X = rows(p, 100, seed, spread=0.5)
    exact, score = oracles.Rows(X), Priced(100, p, 2.5)
    found = searched(X, score, plain)
    own = sets(found)

    def cost(j, parents):
        return 50.0 * exact.v(j, parents) + 2.5 * len(parents)

    def change(j, x, before):
        kept = own[j] & set(before)
        if j != x and x in before and x not in own[j]:
            kept |= {x} if cost(j, own[j] | {x}) < cost(j, own[j]) else set()
            if x not in kept:
                return 0.0
        return cost(j, oracles.grow_shrink(j, before, cost, exact.v, start=kept)[0]) - cost(j, own[j])

    for x in range(p):
        for order in oracles.places_of(list(found.order), x):
            assert sum(change(j, x, order[:position]) for position, j in enumerate(order)) > -1e-5


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(3, 60))
@pytest.mark.parametrize("p", [6, 7, 8])
def test_no_arrow_added_dropped_or_turned_lowers_the_score(p, seed):
    X = rows(p, (25, 60, 300)[seed % 3], 100 * p + seed, density=(0.3, 0.6, 0.9)[seed % 2], spread=seed % 4 / 2.0)
    fit = learn(X, method="pooled", draws=0)
    graph = tuple(frozenset(np.flatnonzero(column).tolist()) for column in fit.graph.adjacency.T)
    [here, *others] = oracles.scores_of(X, [graph, *oracles.one_arrow_away(graph)])
    assert fit.score == pytest.approx(here, abs=1e-3)
    assert len(others) > p
    assert min(others) > here - 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(5, 100))
def test_the_best_single_change_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    X = rows(5, int(rng.choice([30, 100])), seed, density=0.6, spread=0.5)
    score, variances = PooledScore(len(X), 5), gram(X)
    best = start(score, variances, rng.permutation(5).tolist())
    for _ in range(30):
        here, *others = oracles.scores_of(X, [sets(best), *oracles.one_arrow_away(sets(best))])
        better = Problem(score, variances, None).best_single_change(best)
        assert (better is None) == (min(others) > here - LEAST_GAIN)
        if better is None:
            break
        assert better.score == pytest.approx(min(others), abs=1e-3)
        assert_consistent(better, score, variances)
        best = better
    else:
        pytest.fail("single changes have no end")


@pytest.mark.parametrize("seed", tries(3, 60))
def test_many_single_changes_at_once_end_where_none_is_left(seed):
    X = rows(12, 200, seed, density=0.4, spread=1.0)
    score, variances = PooledScore(200, 12), gram(X)
    before = np.zeros((12, 12), dtype=bool)
    before[0, 5:] = True
    allowed = ~np.eye(12, dtype=bool) & ~before.T
    allowed[2, 3] = False
    known = Constraints(tuple(map(str, range(12))), allowed, np.zeros_like(before), before, {})
    problem = Problem(score, variances, known)
    best, most = start(score, variances, range(12)), 0
    while (better := problem.single_changes(best)) is not None:
        assert_consistent(better, score, variances)
        assert better.score < problem.best_single_change(best).score + LEAST_GAIN
        assert (better.adjacency() <= allowed).all()
        assert all(better.order.index(0) < better.order.index(j) for j in range(5, 12))
        most = max(most, int((better.adjacency() != best.adjacency()).any(axis=0).sum()))
        best = better
    assert most > 2
    assert problem.best_single_change(best) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(2, 30))
@pytest.mark.parametrize("p", [6, 7])
def test_no_graph_over_six_or_seven_variables_has_a_lower_sum(p, seed):
    """The terms at the graph found bound the score: a lower sum over any graph would be a lower score."""
    X = rows(p, (30, 100, 400)[seed % 3], 10 * p + seed, density=0.6, spread=seed % 4 / 2.0)
    ordering = find_order(Table(X))
    found = pooled_search(ordering, spread=1.0)
    exact, best = oracles.Rows(X[:, ordering.order]), found.best
    local = found.score.local(best.v, best.edges)

    def cost(j, parents):
        own = oracles.term(exact.v(j, parents), local.half[j], local.mean[j], local.weight[j])
        return own + local.price * len(parents)

    here = sum(cost(j, parents) for j, parents in enumerate(sets(best)))
    assert oracles.best_over_sets(p, cost) == pytest.approx(here, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(3, 100))
@pytest.mark.parametrize("p", [6, thorough(7)])
def test_no_graph_over_six_or_seven_variables_is_better_where_nothing_is_pooled(p, seed):
    X = rows(p, (30, 100, 400)[seed % 3], 10 * p + seed, density=(0.3, 0.6, 0.9)[seed % 2], spread=seed % 4 / 2.0)
    lowest = oracles.best_by_edges(p, oracles.Rows(X).v)
    best = min(len(X) / 2.0 * total + oracles.edge_prior(len(X), p, k) for k, total in enumerate(lowest))
    found = pooled_search(find_order(Table(X)), groups=[], spread=1.0)
    assert found.best.score == pytest.approx(best, abs=1e-6)
    assert found.free.score == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", tries(4, 40))
def test_the_best_graph_is_the_best_of_all_that_are_possible(seed):
    """Costs and prices at random, some sets of parents impossible, and one variable before another."""
    rng = np.random.default_rng(seed)
    p = 4
    costs, prices = rng.normal(size=(p, 2**p)), 0.5 * rng.normal(size=p * (p - 1) // 2 + 1)
    costs[rng.random(costs.shape) < 0.2] = np.inf
    costs[:, 0] = rng.normal(size=p)
    for j in range(p):
        costs[j, [mask for mask in range(2**p) if mask >> j & 1]] = np.inf
    first = [0, 0, 1 << 3, 0]  # the last before the third
    totals = {
        graph: sum(costs[j, mask] for j, mask in enumerate(oracles.masks(graph))) + prices[sum(map(len, graph))]
        for graph in oracles.all_dags(p)
        if oracles.is_acyclic([graph[0], graph[1], graph[2] | {3}, graph[3]])
    }
    found = tuple(frozenset(members(mask)) for mask in best_graph(costs, prices, first))
    assert totals[found] == pytest.approx(min(totals.values()), abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "n", "root"), [(6, 50, False), (12, 200, False), (12, 200, True), (30, 300, False)])
def test_compiled_and_plain_give_the_same(plain, p, n, root):
    pytest.importorskip("numba")
    X = rows(p, n, p, density=0.3, spread=1.0)
    variances = RootRegressions(Moments.from_rows(X)) if root else gram(X)
    one, two = (
        searched(X, PooledScore(n, p), kernel, kicks=5, variances=variances) for kernel in (plain, compiled_kernel)
    )
    assert one.parents == two.parents
    np.testing.assert_allclose(one.v, two.v, atol=1e-9)


def test_a_search_that_is_not_compiled_says_so(plain):
    search = OrderSearch(np.eye(6), np.zeros(6))
    search.kernel = SimpleNamespace(search=SimpleNamespace(py_func=None))  # what numba makes has that
    assert search.warning is None
    search.kernel = plain
    assert "numba is not installed" in search.warning
    assert not search.compiles


@pytest.mark.slow
def test_parents_that_cost_nothing_to_lose_are_lost_where_a_variable_moves_behind(monkeypatch):
    """Below its vertex a term is flat, so that another set of parents may cost exactly the same."""
    found, once = [], OrderSearch.descend_once
    monkeypatch.setattr(OrderSearch, "descend_once", lambda *given: found.append(once(*given)) or found[-1])
    learn(simulate("erdos-renyi", 6, 150, seed=3, degree=3).X, "pooled")
    assert len(found) > 100
    for one in found:
        earlier = {j: set(one.order[:at]) for at, j in enumerate(one.order)}
        assert all(earlier[j].issuperset(members(one.parents[j])) for j in range(6))
