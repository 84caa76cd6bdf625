"""A fit in the words of other programs; those that are installed are asked whether they understand it."""

from __future__ import annotations

from importlib.util import find_spec

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import ordag
from ordag import Dag
from ordag.data.table import Table
from ordag.errors import GraphError, GraphFormatError, SettingError
from ordag.graph.formats import read_text


def needs(package):
    """Mark a test that asks another package, of the extra `handover`."""
    missing = find_spec(package) is None
    return [
        pytest.mark.system,
        pytest.mark.skipif(missing, reason=f"{package} is not installed: pip install {package}"),
        pytest.mark.filterwarnings(
            "ignore"
        ),  # of these packages: what they think of each other changes with every release
    ]


def marks():
    return pd.DataFrame(Table("marks", keep=100).rows.values, columns=Table("marks").names)


@pytest.fixture(scope="module")
def fit():
    return ordag.learn("marks", draws=20, bootstrap=5)


def test_networkx_has_all_that_is_known_of_arrows_and_variables(fit):
    graph = fit.to_networkx()
    for row in fit.edges.itertuples():
        known = graph.edges[row.source, row.target]
        for name in ("weight", "std_error", "p_value", "probability", "support", "reason"):
            assert known[name] == getattr(row, name)
    assert nx.get_node_attributes(graph, "error_variance") == dict(zip(fit.names, fit.sem.omega, strict=True))
    assert ordag.Dag.from_networkx(graph) == fit.graph


@pytest.mark.parametrize("ending", ["graphml", "gml", "dot"])
def test_files_of_graphs_have_standard_errors_and_probabilities(fit, tmp_path, ending):
    path = tmp_path / f"graph.{ending}"
    fit.save(path)
    text = path.read_text()
    read = read_text(text, ending)
    assert set(read.directed) == set(fit.graph.directed)
    assert read.weights == pytest.approx(fit.edge_weights)
    if ending == "dot":
        assert all(f'std_error="{value}"' in text for value in fit.edges.std_error.tolist())
    else:
        graph = nx.read_graphml(path) if ending == "graphml" else nx.read_gml(path)
        for row in fit.edges.itertuples():
            assert graph.edges[row.source, row.target]["std_error"] == pytest.approx(row.std_error)
            assert graph.edges[row.source, row.target]["probability"] == pytest.approx(row.probability)


def test_a_class_goes_to_networkx_and_files_and_nothing_else(tmp_path):
    fit = ordag.learn("marks", "ges")
    assert all(data["undirected"] for *_, data in fit.to_networkx().edges(data=True))
    fit.save(tmp_path / "graph.graphml")
    for other in (fit.to_pgmpy, fit.to_dowhy, fit.to_lavaan, fit.to_semopy, fit.formulas):
        with pytest.raises(GraphError, match="edges without a direction"):
            other()


def test_formulas_are_for_the_table_as_it_was_given():
    table = {
        "a b": [1.5, 2, 4, 3, 5, 6.5, 6, 8],
        "class": [2.0, 1, 4, 3, 6, 5, 8, 7.5],
        "y": [1.0, 3, 2, 5, 4, 7, 8, 6],
    }
    table["kind"] = list("uvuvuvvu")
    known = {"required": [["a b", "class"], ["a b", "y"]], "forbidden": [["class", "y"], ["y", "class"]]}
    fit = ordag.learn(table, "cvs", knowledge=known, transform={"class": "log"}, adjust=["kind"])
    assert fit.formulas() == {
        "a b": "Q('a b') ~ C(kind)",
        "class": "np.log(Q('class')) ~ Q('a b') + C(kind)",
        "y": "y ~ Q('a b') + C(kind)",
    }
    assert ordag.learn("marks", "cvs").formulas()["algebra"] == "algebra ~ 1"


def test_lavaan_and_semopy_start_from_what_was_fitted(fit):
    assert f"vectors ~~ start({float(fit.sem.omega[1])!r})*vectors" in fit.to_lavaan()
    assert Dag.parse(fit.to_lavaan(), "lavaan") == fit.graph
    assert f"START({fit.edge_weights['algebra', 'vectors']!r}) ordag_b1_0\n" in fit.to_semopy()
    with pytest.raises(GraphFormatError, match="rename a b"):
        ordag.learn({"a b": [1.0, 2, 3, 5], "c": [1.0, 3, 2, 4]}, "cvs").to_semopy()


@pytest.mark.skipif(find_spec("pgmpy") is not None, reason="pgmpy is installed")
def test_a_missing_package_is_named(fit):
    with pytest.raises(SettingError, match="pip install pgmpy"):
        fit.to_pgmpy()


class TestPgmpy:
    pytestmark = needs("pgmpy")

    def test_it_has_the_same_distribution(self, fit):
        model = fit.to_pgmpy()
        assert model.check_model()
        mean, covariance = model.to_joint_gaussian()
        order = [fit.names.index(name) for name in nx.topological_sort(model)]
        np.testing.assert_allclose(mean, fit.moments.mean[order])
        np.testing.assert_allclose(covariance, fit.sem.covariance()[np.ix_(order, order)])


