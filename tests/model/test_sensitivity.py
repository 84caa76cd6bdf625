"""Estimates with a hidden common cause against sensemakr's printed values, and against regressions that see the hidden cause."""

from __future__ import annotations

import numpy as np
import pytest

import ordag
from ordag.errors import CollinearError, TooFewRowsError
from ordag.model.sensitivity import Sensitivity

FEMALE = (0.009081065190328756, 0.10903391542784283)
DARFUR = Sensitivity("harmed", "peace", ("female",), 0.09731581928495897, 0.02325653780981118, 783, (FEMALE,))
"""The example of Cinelli & Hazlett (2020): estimate, standard error and shares of `female` as sensemakr 0.1.6 computes them."""


def test_the_darfur_example_of_sensemakr():
    """As its tests have them (tests/testthat/test-02-darfur.R)."""
    assert pytest.approx(0.02187, abs=5e-6) == DARFUR.share
    assert pytest.approx(0.13878, abs=5e-6) == DARFUR.robustness
    assert pytest.approx(0.07626, abs=5e-6) == DARFUR.robustness_of_interval


@pytest.mark.parametrize(
    ("times", "of_cause", "of_target", "estimate"),
    [
        (1, 0.00916428667504862, 0.12464092303637, 0.0752202712144491),
        (2, 0.0183285733500972, 0.249324064199975, 0.0529151723844518),
        (3, 0.0274928600251459, 0.374050471038094, 0.0303960234641548),
    ],
)
def test_benchmarks_of_sensemakr(times, of_cause, of_target, estimate):
    found = DARFUR.benchmark("female", times)
    assert found[1:] == pytest.approx((of_cause, of_target, estimate), rel=1e-5)
    assert float(DARFUR.adjusted(of_cause, of_target)) == pytest.approx(estimate, rel=1e-8)
    assert float(
        Sensitivity("d", "y", (), -DARFUR.estimate, DARFUR.std_error, 783, ()).adjusted(of_cause, of_target)
    ) == pytest.approx(-estimate, rel=1e-8)


def regression(X, y):
    Z = np.column_stack([np.ones(len(X)), X])
    b = np.linalg.lstsq(Z, y, rcond=None)[0]
    left = y - Z @ b
    return b, left


def share(x, y, others):
    """The share of what the others leave of y that x explains beyond them."""
    before, after = regression(others, y)[1], regression(np.column_stack([others, x]), y)[1]
    return 1.0 - (after @ after) / (before @ before)


@pytest.mark.parametrize("seed", range(8))
def test_a_cause_that_is_hidden_moves_the_estimate_by_what_its_shares_say(seed):
    random = np.random.default_rng(seed)
    n = 9 if seed < 2 else 60
    z, x, w = random.standard_normal((3, n))
    d = 0.5 * z + x * 10.0 ** random.integers(-3, 4) + random.standard_normal(n)
    y = 0.7 * d + 0.8 * z - x + 0.2 * w + random.standard_normal(n)
    moments = ordag.Moments.from_rows(np.column_stack([x, w, d, y]), ["x", "w", "d", "y"])
    found = Sensitivity.of(moments, "d", "y", ["x", "w"])
    others = np.column_stack([x, w])
    b, left = regression(np.column_stack([others, d]), y)
    assert found.estimate == pytest.approx(b[3])
    assert found.std_error == pytest.approx(np.sqrt(left @ left / (n - 4) / np.sum(regression(others, d)[1] ** 2)))
    of_cause, of_target = share(z, d, others), share(z, y, np.column_stack([others, d]))
    seen, _ = regression(np.column_stack([others, d, z]), y)
    away = abs(seen[3] - found.estimate)
    moved = found.std_error * np.sqrt(found.df * of_target * of_cause / (1 - of_cause))
    assert moved == pytest.approx(away, rel=1e-6)
    assert found.strengths[1] == pytest.approx(
        (share(w, d, x[:, None]), share(w, y, np.column_stack([x, d]))), rel=1e-6
    )


def test_at_the_robustness_the_estimate_is_zero():
    assert float(DARFUR.adjusted(DARFUR.robustness, DARFUR.robustness)) == pytest.approx(0.0, abs=1e-12)
    assert float(DARFUR.adjusted(DARFUR.share, 1.0)) == pytest.approx(0.0, abs=1e-12)
    assert float(DARFUR.adjusted(0.0, 0.5)) == DARFUR.estimate


def test_a_variable_that_nothing_can_be_stronger_than_has_no_benchmark():
    for cause, times in ((0.6, 1.0), (0.5, 1.0), (0.04, 24.0), (0.1, 9.0), (0.25, 3.5)):
        strong = Sensitivity("d", "y", ("x",), 1.0, 0.1, 50, ((cause, 0.3),))
        assert strong.benchmark("x", times) is None
        assert 0.99 < strong.benchmark("x", 0.999 * (1.0 - cause) / cause).share_of_cause < 1.0


def test_what_cannot_be_estimated():
    rows = np.random.default_rng(1).standard_normal((9, 3))
    twice = ordag.Moments.from_rows(np.column_stack([rows, rows[:, 2]]), list("abcd"))
    with pytest.raises(TooFewRowsError, match="4 rows are too few"):
        Sensitivity.of(ordag.Moments.from_rows(np.eye(4)[:, :4], list("abcd")), "a", "b", ["c", "d"])
    with pytest.raises(CollinearError):
        Sensitivity.of(twice, "c", "b", ["d"])
