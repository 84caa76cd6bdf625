"""The rules in their registry, and an ordering that has no factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ordag import Moments, order, simulate
from ordag.data.table import Table
from ordag.errors import SettingError, TooFewRowsError
from ordag.order import RULES, find_order
from ordag.order.ordering import Ordering, Rule
from ordag.parents import CORRECTIONS, PARENT_RULES, TESTS, select


def by_variance(table, before):
    """No rule to recommend: columns in the order of their variances."""
    moments = table.moments
    ranked = np.argsort(moments.variances)
    variances = moments.variances[ranked] / moments.n
    return Ordering(ranked, moments, variances, variances, np.append(variances[1:], np.inf), "by-variance")


BY_VARIANCE = Rule("by-variance", "columns by their variances", by_variance, least_rows=lambda _: 3)


@pytest.fixture
def one_more_rule(monkeypatch):
    monkeypatch.setitem(order.RULES, "by-variance", BY_VARIANCE)


def test_what_can_be_chosen_has_a_name_and_says_what_it_is():
    for registry in (RULES, PARENT_RULES):
        assert all(name == rule.name and rule.help for name, rule in registry.items())
    assert all(one.help for one in CORRECTIONS.values())
    assert all(one.__doc__ for one in TESTS.values())


@pytest.mark.usefixtures("one_more_rule")
def test_an_ordering_without_a_factor_says_so_where_one_is_needed():
    found = find_order(Table(simulate("erdos-renyi", 5, 50, 1).X), "by-variance")
    assert (np.diff(found.variances) >= 0).all()
    assert (found.margins[:-1] >= 0).all()
    assert np.isnan(found.margins[-1])
    assert found.undecided == found.warnings == ()
    assert found.uncertainty is None
    for ask in (
        lambda: found.L,
        lambda: found.W,
        found.candidates,
        lambda: found.direction_p_values(np.array([0]), np.array([1])),
        lambda: select(found),
        lambda: select(found, rule="bic"),
    ):
        with pytest.raises(SettingError, match="not available with variance='by-variance'"):
            ask()


@pytest.mark.usefixtures("one_more_rule")
@pytest.mark.parametrize("kind", [np.asarray, Moments.from_rows])
def test_how_many_rows_it_takes_is_asked_of_the_rule(kind):
    data = kind(np.random.default_rng(0).standard_normal((4, 6)))
    assert len(find_order(Table(data), "by-variance").order) == 6
    table = Table(data)
    for rule in ("forward", "backward"):
        with pytest.raises(TooFewRowsError, match=r"4 rows and 6 variables: the tests need at least 8 rows.*at most 2"):
            find_order(table, rule)
    with pytest.raises(TooFewRowsError, match="at least 8 rows"):
        _ = table.moments


def test_a_rule_that_takes_rows_refuses_moments(monkeypatch):
    monkeypatch.setitem(order.RULES, "rows", replace(BY_VARIANCE, needs="rows"))
    with pytest.raises(SettingError, match="takes the rows"):
        find_order(Table(Moments.from_covariance(np.eye(3), 20)), "rows")
    assert len(find_order(Table(np.random.default_rng(0).standard_normal((9, 3))), "rows").order) == 3
