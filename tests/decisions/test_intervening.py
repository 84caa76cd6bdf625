"""Interventions against rows drawn from the changed equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ordag
from ordag.cli.intervene import _numbers, _rule
from ordag.decisions.intervening import Rules
from ordag.decisions.joint_effects import drawn_models
from ordag.errors import ColumnError, GraphError, SettingError

NAMES = ("age", "dose", "pressure", "risk")
ARROWS = [("age", "dose", 0.8), ("age", "risk", 1.5), ("dose", "pressure", -0.7), ("pressure", "risk", 0.6)]


def model():
    B = np.zeros((4, 4))
    for a, b, weight in ARROWS:
        B[NAMES.index(a), NAMES.index(b)] = weight
    return B, np.array([1.0, 0.5, 2.0, 1.0]), np.array([10.0, 1.0, 3.0, -2.0])


def drawn(set_to=None, shift=None, rule=None):
    """Rows from the equations, one after the other, with what is done to them."""
    B, omega, intercept = model()
    random = np.random.default_rng(1)
    X = np.zeros((200_000, 4))
    for j in range(4):
        X[:, j] = intercept[j] + X @ B[:, j] + np.sqrt(omega[j]) * random.standard_normal(len(X))
        if rule and j in rule:
            X[:, j] = rule[j][0] + X @ rule[j][1]
        if set_to and j in set_to:
            X[:, j] = set_to[j]
        if shift and j in shift:
            X[:, j] += shift[j]
    return X


@pytest.mark.parametrize(
    "what",
    [
        {"set_to": {1: 4.0}},
        {"shift": {0: 2.0, 2: -1.0}},
        {"rule": {1: (3.0, np.array([0.5, 0, 0, 0]))}},
        {"rule": {1: (3.0, np.array([0.5, 0, 0, 0]))}, "shift": {1: 1.0}, "set_to": {2: 0.0}},
    ],
)
def test_means_and_variances_are_those_of_rows_drawn_after_it(what):
    B, omega, intercept = model()
    mean = intercept @ np.linalg.inv(np.eye(4) - B)
    shifts = dict(what.get("shift", {}))
    weights = {}
    for j, (constant, row) in what.get("rule", {}).items():
        weights[j] = row
        shifts[j] = shifts.get(j, 0.0) + constant
    change, variances = Rules(what.get("set_to", {}), shifts, weights).applied(B, omega, mean)
    X = drawn(**what)
    np.testing.assert_allclose(mean + change, X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(variances, X.var(axis=0), rtol=0.02, atol=1e-9)


def fit_of(**settings):
    X = drawn()[:500]
    return ordag.learn(
        dict(zip(NAMES, X.T, strict=True)), knowledge={"tiers": "age | dose | pressure | risk"}, **settings
    )


def test_intervals_hold_the_truth_and_what_does_not_change_is_said():
    found = ordag.intervene(fit_of(draws=60), set={"dose": 4.0})
    truth = drawn(set_to={1: 4.0}).mean(axis=0)
    assert found.low[2] < truth[2] < found.high[2]
    assert found.changed[0] == 0.0
    assert found.sentence.startswith("If dose is set to 4, the mean of pressure goes from")
    assert found.sd_after[1] == 0.0
    assert found.to_dict()["graphs"] == found.graphs > 20
    assert not any("beyond the data" in one for one in found.notes)
    far = ordag.intervene(found.fit, set={"dose": 400.0}).notes
    assert any(one.startswith("Far from the mean of the rows: dose (") for one in far)


@pytest.mark.slow
def test_intervals_have_the_error_of_the_means_and_changes_have_not():
    fit = fit_of(draws=200)
    mean = dict(zip(fit.names, fit.moments.mean, strict=True))
    found = ordag.intervene(fit, set={"dose": mean["dose"]})
    half = 1.96 * np.sqrt(fit.sem.omega[2] / 500)  # of the mean of pressure at the mean of dose
    np.testing.assert_allclose(
        [found.low[2], found.high[2]], [mean["pressure"] - half, mean["pressure"] + half], atol=half / 3
    )
    np.testing.assert_allclose([found.low[1], found.high[1]], mean["dose"])
    moved = ordag.intervene(fit, shift={"dose": 2.0})
    effect = ordag.effect(fit, "dose", "pressure")
    assert [moved.change_low[2], moved.change_high[2]] == pytest.approx([2 * effect.low, 2 * effect.high])
    assert moved.high[2] - moved.low[2] > moved.change_high[2] - moved.change_low[2]
    assert moved.columns["change_low"][2] == moved.change_low[2]


def test_graphs_in_which_a_rule_makes_a_cycle_are_counted():
    fit = ordag.learn("marks", units="commensurable", draws=64)
    found = ordag.intervene(fit, rule={"statistics": {"analysis": 0.5}})
    with_path = sum(
        one.total_effects()[fit.names.index("statistics"), fit.names.index("analysis")] != 0.0
        for one in drawn_models(fit)
    )
    assert found.cyclic == with_path > 0
    assert found.graphs + found.cyclic == 64
    assert found.notes[0].endswith(f"; in {with_path} others the rule makes a cycle.")


def test_a_mean_that_most_graphs_contradict_is_said_not_to_be_relied_on():
    found = ordag.intervene(fit_of(draws=60), set={"dose": 4.0})
    assert found.notes[1:] == ["Of the arrows of the learned graph less than 1 % are expected wrong."]
    beside = replace(found, low=np.where(np.arange(4) == 2, found.after + 1.0, found.low))
    assert (
        beside.notes[1] == "Do not rely on the mean of pressure: most of these graphs are at odds with the learned one."
    )


@pytest.mark.parametrize("seed", range(5))
def test_nothing_changes_where_no_path_leads_however_the_columns_stand(seed):
    random = np.random.default_rng(seed)
    mixed = random.permutation(12)
    B = (np.triu(random.random((12, 12)) < 0.3, 1) * random.uniform(0.3, 2.5, (12, 12)))[np.ix_(mixed, mixed)]
    change, _ = Rules({}, {0: 1.0}, {}).applied(B, np.ones(12), np.zeros(12))
    reached = np.linalg.matrix_power(np.eye(12) + (B != 0), 12)[0] != 0
    assert ((change != 0.0) == reached).all()


def test_without_probabilities_there_are_no_intervals():
    found = ordag.intervene(fit_of(method="cvs"), shift={"dose": 1})
    assert np.isnan(found.low).all()
    assert found.notes == ["Without intervals: the fit has no probabilities.", *found.doubts]
    assert found.to_dict()["doubts"] == list(found.doubts)


def test_bad_interventions():
    fit = fit_of(method="cvs")
    with pytest.raises(GraphError, match=r"cycle in the learned graph: (dose|pressure|risk) → .*risk"):
        ordag.intervene(fit, rule={"dose": {"risk": 1.0}})
    with pytest.raises(ColumnError, match="Did you mean 'dose'"):
        ordag.intervene(fit, set={"dos": 1.0})
    with pytest.raises(SettingError, match="say what is done"):
        ordag.intervene(fit)
    with pytest.raises(SettingError, match="choose one"):
        ordag.intervene(fit, set={"dose": 1}, rule={"dose": {"": 2}})
    with pytest.raises(SettingError, match="follow itself"):
        ordag.intervene(fit, rule={"dose": {"dose": 2}})
    with pytest.raises(SettingError, match="give a number"):
        ordag.intervene(fit, set={"dose": "much"})
    for given in ({"set": 5}, {"shift": "dose"}, {"rule": ["dose"]}, {"rule": {"dose": "age"}}):
        with pytest.raises(SettingError, match=r"^(set|shift|rule)=.*: give "):
            ordag.intervene(fit, **given)


def test_rules_are_read_from_the_command_line():
    assert _rule("dose=5 + 0.1*age - 2e-1*risk score") == ("dose", {"": 5.0, "age": 0.1, "risk score": -0.2})
    assert _rule("dose=age") == ("dose", {"age": 1.0})
    assert _rule("dose=-age+3") == ("dose", {"age": -1.0, "": 3.0})
    assert _numbers("--set", ("a=b=2",)) == {"a=b": 2.0}
    assert _rule("dose=age-2") == ("dose", {"age": 1.0, "": -2.0})
    for text in ("dose=", "dose=2**age", "dose=+", "dose=1+*age"):
        with pytest.raises(SettingError, match="write the variable"):
            _rule(text)
    with pytest.raises(SettingError, match="a number"):
        _numbers("--set", ("dose=x",))
