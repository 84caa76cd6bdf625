"""Options that would have no effect are refused by name, and methods that draw lots have a seed that is said."""

from __future__ import annotations

import json

import pytest

import ordag


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "marks", "--workers", "2"], "--workers has an effect only with --bootstrap"),
        (["learn", "marks", "--parents", "bic", "--alpha", "0.1"], "--alpha is the level of tests, and --parents bic"),
        (["learn", "marks", "--parents", "adaptive", "--correction", "bh"], "--correction bh"),
        (["learn", "marks", "--method", "cvs", "--seed", "1"], "seed"),
        (["learn", "marks", "--groups", ";;"], "names no column"),
        (["check", "marks", "--groups", ";;"], "names no column"),
        (["effect", "marks", "--from", "algebra", "--to", "vectors", "--method", "pc"], "add --orient-by-order"),
        (["effect", "marks", "--from", "algebra", "--to", "vectors", "--method", "ges"], "add --orient-by-order"),
        (["compare", "marks", "-p", "3"], "--variables has an effect only with --simulate"),
        (["compare", "marks", "-n", "1000"], "--rows has an effect only with --simulate"),
        (["compare", "--simulate", "4.3", "--columns", "X1,X2"], "--columns has an effect only with DATA"),
        (["compare", "--simulate", "4.3", "--missing", "drop"], "--missing has an effect only with DATA"),
        (["compare", "marks", "--methods", "cvs,ges", "--seed", "1"], "seed"),
        (["compare", "marks", "--methods", "cvs,cvs"], "once"),
        (["compare", "marks", "--methods", "cvs", "--parents", "bic", "--alpha", "0.1"], "--alpha is the level"),
        (["reproduce", "--list", "--quick"], "--quick has no effect with --list"),
        (["reproduce", "marks", "--replicates", "3"], "--replicates has no effect on marks"),
        (["reproduce", "marks", "--complete"], "--complete has no effect on marks"),
    ],
)
def test_options_without_effect(run, words, said):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_settings_for_text_are_for_text(run, tmp_path):
    assert run("simulate", "-p", "3", "-n", "50", "--seed", "1", "--out", "d.parquet")[0] == 0
    for words in (["--separator", ";"], ["--decimal", ","], ["--encoding", "latin-1"], ["--no-header"]):
        assert "d.parquet is not read as text" in run("learn", "d.parquet", *words)[2]
    with pytest.raises(ordag.OrdagError, match="separator"):
        ordag.learn([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]], separator=";")
    with pytest.raises(ordag.OrdagError, match="separator"):
        ordag.learn(ordag.Moments.scan("marks"), separator=";")


@pytest.mark.thorough
def test_the_advice_for_effects_can_be_followed(run):
    with pytest.raises(ordag.OrdagError, match="orient_by_order='class'"):
        ordag.effect(ordag.learn("marks", "pc"), "algebra", "vectors")
    words = ["effect", "marks", "--from", "algebra", "--to", "vectors", "--method", "pc", "--alpha", "0.05"]
    assert run(*words, "--orient-by-order")[0] == 0


@pytest.mark.slow
def test_lots_are_drawn_with_a_seed_that_is_said(run):
    one, two = (ordag.learn("sachs", "gds") for _ in range(2))
    assert one.settings["seed"] == 0
    assert (one.graph, one.details) == (two.graph, two.details)
    assert json.loads(run("learn", "marks", "--method", "gds", "--json")[1])["settings"]["seed"] == 0
    assert ordag.GDS().random_state == 0


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "marks"],
        ["learn", "marks", "--method", "gds"],
        ["learn", "marks", "--bootstrap", "3", "--workers", "1"],
        ["check", "marks"],
        ["compare", "marks"],
        ["compare", "--simulate", "4.3"],
        ["simulate"],
    ],
)
def test_a_seed_is_not_negative(run, words):
    status, out, err = run(*words, "--seed", "-1")
    assert (status, out) == (2, "")
    assert "--seed -1" in err
