"""A hasty search gives a first graph: the last one, or one that says that the search would have gone on."""

from __future__ import annotations

import numpy as np
import pytest
from budgets import tries

import ordag
from ordag.data.table import Table
from ordag.learners.ges.search import HASTY
from ordag.learners.methods import learn_from, recipe_for


def table(p, n, seed, *, degree=2.0, spread=1.0):
    rng = np.random.default_rng(seed)
    B = np.triu(rng.random((p, p)) < degree / p, 1) * rng.uniform(0.4, 1.0, (p, p))
    X = (rng.normal(size=(n, p)) * rng.uniform(1.0, spread, p)) @ np.linalg.inv(np.eye(p) - B)
    return Table(ordag.Moments.from_rows(X[:, rng.permutation(p)], [f"v{j}" for j in range(p)]))


def both(given, method, **settings):
    recipe = recipe_for(given, method, settings)
    return learn_from(given, recipe, hasty=True), learn_from(given, recipe)


@pytest.mark.slow
@pytest.mark.parametrize("seed", tries(1, 3))
@pytest.mark.parametrize(("n", "spread"), [(60, 1.0), (400, 1.0), (400, 3.0)])
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("pooled", {}),
        ("pooled", {"kicks": 2}),
        ("pooled", {"units": "commensurable"}),
        ("ges", {}),
        ("ges", {"penalty": "adaptive"}),
        ("gds", {}),
        ("gds", {"strategy": "steepest"}),
        ("pc", {}),
        ("cvs", {"parents": "bic"}),
    ],
)
def test_a_search_that_is_not_unfinished_has_found_what_it_would_have(method, settings, n, spread, seed):
    first, last = both(table(12, n, seed, spread=spread), method, **settings)
    assert not last.unfinished
    assert first.recipe == last.recipe
    if not first.unfinished:
        assert (first.graph, first.score) == (last.graph, last.score)
        assert first.result is None or first.result.details() == last.result.details()


@pytest.mark.thorough
def test_which_searches_are_at_their_end():
    """Pooled searches, which have no first graph, and those that took few steps."""
    alike, apart, dense = table(12, 400, 0), table(12, 400, 1, spread=4.0), table(12, 400, 0, degree=9.0)
    ends = {
        (method, name): both(given, method)[0].unfinished
        for method in ("pooled", "ges", "gds")
        for name, given in (("alike", alike), ("apart", apart), ("dense", dense))
    }
    assert all(ends["pooled", name] for name in ("alike", "apart", "dense"))
    assert not ends["ges", "alike"]
    assert ends["ges", "dense"]
    assert all(ends["gds", name] for name in ("alike", "apart", "dense"))


def test_the_first_class_of_a_dense_table_has_the_first_steps():
    first, last = both(table(12, 400, 0, degree=9.0), "ges")
    assert first.result.details()["steps"] == [["forward", HASTY * 12]]
    assert last.result.details()["steps"][0][1] > HASTY * 12
    assert first.score < last.score


@pytest.mark.slow
@pytest.mark.parametrize(("p", "n"), [(12, 400), (8, 40), (5, 60)])
def test_a_hasty_pooled_search_gives_the_best_graph_before_the_consensus(p, n):
    given = table(p, n, 1, spread=4.0)
    for settings in ({"draws": 0}, {"graph": "best"}):
        assert not recipe_for(given, "pooled", settings).has_first
        first, last = both(given, "pooled", **settings)
        assert not first.unfinished
        assert (first.graph, first.score, first.details) == (last.graph, last.score, last.details)
    agreed = learn_from(given, recipe_for(given, "pooled", {"draws": 20}))
    hasty = learn_from(given, recipe_for(given, "pooled", {"draws": 20}), hasty=True)
    assert hasty.unfinished
    assert not agreed.unfinished
    assert hasty.graph == agreed.optimum == first.graph
    assert agreed.score >= first.score - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "ges", "gds"])
def test_first_graphs_keep_to_what_is_known(method):
    given = table(12, 400, 1, degree=6.0, spread=4.0)
    known = {"required": [["v3", "v5"]], "forbidden": [["v0", "v1"], ["v1", "v0"]], "roots": ["v7"]}
    first, _ = both(given, method, knowledge=known)
    assert first.unfinished
    directed = set(first.graph.directed)
    assert ("v3", "v5") in directed
    assert not {("v0", "v1"), ("v1", "v0")} & directed
    assert not [edge for edge in directed if edge[1] == "v7"]


def test_a_test_that_sees_the_rows_is_left_for_later():
    rows = np.random.default_rng(0).normal(size=(60, 5)).cumsum(axis=1)
    given = Table.of_rows(tuple("abcde"), rows)
    recipe = recipe_for(given, "cvs", {"test": "distance-correlation"})
    assert recipe.has_first
    first = learn_from(given, recipe, hasty=True)
    assert first.unfinished
    assert first.recipe is recipe
    assert first.graph == learn_from(given, recipe_for(given, "cvs", {})).graph
    assert not recipe_for(given, "cvs", {"test": "distance-correlation", "variance": "robust"}).has_first
    assert not recipe_for(given, "cvs", {}).has_first
