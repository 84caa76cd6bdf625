"""Steps and arrows against loops over candidates and over all graphs of a class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import evidence as oracle

import ordag
from ordag.assess.arrows import arrow_columns, arrow_ends, arrow_reasons
from ordag.assess.steps import step_columns, step_evidence
from ordag.graph.cpdag import to_cpdag
from ordag.graph.links import NO_LINKS, Links
from ordag.learners.cvs import CvsSettings
from ordag.learners.found import Found
from ordag.learners.orient import Oriented
from ordag.order.least_squares import backward, forward
from ordag.show.cells import tied_with


def steps_of(fit, alpha=0.05):
    return step_evidence(fit.ordering, fit.graph.links, alpha)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(("seed", "together"), [(0, 1), (1, 12), (2, 24), (3, 2**18)])
def test_steps_equal_a_loop_over_candidates(seed, together, direction, monkeypatch):
    monkeypatch.setattr("ordag.order.factor.CACHE_NUMBERS", together)  # one, two, four or all six steps at a time
    X = ordag.simulate("erdos-renyi", 6, 60, seed=seed, weights=(0.2, 0.8)).X
    fit = ordag.learn(X, direction=direction, alpha=0.1)
    steps = steps_of(fit, 0.2)
    order = fit.ordering.order.tolist()
    for m, (second, p_value, group, matters) in enumerate(
        oracle.steps_of(X, order, fit.graph.adjacency, 0.2, direction)
    ):
        assert {order[b] for b in steps.tied[m]} == group
        assert steps.matters[m] == matters
        assert {int(name[1:]) - 1 for name in steps.group(m)} == (group if len(group) > 1 else set())
        if second is None:
            assert steps.runner_up[m] == -1
            assert np.isnan(steps.p_value[m])
        else:
            assert order[steps.runner_up[m]] == second
            assert steps.p_value[m] == pytest.approx(p_value, rel=1e-8)


def test_margin_and_runner_up_belong_together():
    fit = ordag.learn("marks", alpha=0.05)
    steps = steps_of(fit)
    assert steps.columns["runner_up"] == ["vectors", "analysis", "statistics", "mechanics", None]
    assert steps.margin[1] == pytest.approx(0.003976, abs=1e-6)
    assert steps.p_value[1] > 0.9
    assert steps.group(1)[:2] == ("vectors", "analysis")
    assert steps.group(0) == ()


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_reasons_equal_a_search_through_the_class(seed):
    random = np.random.default_rng(seed)
    p = 5
    adjacency = np.triu(random.random((p, p)) < 0.5, 1)
    labels = random.permutation(p)
    adjacency = adjacency[np.ix_(labels, labels)]
    names = tuple("abcde")
    moments = ordag.Moments(9, np.zeros(p), names, R=np.eye(p))
    dag = ordag.Dag(names, adjacency)
    compelled = oracle.compelled_arrows(adjacency)
    in_class = Found(CvsSettings(), moments, to_cpdag(dag))
    assert {(int(i), int(j)) for i, j in zip(*arrow_ends(in_class), strict=True)} == compelled
    assert set(arrow_reasons(in_class, *arrow_ends(in_class))) <= {"class"}
    oriented = Found(CvsSettings(), moments, dag, oriented=Oriented(dag, to_cpdag(dag), ()))
    ends = arrow_ends(oriented)
    for i, j, reason in zip(*ends, arrow_reasons(oriented, *ends), strict=True):
        assert reason == ("class" if (int(i), int(j)) in compelled else "variance")
    alone = Found(CvsSettings(), moments, dag)
    assert set(arrow_reasons(alone, *arrow_ends(alone))) <= {"variance"}
    assert step_columns(alone) == {"node": [], "variance": [], "margin": []}


def test_knowledge_is_a_reason_of_its_own():
    fit = ordag.learn("marks", alpha=0.05, knowledge={"required": [("algebra", "vectors")]})
    reasons = fit.edges.set_index(["source", "target"])["reason"]
    assert reasons["algebra", "vectors"] == "knowledge"
    assert (reasons == "knowledge").sum() == 1


def test_arrows_of_a_class_have_the_reason_class():
    X = ordag.LinearSEM.from_edges(list("abc"), {("a", "c"): 2.0, ("b", "c"): 2.0}).sample(500, seed=1)
    assert arrow_columns(ordag.learn(X, method="pc"))["reason"] == ["class", "class"]
    assert len(ordag.learn(X, method="pc", orient_by_order="class").steps) == 3


def test_relabelling_the_columns_relabels_the_evidence():
    X = ordag.simulate("erdos-renyi", 6, 100, seed=5).X
    turned = [3, 0, 5, 1, 4, 2]
    one, two = (steps_of(ordag.learn(rows, method="cvs")) for rows in (X, X[:, turned]))
    np.testing.assert_allclose(one.p_value, two.p_value, rtol=1e-9)
    assert [group.tolist() for group in one.tied] == [group.tolist() for group in two.tied]
    assert [int(name[1:]) - 1 for name in one.names] == [turned[int(name[1:]) - 1] for name in two.names]


def test_plain_values():
    document = ordag.learn("marks", alpha=0.05).to_dict()
    assert document["steps"][-1]["runner_up"] is None
    assert document["steps"][1]["tied"][0] == "vectors"
    assert document["edges"][0]["reason"] == "variance"


@pytest.mark.parametrize("way", [forward, backward])
def test_variables_that_have_to_wait_are_no_candidates(way):
    moments = ordag.Moments.from_rows(ordag.simulate("erdos-renyi", 7, 80, seed=3, weights=(0.2, 0.6)).X)
    free = way(moments).order
    before = np.zeros((7, 7), dtype=bool)
    before[free[3], free[0]] = before[free[5], free[4]] = True
    ordering = way(moments, before)
    steps = step_evidence(ordering, NO_LINKS, 0.05, before)
    sizes = (
        np.cumsum(ordering.L[:, ::-1] ** 2, axis=1)[:, ::-1].T if way is forward else np.cumsum(ordering.W**2, axis=0)
    )
    for m, b in enumerate(steps.runner_up.tolist()):
        if b < 0:
            assert np.isnan(ordering.margins[m])
        else:
            assert sizes[m, b] / sizes[m, m] - 1 == pytest.approx(ordering.margins[m], rel=1e-6)


def test_what_knowledge_held_back_was_no_rival():
    """Statistics has to wait for mechanics: at no step before is it the runner-up or tied."""
    fit = ordag.learn("marks", "cvs", knowledge={"tiers": "mechanics | algebra, vectors, analysis, statistics"})
    steps = fit.steps
    assert fit.order[0] == "mechanics"
    assert steps["runner_up"][0] is None or steps["runner_up"][0] != steps["runner_up"][0]
    assert steps["tied"][0] == []
    free = ordag.learn("marks", "cvs")
    assert free.steps["runner_up"][0] == "vectors"
    assert steps["runner_up"][1] == "vectors"


@pytest.mark.parametrize("way", [forward, backward])
@pytest.mark.parametrize("together", [1, 16])
def test_steps_are_the_same_some_at_a_time(way, together, monkeypatch):
    moments = ordag.Moments.from_rows(ordag.simulate("erdos-renyi", 8, 60, seed=4, weights=(0.2, 0.6)).X)
    before = np.zeros((8, 8), dtype=bool)
    before[0, 3] = before[5, 1] = True
    ordering = way(moments, before)
    links = Links.of(np.triu(np.ones((8, 8), dtype=bool), 1))
    whole = step_evidence(ordering, links, 0.05, before)
    monkeypatch.setattr("ordag.order.factor.CACHE_NUMBERS", together)
    parts = step_evidence(ordering, links, 0.05, before)
    np.testing.assert_array_equal(parts.runner_up, whole.runner_up)
    np.testing.assert_array_equal(parts.p_value, whole.p_value)
    np.testing.assert_array_equal(parts.matters, whole.matters)
    assert [group.tolist() for group in parts.tied] == [group.tolist() for group in whole.tied]


def test_few_and_many_joined_pairs_are_looked_at_alike():
    fit = ordag.learn(ordag.simulate("erdos-renyi", 40, 60, seed=1, weights=(0.1, 0.3)).X, "cvs", alpha=0.01)
    order, skeleton = fit.ordering.order, fit.graph.skeleton
    steps = steps_of(fit)
    for m, group in enumerate(steps.tied):
        columns = order[group]
        assert steps.matters[m] == skeleton[np.ix_(columns, columns)].any()
    assert 0 < steps.matters.sum() < 40
    every = Links.of(np.triu(np.ones((40, 40), dtype=bool), 1))
    assert step_evidence(fit.ordering, every, 0.05).matters.tolist() == [len(group) > 1 for group in steps.tied]


def test_of_many_variables_a_few_that_are_tied_are_listed(monkeypatch):
    fit = ordag.learn(np.random.default_rng(0).standard_normal((60, 30)), "cvs")
    every = fit.step_columns
    assert "tied_more" not in every
    monkeypatch.setattr("ordag.assess.steps.LISTED_UP_TO", 29)
    monkeypatch.setattr("ordag.assess.steps.LISTED", 5)
    some = step_columns(fit)
    assert max(some["tied_more"]) > 0
    for group, first, more in zip(every["tied"], some["tied"], some["tied_more"], strict=True):
        assert len(first) <= 5
        assert first == group[: len(first)]
        assert len(first) + more == len(group) or (not group and not first and not more)
    cells = tied_with(fit)
    again = replace(fit)
    assert again.to_dict()["steps"][0]["tied_more"] == some["tied_more"][0]
    assert tied_with(again) == cells
