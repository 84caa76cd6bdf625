"""Adjustment sets against regressions in exact arithmetic on every DAG of a class."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordag.decisions.given_graph import given_graph
from ordag.errors import GraphError
from ordag.graph import Cpdag, Dag, to_cpdag
from ordag.graph.adjustment import Adjustment, Ties, connected
from tests.oracles.graph import d_separated, equivalent_dags, is_valid_adjustment
from tests.strategies import graphs


def subsets(nodes):
    return [set(chosen) for size in range(len(nodes) + 1) for chosen in combinations(nodes, size)]


@given(graphs.dags(min_size=2, max_size=5))
def test_d_connection_is_an_open_path(dag):
    p, ties = len(dag.nodes), Ties.of(dag)
    for given_nodes in subsets(range(2, p)):
        bits = sum(1 << node for node in given_nodes)
        expected = not d_separated(dag.adjacency.tolist(), 0, 1, given_nodes)
        assert bool(connected(ties, 1, bits) >> 1 & 1) == expected


@given(graphs.dags(min_size=2, max_size=5), st.booleans())
def test_a_set_is_valid_if_the_regression_on_it_has_the_effect_in_every_dag_of_the_class(dag, whole_class):
    graph = to_cpdag(dag) if whole_class else dag
    dags = equivalent_dags(dag.adjacency.astype(int).tolist()) if whole_class else [dag.adjacency.tolist()]
    found = Adjustment(graph, dag.nodes[0], dag.nodes[1])
    others = range(2, len(dag.nodes))
    valid = []
    for chosen in subsets(others):
        names = [dag.nodes[node] for node in chosen]
        expected = all(is_valid_adjustment(one, 0, 1, sorted(chosen)) for one in dags)
        if (
            not found.has_path
        ):  # any regression that gives zero: stronger than needed only where the effect is zero by chance
            expected = all(d_separated(one, 0, 1, chosen) for one in dags)
        assert found.is_valid(names) == expected, (graph, names)
        valid += [chosen] if expected else []
    smallest = [one for one in valid if not any(other < one for other in valid)]
    as_sets = [{dag.nodes.index(name) for name in names} for names in found.minimal]
    assert sorted(map(sorted, as_sets)) == sorted(map(sorted, smallest))
    assert (found.optimal is None) == (not valid) == (found.reason is not None)
    if valid:
        assert {dag.nodes.index(name) for name in found.optimal} in valid


def test_paths_are_not_followed_one_by_one():
    p = 60  # 2⁵⁸ paths lead up from the last variable
    dag = Dag.from_edges([f"X{k}" for k in range(p)], [(f"X{i}", f"X{j}") for i, j in combinations(range(p), 2)])
    assert connected(Ties.of(dag), 1 << p - 1, 0) == (1 << p - 1) - 1


@given(graphs.dags(min_size=3, max_size=5), st.integers(0, 2**32 - 1))
def test_no_valid_set_has_a_smaller_variance_than_the_optimal_one(dag, seed):
    found = Adjustment(dag, dag.nodes[0], dag.nodes[1])
    if found.optimal is None or not found.has_path:
        return
    random = np.random.default_rng(seed)
    p = len(dag.nodes)
    T = np.linalg.inv(np.eye(p) - dag.adjacency * random.uniform(0.3, 2.0, (p, p)))
    S = T.T @ np.diag(random.uniform(0.2, 3.0, p)) @ T

    def variance(names):
        """Of the coefficient of the cause, times the number of rows."""
        given_nodes = [dag.nodes.index(name) for name in names]
        rest = np.linalg.inv(S[np.ix_([0, *given_nodes], [0, *given_nodes])])[0, 0]
        full = [1, 0, *given_nodes]
        return rest / np.linalg.inv(S[np.ix_(full, full)])[0, 0]

    best = variance(found.optimal)
    for chosen in subsets(range(2, p)):
        names = [dag.nodes[node] for node in chosen]
        if found.is_valid(names):
            assert variance(names) >= best * (1 - 1e-9)


@given(graphs.dags(min_size=3, max_size=5))
def test_an_instrument_gives_the_effect_by_a_ratio_of_covariances(dag):
    found = Adjustment(dag, dag.nodes[0], dag.nodes[1])
    p = len(dag.nodes)
    random = np.random.default_rng(5)
    T = np.linalg.inv(np.eye(p) - dag.adjacency * random.uniform(0.3, 2.0, (p, p)))
    S = T.T @ np.diag(random.uniform(0.2, 3.0, p)) @ T
    for z, names in found.instruments:
        given_nodes = [dag.nodes.index(name) for name in names]
        z = dag.nodes.index(z)

        def rest(i, j, given_nodes=given_nodes):
            block = S[np.ix_(given_nodes, given_nodes)]
            return S[i, j] - S[i, given_nodes] @ np.linalg.solve(block, S[given_nodes, j]) if given_nodes else S[i, j]

        assert rest(z, 1) / rest(z, 0) == pytest.approx(T[0, 1])


def test_the_textbook_cases():
    nodes = ["smoke", "tar", "cancer", "gene", "tax"]
    arrows = [("tax", "smoke"), ("smoke", "tar"), ("tar", "cancer"), ("gene", "smoke"), ("gene", "cancer")]
    found = Adjustment(Dag.from_edges(nodes, arrows), "smoke", "cancer")
    assert found.minimal == (("gene",),)
    assert found.optimal == ("gene",)
    assert found.forbidden == ("tar",)
    assert found.needless == ("tax",)
    assert [(one.name, one.given) for one in found.instruments] == [("tax", ())]
    m_bias = Dag.from_edges(list("abuvm"), [("u", "a"), ("u", "m"), ("v", "m"), ("v", "b"), ("a", "b")])
    assert Adjustment(m_bias, "a", "b").minimal == ((),)
    assert not Adjustment(m_bias, "a", "b").is_valid(["m"])
    assert Adjustment(m_bias, "a", "b").is_valid(["m", "u"])


@pytest.mark.parametrize(("ways", "count"), [(5, 32), (6, 50)])
def test_fifty_minimal_sets_are_listed(ways, count):
    """One variable of every way s ← a ← b → t."""
    arrows = [edge for k in range(ways) for edge in ((f"a{k}", "s"), (f"b{k}", f"a{k}"), (f"b{k}", "t"))]
    nodes = ["s", "t", *(f"{letter}{k}" for letter in "ab" for k in range(ways))]
    found = Adjustment(Dag.from_edges(nodes, [*arrows, ("s", "t")]), "s", "t")
    assert len(set(found.minimal)) == len(found.minimal) == count
    assert {len(one) for one in found.minimal} == {ways}


def test_a_variable_that_is_reached_in_many_ways_is_looked_at_once():
    steps = 60  # 2⁶⁰ ways
    arrows = [
        edge for k in range(steps) for side in "ab" for edge in ((f"x{k}", f"{side}{k}"), (f"{side}{k}", f"x{k + 1}"))
    ]
    dag = Dag.from_edges(sorted({node for edge in arrows for node in edge}), arrows)
    assert connected(Ties.of(dag), 1 << dag.index("x0"), 0) == (1 << len(dag.nodes)) - 1 - (1 << dag.index("x0"))


def test_a_class_with_an_open_edge_has_a_list_of_parents():
    chain = Cpdag.from_edges(list("abc"), [], [("a", "b"), ("b", "c")])
    found = Adjustment(chain, "a", "c")
    assert found.optimal is None
    assert found.reason == "the direction between a and b is open, and the effect depends on it"
    assert found.parent_sets == ((), ("b",))
    assert Adjustment(chain, "b", "c").parent_sets == ((), ("a",), ("c",))  # a and c are not joined: not both


@given(graphs.dags(min_size=2, max_size=5))
def test_the_sets_of_parents_are_those_in_the_class(dag):
    dags = equivalent_dags(dag.adjacency.astype(int).tolist())
    expected = {tuple(name for i, name in enumerate(dag.nodes) if one[i][0]) for one in dags}
    assert set(Adjustment(to_cpdag(dag), dag.nodes[0], dag.nodes[1]).parent_sets) == expected


def test_one_variable_twice_is_refused():
    with pytest.raises(GraphError, match="name two variables"):
        _ = Adjustment(Dag.empty(["a", "b"]), "a", "a").minimal


STORED = json.loads((Path(__file__).parents[1] / "reference/adjustment/dagitty.json").read_text())


@pytest.mark.parametrize("part", range(4))
def test_minimal_sets_and_instruments_are_those_of_dagitty(part):
    for case in STORED[part::4]:
        graph = given_graph(case["graph"])[0]
        found = Adjustment(graph, case["source"], case["target"])
        assert sorted(map(sorted, found.minimal)) == sorted(map(sorted, case["minimal"])), case
        if case["instruments"] is not None:
            below = graph.descendants(case["source"])
            expected = sorted(name for name, _ in case["instruments"] if name not in below)
            assert sorted(one.name for one in found.instruments) == expected, case


@given(graphs.dags(min_size=3, max_size=5), st.data())
def test_what_is_not_measured_is_in_no_set(dag, data):
    hidden = data.draw(st.sets(st.sampled_from(dag.nodes[2:])))
    whole = Adjustment(dag, *dag.nodes[:2])
    found = Adjustment(dag, *dag.nodes[:2], tuple(hidden))
    usable = [one for one in subsets(dag.nodes[2:]) if not one & hidden]
    valid = [one for one in usable if whole.is_valid(list(one))]
    assert valid == [one for one in subsets(dag.nodes[2:]) if found.is_valid(list(one))]
    smallest = [one for one in valid if not any(other < one for other in valid)]
    assert sorted(map(sorted, found.minimal)) == sorted(map(sorted, smallest))
    assert (found.reason is None) == bool(valid)
    assert found.optimal in (whole.optimal, None)
    if found.optimal is None and valid:
        assert hidden & {*whole.optimal}
    for one in found.instruments:
        assert not hidden & {one.name, *one.given}
        assert one.name in {other.name for other in whole.instruments}
    assert not hidden & {*found.forbidden, *found.needless}


def test_a_common_cause_that_is_not_measured():
    dag = given_graph("tax -> smoke -> tar -> cancer; gene -> smoke; gene -> cancer")[0]
    found = Adjustment(dag, "smoke", "cancer", ("gene",))
    assert found.reason == "a common cause is not measured, and nothing measured stands in for it"
    assert [one.name for one in found.instruments] == ["tax"]
    with pytest.raises(GraphError, match="'smoke' is given as cause or effect, and as not measured"):
        Adjustment(dag, "smoke", "cancer", ("smoke",)).minimal  # noqa: B018
