"""The loops of the search over orders one by one, not compiled, against literal versions."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries
from oracles import pooled as oracles

from ordag import Moments
from ordag.learners.order_search import layout
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled import chain
from ordag.learners.pooled.score import Local
from ordag.learners.pooled.variances import RootRegressions

P, N, PRICE = 6, 100, 2.5


class Case:
    """A random graph along a random order, which no search has improved, as the kernel has it; and the cost of any parents."""

    def __init__(self, seed, root=False):
        rng = np.random.default_rng(seed)
        X = oracles.random_rows(P, N, rng, density=0.7, spread=1.0)
        self.v = oracles.Rows(X).v
        self.order = rng.permutation(P).tolist()
        self.position = np.argsort(self.order).tolist()
        self.own = [
            frozenset(k for k in self.order[: self.position[j]] if rng.random() < 0.5)
            for j in range(P)
        ]  # fmt: skip
        correlations = RootRegressions(Moments.from_rows(X)).correlations()
        if not root:
            correlations |= {"C": np.corrcoef(X.T), "root": None}
        self.search = OrderSearch(**correlations)
        [self.workspace] = self.search._workspaces_for(1)
        self.workspace.state.begin(self.order, [sum(1 << k for k in own) for own in self.own])
        self.workspace.state.G[layout.POSITION] = self.position
        self.workspace.state.M[-1] = [self.v(j, own) for j, own in enumerate(self.own)]
        self.workspace.terms[:] = self.search.terms_of(Local([N / 2.0] * P, [0.0] * P, [0.0] * P, PRICE))
        self.status = self.workspace.status

    @property
    def tables(self):
        """What every function of the kernel is given first."""
        return self.search.C, self.workspace.root, self.search.may, self.workspace.terms

    def cost(self, j, parents):
        return N / 2.0 * self.v(j, parents) + PRICE * len(parents)

    def literal_fit(self, j, limit, x):
        """The parents of j before a position, where x has changed sides."""
        before = set(self.order[:limit]) - {j}
        start = self.own[j] & before
        if x != j:
            start = start - {x} if x in before else start | {x}
            before ^= {x}
        while True:
            parents, grown = oracles.grow_shrink(j, before, self.cost, self.v, start=start)
            if parents == grown or x != j or limit != self.position[j]:
                return parents
            start = parents

    def literal_change(self, j, limit, x):
        parents = self.literal_fit(j, limit, x)
        return self.cost(j, parents) - self.cost(j, self.own[j])


@pytest.mark.slow
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("seed", tries(2, 30))
def test_a_fit_grows_and_shrinks_the_parents_that_there_are_and_counts_its_work(plain, seed, root):
    case = Case(seed, root)
    G, parents, _ = case.workspace.state.arrays
    for j in range(P):
        for limit in range(P + 1):
            for x in range(P):
                before = case.status[layout.WORK]
                k, v = plain.fit(*case.tables, G, parents, case.workspace.W, case.status, j, limit, x)
                expected = case.literal_fit(j, limit, x)
                assert set(parents[P, :k].tolist()) == expected
                assert v == pytest.approx(case.v(j, expected), abs=1e-9)
                assert case.status[layout.WORK] >= before + 2 * P


@pytest.mark.parametrize("seed", tries(2, 30))
def test_changes_of_the_cost_are_fitted_once(plain, seed):
    """One more possible parent that does not pay changes nothing: what is fitted from the graph with it may be worse."""
    case = Case(seed)
    state, position = case.workspace.state, case.position
    state.M[:-1] = np.nan
    for j in range(P):
        for x in set(range(P)) - {j}:
            beside = case.literal_change(j, position[j], x)
            expected = min(beside, 0.0) if position[x] > position[j] else beside
            there = case.literal_change(j, position[x] + (position[x] > position[j]), j)
            for row, change in ((j, expected), (P + j, there)):
                given = (*case.tables, *state.arrays, case.workspace.W, case.status, row, x)
                assert plain.change_of(*given) == pytest.approx(change, abs=1e-6)
                work = case.status[layout.WORK]
                assert plain.change_of(*given) == state.M[row, x] == pytest.approx(change, abs=1e-6)
                assert case.status[layout.WORK] == work


@pytest.mark.parametrize("seed", tries(5, 50))
def test_a_kick_goes_to_a_parent_or_anywhere_but_past_no_variable_that_must_stay_there(plain, seed):
    case, rng = Case(seed), np.random.default_rng(seed)
    G, parents, _ = case.workspace.state.arrays
    may = np.where(rng.random((P, P)) < 0.2, layout.FIRST, layout.ALLOWED)
    may[np.ix_(case.order, case.order)] *= np.tri(P, k=-1, dtype=np.int64)  # nobody must come first who does not
    for x in range(P):
        at = case.position[x]
        first = max((case.position[y] + 1 for y in range(P) if may[x, y] == layout.FIRST), default=0)
        last = min((case.position[y] - 1 for y in range(P) if may[y, x] == layout.FIRST), default=P - 1)
        assert first <= at <= last
        for where in (np.arange(60) + 0.5) / 60:
            own = parents[x, : len(case.own[x])].tolist()
            parent = case.position[own[int(where * len(own))]] if own else int(where * P)
            for what, wanted in ((0.0, parent), (0.699, parent), (0.7, int(where * P)), (0.999, int(where * P))):
                to = plain.random_position(may, G, parents, x, where, what)
                assert to == min(max(wanted, first), last)


def test_kicks_and_moves_are_those_of_the_lots_and_are_counted(plain, monkeypatch):
    """And what decides whether the search goes on is the sum of the costs."""
    case, uniforms = Case(1), np.random.default_rng(2).random((8, layout.UNIFORMS))
    moves, kicks, (move, random_position) = [], [], (plain.move, plain.random_position)
    monkeypatch.setattr(plain, "move", lambda *given: (moves.append(given[-2:]), move(*given))[1])
    monkeypatch.setattr(plain, "random_position", lambda *given: (kicks.append(given[-3:]), random_position(*given))[1])
    sums, total = [], plain.total

    def summed(terms, G, M):
        sums.append((total(terms, G, M), N / 2.0 * M[-1].sum() + PRICE * G[layout.COUNT].sum()))
        return sums[-1][0]

    monkeypatch.setattr(plain, "total", summed)
    spare, case.status[layout.LIMIT] = case.workspace.spare.arrays, 10**9
    plain.search(*case.tables, *case.workspace.state.arrays, case.workspace.W, case.status, *spare, uniforms)
    expected = []
    for first, *triples in uniforms.tolist():
        for k in reversed(range(1 + int(first * layout.MOST_MOVES_PER_RESTART))):
            who, where, what = triples[3 * k : 3 * k + 3]
            expected.append((int(who * P), where, what))
    assert kicks == expected
    assert (case.status[layout.RESTARTS], case.status[layout.MOVES]) == (8, len(moves))
    assert len(moves) > 8
    assert len(sums) > 8
    np.testing.assert_allclose(*np.transpose(sums))


def test_a_restart_that_keeps_more_than_a_third_of_what_its_moves_cost_is_given_up(plain, monkeypatch):
    case, uniforms = Case(1), np.random.default_rng(2).random((25, layout.UNIFORMS))
    restarts, (total, random_position) = [[]], (plain.total, plain.random_position)

    def positioned(*given):
        if restarts[-1]:
            restarts.append([])
        return random_position(*given)

    def summed(*given):
        restarts[-1].append(total(*given))
        return restarts[-1][-1]

    monkeypatch.setattr(plain, "random_position", positioned)
    monkeypatch.setattr(plain, "total", summed)
    spare, case.status[layout.LIMIT] = case.workspace.spare.arrays, 10**9
    plain.search(*case.tables, *case.workspace.state.arrays, case.workspace.W, case.status, *spare, uniforms)
    lowest, given_up = restarts[0][-1], 0
    for first, *rounds, last in restarts[1:]:
        too_much = [lowest + (first - lowest) / 3.0 < one for one in rounds]
        assert not any(too_much[:-1])
        given_up += too_much[-1]
        lowest = min(lowest, last)
    assert len(restarts) == 26
    assert 0 < given_up < 20


@pytest.mark.parametrize("root", [False, True])
def test_of_a_copy_of_a_parent_the_least_share_is_left(plain, root):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    X[:, 1] = X[:, 0]
    X[:, 2] += X[:, 0]
    columns = np.linalg.qr(X - X.mean(axis=0))[1]
    C = np.corrcoef(X.T)
    search = OrderSearch(C, np.zeros(3), root=(columns / np.linalg.norm(columns, axis=0)).T if root else None)
    [workspace] = search._workspaces_for(1)
    tableau = workspace.W[-1]
    plain.begin(search.C, workspace.root, workspace.W, 0, 2)
    plain.join(search.C, workspace.root, workspace.W, 0, 2, workspace.state.P, 0, 0)
    assert tableau[layout.LEFT, 1] == (plain.LEAST_SHARE**2 if root else plain.LEAST_SHARE)
    assert tableau[layout.LEFT, 2] == pytest.approx(1.0 - C[0, 2] ** 2)
    assert tableau[layout.COV, 1:] == pytest.approx([0.0, 1.0 - C[0, 2] ** 2], abs=1e-12)


@pytest.mark.parametrize("seed", tries(3, 50))
def test_regressions_that_are_kept_are_those_computed_anew(plain, seed):
    """Parents join and leave at random, and what was kept of a variable is taken up again."""
    rng = np.random.default_rng(seed)
    p = 8
    X = oracles.random_rows(p, 60, rng, density=0.8, spread=1.0)
    C = np.corrcoef(X.T)
    search = OrderSearch(C, np.zeros(p))
    W, root = search.room()
    parents = np.zeros((p + 2, p), dtype=np.int64)
    for _ in range(30):
        j, k = int(rng.integers(2)), int(rng.integers(p - 1))
        wanted = rng.permutation(np.setdiff1d(np.arange(p), j))[:k]
        parents[p, :k] = wanted
        assert plain.regress(search.C, root, W, 0, j, parents, k) >= 2
        own = parents[p, :k]
        assert sorted(own) == sorted(wanted)
        others = np.setdiff1d(np.arange(p), own)
        slopes = np.linalg.solve(C[np.ix_(own, own)], C[own]) if k else np.zeros((0, p))
        residual = C - C[:, own] @ slopes
        tableau = W[-1]
        np.testing.assert_allclose(tableau[layout.COV, others], residual[j, others], atol=1e-8)
        np.testing.assert_allclose(tableau[layout.LEFT, others], residual.diagonal()[others], rtol=1e-6)
        np.testing.assert_allclose(
            tableau[layout.ROOM : layout.ROOM + k, others], slopes[:, others], rtol=1e-5, atol=1e-6
        )
        inverse = np.linalg.inv(C[np.ix_(own, own)])
        np.testing.assert_allclose(tableau[layout.ROOM : layout.ROOM + k, own], inverse, rtol=1e-5, atol=1e-5)
        plain.keep(W, j, parents, k)
    assert W[:2, layout.NUMBER, 0].max() > 0


def test_regressions_without_digits_are_not_kept(plain):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    search = OrderSearch(np.corrcoef(X.T), np.zeros(4))
    W, root = search.room()
    parents = np.zeros((6, 4), dtype=np.int64)
    for own, kept in (([0, 1], 0), ([0, 2], 3)):
        parents[4, :2] = own
        plain.regress(search.C, root, W, 0, 3, parents, 2)
        plain.keep(W, 3, parents, 2)
        assert W[3, layout.NUMBER, 0] == kept
    search.renew(np.eye(4), np.zeros(4))
    assert not W[:, layout.NUMBER].any()
    assert (np.eye(4) == search.C).all()


@pytest.mark.parametrize("change", [-60.0, -3.0, 0.0, 0.4, 7.0, 60.0])
def test_proposals_have_the_weight_of_half_the_change(change):
    weight = getattr(chain.weight_of, "py_func", chain.weight_of)
    assert weight(change) == pytest.approx(np.exp(-change / 2.0), rel=1e-5)
    assert weight(1e9) == weight(60.0)
