"""Robustness values against the published example, and against a hidden common cause that is put into the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import model as oracles
from sems import table

import ordag
from ordag.model import refit
from ordag.model.effects import effect_robustness
from ordag.model.refit import robustness_value


def test_darfur():
    """Cinelli & Hazlett (2020), Table 1: t = 4.18 on 783 degrees of freedom has the partial R² 2.2 % and the value 13.9 %."""
    f = 4.18 / np.sqrt(783)
    assert f**2 / (1 + f**2) == pytest.approx(0.022, abs=5e-4)
    assert robustness_value(f) == pytest.approx(0.139, abs=5e-4)


@given(st.floats(1e-6, 1e3))
def test_it_is_the_share_at_which_both_sides_are_equal(f):
    r = float(robustness_value(f))
    assert 0 < r < 1
    assert r**2 == pytest.approx(f**2 * (1 - r), rel=1e-6)


def test_limits():
    np.testing.assert_array_equal(robustness_value(np.array([0.0, np.inf])), [0.0, 1.0])
    assert np.isnan(robustness_value(np.nan))


@pytest.mark.parametrize("seed", range(2))
def test_a_hidden_cause_of_that_strength_takes_an_arrow_away(seed):
    sem, X = ordag.simulate("erdos-renyi", 5, 40, seed=seed, degree=3)
    fitted = refit(table(X), sem.dag)
    source, target = np.nonzero(sem.B)
    for i, j, value in zip(source, target, fitted.robustness_of(source, target), strict=True):
        others = [k for k in np.flatnonzero(sem.B[:, j]) if k != i]
        assert value == pytest.approx(oracles.robustness_value(X, others, i, j), abs=1e-6)
    assert np.isnan(fitted.robustness_of(target, source)).all()


@pytest.mark.parametrize("seed", range(2))
def test_an_effect_is_adjusted_for_the_parents_of_its_cause(seed):
    sem, X = ordag.simulate("erdos-renyi", 5, 40, seed=seed, degree=3)
    reached = sem.total_effects() != 0
    values = effect_robustness(table(X).R, sem.dag.links, reached)
    np.testing.assert_array_equal(np.isnan(values), ~reached)
    for i, j in np.argwhere(reached):
        parents = np.flatnonzero(sem.B[:, i]).tolist()
        assert values[i, j] == pytest.approx(oracles.robustness_value(X, parents, i, j), abs=1e-6)


def test_it_is_the_same_in_all_units():
    X = ordag.simulate("erdos-renyi", 5, 40, seed=1, degree=3).X
    fit = ordag.learn(X, "cvs", alpha=0.05)
    other = refit(table(X * [1e3, 1e-3, 7.0, -1.0, 1.0]), fit.graph)
    ends = fit.graph.arrows.source, fit.graph.arrows.target
    np.testing.assert_allclose(other.robustness_of(*ends), fit.refit.robustness_of(*ends))
