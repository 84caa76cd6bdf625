"""Edges of small standardised effect: which go, which stay, and that everything built on `learn` has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies.tables import permutations, tables

from ordag import CVS, GDS, GES, PC, Moments, compare, learn, simulate
from ordag.errors import SettingError
from ordag.learners.methods import METHODS
from ordag.learners.small_effects import _Regressions, effects
from ordag.show.text import left_out, summary


def standardised_weights(X, target, parents):
    """Regression of standardised columns, by least squares on the rows."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return dict(zip(parents, np.abs(np.linalg.lstsq(Z[:, parents], Z[:, target], rcond=None)[0]), strict=True))


def literally(X, adjacency, least):
    """Arrows dropped one at a time, the weakest into a variable first."""
    left = adjacency.copy()
    for j in range(len(left)):
        while (parents := np.flatnonzero(left[:, j]).tolist()) and min(
            (sizes := standardised_weights(X, j, parents)).values()
        ) < least:
            left[min(sizes, key=sizes.get), j] = False
    return left


@given(tables(max_p=6), st.floats(0.01, 0.6))
def test_a_dag_without_its_weakest_arrows(X, least):
    whole = learn(X, alpha=0.2)
    fit = learn(X, alpha=0.2, min_effect=least)
    np.testing.assert_array_equal(fit.graph.adjacency, literally(X, whole.graph.adjacency, least))
    record = fit.details["left_out"]
    assert record["below"] == least
    assert record["count"] == len(record["edges"]) == whole.graph.edge_count - fit.graph.edge_count
    assert all(size < least for _, _, size in record["edges"])
    assert all(one.size >= least for one in effects(fit))
    sd = X.std(axis=0)
    for one in effects(fit):
        assert abs(fit.weights[one.source, one.target]) * sd[one.source] / sd[one.target] == pytest.approx(one.size)


@pytest.mark.slow
@given(tables(min_p=3, max_p=6), st.sampled_from(["pc", "ges"]), st.floats(0.05, 0.6))
def test_the_lines_of_a_class_count_in_their_stronger_direction(X, method, least):
    whole = learn(X, method=method)
    adjacency = whole.graph.adjacency
    arrows = literally(X, adjacency & ~adjacency.T, least)
    expected = arrows.copy()
    for i, j in np.argwhere(adjacency & adjacency.T).tolist():
        sizes = []
        for source, target in ((i, j), (j, i)):
            parents = [*np.flatnonzero(arrows[:, target]).tolist(), source]
            sizes.append(standardised_weights(X, target, parents)[source])
        expected[i, j] = max(sizes) >= least
    fit = learn(X, method=method, min_effect=least)
    np.testing.assert_array_equal(fit.graph.adjacency, expected)
    if not fit.graph.valid:
        assert fit.details["valid"] is False
        assert not whole.graph.valid or "is the class of no DAG" in fit.warnings[-1]


@pytest.mark.slow
@pytest.mark.parametrize("method", list(METHODS))
def test_off_changes_nothing(method):
    more = {"gds": {"seed": 1}, "pooled": {"draws": 8}}.get(method, {})
    plain = learn("marks", method=method, **more).to_dict()
    for off in (0, 0.0) if method == "cvs" else (0.0,):
        fit = learn("marks", method=method, min_effect=off, **more)
        assert fit.to_dict() == plain
        assert "min_effect" not in fit.settings


@pytest.mark.slow
@given(tables(max_p=5), st.data())
def test_relabelling_the_columns_relabels_the_answer(X, data):
    new = list(data.draw(permutations(X.shape[1])))
    for method in ("cvs", "ges"):
        here = learn(X, method=method, min_effect=0.3).graph.adjacency
        there = learn(X[:, new], method=method, min_effect=0.3).graph.adjacency
        np.testing.assert_array_equal(there, here[np.ix_(new, new)])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_line_has_the_larger_effect_of_its_two_directions(order):
    moments = Moments.from_rows(simulate("erdos-renyi", 4, 60, seed=4, degree=3).X)
    adjacency = np.zeros((4, 4), dtype=bool)
    adjacency[[0, 1, 2, 3], [1, 0, 0, 1]] = True  # a line, and one more arrow into each of its ends
    of = _Regressions(moments)
    both = [of.effects(target, np.array(parents))[-1] for target, parents in ((1, [3, 0]), (0, [2, 1]))]
    assert both[0].size != pytest.approx(both[1].size, rel=0.05)
    assert of.of_line(adjacency, *order) == max(both, key=lambda one: one.size)


