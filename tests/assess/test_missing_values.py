from __future__ import annotations

import numpy as np
import pytest

import ordag
from ordag import Moments
from ordag.assess.missing_values import little_test
from tests.oracles.missing import little


def holed(seed, n=300, p=4, share=0.15):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) @ np.array([[1, 0.8, 0, 0], [0, 1, 0.5, 0], [0, 0, 1, 0.7], [0, 0, 0, 1.0]])[:p, :p]
    X[random.random(X.shape) < share] = np.nan
    return X[~np.isnan(X).all(axis=1)]


@pytest.mark.parametrize("fewest", [1, 5])
def test_the_statistic_is_that_of_the_literal_sum(fewest):
    X = holed(1)
    moments = Moments.from_rows(X)
    found = little_test(X, moments.mean, moments.covariance(), fewest)
    d2, df = little(X, moments.mean, moments.covariance(), fewest)
    assert found.statistic == pytest.approx(d2)
    assert found.df == df


def test_one_pattern_is_not_tested():
    X = holed(1, share=0.0)
    assert little_test(X, X.mean(axis=0), np.cov(X.T)) is None


@pytest.mark.slow
def test_holes_that_depend_on_another_column_are_noticed():
    X = holed(2, n=400, share=0.0)
    X[X[:, 1] > 0.7, 0] = np.nan
    finding = ordag.check(X)["missing_values"]
    assert finding.level == "look"
    assert "rows without X1 have higher X2" in finding.sentence
    assert "complete rows.)" in ordag.check(X)["mardia"].sentence


@pytest.mark.slow
def test_nothing_is_said_without_holes_and_of_rows_that_were_left_out():
    assert "missing_values" not in {one.key for one in ordag.check(holed(3, share=0.0)).findings}
    assert ordag.check(holed(3), missing="drop")["missing_values"].level == "unchecked"


@pytest.mark.thorough
@pytest.mark.parametrize("share", [0.05, 0.15, 0.3])
def test_its_size_is_near_its_level(share):
    p_values = []
    for seed in range(400):
        X = holed(1000 + seed, n=250, share=share)
        moments = Moments.from_rows(X, missing="em")
        p_values.append(little_test(X, moments.mean, moments.covariance()).p_value)
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.03)
