"""The one call and the one answer."""

from __future__ import annotations

import json
import re
import warnings
from types import SimpleNamespace

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from budgets import THOROUGH, crossed, tries
from hypothesis import given
from hypothesis import strategies as st
from strategies.tables import tables

import ordag
from ordag import Moments, learn, simulate
from ordag.data.table import Table
from ordag.errors import (
    CollinearError,
    ColumnError,
    ConstantColumnError,
    DataError,
    MissingValuesError,
    NonFiniteError,
    PrecisionWarning,
    SettingError,
    TooFewRowsError,
    UnderflowError,
)
from ordag.learners import methods
from ordag.learners.methods import settings_for
from ordag.learners.precision import regression_noise

SIX = {
    ("algebra", "vectors"),
    ("algebra", "analysis"),
    ("algebra", "statistics"),
    ("algebra", "mechanics"),
    ("analysis", "statistics"),
    ("vectors", "mechanics"),
}


def test_marks():
    fit = learn("marks", alpha=0.05)
    assert fit.order == ("algebra", "vectors", "analysis", "statistics", "mechanics")
    assert set(fit.graph.directed) == SIX
    assert fit.n == 88
    assert fit.expected_false_edges == pytest.approx(0.5)
    edges = fit.edges.set_index(["source", "target"])
    assert set(edges.index) == SIX
    rows = pd.read_csv(ordag.data.datasets.load("marks").path)
    y, x = rows["mechanics"], np.column_stack([np.ones(88), rows["vectors"], rows["algebra"]])
    weights, rss, *_ = np.linalg.lstsq(x, y, rcond=None)
    assert edges.loc[("vectors", "mechanics"), "weight"] == pytest.approx(weights[1])
    error = np.sqrt(rss[0] / 85 * np.linalg.inv(x.T @ x)[1, 1])
    assert edges.loc[("vectors", "mechanics"), "std_error"] == pytest.approx(error)
    assert fit.sem.intercept[fit.names.index("mechanics")] == pytest.approx(weights[0])
    assert fit.steps["variance"].round(2).tolist()[:2] == [111.60, 108.60]


