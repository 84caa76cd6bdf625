"""What is shown of a diagnosis: the verdict, then every finding once, by its level."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from looks import ACTING, lines_of, rows
from rich.cells import cell_len

from ordag import Moments
from ordag.assess.finding import LEVELS, Caution, Finding
from ordag.assess.verdict import TIERS, Verdict
from ordag.checking import TITLES
from ordag.checking import check as diagnose
from ordag.common.words import harmless
from ordag.show.screen import Screen
from ordag.show.terminal import STYLES, print_diagnosis, print_verdict


@pytest.fixture(scope="module")
def diagnosis():
    """With findings of all levels: a curved column, and rows that are known by their moments for one of them."""
    table = rows().copy()
    table["<curved>"] = table.iloc[:, 0] ** 3
    found = diagnose(table, method="cvs")
    return replace(
        found, findings=(*found.findings, Finding("left_open", "unchecked", "not checked: [b]for[/b] a test."))
    )


def words(lines):
    return " ".join(" ".join(lines).split())


def test_every_level_has_its_words():
    assert set(TITLES) == set(STYLES) == set(LEVELS)
    assert [TIERS[tier][0] for tier in TIERS] == ["1", "2", "3", "4"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_every_finding_is_printed_once_under_its_level(diagnosis, width):
    lines = lines_of(print_diagnosis, diagnosis, "t.csv", width=width)
    assert max(map(cell_len, lines)) <= width
    assert not ACTING.search("\n".join(lines))
    assert {f.level for f in diagnosis.findings} == set(LEVELS)
    places = [lines.index(TITLES[level]) for level in LEVELS]
    assert places == sorted(places)
    for level, start, end in zip(LEVELS, places, [*places[1:], len(lines)], strict=True):
        text = words(lines[start + 1 : end])
        mine = [f for f in diagnosis.findings if f.level == level]
        for finding in mine:
            assert text.count(" ".join(f"{finding.title} {harmless(finding.sentence)}".split())) == 1
        assert len(text) == len(" ".join(" ".join(f"{f.title} {harmless(f.sentence)}" for f in mine).split()))


def test_the_plain_text_has_the_same_findings(diagnosis):
    text = repr(diagnosis)
    assert repr(diagnosis) == text
    assert (
        text.splitlines()[0] == f"Diagnosis: check · 300 rows · 7 variables · {diagnosis.fit.graph.edge_count} arrows"
    )
    flat = words(text.splitlines())
    for finding in diagnosis.findings:
        if finding.level == "unchecked":
            assert finding.title in flat.partition("Not checked ")[2].split(", ")
        else:
            assert flat.count(f"{finding.title} {' '.join(finding.sentence.split())}") == 1
    assert " ".join(diagnosis.verdict.sentence.split()) in flat


def test_without_rows_their_findings_are_listed_as_not_checked():
    diagnosis = diagnose(Moments.from_rows(rows().to_numpy()), method="cvs")
    unchecked = [f.title for f in diagnosis.findings if f.level == "unchecked"]
    assert len(unchecked) > 5
    assert repr(diagnosis).splitlines()[-2:] == ["Not checked", f"  {', '.join(unchecked)}"]


@pytest.mark.parametrize("tier", [*TIERS, None])
def test_a_verdict_has_its_tier_sentence_and_help(tier):
    verdict = Verdict(
        tier,
        "At length.",
        numbers={"probabilities": "From a sum."},
        sentence="It rests on [green]x[/green] and \x1b[1m.",
    )
    lines = lines_of(partial(print_verdict, verbose=True), verdict)
    assert lines[0] == ("Verdict" if tier is None else f"Verdict · {TIERS[tier]}")
    assert lines[1] == r"  It rests on [green]x[/green] and \x1b[1m."
    assert lines[2] == f"  {verdict.help}"
    assert verdict.help.startswith("At length.")
    assert verdict.help.endswith("From a sum.")
    assert lines_of(print_verdict, verdict) == lines[:2]


def test_the_first_caution_is_said_once():
    first, second = Caution("a", "Rows are alike.", "Take one of each."), Caution("b", "One row decides.", "Check it.")
    verdict = Verdict(
        None, "At length.", sentence="Few are wrong. Rows are alike. Take one of each.", cautions=(first, second)
    )
    assert lines_of(partial(print_verdict, verbose=True), verdict)[1:] == [
        "  Few are wrong. Rows are alike. Take one of each.",
        "  At length. One row decides.",
    ]


def test_settings_are_written_as_the_screen_writes_them(capsys):
    verdict = Verdict(None, "", sentence="Learn with units='x' (--units x).")
    print_verdict(verdict, Screen(lambda words: words.replace("units='x' (--units x)", "--units x")))
    assert capsys.readouterr().out.splitlines()[1] == "  Learn with --units x."


def test_the_warnings_of_the_fit_come_last(diagnosis):
    fit = replace(diagnosis.fit, warnings=("Mind the gap.",))
    lines = lines_of(print_diagnosis, replace(diagnosis, fit=fit))
    assert lines[-2:] == ["", "Warning Mind the gap."]
    assert lines[0].startswith("Ordag · check · 300 rows")