class TestDoWhy:
    pytestmark = needs("dowhy")

    def test_what_it_draws_has_the_same_distribution_before_and_after_an_intervention(self, fit):
        from dowhy import gcm

        gcm.util.general.set_random_seed(1)
        model = fit.to_dowhy()
        rows = gcm.draw_samples(model, 40_000)[list(fit.names)].to_numpy()
        np.testing.assert_allclose(rows.mean(axis=0), fit.moments.mean, atol=0.5)
        np.testing.assert_allclose(np.cov(rows.T), fit.sem.covariance(), rtol=0.1)
        moved = gcm.interventional_samples(model, {"vectors": lambda _: 60.0}, num_samples_to_draw=40_000)
        expected = fit.intervene(set={"vectors": 60.0}).table.set_index("variable").mean_after
        np.testing.assert_allclose(moved[list(fit.names)].mean(), expected, atol=0.5)

    def test_its_effect_by_adjustment_is_ours(self, fit):
        from dowhy import CausalModel

        rows = marks()
        model = CausalModel(rows, "vectors", "mechanics", graph=nx.DiGraph(fit.graph.directed))
        found = model.estimate_effect(model.identify_effect(), method_name="backdoor.linear_regression")
        assert found.value == pytest.approx(fit.adjust("vectors", "mechanics").estimates[0].effect)

    def test_it_attributes_odd_rows_and_changes_as_we_do(self):
        """Shapley values of DoWhy's, for the deviation of a target and for the change of its mean and its variance."""
        from dowhy import gcm

        gcm.util.general.set_random_seed(2)
        names, graph = list("abcd"), "dag { a -> b -> d; a -> c -> d; a -> d }"
        weights = {("a", "b"): 0.8, ("a", "c"): -0.5, ("b", "d"): 0.7, ("c", "d"): 1.0, ("a", "d"): 0.4}
        before = ordag.LinearSEM.from_edges(names, weights, omega=[1.0, 1.0, 0.5, 1.0])
        after = ordag.LinearSEM.from_edges(names, {**weights, ("b", "d"): 1.2}, [1, 1, 1.5, 1], [0.5, 0, 0, 0])
        tables = [pd.DataFrame(one.sample(1000, seed=k), columns=names) for k, one in enumerate((before, after), 1)]
        arrows = Dag.parse(graph, "dagitty").directed
        known = {"required": [list(edge) for edge in arrows], "forbidden": [["b", "c"], ["c", "b"]]}
        fit = ordag.learn(tables[0], knowledge=known, draws=0)
        assert set(fit.graph.directed) == set(arrows)

        odd = pd.DataFrame([[3.0, 1.0, -4.0, 2.0], [0.0, 4.0, 0.0, 0.0]], columns=names)

        class Value(gcm.anomaly_scorer.AnomalyScorer):
            def fit(self, X):
                pass

            def score(self, X):
                return X.reshape(-1)

        theirs = gcm.attribute_anomalies(
            fit.to_dowhy(),
            "d",
            odd,
            anomaly_scorer=Value(),
            attribute_mean_deviation=True,
            num_distribution_samples=20_000,
        )
        ours = fit.explain(odd, target="d").contributions
        for j, name in enumerate(names):
            np.testing.assert_allclose(theirs[name], ours[:, j], atol=0.06)

        model = gcm.ProbabilisticCausalModel(nx.DiGraph(arrows))
        for name in names:
            linear = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
            model.set_causal_mechanism(
                name, linear if list(model.graph.predecessors(name)) else gcm.EmpiricalDistribution()
            )
        found = ordag.changes(*tables, graph, target="d").explained
        for what, size, near in (("mean", np.mean, 0.06), ("variance", np.var, 0.4)):
            theirs = gcm.distribution_change(
                model,
                *tables,
                "d",
                num_samples=20_000,
                difference_estimation_func=lambda old, new, size=size: float(size(new) - size(old)),
                independence_test=lambda *_: 0.0,  # every equation may have changed, as here
                conditional_independence_test=lambda *_: 0.0,
            )
            for name, value in zip(found[what]["variable"], found[what]["values"], strict=True):
                assert theirs[name] == pytest.approx(value, abs=near), (what, name)


class TestStatsmodels:
    pytestmark = needs("statsmodels")

    def test_its_weights_are_ours(self, fit):
        from statsmodels.formula.api import ols

        rows = marks()
        for name, formula in fit.formulas().items():
            found = ols(formula, rows).fit()
            for parent in fit.graph.parents(name):
                assert found.params[parent] == pytest.approx(fit.edge_weights[parent, name])


class TestSemopy:
    pytestmark = needs("semopy")

    def test_it_converges_to_our_weights(self, fit):
        import semopy

        model = semopy.Model(fit.to_semopy())
        assert float(model.parameters["ordag_v0"].start) == fit.sem.omega[0]
        model.fit(marks())
        found = model.inspect()
        for row in found[found.op == "~"].itertuples():
            assert row.Estimate == pytest.approx(fit.edge_weights[row.rval, row.lval], rel=1e-3)
        plain = semopy.Model(fit.to_semopy(starts=False))
        plain.fit(marks())
        assert semopy.calc_stats(plain)["DoF"].iloc[0] == fit.test().whole.df
