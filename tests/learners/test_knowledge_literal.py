"""What the learners do with knowledge against literal versions: orders, moves and classes one by one."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import gds as gds_oracle
from oracles import ges as ges_oracle
from oracles.graph import equivalent_dags, union
from strategies.graphs import acyclic
from strategies.knowledge import keeps, random_entries
from strategies.tables import tables

from ordag import Dag, Moments, learn, simulate
from ordag.errors import OrdagWarning, SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.learners.gds import gds_search
from ordag.learners.ges import ges_search
from ordag.learners.ges.essential import essential
from ordag.learners.ges.operators import Constrained
from ordag.learners.pc import pc_search
from ordag.order.least_squares import backward, forward

seeds = st.integers(0, 2**32 - 1)


def names_of(p):
    return [f"x{j}" for j in range(p)]


def residual(X, j, others):
    design = np.column_stack([np.ones(len(X)), X[:, sorted(others)]])
    return float(np.sum((X[:, j] - design @ np.linalg.lstsq(design, X[:, j], rcond=None)[0]) ** 2))


@pytest.mark.slow
@given(X=tables(), seed=seeds)
def test_orders_choose_among_those_whose_turn_it_can_be(X, seed):
    p = X.shape[1]
    names = names_of(p)
    before = Knowledge(**random_entries(names, np.random.default_rng(seed))).over(names).before
    moments = Moments.from_rows(X, names=names)
    chosen, rest = [], set(range(p))
    while rest:
        ready = [j for j in rest if not any(before[i, j] for i in rest)]
        chosen.append(min(ready, key=lambda j: residual(X, j, chosen)))
        rest.remove(chosen[-1])
    assert forward(moments, before).order.tolist() == chosen
    last, rest = [], set(range(p))
    while rest:
        ready = [j for j in rest if not any(before[j, i] for i in rest)]
        last.append(max(ready, key=lambda j: residual(X, j, rest - {j})))
        rest.remove(last[-1])
    assert backward(moments, before).order.tolist() == last[::-1]


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_orders_of_data_that_spend_their_digits(direction):
    drawn = simulate("homogeneous", 60, 400, 3)
    names = drawn.sem.dag.nodes
    assert learn(drawn.X, direction=direction).ordering.refreshes > 0
    order = [names[j] for j in np.random.default_rng(0).permutation(60)]
    for tiers in [[[name] for name in order], [order[k : k + 15] for k in range(0, 60, 15)]]:
        fit = learn(drawn.X, knowledge={"tiers": tiers}, direction=direction)
        assert fit.ordering.refreshes > 0
        place = {name: k for k, tier in enumerate(tiers) for name in tier}
        assert [place[name] for name in fit.order] == sorted(place.values())
        assert fit.ordering.undecided == ()


@given(X=tables(), seed=seeds, correction=st.sampled_from(["none", "bh", "bonferroni"]))
def test_parents_are_tested_only_where_they_are_in_question(X, seed, correction):
    names = names_of(X.shape[1])
    knowledge = Knowledge(**random_entries(names, np.random.default_rng(seed)))
    known = knowledge.over(names)
    fit = learn(Moments.from_rows(X, names=names), knowledge=knowledge, alpha=0.1, correction=correction)
    place = np.argsort(fit.ordering.order)
    open_ = [(i, j) for i, j in np.argwhere(known.allowed & ~known.required).tolist() if place[i] < place[j]]
    p_value = {(i, j): fit.selection.p_values[place[j], place[i]] for i, j in open_}
    ranked = sorted(p_value.values())
    level = {
        "none": 0.1,
        "bonferroni": 0.1 / max(1, len(open_)),
        "bh": max([p for k, p in enumerate(ranked, 1) if p <= 0.1 * k / len(ranked)], default=-1.0),
    }[correction]
    wanted = {(i, j) for i, j in open_ if p_value[i, j] <= level} | {
        tuple(e) for e in np.argwhere(known.required).tolist()
    }
    assert {tuple(edge) for edge in np.argwhere(fit.graph.adjacency).tolist()} == wanted
    assert fit.selection.pairs == len(open_)


@pytest.mark.slow
@given(X=tables(max_p=5), seed=seeds)
def test_gds_ends_where_no_allowed_move_is_better(X, seed):
    p = X.shape[1]
    names = names_of(p)
    knowledge = Knowledge(**random_entries(names, np.random.default_rng(seed)))
    known = knowledge.over(names)
    found = gds_search(Moments.from_rows(X, names=names), seed=0, known=known, kicks=3)
    A = np.array(found.graph.adjacency)
    assert keeps(knowledge, names, A)
    for i in range(p):
        for j in range(p):
            other = None if i == j else gds_oracle.neighbour(A, i, j)
            if other is not None and not (other & ~known.allowed).any() and not (known.required & ~other).any():
                assert gds_oracle.score(X, other) > found.score - 1e-6


def test_gds_refuses_a_start_against_knowledge():
    X = np.random.default_rng(0).standard_normal((30, 3))
    names = names_of(3)
    start = Dag.from_edges(names, [("x0", "x1")])
    with pytest.raises(SettingError, match="start has x0 → x1"):
        learn(Moments.from_rows(X, names=names), "gds", start=start, knowledge={"roots": ["x1"]})
    kept = learn(Moments.from_rows(X, names=names), "gds", start=start, knowledge={"required": "x1 -> x2"})
    assert ("x1", "x2") in kept.graph.directed


def keeping_members(dag, p, knowledge, names):
    """The DAGs of the class that keep to knowledge, as adjacency matrices, those left out whose arrows lead from one
    tier to an earlier one by way of required arrows."""
    allowed = knowledge.over(names).allowed
    found = []
    for member in ges_oracle.members(dag, p):
        A = np.zeros((p, p), dtype=bool)
        for i, j in member:
            A[i, j] = True
        if keeps(knowledge, names, A) and not (A & ~allowed).any():
            found.append(A)
    return found


@given(data=st.data(), seed=seeds)
def test_ges_knows_which_classes_have_a_member_that_keeps_to_it(data, seed):
    p = data.draw(st.integers(2, 5))
    names = names_of(p)
    A = data.draw(acyclic(p))
    rng = np.random.default_rng(seed)
    entries = random_entries(names, rng, arrows=0.05, bans=rng.uniform(0, 0.4), ends=0.1)
    knowledge = Knowledge(**entries)
    known = knowledge.over(names)
    constrained = Constrained(known)
    graph = essential([sum(1 << int(i) for i in np.flatnonzero(A[:, j])) for j in range(p)])
    held = all(A[i, j] or A[j, i] for i, j in np.argwhere(known.required).tolist())
    dag = frozenset((int(i), int(j)) for i, j in np.argwhere(A))
    members = keeping_members(dag, p, knowledge, names)
    assert (held and constrained.has_member(graph)) == bool(members)
    if members:
        assert np.array_equal(constrained.restricted(graph), np.any(members, axis=0))


@pytest.mark.slow
@given(X=tables(max_p=4, max_rows=40), seed=seeds)
def test_ges_is_the_literal_search_among_the_classes_that_remain(X, seed):
    p = X.shape[1]
    names = names_of(p)
    knowledge = Knowledge(**random_entries(names, np.random.default_rng(seed)))
    known = knowledge.over(names)
    dag = frozenset((int(i), int(j)) for i, j in np.argwhere(known.required))
    score = ges_oracle.score(X, dag)
    while True:
        start = score
        for phase in ("forward", "backward", "turning"):
            while True:
                reach = ges_oracle.one_edge_away(dag, p, phase).values()
                scored = sorted(
                    (
                        (ges_oracle.score(X, other), sorted(other))
                        for other in reach
                        if keeping_members(other, p, knowledge, names)
                    ),
                    reverse=True,
                )
                assume(len(scored) < 2 or scored[0][0] - scored[1][0] > 1e-6)
                if not scored or scored[0][0] <= score + 1e-9 * len(X):
                    break
                score, dag = scored[0][0], frozenset(scored[0][1])
        if score <= start + 1e-9 * len(X):
            break
    found = ges_search(Moments.from_rows(X, names=names), known=known)
    assert found.score == pytest.approx(score, abs=1e-6)
    assert np.array_equal(found.graph.adjacency, np.any(keeping_members(dag, p, knowledge, names), axis=0))


def least_correlation(S, A):
    """The smallest partial correlation of a joined pair given any set of the others."""
    least = 1.0
    for i, j in np.argwhere(A).tolist():
        others = [k for k in range(len(S)) if k not in (i, j)]
        for size in range(len(others) + 1):
            for given_set in combinations(others, size):
                at = [i, j, *given_set]
                K = np.linalg.inv(S[np.ix_(at, at)])
                least = min(least, abs(K[0, 1]) / np.sqrt(K[0, 0] * K[1, 1]))
    return least


@pytest.mark.thorough
@given(data=st.data(), seed=seeds)
def test_pc_finds_what_class_and_knowledge_leave_open(data, seed):
    """From the population's tests and true knowledge: an edge has a direction exactly if all DAGs left agree on it."""
    p = data.draw(st.integers(2, 6))
    A = data.draw(acyclic(p))
    rng = np.random.default_rng(seed)
    names = names_of(p)
    order = [int(j) for j in np.argsort(np.linalg.matrix_power(np.eye(p) + A, p).sum(axis=0), kind="stable")]
    entries = random_entries(names, rng, order=order, arrows=0.0, bans=0.3, ends=0.0)
    at = names.index
    entries["required"] = [(names[i], names[j]) for i, j in np.argwhere(A).tolist() if rng.random() < 0.2]
    entries["forbidden"] = [(a, b) for a, b in entries["forbidden"] if not A[at(a), at(b)]]
    knowledge = Knowledge(**entries)
    B = A * rng.uniform(0.5, 1.0, (p, p)) * rng.choice([-1, 1], (p, p))
    T = np.linalg.inv(np.eye(p) - B)
    S = T.T @ np.diag(rng.uniform(0.5, 1.5, p)) @ T
    assume(least_correlation(S, A) > 1e-3)  # paths that cancel hide an edge from any test
    moments = Moments.from_covariance(S, 10**9, names=names)
    found = pc_search(moments, alpha=1e-4, known=knowledge.over(names))
    members = [dag for dag in equivalent_dags(A.tolist()) if keeps(knowledge, names, dag)]
    assert found.graph.adjacency.astype(int).tolist() == union(members)
    assert found.valid
    assert found.warnings == ()