@pytest.mark.slow
def test_every_kind_of_table_gives_the_same_answer(tmp_path):
    X = simulate("heterogeneous", 8, 500, 0).X
    names = [f"v{j}" for j in range(8)]
    frame = pd.DataFrame(X, columns=names)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "folder").mkdir()
    frame[:300].to_parquet(tmp_path / "folder" / "a.parquet")
    frame[300:].to_parquet(tmp_path / "folder" / "b.parquet")
    expected = learn(frame, draws=0)
    sources = [
        tmp_path / "t.csv",
        str(tmp_path / "t.parquet"),
        tmp_path / "folder",
        pl.DataFrame(frame.to_dict("list")),
        pa.Table.from_pandas(frame),
        Moments.from_rows(X, names=names),
        Moments.from_rows(X[:100], names=names).merge(Moments.from_rows(X[100:], names=names)),
        Moments.from_covariance(frame.cov(), 500, mean=frame.mean()),
    ]
    for source in sources:
        fit = learn(source, draws=0)
        assert fit.order == expected.order
        assert fit.graph == expected.graph
        np.testing.assert_allclose(fit.edges["p_value"], expected.edges["p_value"], rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(fit.sem.B, expected.sem.B, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@given(tables(min_p=3), st.data())
def test_relabelling_shifting_and_untouched_input(X, data):
    before = X.copy()
    permutation = np.array(data.draw(st.permutations(range(X.shape[1]))))
    a = learn(X, alpha=0.2)
    b = learn(X[:, permutation] + 5.0, alpha=0.2)
    np.testing.assert_array_equal(b.graph.adjacency, a.graph.adjacency[np.ix_(permutation, permutation)])
    np.testing.assert_allclose(b.sem.B, a.sem.B[np.ix_(permutation, permutation)], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_truth_is_recovered_from_population_moments(direction):
    for seed in range(8):
        sem = simulate("homogeneous", 10, 5, seed).sem
        fit = learn(Moments.from_covariance(sem.covariance(), 10**7, names=sem.names), alpha=1e-6, direction=direction)
        assert ordag.hamming(fit.graph, sem.dag) == 0
        np.testing.assert_allclose(fit.sem.B, sem.B, atol=1e-5)


@pytest.mark.slow
def test_recovery_gets_better_with_n():
    distances = []
    for n in (100, 400, 1600):
        fits = [(learn(s.X, draws=0), s) for s in (simulate("homogeneous", 12, n, seed) for seed in tries(3, 15))]
        distances.append(np.mean([ordag.hamming(fit.graph, s.dag) for fit, s in fits]))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 5


@pytest.mark.thorough
def test_bic_beats_one_percent_at_few_rows():
    one_percent, bic = [], []
    for seed in range(10):
        drawn = simulate("homogeneous", 20, 100, seed)
        one_percent.append(ordag.hamming(learn(drawn.X, method="cvs").graph, drawn.dag))
        bic.append(ordag.hamming(learn(drawn.X, parents="bic").graph, drawn.dag))
    assert np.mean(bic) < np.mean(one_percent)


def test_many_pairs_bring_advice_and_the_advice_works():
    drawn = simulate("erdos-renyi", 150, 750, 1, degree=4)
    plain = learn(drawn.X, method="cvs")
    assert plain.expected_false_edges == pytest.approx(111.75)
    assert "correction='bh' (--correction bh)" in plain.warnings[0]
    better = learn(drawn.X, correction="bh")
    assert not better.warnings
    assert ordag.hamming(better.graph, drawn.dag) < ordag.hamming(plain.graph, drawn.dag) / 3


@pytest.mark.slow
def test_what_float64_cannot_decide_is_said():
    X = simulate("homogeneous", 90, 1000, 8).X
    with (
        pytest.warns(PrecisionWarning, match=r"float64 does not decide .* digits are left"),
        pytest.warns(PrecisionWarning, match=r"few digits are left of the error variances of"),
        pytest.warns(PrecisionWarning, match=r"rounding could have decided whether"),
    ):
        fit = learn(X, "cvs")
    assert "digits are left" in fit.warnings[0]
    assert fit.sem is not None


def test_json_is_the_whole_answer_in_plain_values():
    fit = learn("marks", alpha=0.05)
    document = json.loads(fit.to_json())
    assert document["version"] == ordag.__version__
    assert document["settings"] == {
        "method": "cvs",
        "alpha": 0.05,
        "test": None,
        "parents": "test",
        "correction": "none",
        "device": "cpu",
        "direction": "forward",
        "variance": None,
        "split": False,
    }
    assert document["order"] == list(fit.order)
    assert document["nodes"] == ["mechanics", "vectors", "algebra", "analysis", "statistics"]
    assert {(e["source"], e["target"]) for e in document["edges"]} == SIX
    assert set(document["edges"][0]) == {
        "source",
        "target",
        "weight",
        "std_error",
        "robustness",
        "p_value",
        "direction_p_value",
        "reason",
    }
    assert document["undirected"] == []
    assert document["steps"][-1]["margin"] is None
    assert document["expected_false_edges"] == pytest.approx(0.5)


@pytest.mark.slow
def test_repr_html_and_report_escape_names(tmp_path):
    evil = "<script>alert(1)</script>"
    frame = pd.DataFrame(simulate("4.3", n=200, seed=0).X, columns=[evil, 'b"&', "[red]c[/red]"])
    fit = learn(frame, method="cvs")
    page = fit._repr_html_()
    assert "<svg" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    fit.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert evil not in text
    assert text.count("<script") == text.count("</script>")
    assert evil in repr(fit)
    assert re.search(r"cvs · 200 rows · 3 variables · 3 edges", repr(fit))


def test_the_graph_goes_to_networkx_with_weights():
    fit = learn("marks", alpha=0.05)
    graph = fit.graph.to_networkx(fit.sem.B)
    assert networkx.is_directed_acyclic_graph(graph)
    assert graph["algebra"]["vectors"]["weight"] == pytest.approx(fit.sem.B[2, 1])


def test_misspelt_settings_are_refused():
    with pytest.raises(SettingError, match="alhpa is not a setting of 'cvs': it takes alpha, test"):
        learn("marks", method="cvs", alhpa=0.9)
    with pytest.raises(SettingError, match="alhpa is a setting of no method"):
        learn("marks", alhpa=0.9)
    with pytest.raises(SettingError, match="use auto, pooled, cvs, pc, ges, gds"):
        learn("marks", method="cvss")
    for name, value in (("test", "z"), ("parents", "aic"), ("correction", "by"), ("direction", "up")):
        with pytest.raises(SettingError, match=re.escape(f"{name}={value!r}")):
            learn("marks", **{name: value})


def test_bad_tables_are_refused_with_what_to_change():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    with_nan, with_inf, constant = X.copy(), X.copy(), X.copy()
    with_nan[4, 1] = np.nan
    with_inf[[2, 3], 3] = np.inf
    constant[:, 2] = 0.1
    with pytest.raises(MissingValuesError, match=r"X2 \(1 row\).*missing='drop'"):
        learn(with_nan, missing="refuse")
    assert learn(with_nan, missing="drop").n == 29
    with pytest.raises(NonFiniteError, match=r"X4 \(2 rows\)"):
        learn(with_inf)
    with pytest.raises(ConstantColumnError, match="Column X3 never changes"):
        learn(constant, strict=True)
    with pytest.raises(CollinearError, match=r"X[15] is a copy of X[15]"):
        learn(np.column_stack([X, X[:, 0]]), strict=True)
    with pytest.raises(CollinearError, match="linear combination"):
        learn(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), strict=True)
    with pytest.raises(TooFewRowsError, match="4 rows and 4 variables: the tests need at least 5 rows"):
        learn(X[:4])
    with pytest.raises(DataError, match="only one column, X1"):
        learn(X[:, :1])
    with pytest.raises(TooFewRowsError, match="no rows"):
        learn(X[:0])
    with pytest.raises(NonFiniteError, match="too large"):
        learn(X * [1, 1e200, 1, 1])
    with pytest.raises(ColumnError, match="d"):
        learn(pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(d="text"), strict=True)


def test_the_public_names_are_these():
    assert sorted(ordag.__all__) == [
        "AdjustmentAnswer",
        "Ahead",
        "Bootstrap",
        "CVS",
        "Caution",
        "Changes",
        "ClusterError",
        "CollinearError",
        "ColumnError",
        "ColumnWarning",
        "Comparison",
        "ConstantColumnError",
        "CovarianceError",
        "Cpdag",
        "Dag",
        "DataError",
        "Diagnosis",
        "Effect",
        "Effects",
        "Explanation",
        "Finding",
        "Fit",
        "GDS",
        "GES",
        "GraphError",
        "GraphFormatError",
        "GraphTest",
        "GroupEffect",
        "Identifiability",
        "Intervention",
        "JointEffect",
        "Knowledge",
        "LinearSEM",
        "MissingValuesError",
        "Moments",
        "NonFiniteError",
        "OrdagError",
        "OrdagWarning",
        "OutputError",
        "PC",
        "Pooled",
        "PossibleEffects",
        "PrecisionError",
        "PrecisionWarning",
        "Refit",
        "Response",
        "SettingError",
        "Simulation",
        "TooFewRowsError",
        "UnderflowError",
        "UnreadableError",
        "Verdict",
        "WorkerError",
        "adjust",
        "bootstrap",
        "changes",
        "check",
        "compare",
        "effect",
        "effects",
        "explain",
        "explore",
        "hamming",
        "identifiability",
        "intervene",
        "learn",
        "load",
        "refit",
        "shd",
        "simulate",
        "test",
    ]
    assert all(getattr(ordag, name) is not None for name in ordag.__all__)
    assert "learn" in dir(ordag)
    with pytest.raises(AttributeError, match="nothing"):
        _ = ordag.nothing
    with pytest.raises(AttributeError, match=r"ordag\.diagnose is now ordag\.check"):
        _ = ordag.diagnose
    fit = ordag.learn("marks", "cvs")
    for old, new in {"recipe": "method_settings", "places": "column_order"}.items():
        assert hasattr(fit, new)
        with pytest.raises(AttributeError, match=rf"fit\.{old} is now fit\.{new}"):
            getattr(fit, old)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fit.nothing


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({}, "pooled"),
        ({"seed": 3}, "pooled"),
        ({"units": "commensurable"}, "pooled"),
        ({"alpha": 0.05}, "cvs"),
        ({"test": "t"}, "cvs"),
        ({"correction": "bh"}, "cvs"),
        ({"direction": "backward"}, "cvs"),
        ({"parents": "bic"}, "cvs"),
        ({"colliders": "first"}, "pc"),
        ({"max_degree": 2}, "ges"),
        ({"strategy": "steepest"}, "gds"),
        ({"alpha": 0.05, "colliders": "first"}, "pc"),
    ],
)
def test_settings_choose_the_method(settings, method):
    marks = Table(Moments.scan("marks"))
    chosen = settings_for(marks, "auto", settings)
    assert chosen.name == method
    assert chosen == settings_for(marks, method, settings)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "method"), [({"draws": 8}, "pooled"), ({"alpha": 0.05}, "cvs")])
