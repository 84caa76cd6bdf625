import pickle

import numpy as np
import pytest
from hypothesis import given
from oracles import graph as oracles
from strategies.graphs import classes, names, partly_directed

from ordag.errors import GraphError
from ordag.graph import Cpdag, Dag, extend

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


def test_weights_of_undirected_edges_are_missing():
    table = PATH.edge_table(weights=np.ones((4, 4)))
    assert list(table.columns) == ["source", "target", "undirected", "weight"]
    assert table["weight"].isna().tolist() == [False, True, True]
