"""Variables of which few digits are left."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ordag.learners.precision import LOG_LIKELIHOOD, UNCERTAIN, _few_digits

ROWS = int(4.0 * LOG_LIKELIHOOD / UNCERTAIN)
"""So many that the score bears half of what else is uncertain."""


@pytest.mark.parametrize(
    ("score", "n", "limit"),
    [(None, ROWS, UNCERTAIN), (-1.0, ROWS, 2.0 * LOG_LIKELIHOOD / ROWS), (-1.0, 10, UNCERTAIN)],
)
def test_variables_with_few_digits_are_named_the_worst_first(score, n, limit, monkeypatch):
    noise = limit * np.array([0.9, 1.0, 0.5, 100.0])
    monkeypatch.setattr("ordag.learners.precision.regression_noise", lambda found: noise)
    found = SimpleNamespace(score=score, n=n, names=("a", "b", "c", "d"))
    (sentence,) = _few_digits(found)
    digits = [f"{max(0.0, -np.log10(noise[j])):.1f} digits" for j in (3, 1)]
    assert f"variances of d ({digits[0]}) and b ({digits[1]}): arrows at these" in sentence
    noise *= 0.001
    assert list(_few_digits(found)) == []
