"""Drifts, trends, seasons and errors that remember: found where they are, and not where they are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from strategies.series import random_model, rows_of

import ordag
from ordag.assess.in_time import time_cautions, time_findings
from ordag.data.trends import NO_TRENDS, trends_of


def series(kind, random, n=240, p=3):
    X = rows_of(random_model(random, p, 1)[0], n, random)
    steps = np.arange(n)
    return {
        "plain": X,
        "drift": X + np.outer(np.cumsum(random.standard_normal(n)), [4.0, 0.0, 0.0]),
        "trend": X + np.outer(0.1 * steps, [1.0, 0.0, 0.0]),
        "season": X + np.outer(3.0 * np.sin(2.0 * np.pi * steps / 12.0) + 3.0 * (steps % 12 == 3), [1.0, 1.0, 0.0]),
    }[kind]


SHOWN = {
    "plain": ((), (), (), None),
    "drift": ((0,), (), (), None),
    "trend": ((), (0,), (), None),
    "season": ((), (), (0, 1), 12),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_what_series_show(kind):
    found = []
    for seed in range(20):
        X = series(kind, np.random.default_rng(seed))
        found.append(trends_of(X, np.arange(len(X)), (4, 12), None)[:4])
    # a unit root is rejected, at 10 % and beside other errors, now and then where there is one
    assert sum(one == SHOWN[kind] for one in found) >= (14 if kind == "drift" else 19)


def test_short_stretches_show_nothing():
    assert trends_of(np.random.default_rng(0).normal(size=(60, 2)), np.tile(np.arange(15), 4), (4,), None) is NO_TRENDS


def test_constant_and_straight_series_do_no_harm():
    X = np.column_stack([np.ones(60), np.arange(60.0), np.random.default_rng(0).normal(size=60)])
    found = trends_of(X, np.arange(60), (4,), None)
    assert 0 not in found.drifting
    assert 2 not in found.drifting + found.trending


@pytest.mark.parametrize(
    ("kind", "key", "option"), [("drift", "unit_roots", "--difference 1"), ("season", "seasons", "--season 12")]
)
def test_the_caution_names_the_option_that_helps(kind, key, option):
    X = series(kind, np.random.default_rng(1))
    fit = ordag.learn(X, lags=1, draws=0)
    caution = next(one for one in fit.verdict.cautions if one.key == key)
    assert option in caution.advice
    level = {finding.key: finding.level for finding in fit.check().findings}
    assert level[key] == "warning"
    if kind == "season":
        mended = ordag.learn(X, lags=1, draws=0, season=12)
        assert key not in [one.key for one in mended.verdict.cautions]
        assert mended.check()["seasons"].sentence == "No variable has a season left."


def test_too_few_lags_are_told():
    random = np.random.default_rng(0)
    X = np.zeros((500, 2))
    for t in range(2, 500):
        X[t] = 0.2 * X[t - 1] + 0.65 * X[t - 2] + random.standard_normal(2)
    few, enough = (ordag.learn(X, lags=lags, draws=0) for lags in (1, 2))
    caution = next(one for one in few.verdict.cautions if one.key == "dependent_rows")
    assert "1 lag is used" in caution.sentence
    assert caution.advice == "Learn with lags=2 (--lags 2)."
    assert "dependent_rows" not in [one.key for one in enough.verdict.cautions]
    assert enough.check()["memory"].level == "fine"
    assert few.check()["memory"].numbers["correlations"].keys() == {"X1", "X2"}


def test_a_check_of_a_series_looks_at_the_present_alone():
    fit = ordag.learn(series("plain", np.random.default_rng(2)), lags=2, draws=0)
    keys = [finding.key for finding in fit.check().findings]
    assert keys[:4] == ["memory", "unit_roots", "seasons", "trends"]
    assert not {"standardising", "units", "backward", "hidden_causes", "influence"} & set(keys)
    assert fit.check()["residual_pairs"].level == "fine"


@pytest.mark.parametrize(("rows", "stride"), [(20, 1), (19, 1), (60, 2)])
def test_errors_are_correlated_where_enough_neighbouring_rows_are_kept(rows, stride):
    fit = ordag.learn(series("plain", np.random.default_rng(3), n=60), lags=1, draws=0)
    labels = fit.profile.labels.of(slice(rows))
    profile = fit.profile._replace(rows=fit.profile.rows[:rows], stride=stride, labels=labels)
    (memory, *_) = time_findings(replace(fit, profile=profile))
    assert (memory.level == "unchecked") == (rows < 20 or stride > 1)
    assert time_findings(replace(fit, profile=None))[0].level == "unchecked"
    assert "dependent_rows" not in [one.key for one in time_cautions(replace(fit, profile=None))]
