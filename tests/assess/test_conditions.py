"""Experiments that leave other equations alone, and some that do not."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries
from scipy.stats import f as fisher

import ordag
from ordag.assess.conditions import differing_equations


def table(seed, *, side_effect=0.0):
    """a → b → c with an experiment on a, under which the weight of b → c changes too."""
    random = np.random.default_rng(seed)
    what = np.array([""] * 200 + ["a"] * 100)
    a = np.where(what == "a", 2.0, 1.0) * random.standard_normal(300)
    b = 0.9 * a + random.standard_normal(300)
    c = (0.9 + side_effect * (what == "a")) * b + random.standard_normal(300)
    return {"a": a, "b": b, "c": c, "what": what.tolist()}


def learned(data):
    return ordag.learn(data, experiment="what", draws=0, knowledge={"tiers": [["a"], ["b"], ["c"]]})


@pytest.mark.parametrize("seed", tries(3, 40))
def test_clean_experiments_raise_no_caution(seed):
    assert not learned(table(seed)).verdict.cautions


def test_side_effects_are_told_with_what_they_explain():
    data = table(1, side_effect=-1.2)
    fit = learned(data)
    (worst, *_) = differing_equations(fit)
    assert (fit.names[worst.variable], worst.label) == ("c", "a")
    rows = np.array(data["what"]) == "a"
    causes = fit.graph.parents("c")
    k, df = len(causes), int(rows.sum()) - 1 - len(causes)
    Z = np.column_stack([data[name][rows] for name in causes])
    weights = [fit.sem.edges[name, "c"] for name in causes]
    left = data["c"][rows] - Z @ weights
    left -= left.mean()
    design = np.column_stack([np.ones(len(Z)), Z])
    own = left - design @ np.linalg.lstsq(design, left, rcond=None)[0]
    assert worst.explained == pytest.approx(1.0 - (own @ own) / (left @ left))
    statistic = (left @ left - own @ own) / k / (own @ own / df)
    assert worst.p_value == pytest.approx(fisher.sf(statistic, k, df), rel=1e-6)
    caution = next(one for one in fit.verdict.cautions if one.key == "conditions")
    assert "The equation of c changes where a was acted on" in caution.sentence
    assert fit.check(draws=3)["conditions"].level == "warning"
    assert learned(table(2)).check(draws=3)["conditions"].level == "fine"
