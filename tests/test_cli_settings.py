"""Settings of the methods on the command line: rules for parents, penalties, and small effects."""

from __future__ import annotations

import json

import pytest


@pytest.mark.slow
def test_parents_by_the_edge_prior(run):
    status, out, _ = run("learn", "sachs", "--parents", "adaptive", "--json")
    document = json.loads(out)
    assert status == 0
    assert document["settings"]["parents"] == "adaptive"
    assert set(document["details"]) >= {"penalty", "share"}
    assert "edge prior" in run("learn", "sachs", "--parents", "adaptive")[1]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "expected"), [("ebic", "ebic"), ("adaptive", "adaptive"), ("1.5", 1.5)])
def test_a_penalty_is_a_word_or_a_number(run, given, expected):
    status, out, _ = run("learn", "marks", "--method", "ges", "--penalty", given, "--json")
    assert status == 0
    assert json.loads(out)["settings"]["penalty"] == expected


def test_another_penalty_is_refused(run):
    status, out, err = run("learn", "marks", "--method", "ges", "--penalty", "aic")
    assert (status, out) == (2, "")
    assert "'aic' is neither bic, ebic, adaptive nor a number" in err
    status, _, err = run("learn", "marks", "--method", "ges", "--penalty", "-1")
    assert status == 2
    assert "positive number" in err


@pytest.mark.slow
def test_small_effects_are_left_out(run):
    status, out, _ = run("learn", "sachs", "--method", "cvs", "--min-effect", "0.3", "--json")
    record = json.loads(out)["details"]["left_out"]
    assert status == 0
    assert record["below"] == 0.3
    assert record["count"] == len(record["edges"]) > 0
    assert "left out" in run("learn", "sachs", "--method", "cvs", "--min-effect", "0.3")[1]
    assert run("compare", "sachs", "--methods", "cvs,pc", "--min-effect", "0.3")[0] == 0
    status, _, err = run("learn", "marks", "--min-effect", "2")
    assert status == 2
    assert "--min-effect 2.0:" in err
