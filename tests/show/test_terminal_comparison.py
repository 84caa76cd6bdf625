"""What is shown of a comparison is what was compared: methods, pairs in common, and pairs on which they differ."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from looks import ACTING, NAMES, SEM, cells, lines_of, rows, section
from rich.cells import cell_len

from ordag import Dag, compare
from ordag.common.words import LEFT_TO_RIGHT, shown
from ordag.show import terminal as module
from ordag.show.terminal import print_comparison

METHODS = ["pooled", "cvs", "pc", "ges", "gds"]


@pytest.fixture(scope="module")
def comparison():
    """One in which pc and ges leave an edge open, and cvs is made to differ from the others."""
    found = compare(rows(), METHODS, truth=SEM, seed=1, settings={"cvs": {"alpha": 0.3}})
    assert len({outcome.fit.graph.edge_count for outcome in found.outcomes}) > 1
    return found


def number(cell):
    return None if cell == "–" else float(cell)


def test_the_table_of_methods_has_their_numbers(comparison):
    table = comparison.table
    titles = {"arrows": "directed", "undirected": "undirected", "BIC": "bic", "distance to DAG": "hamming",
              "distance to class": "class_hamming"}  # fmt: skip
    for lines in (repr(comparison).splitlines(), lines_of(print_comparison, comparison, "t.csv")[2:8]):
        head, *found = [cells(line) for line in lines]
        assert [row[0] for row in found] == METHODS
        assert set(head) == {"method", "seconds", *titles}
        for title, key in titles.items():
            np.testing.assert_allclose([number(row[head.index(title)]) for row in found], table[key], rtol=1e-6)


def test_the_columns_of_the_plain_table_line_up(comparison):
    lines = repr(comparison).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "distance" not in repr(compare(rows(), ["cvs", "pc"]))


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_and_do_nothing_to_the_screen(comparison, width):
    lines = lines_of(print_comparison, comparison, "t.csv", width=width)
    assert max(map(cell_len, lines)) <= width
    assert not ACTING.search("\n".join(lines))
    assert lines[0] == "Ordag · t.csv · 300 rows · 6 variables"


def test_pairs_in_common_are_counted(comparison):
    head, *found = [cells(line) for line in section(lines_of(print_comparison, comparison), "Adjacent pairs in common")]
    assert head == [row[0] for row in found] == METHODS
    skeletons = [{frozenset(e) for e in (*g.directed, *g.undirected)} for g in (comparison[m].graph for m in METHODS)]
    assert [[int(cell) for cell in row[1:]] for row in found] == [[len(a & b) for b in skeletons] for a in skeletons]


def test_pairs_on_which_methods_differ_are_listed_with_their_marks(comparison):
    lines = lines_of(print_comparison, comparison)
    graphs = [SEM.dag, *(comparison[m].graph for m in METHODS)]
    said = [re.match(r"All agree on (\d+) pairs?, and differ on (\d+)", line) for line in lines]
    (agreed, differing), start = next((m.groups(), k) for k, m in enumerate(said) if m)
    wanted = {}
    for i, a in enumerate(NAMES):
        for b in NAMES[i + 1 :]:
            marks = [
                "→" if (a, b) in g.directed else "←" if (b, a) in g.directed
                else "—" if {(a, b), (b, a)} & set(g.undirected) else ""
                for g in graphs
            ]  # fmt: skip
            if any(marks):
                wanted[f"{shown(a)} · {shown(b)}".replace(LEFT_TO_RIGHT, "")] = marks
    split = {pair: marks for pair, marks in wanted.items() if len(set(marks)) > 1}
    assert (int(agreed), int(differing)) == (len(wanted) - len(split), len(split))
    head, *rows_ = lines[start + 1 :]
    assert head.split() == ["truth", *METHODS]
    ends = [head.index(name) + len(name) - 1 for name in head.split()]
    found = {}
    for row in (row.replace(LEFT_TO_RIGHT, "") for row in rows_):  # it takes no place on the screen
        pair = row[: ends[0] - len("truth") + 1].strip()
        found[pair] = [row[end].strip() if end < len(row) else "" for end in ends]
    assert found == split


def test_what_a_method_refuses_is_said_and_the_others_stand(comparison):
    cvs, ges = comparison.outcomes[1], comparison.outcomes[3]
    warned = replace(cvs, fit=replace(cvs.fit, warnings=("Mind [b]the[/b] gap.",)))
    failed = replace(ges, fit=None, problem="There is [red]no[/red] such graph.", bic=float("nan"), hamming=None)
    refused = replace(comparison, outcomes=(warned, failed))
    lines = lines_of(print_comparison, refused, "t")
    assert "cvs: Mind [b]the[/b] gap." in lines
    assert "ges: There is [red]no[/red] such graph." in lines
    head, _, row = map(cells, repr(refused).splitlines())
    assert {title for title, cell in zip(head, row, strict=True) if cell == "–"} == {
        "arrows", "undirected", "BIC", "distance to DAG",
    }  # fmt: skip
    assert "Adjacent pairs in common" not in lines


def test_a_warning_of_several_methods_is_said_once(comparison):
    def telling(outcome, *sentences):
        return replace(outcome, fit=replace(outcome.fit, warnings=sentences))

    pooled, cvs, *others = comparison.outcomes
    some = (telling(pooled, "All say.", "Two say."), telling(cvs, "Two say.", "All say.", "All say."))
    every = some + tuple(telling(one, "All say.") for one in others)
    lines = lines_of(print_comparison, replace(comparison, outcomes=every), "t")
    assert [line for line in lines if "say." in line] == [
        "Warning All say.",
        f"{pooled.method}, {cvs.method}: Two say.",
    ]


def test_long_lists_end_with_how_many_more_there_are(comparison, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 1)
    full = Dag(NAMES, np.triu(np.ones((6, 6), dtype=bool), 1))
    lines = lines_of(print_comparison, replace(comparison, truth=full))
    differing = next(int(m[1]) for m in (re.search(r"differ on (\d+)", line) for line in lines) if m)
    assert differing > 5
    assert lines[-1] == f"  … and {differing - 1} more pairs: see --json"
