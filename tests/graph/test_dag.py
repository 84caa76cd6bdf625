import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import acyclic, dags, names

from ordag.errors import GraphError
from ordag.graph import Dag

DIAMOND = Dag(["d", "b", "a", "c"], [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]])


def test_a_diamond():
    assert DIAMOND.nodes == ("d", "b", "a", "c")
    assert DIAMOND.directed == (("b", "d"), ("a", "b"), ("a", "c"), ("c", "d"))
    assert DIAMOND.undirected == ()
    assert DIAMOND.edge_count == 4
    assert DIAMOND.parents("d") == ("b", "c")
    assert DIAMOND.children("a") == ("b", "c")
    assert DIAMOND.neighbours("a") == ()
    assert DIAMOND.ancestors("d") == ("b", "a", "c")
    assert DIAMOND.descendants("a") == ("d", "b", "c")
    assert DIAMOND.ancestors("a") == ()
    assert DIAMOND.topological_order() == ("a", "b", "c", "d")
    assert repr(DIAMOND) == "Dag(4 nodes, 4 edges: b → d, a → b, a → c, c → d)"
    assert np.array_equal(DIAMOND.skeleton, DIAMOND.adjacency | DIAMOND.adjacency.T)


def test_weights_serve_as_adjacency_and_are_left_alone():
    B = np.array([[0.0, -2.5], [0.0, 0.0]])
    before = B.copy()
    dag = Dag(["a", "b"], B)
    B[0, 1] = 0
    assert dag.directed == (("a", "b"),)
    assert np.array_equal(before, [[0, -2.5], [0, 0]])
    mask = np.array([[False, True], [False, False]])
    dag = Dag(["a", "b"], mask)
    mask[0, 1] = False
    assert mask.flags.writeable
    assert dag.adjacency[0, 1]


@pytest.mark.parametrize("dag", [DIAMOND, pickle.loads(pickle.dumps(DIAMOND)), copy.deepcopy(DIAMOND)])
def test_nothing_can_be_changed(dag):
    assert dag == DIAMOND
    with pytest.raises(FrozenInstanceError):
        dag.nodes = ("x",)
    with pytest.raises(FrozenInstanceError):
        dag.colour = "red"
    for mask in (dag.adjacency, dag.skeleton):
        with pytest.raises(ValueError, match="read-only"):
            mask[0, 0] = True


@pytest.mark.parametrize(
    ("nodes", "adjacency", "message"),
    [
        (["a", "b"], [[0, 1], [1, 0]], "cycle: a → b → a"),
        (["a", "b", "c"], [[0, 1, 0], [0, 0, 1], [0, 1, 0]], "cycle: b → c → b"),
        (["a", "b"], [[1, 0], [0, 0]], "a has an edge to itself"),
        (["a", "b"], [[0, 1]], "square"),
        (["a", "b"], [0, 1], "square"),
        (["a"], [[0, 1], [0, 0]], "1 node name "),
        (["a", "a"], [[0, 1], [0, 0]], "repeated: a"),
        (["a", 2], [[0, 1], [0, 0]], "node 1 is 2"),
        ("ab", [[0, 1], [0, 0]], "sequence of names"),
        (["a", "\ud800"], [[0, 1], [0, 0]], "surrogate"),
        (["a", "b"], [[0, float("nan")], [0, 0]], "NaN at row 0, column 1"),
        (["a", "b"], [["0", "1"], ["0", "0"]], "not numbers"),
        (["a", "b"], [[0, {}], [0, 0]], "not a number"),
    ],
)
def test_what_is_refused(nodes, adjacency, message):
    with pytest.raises(GraphError, match=message):
        Dag(nodes, adjacency)


def test_a_long_cycle_is_cut_short_in_the_message():
    p = 100
    with pytest.raises(GraphError, match=r"x0 → x1 → x2 → x3 → x4 → x5 → … → x96 → x97 → x98 → x99 → x0$"):
        Dag([f"x{i}" for i in range(p)], np.roll(np.eye(p), 1, axis=1))
    with pytest.raises(GraphError, match=r"cycle: x0 → (x\d+ → ){10}x0$"):  # twelve names are no more than that leaves
        Dag([f"x{i}" for i in range(11)], np.roll(np.eye(11), 1, axis=1))
    with pytest.raises(GraphError, match=r"cycle: x0 → (x\d → ){5}… → (x\d+ → ){4}x0$"):
        Dag([f"x{i}" for i in range(12)], np.roll(np.eye(12), 1, axis=1))


def test_unknown_names():
    with pytest.raises(GraphError, match="has no node z"):
        DIAMOND.parents("z")
    with pytest.raises(GraphError, match="a → z uses unknown nodes: z"):
        Dag.from_edges(["a"], [("a", "z")])
    with pytest.raises(GraphError, match="listed twice"):
        Dag.from_edges(["a", "b"], [("a", "b"), ("a", "b")])
    with pytest.raises(GraphError, match="only in the first: d and c; only in the second: z"):
        DIAMOND.reorder(["a", "b", "z"])
    with pytest.raises(GraphError, match="cycle: a → b → a"):
        Dag.from_edges(["a", "b"], [("a", "b"), ("b", "a")])