def test_auto_learns_with_the_method_that_it_chooses(settings, method):
    found = learn("marks", **settings)
    assert found.method == learn("marks", "auto", **settings).method == method
    assert found.graph == learn("marks", method, **settings).graph


@pytest.mark.parametrize(
    ("p", "n", "method"), [(10_000, 10_002, "pooled"), (10_001, 10_003, "cvs"), (200, 60, "pooled"), (201, 60, "cvs")]
)
def test_very_many_variables_are_ordered_by_variance_unless_standardised(p, n, method, monkeypatch):
    moments = SimpleNamespace(n=n, p=p)
    table = SimpleNamespace(names=range(p), needing=lambda _: moments, moments=moments, choice="")
    monkeypatch.setattr(methods, "is_standardised", lambda _: False)
    chosen = settings_for(table, "auto", {})
    assert chosen.name == method
    assert (f"With more than {p - 1:,} variables" in table.choice) == (method == "cvs")
    if method == "cvs" and n > p:
        assert chosen.parents == "adaptive"
    monkeypatch.setattr(methods, "is_standardised", lambda _: True)
    assert settings_for(table, "auto", {"alpha": 0.05}).name == "cvs"
    if method == "pooled":
        assert settings_for(table, "auto", {}) == chosen
    else:
        with pytest.raises(DataError, match=r"standardised.*(so many columns|fewer rows).*method='pooled'"):
            settings_for(table, "auto", {})


