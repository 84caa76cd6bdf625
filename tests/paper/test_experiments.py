"""Each experiment: its tasks, a row of it, and what it makes of rows."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from budgets import THOROUGH, thorough
from matplotlib.figure import Figure

from ordag import Dag
from ordag.paper import EXPERIMENTS, Task, reproduce
from ordag.paper.beyond_the_figures import BEYOND, agreement
from ordag.paper.comparisons import against, course, refusals
from ordag.paper.comparisons import table as comparison_table
from ordag.paper.drawing import Line, draw_graph
from ordag.paper.experiment import means, to_frame
from ordag.paper.reproduction import markdown, tasks_of
from ordag.paper.simulations import learned
from ordag.paper.table1 import PAPER, ROWS, TABLE1

SIMULATIONS = ("figure2", "figure3", "figure4", "table1", "beyond", "authors")


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_quick_run_has_some_of_the_tasks_of_a_full_one(name):
    experiment = EXPERIMENTS[name]
    quick, full = set(experiment.tasks(True)), set(experiment.tasks(False))
    assert quick <= full
    assert len(full) == len(experiment.tasks(False))
    assert {task.experiment for task in full} == {name}
    assert all(0 < experiment.seconds(task) < 60 for task in full)


def test_a_quick_run_takes_less_than_two_minutes_on_two_cores():
    total = sum(
        experiment.seconds(task) * (2 if experiment.alone else 1)
        for experiment in EXPERIMENTS.values()
        for task in experiment.tasks(True)
    )
    assert total / 2 < 90


@pytest.mark.slow
def test_the_points_of_figure_2():
    """100 data sets at every n; with kicks, GDS at p = 50 has 10 at four n, and all of them in a complete run."""
    tasks = EXPERIMENTS["figure2"].tasks(False)
    points = defaultdict(set)
    for task in tasks:
        points[task.p, task.method].add(task.n)
    every, few = set(range(100, 1001, 100)), {100, 400, 700, 1000}
    assert points == {
        (p, method): few if (p, method) == (50, "gds-kicks") else every
        for p in (20, 50)
        for method in ("cvs", "pc", "ges", "gds", "gds-kicks")
    }
    assert len(tasks) == 9 * 10 * 100 + 4 * 10
    assert len([task for task in tasks if (task.p, task.method) == (50, "gds-kicks")]) == 4 * 10
    assert len(tasks_of(EXPERIMENTS["figure2"], quick=False, replicates=None, complete=True)) == 10 * 10 * 100
    some = tasks_of(EXPERIMENTS["figure2"], quick=False, replicates=30, complete=False)
    assert len(some) == 30 * 9 * 10 + 4 * 10
    assert len(tasks_of(EXPERIMENTS["figure2"], quick=False, replicates=5, complete=False)) == 5 * (9 * 10 + 4)


def test_the_numbers_of_table_1():
    assert len(EXPERIMENTS["table1"].tasks(False)) == 3 * 10 * 100
    assert ROWS == (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    assert all(len(column) == 10 for columns in PAPER.values() for column in columns.values())
    assert PAPER[20]["cvs"][0] == 0.63
    assert PAPER[20]["gds"][3] == 325.94
    assert PAPER[20]["gds"][-1] == 448.28
    assert PAPER[50]["cvs"][4] == 8.39
    assert PAPER[50]["gds"][0] == 2617.53
    assert PAPER[50]["gds"][8] == 8234.65
    assert PAPER[80] == {"cvs": (17.01, 20.30, 24.76, 27.07, 32.18, 33.61, 39.48, 40.36, 46.70, 46.87)}
    sums = {(p, name): round(sum(column), 2) for p, columns in PAPER.items() for name, column in columns.items()}
    assert sums[20, "cvs"] == 8.31
    assert sums[20, "gds"] == 3550.66
    assert sums[50, "cvs"] == 85.08
    assert sums[50, "gds"] == 58577.54


@pytest.mark.thorough
@pytest.mark.parametrize("name", [SIMULATIONS[0], *(thorough(name) for name in SIMULATIONS[1:])])
def test_what_is_shown_of_a_few_rows(name):
    """Two replicates with few variables, under the names of the real points: tables, sentences and pictures."""
    experiment = EXPERIMENTS[name]
    done = {}
    for task in tasks_of(experiment, quick=True, replicates=2, complete=False):
        if name == "table1" and task.p == 50:
            seconds = {"cvs": 0.002, "gds": 0.9}
            done[task] = [{"method": method, "seconds": seconds[method], "problem": ""} for method in seconds]
        else:
            done[task] = experiment.run(
                task if name in ("figure4", "table1") else replace(task, p=6 if task.p == 20 else 9)
            )
    rows = to_frame(done)
    table, claims = experiment.table(rows), experiment.claims(rows)
    assert len(table) > 2
    assert not table.astype(str).apply(lambda column: column.str.contains("nan")).to_numpy().any()
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in claims)
    if name == SIMULATIONS[0] and not THOROUGH:
        return  # the smallest experiment, below, is drawn
    for file, content in experiment.figures(rows).items():
        assert file.endswith((".png", ".svg"))
        assert len(content) > 10_000


@pytest.mark.slow
def test_the_smallest_experiment_from_end_to_end(tmp_path):
    (result,) = reproduce(["figure4"], quick=True, folder=tmp_path, workers=1)
    cvs = result.rows[(result.rows["method"] == "cvs") & (result.rows["n"] == 200)]
    assert cvs["dag_distance"].mean() < 0.5
    pc = result.rows[(result.rows["method"] == "pc") & (result.rows["n"] == 200)]
    assert pc["class_distance"].mean() > 1, "X1 and X2 are adjacent and independent given X3"
    saved = pd.read_csv(tmp_path / "figure4.csv", keep_default_na=False)
    assert len(saved) == len(result.rows)
    assert "Figure 4" in (tmp_path / "figure4.md").read_text()


@pytest.mark.slow
def test_table_1_times_both_methods_on_the_same_data():
    rows = TABLE1.run(Task("table1", "homogeneous", 20, 100, 0, ""))
    assert [row["method"] for row in rows] == ["cvs", "gds"]
    assert all(row["seconds"] > 0 for row in rows)
    assert [row["method"] for row in TABLE1.run(Task("table1", "homogeneous", 80, 100, 0, ""))] == ["cvs"]


def test_table_1_says_which_data_were_refused(monkeypatch):
    X = np.random.default_rng(0).standard_normal((600, 3))
    copies = SimpleNamespace(X=X[:, [0, 1, 2, 2]])
    monkeypatch.setattr("ordag.paper.table1.replicate_of", lambda task: copies)
    place = {"experiment": "table1", "design": "homogeneous"}
    rows = [
        {**place, "p": p, "n": n, "replicate": 0, "method": name, "seconds": 0.5, "problem": ""}
        for p, paper in PAPER.items()
        for name in paper
        for n in ROWS
    ]
    refused = TABLE1.run(Task("table1", "homogeneous", 80, 600, 39, ""))
    assert refused == [{"method": "cvs", "seconds": None, "problem": "CollinearError"}]
    table = pd.DataFrame([*rows, {**place, "p": 80, "n": 600, "replicate": 39, **refused[0]}])
    assert TABLE1.claims(table)[-1] == (
        "CVS refused 1 data set at p = 80 (CollinearError); the means are over the others."
    )
    assert TABLE1.table(table).iloc[-5]["CVS s"] == "0.5000"


def test_data_past_float64_are_counted_and_no_crash():
    (row,) = BEYOND.run(Task("beyond", "homogeneous", 200, 300, 0, "cvs"))
    assert row["problem"] == "PrecisionError"
    assert row["agreement"] is None
    rows = pd.DataFrame([{**row, "method": "cvs", "p": 200}])
    assert refusals(rows) == ["CVS refused 1 data set at p = 200 (PrecisionError); the means are over the others."]


def test_agreement_of_an_order_with_the_true_arrows():
    _, fit, drawn = learned(Task("beyond", "homogeneous", 6, 5000, 0, "cvs"))
    assert agreement(fit, drawn.truth) == 1.0
    _, upside_down, _ = learned(Task("beyond", "homogeneous", 6, 5000, 0, "cvs"))
    reverse = replace(upside_down, ordering=replace(fit.ordering, order=fit.ordering.order[::-1].copy()))
    assert agreement(reverse, drawn.truth) == 0.0
    assert agreement(fit, Dag.from_edges(drawn.truth.nodes, [])) is None  # no arrow to agree with


def test_a_table_has_no_row_for_a_method_that_was_not_run():
    points = {
        "p": 5,
        "n": [100, 200],
        "dag_distance": [2.0, 1.0],
        "class_distance": [3.0, 1.0],
        "replicate": 0,
        "problem": "",
    }
    rows = pd.DataFrame({**points, "method": "cvs"})
    found = comparison_table(rows, [5, 8], [100, 200])
    assert found[["to", "p"]].to_numpy().tolist() == [["DAG", 5], ["class", 5]]


def test_names_stand_in_their_boxes_and_all_boxes_in_the_picture():
    axes = Figure().subplots()
    places = {"a": (0.0, 3.0), "b": (2.0, 1.0)}
    draw_graph(axes, places, [Line("a", "b")], (0.5, 0.25), 8.0)
    assert {text.get_text(): text.get_position() for text in axes.texts} == places
    assert axes.get_xlim() == pytest.approx((-0.6, 2.6))
    assert axes.get_ylim() == pytest.approx((0.65, 3.35))


def test_a_page_has_its_figures_its_table_and_its_sentences():
    experiment, table = SimpleNamespace(title="Shares"), pd.DataFrame({"p": [5, 10], "share": ["1 %", "2 %"]})
    files = [Path("one.png"), Path("one.svg")]
    page = markdown(experiment, table, ["So it is."], files).splitlines()
    rows = ["| p | share |", "| --- | --- |", "| 5 | 1 % |", "| 10 | 2 % |", ""]
    assert page == ["# Shares", "", "![Shares](one.png)", "", *rows, "- So it is."]
    assert markdown(experiment, None, ["So it is."], []) == "# Shares\n\n- So it is.\n"


def test_means_and_words():
    rows = pd.DataFrame({"n": [1, 1, 2], "x": [1.0, 3.0, None], "p": 5, "method": "cvs"})
    found = means(rows, ["n"], "x")
    assert found.to_dict("records") == [{"n": 1, "mean": 2.0, "error": 1.0, "count": 2}]
    assert course({1: 3.0, 2: 2.0, 3: 1.0}) == "falls from 3.0 at n = 1 to 1.0 at n = 3"
    assert course({1: 3.0, 2: 4.0, 3: 1.0}) == "falls from 3.0 at n = 1 to 1.0 at n = 3, rising at 1 of 2 steps"
    assert course({1: 3.0, 2: 4.0}) == "does not fall (from 3.0 at n = 1 to 4.0 at n = 2)"
    assert course({1: 3.0, 2: 3.0}) == "stays at 3.0"
    assert course({1: 3.0}) == "is 3.0 at n = 1"


def test_where_another_method_is_nearer_on_the_same_data():
    values = {
        "cvs": {(1, 0): (2, 2), (1, 1): (3, 3), (2, 0): (1, 1), (2, 1): (90, 90)},
        "gds": {(1, 0): (1, 2), (1, 1): (2, 5), (2, 0): (3, 3)},
    }
    rows = pd.DataFrame(
        [
            {"p": 5, "n": n, "replicate": k, "method": method, "dag_distance": dag, "class_distance": of_class}
            for method, found in values.items()
            for (n, k), (dag, of_class) in found.items()
        ]
    )
    assert against(rows, "gds", (5,)) == (
        "GDS is nearer to the truth than CVS in 1 of 2 panels (DAG, n = 1), at 1 of 4 points by more than two standard "
        "errors"
    )
    assert against(rows[rows["n"] == 2], "gds", (5,)) == "CVS is at least as near to the truth as GDS at all 2 points"
