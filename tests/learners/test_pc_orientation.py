"""From skeleton to class: which triples are colliders, what follows, and what if they contradict each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pc as oracles
from oracles.graph import collider_triples
from strategies.tables import tables

from ordag import Moments
from ordag.errors import SettingError
from ordag.graph import Dag, extend, meek, to_cpdag
from ordag.learners.pc import orientation, pc_search
from ordag.learners.pc.orientation import Triples, orient


def named(X):
    return Moments.from_rows(X, [f"v{j}" for j in range(X.shape[1])])


def dags(p):
    return st.builds(
        lambda seed, density: _random_dag(p, seed, density), st.integers(0, 2**32 - 1), st.floats(0.1, 0.9)
    )


def _random_dag(p, seed, density):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((p, p)) < density, 1)
    order = rng.permutation(p)
    return A[np.ix_(order, order)]


def made(around, colliders, ambiguous=()):
    found = oracles.unshielded(around)
    a, b, c = np.array(found, dtype=np.intp).reshape(-1, 3).T
    return Triples(
        a,
        b,
        c,
        np.array([triple in colliders for triple in found], dtype=bool),
        np.array([triple in ambiguous for triple in found], dtype=bool),
    )


def as_graph(G):
    return {i: set(np.flatnonzero(row).tolist()) for i, row in enumerate(G)}


@given(st.integers(2, 9).flatmap(dags))
def test_right_colliders_give_the_class(A):
    around = as_graph(A | A.T)
    colliders = {(a, b, c) for a, b, c in oracles.unshielded(around) if A[a, b] and A[c, b]}
    expected = to_cpdag(Dag([f"v{j}" for j in range(len(A))], A)).adjacency
    for overwrite in (False, True):
        found = orient(A | A.T, made(around, colliders), overwrite=overwrite)
        assert np.array_equal(found.adjacency, expected)
        assert not found.contested.any()
        assert not found.contested_by_rules.any()
    only = np.zeros_like(A)
    for a, b, c in colliders:
        only[a, b] = only[c, b] = True
    assert np.array_equal(meek((A | A.T) & ~only.T), expected)


@given(st.integers(3, 7).flatmap(dags), st.integers(0, 2**32 - 1))
def test_any_colliders_at_all(A, seed):
    """Triples decided by dice contradict each other: still the literal rules, and no edge is lost."""
    around = as_graph(A | A.T)
    rng = np.random.default_rng(seed)
    fate = {triple: rng.integers(4) for triple in oracles.unshielded(around)}
    colliders = {triple for triple, fall in fate.items() if fall == 0}
    ambiguous = {triple for triple, fall in fate.items() if fall == 1}
    found = orient(A | A.T, made(around, colliders, ambiguous), overwrite=False)
    expected, conflict = oracles.contested_stay_open(around, colliders, ambiguous)
    assert np.array_equal(found.adjacency, expected)
    assert {frozenset(edge) for edge in np.argwhere(found.contested | found.contested_by_rules).tolist()} == conflict
    assert np.array_equal(found.adjacency | found.adjacency.T, A | A.T)
    arrows = expected & ~expected.T
    denied = {(a, b, c) for a, b, c in fate if arrows[a, b] and arrows[c, b]} - colliders - ambiguous
    assert [triple in denied for triple in fate] == found.denied.tolist()


def test_contested_edges_stay_open_or_point_at_the_later_column():
    """0 → 1 ← 2 and 1 → 2 ← 3 on the path 0 — 1 — 2 — 3."""
    around = {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2}}
    skeleton = oracles.undirected(around).astype(bool)
    both = made(around, {(0, 1, 2), (1, 2, 3)})
    careful = orient(skeleton, both, overwrite=False)
    assert np.argwhere(careful.adjacency).tolist() == [[0, 1], [1, 2], [2, 1], [3, 2]]
    assert np.argwhere(careful.contested).tolist() == [[1, 2], [2, 1]]
    bold = orient(skeleton, both, overwrite=True)
    assert np.argwhere(bold.adjacency).tolist() == [[0, 1], [1, 2], [3, 2]]
    assert np.array_equal(bold.adjacency, oracles.later_overwrites(around, {(0, 1, 2), (1, 2, 3)}))


def test_colliders_that_come_about_against_the_tests_are_noticed():
    """0 → 2 ← 1 and 2 ← 3 from 1 → 2 ← 3; that 0 — 2 — 3 is no collider no longer holds."""
    around = {0: {2}, 1: {2}, 2: {0, 1, 3}, 3: {2}}
    made_of = made(around, {(0, 2, 1), (1, 2, 3)})
    found = orient(oracles.undirected(around).astype(bool), made_of, overwrite=False)
    assert [(int(made_of.a[m]), int(made_of.b[m]), int(made_of.c[m])) for m in np.flatnonzero(found.denied)] == [
        (0, 2, 3)
    ]
    assert not found.contested.any()


def test_rules_that_pull_both_ways_leave_the_edge_open():
    """0 → 2 ← 1, 2 — 3, and 4 → 3 ← 5: rule R1 asks for 2 → 3 and for 3 → 2."""
    around = {0: {2}, 1: {2}, 2: {0, 1, 3}, 3: {2, 4, 5}, 4: {3}, 5: {3}}
    found = orient(oracles.undirected(around).astype(bool), made(around, {(0, 2, 1), (4, 3, 5)}), overwrite=False)
    assert np.argwhere(found.contested_by_rules).tolist() == [[2, 3], [3, 2]]
    assert found.adjacency[2, 3]
    assert found.adjacency[3, 2]


@pytest.mark.parametrize("torn", [True, False])
def test_an_edge_that_rules_pull_both_ways_takes_no_part_in_them(torn):
    """0 — 1 with 0 — 2 → 1 and 0 — 3 → 1: R3 gives 0 → 1, unless 0 — 2 is one that R1 asks for in both directions."""
    around = as_graph(np.zeros((10, 10)))
    for i, j in ((0, 1), (0, 2), (0, 3), (2, 1), (3, 1), (4, 0), (5, 0), (6, 2), (7, 2), (8, 3), (9, 3)):
        around[i].add(j)
        around[j].add(i)
    colliders = {(4, 0, 5), (6, 2, 7), (8, 3, 9)}
    silent = {(1, 0, 4), (1, 0, 5), (3, 0, 4), (3, 0, 5), (0, 3, 8), (0, 3, 9)}
    if not torn:
        silent |= {(2, 0, 4), (2, 0, 5), (0, 2, 6), (0, 2, 7)}
    found = orient(oracles.undirected(around).astype(bool), made(around, colliders, silent), overwrite=False)
    expected, conflict = oracles.contested_stay_open(around, colliders, silent)
    assert np.array_equal(found.adjacency, expected)
    assert conflict == ({frozenset((0, 2))} if torn else set())
    assert found.adjacency[0, 1]
    assert found.adjacency[1, 0] == torn


def test_nothing_follows_from_an_ambiguous_triple():
    """0 → 2 ← 1 with 2 — 3: R1 gives 2 → 3 from either triple, and not if both are ambiguous."""
    around = {0: {2}, 1: {2}, 2: {0, 1, 3}, 3: {2}}
    skeleton = oracles.undirected(around).astype(bool)
    for silent, directed in (((), True), (((0, 2, 3),), True), (((0, 2, 3), (1, 2, 3)), False)):
        found = orient(skeleton, made(around, {(0, 2, 1)}, silent), overwrite=False)
        assert found.adjacency[2, 3]
        assert found.adjacency[3, 2] != directed


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["majority", "conservative"])
@given(tables(min_p=3, max_p=5), st.sampled_from([0.05, 0.3]))
def test_votes_are_the_literal_ones(rule, X, alpha):
    p_value = oracles.fisher_z(X)
    around, _, _ = oracles.skeleton(X.shape[1], p_value, alpha)
    colliders, ambiguous = oracles.by_vote(around, p_value, alpha, conservative=rule == "conservative", twice=True)
    result = pc_search(named(X), alpha=alpha, colliders=rule)
    place = result.graph.index
    assert {tuple(map(place, triple)) for triple in result.ambiguous} == ambiguous
    expected, conflict = oracles.contested_stay_open(around, colliders, ambiguous)
    assert np.array_equal(result.graph.adjacency, expected)
    assert {frozenset(map(place, edge)) for edge in result.conflicts} == conflict


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "largest"])
@given(tables(min_p=3, max_p=7), st.sampled_from([0.05, 0.3]))
def test_separating_sets_decide(rule, X, alpha):
    around, separating, _ = oracles.skeleton(X.shape[1], oracles.fisher_z(X), alpha, largest=rule == "largest")
    colliders, _ = oracles.by_set(around, separating)
    result = pc_search(named(X), alpha=alpha, colliders=rule)
    expected, conflict = oracles.contested_stay_open(around, colliders)
    place = result.graph.index
    found = {frozenset(map(place, edge)) for edge in result.conflicts}
    if rule == "largest":
        assert np.array_equal(result.graph.adjacency, expected)
        assert found == conflict
    elif not conflict:
        assert np.array_equal(result.graph.adjacency, oracles.later_overwrites(around, colliders))
        assert not found
    assert result.valid == (result.graph.valid and not result.conflicts and not result.denied)
    assert bool(result.warnings) >= (not result.valid)
    if result.valid:
        triples = collider_triples(extend(result.graph).adjacency)
        assert {(min(ends), middle, max(ends)) for ends, middle in triples} == colliders


def test_too_many_sets_are_refused_with_a_way_out(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 9))
    X[:, 0] += X[:, 1:].sum(axis=1)
    monkeypatch.setattr(orientation, "MOST_SETS", 100)
    with pytest.raises(SettingError, match="max_level"):
        pc_search(named(X), colliders="majority")


@pytest.mark.parametrize("rule", ["majority", "conservative"])
def test_no_triples_at_all(rule):
    X = np.random.default_rng(0).standard_normal((50, 2))
    assert pc_search(named(X), colliders=rule).ambiguous == ()
