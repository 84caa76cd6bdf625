"""method="pooled" through the one call: settings, details, knowledge, and tables that are odd in every way."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from budgets import whole_methods
from hypothesis import given
from hypothesis import strategies as st
from oracles import pooled as oracles
from strategies.knowledge import keeps, random_entries
from strategies.tables import tables

from ordag import Dag, Moments, learn
from ordag.errors import OrdagError, SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.learners.pooled.method import is_standardised, placed_groups, without_units

seeds = st.integers(0, 2**32 - 1)
X = oracles.random_rows(6, 80, np.random.default_rng(3), spread=0.5)


def parents_of(graph):
    return tuple(frozenset(np.flatnonzero(column).tolist()) for column in np.asarray(graph.adjacency).T)


def named(rows):
    return Moments.from_rows(rows, names=[f"x{j}" for j in range(rows.shape[1])])


def assert_sound(fit):
    """A DAG with an order, and no number anywhere that is none."""
    assert isinstance(fit.graph, Dag)
    assert oracles.is_acyclic(parents_of(fit.graph))
    place = {name: k for k, name in enumerate(fit.order)}
    assert all(place[a] < place[b] for a, b in fit.graph.directed)
    assert math.isfinite(fit.score)
    assert all(math.isfinite(fit.details[name]) for name in ("spread", "edge_price"))
    if fit.probabilities is not None:
        assert np.isfinite(fit.probabilities.arrows).all()
        assert (fit.probabilities.arrows >= 0.0).all()
        assert (fit.probabilities.joined <= 1.0 + 1e-9).all()
    json.loads(fit.to_json())


@pytest.mark.slow
def test_what_a_fit_tells():
    fit = learn(X, method="pooled")
    assert_sound(fit)
    assert set(fit.details) >= {"start", "start_scores", "kicks", "spread", "edge_price"}
    assert fit.details["start"] in fit.details["start_scores"]
    assert fit.details["spread"] >= 1.0
    document = json.loads(fit.to_json())
    assert document["settings"]["method"] == "pooled"
    assert document["settings"]["seed"] == 0
    assert document["order"] == list(fit.order)
    assert document["score"] == fit.score
    assert document["probabilities"]["kind"] == "rows"
    assert len(document["edges"]) == len(fit.graph.directed)
    k = len(fit.optimum.directed)
    edge = oracles.edge_prior(80, 6, k + 1) - oracles.edge_prior(80, 6, k)
    assert fit.details["edge_price"] == pytest.approx(edge, abs=0.2)
    assert "pooled" in repr(fit)
    assert "<svg" in fit._repr_html_()
    assert fit.sem is not None
    assert np.isfinite(fit.edges["p_value"]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "groups", [None, [], [["x0", "x1", "x4"], ["x2", "x3"]], [[f"x{j}"] for j in range(6)], [["x5"]]]
)
def test_the_score_is_that_of_the_groups(groups):
    fit = learn(named(X), method="pooled", groups=groups, draws=4)
    assert_sound(fit)
    numbers = None if groups is None else [[int(name[1:]) for name in group] for group in groups]
    expected = oracles.score_of(X, parents_of(fit.graph), numbers, 1.0 if groups is None else 0.25)
    assert fit.score == pytest.approx(expected, abs=1e-3)
    if groups is None or max(map(len, groups), default=1) < 2:
        assert (fit.details["spread"] == 1.0) == (groups is not None)
    assert fit.settings["groups"] == groups
    units = learn(named(X), method="pooled", units="commensurable", draws=0)
    assert units.score == pytest.approx(oracles.score_of(X, parents_of(units.graph), None, 0.25), abs=1e-3)


@pytest.mark.slow
def test_one_group_of_all_is_one_unit():
    whole = learn(named(X), method="pooled", groups=[[f"x{j}" for j in (3, 1, 0, 5, 4, 2)]], draws=0)
    units = learn(named(X), method="pooled", units="commensurable", draws=0)
    assert whole.graph == units.graph
    assert whole.score == pytest.approx(units.score, abs=1e-9)


@pytest.mark.slow
def test_alone_in_its_group_a_column_may_have_any_unit():
    scaled = X * [1.0, 1.0, 1.0, 1.0, 1.0, 50.0]
    groups = [["x0", "x1", "x2", "x3", "x4"]]
    one, other = (learn(named(rows), method="pooled", groups=groups, draws=0) for rows in (X, scaled))
    assert one.score - other.score == pytest.approx(-80 * math.log(50.0), abs=1e-3)
    assert one.graph == other.graph


@pytest.mark.slow
@pytest.mark.parametrize("p", [8, 12])
def test_the_unit_of_a_group_changes_nothing(p):
    groups = [[f"x{j}" for j in range(p // 2)], [f"x{j}" for j in range(p // 2, p)]]
    factors = np.repeat([1.0, 1000.0], p // 2)
    for seed in range(3):
        rows = oracles.random_rows(p, 150, np.random.default_rng([p, seed]))
        one, other = (learn(named(some), method="pooled", groups=groups, draws=8) for some in (rows, rows * factors))
        assert one.graph == other.graph
        assert one.optimum == other.optimum
        # sums are rounded differently, so that a chain may take another way in one of the few resamples
        apart = np.abs(one.probabilities.arrows - other.probabilities.arrows)
        assert (apart <= np.maximum(one.probabilities.errors, 0.01)).all()


@pytest.mark.slow
@pytest.mark.parametrize("p", [8, 12])
@pytest.mark.parametrize("groups", [[], [["x0", "x1", "x2"]]], ids=str)
def test_units_of_columns_by_themselves_leave_the_best_score(p, groups):
    factors = np.append(np.ones(3), 10.0 ** np.arange(-4.0, p - 7.0))
    rows = oracles.random_rows(p, 150, np.random.default_rng(p))
    one, other = (learn(named(some), method="pooled", groups=groups, draws=0) for some in (rows, rows * factors))
    np.testing.assert_array_equal(one.posterior.order, other.posterior.order)
    assert other.score == pytest.approx(one.score + 150 * np.log(factors).sum(), abs=1e-6)


def test_the_factors_take_the_units_of_groups_out():
    moments = named(X)
    for groups in ([[0, 1, 2], [3, 4]], [[0, 1, 2, 3, 4, 5]], []):
        factors = without_units(moments, groups)
        scaled = moments.scaled(factors).covariance()
        left = np.log(np.diag(np.linalg.inv(scaled)))
        for group in [*groups, *([j] for j in range(6) if not any(j in group for group in groups))]:
            assert left[group].mean() == pytest.approx(left[5] if not groups or 5 not in groups[0] else left.mean())
            ratios = factors[group] / factors[group[0]]
            np.testing.assert_allclose(ratios, 1.0)
    few = named(np.random.default_rng(0).standard_normal((4, 6)))
    np.testing.assert_allclose(few.scaled(without_units(few, [])).spread, few.scaled(without_units(few, [])).spread[0])


@pytest.mark.parametrize(
    ("given_settings", "sentence"),
    [
        ({"units": "metres"}, "units='metres' is not known"),
        ({"units": "commensurable", "groups": [["x0", "x1"]]}, "leave groups out"),
        ({"groups": [["x0", "y"]]}, "there is no column y"),
        ({"groups": [["x0", "x1"], ["x2", "x0"]]}, "x0 is named more than once"),
        ({"groups": [["x0", "x0"]]}, "x0 is named more than once"),
        ({"groups": "x0"}, "lists of column names"),
        ({"groups": ["x0", "x1"]}, "lists of column names"),
        ({"groups": [0, 1]}, "lists of column names"),
        ({"groups": 3}, "lists of column names"),
        ({"kicks": -1}, "kicks=-1"),
        ({"kicks": 1.5}, "kicks=1.5"),
        ({"kicks": True}, "kicks=True"),
        ({"draws": -1}, "draws=-1"),
        ({"alpha": 0.05}, "alpha is not a setting of 'pooled'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(given_settings, sentence):
    with pytest.raises(SettingError, match=sentence) as caught:
        learn(named(X), method="pooled", **given_settings)
    assert str(caught.value).endswith(".")


@pytest.mark.slow
def test_numbers_of_numpy_serve_as_settings():
    plain = learn(X, method="pooled", kicks=1, draws=6)
    numpys = learn(X, method="pooled", kicks=np.int64(1), draws=np.int32(6), seed=np.int64(0))
    assert numpys.to_json() == plain.to_json()


def test_groups_are_found_by_name():
    assert placed_groups([("b", "c"), ["a"]], ["a", "b", "c", "d"]) == [[1, 2], [0]]
    assert placed_groups([], ["a"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_two_columns(seed):
    rng = np.random.default_rng(seed)
    rows = oracles.random_rows(2, int(rng.integers(4, 40)), rng, density=float(rng.integers(2)))
    graphs = oracles.all_dags(2)
    fit = learn(rows, method="pooled", graph="best")
    assert_sound(fit)
    assert fit.score == pytest.approx(oracles.scores_of(rows, graphs, []).min(), abs=1e-3)
    assert fit.details["kicks"] == 0
    assert_sound(learn(rows, method="pooled", kicks=3, draws=10))


@pytest.mark.slow
@pytest.mark.parametrize("extra", [1, 2, 3])
@pytest.mark.parametrize("p", [2, 3, 5, 8])
def test_hardly_more_rows_than_columns(p, extra):
    rows = oracles.random_rows(p, p + extra, np.random.default_rng(p))
    try:
        fit = learn(rows, method="pooled", draws=10)
    except OrdagError as error:
        assert extra == 1
        assert "rows" in str(error)
        return
    assert_sound(fit)
    groups = None if fit.result.score.groups else []
    assert fit.score == pytest.approx(oracles.score_of(rows, parents_of(fit.graph), groups), rel=1e-6, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 4, 7])
def test_columns_of_very_different_size(p):
    rng = np.random.default_rng(p)
    rows = oracles.random_rows(p, 60, rng)
    scaled = rows * 10.0 ** rng.choice([-8.0, 0.0, 8.0], p)
    for more in ({}, {"groups": []}, {"units": "commensurable"}):
        fit = learn(scaled, method="pooled", draws=10, **more)
        assert_sound(fit)
    # where nobody pools, the size of a column says nothing: the graph scores the same on both
    alone = learn(scaled, method="pooled", groups=[], draws=0)
    shift = 60 / 2.0 * np.log(scaled.var(axis=0) / rows.var(axis=0)).sum()
    assert alone.score - oracles.score_of(rows, parents_of(alone.graph), []) == pytest.approx(shift, abs=1e-4)


@pytest.mark.slow
def test_blocks_without_any_correlation():
    S = np.kron(np.eye(3), [[1.0, 0.6], [0.6, 1.0]])
    for n in (12, 10**4):
        fit = learn(Moments.from_covariance(S, n), method="pooled", draws=20)
        assert_sound(fit)
        assert not fit.graph.skeleton[np.kron(np.eye(3), np.ones((2, 2))) == 0].any()
    assert learn(Moments.from_covariance(np.eye(5), 50), method="pooled").graph == Dag.empty(
        [f"X{j}" for j in range(1, 6)]
    )


def test_columns_that_are_nearly_the_same():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((50, 3))
    rows = np.column_stack([base, base[:, 0] + 1e-7 * rng.standard_normal(50)])
    assert_sound(learn(rows, method="pooled", draws=20))
    with pytest.raises(OrdagError):
        learn(np.column_stack([base, base[:, 0]]), method="pooled", strict=True)


@pytest.mark.slow
def test_all_variables_on_all_before_them():
    rng = np.random.default_rng(5)
    p, n = 7, 2000
    rows = rng.standard_normal((n, p))
    for j in range(p):
        rows[:, j] += 0.5 * rows[:, :j].sum(axis=1)
    fit = learn(rows, method="pooled", draws=20)
    assert_sound(fit)
    assert len(fit.graph.directed) == p * (p - 1) // 2
    assert fit.details["edge_price"] < math.log(n) / 2.0 - 3.0
    assert fit.order == fit.names


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{}, {"groups": [["x0", "x1"]]}, {"units": "commensurable", "kicks": 2}], ids=str)
@whole_methods
@given(rows=tables(), seed=seeds)
def test_knowledge_is_kept_to_the_letter(more, rows, seed):
    moments = named(rows)
    knowledge = Knowledge(**random_entries(moments.names, np.random.default_rng(seed)))
    fit = learn(moments, method="pooled", knowledge=knowledge, draws=6, **more)
    assert_sound(fit)
    assert keeps(knowledge, fit.names, fit.graph.adjacency)
    place = {name: k for k, name in enumerate(fit.order)}
    assert all(place[a] < place[b] for a, b in knowledge.required)
    for early, later in zip(knowledge.tiers, knowledge.tiers[1:], strict=False):
        assert all(place[a] < place[b] for a in early for b in later)
    known = knowledge.over(moments.names)
    assert not fit.probabilities.arrows[~known.allowed].any()
    np.testing.assert_allclose(fit.probabilities.arrows[known.required], 1.0)


@pytest.mark.thorough
def test_under_knowledge_the_best_of_the_graphs_that_keep_to_it_is_found():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = oracles.random_rows(4, 100, rng)
        moments = named(rows)
        knowledge = Knowledge(**random_entries(moments.names, rng))
        graphs = [
            graph
            for graph in oracles.all_dags(4)
            if keeps(knowledge, moments.names, [[i in graph[j] for j in range(4)] for i in range(4)])
        ]
        fit = learn(moments, method="pooled", knowledge=knowledge, graph="best")
        totals = oracles.scores_of(rows, graphs)
        if (
            fit.result.score.groups
        ):  # three of these tables look standardised, and are scored without comparing error variances
            assert fit.score == pytest.approx(totals.min(), abs=1e-3)
            found += 1
        never = oracles.probabilities(totals, graphs) == 0  # no graph that keeps to it has the arrow, in any resample
        assert (fit.probabilities.arrows[never] == 0).all()
    assert found == 9


def test_a_required_arrow_that_does_not_pay_is_there():
    rows = np.random.default_rng(0).standard_normal((200, 3))
    fit = learn(named(rows), method="pooled", knowledge={"required": [("x2", "x0"), ("x1", "x0")]})
    assert set(fit.graph.directed) == {("x2", "x0"), ("x1", "x0")}
    assert fit.score == pytest.approx(oracles.score_of(rows, [{1, 2}, set(), set()]), abs=1e-3)
    assert fit.edges["probability"].tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.slow
def test_what_was_given_is_left_alone():
    rows, groups = X.copy(), [["x0", "x1"], ["x2"]]
    moments = named(rows)
    R = moments.R.copy()
    learn(moments, method="pooled", groups=groups, draws=4).to_json()
    np.testing.assert_array_equal(moments.R, R)
    np.testing.assert_array_equal(rows, X)
    assert groups == [["x0", "x1"], ["x2"]]


@pytest.mark.parametrize(("spread", "standardised"), [(0.7, True), (1.3, False)])
def test_columns_count_as_standardised_where_their_variances_differ_by_chance_alone(spread, standardised):
    """On both sides of the mean plus two standard deviations of n/2 times the sum of squares."""
    n, p = 100, 4
    C = np.full((p, p), 0.5) + 0.5 * np.eye(p)
    bound = p - 1 + 2 * np.sqrt(2 * (p - 1))
    step = np.sqrt(spread * bound * 2 / n / p)
    scale = np.exp(np.array([-step, step, -step, step]) / 2)
    assert is_standardised(Moments.from_covariance(C * np.outer(scale, scale), n)) == standardised
    assert not is_standardised(Moments.from_covariance(np.eye(p), n))