def collider(rows=2000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 3))
    X[:, 2] += 0.15 * X[:, 0] + X[:, 1]
    return X


def test_what_is_no_class_any_more_is_said_to_be_none():
    fit = learn(collider(), method="ges", min_effect=0.2)
    assert fit.graph.directed == (("X2", "X3"),)
    assert fit.details["valid"] is False
    assert "Without the edges of small effect the graph is the class of no DAG: X2 → X3" in fit.warnings[-1]
    assert fit.details["left_out"]["edges"][0][:2] == ["X1", "X3"]
    assert fit.any_sem.dag.edge_count == 1
    assert "valid" not in learn(collider(), method="ges").details


@pytest.mark.parametrize("method", ["cvs", "pc", "ges", "gds"])
def test_required_arrows_stay(method):
    fit = learn(collider(), method=method, min_effect=0.5, knowledge={"required": [("X1", "X3"), ("X1", "X2")]})
    assert {("X1", "X3"), ("X1", "X2")} <= set(fit.graph.directed)
    assert fit.settings["knowledge"]["required"]
    assert ["X1", "X3"] in fit.details["knowledge_arrows"]


@pytest.mark.slow
def test_everything_that_learns_has_it():
    X = simulate("erdos-renyi", 8, 500, 3, degree=4).X
    fit = learn(X, min_effect=0.3)
    assert fit.settings["min_effect"] == 0.3
    assert fit.details["left_out"]["count"] > 0
    for estimator in (
        CVS(min_effect=0.3),
        PC(min_effect=0.3),
        GES(min_effect=0.3),
        GDS(min_effect=0.3, random_state=1),
    ):
        found = clone(estimator).fit(X)
        more = {"seed": 1} if found.method == "gds" else {}
        assert found.graph_ == learn(X, method=found.method, min_effect=0.3, **more).graph
    both = compare(X, ["cvs", "ges"], min_effect=0.3)
    assert both["cvs"].graph == fit.graph
    assert both["ges"].settings["min_effect"] == 0.3
    again = learn(X, min_effect=0.3, bootstrap=4, draws=0, seed=1).support
    all_of_them = learn(X, bootstrap=4, draws=0, seed=1).support
    assert again.edge_support.sum() < all_of_them.edge_support.sum()
    turned = learn(X, method="pc", orient_by_order="skeleton", min_effect=0.3)
    assert all(one.size >= 0.3 for one in effects(turned))


@pytest.mark.slow
def test_it_is_said_how_many():
    fit = learn(collider(), min_effect=0.2)
    assert left_out(fit) == "1 edge with a standardised effect below 0.2 left out"
    assert left_out(fit) in summary(fit)
    assert left_out(fit) in fit._repr_html_()
    assert left_out(learn(collider())) == ""


def test_many_rows_and_trifles_are_pointed_out():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50_000, 3))
    X[:, 1] = 0.06 * X[:, 0] + 2 * X[:, 1]
    X[:, 2] = X[:, 1] + 3 * X[:, 2]
    for method in ("cvs", "pc", "ges"):
        fit = learn(X, method=method)
        assert "1 edge has a standardised effect below 0.05, which 50,000 rows are enough to find" in fit.warnings[-1]
        assert "--min-effect 0.05" in fit.warnings[-1]
        asked = learn(X, method=method, min_effect=0.05)
        assert asked.graph.edge_count == fit.graph.edge_count - 1
        assert not any("standardised effect" in sentence for sentence in asked.warnings)
    assert compare(X, ["cvs"])["cvs"].warnings == learn(X).warnings


@pytest.mark.parametrize("design", ["homogeneous", "heterogeneous", "erdos-renyi"])
def test_ordinary_tables_have_no_such_warning(design):
    for seed in range(3):
        fit = learn(simulate(design, 20, 1000, seed).X, parents="adaptive")
        assert not any("standardised effect" in sentence for sentence in fit.warnings)


@pytest.mark.parametrize("value", [-0.1, 1, 3, float("nan"), float("inf"), "0.1", True, [0.1]])
def test_other_values_are_refused(value):
    with pytest.raises(SettingError, match="a number from 0 on and below 1"):
        learn("marks", min_effect=value)
