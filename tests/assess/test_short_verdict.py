"""A verdict in three short sentences, and its light: green only where few arrows are expected wrong and nothing else is amiss."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import ordag
from ordag.assess.finding import Caution
from ordag.assess.forecast import Expected
from ordag.assess.verdict import Verdict, in_short
from ordag.show.document import document

SENTENCE = re.compile(r"\.(?: |$)")


def drawn(p, n, seed, **settings):
    return ordag.simulate("erdos-renyi", p, n, seed=seed, degree=3, **settings).X


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "cvs", "pc", "ges", "gds"])
@pytest.mark.parametrize("change", ["raw", "standardised", "none"])
def test_three_sentences_at_most(method, change):
    X = drawn(6, 150, 3)
    if change == "standardised":
        X = X / X.std(axis=0)
    if change == "none":
        X = np.random.default_rng(1).standard_normal((60, 4))
    said = ordag.learn(X, method).verdict.sentence
    assert 1 <= len(SENTENCE.findall(said)) <= 3
    assert len(said) < 420


def test_a_light_is_green_only_where_few_arrows_are_wrong():
    few, some, most = (Expected(wrong, 0.0) for wrong in (0.1, 0.11, 0.51))
    caution = Caution("k", "There is something.", "Mend it.")
    assert Verdict(None, "", few).light == "green"
    assert Verdict("tested", "", few).light == "green"
    assert Verdict(None, "", few, cautions=(caution,)).light == "yellow"
    assert Verdict(None, "", few, weighed=False).light == "yellow"
    assert Verdict(None, "", None).light == "yellow"
    assert Verdict(None, "", some).light == "yellow"
    assert Verdict("assumed", "", few).light == "yellow"
    assert Verdict(None, "", most).light == "red"
    assert Verdict("uninformative", "", few).light == "red"


@pytest.mark.slow
def test_the_first_caution_is_the_reason_and_its_advice_comes_last():
    fit = ordag.learn(drawn(5, 200, 1), draws=40)
    cautions = (Caution("a", "Rows are alike.", "Take one of each."), Caution("b", "Else.", "Do else."))
    verdict = replace(fit.verdict, cautions=cautions)
    how_many, reason, advice = in_short(fit, verdict)
    assert how_many.endswith("to be wrong, or more.")
    sure = replace(verdict, expected=replace(verdict.expected, wrong=1e-4))
    assert next(in_short(fit, sure)).startswith("Expect about 1 % of the ")
    assert next(in_short(fit, replace(sure, cautions=()))).startswith("Expect less than 1 % of the ")
    assert (reason, advice) == ("Rows are alike.", "Take one of each.")
    assert all(one.sentence in verdict.help for one in cautions)
    said = verdict.to_dict()
    assert [one["key"] for one in said["cautions"]] == ["a", "b"]
    assert said["light"] == "yellow"


@pytest.mark.slow
def test_effects_of_categories_count_beside_arrows():
    random = np.random.default_rng(1)
    site = random.integers(0, 2, 60)
    a = 3.0 * site + random.standard_normal(60)
    fit = ordag.learn(
        {"a": a, "b": a + random.standard_normal(60), "site": np.array(["x", "y"])[site]}, "cvs", cause=["site"]
    )
    assert (fit.graph.edge_count, fit.whole_graph.edge_count) == (1, 2)
    assert not fit.verdict.sentence.startswith("No variable was found")


def test_what_was_not_worked_out_is_said():
    X = drawn(6, 200, 2)
    fit = ordag.learn(X, draws=0)
    assert fit.probabilities is None
    assert "is not known" in fit.verdict.sentence
    few = ordag.learn(X / X.std(axis=0), draws=3)
    assert not few.probabilities.settled
    assert "not settled" in few.verdict.sentence
    assert document(few)["verdict"]["badge"] == "not settled"


@pytest.mark.slow
def test_units_are_asked_for_where_error_variances_are_near_and_objected_to_where_not():
    weak = ordag.simulate("erdos-renyi", 5, 100, seed=7, degree=2, weights=(0.2, 0.5)).X
    assert "units='commensurable'" in ordag.learn(weak, draws=60).verdict.sentence
    far = weak * [1.0, 50.0, 1.0, 0.02, 1.0]
    assert "units='commensurable'" not in ordag.learn(far, draws=60).verdict.sentence
    assert "far for columns that share a unit" in ordag.learn(far, draws=60, units="commensurable").verdict.grounds


@pytest.mark.slow
def test_no_direction_has_a_reason_that_its_probability_does_not_bear():
    for seed in range(4):
        X = drawn(7, 120, seed)
        fit = ordag.learn(X / X.std(axis=0) if seed % 2 else X, draws=60)
        edges = fit.edges
        sure = edges[edges["reason"].isin(["class", "variance"])]
        assert (sure["probability"] > 0.5).all()
        assert (sure["probability"] >= 0.9 * sure["edge_probability"] - 1e-9).all()
        if seed % 2:
            assert "variance" not in set(edges["reason"])
