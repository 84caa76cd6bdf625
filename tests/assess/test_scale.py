"""Scalings are recognised whatever their unit, and tables that nobody scaled are left alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from budgets import tries
from scipy.optimize import brentq
from scipy.stats import pearsonr

import ordag
from ordag.assess.scale import scale_finding, scale_of
from ordag.data.moments import Moments
from ordag.data.profile import Profile

X = ordag.simulate("erdos-renyi", 6, 400, seed=1, degree=3).X
UNIT = (X - X.mean(axis=0)) / X.std(axis=0)
RANGE = (X - X.min(axis=0)) / np.ptp(X, axis=0)
CENTRED = X - np.median(X, axis=0)
QUARTILES = CENTRED / scipy.stats.iqr(X, axis=0)
DEVIATION = CENTRED / np.median(np.abs(CENTRED), axis=0)


def kind_of(rows):
    return scale_of(Moments.from_rows(rows), Profile.of(rows)).kind


@pytest.mark.parametrize("factor", [1.0, 7.0, 1e-6])
@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (X, ""),
        (UNIT, "equal"),
        (X / X.std(axis=0, ddof=1), "equal"),
        (np.round(UNIT, 3), "equal"),
        (UNIT * np.array([10, 15, 10, 15, 15, 10]) + 100, "shared"),
        (np.column_stack([UNIT[:, :3], X[:, 3:] * [5, 9, 7]]), "shared"),
        (RANGE, "range"),
        (2 * RANGE - 1, "range"),
        (100 * RANGE, "range"),
        (X / np.abs(X).max(axis=0), "largest"),
        (QUARTILES, "quartiles"),
        (np.round(QUARTILES, 3), "quartiles"),
        (QUARTILES + 0.5, ""),  # the medians are the same, and not 0
        (QUARTILES + np.arange(6.0), ""),
        (DEVIATION, "deviation"),
        (DEVIATION / 1.4826, "deviation"),
    ],
)
def test_scalings_are_recognised_in_any_unit(rows, kind, factor):
    assert kind_of(rows * factor) == kind


def test_answers_on_a_scale_share_their_range_by_nature():
    random = np.random.default_rng(2)
    answers = np.clip(np.round(3 + random.standard_normal((500, 6)) * [0.7, 1, 1.3, 0.8, 1.1, 1.6]), 1, 5)
    assert {tuple(answers.min(axis=0)), tuple(answers.max(axis=0))} == {(1.0,) * 6, (5.0,) * 6}
    assert kind_of(answers) == ""


def test_large_tables_are_recognised_from_a_sample_of_their_rows():
    rows = np.random.default_rng(3).standard_normal((60_000, 5)) * [1, 2, 3, 4, 5] + [3, 1, 0, 5, 2]
    assert Profile.of(rows).stride > 1
    assert kind_of(rows) == ""
    assert kind_of((rows - rows.min(axis=0)) / np.ptp(rows, axis=0)) == "range"
    assert kind_of(rows / np.abs(rows).max(axis=0)) == "largest"


@pytest.mark.slow
def test_a_file_is_profiled_as_it_is_read(tmp_path):
    path = tmp_path / "scaled.csv"
    rows = np.random.default_rng(4).standard_normal((30_000, 12)) * np.arange(1, 13)
    scaled = rows / np.abs(rows).max(axis=0)
    np.savetxt(path, scaled, delimiter=",", header=",".join("abcdefghijkl"), comments="")
    fit = ordag.learn(path, "cvs")
    assert fit.profile.stride > 1
    assert np.array_equal(fit.profile.most, scaled.max(axis=0))
    assert scale_of(fit.moments, fit.profile).kind == "largest"


def test_variances_equal_but_for_chance_are_near():
    half = UNIT[::2]
    scale = scale_of(Moments.from_rows(half), Profile.of(half))
    assert (scale.kind, scale.near) == ("", True)
    assert not scale_of(Moments.from_rows(half), Profile.of(half), same_units=True).near
    assert ordag.learn(half, "cvs").verdict.tier == "uninformative"


def test_two_variances_are_near_up_to_the_exact_p_value_of_one_in_a_hundred():
    """Pitman (1939) and Morgan (1939): their ratio is 1 if sum and difference are uncorrelated."""
    x, y = np.random.default_rng(1).standard_normal((2, 6))

    def p_value(unit):
        return pearsonr(x + unit * y, x - unit * y).pvalue

    unit = brentq(lambda unit: p_value(unit) - 0.01, 1.0, 1e3)
    for moved, near in ((0.99, True), (1.01, False)):
        moments = Moments.from_rows(np.column_stack([x, moved * unit * y]))
        assert (p_value(moved * unit) > 0.01) == near
        assert scale_of(moments).near == near


@pytest.mark.slow
def test_weak_tables_in_a_common_unit_are_not_taken_for_standardised():
    """Near they are, but the error variances along the order pass: standardising would make those unequal."""
    for seed in tries(4, 10):
        rows = ordag.simulate("erdos-renyi", 8, 200, seed=seed, degree=2, weights=(0.1, 0.4)).X
        assert ordag.learn(rows, "cvs").verdict.tier != "uninformative"


def test_one_standardised_pair_among_many_is_no_tier_but_a_warning():
    moments = Moments.from_rows(np.column_stack([UNIT[:, :2], X * [3, 4, 5, 6, 7, 8]]))
    scale = scale_of(moments)
    assert scale.kind == ""
    assert scale_finding(moments, scale).level == "warning"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            UNIT * [10, 15, 10, 15, 15, 10],
            "All columns share their variance with others to four digits, as after standardising",
        ),
        (
            np.column_stack([UNIT[:, :3], X[:, 3:] * [5, 9, 7]]),
            "3 of 6 columns share their variance with others to four digits",
        ),
        (UNIT, "All columns have the same variance up to a factor of 1.05, as after standardising"),
        (RANGE, "All columns run from the same lowest to the same highest value"),
        (X / np.abs(X).max(axis=0), "All columns have the same largest absolute value"),
        (QUARTILES, "All columns have median 0 and the same interquartile range"),
        (DEVIATION, "All columns have median 0 and the same median absolute deviation"),
    ],
)
def test_what_a_scaling_looks_like_is_said(rows, said):
    moments = Moments.from_rows(rows)
    found = scale_finding(moments, scale_of(moments, Profile.of(rows)))
    assert found.level == "warning"
    assert found.sentence.startswith(said)
    assert found.sentence.endswith(": their variances say nothing about directions.")


@pytest.mark.parametrize(("factor", "level"), [(1.2, "look"), (1.3, "fine")])
def test_variances_that_hardly_differ_are_little_to_order_by(factor, level):
    X = np.random.default_rng(6).normal(size=(500, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt([1.0, 1.0 + (factor - 1.0) / 2, factor])
    moments = Moments.from_rows(X)
    found = scale_finding(moments, scale_of(moments, Profile(X, 1, X.min(axis=0), X.max(axis=0))))
    assert (found.level, found.numbers["spread"]) == (level, pytest.approx(factor))
