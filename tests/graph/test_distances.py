import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import names, partly_directed

from ordag.errors import GraphError
from ordag.graph import Cpdag, Dag, hamming, shd

CHAIN = Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])


def test_a_reversal_counts_two_and_one():
    other = Dag.from_edges(["a", "b", "c"], [("b", "a"), ("b", "c")])
    assert (hamming(CHAIN, other), shd(CHAIN, other)) == (2, 1)


def test_missing_extra_and_undirected_edges():
    assert (hamming(CHAIN, Dag.empty(CHAIN.nodes)), shd(CHAIN, Dag.empty(CHAIN.nodes))) == (2, 2)
    half = Cpdag.from_edges(["a", "b", "c"], [("a", "b")], [("b", "c")])
    assert (hamming(CHAIN, half), shd(CHAIN, half)) == (1, 1)
    assert (hamming(half, Dag.empty(CHAIN.nodes)), shd(half, Dag.empty(CHAIN.nodes))) == (3, 2)


def test_arrays_count_what_is_not_zero():
    B = np.array([[0, -0.3, 0], [0, 0, 2.0], [0, 0, 0]])
    assert hamming(CHAIN, B) == shd(B, CHAIN) == 0
    assert hamming(B, B.T.tolist()) == 4
    assert isinstance(hamming(B, B), int)


@pytest.mark.parametrize("distance", [hamming, shd])
def test_what_cannot_be_compared(distance):
    with pytest.raises(GraphError, match="only in the first: c; only in the second: z"):
        distance(CHAIN, Dag.empty(["a", "b", "z"]))
    with pytest.raises(GraphError, match=r"only in the first: c$"):
        distance(CHAIN, Dag.empty(["a", "b"]))
    with pytest.raises(GraphError, match="3 and 2 nodes"):
        distance(CHAIN, np.zeros((2, 2)))
    with pytest.raises(GraphError, match="square"):
        distance(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(GraphError, match="NaN"):
        distance([[0, np.nan], [0, 0]], np.zeros((2, 2)))


@pytest.mark.slow
@given(st.data())
def test_equals_the_definition_in_any_order_of_the_nodes(data):
    nodes = data.draw(names())
    a = data.draw(partly_directed(st.just(nodes)))
    b = data.draw(partly_directed(st.just(nodes)))
    shuffled = b.reorder(data.draw(st.permutations(nodes)))
    for graph in (b, shuffled, b.adjacency):
        assert hamming(a, graph) == hamming(graph, a) == oracles.hamming(a.adjacency, b.adjacency)
        assert shd(a, graph) == shd(graph, a) == oracles.shd(a.adjacency, b.adjacency)
    assert shd(a, b) <= hamming(a, b) <= 2 * shd(a, b)
