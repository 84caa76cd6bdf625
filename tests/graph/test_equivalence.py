from math import factorial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import classes, dags

from ordag.errors import GraphError
from ordag.graph import Cpdag, Dag, class_size, enumerate_class, extend, to_cpdag, v_structures
from ordag.graph.partly_directed import extension


def complete(p):
    return Cpdag([str(i) for i in range(p)], ~np.eye(p, dtype=bool))


@pytest.mark.slow
def test_every_dag_of_up_to_four_nodes():
    for p, number in ((1, 1), (2, 3), (3, 25), (4, 543)):
        nodes = [f"x{i}" for i in range(p)]
        found = list(oracles.all_dags(p))
        assert len(found) == number
        by_class = {}
        for adjacency in found:
            cpdag = to_cpdag(Dag(nodes, adjacency))
            by_class.setdefault(cpdag, []).append(adjacency)
        for cpdag, members in by_class.items():
            assert np.array_equal(cpdag.adjacency, oracles.union(members))
            assert len({frozenset(oracles.collider_triples(dag)) for dag in members}) == 1
            listing = [dag.adjacency.astype(int).tolist() for dag in enumerate_class(cpdag)]
            assert sorted(listing) == sorted(members)
            assert class_size(cpdag) == len(members)


@pytest.mark.slow
@given(dags(max_size=6))
def test_equals_the_union_over_the_class(dag):
    members = oracles.equivalent_dags(dag.adjacency)
    cpdag = to_cpdag(dag)
    assert cpdag.nodes == dag.nodes
    assert np.array_equal(cpdag.adjacency, oracles.union(members) if dag.nodes else dag.adjacency)
    assert class_size(cpdag) == len(members)
    assert to_cpdag(extend(cpdag)) == cpdag


@given(dags(max_size=7), st.data())
def test_relabelling_relabels(dag, data):
    order = data.draw(st.permutations(dag.nodes))
    assert to_cpdag(dag.reorder(order)) == to_cpdag(dag).reorder(order)


@given(dags(max_size=6))
def test_v_structures(dag):
    triples = v_structures(dag)
    place = dag.nodes.index
    assert {(frozenset((place(a), place(c))), place(b)) for a, b, c in triples} == oracles.collider_triples(
        dag.adjacency
    )
    assert len(set(triples)) == len(triples)
    assert all(place(a) < place(c) for a, _, c in triples)


@pytest.mark.slow
@given(classes(max_size=6))
def test_listing_a_class(cpdag):
    members = enumerate_class(cpdag)
    assert len(set(members)) == len(members) == class_size(cpdag)
    assert all(to_cpdag(member) == cpdag for member in members)
    assert extend(cpdag) in members


def test_extending_a_partly_directed_graph():
    graph = Cpdag.from_edges(list("abcd"), [("d", "c")], [("a", "b"), ("b", "c")])
    assert extend(graph).directed == (("b", "a"), ("c", "b"), ("d", "c"))
    assert extend(complete(4)).topological_order() == ("0", "1", "2", "3")
    with pytest.raises(GraphError, match="none exists: whichever of a, b, c and d"):
        extend(Cpdag.from_edges(list("abcd"), [("a", "b"), ("d", "c")], [("b", "c")]))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.floats(0, 1))
def test_counting_random_chordal_graphs(seed, p, density):
    """A DAG without colliders has a chordal skeleton; every orientation without colliders counts."""
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((p, p), dtype=int)
    for node in range(1, p):
        near = rng.integers(node)
        parents = [near, *(other for other in np.flatnonzero(adjacency[:, near]) if rng.random() < density)]
        adjacency[parents, node] = 1
    assume(adjacency.sum() <= 12)
    cpdag = to_cpdag(Dag([str(i) for i in range(p)], adjacency))
    assert not cpdag.directed
    assert class_size(cpdag) == len(oracles.equivalent_dags(adjacency.tolist()))


def test_counting_what_has_a_formula():
    assert class_size(complete(30)) == factorial(30)
    path = np.eye(500, k=1, dtype=bool)
    assert class_size(to_cpdag(Dag([str(i) for i in range(500)], path))) == 500
    almost = ~np.eye(10, dtype=bool)
    almost[0, 1] = almost[1, 0] = False
    cpdag = Cpdag([str(i) for i in range(10)], almost)
    assert class_size(cpdag) == 2 * factorial(9) - factorial(8)
    assert class_size(Cpdag.empty([])) == 1


def test_limits():
    with pytest.raises(GraphError, match="holds 3628800 DAGs; to list more than 10000, raise limit"):
        enumerate_class(complete(10))
    with pytest.raises(GraphError, match="holds 6 DAGs"):
        enumerate_class(complete(3), limit=5)
    with pytest.raises(GraphError, match=r"not the CPDAG of a DAG: .* cycle"):
        class_size(Cpdag.from_edges(list("abc"), [("a", "b"), ("b", "c"), ("c", "a")]))
    p = 201
    strip = np.eye(p, k=1, dtype=bool) | np.eye(p, k=2, dtype=bool)
    with pytest.raises(GraphError, match="201 nodes hang together"):
        class_size(to_cpdag(Dag([str(i) for i in range(p)], strip)))
    star = np.zeros((1200, 1200), dtype=bool)
    star[0, 1:] = True
    assert len(to_cpdag(Dag([str(i) for i in range(1200)], star)).undirected) == 1199


@pytest.mark.slow
@pytest.mark.parametrize(("p", "density"), [(50, 0.87), (1000, 0.002)])
def test_large_graphs(p, density):
    rng = np.random.default_rng(1)
    shuffle = rng.permutation(p)
    dag = Dag([str(i) for i in range(p)], np.triu(rng.random((p, p)) < density, 1)[np.ix_(shuffle, shuffle)])
    cpdag = to_cpdag(dag)
    assert cpdag.valid
    assert np.array_equal(cpdag.skeleton, dag.skeleton)
    assert not (dag.adjacency & ~cpdag.adjacency).any()
    assert class_size(cpdag) >= 1


def test_an_extension_is_searched_once(monkeypatch):
    calls = []
    monkeypatch.setattr("ordag.graph.cpdag.extension", lambda adjacency: calls.append(1) or extension(adjacency))
    assert extend(Cpdag(["a", "b"], [[0, 1], [1, 0]])).edge_count == 1
    assert calls == [1]
