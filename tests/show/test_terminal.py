"""What a terminal shows of a fit is what the fit holds: every row, every number, every name, at every width."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from looks import ACTING, KINDS, NAMES, cells, fit_of, lines_of, section, wide_fit
from rich.cells import cell_len

from ordag.common.words import harmless, shown
from ordag.show.terminal import MOST_ROWS, print_fit

NUMBERS = {
    "weight": ("weight", 1.0, 1e-3),
    "s.e.": ("std_error", 1.0, 6e-2),
    "robust": ("robustness", 0.01, 1.0),
    "p edge": ("p_value", 1.0, 6e-2),
    "p direction": ("direction_p_value", 1.0, 6e-2),
    "arrow": ("probability", 0.01, 1.0),
    "edge": ("edge_probability", 0.01, 1.0),
    "support": ("support", 0.01, 1.0),
}
"""Titles of columns with what is in them, in which unit, and how far rounding may take it."""


def read(cell):
    return 0.0 if cell == "< 1e-16" else float(cell.removesuffix(" %"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_and_do_nothing_to_the_screen(kind, width):
    lines = lines_of(print_fit, fit_of(kind), "a\u202etable.csv", width=width)
    assert max(map(cell_len, lines)) <= width
    assert not ACTING.search("\n".join(lines))
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_arrows_has_the_numbers_of_the_fit(kind):
    fit = fit_of(kind)
    table = section(lines_of(print_fit, fit), "Arrows")
    if kind == "no edges":
        assert table == ["  none"]
        return
    head, *rows = [cells(line) for line in table if "→" in line or "source" in line]
    assert [(row[0], row[2]) for row in rows] == [
        (shown(a), shown(b)) for a, b in fit.edges[["source", "target"]].to_numpy()
    ]
    assert {"weight", "s.e."} <= set(head) or kind in ("class", "scored class")
    for k, title in enumerate(head):
        found = [row[k + 1 if k else 0] for row in rows]
        if title == "direction":
            assert found == fit.edges["reason"].tolist()
        elif title in NUMBERS:
            key, unit, rounding = NUMBERS[title]
            close = {"rtol": rounding} if unit == 1.0 else {"atol": 0.006}
            np.testing.assert_allclose(
                [read(cell) * unit for cell in found], fit.edges[key], **{"atol": 1e-16, **close}
            )
    wanted = {title for title, (key, _, _) in NUMBERS.items() if key in fit.edges} | {"direction"}
    assert wanted - set(head) == ({"p edge"} if kind == "pooled" else set())  # where there are probabilities


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_narrow_table_leaves_out_is_named(kind):
    whole = [set(cells(line)) for line in lines_of(print_fit, fit_of(kind)) if "source" in line]
    lines = lines_of(print_fit, fit_of(kind), width=60)
    heads = [set(cells(line)) for line in lines if "source" in line]
    said = (
        " ".join(line.strip() for line in section(lines, "Arrows"))
        .partition("left out at this width: ")[2]
        .partition(";")[0]
    )
    left_out = {title for title in said.split(", ") if title}
    if whole:
        assert "weight" not in left_out
        # A title may stand on two lines, its first word above.
        present = {title for title in whole[0] if title in heads[0] or title.split()[-1] in heads[0]}
        assert present | left_out == whole[0]
        assert not {title for title in left_out if title in heads[0]}
        explained = " ".join(" ".join(section(lines, "Arrows")).split())
        assert ("robust: the share" in explained) == ("robust" in present)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "first_to_last"),
    [
        ("bootstrap", ["robust", "s.e.", "p direction", "p edge", "direction", "support"]),
        ("pooled", ["robust", "s.e.", "edge", "direction", "support", "arrow"]),
    ],
)
def test_what_matters_most_is_left_out_last(kind, first_to_last):
    counts = set()
    for width in range(40, 112, 4):
        text = " ".join(" ".join(section(lines_of(print_fit, fit_of(kind), width=width), "Arrows")).split())
        said = re.findall(r"left out at this width: (.*?);", text)
        left_out = said[0].split(", ") if said else []
        assert set(left_out) == set(first_to_last[: len(left_out)])
        counts.add(len(left_out))
    assert counts == set(range(len(first_to_last) + 1))


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_there_arrow_by_arrow(kind):
    fit = fit_of(kind)
    lines = [cells(line) for line in section(lines_of(print_fit, fit), "Graph")]
    assert [line[0] for line in lines] == [shown(name) for name in fit.order or fit.names]
    arrows, joined = set(), set()
    for name, *pointing in lines:
        for part in pointing:
            others = part[2:].split(", ")
            (arrows if part.startswith("→ ") else joined).update((name, other) for other in others)
    assert arrows == {(shown(a), shown(b)) for a, b in fit.graph.directed}
    assert joined == {(shown(x), shown(y)) for a, b in fit.graph.undirected for x, y in ((a, b), (b, a))}


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("pooled", "class", "scored class", "searched")]
)
def test_the_steps_have_variances_margins_and_ties(kind):
    fit = fit_of(kind)
    head, *rows = [
        cells(line) for line in section(lines_of(print_fit, fit), "Order, causes first") if "!" not in line[:4]
    ]
    assert head[:4] == ["step", "variable", "variance given earlier", "margin to runner-up"]
    assert [row[:2] for row in rows] == [[str(k + 1), shown(name)] for k, name in enumerate(fit.order)]
    np.testing.assert_allclose([float(row[2]) for row in rows], fit.steps["variance"], rtol=1e-3)
    for row, margin, node, tied, matters in zip(
        rows, *(fit.steps[key] for key in ("margin", "node", "tied", "tie_matters")), strict=True
    ):
        others = [shown(name) for name in tied if name != node]
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        wanted = [", ".join(others[:3]) + more + (" !" if matters else "")] if others else []
        if np.isnan(margin):
            assert row[3:] == wanted
        else:
            found = (
                float(row[3].removesuffix(" %")) / 100 if row[3].endswith("%") else float(row[3].removesuffix(" ×")) - 1
            )
            assert found == pytest.approx(margin, rel=0.01, abs=5.1e-4)
            assert row[4:] == wanted


def test_a_tie_with_an_edge_in_it_is_marked_and_explained():
    fit = fit_of("knowledge")
    lines = lines_of(print_fit, fit)
    assert fit.steps["tie_matters"].any() == any(line.startswith("  ! the graph has an edge") for line in lines)


def test_edges_without_direction_have_their_p_values():
    fit = fit_of("class")
    (head, *rows) = [cells(line) for line in section(lines_of(print_fit, fit), "Without direction")]
    assert head == ["p edge"]
    assert [(row[0], row[2]) for row in rows] == [(shown(a), shown(b)) for a, b in fit.graph.undirected]
    for (a, b), row in zip(fit.graph.undirected, rows, strict=True):
        assert read(row[3]) == pytest.approx(fit.result.p_values[NAMES.index(a), NAMES.index(b)], rel=0.06, abs=1e-16)
    assert [row[1] for row in rows] == ["—"]
    rows = [cells(line) for line in section(lines_of(print_fit, fit_of("scored class")), "Without direction")]
    assert [len(row) for row in rows] == [3]
    assert "Without direction" not in lines_of(print_fit, fit_of("cvs"))


def test_the_last_sentences_are_those_that_apply():
    said = {kind: lines_of(partial(print_fit, verbose=True), fit_of(kind), width=2000)[-4:] for kind in KINDS}
    assert any(line.startswith("support: the share of 20 resamples") for line in said["bootstrap"])
    assert any("standardised effect below 0.2 left out" in line for line in said["small"])
    assert any(line.startswith(f"score {fit_of('searched').score:.6g}") for line in said["searched"])
    assert not any(line.startswith("score") for line in said["cvs"])
    for kind in KINDS:
        assert any("expected" in line for line in said[kind]) == (fit_of(kind).selection is not None)


def test_the_verdict_and_the_warnings_are_printed_whole():
    for kind in KINDS:
        fit = fit_of(kind)
        brief, whole = (
            " ".join(" ".join(lines_of(partial(print_fit, verbose=verbose), fit, width=60)).split())
            for verbose in (False, True)
        )
        for sentence in (fit.verdict.sentence, *fit.warnings):
            assert " ".join(harmless(sentence).split()) in brief
        assert " ".join(harmless(fit.verdict.help).split()) in whole
        assert fit.verdict.sentence.count(". ") <= 2
    assert fit_of("small").warnings
    assert any(line.startswith("Warning ") for line in lines_of(print_fit, fit_of("small")))


@pytest.mark.slow
def test_long_lists_end_with_how_many_more_there_are():
    fit = wide_fit()
    lines = lines_of(print_fit, fit)
    steps = section(lines, "Order, causes first")
    assert f"  … and {50 - MOST_ROWS} more steps: see --json or --out" in steps
    assert sum(line.split()[0].isdigit() for line in steps) == MOST_ROWS
    arrows = section(lines, "Arrows")
    assert sum("→" in line for line in arrows) == MOST_ROWS
    assert f"  … and {len(fit.edges) - MOST_ROWS} more arrows: see --json or --out" in arrows
    pointing = sum(fit.graph.adjacency.any(axis=1))
    assert f"  … and {pointing - MOST_ROWS} more variables: see --json or --out" in section(lines, "Graph")


def test_colours_are_the_screens_and_markup_in_names_is_text():
    fit = fit_of("cvs")
    coloured = "\n".join(lines_of(print_fit, fit, color_system="standard", force_terminal=True))
    assert "\x1b[1m" in coloured
    assert "[red]mark[/red]" in coloured
    assert "\x1b[31m" not in coloured
    assert r"\x1b[31ma & b;" in coloured
