"""What stands in for bnlearn's pc.stable and rsmax2, against bnlearn's own answers; and the transposed class."""

import json
from pathlib import Path

import numpy as np
import pytest

from ordag import Cpdag, Dag, Moments, hamming
from ordag.graph import to_cpdag
from ordag.learners.regressions import Regressions
from ordag.paper.authors_code import AUTHORS, DISTANCES, LABELS, _moves, pc_stable, rsmax2, transposed_class
from ordag.paper.experiment import Task

REFERENCE = Path(__file__).parents[1] / "reference"

RSMAX2 = {
    "het_p10_n200": "X1->X3 X1->X4 X1->X10 X2->X8 X3->X2 X3->X9 X3->X10 X4->X6 X5->X7 X9->X2 X10->X4",
    "het_p20_n1000": "X1->X3 X2->X10 X7->X19 X8->X16 X9->X6 X9->X11 X9->X16 X10->X18 X11->X6 X12->X15",
    "het_p5_n1000": "X2->X3 X3->X1 X3->X4 X3->X5 X4->X5",
    "hom_p10_n1000": "X1->X5 X1->X10 X2->X4 X5->X4 X5->X9 X6->X1 X6->X7 X7->X10 X9->X8",
    "hom_p20_n200": "X3->X5 X3->X9 X4->X1 X5->X1 X6->X10 X8->X12 X8->X18 X8->X20 X9->X17 X11->X13 "
    "X12->X20 X13->X14 X13->X17 X14->X16 X16->X2 X18->X2 X20->X7",
    "hom_p5_n200": "X1->X2 X1->X3 X2->X3 X3->X5 X4->X5",
}
"""The arcs of `rsmax2(X)` with bnlearn 4.9 (R 4.2.2) on the data of tests/reference/data."""


@pytest.mark.slow
@pytest.mark.parametrize("name", RSMAX2)
def test_rsmax2_is_that_of_bnlearn(name):
    found = rsmax2(Moments.scan(REFERENCE / "data" / f"{name}.csv"))
    assert {f"{a}->{b}" for a, b in found.directed} == set(RSMAX2[name].split())


def test_the_gain_of_a_move_is_what_bic_gains():
    """bnlearn's BIC of a Gaussian network, −n/2 · log(RSS) − k/2 · log(n) for each variable, by least squares on the rows."""

    def bic(graph):
        left = X - X.mean(axis=0)
        residuals = [
            y - left[:, pa] @ np.linalg.lstsq(left[:, pa], y, rcond=None)[0]
            for y, pa in zip(left.T, graph.T, strict=True)
        ]
        return sum(-n / 2 * np.log(e @ e) for e in residuals) - np.log(n) / 2 * graph.sum()

    n, graph = 50, np.zeros((4, 4), dtype=bool)
    X = np.random.default_rng(2).normal(size=(n, 4)) @ np.triu(np.ones((4, 4)))
    graph[0, 1] = graph[1, 2] = True
    moments = Moments.from_rows(X)
    moves = list(_moves(Regressions(moments.R, moments.n), graph, ~np.eye(4, dtype=bool)))
    assert len(moves) == 11  # seven additions that make no cycle, two removals, two reversals
    for gain, after in moves:
        assert gain == pytest.approx(bic(after) - bic(graph))


@pytest.mark.parametrize("name", RSMAX2)
def test_pc_stable_is_that_of_bnlearn(name):
    stored = json.loads((REFERENCE / "pc" / f"{name}__bnlearn_pcstable_a0.01.json").read_text())
    found = pc_stable(Moments.scan(REFERENCE / "data" / f"{name}.csv"), 0.01)
    assert np.array_equal(found.adjacency, np.array(stored["adjacency"], dtype=bool))


def test_the_transposed_class():
    """A collider's reverse is a fork, whose class has no arrows; a chain's reverse is a chain."""
    collider = Dag.from_edges(("a", "b", "c"), [("a", "b"), ("c", "b")])
    undirected = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert transposed_class(collider) == Cpdag(("a", "b", "c"), undirected)
    fork = Dag.from_edges(("a", "b", "c"), [("b", "a"), ("b", "c")])
    assert transposed_class(fork).directed == (("b", "a"), ("b", "c"))
    chain = Dag.from_edges(("a", "b", "c"), [("a", "b"), ("b", "c")])
    assert transposed_class(chain) == to_cpdag(chain)


@pytest.mark.parametrize("method", LABELS)
def test_rows_have_every_distance(method):
    (row,) = AUTHORS.run(Task("authors", "homogeneous", 8, 200, 0, method))
    assert row["problem"] == ""
    assert all(row[value] >= 0 for value in DISTANCES)
    if method in ("cvs", "gds"):
        assert row["dag_distance"] == row["dag_distance_directed"]
        assert row["class_distance"] == row["class_distance_transposed"]


def test_a_graph_is_at_no_distance_from_itself():
    dag = Dag.from_edges(("a", "b", "c"), [("a", "b"), ("c", "b")])
    assert hamming(dag.adjacency & ~dag.adjacency.T, dag) == 0
