"""Wrong types and values of every setting end in one sentence, an error of Ordag's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ordag
from ordag.common.checks import as_number, checked_seed, is_whole, short
from ordag.data.scatter import Accumulator
from ordag.errors import NonFiniteError, SettingError, TooFewRowsError, UnreadableError

X = np.random.default_rng(0).standard_normal((40, 3))
FIT = ordag.learn(X, "cvs")
MODEL = FIT.sem
GRAPH = FIT.graph


class Strange:
    def __repr__(self):
        raise RuntimeError("no words")


WRONG = [
    *(-1, 1.5, float("nan"), float("inf"), 10**5000, True, 1j, "", "a", "1", "a\0b", b"x", object(), Strange(), ...),
    *([], ["a"], [1], [[1]], [["a", ["b"]]], (1, 2), {}, {"a": 1}, {1: 2}, {1}, range(2), slice(2), pd.NA),
    *(np.array(3), np.array([1.0, 2.0]), np.eye(3), np.array(["a", "b"]), np.bool_(True), np.str_("a")),
    *(pa.array([1.0, 2.0]), pa.chunked_array([[1.0, 2.0]]), pd.Series([1.0, 2.0]), pd.DataFrame({"a": [1.0]})),
]


def learned(method, **settings):
    return ordag.learn(X, method, **settings).to_json()


CALLS = {
    "learn": (
        ordag.learn,
        {"data": X, "method": "cvs"},
        "data method columns missing progress bootstrap min_effect knowledge",
    ),
    "pooled": (learned, {"method": "pooled", "draws": 0, "kicks": 0}, "units groups seed"),
    "cvs": (learned, {"method": "cvs"}, "alpha test parents correction direction"),
    "pc": (learned, {"method": "pc"}, "alpha test colliders max_level orient_by_order"),
    "ges": (learned, {"method": "ges"}, "penalty phases iterate max_degree"),
    "gds": (learned, {"method": "gds", "kicks": 0}, "start restarts strategy penalty seed"),
    "of moments": (lambda **k: ordag.learn(FIT.moments, "cvs", **k), {}, "columns missing"),
    "bootstrap": (
        ordag.bootstrap,
        {"data": X, "replicates": 2, "workers": 1, "method": "cvs"},
        "replicates seed workers kind level progress columns",
    ),
    "check": (
        ordag.check,
        {"data": FIT.moments, "draws": 1},
        "columns alpha seed same_units units groups progress",
    ),
    "compare": (ordag.compare, {"data": X, "methods": ["cvs"]}, "data methods truth settings columns alpha"),
    "simulate": (ordag.simulate, {"p": 3, "n": 5}, "design p n seed"),
    "erdos-renyi": (lambda **k: ordag.simulate("erdos-renyi", 3, 5, 1, **k), {}, "degree weights variances"),
    "effect": (ordag.effect, {"data": FIT, "source": "X1", "target": "X2"}, "source target level"),
    "refit": (ordag.refit, {"data": X, "graph": GRAPH}, "data graph columns"),
    "Moments": (
        ordag.Moments,
        {"n": 9, "mean": np.zeros(3), "names": ["a", "b", "c"], "R": np.eye(3)},
        "n mean names R",
    ),
    "from_rows": (ordag.Moments.from_rows, {"data": X}, "data names missing"),
    "from_covariance": (ordag.Moments.from_covariance, {"covariance": np.eye(3), "n": 9}, "covariance n mean names"),
    "select": (FIT.moments.select, {}, "columns"),
    "Knowledge": (ordag.Knowledge, {}, "tiers required forbidden roots sinks"),
    "Knowledge.of": (ordag.Knowledge.of, {}, "given"),
    "Knowledge.from_text": (ordag.Knowledge.from_text, {}, "text"),
    "Knowledge.over": (ordag.Knowledge(roots=["a"]).over, {}, "names"),
    "Dag": (ordag.Dag, {"nodes": ["a"], "adjacency": [[0]]}, "nodes adjacency"),
    "Dag.from_edges": (ordag.Dag.from_edges, {"nodes": ["a", "b"], "edges": []}, "nodes edges undirected"),
    "Dag.parse": (ordag.Dag.parse, {"text": "digraph{a->b}", "format": "dot"}, "text format"),
    "Dag.from_networkx": (ordag.Dag.from_networkx, {}, "graph"),
    "Dag.to_dot": (GRAPH.to_dot, {}, "weights"),
    "hamming": (ordag.hamming, {"a": GRAPH, "b": GRAPH}, "a b"),
    "LinearSEM": (ordag.LinearSEM, {"B": [[0.0]]}, "B omega intercept names"),
    "LinearSEM.from_edges": (ordag.LinearSEM.from_edges, {"names": ["a", "b"], "edges": {}}, "names edges omega"),
    "sample": (MODEL.sample, {"n": 2}, "n seed"),
    "log_likelihood": (MODEL.log_likelihood, {}, "data"),
    "identifiability": (ordag.identifiability, {"sem": MODEL}, "sem order"),
    "report": (FIT.report, {}, "path"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameter"), [(name, word) for name, call in CALLS.items() for word in call[2].split()]
)
@pytest.mark.filterwarnings("ignore::ordag.OrdagWarning")
def test_whatever_is_given_the_answer_is_a_result_or_an_error_of_ordag(name, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, usual, _ = CALLS[name]
    for value in WRONG:
        try:
            function(**{**usual, parameter: value})
        except ordag.OrdagError as error:
            assert str(error)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, [1], np.float64(2)])
def test_a_seed_is_checked_wherever_it_is_given(seed):
    for call in (
        lambda: checked_seed(seed),
        lambda: ordag.learn(X, "pooled", seed=seed),
        lambda: ordag.learn(X, "gds", seed=seed),
        lambda: ordag.GDS(random_state=seed).fit(X),
        lambda: ordag.bootstrap(X, 2, seed=seed, workers=1),
        lambda: ordag.simulate(seed=seed),
        lambda: ordag.check(X, seed=seed),
        lambda: MODEL.sample(2, seed),
    ):
        with pytest.raises(SettingError, match=r"seed=|random_state="):
            call()


def test_seeds_that_are_none_of_the_above():
    assert checked_seed(np.int64(3)) == 3
    assert checked_seed(2**100) == 2**100
    assert checked_seed(None) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ordag.learn(X, "ges", penalty="1"), "penalty='1'"),
        (lambda: ordag.learn(X, ["cvs"]), "method="),
        (lambda: ordag.learn(X, columns=0), "columns=0"),
        (lambda: ordag.learn(X, columns="abc"), "columns='abc'"),
        (lambda: ordag.learn(X, groups=["X1"]), "groups"),
        (lambda: ordag.Moments.from_covariance(np.eye(2), float("nan")), "n=nan"),
        (lambda: ordag.Moments.from_covariance(np.eye(2), float("inf")), "n=inf"),
        (lambda: ordag.Moments.from_covariance(np.eye(2), "5"), "n='5'"),
        (lambda: ordag.learn("marks", encoding="punycode"), "encoding='punycode'"),
        (lambda: ordag.learn("marks", encoding="rot13"), "encoding='rot13'"),
        (lambda: ordag.learn("marks", encoding=5), "encoding=5"),
        (lambda: ordag.learn("marks", header="no"), "header='no'"),
        (lambda: ordag.learn(X, "cvs", test=lambda r, n, k: None), "p-value"),
    ],
)
def test_the_sentence_names_the_setting(call, said):
    with pytest.raises(SettingError, match=said):
        call()


def test_a_column_of_arrow_is_not_a_table():
    for column in (pa.array([1.0, 2.0]), pa.chunked_array([[1.0, 2.0]])):
        with pytest.raises(UnreadableError, match="single column"):
            ordag.learn(column)


def test_covariances_too_large_are_said_to_be():
    with pytest.raises(NonFiniteError, match="too large for float64"):
        ordag.Moments.from_covariance(np.eye(3) * 1e307, 1000)
    assert ordag.Moments.from_covariance(np.eye(3) * 1e307, 2).variances.tolist() == [1e307] * 3


def test_settings_of_numpy_can_be_written_down():
    fit = ordag.learn(X, "gds", kicks=np.int64(2), penalty=np.float64(1.5), restarts=np.array([5]), seed=np.int32(1))
    assert '"kicks": 2' in fit.to_json()
    assert fit.settings["seed"] == 1


@pytest.mark.slow
def test_more_columns_than_rows_is_said_before_a_square_of_them_is_made(tmp_path, monkeypatch):
    wide = np.random.default_rng(0).standard_normal((5, 30_000))
    with pytest.raises(TooFewRowsError, match="5 rows and 30000 variables"):
        ordag.learn(wide)
    monkeypatch.setattr(Accumulator, "finish", None)
    pd.DataFrame(wide[:4, :500]).to_csv(tmp_path / "wide.csv", index=False)
    with pytest.raises(TooFewRowsError, match="4 rows and 500 variables"):
        ordag.learn(tmp_path / "wide.csv")
    assert Accumulator(30_000).products is None


def test_what_counts_as_what():
    assert is_whole(np.int8(3), 3)
    assert not any(is_whole(value) for value in (True, -1, 2.0, "2", None, 10**400))
    assert is_whole(2**53)
    assert not is_whole(2**53 + 1)  # which float64 does not tell from 2**53
    assert as_number(np.float32(0.5)) == 0.5
    assert np.isnan(as_number("0.5"))
    assert np.isnan(as_number(True))
    assert short("a\nb" * 50).endswith("…")
    assert short(Strange()) == "an object of type Strange"
