"""Cautions about columns that determine each other, and about equations with many causes for few rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ordag
from ordag.assess.close_fits import determined_caution, few_rows_caution
from ordag.graph.dag import Dag


def sleeping(rounding):
    """Hours asleep, with an error in the last digit, and awake; the weight in kg depends on neither."""
    rng = np.random.default_rng(1)
    asleep = rng.normal(10.0, 4.0, 80)
    awake = 24.0 - asleep + rng.normal(0.0, rounding, 80)
    return {"asleep": asleep, "kg": rng.normal(size=80), "awake": awake}


@pytest.mark.parametrize("method", ["cvs", "ges"])
def test_columns_that_determine_each_other_but_for_rounding_are_named(method):
    fit = ordag.learn(sleeping(0.01), method)
    [caution] = [one for one in fit.verdict.cautions if one.key == "determined"]
    assert caution.sentence.startswith("asleep and awake determine each other but for 0.000")
    assert "drop='awake' (--drop awake)" in caution.advice


def test_a_strong_arrow_is_no_such_relation_nor_is_a_pair_that_is_not_joined():
    assert determined_caution(ordag.learn(sleeping(0.2), "cvs")) is None
    fit = ordag.learn(sleeping(0.01), "cvs")
    assert determined_caution(fit) is not None
    assert determined_caution(replace(fit, graph=Dag(fit.names, np.zeros((3, 3), dtype=bool)))) is None


def test_a_value_may_be_nearly_that_of_the_time_before():
    walk = np.cumsum(np.random.default_rng(0).normal(1.0, 0.01, (60, 2)), axis=0)
    fit = ordag.learn(walk, "ges", lags=1)
    graph = np.zeros((4, 4), dtype=bool)
    graph[2:, 0] = True
    fit = replace(fit, graph=Dag(fit.names, graph))
    assert determined_caution(fit) is None
    assert determined_caution(replace(fit, series=None)) is not None


@pytest.mark.parametrize("rows", [15, 16])
def test_four_causes_take_sixteen_rows(rows):
    fit = ordag.learn(np.random.default_rng(0).standard_normal((rows, 5)), "cvs")
    graph = np.zeros((5, 5), dtype=bool)
    graph[:4, 4] = True
    caution = few_rows_caution(replace(fit, graph=Dag(fit.names, graph)))
    if rows == 16:
        assert caution is None
        return
    assert caution.sentence == "The equation of X5 has 4 causes for 15 rows: so many fit nearly any numbers."
    assert caution.advice == "Take fewer columns, or more rows."


def test_the_verdict_of_few_rows_says_so():
    rows = np.cumsum(np.random.default_rng(0).standard_normal((9, 4)), axis=0)
    fit = ordag.learn(rows, "pooled", draws=8, graph="best")
    assert few_rows_caution(fit) in fit.verdict.cautions
    lagged = ordag.learn(rows[:, :3], "ges", lags=1, penalty=0.1)
    assert few_rows_caution(lagged).advice == "Take fewer lags or columns, or more rows."
