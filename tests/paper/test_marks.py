"""Section 5 again: the numbers, the graphs against the paper's figures, and the reasons for each difference."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from oracles.graph import collider_triples

import ordag
from ordag.data.datasets import load
from ordag.graph import Dag, to_cpdag
from ordag.paper import marks as experiment
from ordag.paper.marks import MARKS, RESAMPLES, graph_of, marks, run, tasks
from ordag.paper.marks_report import PANELS, POSITIONS, SUBJECTS, claims, differences
from ordag.parents.tests import fisher_z

UNDIRECTED, OUR, PC, GES, GDS = PANELS.values()


def fewer_tables(patch):
    patch.setattr(experiment, "RESAMPLES", 60)
    patch.setattr(experiment, "GAUSSIAN_TABLES", 400)


@pytest.fixture(scope="session")
def answers():
    """What every task of a quick run gives, from fewer tables."""
    with pytest.MonkeyPatch.context() as patch:
        fewer_tables(patch)
        return {task: run(task) for task in tasks(True)}


@pytest.fixture(scope="session")
def rows(answers):
    return pd.DataFrame([{**task.address, **row} for task, found in answers.items() for row in found])


def of(rows, quantity, **values):
    part = rows[rows["quantity"] == quantity]
    for column, value in values.items():
        part = part[part[column] == value]
    return part


def test_the_table_is_the_built_in_one():
    assert marks().shape == (88, 5)
    assert load("marks").columns == SUBJECTS


def test_a_quick_run_is_a_part_of_the_full_one():
    quick, full = tasks(True), tasks(False)
    assert set(quick) < set(full)
    assert {task.method for task in quick} == {task.method for task in full}
    assert sum(task.method == "bootstrap" for task in full) * RESAMPLES == 2000


@pytest.mark.thorough
def test_rows_hold_plain_values_and_depend_on_the_address_alone(answers, monkeypatch):
    fewer_tables(monkeypatch)
    for task, first in answers.items():
        assert first == run(task)
        assert {type(value) for row in first for value in row.values()} <= {str, int, float}
    blocks = [task for task in tasks(False) if task.method == "bootstrap"]
    assert run(blocks[0]) != run(blocks[1])


def test_drawn_graphs():
    assert [len(panel.edges) for panel in PANELS.values()] == [6, 6, 5, 0, 6]
    assert set(POSITIONS) == set(SUBJECTS)
    assert UNDIRECTED.graph.directed == () == GES.graph.undirected == PC.graph.undirected
    assert (UNDIRECTED.graph.adjacency == OUR.graph.skeleton).all()
    assert OUR.graph.directed != GDS.graph.directed


@pytest.mark.slow
def test_partial_correlations_are_those_of_regression_residuals(rows):
    Z = marks() - marks().mean(axis=0)
    for row in of(rows, "partial correlation").itertuples():
        i, j = SUBJECTS.index(row.first), SUBJECTS.index(row.second)
        rest = Z[:, [k for k in range(5) if k not in (i, j)]]
        a, b = (Z[:, k] - rest @ np.linalg.lstsq(rest, Z[:, k], rcond=None)[0] for k in (i, j))
        assert row.value == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))
    assert (of(rows, "correlation")["value"] > 0).all()


@pytest.mark.slow
def test_normality(rows):
    assert of(rows, "kurtosis test")["p_value"].item() == pytest.approx(0.7977, abs=5e-5)
    assert 0.55 < of(rows, "kurtosis test, simulated")["p_value"].item() < 0.65


@pytest.mark.thorough
def test_the_undirected_graph_is_the_papers(rows):
    assert of(rows, "edge", method="undirected")["agrees"].tolist() == [1] * 6
    fit = of(rows, "deviance").iloc[0]
    S = np.cov(marks(), rowvar=False)
    cliques = [[0, 1, 2], [2, 3, 4], [2], [0, 1, 2, 3, 4]]
    dets = [np.linalg.slogdet(S[np.ix_(c, c)])[1] for c in cliques]
    assert fit["value"] == pytest.approx(88 * (dets[0] + dets[1] - dets[2] - dets[3]))
    assert (fit["of"], round(fit["p_value"], 3)) == (4, 0.925)


def test_a_marginal_test_would_join_all_ten_pairs(rows):
    """Step 2 as Algorithm 1 words it, without conditioning on the other predecessors."""
    r = of(rows, "correlation")["value"].to_numpy()
    assert fisher_z(r, 88, np.zeros(10)).max() < 0.001


def test_our_dag_differs_from_figure_6_in_one_arrow(rows):
    table = differences(rows)
    ours = table[table["method"] == "cvs"]
    assert ours[["first", "second", "paper", "here"]].to_numpy().tolist() == [["mechanics", "vectors", "→", "←"]]
    assert of(rows, "edge", method="cvs")["agrees"].sum() == 5


def test_mechanics_varies_more_than_vectors_whatever_is_given(rows):
    spread = of(rows, "conditional variance")
    mechanics, vectors = (spread[spread["first"] == name]["value"] for name in ("mechanics", "vectors"))
    assert len(mechanics) == len(vectors) == 16
    assert round(mechanics.min(), 1) == 190.7
    assert round(vectors.max(), 1) == 172.8
    backward = ordag.learn("marks", alpha=0.05, direction="backward").order
    assert backward.index("vectors") < backward.index("mechanics")


def test_vectors_precedes_mechanics_in_bootstrap_samples(rows):
    pair = of(rows, "bootstrap", first="vectors", second="mechanics").iloc[0]
    assert pair["value"] >= 0.98 * pair["of"]
    both = of(rows, "bootstrap").set_index(["first", "second"])["value"]
    assert all(both[a, b] + both[b, a] == pair["of"] for a, b in combinations(SUBJECTS, 2))


def test_pc_has_the_papers_arrows_and_one_edge_more(rows):
    table = differences(rows)
    assert table[table["method"] == "pc"]["here"].tolist() == ["—"]
    assert graph_of("pc").directed == PC.graph.directed
    assert graph_of("pc").undirected == (("analysis", "statistics"),)


def test_pcs_arrows_depend_on_the_order_of_the_columns(rows):
    assert of(rows, "column order", figure="first")["value"].tolist() == [40, 40, 20, 20]
    assert of(rows, "column order", figure="largest")["here"].tolist() == ["no arrows"]


def test_ges_gives_the_undirected_graph(rows):
    assert (graph_of("ges").adjacency == UNDIRECTED.graph.adjacency).all()
    assert (of(rows, "edge", method="ges")["here"] == "—").all()


def test_figure_7_has_the_transpose_of_what_gds_returns(rows):
    assert (graph_of("gds").adjacency == GDS.graph.adjacency.T).all()
    assert (graph_of("gds").adjacency == graph_of("cvs").adjacency).all()
    score = of(rows, "score").set_index("here")["value"].round(3)
    assert score["as GDS returns it"] == score["the transpose of Figure 7"] == 1719.689
    assert score["as Figure 7 draws it"] == 1782.382


def test_only_the_transposed_graph_has_colliders():
    """The three others are of one class, that of GES; so no likelihood without equal variances tells them apart."""
    drawn = [Dag(SUBJECTS, panel.graph.adjacency) for panel in (OUR, GDS)]
    assert to_cpdag(drawn[0]) == to_cpdag(Dag(SUBJECTS, graph_of("cvs").adjacency)) == graph_of("ges")
    assert len(collider_triples(drawn[1].adjacency)) == 4


def test_every_difference_has_a_reason(rows):
    table = differences(rows)
    assert table["why"].str.len().min() > 20
    assert table.groupby("method", sort=False).size().to_dict() == {
        "cvs": 1,
        "pc": 1,
        "pc-largest": 6,
        "ges": 6,
        "gds": 6,
    }


@pytest.mark.slow
def test_claims_hold_both_sides_and_survive_a_csv_file(rows, tmp_path):
    sentences = claims(rows)
    assert len(sentences) == 7
    assert all("paper" in sentence for sentence in sentences)
    assert "190.7" in sentences[3]
    assert "1719.689" in sentences[6]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert claims(pd.read_csv(tmp_path / "rows.csv")) == sentences


@pytest.mark.thorough
def test_figures(rows):
    files = MARKS.figures(rows)
    assert sorted(files) == [
        "marks_correlations.png",
        "marks_correlations.svg",
        "marks_graphs.png",
        "marks_graphs.svg",
    ]
    picture = files["marks_graphs.svg"].decode()
    assert picture.count(">mechanics<") == 5
    assert "0 of 6 edges agree" in picture
    assert files["marks_graphs.png"].startswith(b"\x89PNG")
