"""What `print(fit)` says is what the fit holds, and the sentences on chance, resamples and scores are true."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from looks import ACTING, KINDS, NAMES, fit_of, lines_of, rows, wide_fit

import ordag
from ordag.common.words import shown
from ordag.show.cells import arrows, legend, margin
from ordag.show.document import document
from ordag.show.terminal import print_fit
from ordag.show.text import left_out, order_title, resampled, scored, summary


def test_margins_are_in_percent_and_from_twice_on_in_times():
    assert [margin(x) for x in (0.004, 0.531, 0.9994, 1.0, 2.5, float("nan"))] == [
        "0.4 %", "53.1 %", "99.9 %", "2 ×", "3.5 ×", "",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_has_the_sizes_the_order_and_every_arrow(kind):
    fit = fit_of(kind)
    first, *lines = summary(fit).splitlines()
    edges = len(fit.graph.directed) + len(fit.graph.undirected)
    n = 200 if kind == "no edges" else 300
    assert first == f"Fit: {fit.method} · {n} rows · 6 variables · {edges} edges"
    order = [line.removeprefix("order  ").split(" < ") for line in lines if line.startswith("order  ")]
    assert order == ([] if fit.order is None else [[shown(name) for name in fit.order]])
    pointing = dict(
        re.split(r" +(?=[→—] )", line.strip(), maxsplit=1) for line in lines if re.match(r"  .*[→—] ", line)
    )
    for name in fit.names:
        children, neighbours = set(fit.graph.children(name)), set(fit.graph.neighbours(name))
        assert (shown(name) in pointing) == bool(children | neighbours)
        if children | neighbours:
            found = re.findall(r"([→—]) (.*?)(?=   |$)", pointing[shown(name)])
            assert {mark: set(names.split(", ")) for mark, names in found} == {
                mark: {shown(one) for one in some} for mark, some in (("→", children), ("—", neighbours)) if some
            }
    assert not ACTING.search(summary(fit))
    assert repr(fit) == summary(fit)


def test_an_order_is_one_of_several_where_every_direction_is_open():
    a = np.random.default_rng(0).standard_normal(40)
    X = np.column_stack([a, a + np.random.default_rng(1).standard_normal(40)])
    fit = ordag.learn(X, draws=0)
    opened = ordag.learn(X, draws=8)
    assert list(opened.edges["reason"]) == ["open"]
    for one, title in (
        (opened, "One order that fits, causes first"),
        (fit, "Order, causes first"),
        (ordag.learn(X, "cvs"), "Order, causes first"),
    ):
        assert order_title(one) == document(one)["order_title"] == title
        assert title in lines_of(print_fit, one)


def test_one_of_each_is_said_in_the_singular():
    fit = ordag.learn(rows()[list(NAMES[4:])], "cvs")
    assert "2 variables · 1 edge\n" in summary(fit) + "\n"


def test_rows_that_were_dropped_are_counted():
    table = rows().copy()
    table.iloc[:7, 0] = float("nan")
    fit = ordag.learn(table, "cvs", missing="drop")
    assert "293 rows, 7 rows with missing values dropped" in summary(fit)


def test_long_fits_are_cut_short():
    fit = wide_fit()
    text = summary(fit, most=10)
    assert text.count(" < ") == 10
    assert " < …" in text
    pointing = sum(fit.graph.adjacency.any(axis=1))
    assert f"  … and {pointing - 10} more: see .edges" in text.splitlines()
    assert len(arrows(fit)) == 50
    assert " < …" not in summary(fit, most=50)
    assert "more: see .edges" not in summary(fit, most=pointing)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cvs", "about 0.15 false edges expected by chance alone (level 0.01 × 15 pairs tested)"),
        ("no edges", "about 0.01 false edges expected (Bonferroni at 0.01 over 15 pairs)"),
        ("bh", "(a false-discovery rate of edges of 0.01 over 15 pairs; wrong directions come on top)"),
        ("bic", "along this order (BIC at 300 rows, 15 pairs)"),
        ("adaptive", "of 15 pairs joined, penalty"),
    ],
)
def test_edges_by_chance_are_counted_as_the_selection_counts_them(kind, words):
    fit = fit_of(kind)
    assert words in fit.result.note(fit)
    said = float(fit.result.note(fit).removeprefix("about ").split()[0])
    assert said == pytest.approx(fit.expected_false_edges, rel=0.06)
    assert (kind != "cvs") or fit.expected_false_edges == pytest.approx(15 * fit.settings["alpha"])


def test_sentences_that_do_not_apply_are_empty():
    assert {kind for kind in KINDS if not fit_of(kind).result.note(fit_of(kind))} == {
        "pooled",
        "class",
        "scored class",
        "searched",
    }
    assert {kind for kind in KINDS if resampled(fit_of(kind))} == {"pooled", "bootstrap"}
    assert {kind for kind in KINDS if left_out(fit_of(kind))} == {"small"}
    assert {kind for kind in KINDS if scored(fit_of(kind))} == {"pooled", "scored class", "searched"}
    assert {kind for kind in KINDS if "p edge: " in " ".join(legend(fit_of(kind)))} == {
        "cvs", "bh", "bic", "adaptive", "bootstrap", "knowledge", "small",
    }  # fmt: skip
    assert {kind for kind in KINDS if "robust: " not in " ".join(legend(fit_of(kind)))} == {
        "no edges",
        "class",
        "scored class",
    }


def test_support_is_that_of_so_many_resamples_and_their_edges():
    fit = fit_of("bootstrap")
    joined = fit.support.adjacency_support.sum() / 2
    said = resampled(fit)
    assert said.startswith(
        f"support: the share of 20 resamples that have the arrow; their graphs average {joined:.1f} edges"
    )
    assert said.count(f"this one has {fit.graph.edge_count}") == 1
    assert ("more than new tables would give" in said) == (joined > 1.1 * fit.graph.edge_count)
    sparse = replace(fit, graph=ordag.Dag.from_edges(NAMES, fit.graph.directed[1:]))
    assert "more than new tables would give, so chance edges have support too" in resampled(sparse)


def test_edges_left_out_are_counted():
    fit = fit_of("small")
    whole = ordag.learn(rows(), "cvs", alpha=0.3)
    count = whole.graph.edge_count - fit.graph.edge_count
    assert count > 0
    assert left_out(fit) == f"{count} edge{'s' if count > 1 else ''} with a standardised effect below 0.2 left out"


@pytest.mark.slow
def test_the_table_of_arrows_says_which_regressions_its_numbers_are_from(run):
    """The weight is given the other parents, the p-value of cvs given all earlier variables: .548/.178 beside p = .034."""
    words = "weight and s.e.: given the target's other parents; p edge: given all earlier variables"
    _, out, _ = run("learn", "marks", "--method", "cvs", "--alpha", "0.05")
    assert words in " ".join(out.split())
    for other in ("gds", "pooled"):
        assert "p edge: given" not in run("learn", "marks", "--method", other)[1]
    out = run("learn", "marks", "--method", "pc", "--alpha", "0.05", "--orient-by-order")[1]
    assert "p edge: the largest of all tests of the pair" in " ".join(out.split())
