"""A caution about equations with many causes for few rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ordag
from ordag.assess.few_rows import few_rows_caution
from ordag.graph.dag import Dag


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