def test_pc_reports_colliders_that_knowledge_rules_out():
    rng = np.random.default_rng(0)
    a, c = rng.standard_normal((2, 500))
    X = np.column_stack([a, a + c + rng.standard_normal(500), c])
    moments = Moments.from_rows(X, names=["a", "b", "c"])
    assert set(learn(moments, "pc").graph.directed) == {("a", "b"), ("c", "b")}
    fit = learn(moments, "pc", knowledge={"roots": ["b"]})
    assert set(fit.graph.directed) == {("b", "a"), ("b", "c")}
    assert fit.details["refused"] == [["a", "b", "c"]]
    assert not fit.details["valid"]
    assert any("a → b ← c, which knowledge rules out" in sentence for sentence in fit.warnings)
    anyway = learn(moments, "pc", knowledge={"required": "a -> c"})
    assert ("a", "c") in anyway.graph.directed


def test_edges_that_knowledge_sends_in_a_circle():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 1)) + 0.3 * rng.standard_normal((500, 3))
    moments = Moments.from_rows(X, names=["a", "b", "c"])
    knowledge = {"forbidden": "b -> a, c -> b, a -> c"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrdagWarning)
        fit = learn(moments, "pc", knowledge=knowledge)
    assert not fit.details["valid"]
    assert "form a cycle" in fit.warnings[-1]
    with pytest.raises(SettingError, match="in a circle: a → b → c → a"):
        learn(moments, "pc", knowledge=knowledge, orient_by_order="skeleton")
    for method in ("cvs", "ges", "gds"):
        assert keeps(Knowledge.of(knowledge), "abc", learn(moments, method, knowledge=knowledge).graph.adjacency)
