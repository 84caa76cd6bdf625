"""Graphs held by their edges against the same graphs held by a matrix, and the memory that they take."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.graphs import acyclic, dags, partly_directed

from ordag import LinearSEM
from ordag.errors import GraphError, GraphFormatError
from ordag.graph import Cpdag, Dag, hamming, shd, to_cpdag, write_text
from ordag.graph.acyclic import find_cycle, reachable, topological_order
from ordag.graph.formats import FORMATS
from ordag.graph.formats.tables import MOST_ROWS
from ordag.graph.links import NO_LINKS, Links

P = 1500


def by_edges(graph):
    """The same graph, made from its edges in a random order."""
    source, target = np.nonzero(graph.adjacency)
    mixed = np.random.default_rng(len(source)).permutation(len(source))
    return type(graph).known(graph.nodes, Links.between(len(graph.nodes), source[mixed], target[mixed]))


def reached(adjacency):
    """[i, j] where a path of one edge or more leads from i to j, by powers of the matrix."""
    paths = adjacency.astype(int)
    for _ in range(len(adjacency)):
        paths = ((paths + paths @ adjacency) > 0).astype(int)
    return paths > 0


@given(partly_directed())
def test_what_a_graph_says_is_what_its_matrix_says(graph):
    sparse, A = by_edges(graph), graph.adjacency
    arrows, lines = A & ~A.T, A & A.T
    assert sparse == graph
    assert hash(sparse) == hash(graph)
    assert "adjacency" not in vars(sparse)
    assert sparse.edge_count == np.triu(A | A.T).sum()
    names = graph.nodes
    assert sparse.directed == tuple((names[i], names[j]) for i, j in np.argwhere(arrows))
    assert sparse.undirected == tuple((names[i], names[j]) for i, j in np.argwhere(np.triu(lines)))
    paths = reached(arrows)
    for k, name in enumerate(names):
        for found, mask in (
            (sparse.parents(name), arrows[:, k]),
            (sparse.children(name), arrows[k]),
            (sparse.neighbours(name), lines[k]),
            (sparse.ancestors(name), paths[:, k]),
            (sparse.descendants(name), paths[k]),
        ):
            assert found == tuple(names[j] for j in np.flatnonzero(mask))
    again = pickle.loads(pickle.dumps(sparse))
    assert again == sparse
    assert not again.links.source.flags.writeable
    np.testing.assert_array_equal(sparse.adjacency, A)
    np.testing.assert_array_equal(sparse.skeleton, A | A.T)
    turned = sparse.reorder(names[::-1])
    np.testing.assert_array_equal(turned.adjacency, A[::-1, ::-1])
    assert Cpdag.from_edges(names, sparse.directed, sparse.undirected) == graph
    with pytest.raises(ValueError, match="read-only"):
        sparse.links.source[:] = 0


@given(partly_directed(), st.data())
def test_links_are_the_entries_of_a_mask(graph, data):
    A, links = graph.adjacency, graph.links
    p = len(A)
    np.testing.assert_array_equal(links.mask, A)
    np.testing.assert_array_equal(links.turned.mask, A.T)
    np.testing.assert_array_equal(links.without_direction().mask, A | A.T)
    np.testing.assert_array_equal(links.in_columns, A.sum(axis=0))
    assert links.starts == [0, *np.cumsum(A.sum(axis=1))]
    np.testing.assert_array_equal(links.mutual, A.T[A])
    places = np.array(data.draw(st.permutations(range(p))), dtype=np.intp)
    moved = np.zeros_like(A)
    moved[np.ix_(places, places)] = A
    np.testing.assert_array_equal(links.renamed(places).mask, moved)
    i, j = (grid.ravel() for grid in np.indices((p, p)))
    np.testing.assert_array_equal(links.has(i, j), A.ravel())
    values = np.arange(1.0, len(links) + 1)
    expected = np.zeros((p, p))
    expected[A] = values
    np.testing.assert_array_equal(links.look_up(values, i, j, 0.0), expected.ravel())
    for k in range(p):
        np.testing.assert_array_equal(links.row(k), np.flatnonzero(A[k]))
        np.testing.assert_array_equal(reachable(links, k), reached(A)[k])
    assert topological_order(links) == topological_order(A)
    assert find_cycle(links) == find_cycle(A)
    assert not NO_LINKS.has(i, j).any()


@pytest.mark.slow
@given(dags(), dags())
def test_distances_and_classes_are_those_of_the_matrices(first, second):
    size = min(len(first.nodes), len(second.nodes))
    a, b = (Dag(graph.nodes[:size], graph.adjacency[:size, :size]) for graph in (first, second))
    A, B = a.adjacency, b.adjacency
    assert hamming(by_edges(a), by_edges(b)) == hamming(A, B) == (A != B).sum()
    apart = (A != B) | (A != B).T
    assert shd(by_edges(a), by_edges(b)) == shd(A, B) == np.triu(apart).sum()
    assert hamming(by_edges(a), by_edges(b).reorder(b.nodes[::-1])) == (A != B).sum()
    assert to_cpdag(by_edges(a)) == to_cpdag(a)
    assert by_edges(a).topological_order() == a.topological_order()


@given(st.integers(2, 5).flatmap(lambda p: st.tuples(acyclic(p), st.permutations(range(p)))))
def test_a_cycle_is_found_whether_by_edges_or_by_matrix(drawn):
    A, order = drawn
    names = [f"v{k}" for k in range(len(A))]
    A = A.copy()
    for i, j in zip(order, (*order[1:], order[0]), strict=True):
        A[i, j] = True
    edges = [(names[i], names[j]) for i, j in np.argwhere(A)]
    with pytest.raises(GraphError) as by_matrix:
        Dag(names, A)
    with pytest.raises(GraphError) as by_list:
        Dag.from_edges(names, edges)
    assert str(by_list.value) == str(by_matrix.value)


def test_edges_of_a_learner_are_taken_in_any_order():
    dag = Dag.known_acyclic_edges(("a", "b", "c"), [1, 0], [2, 1])
    assert dag == Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert Dag.known_acyclic_edges(("a",), [], []).edge_count == 0


def test_an_edge_to_itself_is_refused_by_name():
    with pytest.raises(GraphError, match="b has an edge to itself"):
        Dag.from_edges(["a", "b"], [("b", "b")])


@pytest.fixture(scope="module")
def wide():
    """A model of many variables and few arrows, as edges."""
    random = np.random.default_rng(0)
    names = [f"X{k}" for k in range(P)]
    ends = np.sort(random.integers(0, P, (2 * P, 2)), axis=1)
    pairs = {(int(i), int(j)) for i, j in ends if i != j}
    return names, {(names[i], names[j]): float(random.uniform(0.5, 1.0)) for i, j in sorted(pairs)}


def peak(work):
    """What work gives, and the most memory that was held meanwhile."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


