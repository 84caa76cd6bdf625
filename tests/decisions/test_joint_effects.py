"""Effects of several causes at once, and of whole classes, against equations solved one after the other and lists of all graphs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordag
from ordag import Dag
from ordag.decisions import possible_effects
from ordag.decisions.joint_effects import joint_weights
from ordag.decisions.possible_effects import weighted_quantiles
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.graph import to_cpdag
from ordag.graph.partly_directed import possible_parents
from tests.oracles.decisions import mean_if_set, regressions
from tests.oracles.graph import equivalent_dags
from tests.strategies.graphs import acyclic

NAMES = list("abcde")
ARROWS = {("a", "b"): 0.7, ("a", "c"): -0.5, ("b", "c"): 0.6, ("b", "d"): 0.8, ("c", "d"): 0.9, ("a", "e"): 0.5}


def rows_of(n, seed=1, arrows=ARROWS):
    sem = ordag.LinearSEM.from_edges(NAMES, arrows, intercept=[1, 2, 3, 4, 5])
    return dict(zip(NAMES, sem.sample(n, seed=seed).T, strict=True))


def exactly(arrows=ARROWS):
    """Knowledge that leaves one graph."""
    pairs = [[a, b] for a in NAMES for b in NAMES if a != b and (a, b) not in arrows]
    return {"required": [list(edge) for edge in arrows], "forbidden": pairs}


@given(acyclic(5), st.integers(0, 99))
def test_effects_are_those_of_equations_with_the_causes_put_in(adjacency, seed):
    random = np.random.default_rng(seed)
    p = len(adjacency)
    B = np.asarray(adjacency) * random.uniform(0.3, 1.5, (p, p))
    sem = ordag.LinearSEM(B, intercept=random.standard_normal(p))
    A = tuple(random.choice(p, size=min(2, p), replace=False).tolist())
    values = random.standard_normal(len(A))
    found = joint_weights(sem, A)
    at, zero = (mean_if_set(B, sem.intercept, dict(zip(A, one, strict=True))) for one in (values, np.zeros(len(A))))
    for t in set(range(p)) - set(A):
        assert values @ found[:, t] == pytest.approx(at[t] - zero[t])


@pytest.mark.parametrize("A", [("a", "b"), ("b", "c"), ("a", "c", "b"), ("c", "e")])
def test_standard_errors_are_those_of_the_delta_method(A):
    rows = rows_of(60)
    fit = ordag.learn(rows, knowledge=exactly(), draws=0)
    found = fit.joint_effect(A, "d", interval="given-graph").table
    X = np.column_stack(list(rows.values()))

    def effects(weights):
        B = np.zeros((5, 5))
        for (a, b), weight in weights.items():
            B[NAMES.index(a), NAMES.index(b)] = weight
        each = [mean_if_set(B, np.zeros(5), {NAMES.index(k): float(k == one) for k in A})[3] for one in A]
        return np.array([*each, sum(each)])

    weights = {edge: float(fit.edge_weights[edge]) for edge in ARROWS}
    np.testing.assert_allclose(found.estimate, effects(weights), atol=1e-9)
    variances = np.zeros(len(A) + 1)
    for j, target in enumerate(NAMES):
        parents = [a for a, b in ARROWS if b == target]
        if parents and target not in A:
            covariance = regressions(X, j, [NAMES.index(one) for one in parents])[1]
            steps = [effects({**weights, (one, target): weights[one, target] + 1e-6}) for one in parents]
            G = (np.array(steps) - effects(weights)) / 1e-6
            variances += np.einsum("ik,ij,jk->k", G, covariance, G)
    np.testing.assert_allclose(found.std_error, np.sqrt(variances), rtol=1e-4, atol=1e-9)


def test_intervals_over_resamples_are_those_of_the_graph_where_it_is_known():
    fit = ordag.learn(rows_of(400), knowledge=exactly())
    drawn, known = (fit.joint_effect(["b", "c"], "d", interval=one).table for one in ("posterior", "given-graph"))
    np.testing.assert_allclose(drawn.estimate, known.estimate)
    np.testing.assert_allclose(drawn.std_error, known.std_error, rtol=0.25)
    np.testing.assert_allclose(drawn.low, known.low, atol=0.06)
    assert drawn.probability.tolist() == [1.0] * 3
    assert known.probability.isna().all()
    one = ordag.effect(fit, "c", "d")
    assert fit.joint_effect(["c"], "d").table.loc[
        0, ["estimate", "low", "high", "robustness"]
    ].tolist() == pytest.approx([one.estimate, one.low, one.high, one.robustness])


def test_robustness_is_by_the_regression_on_all_causes_where_there_is_one():
    fit = ordag.learn(rows_of(200), knowledge=exactly(), draws=0)
    found = fit.joint_effect(["b", "c"], "d").table
    X = np.column_stack(list(rows_of(200).values()))
    _, covariance = regressions(X, 3, [2, 1, 0])  # of d on c, b, and a, a parent of both
    f = abs(found.estimate[1]) / np.sqrt(covariance[0, 0]) / np.sqrt(196)
    assert found.robustness[1] == pytest.approx((np.sqrt(f**4 + 4 * f**2) - f**2) / 2)
    assert fit.joint_effect(["a", "c"], "d").columns["robustness"] == [None] * 3  # b follows a, and is a parent of c


@given(acyclic(5))
def test_possible_parents_are_those_of_all_graphs_of_the_class(adjacency):
    members = [np.array(one) for one in equivalent_dags(adjacency)]
    classes = to_cpdag(Dag([str(j) for j in range(len(adjacency))], adjacency)).adjacency
    for nodes in ([0], [0, len(adjacency) - 1]) if len(adjacency) > 1 else ([0],):
        found = list(possible_parents(classes, nodes))
        expected = {tuple(tuple(np.flatnonzero(one[:, j]).tolist()) for j in nodes) for one in members}
        assert len(found) == len(expected)
        assert set(found) == expected


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("A", [("a",), ("a", "b"), ("d", "c")])
def test_possible_effects_are_those_of_every_graph_of_the_class_fitted(seed, A):
    random = np.random.default_rng(seed)
    adjacency = np.triu(random.random((5, 5)) < 0.6, 1)
    X = random.standard_normal((80, 5)) @ np.linalg.inv(np.eye(5) - 0.8 * adjacency)
    arrows = Dag(NAMES, adjacency).directed
    fit = ordag.learn(dict(zip(NAMES, X.T, strict=True)), knowledge=exactly(dict.fromkeys(arrows, 1.0)), draws=0)
    object.__setattr__(fit, "known", None)
    found = fit.possible_effects(A, "e").values
    columns = [NAMES.index(one) for one in A]
    expected = set()
    for member in equivalent_dags(adjacency.astype(int).tolist()):
        B = np.zeros((5, 5))
        for j in range(5):
            parents = [i for i in range(5) if member[i][j]]
            if parents:
                B[parents, j] = regressions(X, j, parents)[0]
        each = [mean_if_set(B, np.zeros(5), {k: float(k == one) for k in columns})[4] for one in columns]
        expected.add(tuple(np.round(np.array(each) + 0.0, 8)))
    assert {tuple(np.round(row + 0.0, 8)) for row in found} == expected


@pytest.mark.slow
def test_averages_over_resamples_are_those_of_each_class_by_itself():
    fit = ordag.learn(rows_of(150), draws=40)
    found = fit.possible_effects("b", "d")
    shares, certain = [], []
    for B, _ in fit.posterior.models(fit.sample):
        members = equivalent_dags((B != 0).astype(int).tolist())
        by_parents = {tuple(i for i in range(5) if one[i][1]): one for one in members}
        there = []
        for one in by_parents.values():  # a path in one graph with these parents is one in all of them
            there.append(bool(np.linalg.matrix_power(np.eye(5) + np.array(one), 5)[1, 3]))
        shares.append(np.mean(there))
        certain.append(all(there))
    row = found.table.iloc[0]
    assert (row.probability, row.certain) == (pytest.approx(np.mean(shares)), pytest.approx(np.mean(certain)))
    assert found.graphs == len(shares) == 40
    assert row.low < row.high


def test_weighted_quantiles_are_those_of_numpy_where_all_count_alike():
    values = np.random.default_rng(1).standard_normal(31)
    shares = (0.025, 0.3, 0.975)
    assert weighted_quantiles(values, np.full(31, 0.25), shares) == pytest.approx(np.quantile(values, shares).tolist())
    assert weighted_quantiles(np.array([1.0, 5.0]), np.array([1.0, 0.0]), (0.5,)) == [pytest.approx(3.0)]
    assert weighted_quantiles(np.array([2.0]), np.array([1.0]), shares) == [2.0] * 3


def test_knowledge_directs_the_class():
    rows = rows_of(300)
    free = ordag.learn(rows, "ges").possible_effects("a", "d").values
    told = ordag.learn(rows, "ges", knowledge={"tiers": "a | b | c | d, e"}).possible_effects("a", "d").values
    assert len(told) < len(free)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("sources", "more", "message"),
    [
        (["a", "x"], {}, "There is no variable 'x'"),
        (["a", "a"], {}, "each cause once"),
        (["a", "d"], {}, "give two different variables"),
        ([], {}, "at least one cause"),
        ("ab", {}, "give a list of names"),
        (["a"], {"interval": "bootstrap"}, "use 'posterior' or 'given-graph'"),
        (["a"], {"interval": "posterior"}, "this fit has none"),
    ],
)
def test_what_cannot_be_asked_is_said(sources, more, message):
    fit = ordag.learn(rows_of(50), "cvs")
    with pytest.raises((SettingError, ColumnError), match=message):
        fit.joint_effect(sources, "d", **more)


def test_too_many_graphs_in_a_class_are_refused(monkeypatch):
    monkeypatch.setattr(possible_effects, "MOST_SETS", 20)
    names = [f"x{j}" for j in range(6)]
    complete = {"required": [[a, b] for k, b in enumerate(names) for a in names[:k]]}
    rows = np.random.default_rng(1).standard_normal((50, 6))
    fit = ordag.learn(dict(zip(names, rows.T, strict=True)), "cvs", knowledge=complete)
    object.__setattr__(fit, "known", None)
    with pytest.raises(GraphError, match="more than 20 choices"):
        fit.possible_effects(["x1", "x2"], "x3")


@pytest.mark.slow
def test_the_command_says_what_the_calls_say(run, tmp_path):
    import pandas as pd

    pd.DataFrame({**rows_of(100), "a,b": rows_of(100)["e"] * 2 + rows_of(100, 3)["e"]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    fit = ordag.learn(tmp_path / "t.csv", draws=20)
    words = ["effect", "t.csv", "--to", "d", "--draws", "20"]
    for typed in (["--from", "b, c"], ["--from", "b", "--from", "c"]):
        assert json.loads(run(*words, *typed, "--json")[1]) == json.loads(fit.joint_effect(["b", "c"], "d").to_json())
    assert run(*words, "--from", "b,c")[1].startswith("With all of them set, one unit more of b changes d by ")
    found = run(*words, "--from", "b,c", "--whole-class", "--json")[1]
    assert json.loads(found) == json.loads(fit.possible_effects(["b", "c"], "d").to_json())
    assert "In the graphs that claim the same" in run(*words[:4], "--from", "b", "--whole-class", "--method", "ges")[1]
    assert json.loads(run(*words, "--from", "a,b", "--json")[1])["source"] == "a,b"  # a column of that name comes first
    assert "--plot cannot go with it" in run(*words, "--from", "b,c", "--plot", "x.png")[2]
    fit.save(tmp_path / "t.ordag")
    for more in (["--from", "b"], ["--from", "b,c"], ["--from", "b,c", "--whole-class"]):
        assert run("effect", "t.ordag", "--to", "d", *more, "--json")[1] == run(*words, *more, "--json")[1]
    assert (
        "saved fit, whose graph is learned already: leave --method and --adjust out"
        in run("effect", "t.ordag", "--from", "b", "--to", "d", "--method", "cvs", "--adjust", "e")[2]
    )
    assert "--whole-class for all" in run(*words[:4], "--from", "b", "--method", "ges")[2]
