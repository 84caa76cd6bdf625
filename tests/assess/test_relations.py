"""Columns that follow from each other but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

import ordag
from ordag.assess.relations import nearly_exact, relation_caution, step

N = 60


def columns(seed):
    return np.random.default_rng(seed).normal(1000.0, 100.0, (N, 4))


@pytest.mark.parametrize("digits", [0, 2])
def test_a_rounded_sum_is_found_and_a_noisy_one_is_not(digits):
    X = columns(1).round(digits)
    total = (X[:, 0] + X[:, 2]) / 2.0
    found = np.column_stack([X, (total + 0.3 * 10.0**-digits).round(digits)])
    assert nearly_exact(found) == [0, 2, 4]
    assert nearly_exact(np.column_stack([X, total + np.random.default_rng(2).normal(0.0, 2.0, N)])) is None


def test_without_a_common_step_only_copies_are_found():
    X = columns(3)
    errors = 0.02 * np.random.default_rng(4).standard_normal(N)
    assert nearly_exact(np.column_stack([X, 2.0 * X[:, 1] + errors])) == [1, 4]
    assert nearly_exact(np.column_stack([X, X[:, 1] + X[:, 2] + errors])) is None
    assert nearly_exact(X) is None
    few = np.arange(4.0)[:, None] * [1.0, 2.0]
    assert nearly_exact(few) == [0, 1]
    assert nearly_exact(few[1:]) is None


def test_strong_effects_are_no_definitions():
    """Dense models whose variances grow by orders of magnitude have equations that leave little."""
    for seed in range(5):
        assert nearly_exact(ordag.simulate("heterogeneous", p=20, n=200, seed=seed).X) is None


def test_the_step_of_values():
    assert [step(np.array(one)) for one in ([1.0, 30.0], [0.5, 0.25], [1e5, 0.1], [np.pi, 1.0])] == [
        1.0,
        0.01,
        0.1,
        0.0,
    ]


@pytest.mark.slow
def test_the_verdict_and_the_check_name_them():
    X = columns(5).round(1)
    data = dict(zip("abcd", X.T, strict=True)) | {"a2": (X[:, 0] * 2.54).round(2)}
    caution = relation_caution(np.column_stack([X, data["a2"]]), [*"abcd", "a2"])
    assert caution.sentence.startswith("a and a2 determine each other but for less than 0.01 % of their variance")
    assert caution.advice.endswith("drop=['a2'] (--drop a2).")
    fit = ordag.learn(data)
    assert caution in fit.verdict.cautions
    assert {one.key: one.level for one in fit.check().findings}["relations"] == "warning"
    assert "relations" not in {one.key for one in ordag.check("marks").findings}
