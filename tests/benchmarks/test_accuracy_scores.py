"""From a method's matrix to a score, into the store, and out again as means and comparisons."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ordag
from benchmarks.accuracy import page
from benchmarks.accuracy.calls import Answer
from benchmarks.accuracy.cells import CELLS
from benchmarks.accuracy.methods import OWN, adjustment, at_best_threshold, at_default_threshold, score
from benchmarks.accuracy.run import Job, run
from benchmarks.accuracy.store import Store, stored
from benchmarks.accuracy.summary import Summary
from benchmarks.accuracy.worker import _marks

TRUTH = ordag.Dag.from_edges(["X1", "X2", "X3"], [("X1", "X2"), ("X2", "X3")])
CELL = CELLS[0]


def mask(*arrows):
    found = np.zeros((3, 3), dtype=bool)
    for i, j in arrows:
        found[i - 1, j - 1] = True
    return found


def test_a_turned_arrow_counts_two_entries_and_one_pair():
    found = score(mask((2, 1), (2, 3)), TRUTH, gives_class=False)
    found.pop("adjustment")
    assert found == {"hamming": 2, "shd": 1, "turned": 1, "joined": 2, "class_hamming": 0, "edges": 2}


def test_the_class_of_the_truth_is_right_as_a_class_only():
    found = score(mask((1, 2), (2, 1), (2, 3), (3, 2)), TRUTH, gives_class=True)
    found.pop("adjustment")
    assert found == {"hamming": 2, "shd": 2, "turned": 0, "joined": 0, "class_hamming": 0, "edges": 2}


def test_a_graph_with_a_cycle_is_scored_as_it_is():
    assert score(mask((1, 2), (2, 3), (3, 1)), TRUTH, gives_class=False)["hamming"] == 1


def test_parents_that_adjust_wrongly_are_counted():
    pytest.importorskip("gadjid")
    assert adjustment(TRUTH.adjacency, TRUTH) == 0.0
    # with X1 → X2 turned, the pairs (X1, X2), (X1, X3) and (X2, X1) have wrong adjustment sets
    assert adjustment(mask((2, 1), (2, 3)), TRUTH) == pytest.approx(3 / 6)
    assert adjustment(mask((1, 2), (2, 1), (2, 3), (3, 2)), TRUTH) == 1.0  # a class that leaves all parents open
    assert adjustment(mask((1, 2), (2, 3), (3, 1)), TRUTH) is None


def test_the_best_threshold_knows_the_truth_and_the_default_does_not():
    weights = np.array([[0.0, 0.2, 0.0], [0.1, 0.0, 0.9], [0.0, 0.0, 0.0]])
    assert np.array_equal(at_best_threshold(weights, TRUTH), TRUTH.adjacency)
    assert np.array_equal(at_default_threshold(weights, TRUTH), mask((2, 3)))


def test_marks_of_causal_learn_are_read_from_tail_to_head():
    class Graph:
        graph = np.array([[0, -1, 0], [1, 0, -1], [0, -1, 0]])  # X1 → X2 — X3

    assert np.array_equal(_marks(Graph), mask((1, 2), (2, 3), (3, 2)))


def record(table, method, hamming, status="ok"):
    scores = dict.fromkeys(("shd", "turned", "joined", "class_hamming", "edges", "cpu_seconds"), hamming)
    return {"cell": CELL.name, "table": table, "method": method, "hamming": hamming, **scores, "status": status}


def test_a_store_goes_on_where_it_was_and_forgets_a_method(tmp_path):
    first = Store(tmp_path, "ours")
    first.add(record(0, "ges", 3))
    first.add(record(0, "gds", 5))
    Store(tmp_path, "peers").add(record(0, "DAGMA", 4))
    with (tmp_path / "ours.jsonl").open("a") as file:
        file.write('{"cell": "cut sh')
    again = Store(tmp_path, "ours")
    assert len(again.done) == 3
    again.forget("ges")
    assert {key[2] for key in stored(tmp_path)} == {key[2] for key in again.done} == {"gds", "DAGMA"}
    again.add(record(0, "ges", 1))
    assert stored(tmp_path)[CELL.name, 0, "ges"]["hamming"] == 1


def test_comparisons_are_paired_over_shared_tables():
    lines = [record(table, "ges", 10 + table) for table in range(4)]
    lines += [record(table, "DAGMA", 9 + table) for table in range(2)]
    lines += [record(0, "DirectLiNGAM", 0, "timeout")]
    summary = Summary({(line["cell"], line["table"], line["method"]): line for line in lines})
    assert summary[CELL, "ges"].estimate("hamming").mean == 11.5
    assert summary[CELL, "ges"].estimate("hamming").error == pytest.approx(math.sqrt(5 / 3) / 2)
    assert summary.difference(CELL, "ges", "DAGMA") == (1.0, 0.0)
    assert summary.better(CELL, "ges") == ["DAGMA"]
    assert summary.best(CELL, "DAGMA")
    assert not summary.best(CELL, "DirectLiNGAM")
    assert summary.counts([CELL], "DAGMA", "ges") == (2, 0, 0)


def summary_of(*lines):
    return Summary({(line["cell"], line["table"], line["method"]): line for line in lines})


def test_a_table_without_a_score_is_left_out_of_the_comparison():
    ours = [record(table, "pooled", 4) | {"adjustment": 0.4} for table in range(3)]
    theirs = [record(table, "FLOP", 4) | {"adjustment": share} for table, share in enumerate((0.1, None, 0.3))]
    summary = summary_of(*ours, *theirs)
    assert summary.difference(CELL, "pooled", "FLOP", "adjustment").mean == pytest.approx(0.2)
    assert summary.counts([CELL], "pooled", "FLOP", "adjustment") == (0, 0, 2)


def test_the_page_lists_who_is_better_and_by_how_much():
    ours = [record(table, "pooled", 4 + table) | {"class_hamming": 1} for table in range(3)]
    theirs = [record(table, "FLOP", 2 + table) | {"class_hamming": 2} for table in range(3)]
    listed = page._not_best(summary_of(*ours, *theirs), "pooled")
    assert listed.splitlines()[-1] == f"| {CELL.name} | final | FLOP by 2.0 ± 0.0 | – | – |"
    assert page._not_best(summary_of(*ours), "pooled").splitlines()[-1] == "None."
    level = [record(table, "FLOP", 4 + table - gap) for table, gap in enumerate((0, 3))]  # by 1.5 ± 1.5
    assert not summary_of(*ours, *level).better(CELL, "pooled")
    single = page._not_best(summary_of(*ours, theirs[0]), "pooled")
    assert single.splitlines()[-1] == f"| {CELL.name} | final | FLOP by 2.0 (one table) | – | – |"


def test_a_run_with_few_tables_says_so():
    lines = [record(table, "pooled", 4) for table in range(page.ENOUGH)]
    assert page._unfinished(summary_of(*lines)) == []
    (warning,) = page._unfinished(summary_of(*lines, record(0, "FLOP", 4)))
    assert "FLOP: 1." in warning
    assert "pooled" not in warning


def test_all_methods_have_the_first_table_before_any_has_the_second(tmp_path):
    seen = []

    class Idle:
        def __init__(self, name, late=()):
            self.name, self.late = name, late

        def __call__(self, X):
            p = X.shape[1]
            seen.append((self.name, p))
            status = "timeout" if p in self.late else "ok"
            return Answer(None if p in self.late else np.zeros((p, p)), status, 0.0, 0.0)

    cells = [cell for cell in CELLS if cell.name in ("ER2 p5 n200", "complete p8 n2000 ×5")]
    store = Store(tmp_path, "ours")
    jobs = [Job(OWN[0], store, Idle("first"), 2), Job(OWN[1], store, Idle("second", late=(8,)), 3)]
    run(jobs, cells, None)
    once = [("first", 5), ("first", 8), ("second", 5), ("second", 8)]
    assert seen == [*once, *once[:3], ("second", 5)]
    assert stored(tmp_path)["complete p8 n2000 ×5", 0, "cvs, tests at 1 %"]["status"] == "timeout"


def test_the_section_on_sizes_is_taken_from_the_benchmarks():
    benchmarks = "<!-- search -->\nA\n\n<!-- sizes -->\n## Sizes\n\nB\n\n<!-- gpu -->\nC\n"
    assert page._sizes(benchmarks) == "## Sizes\n\nB\n"
