"""Arrows from categories along an order, against tests on the rows with indicators."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.causes import f_test, rss

from ordag.data.causes import Categories
from ordag.data.table import Table
from ordag.graph import Dag
from ordag.learners.causes import CauseRules, by_tests, free_rules

N, P = 60, 3
WORDS = np.array(list("abc"))


def drawn(seed):
    """Rows along 0 → 1 → 2, with weak effects of two categories."""
    random = np.random.default_rng(seed)
    groups = [WORDS[random.integers(0, count, N)] for count in (2, 3)]
    X = random.standard_normal((N, P)) @ np.triu(np.ones((P, P)))
    for values in groups:
        X += 0.6 * random.standard_normal((3, P))[np.searchsorted(WORDS, values)]
    data = {f"x{j}": column for j, column in enumerate(X.T)} | {"g0": groups[0], "g1": groups[1]}
    return X, groups, Categories(Table(data, cause=["g0", "g1"]).moments.causes)


def test_rules_that_leave_every_arrow_open():
    rules = free_rules(drawn(0)[2])
    assert (rules.allowed.shape, rules.required.shape) == ((2, P), (2, P))
    assert rules.allowed.all()
    assert not rules.required.any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [None, 0.05])
def test_a_category_enters_by_a_test_or_where_that_lowers_bic(seed, alpha):
    X, groups, categories = drawn(seed)
    dag = Dag.from_edges(["x0", "x1", "x2"], [("x0", "x1"), ("x1", "x2")])
    rules = CauseRules(np.array([[True, False, True], [True] * 3]), np.array([[False] * 3, [True, False, False]]))
    expected = rules.required.copy()
    for c, j in ((0, 0), (0, 2), (1, 1), (1, 2)):
        parents, own, other = [*range(j)] if alpha else [*range(j)][-1:], groups[c], [groups[1 - c]]
        if alpha:
            expected[c, j] = f_test(X, j, parents, own, other)[3] <= alpha
        else:
            gain = math.log(rss(X, j, parents, other)[0] / rss(X, j, parents, [*other, own])[0])
            expected[c, j] = N * gain > (len(np.unique(own)) - 1) * math.log(N)
    found = by_tests(categories, dag, [0, 1, 2], rules, alpha=alpha)
    assert found.tolist() == expected.tolist()
