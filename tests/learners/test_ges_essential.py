import numpy as np
import pytest
from ges_cases import as_cpdag, as_essential, as_pairs, random_dag
from oracles import ges as oracles

from ordag.learners.ges.essential import _topological, essential


@pytest.mark.slow
def test_classes_of_all_dags_on_four_nodes():
    for dag in oracles.all_dags(4):
        graph = as_essential(dag, 4)
        assert np.array_equal(graph.adjacency(), oracles.cpdag(dag, 4))
        assert as_pairs(graph.dag) == dag


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_classes_of_larger_dags(density):
    rng = np.random.default_rng(1)
    for p in (6, 12, 25):
        dag = random_dag(p, density, rng)
        graph = as_essential(dag, p)
        names = [f"X{k}" for k in range(p)]
        assert np.array_equal(graph.adjacency(), as_cpdag(dag, names).adjacency)


def test_the_four_sets_of_a_node_agree():
    rng = np.random.default_rng(2)
    p = 15
    graph = as_essential(random_dag(p, 0.3, rng), p)
    adjacency = graph.adjacency()

    def bits(mask):
        return sum(1 << int(k) for k in np.flatnonzero(mask))

    for j in range(p):
        assert graph.parents[j] == bits(adjacency[:, j] & ~adjacency[j])
        assert graph.children[j] == bits(adjacency[j] & ~adjacency[:, j])
        assert graph.neighbours[j] == bits(adjacency[j] & adjacency[:, j])
        assert graph.adjacent[j] == bits(adjacency[j] | adjacency[:, j])


def test_any_order_may_be_given_as_a_hint():
    rng = np.random.default_rng(3)
    p = 10
    dag = as_essential(random_dag(p, 0.4, rng), p).dag
    assert essential(dag, rng.permutation(p).tolist()).adjacency().tolist() == essential(dag).adjacency().tolist()


@pytest.mark.slow
def test_a_member_of_the_class_begins_with_any_clique():
    rng = np.random.default_rng(4)
    for _ in range(40):
        p = 6
        dag = random_dag(p, 0.6, rng)
        graph = as_essential(dag, p)
        for node in range(p):
            for clique in graph.cliques(0, graph.neighbours[node]):
                first = [k for k in range(p) if clique >> k & 1]
                member = graph.member([*first, node])
                assert as_pairs(member) in oracles.members(dag, p)
                assert member[node] == graph.parents[node] | clique


def test_cliques():
    # 0 — 1 — 2 — 0 and 2 — 3
    graph = as_essential({(0, 1), (0, 2), (1, 2), (2, 3)}, 4)
    assert sorted(graph.cliques(0, 0b1111)) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 12]
    assert sorted(graph.cliques(0b0010, 0b1111)) == [2, 3, 6, 7]
    assert list(graph.cliques(0b1001, 0b1111)) == []


def test_paths_follow_arrows_forwards_and_lines_both_ways():
    # 0 → 2 ← 1, 2 → 3; 4 — 5
    graph = as_essential({(0, 2), (1, 2), (2, 3), (4, 5)}, 6)
    assert graph.below == (0b001100, 0b001100, 0b001000, 0, 0, 0)
    assert graph.has_path(1 << 0, 1 << 3, 0)
    assert not graph.has_path(1 << 0, 1 << 3, 1 << 2)
    assert not graph.has_path(1 << 3, 1 << 0, 0)
    assert graph.along_lines(1 << 5, -1) == 0b110000


def test_what_lies_beyond_a_node():
    """The short cut over lines first and arrows after finds what every path finds."""
    rng = np.random.default_rng(5)
    for p, density in [(6, 0.5), (9, 0.2), (9, 0.4), (12, 0.3)] * 5:
        graph = as_essential(random_dag(p, density, rng), p)
        for node in range(p):
            for clique in graph.cliques(0, graph.neighbours[node]):
                around = graph.reached_around(node, clique)
                for other in set(range(p)) - {node}:
                    assert around >> other & 1 == graph.has_path(1 << node, 1 << other, clique)


def test_a_cycle_is_noticed():
    assert _topological([0, 0b001, 0b011], [2, 1, 0]) == [0, 1, 2]
    with pytest.raises(AssertionError, match="a cycle"):
        _topological([0b010, 0b001, 0], [2, 1, 0])
