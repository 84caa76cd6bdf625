"""The measurement of the search beside FLOP, on a small table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import search

SMALL = search.Design(6, 3, 200, (0.5, 1.0), "random units", 5.0)


def test_tables_are_drawn_from_their_design():
    X, truth = search.drawn(SMALL, 1)
    again, _ = search.drawn(SMALL, 1)
    np.testing.assert_array_equal(X, again)
    assert X.shape == (200, 6)
    assert truth.sum() == 9
    assert not (truth & truth.T).any()
    standardised, _ = search.drawn(SMALL._replace(units="standardised"), 1)
    np.testing.assert_allclose(standardised.std(axis=0), 1.0)


def test_pairs_are_counted_once():
    one = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert search.pairs_apart(one, one) == 0
    assert search.pairs_apart(one, one.T) == 2
    assert search.pairs_apart(search.class_of(one), search.class_of(one.T)) == 0


@pytest.mark.slow
def test_a_line_has_a_figure_for_every_column(monkeypatch):
    monkeypatch.setattr(search, "find_spec", lambda _: None)
    name, number, *figures = search.measure(SMALL, 2)
    assert name == "p = 6, degree 3, n = 200, weights 0.5–1, random units × 5"
    assert number == "2"
    assert figures[2:3] + figures[4:] == ["–"] * 6
    assert all(float(figures[k]) >= 0.0 for k in (0, 1, 3))


def test_designs_in_which_flop_is_better_are_named():
    near = ["near", "2", "1.0", "2.0", "–", "0.10", "2.0", "3.0", "0.20", "-1.0 ± 0.5", "-1.0 ± 0.5"]
    far = ["far", "2", "3.0", "4.0", "–", "0.30", "2.0", "3.0", "0.20", "+1.0 ± 0.5", "+1.0 ± 0.5"]
    unsure = ["unsure", "2", "3.0", "4.0", "–", "0.10", "2.0", "5.0", "0.20", "+1.0 ± 1.5", "-1.0 ± 0.5"]
    alone = ["alone", "2", "3.0", "4.0", "–", "0.30", "–", "–", "–", "–", "–"]
    first, second, third = search._worse([near, far, unsure, alone]).splitlines()
    assert [line.partition(": ")[2] for line in (first, second, third)] == ["far.", "far.", "far."]
    assert search._worse([near]).count("nowhere") == 3
