"""CPDAGs: their structure, whether they are classes, the way from a DAG to its class and back; against values from R too."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import classes, dags, names, partly_directed

from ordag.errors import GraphError
from ordag.graph import Cpdag, Dag, extend, hamming, to_cpdag
from ordag.graph.partly_directed import extension

REFERENCE = Path(__file__).parent.parent / "reference" / "graph"  # see its README.md
CLASSES = json.loads((REFERENCE / "classes.json").read_text())
VALIDITY = json.loads((REFERENCE / "validity.json").read_text())

PATH = Cpdag(["a", "b", "c", "d"], [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]])


def test_a_mixed_path():
    assert PATH.directed == (("c", "d"),)
    assert PATH.undirected == (("a", "b"), ("b", "c"))
    assert PATH.edge_count == 3
    assert PATH.parents("d") == ("c",)
    assert PATH.neighbours("b") == ("a", "c")
    assert PATH.ancestors("d") == ("c",)
    assert repr(PATH) == "Cpdag(4 nodes, 3 edges: c → d, a — b, b — c)"
    assert not PATH.valid
    assert PATH.why_invalid() == "c → d is directed, though some DAG of the class has d → c"
    assert Cpdag.from_edges(PATH.nodes, PATH.directed, PATH.undirected) == PATH
    assert pickle.loads(pickle.dumps(PATH)) == PATH
    assert Dag.empty(["a"]) != Cpdag.empty(["a"])


def test_sentences_say_why_a_graph_is_no_class():
    square = Cpdag.from_edges(list("abcd"), [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert not square.valid
    assert "whichever of a, b, c and d came last" in square.why_invalid()
    ring = Cpdag.from_edges(list("abc"), [("a", "b"), ("b", "c"), ("c", "a")])
    assert ring.why_invalid() == "no DAG agrees with it: the arrows a → b → c → a form a cycle"
    unfinished = Cpdag.from_edges(list("abcd"), [("a", "c"), ("b", "c")], [("c", "d")])
    assert unfinished.why_invalid() == "c — d is undirected, though every DAG of the class has c → d"
    finished = Cpdag.from_edges(list("abcd"), [("a", "c"), ("b", "c"), ("c", "d")])
    assert finished.valid
    assert finished.why_invalid() is None


def test_edges_are_listed_once():
    with pytest.raises(GraphError, match="between b and a is listed twice"):
        Cpdag.from_edges(["a", "b"], [("a", "b")], [("b", "a")])
    with pytest.raises(GraphError, match="between b and a is listed twice"):
        Cpdag.from_edges(["a", "b"], [], [("a", "b"), ("b", "a")])
    with pytest.raises(GraphError, match="a — b has no direction"):
        Dag.from_edges(["a", "b"], [], [("a", "b")])


@given(partly_directed(max_size=4))
def test_validity_equals_the_definition(graph):
    """Valid is: some DAG's class, by brute force over all DAGs with the skeleton, is this very graph."""
    p = len(graph.nodes)
    candidates = oracles.extensions(graph.adjacency)
    right = any(np.array_equal(oracles.union(oracles.equivalent_dags(dag)), graph.adjacency) for dag in candidates)
    assert graph.valid == (right or p == 0)
    assert (graph.why_invalid() is None) == graph.valid
    if candidates or p == 0:
        dag = extend(graph)
        assert dag.adjacency.astype(int).tolist() in candidates or p == 0
    else:
        with pytest.raises(GraphError, match="none exists: "):
            extend(graph)


@given(classes())
def test_classes_are_valid(graph):
    assert graph.valid


@pytest.mark.slow
@given(partly_directed(names()))
def test_networkx_and_tables(graph):
    assert Cpdag.from_networkx(graph.to_networkx()) == graph
    table = graph.edge_table()
    assert list(table.columns) == ["source", "target", "undirected"]
    assert len(table) == graph.edge_count
    rows = set(table.itertuples(index=False, name=None))
    assert rows == {(*edge, False) for edge in graph.directed} | {(*edge, True) for edge in graph.undirected}
    assert np.array_equal(graph.adjacency_table().to_numpy() == 1, graph.adjacency)


def test_networkx_has_an_undirected_edge_both_ways():
    graph = Cpdag.from_edges(list("abc"), [("a", "b")], [("b", "c")]).to_networkx()
    assert sorted(graph.edges(data="undirected")) == [("a", "b", None), ("b", "c", True), ("c", "b", True)]


def test_weights_of_undirected_edges_are_missing():
    table = PATH.edge_table(weights=np.ones((4, 4)))
    assert list(table.columns) == ["source", "target", "undirected", "weight"]
    assert table["weight"].isna().tolist() == [False, True, True]


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


@pytest.mark.slow
@given(dags(max_size=6))
def test_equals_the_union_over_the_class(dag):
    members = oracles.equivalent_dags(dag.adjacency)
    cpdag = to_cpdag(dag)
    assert cpdag.nodes == dag.nodes
    assert np.array_equal(cpdag.adjacency, oracles.union(members) if dag.nodes else dag.adjacency)
    assert to_cpdag(extend(cpdag)) == cpdag


@given(dags(max_size=7), st.data())
def test_relabelling_relabels(dag, data):
    order = data.draw(st.permutations(dag.nodes))
    assert to_cpdag(dag.reorder(order)) == to_cpdag(dag).reorder(order)


def test_extending_a_partly_directed_graph():
    graph = Cpdag.from_edges(list("abcd"), [("d", "c")], [("a", "b"), ("b", "c")])
    assert extend(graph).directed == (("b", "a"), ("c", "b"), ("d", "c"))
    complete = Cpdag(list("0123"), ~np.eye(4, dtype=bool))
    assert extend(complete).topological_order() == ("0", "1", "2", "3")
    with pytest.raises(GraphError, match="none exists: whichever of a, b, c and d"):
        extend(Cpdag.from_edges(list("abcd"), [("a", "b"), ("d", "c")], [("b", "c")]))


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


def test_an_extension_is_searched_once(monkeypatch):
    calls = []
    monkeypatch.setattr("ordag.graph.cpdag.extension", lambda adjacency: calls.append(1) or extension(adjacency))
    assert extend(Cpdag(["a", "b"], [[0, 1], [1, 0]])).edge_count == 1
    assert calls == [1]


def test_a_wide_star_has_no_compelled_edge():
    star = np.zeros((1200, 1200), dtype=bool)
    star[0, 1:] = True
    assert len(to_cpdag(Dag([str(i) for i in range(1200)], star)).undirected) == 1199


def named(case):
    return case["name"]


@pytest.mark.parametrize("case", CLASSES, ids=named)
def test_classes_are_those_of_r(case):
    nodes = [f"X{i}" for i in range(1, len(case["dag"]) + 1)]
    dag = Dag(nodes, case["dag"])
    assert np.array_equal(to_cpdag(dag).adjacency, np.array(case["cpdag"]) == 1)
    assert hamming(dag, to_cpdag(dag)) == case["hamming"]


@pytest.mark.parametrize("case", VALIDITY, ids=named)
def test_validity_is_that_of_r(case):
    nodes = [f"X{i}" for i in range(1, len(case["graph"]) + 1)]
    assert Cpdag(nodes, case["graph"]).valid == case["valid"]