def test_a_standardised_table_is_not_ordered_by_its_variances():
    """With fewer than 30 rows nothing else takes the table, and the answer has its own warning."""
    X = simulate("erdos-renyi", 210, 60, 0).X
    for n, columns, method in ((60, 210, None), (60, 40, "pooled"), (20, 40, "cvs")):
        some = X[:n, :columns]
        table = Table((some - some.mean(axis=0)) / some.std(axis=0))
        if method is None:
            with pytest.raises(DataError, match=r"The 210 columns have been standardised.*fewer rows"):
                settings_for(table, "auto", {})
        else:
            assert settings_for(table, "auto", {}).name == method


def test_auto_asks_where_it_cannot_know():
    with pytest.raises(SettingError, match=r"orient_by_order: pc and ges have this; say which"):
        learn("marks", orient_by_order="class")
    with pytest.raises(SettingError, match="No method has all of alpha, units"):
        learn("marks", alpha=0.05, units="commensurable")


@pytest.mark.thorough
def test_a_pooled_answer_counts_what_its_directions_rest_on():
    drawn = simulate("erdos-renyi", 12, 300, 3, degree=2)
    fit = learn(drawn.X)
    document = json.loads(fit.to_json())
    assert "tier" not in document["verdict"]
    assert document["verdict"]["numbers"]["reasons"] == {"class": 6, "variance": 3}
    assert "6 follow from the equivalence class, which needs no variances; 3 rest on" in fit.verdict.grounds
    assert "equal as far as these rows can tell" in fit.verdict.grounds
    assert document["probabilities"]["kind"] == "rows"
    assert all(0.9 < edge["probability"] <= edge["edge_probability"] <= 1.0 for edge in document["edges"])
    scaled = learn(drawn.X * 10.0 ** np.random.default_rng(0).uniform(-2, 2, 12))
    assert scaled.details["spread"] > 100
    assert set(scaled.edges["reason"]) <= {"class", "open", "variance"}
    silent = learn(drawn.X, draws=0)
    assert silent.probabilities is None
    assert "probability" not in silent.edges
    assert "2 rest on the pooled error variances. The" in silent.verdict.grounds


