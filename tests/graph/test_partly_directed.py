import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import graph as oracles
from strategies.graphs import dags, partly_directed

from ordag.graph import Cpdag, meek, to_cpdag


@pytest.mark.parametrize(
    ("arrows", "lines", "result"),
    [
        pytest.param(["ab"], ["bc"], "bc", id="R1"),
        pytest.param(["ab", "bc"], ["ac"], "ac", id="R2"),
        pytest.param(["cb", "db"], ["ab", "ac", "ad"], "ab", id="R3"),
        pytest.param(["dc", "cb"], ["ab", "ad", "ac"], "ab", id="R4"),
    ],
)
def test_each_rule_by_itself(arrows, lines, result):
    graph = Cpdag.from_edges(list("abcd"), map(tuple, arrows), map(tuple, lines))
    closed = Cpdag(graph.nodes, meek(graph.adjacency))
    assert set(closed.directed) == set(map(tuple, [*arrows, result]))
    assert set(closed.undirected) == set(map(tuple, lines)) - {tuple(result)}


@pytest.mark.slow
@given(dags(max_size=5), st.data())
def test_knowledge_is_carried_all_the_way(dag, data):
    """What Meek's rules give with some arrows known is the union of the DAGs that have them: no more, no less."""
    assume(dag.edge_count)
    members = oracles.equivalent_dags(dag.adjacency)
    truth = data.draw(st.sampled_from(members))
    start = to_cpdag(dag).adjacency.copy()
    for i, j in np.argwhere(np.array(truth)).tolist():
        if data.draw(st.booleans()):
            start[j, i] = False
    agreeing = [member for member in members if not (np.array(member) & ~start).any()]
    assert np.array_equal(meek(start), oracles.union(agreeing))


@given(partly_directed(max_size=6), st.data())
def test_any_input(graph, data):
    before = graph.adjacency.copy()
    closed = meek(graph.adjacency)
    assert np.array_equal(graph.adjacency, before)
    assert np.array_equal(closed | closed.T, graph.skeleton)
    assert not (closed & ~graph.adjacency).any()
    assert np.array_equal(meek(closed), closed)
    shuffle = data.draw(st.permutations(range(len(graph.nodes))))
    assert np.array_equal(meek(before[np.ix_(shuffle, shuffle)]), closed[np.ix_(shuffle, shuffle)])
    assert closed.astype(int).tolist() == oracles.meek_by_rounds(before)
    if oracles.extensions(before):
        assert not oracles.meek_demands(closed)


def test_the_fourth_rule_after_the_first():
    """R1 finds d → c, R4 then a → c, and R2 then a → b."""
    lines = [("d", "c"), ("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")]
    graph = Cpdag.from_edges(list("abcde"), [("e", "d"), ("c", "b")], lines)
    closed = meek(graph.adjacency)
    assert np.array_equal(closed, oracles.union(oracles.extensions(graph.adjacency)))
    assert ("a", "b") in Cpdag(graph.nodes, closed).directed


def test_an_edge_pulled_both_ways_stays_undirected():
    graph = Cpdag.from_edges(list("abcd"), [("a", "b"), ("d", "c")], [("b", "c")])
    assert np.array_equal(meek(graph.adjacency), graph.adjacency)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param("00111 00011 01011 10101 11100", id="a second call would go on if the first did not"),
        pytest.param("00110 10010 10000 10000 00100", id="what is pulled both ways pulls at nothing else"),
        pytest.param("01110 10011 01001 11001 00110", id="the first arrow of R4 comes last"),
    ],
)
def test_conflicting_arrows(rows):
    adjacency = [[int(entry) for entry in row] for row in rows.split()]
    closed = meek(adjacency)
    assert np.array_equal(closed, oracles.meek_by_rounds(adjacency))
    assert np.array_equal(meek(closed), closed)


@pytest.mark.slow
def test_a_long_way_to_go():
    p = 1500
    adjacency = np.eye(p, k=1, dtype=bool) | np.eye(p, k=-1, dtype=bool)
    adjacency[1, 0] = False
    assert np.array_equal(meek(adjacency), np.eye(p, k=1, dtype=bool))
