"""PC, GES and GDS through the one call: the same Fit, JSON, exports and estimators as the paper's own method."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import ordag
from ordag import GDS, GES, PC, Cpdag, Dag, learn, simulate
from ordag.data.table import Table
from ordag.errors import DataError, SettingError
from ordag.graph import to_cpdag
from ordag.learners.cvs import SECONDS_BY_LASSO, SECONDS_BY_ROWS, SECONDS_BY_TESTS, CvsSettings, _not_compared
from ordag.learners.gds import gds_search
from ordag.learners.ges import ges_search
from ordag.learners.methods import settings_for
from ordag.learners.orient import orient_by_order
from ordag.learners.pc import pc_search
from ordag.learners.pooled.method import PooledSettings
from ordag.learners.result import Level
from ordag.learners.settings import SECONDS_SPARSE

X = simulate("erdos-renyi", 8, 500, 3, degree=3).X


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pc", "ges", "gds"])
def test_learn_is_the_search_on_the_same_moments(method):
    moments = ordag.Moments.from_rows(X)
    fit = learn(X, method=method, **({"seed": 1} if method == "gds" else {}))
    found = {
        "pc": lambda: pc_search(moments),
        "ges": lambda: ges_search(moments),
        "gds": lambda: gds_search(moments, seed=1),
    }[method]()
    assert fit.graph == found.graph
    assert fit.score == getattr(found, "score", None)
    assert fit.order is None
    document = json.loads(fit.to_json())
    assert document["settings"]["method"] == method
    assert document["order"] is None
    assert len(document["edges"]) == len(fit.graph.directed)
    assert len(document["undirected"]) == len(fit.graph.undirected)
    assert (fit.sem is None) == isinstance(fit.graph, Cpdag)
    assert "<svg" in fit._repr_html_()
    assert method in repr(fit)
    assert len(fit.edges) == len(fit.graph.directed)


@pytest.mark.slow
def test_pc_keeps_its_tests():
    fit = learn(X, method="pc")
    joined = fit.graph.skeleton
    assert len(fit.result.separating_sets) == (~joined).sum() // 2 - 4
    assert (fit.result.p_values[joined] <= 0.01).all()
    apart = ~joined & ~np.eye(8, dtype=bool)
    assert (fit.result.p_values[apart] > 0.01).all()
    separated = json.loads(fit.to_json())["separated"]
    assert len(separated) == len(fit.result.separating_sets)
    assert set(separated[0]) == {"pair", "given", "p_value"}


def test_a_page_can_move_the_level_of_pc_where_there_is_an_edge():
    fit = learn("marks", method="pc", alpha=0.05)
    assert fit.result.level(fit) == Level("p_value", 0.05, 10, 0.05, stands_for=0.05)
    apart = learn(np.linalg.qr(np.random.default_rng(0).standard_normal((50, 3)))[0], method="pc")
    assert apart.graph.edge_count == 0
    assert apart.result.level(apart) is None


def test_auto_takes_cvs_for_many_variables_and_says_so_or_refuses_them_where_they_are_standardised(monkeypatch):
    table = Table(X)
    assert isinstance(settings_for(table, "auto", {}), PooledSettings)
    assert table.choice == ""
    monkeypatch.setattr("ordag.learners.methods.POOLED_UP_TO", 7)
    assert isinstance(settings_for(table, "auto", {"draws": 0}), PooledSettings)  # a setting of its own
    for settings, said in (({}, True), ({"alpha": 0.01}, False)):
        table = Table(X)
        assert isinstance(settings_for(table, "auto", settings), CvsSettings)
        assert table.choice.startswith("With more than 7 variables method='auto'") == said
    with pytest.raises(DataError, match="The 8 columns have been standardised"):
        settings_for(Table((X - X.mean(axis=0)) / X.std(axis=0)), "auto", {})


@pytest.mark.parametrize(
    ("settings", "p", "seconds"),
    [
        ({"variance": "lasso"}, 20, SECONDS_BY_LASSO * 400),
        ({"variance": "auto"}, 20, 3.0 * SECONDS_SPARSE * 400),
        ({"variance": "robust"}, 15, SECONDS_BY_ROWS["robust"]),
        ({"variance": "robust"}, 60, SECONDS_BY_ROWS["robust"] * 4.0),
        ({"variance": "regression"}, 20, math.inf),
        ({"parents": "test"}, 20, SECONDS_BY_TESTS * 900),
        ({"parents": "adaptive"}, 20, CvsSettings.seconds * 900),
    ],
)
def test_what_learning_again_costs(settings, p, seconds):
    assert CvsSettings(**settings).cost(p) == pytest.approx(seconds)
    if not settings.get("variance"):
        assert CvsSettings(**settings).cost(p, sparse=True) == pytest.approx(SECONDS_SPARSE * p**2)


@pytest.mark.parametrize(
    ("n", "p", "settings", "said"),
    [
        (5009, 501, {"variance": "auto"}, True),
        (5010, 501, {"variance": "auto"}, False),
        (600, 500, {"variance": "auto"}, False),
        (600, 501, {}, False),
        (600, 501, {"variance": "auto", "direction": "backward"}, False),
    ],
)
def test_a_sparse_order_that_was_not_compared_is_said(n, p, settings, said):
    found = _not_compared(SimpleNamespace(n=n, moments=SimpleNamespace(p=p)), CvsSettings(**settings))
    assert len(found) == said
    assert all(f"With {n:,} rows for {p} variables" in one and "beyond 500 variables" in one for one in found)


def test_gds_edges_have_the_p_values_of_their_regressions():
    fit = learn("marks", method="gds", seed=0)
    row = fit.edges.set_index(["source", "target"]).loc[("vectors", "mechanics")]
    cvs = learn("marks", alpha=0.05).edges.set_index(["source", "target"]).loc[("vectors", "mechanics")]
    assert row["weight"] == pytest.approx(cvs["weight"])
    assert 0 < row["p_value"] < 0.01


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([PC(), GES(), GDS(random_state=0)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)  # asserts inside


@pytest.mark.slow
def test_estimators_are_learn():
    for estimator, method in ((PC(alpha=0.05), "pc"), (GES(penalty=2.0), "ges"), (GDS(random_state=3), "gds")):
        fitted = clone(estimator).fit(X)
        given = {"seed" if name == "random_state" else name: value for name, value in estimator.get_params().items()}
        assert fitted.graph_ == learn(X, method=method, **given).graph
        assert np.isfinite(fitted.score(X))
        assert (fitted.weights_ is None) == (method != "gds")


@pytest.mark.slow
def test_orienting_within_the_class_gives_a_member_and_reports_what_it_could_not_do():
    rng = np.random.default_rng(0)
    for seed in range(40):
        dag = simulate("erdos-renyi", 6, 5, seed, degree=3).dag
        order = [dag.nodes[i] for i in rng.permutation(6)]
        place = {name: k for k, name in enumerate(order)}
        result = orient_by_order(to_cpdag(dag), order)
        assert to_cpdag(result.graph) == to_cpdag(dag)
        assert set(result.conflicts) == {(a, b) for a, b in result.graph.directed if place[a] > place[b]}
        compelled = set(to_cpdag(dag).directed)
        assert {edge for edge in compelled if place[edge[0]] > place[edge[1]]} <= set(result.conflicts)
        along = orient_by_order(to_cpdag(dag), order, "skeleton")
        assert all(place[a] < place[b] for a, b in along.graph.directed)
        assert (along.graph.skeleton == dag.skeleton).all()
        assert set(along.conflicts) == {(a, b) for a, b in compelled if place[a] > place[b]}


def test_orienting_along_a_causal_order_gives_back_the_dag():
    for seed in range(20):
        dag = simulate("erdos-renyi", 7, 5, seed, degree=3).dag
        for way in ("class", "skeleton"):
            result = orient_by_order(to_cpdag(dag), dag.topological_order(), way)
            assert result.graph == dag
            assert result.conflicts == ()


def test_an_invalid_class_is_not_silently_patched():
    broken = Cpdag.from_edges(list("abcd"), [], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    with pytest.raises(SettingError, match="skeleton"):
        orient_by_order(broken, "abcd")
    assert isinstance(orient_by_order(broken, "abcd", "skeleton").graph, Dag)
    with pytest.raises(SettingError, match="way='both' is not known: use class, skeleton"):
        orient_by_order(broken, "abcd", "both")


@pytest.mark.slow
def test_orient_by_order_in_learn():
    drawn = simulate("erdos-renyi", 10, 5000, 1, degree=2)
    fit = learn(drawn.X, method="ges", orient_by_order="class")
    assert isinstance(fit.graph, Dag)
    assert fit.order is not None
    assert {"weight", "std_error", "p_value", "direction_p_value"} <= set(fit.edges.columns)
    assert fit.details["class"]["directed"] == [list(e) for e in learn(drawn.X, method="ges").graph.directed]
    recovered = 0
    for seed in range(8):
        drawn = simulate("erdos-renyi", 10, 5000, seed, degree=2)
        if learn(drawn.X, method="ges").graph == to_cpdag(drawn.dag):
            assert learn(drawn.X, method="ges", orient_by_order="class").graph == drawn.dag
            recovered += 1
    assert recovered >= 3
    sachs = learn("sachs", method="ges", orient_by_order="class")
    assert sachs.details["order_conflicts"]
    assert "contradicts arrows of the equivalence class" in sachs.warnings[-1]
    with pytest.raises(SettingError, match="class"):
        learn("marks", method="pc", orient_by_order="yes")


def test_settings_of_another_method_are_refused():
    with pytest.raises(SettingError, match="alpha is not a setting of 'ges'"):
        learn("marks", method="ges", alpha=0.05)
    with pytest.raises(SettingError, match="strategy='luck'"):
        learn("marks", method="gds", strategy="luck")


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("auto", {"penalty": "ebic"}, "penalty: ges and gds have this; say which with method="),
        ("auto", {"orient_by_order": "class"}, "orient_by_order: pc and ges have this"),
        ("auto", {"penalty": "ebic", "units": "unknown"}, "No method has all of penalty, units: name the method"),
        ("cvs", {"variance": "sparse", "correction": "bonferroni"}, "correction='bonferroni' is for tests of all pairs, and"),
    ],
)  # fmt: skip
def test_settings_that_leave_no_method(method, settings, said):
    with pytest.raises(SettingError, match=said):
        learn(X, method=method, **settings)


def test_progress_is_told():
    news = []
    learn(X, method="pc", progress=news.append)
    learn(X, method="ges", progress=news.append)
    learn(X, method="gds", seed=0, progress=news.append)
    assert any(text.startswith("PC") for text in news)
    assert any(text.startswith("GES: forward phase") for text in news)
    assert any("moves" in text for text in news)