@pytest.mark.slow
def test_units_leave_directions_open_and_do_not_turn_what_the_class_compels():
    drawn = simulate("erdos-renyi", 12, 2000, 3, degree=2)
    plain = learn(drawn.X, draws=0)
    compelled = {(row.source, row.target) for row in plain.edges.itertuples() if row.reason == "class"}
    for seed in range(5):
        factors = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, 12)
        assert compelled <= set(learn(drawn.X * factors, draws=0).graph.directed)


def test_the_names_are_known_without_the_rows():
    assert Table("marks").names == ("mechanics", "vectors", "algebra", "analysis", "statistics")
    assert Table(learn("marks").moments, columns=["vectors", "algebra"]).names == ("vectors", "algebra")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("power", "method"),
    crossed([-320, -160, -140, -134, -80, 80, 140, 147, 154, 300], ["pooled", "cvs", "pc", "ges", "gds"]),
)
def test_any_unit_gives_an_answer_or_a_sentence_and_no_warning(method, power):
    """Warnings are errors here."""
    _, X = ordag.simulate("erdos-renyi", p=4, n=60, seed=1, degree=2.0)
    try:
        ordag.learn(X * 10.0**power, method).to_json()
    except (NonFiniteError, UnderflowError) as error:
        assert "use a" in str(error)
        assert not -134 <= power <= 140


def test_values_too_close_to_square_are_not_called_constant():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X[:, 1] *= 1e-200
    with pytest.raises(UnderflowError, match=r"The values of X2 differ by so little .* use a smaller unit"):
        ordag.learn(X)


def near_collinear(left, n=40):
    """Three columns of which the last is the sum of the others but for a share `left` of its length."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + left * X[:, 2]
    return X


@pytest.mark.parametrize(("method", "left"), [("pooled", 2e-14), ("cvs", 2e-14), ("gds", 2e-14), ("cvs", 8e-15)])
def test_few_digits_are_said_with_their_variables(method, left):
    with pytest.warns(PrecisionWarning) as caught:
        fit = learn(near_collinear(left), method)
    few = [sentence for sentence in fit.warnings if "few digits are left of the error variances of X" in sentence]
    said = dict(re.findall(r"X(\d) \((\d\.\d) digits\)", few[0]))
    digits = -np.log10(regression_noise(fit))
    assert said == {number: f"{max(digits[int(number) - 1], 0.0):.1f}" for number in said}
    assert (min(map(float, said.values())) < 1.0) == (left < 1e-14)
    assert few[0] in [str(warning.message) for warning in caught]


@pytest.mark.parametrize("method", ["pooled", "cvs", "pc", "ges", "gds"])
def test_digits_that_decide_nothing_are_not_spoken_of(method):
    """Warnings are errors here."""
    assert not any("digits" in sentence for sentence in learn(near_collinear(1e-6), method).warnings)


def test_tests_that_rounding_could_decide_are_said():
    X = simulate("homogeneous", 80, 1000, 2).X
    with pytest.warns(PrecisionWarning, match=r"rounding could have decided whether X\d+ and X\d+ \(± 0.00\d\)"):
        fit = learn(X, "cvs")
    assert any("Do not rely on these edges" in sentence for sentence in fit.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "cvs", "pc", "ges", "gds"])
def test_what_learn_gives_can_be_shown(method):
    """Whatever the digits: refused at once, or an answer with all its tables."""
    for power in range(-17, -9, 1 if THOROUGH else 5):
        for X in (
            near_collinear(10.0**power),
            near_collinear(10.0**power) + 1e3,
            near_collinear(1.0) * 10.0**power + 1e-3,
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PrecisionWarning)
                try:
                    fit = learn(X, method, strict=True)
                except DataError:
                    continue
                assert len(json.loads(fit.to_json())["edges"]) == len(fit.edges)


def test_columns_of_which_exactly_nothing_is_left_are_refused():
    """A few steps of the last digit around a large mean: residuals are exactly zero."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-40, 40, (2, 30)) * 2.0**-20
    with pytest.raises(CollinearError):
        learn(np.column_stack([a, b, a + b]) + 2.0**30, "cvs")


def test_columns_that_change_in_their_last_digits_are_not_called_constant():
    X = 1e9 + 1e-7 * np.random.default_rng(1).standard_normal((60, 3))
    with pytest.raises(
        ConstantColumnError,
        match=r"or change only in the last digits that float64 holds of them: .*subtract a constant",
    ):
        learn(X)
