"""Distance correlation of residuals: its value against the definition, its level, and what it sees that correlations do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import estimators as oracles
from scipy import stats

from ordag import Moments, simulate
from ordag.errors import SettingError
from ordag.order.least_squares import forward
from ordag.parents import row_tests, select
from ordag.parents.row_tests import (
    corrected_distance_correlation,
    distance_correlation,
    row_p_values,
    spline_residuals,
)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(6, 25), st.booleans())
def test_equals_the_definition(seed, n, rounded):
    """With ties too."""
    random = np.random.default_rng(seed)
    x, y = random.standard_normal((2, n))
    x, y = (np.round(x) + 0.5 * (np.arange(n) == 0), np.round(y, 1)) if rounded else (x, x * y)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = oracles.corrected_distance_correlation(x, y)
    found = corrected_distance_correlation(x, y)
    if np.isfinite(expected) and abs(expected) <= 1.0 + 1e-6:
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-10)
    else:  # nothing to divide by, but for rounding
        assert found == 0.0


def test_blocks_change_nothing(monkeypatch):
    x, y = np.random.default_rng(1).standard_normal((2, 50))
    whole = corrected_distance_correlation(x, y)
    monkeypatch.setattr(row_tests, "DISTANCES_AT_ONCE", 150)
    assert corrected_distance_correlation(x, y) == pytest.approx(whole)


def test_a_constant_column_is_independent_of_everything():
    x = np.random.default_rng(2).standard_normal(30)
    assert corrected_distance_correlation(x, np.full(30, 0.1)) == 0.0
    assert corrected_distance_correlation(x, np.where(np.arange(30) == 3, 0.7, 0.1)) == 0.0


def test_residuals_are_those_of_least_squares():
    """A cubic is a spline: nothing of it is left."""
    random = np.random.default_rng(3)
    Z = np.column_stack([random.standard_normal((80, 2)), random.integers(0, 2, 80)])
    smooth = Z[:, 0] ** 3 - Z[:, 1] ** 2 + Z[:, 2]
    residuals, parameters = spline_residuals(np.column_stack([smooth, random.standard_normal(80)]), Z)
    assert residuals[:, 0] == pytest.approx(np.zeros(80), abs=1e-8)
    assert 8 <= parameters <= 17
    assert residuals.sum(axis=0) == pytest.approx([0.0, 0.0], abs=1e-9)


def table(seed, n, effect):
    random = np.random.default_rng([seed, n])
    Z, e = random.standard_normal((n, 2)), random.standard_normal(n)
    x = np.sin(2.0 * Z).sum(axis=1) + e
    return x, np.cos(2.0 * Z).sum(axis=1) + effect * e**2 + random.standard_normal(n), Z


@pytest.mark.parametrize("conditions", [0, 2])
def test_the_p_value_is_that_of_its_formula(conditions):
    x, y, Z = table(5, 60, 0.2)
    Z = Z[:, :conditions]
    residuals, parameters = spline_residuals(np.column_stack([x, y]), Z)
    C = corrected_distance_correlation(*residuals.T)
    expected = stats.chi2.sf(max((60 - 1 - parameters) * C + 1.0, 0.0), 1)
    assert distance_correlation(x, y, Z) == pytest.approx(expected, rel=1e-9)


@pytest.mark.thorough
def test_the_level_holds_and_a_parabola_is_seen():
    level = np.mean([distance_correlation(*table(seed, 120, 0.0)) <= 0.05 for seed in range(200)])
    power = np.mean([distance_correlation(*table(seed, 120, 0.7)) <= 0.05 for seed in range(40)])
    assert level <= 0.08
    assert power >= 0.7


def test_p_values_of_an_order():
    random = np.random.default_rng(4)
    X = random.standard_normal((300, 3))
    X[:, 2] += X[:, 0] ** 2
    values = row_p_values(X, [0, 1, 2], distance_correlation)
    assert (values[np.triu_indices(3)] == 1.0).all()
    assert values[2, 0] < 1e-6
    assert min(values[1, 0], values[2, 1]) > 0.01


def test_a_test_of_the_callers_sees_the_right_columns():
    X = np.arange(12.0).reshape(3, 4)
    seen = []

    def own(x, y, Z):
        seen.append((x[0], y[0], Z[0].tolist()))
        return 0.5

    values = row_p_values(X, [2, 0, 3], own)
    assert seen == [(0.0, 2.0, []), (3.0, 2.0, [0.0]), (3.0, 0.0, [2.0])]
    assert values[2, 1] == 0.5


def test_parents_by_a_test_of_rows_are_those_of_its_p_values_in_the_order():
    X = simulate("chain", 4, 60, seed=1).X[:, [2, 0, 3, 1]]
    ordering = forward(Moments.from_rows(X))
    found = select(ordering, alpha=0.3, test=distance_correlation, rows=X)
    values = row_p_values(X, ordering.order.tolist(), distance_correlation)
    np.testing.assert_array_equal(found.p_values, values)
    np.testing.assert_array_equal(found.parents, np.tril(values <= 0.3, -1))
    ((later, earlier, own),) = found.up_to([1.0])
    assert dict(zip(zip(later.tolist(), earlier.tolist(), strict=True), own, strict=True)) == {
        (m, j): values[m, j] for m in range(4) for j in range(m)
    }


@pytest.mark.parametrize("wrong", [1.5, -0.1, float("nan"), "no", None])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(SettingError, match="test of rows gave"):
        row_p_values(np.eye(3), [0, 1], lambda x, y, Z: wrong)


def test_too_many_columns_for_the_rows_are_refused():
    X = np.random.default_rng(5).standard_normal((30, 12))
    with pytest.raises(SettingError, match="given 10 columns takes 45 rows"):
        distance_correlation(X[:, 0], X[:, 1], X[:, 2:])
    with pytest.raises(SettingError, match="given 7 columns takes 32 rows or more, and there are 31"):
        spline_residuals(X[:, :1], np.random.default_rng(6).standard_normal((31, 7)))
    assert spline_residuals(np.eye(32)[:, :2], np.random.default_rng(6).standard_normal((32, 7)))[1] == 28 - 7
