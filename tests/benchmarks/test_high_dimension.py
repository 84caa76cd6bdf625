"""The measures of the page on high dimension."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.high_dimension import BEGIN, CASES, END, PAGE, Case, least_squares, measured, tau
from ordag import Moments, simulate
from ordag.order.least_squares import forward


def test_tau_counts_ancestors():
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 2] = True  # 0 → 1 → 2, and 3 alone
    assert tau(np.array([3, 0, 1, 2]), truth) == 1
    assert tau(np.array([2, 1, 3, 0]), truth) == -1
    assert tau(np.array([1, 0, 2, 3]), truth) == 1 - 2 / 3
    assert tau(np.arange(4), np.zeros((4, 4), dtype=bool)) == 1


def test_least_squares_is_the_order_by_all_chosen_variables():
    X = simulate("erdos-renyi", 8, 200, 3).X
    assert least_squares(np.cov(X.T)).tolist() == forward(Moments.from_rows(X)).order.tolist()
    few = simulate("hub", 12, 6, 3).X
    assert sorted(least_squares(np.cov(few.T))) == list(range(12))


@pytest.mark.slow
def test_a_case_is_measured_alike_each_time():
    case = Case("er2", 12, 40, 0.5)
    first = measured(case, 1)
    assert first == measured(case, 1)._replace(pooled_seconds=first.pooled_seconds)
    assert first.tau > 0.5
    assert 0.5 < first.f1 <= 1


def test_the_page_has_a_place_for_its_tables_and_every_case():
    page = PAGE.read_text(encoding="utf-8")
    inside = page[page.index(BEGIN) : page.index(END)]
    assert all(case.name in inside for case in CASES)