OPERATIONS = {
    "from edges": lambda dag, edges: Dag.from_edges(dag.nodes, edges),
    "known edges": lambda dag, edges: Dag.known_acyclic_edges(dag.nodes, dag.links.source, dag.links.target),
    "order": lambda dag, edges: dag.topological_order(),
    "ancestors": lambda dag, edges: dag.ancestors(dag.nodes[-1]),
    "descendants": lambda dag, edges: dag.descendants(dag.nodes[0]),
    "parents": lambda dag, edges: [dag.parents(name) for name in dag.nodes],
    "distances": lambda dag, edges: (hamming(dag, dag), shd(dag, dag.reorder(dag.nodes[::-1]))),
    "class": lambda dag, edges: to_cpdag(dag).undirected,
    "copies": lambda dag, edges: pickle.loads(pickle.dumps(dag)) == dag,
    "shown": lambda dag, edges: (repr(dag), dag._repr_html_()),
    "edge table": lambda dag, edges: dag.edge_table(edges),
    "networkx": lambda dag, edges: Dag.from_networkx(dag.to_networkx(edges)),
    "model": lambda dag, edges: LinearSEM.from_json(LinearSEM.from_edges(dag.nodes, edges).to_json())._repr_html_(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_few_edges_take_no_matrix(wide, name):
    names, edges = wide
    dag = Dag.from_edges(names, edges)
    OPERATIONS[name](Dag.from_edges(["a", "b", "c"], [("a", "b")]), {("a", "b"): 1.0})  # imports what it needs
    result, most = peak(lambda: OPERATIONS[name](dag, edges))
    assert result is not None
    assert most < 1.5 * P * P  # bytes; one matrix of truth values is P * P, one of numbers eight times that


@pytest.mark.slow
@pytest.mark.parametrize("format", [name for name in FORMATS if name != "adjacency.csv"])
def test_a_wide_graph_goes_through_every_format(wide, format):
    names, edges = wide
    dag = Dag.from_edges(names, edges)
    text = write_text(dag, format, edges)
    read = FORMATS[format].read(text)
    assert set(read.nodes) == set(names)
    assert dict(read.weights) == (edges if format != "tetrad" else {})
    assert set(Dag.parse(text, format).directed) == set(edges)
    assert "adjacency" not in vars(dag)


def test_an_adjacency_table_has_so_many_rows_at_most(monkeypatch):
    monkeypatch.setattr("ordag.graph.formats.tables.MOST_ROWS", 3)
    assert Dag.from_edges([*"abc"], [("a", "b")]).to_adjacency_csv() == ",a,b,c\na,0,1,0\nb,0,0,0\nc,0,0,0\n"
    with pytest.raises(GraphFormatError, match="an adjacency table of 4 nodes would have 16 entries"):
        Dag.from_edges([*"abcd"], [("a", "b")]).to_adjacency_csv()


@pytest.mark.slow
def test_an_adjacency_table_that_nobody_could_open_is_refused():
    dag = Dag.known_acyclic_edges(tuple(f"X{k}" for k in range(MOST_ROWS + 1)), [0], [1])
    with pytest.raises(GraphFormatError, match=r"100,020,001 entries.*table of edges"):
        dag.to_adjacency_csv()
    assert dag.to_csv().startswith("source,target\nX0,X1\n")


def test_weights_may_be_a_mapping():
    dag = Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert dag.to_csv({("a", "b"): 0.5, ("b", "c"): 2.0}) == dag.to_csv([[0, 0.5, 0], [0, 0, 2.0], [0, 0, 0]])
    assert dag.to_csv({("b", "c"): 2.0}) == "source,target,weight\na,b,\nb,c,2.0\n"
    assert dag.edge_table({("b", "c"): 2.0})["weight"].isna().tolist() == [True, False]
    with pytest.raises(GraphError, match=r"'c', 'a'.*no arrow"):
        dag.to_dot({("c", "a"): 1.0})
    with pytest.raises(GraphError, match="a → b is nan"):
        dag.to_dot({("a", "b"): float("nan")})
