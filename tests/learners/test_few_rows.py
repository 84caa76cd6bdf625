"""No more rows than variables: sparse orders, what can be said of them, and what cannot."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from budgets import thorough, tries

import ordag
from ordag.errors import ColumnError, DataError, SettingError, TooFewRowsError
from ordag.learners.result import Level
from ordag.learners.sparse_parents import SparseParents, discovery_rates


def sparse_rows(p, n, seed=0, degree=2):
    return ordag.simulate("erdos-renyi", p, n, seed, degree=degree, weights=(0.7, 1.2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "p"),
    [(5, 8), *(thorough(*size) for size in ((21, 20), (15, 20), (20, 20), (20, 60)))],
)
def test_every_answer_is_there_or_says_why_not(n, p, tmp_path):
    X = sparse_rows(p, n).X
    fit = ordag.learn(X)
    assert fit.method == "cvs"
    assert fit.details["variance"] == "sparse"
    assert any("--variance sparse" in sentence for sentence in fit.warnings)
    assert sorted(fit.column_order) == list(range(p))
    document = json.loads(fit.to_json())
    assert document["details"]["p_values"] == "after selection"
    assert all(edge["p_value"] <= edge["q_value"] for edge in document["edges"])
    fit.report(tmp_path / "x.html")
    fit.save(tmp_path / "x.graphml")
    assert "few" in repr(fit)
    diagnosis = ordag.check(X)
    assert {"sorting", "hidden_causes"} <= {one.key for one in diagnosis.findings if one.level == "unchecked"}
    assert ordag.compare(X, ["cvs", "pc"])["cvs"].graph == fit.graph


def test_methods_that_need_more_rows_say_so():
    X = sparse_rows(12, 10).X
    for method in ("pooled", "pc", "ges", "gds"):
        with pytest.raises(TooFewRowsError, match="10 rows and 12 variables"):
            ordag.learn(X, method)
    with pytest.raises(TooFewRowsError, match="at least 30 rows"):
        ordag.learn(sparse_rows(60, 29).X, "pooled")
    with pytest.raises(TooFewRowsError):
        ordag.learn(X, variance="least-squares")
    for parents in ("bic", "adaptive"):
        with pytest.raises(SettingError, match="regressions on all earlier variables"):
            ordag.learn(X, "cvs", parents=parents)
    with pytest.raises(SettingError, match="direction='backward'"):
        ordag.learn(X, "cvs", variance="sparse", direction="backward")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [thorough(30, 29), thorough(35, 60)])
def test_the_pooled_search_is_what_few_rows_get(n, p, tmp_path):
    X = sparse_rows(p, n).X
    fit = ordag.learn(X)
    assert fit.method == "pooled"
    assert any("--method cvs" in sentence for sentence in fit.warnings)
    assert fit.graph.adjacency.sum(axis=0).max() <= n // 4
    assert {"probability", "reason"} <= set(fit.edges)
    assert sorted(fit.column_order) == list(range(p))
    assert all(fit.order.index(a) < fit.order.index(b) for a, b in fit.graph.directed)
    json.loads(fit.to_json())
    fit.report(tmp_path / "x.html")
    assert ordag.learn(X, alpha=0.05).method == "cvs"
    assert ordag.learn(ordag.Moments.from_rows(X), "pooled", draws=2).optimum == fit.optimum


@pytest.mark.thorough
def test_auto_takes_cvs_for_many_variables_only_where_rows_are_too_few_for_regressions_on_all():
    assert ordag.learn(sparse_rows(210, 60).X).method == "cvs"
    assert ordag.learn(sparse_rows(210, 212).X, draws=0).method == "pooled"
    assert ordag.learn(sparse_rows(110, 60).X, draws=0).method == "pooled"


@pytest.mark.slow
def test_pooled_keeps_knowledge_and_leaves_small_effects_out():
    X = sparse_rows(40, 35).X
    free = ordag.learn(X, "pooled", draws=0)
    source, target = next(iter(free.graph.directed))
    known = {"forbidden": [(source, target)], "required": [("X1", "X2")], "tiers": [["X1", "X3"], ["X2"]]}
    fit = ordag.learn(X, "pooled", knowledge=known, draws=0)
    assert (source, target) not in fit.graph.directed
    assert ("X1", "X2") in fit.graph.directed
    assert fit.order.index("X3") < fit.order.index("X2")
    large = ordag.learn(X, "pooled", min_effect=0.4, draws=0)
    assert 0 < large.graph.edge_count < free.graph.edge_count


@pytest.mark.thorough
def test_pooled_does_not_depend_on_how_columns_stand():
    X = sparse_rows(40, 35, 5).X
    names = [f"x{j}" for j in range(40)]
    shuffle = np.random.default_rng(0).permutation(40)
    here = ordag.learn(ordag.Moments.from_rows(X, names=names), "pooled", draws=0)
    there = ordag.learn(ordag.Moments.from_rows(X[:, shuffle], names=[names[j] for j in shuffle]), "pooled", draws=0)
    assert there.graph.reorder(names) == here.graph
    assert there.score == pytest.approx(here.score, rel=1e-9)


@pytest.mark.thorough
def test_near_duplicates_are_no_obstacle_to_the_pooled_search():
    X = sparse_rows(40, 35).X
    noise = 1e-9 * np.random.default_rng(0).standard_normal((35, 4))
    near = np.column_stack([X, X[:, :3] + noise[:, :3], X[:, 4] + X[:, 5] + noise[:, 3]])
    fit = ordag.learn(near, "pooled", draws=100, knowledge={"required": [("X1", "X4"), ("X41", "X4")]})
    assert np.isfinite(fit.score)
    assert ((fit.probabilities.arrows >= 0) & (fit.probabilities.arrows <= 1)).all()


@pytest.mark.thorough
def test_units_of_their_own_leave_the_pooled_search_its_edges():
    drawn = sparse_rows(60, 50, 2)
    X = drawn.X / drawn.X.std(axis=0) * np.exp(np.random.default_rng(2).normal(size=60))
    truth = drawn.dag.skeleton
    right = {}
    for method in ("pooled", "cvs"):
        found = ordag.learn(X, method).graph.skeleton
        right[method] = 2 * (found & truth).sum() / (found.sum() + truth.sum())
    assert right["pooled"] > right["cvs"] + 0.1


@pytest.mark.thorough
def test_independent_columns_have_no_edge_by_the_pooled_search():
    rng = np.random.default_rng(8)
    found = [ordag.learn(rng.standard_normal((60, 80)), "pooled").graph.edge_count > 0 for _ in range(20)]
    assert np.mean(found) <= 0.1


def test_with_enough_rows_nothing_changes_unless_asked():
    X = sparse_rows(10, 60).X
    plain, named = ordag.learn(X, "cvs"), ordag.learn(X, "cvs", variance="least-squares")
    assert plain.graph == named.graph
    assert plain.order == named.order
    sparse = ordag.learn(X, "cvs", variance="sparse")
    assert sparse.ordering.factor is None
    assert set(sparse.steps.columns) == {"node", "variance", "margin"}
    assert "direction_p_value" not in sparse.edges


@pytest.mark.slow
def test_auto_compares_and_takes_the_lower_score():
    rules = set()
    for seed in tries(1, 12):
        drawn = sparse_rows(30, 40, seed, degree=4)
        fit = ordag.learn(drawn.X, "cvs", variance="auto", alpha=0.05)
        rules.add(fit.ordering.rule)
        assert fit.ordering.factor is not None
        assert "direction_p_value" in fit.edges
        fit.to_json()
    assert "sparse" in rules
    many = ordag.learn(sparse_rows(8, 200).X, "cvs", variance="auto")
    assert many.ordering.rule == "forward"


def test_knowledge_is_kept():
    X = sparse_rows(20, 15).X
    free = ordag.learn(X, "cvs")
    source, target = next(iter(free.graph.directed))
    fit = ordag.learn(X, "cvs", knowledge={"forbidden": [(source, target)], "required": [("X1", "X2")]})
    assert (source, target) not in fit.graph.directed
    assert ("X1", "X2") in fit.graph.directed
    assert fit.order.index("X1") < fit.order.index("X2")


@pytest.mark.slow
def test_bootstrap_forecast_and_effects():
    X = sparse_rows(12, 12).X
    result = ordag.bootstrap(X, 12, method="cvs", seed=1, workers=1)
    assert result.completed >= 10
    assert ((result.edge_support >= 0) & (result.edge_support <= 1)).all()
    from_moments = ordag.bootstrap(ordag.Moments.from_rows(X), 12, method="cvs", seed=1, workers=1)
    assert from_moments.completed >= 10
    fit = ordag.learn(X, "cvs")
    assert fit.forecast(5) is not None
    assert len(ordag.effects(fit, replicates=5, workers=1).table)


@pytest.mark.slow
def test_split_tests_are_of_other_rows():
    drawn = sparse_rows(20, 100, 3)
    fit = ordag.learn(drawn.X, "cvs", split=True)
    assert fit.n == 50
    assert fit.details["p_values"] == "of other rows than the graph"
    wide = ordag.learn(drawn.X[:24], "cvs", split=True)
    assert "those of the other half" in wide.warnings[0]
    assert "--split" not in wide.warnings[0]
    with pytest.raises(SettingError, match="split=True"):
        ordag.learn(ordag.Moments.from_rows(drawn.X), "cvs", split=True)
    noise = np.random.default_rng(0)
    values = []
    for _ in range(40):
        again = ordag.learn(noise.standard_normal((60, 12)), "cvs", split=True, alpha=0.2)
        values += list(again.edges["p_value"])
    assert np.mean(np.array(values) <= 0.1) < 0.2


def test_discovery_rates_are_those_of_benjamini_and_hochberg():
    rng = np.random.default_rng(1)
    values = rng.random(30) ** 3
    rates = discovery_rates(values, 100)
    for level in (0.05, 0.1, 0.3, 0.5):
        ranked = np.sort(values)
        below = [i for i in range(1, 31) if ranked[i - 1] <= level * i / 100]
        found = values <= ranked[below[-1] - 1] if below else np.zeros(30, bool)
        np.testing.assert_array_equal(rates <= level, found)


def test_columns_that_cannot_be_told_apart_are_named():
    X = sparse_rows(12, 10).X
    with pytest.raises(DataError, match="never change"):
        ordag.learn(np.column_stack([X, np.ones(10)]), strict=True)
    twice = np.column_stack([X, X[:, 0]])
    with pytest.raises(DataError, match="X13"):
        ordag.learn(twice, strict=True)
    near = np.column_stack([X, X[:, :3] + 1e-9 * np.random.default_rng(0).standard_normal((10, 3))])
    assert ordag.learn(near).graph.edge_count >= 0
    with pytest.raises(ColumnError):
        ordag.learn(X, columns=["nope"])


@pytest.mark.slow
def test_on_the_command_line(run, tmp_path):
    np.savetxt(
        tmp_path / "wide.csv", sparse_rows(12, 10).X, delimiter=",", header=",".join("abcdefghijkl"), comments=""
    )
    status, out, err = run("learn", str(tmp_path / "wide.csv"))
    assert status == 0
    assert "10 rows are too few for regressions" in out
    status, out, _ = run("learn", str(tmp_path / "wide.csv"), "--variance", "sparse", "--json")
    assert json.loads(out)["settings"]["variance"] == "sparse"
    assert run("check", str(tmp_path / "wide.csv"))[0] == 0
    status, _, err = run("learn", str(tmp_path / "wide.csv"), "--variance", "least-squares")
    assert status == 2
    assert "10 rows and 12 variables" in err


class ByRegression:
    """Least squares, as a user would write it."""

    def __init__(self):
        self.calls = 0

    def conditional_variance(self, x, Z):
        self.calls += 1
        Z = np.column_stack([np.ones(len(x)), Z])
        residual = x - Z @ np.linalg.lstsq(Z, x, rcond=None)[0]
        return float(residual @ residual / (len(x) - Z.shape[1]))


def test_an_estimator_of_the_users():
    X = sparse_rows(7, 80).X
    by_regression = ByRegression()
    fit = ordag.learn(X, "cvs", variance=by_regression)
    literal = ordag.learn(X, "cvs")
    assert fit.order == literal.order
    assert fit.graph == literal.graph
    assert by_regression.calls == 7 * 8 // 2
    assert fit.settings["variance"] == fit.details["variance"] == "ByRegression"
    assert json.loads(fit.to_json())["settings"]["variance"] == "ByRegression"
    before = ordag.learn(X, "cvs", variance=ByRegression(), knowledge={"required": [(fit.order[-1], fit.order[0])]})
    assert before.order.index(fit.order[-1]) < before.order.index(fit.order[0])
    with pytest.raises(SettingError, match="takes the rows"):
        ordag.learn(ordag.Moments.from_rows(X), "cvs", variance=ByRegression())
    with pytest.raises(SettingError, match="conditional_variance"):
        ordag.learn(X, "cvs", variance=object())

    class Wrong:
        def conditional_variance(self, x, Z):
            return float("nan")

    with pytest.raises(SettingError, match="positive number"):
        ordag.learn(X, "cvs", variance=Wrong())


def test_an_estimator_that_takes_rows_can_be_bootstrapped():
    X = sparse_rows(5, 40).X
    result = ordag.bootstrap(X, 6, method="cvs", variance=ByRegression(), seed=1, workers=1)
    literal = ordag.bootstrap(X, 6, method="cvs", seed=1, workers=1)
    np.testing.assert_allclose(result.edge_support, literal.edge_support)


def test_tests_that_see_rows():
    rng = np.random.default_rng(3)
    a = rng.standard_normal(300)
    X = np.column_stack([a, a**2 + 0.3 * rng.standard_normal(300), rng.standard_normal(300)])
    straight, curved = (ordag.learn(X, "cvs", test=test) for test in ("fisher-z", "distance-correlation"))
    assert not straight.graph.skeleton[0, 1]
    assert curved.graph.skeleton[0, 1]
    assert not curved.graph.skeleton[:, 2].any()
    assert curved.edges["p_value"][0] < 0.01
    curved.to_json()
    calls = []

    def own(x, y, Z):
        calls.append(Z.shape)
        return 0.0 if Z.shape[1] == 0 else 1.0

    fit = ordag.learn(X, "cvs", test=own)
    assert sorted(calls) == [(300, 0), (300, 1), (300, 1)]
    assert fit.graph.edge_count == 1
    assert fit.settings["test"] == "own"
    with pytest.raises(SettingError, match="takes the rows"):
        ordag.learn(ordag.Moments.from_rows(X), "cvs", test="distance-correlation")
    with pytest.raises(SettingError, match="is not known"):
        ordag.learn(X, "pc", test="distance-correlation")
    assert ordag.bootstrap(X, 4, method="cvs", test=own, seed=1, workers=1).completed == 4


def test_the_level_of_sparse_parents_is_a_rate_of_false_arrows():
    found = SimpleNamespace(settings={"alpha": 0.1})
    assert SparseParents(10).level(found) == Level("q_value", 0.1, 10, 0.1, correction="bh", stands_for=0.1)
