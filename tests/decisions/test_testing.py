"""Tests of a graph on a table against regressions on the rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest
from scipy.stats import t as student

import ordag
from ordag import Dag
from ordag.decisions import testing
from ordag.decisions.claims import holm
from ordag.errors import ColumnError, GraphError, GraphFormatError, SettingError, UnreadableError
from ordag.graph import to_cpdag
from tests.oracles.decisions import bic, fitted_by_search, likelihood_ratio, partial_correlation
from tests.strategies import graphs

NAMES = ["a", "b", "c", "d", "e"]


def drawn(dag, n, seed, weight=0.8):
    random = np.random.default_rng(seed)
    p = len(dag.nodes)
    return random.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - weight * dag.adjacency)


def table(dag, X):
    return dict(zip(dag.nodes, X.T, strict=True))


@given(graphs.dags(node_names=st.just(NAMES)), st.integers(0, 999))
def test_claims_and_fit_are_those_of_regressions(dag, seed):
    X = np.random.default_rng(seed).standard_normal((40, 5)) @ np.random.default_rng(seed + 1).standard_normal((5, 5))
    found = ordag.test(dag, table(dag, X), compare=False)
    order = [dag.index(name) for name in dag.topological_order()]
    parents = [np.flatnonzero(dag.adjacency[:, j]).tolist() for j in range(5)]
    expected = {}
    for place, j in enumerate(order):
        for i in order[:place]:
            if not dag.adjacency[i, j]:
                expected[dag.nodes[i], dag.nodes[j]] = partial_correlation(X, i, j, parents[j]), len(parents[j])
    columns = found.columns
    assert set(zip(columns["first"], columns["second"], strict=True)) == set(expected)
    for first, second, r, p in zip(
        *(columns[key] for key in ("first", "second", "correlation", "p_value")), strict=True
    ):
        known, k = expected[first, second]
        assert r == pytest.approx(known, abs=1e-9)
        df = 40 - 2 - k
        assert p == pytest.approx(2 * student.sf(abs(known) * np.sqrt(df / (1 - known**2)), df), rel=1e-6)
    assert found.whole.chi2 == pytest.approx(likelihood_ratio(X, parents, order), abs=1e-8)
    assert found.whole.df == len(expected)
    assert found.bic == pytest.approx(bic(X, parents))
    assert found.whole.plain == pytest.approx(chi2.sf(found.whole.chi2, max(len(expected), 1)) if expected else 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_fit_and_degrees_are_those_of_a_search_over_weights_and_variances(seed):
    random = np.random.default_rng(seed)
    n, p = (8, 3) if seed < 2 else (30, 4)
    dag = Dag(NAMES[:p], np.triu(random.random((p, p)) < 0.5, 1))
    X = random.standard_normal((n, p)) @ random.standard_normal((p, p))
    edges = [(dag.index(a), dag.index(b)) for a, b in dag.directed]
    least, count = fitted_by_search(np.cov(X.T, bias=True), edges)
    whole = ordag.test(dag, table(dag, X), compare=False).whole
    assert whole.chi2 == pytest.approx(n * least, abs=1e-5)
    assert whole.df == p * (p + 1) // 2 - count


ILLNESS = ["exercise", "hardiness", "fitness", "stress", "illness"]
ROTH = [
    [1, -0.03, 0.39, -0.05, -0.08],
    [-0.03, 1, 0.07, -0.23, -0.16],
    [0.39, 0.07, 1, -0.13, -0.29],
    [-0.05, -0.23, -0.13, 1, 0.34],
]
SPREADS = [66.5, 38.0, 36.8, 67.0, 62.48]


@pytest.mark.parametrize(
    ("arrow", "statistic", "df", "p_value", "rmsea"),
    [
        ("", 11.078, 5, 0.050, 0.057),
        ("fitness -> stress", 5.921, 4, 0.205, 0.036),
        ("stress -> fitness", 5.668, 4, 0.225, 0.033),
    ],
)
def test_the_fit_is_that_of_lavaan(arrow, statistic, df, p_value, rmsea):
    """Three path models of illness (Kline; correlations of Roth et al. 1989) as lavaan 0.5-15 printed them with likelihood = "wishart",
    which multiplies the discrepancy by n − 1 where we, like lavaan by default, multiply it by n. Its two causes are joined."""
    correlations = np.array([*ROTH, [-0.08, -0.16, -0.29, 0.34, 1]])
    moments = ordag.Moments.from_covariance(correlations * np.outer(SPREADS, SPREADS), 373, names=ILLNESS)
    graph = f"dag {{ exercise -> hardiness -> stress; exercise -> fitness -> illness; stress -> illness; {arrow} }}"
    whole = ordag.test(graph, moments, compare=False).whole
    found = whole.chi2 * 372 / 373
    assert (round(found, 3), whole.df, round(float(chi2.sf(found, df)), 3)) == (statistic, df, p_value)
    assert round(np.sqrt((found - df) / (df * 372)), 3) == rmsea
    assert whole.rmsea == pytest.approx(rmsea, abs=0.001)
    fitted = ordag.refit(moments, ordag.Dag.parse(graph, "dagitty"))
    weights = dict(zip(fitted.sem.dag.directed, zip(fitted.weights, fitted.std_errors, strict=True), strict=True))
    assert np.round(weights["exercise", "fitness"][0], 3) == (0.213 if arrow.startswith("stress") else 0.216)
    assert np.round(weights["fitness", "illness"], 3) == pytest.approx([-0.424, 0.080], abs=0.0011)
    assert np.round(weights["stress", "illness"], 3) == pytest.approx([0.287, 0.044])


def test_marks_have_six_degrees_as_five_variances_and_four_weights_are_fitted():
    """semopy prints 27.053 on 7: it counts the variance of algebra among 15 moments, but not among the parameters."""
    found = ordag.test("vectors <- algebra -> analysis -> statistics; vectors -> mechanics", "marks", compare=False)
    assert found.whole.df == 15 - (5 + 4)
    assert found.whole.chi2 == pytest.approx(27.0481, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "algebra -> vectors -> mechanics",
        "dag { algebra -> vectors; vectors -> mechanics }",
        "digraph { algebra -> vectors -> mechanics }",
        "vectors ~ algebra\nmechanics ~ vectors",
        "pdag { algebra -- vectors -- mechanics }",
    ],
)
def test_a_graph_may_be_text_or_a_file_of_text(text, tmp_path):
    (tmp_path / "graph.txt").write_text(text)
    found = [ordag.test(one, "marks", compare=False) for one in (text, tmp_path / "graph.txt")]
    assert [one.claim(0) for one in found] == ["algebra ⊥ mechanics | vectors"] * 2 or "pdag" in text
    assert found[0].whole == found[1].whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algebra -> vectors -> algebra", "the text: the graph has a cycle"),
        ("algebra <-> vectors", "a hidden common cause cannot be in the graph"),
        ("f =~ algebra + vectors", "f is a latent variable"),
        ("dag { algebra }", "1 variable"),
        ("dag { }", "0 variables"),
    ],
)
def test_text_that_is_no_graph_to_test(text, message):
    with pytest.raises(GraphError, match=message):
        ordag.test(text, "marks")


@given(graphs.dags(node_names=st.just(NAMES)), st.integers(0, 99))
def test_the_best_single_change_lowers_bic_by_what_it_says_and_none_lowers_it_more(dag, seed):
    X = drawn(Dag.from_edges(NAMES, [("a", "b"), ("b", "c"), ("a", "d"), ("c", "e")]), 60, seed)

    def value(adjacency):
        return bic(X, [np.flatnonzero(adjacency[:, j]).tolist() for j in range(5)])

    now, best = value(dag.adjacency), 0.0
    for i in range(5):
        for j in range(5):
            for kind in ("add", "drop", "turn"):
                other = dag.adjacency.copy()
                if i == j or (kind == "add") == bool(dag.adjacency[i, j]) or (kind == "add" and dag.adjacency[j, i]):
                    continue
                other[i, j] = kind == "add"
                other[j, i] |= kind == "turn"
                try:
                    Dag(NAMES, other)
                except GraphError:
                    continue
                best = max(best, now - value(other))
    mend = ordag.test(dag, table(dag, X), compare=False).mend
    assert (0.0 if mend is None else mend.bic) == pytest.approx(best, abs=1e-6)
    if mend is not None:
        turned = dag.adjacency.copy()
        i, j = dag.index(mend.source), dag.index(mend.target)
        turned[i, j] = mend.kind == "add"
        turned[j, i] |= mend.kind == "turn"
        assert now - value(turned) == pytest.approx(mend.bic, abs=1e-6)


@pytest.mark.slow
def test_the_p_value_of_a_true_graph_is_uniform_in_few_rows(monkeypatch):
    """With 12 rows of 6 variables the plain χ² rejects several times too often, the corrected one at its level."""
    monkeypatch.setattr(testing, "FEWEST_RANDOM", 1)
    monkeypatch.setattr(testing, "RANDOM_WORK", 1)
    dag = Dag.from_edges([*NAMES, "f"], [("a", "b"), ("b", "c"), ("a", "d"), ("c", "e"), ("e", "f")])
    found = [ordag.test(dag, table(dag, drawn(dag, 12, seed)), compare=False).whole for seed in range(150)]
    assert kstest([one.p_value for one in found], "uniform").pvalue > 0.01
    assert np.mean([one.plain < 0.05 for one in found]) > 0.12


def test_a_wrong_graph_is_contradicted_in_words():
    dag = Dag.from_edges(NAMES[:3], [("a", "b"), ("b", "c")])
    X = drawn(Dag.from_edges(NAMES[:3], [("a", "b"), ("b", "c"), ("a", "c")]), 400, 1)
    found = ordag.test(dag, table(dag, X))
    assert found.contradicted
    assert found.light == "red"
    assert "1 of 1 independence fails; it is a ⊥ c | b (partial correlation ." in found.sentence
    assert "dding a → c would mend most." in found.sentence
    assert found.bic > found.learned_bic
    assert json.loads(found.to_json())["claims"][0]["contradicted"] is True
    assert "a ⊥ c | b" in str(found)


def test_a_right_graph_is_not_contradicted_and_mixed_up_it_is():
    dag = Dag.from_edges(NAMES, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    found = ordag.test(dag, table(dag, drawn(dag, 500, 4)), compare=False)
    assert not found.contradicted
    whole, told = found.whole, found.to_dict()
    assert [told[name] for name in ("chi2", "df", "p_value")] == [whole.chi2, whole.df, whole.p_value]
    assert whole.df == 6
    assert found.informative
    assert found.light == "green"
    assert found.random.low > sum(p < 0.05 for p in found.columns["p_value"])
    assert found.sentence.startswith("These rows do not contradict the graph (χ² = ")


def test_needless_arrows_are_named():
    dag = Dag.from_edges(NAMES[:3], [("a", "b"), ("a", "c")])
    X = drawn(Dag.from_edges(NAMES[:3], [("a", "b")]), 300, 2)
    found = ordag.test(dag, table(dag, X), compare=False)
    assert "The rows show no need of a → c." in found.sentence
    assert (found.mend.kind, found.mend.source, found.mend.target) == ("drop", "a", "c")


def test_graphs_of_one_class_have_the_same_fit():
    dag = Dag.from_edges(NAMES, [("a", "b"), ("b", "c"), ("a", "d"), ("c", "e")])
    X = drawn(dag, 100, 7)
    first, second = (ordag.test(one, table(dag, X), compare=False) for one in (dag, to_cpdag(dag)))
    assert first.whole == pytest.approx(second.whole)
    assert first.bic == pytest.approx(second.bic)


def test_a_complete_graph_claims_nothing():
    found = ordag.test(Dag(["a", "b"], [[0, 1], [0, 0]]), {"a": [1.0, 2, 3, 5], "b": [2.0, 1, 4, 3]}, compare=False)
    assert found.sentence.startswith("The graph joins all pairs")
    assert found.random is None
    told = found.to_dict()
    assert [told[name] for name in ("chi2", "df", "p_value", "p_value_uncorrected", "rmsea")] == [0.0, 0, 1.0, 1.0, 0.0]


def test_a_learned_graph_on_its_own_rows_comes_with_a_note_and_split_learns_again():
    fit = ordag.learn("marks", "cvs", alpha=0.05)
    found = fit.test()
    assert found.same_rows
    assert "learned from these rows" in found.notes[0]
    assert found.light != "green"
    halves = fit.test(split=True)
    assert halves.n == 44
    assert not halves.same_rows
    assert fit.test(split=True, seed=1).whole != halves.whole


def test_too_few_rows_for_the_whole_still_test_the_claims():
    dag = Dag.from_edges(NAMES, [("a", "b")])
    found = ordag.test(dag, ordag.Moments.from_rows(drawn(dag, 5, 3), NAMES), compare=False)
    assert found.whole is None
    assert {found.to_dict()[name] for name in ("chi2", "df", "p_value", "p_value_uncorrected", "rmsea")} == {None}
    assert len(found.claims) == 9


def test_holm_is_the_literal_one():
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.2])
    assert holm(p)[[0, 2, 3, 4]].tolist() == pytest.approx([0.04, 0.09, 0.09, 0.2])
    assert np.isnan(holm(p)[1])


def test_bad_graphs_and_tables(tmp_path):
    dag = Dag.from_edges(["algebra", "age"], [("algebra", "age")])
    with pytest.raises(ColumnError, match="age"):
        ordag.test(dag, "marks")
    with pytest.raises(SettingError, match="give the table"):
        ordag.test(dag)
    with pytest.raises(SettingError, match="level"):
        ordag.test(dag, "marks", level=2)
    with pytest.raises(GraphError, match="give a Dag"):
        ordag.test(3, "marks")
    with pytest.raises(SettingError, match="not learned here"):
        ordag.test(dag, "marks", split=True)
    cyclic = tmp_path / "g.dagitty"
    cyclic.write_text("dag { a -> b b -> a }")
    with pytest.raises(GraphFormatError, match="cycle"):
        ordag.test(cyclic, "marks")
    with pytest.raises(UnreadableError, match=r"There is no file '.*graph\.xyz'"):
        ordag.test(tmp_path / "graph.xyz", "marks")
    for text in ("graph\0.dot", "graph\ud800.dot"):
        with pytest.raises(UnreadableError, match=r"is no graph, and no path of a file"):
            ordag.test(text, "marks")
    (tmp_path / "graph.xyz").write_text("hello")
    with pytest.raises(GraphFormatError, match="known endings"):
        ordag.test(tmp_path / "graph.xyz", "marks")


def test_a_model_in_json_stands_for_its_graph(tmp_path):
    drawn = ordag.simulate("erdos-renyi", 5, 200, 1)
    path = tmp_path / "truth.json"
    path.write_text(drawn.sem.to_json(), encoding="utf-8")
    rows = dict(zip(drawn.names, drawn.X.T, strict=True))
    assert ordag.test(path, rows, compare=False).graph == drawn.dag


def test_a_contradicted_graph_is_held_against_its_variables_mixed_up():
    good = ordag.test(
        "algebra -> vectors; algebra -> analysis; analysis -> statistics; vectors -> mechanics", "marks", compare=False
    )
    assert good.contradicted
    assert f"it breaks {good._unadjusted} of 6 claims; with its variables mixed up " in good.notes[0]
    bad = ordag.test("statistics -> vectors -> algebra; mechanics -> analysis", "marks", compare=False)
    assert (", hardly fewer than with its variables mixed up: " in bad.notes[0]) == (not bad.informative)


@pytest.mark.parametrize("graph", ["", "  \n"])
def test_an_empty_graph_is_refused(graph):
    with pytest.raises(GraphError, match="write its arrows"):
        ordag.test(graph, "marks")


@pytest.mark.parametrize(
    "ask", [ordag.test, lambda *given, **more: ordag.adjust(given[0], "algebra", "vectors", given[1], **more)]
)
def test_an_unknown_setting_is_named(ask):
    with pytest.raises(SettingError, match="levle: this call has no such setting"):
        ask("algebra -> vectors", "marks", levle=0.1)


@pytest.mark.parametrize("name", ["g.txt", "g.dot", "g.csv"])
def test_an_empty_file_is_said_to_be_empty(tmp_path, name):
    (tmp_path / name).write_text("\n")
    with pytest.raises(GraphError, match=rf"{name} is empty: write the arrows of a graph into it"):
        ordag.test(tmp_path / name, "marks")


def test_a_graph_with_a_column_of_text_is_told_to_leave_it_out(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(f"{k},{k * k % 7},{'xy'[k % 2]}" for k in range(20)))
    with pytest.raises(ColumnError, match=r"column 'c' holds text: only numbers can be used\. Leave it out\."):
        ordag.test("a -> b -> c", tmp_path / "t.csv")


@pytest.mark.parametrize(
    "ask", [ordag.test, lambda *given, **reading: ordag.adjust(given[0], "a", "b", given[1], **reading)]
)
def test_a_graph_at_one_time_is_not_held_against_rows_with_earlier_values(ask):
    rng = np.random.default_rng(1)
    a = np.cumsum(rng.standard_normal(60))
    table = {"a": a, "b": a + rng.standard_normal(60)}
    with pytest.raises(SettingError, match="takes a graph of variables at one time: leave lags out"):
        ask("a -> b", table, lags=1)
    ask("a -> b", table, difference=1)  # differences are rows of one time