@given(st.integers(0, 6), st.data())
def test_acyclicity_equals_matrix_powers(p, data):
    bits = data.draw(st.lists(st.integers(0, 3), min_size=p * p, max_size=p * p))
    adjacency = np.reshape(np.array(bits, dtype=int) == 0, (p, p))
    np.fill_diagonal(adjacency, False)
    nodes = [f"x{i}" for i in range(p)]
    if oracles.is_acyclic(adjacency):
        Dag(nodes, adjacency)
    else:
        with pytest.raises(GraphError, match="cycle: ") as caught:
            Dag(nodes, adjacency)
        cycle = str(caught.value).split(": ")[1].split(" → ")
        assert cycle[0] == cycle[-1]
        assert all(adjacency[nodes.index(a), nodes.index(b)] for a, b in pairwise(cycle))


@given(dags(max_size=6))
def test_order_and_kin_equal_networkx(dag):
    graph = dag.to_networkx()
    assert np.array_equal(networkx.to_numpy_array(graph) != 0, dag.adjacency)
    assert list(dag.topological_order()) == list(networkx.lexicographical_topological_sort(graph, key=dag.nodes.index))
    for name in dag.nodes:
        assert set(dag.ancestors(name)) == networkx.ancestors(graph, name)
        assert set(dag.descendants(name)) == networkx.descendants(graph, name)
        assert set(dag.parents(name)) == set(graph.predecessors(name))
        assert set(dag.children(name)) == set(graph.successors(name))


@given(dags(names()), st.randoms(use_true_random=False))
def test_reordering_keeps_the_graph(dag, random):
    shuffled = list(dag.nodes)
    random.shuffle(shuffled)
    other = dag.reorder(shuffled)
    assert set(other.directed) == set(dag.directed)
    assert other.reorder(dag.nodes) == dag
    assert hash(other.reorder(dag.nodes)) == hash(dag)
    assert (other == dag) == (tuple(shuffled) == dag.nodes)
    assert Dag.from_edges(dag.nodes, dag.directed) == dag
    assert Dag.from_networkx(dag.to_networkx()) == dag
    assert "\n" not in repr(dag)


@pytest.mark.slow
def test_a_big_order():
    rng = np.random.default_rng(0)
    p = 3000
    shuffle = rng.permutation(p)
    adjacency = np.triu(rng.random((p, p)) < 2 / p, 1)[np.ix_(shuffle, shuffle)]
    dag = Dag([f"x{i}" for i in range(p)], adjacency)
    place = {name: i for i, name in enumerate(dag.topological_order())}
    assert len(place) == p
    assert all(place[a] < place[b] for a, b in dag.directed)


def test_networkx_at_the_border():
    with pytest.raises(GraphError, match="node 0 is 1, not a string"):
        Dag.from_networkx(networkx.DiGraph([(1, 2)]))
    with pytest.raises(GraphError, match="multigraph"):
        Dag.from_networkx(networkx.MultiDiGraph())
    with pytest.raises(GraphError, match="cycle: a → b → a"):
        Dag.from_networkx(networkx.Graph([("a", "b")]))
    graph = DIAMOND.to_networkx(weights=np.arange(16).reshape(4, 4))
    assert graph.edges["a", "c"]["weight"] == 11.0
    with pytest.raises(GraphError, match=r"needs \(4, 4\)"):
        DIAMOND.to_networkx(weights=np.zeros((3, 3)))
    with pytest.raises(GraphError, match="finite"):
        DIAMOND.to_networkx(weights=np.full((4, 4), np.nan))


def test_tables():
    table = DIAMOND.edge_table(weights=np.arange(16).reshape(4, 4))
    assert list(table.columns) == ["source", "target", "weight"]
    assert list(zip(table["source"], table["target"], strict=True)) == list(DIAMOND.directed)
    assert list(table["weight"]) == [4.0, 9.0, 11.0, 12.0]
    assert list(DIAMOND.edge_table().columns) == ["source", "target"]
    assert list(Dag.empty(["a"]).edge_table().columns) == ["source", "target"]
    adjacency = DIAMOND.adjacency_table()
    assert adjacency.loc["a", "c"] == 1
    assert adjacency.loc["c", "a"] == 0


def test_different_kinds_and_things_are_not_equal():
    assert Dag.empty(DIAMOND.nodes) != DIAMOND
    assert DIAMOND != "a diamond"
    assert repr(Dag.empty([])) == "Dag(0 nodes, 0 edges)"
    assert repr(Dag.empty(["a"])) == "Dag(1 node, 0 edges)"


@given(st.integers(0, 5).flatmap(acyclic))
def test_the_input_is_unchanged(adjacency):
    before = adjacency.copy()
    Dag([str(i) for i in range(len(adjacency))], adjacency).topological_order()
    assert np.array_equal(adjacency, before)


@pytest.mark.system
def test_the_room_is_light_to_enter():
    heavy = "import sys, ordag.graph; print(sorted({'networkx', 'pandas', 'matplotlib'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
