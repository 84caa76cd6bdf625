import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import dags

from ordag.errors import GraphError
from ordag.graph import Dag, d_separated

COLLIDER = Dag.from_edges(list("abcd"), [("a", "c"), ("b", "c"), ("c", "d")])


def test_a_collider_and_what_follows_from_it():
    assert d_separated(COLLIDER, "a", "b")
    assert not d_separated(COLLIDER, "a", "b", "c")
    assert not d_separated(COLLIDER, "a", "b", {"d"})
    assert not d_separated(COLLIDER, "a", "d")
    assert d_separated(COLLIDER, {"a", "b"}, ["d"], "c")
    assert d_separated(COLLIDER, [], "a")


def test_what_makes_no_sense():
    with pytest.raises(GraphError, match="no node is named z"):
        d_separated(COLLIDER, "a", "z")
    with pytest.raises(GraphError, match="shared: a"):
        d_separated(COLLIDER, "a", ["a", "b"])
    with pytest.raises(GraphError, match="shared: b"):
        d_separated(COLLIDER, "a", "b", "b")


@pytest.mark.slow
@given(dags(min_size=2, max_size=6))
def test_equals_the_definition_by_paths(dag):
    p = range(len(dag.nodes))
    for given_nodes in oracles.subsets(set(p) - {0, 1}):
        names = [dag.nodes[i] for i in given_nodes]
        expected = oracles.d_separated_by_paths(dag.adjacency, 0, 1, set(given_nodes))
        assert d_separated(dag, dag.nodes[0], dag.nodes[1], names) == expected
        assert d_separated(dag, dag.nodes[1], dag.nodes[0], names) == expected


@pytest.mark.slow
@given(dags(min_size=3, max_size=8), st.data())
def test_sets_equal_the_moral_graph(dag, data):
    roles = data.draw(st.lists(st.sampled_from("abg-"), min_size=len(dag.nodes), max_size=len(dag.nodes)))
    a, b, block = ({i for i, role in enumerate(roles) if role == which} for which in "abg")
    expected = oracles.d_separated_by_moral_graph(dag.adjacency, a, b, block)
    assert d_separated(dag, *([dag.nodes[i] for i in chosen] for chosen in (a, b, block))) == expected
