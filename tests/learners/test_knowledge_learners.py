"""Every learner keeps to what is known, and is itself where nothing is."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from budgets import thorough, whole_methods
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies.knowledge import keeps, random_entries
from strategies.tables import tables

import ordag
from ordag import Cpdag, Dag, Moments, learn
from ordag.errors import ColumnError, SettingError
from ordag.knowledge.knowledge import Knowledge
from ordag.knowledge.masks import BrokenKnowledgeError, decided, verify

CASES = [
    ("cvs", {}),
    ("cvs", {"direction": "backward", "correction": "bh"}),
    ("cvs", {"parents": "bic"}),
    ("cvs", {"correction": "bonferroni", "test": "t"}),
    ("pc", {}),
    ("pc", {"colliders": "first", "alpha": 0.1}),
    ("pc", {"colliders": "majority", "alpha": 0.1}),
    ("pc", {"orient_by_order": "class"}),
    ("pc", {"orient_by_order": "skeleton"}),
    ("ges", {}),
    ("ges", {"orient_by_order": "class"}),
    ("ges", {"orient_by_order": "skeleton", "penalty": 0.3}),
    ("gds", {"seed": 1, "restarts": [5, 50], "kicks": 4}),
    ("gds", {"strategy": "steepest", "penalty": 0.2}),
    ("pooled", {}),
    ("pooled", {"units": "commensurable", "kicks": 2, "draws": 4}),
]
QUICK = [CASES[k] for k in (0, 1, 4, 7, 9, 12, 15)]
"""Every method, and both directions of cvs."""
cases = pytest.mark.parametrize(
    ("method", "given_settings"),
    [case if case in QUICK else thorough(*case) for case in CASES],
    ids=lambda value: str(value),
)
seeds = st.integers(0, 2**32 - 1)


def named(X):
    return Moments.from_rows(X, names=[f"x{j}" for j in range(X.shape[1])])


@pytest.mark.slow
@cases
@whole_methods
@given(X=tables(), seed=seeds)
def test_graphs_keep_to_knowledge(method, given_settings, X, seed):
    moments = named(X)
    knowledge = Knowledge(**random_entries(moments.names, np.random.default_rng(seed)))
    try:
        fit = learn(moments, method, knowledge=knowledge, **given_settings)
    except SettingError as error:
        # PC does not see to it that its edges can be directed without a cycle, and says so.
        assert method == "pc"
        assert "class of no DAG" in str(error) or "in a circle" in str(error)
        return
    assert keeps(knowledge, fit.names, fit.graph.adjacency)
    assert fit.settings["knowledge"] == knowledge.to_dict()
    arrows = {tuple(edge) for edge in fit.details["knowledge_arrows"]}
    assert set(knowledge.required) <= arrows <= set(fit.graph.directed)
    assert json.loads(fit.to_json())["settings"]["knowledge"] == knowledge.to_dict()
    assert isinstance(fit.graph, Dag) == (method in ("cvs", "gds", "pooled") or "orient_by_order" in given_settings)


@pytest.mark.slow
@cases
@whole_methods
@given(X=tables())
def test_without_knowledge_nothing_changes(method, given_settings, X):
    moments = named(X)
    try:
        plain = learn(moments, method, **given_settings)
    except SettingError:
        return
    empty = learn(moments, method, knowledge={}, **given_settings)
    assert empty.graph == plain.graph
    assert empty.order == plain.order
    assert empty.score == plain.score
    assert empty.warnings == plain.warnings
    assert empty.details["knowledge_arrows"] == []
    assert "knowledge" not in plain.settings
    if plain.ordering is not None:
        assert np.array_equal(empty.ordering.L, plain.ordering.L)
        assert np.array_equal(empty.ordering.runner_up, plain.ordering.runner_up)
    if plain.selection is not None:
        assert np.array_equal(empty.selection.p_values, plain.selection.p_values)
        assert np.array_equal(empty.selection.threshold, plain.selection.threshold, equal_nan=True)
        assert empty.selection.expected_false == plain.selection.expected_false


def population(seed, p=5, n=10**7):
    """A random model whose error variances say nothing of the order, and its moments."""
    rng = np.random.default_rng(seed)
    B = np.triu(rng.uniform(0.4, 1.2, (p, p)) * rng.choice([-1, 1], (p, p)) * (rng.random((p, p)) < 0.5), 1)
    shuffle = rng.permutation(p)
    B = B[np.ix_(shuffle, shuffle)]
    names = [f"x{j}" for j in range(p)]
    T = np.linalg.inv(np.eye(p) - B)
    S = T.T @ np.diag(rng.uniform(0.2, 5.0, p)) @ T
    order = [names[j] for j in np.argsort(shuffle)]
    return Dag(names, B), order, Moments.from_covariance(S, n, names=names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *map(thorough, range(2, 6))])
def test_the_whole_truth_comes_back(seed):
    truth, order, moments = population(seed)
    others = [(a, b) for a in truth.nodes for b in truth.nodes if a != b and (a, b) not in truth.directed]
    for method in ("cvs", "pc", "ges", "gds", "pooled"):
        fit = learn(moments, method, knowledge={"required": truth.directed, "forbidden": others})
        assert np.array_equal(fit.graph.adjacency, truth.adjacency)
    along = {"tiers": [[name] for name in order]}
    for direction in ("forward", "backward"):
        fit = learn(moments, knowledge=along, correction="bonferroni", alpha=0.001, direction=direction)
        assert fit.order == tuple(order)
        assert fit.graph == truth
    assert np.array_equal(learn(moments, "pc", knowledge=along, alpha=1e-4).graph.adjacency, truth.adjacency)
    fit = learn(moments, "pooled", knowledge=along)
    assert fit.order == tuple(order)
    assert fit.graph == truth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "options"), [("cvs", {}), ("pc", {}), ("ges", {}), ("gds", {"strategy": "steepest"}), ("pooled", {})]
)
@whole_methods
@given(X=tables(min_p=3, max_p=6), seed=seeds)
def test_relabelling(method, options, X, seed):
    rng = np.random.default_rng(seed)
    moments = named(X)
    knowledge = random_entries(moments.names, rng)
    shuffle = rng.permutation(X.shape[1])
    other = Moments.from_rows(X[:, shuffle], names=[moments.names[j] for j in shuffle])
    here = learn(moments, method, knowledge=knowledge, **options)
    there = learn(other, method, knowledge=knowledge, **options)
    assert there.graph.reorder(moments.names) == here.graph
    assert sorted(there.details["knowledge_arrows"]) == sorted(here.details["knowledge_arrows"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cvs", "pc", "ges", "gds", "pooled"])
def test_inputs_are_left_alone_and_all_kinds_serve(method, tmp_path):
    entries = {"tiers": [["algebra"], ["vectors", "mechanics"]], "required": [["statistics", "analysis"]]}
    before = copy.deepcopy(entries)
    X = np.random.default_rng(0).standard_normal((50, 5)) @ np.tri(5)
    names = ["mechanics", "vectors", "algebra", "analysis", "statistics"]
    moments = Moments.from_rows(X, names=names)
    R = moments.R.copy()
    more = {"seed": 0} if method == "gds" else {}
    first = learn(moments, method, knowledge=entries, **more)
    assert entries == before
    assert np.array_equal(moments.R, R)
    file = tmp_path / "known.txt"
    file.write_text(Knowledge(**entries).to_text(), encoding="utf-8")
    for kind in (Knowledge(**entries), file, str(file)):
        assert learn(moments, method, knowledge=kind, **more).graph == first.graph
    with pytest.raises(ColumnError, match="Did you mean 'algebra'"):
        learn(moments, method, knowledge={"roots": ["algebar"]}, **more)
    with pytest.raises(SettingError, match="form a cycle"):
        learn(moments, method, knowledge={"required": "algebra -> vectors, vectors -> algebra"}, **more)


@pytest.mark.parametrize("estimator", [ordag.CVS, ordag.PC, ordag.GES, ordag.GDS])
def test_estimators_take_it(estimator):
    X = np.random.default_rng(1).standard_normal((60, 3)) @ np.tri(3)
    learner = clone(estimator(knowledge={"required": [("x1", "x3")], "roots": ["x1"]})).fit(named_from_one(X))
    assert learner.adjacency_[0, 2]
    assert not learner.adjacency_[:, 0].any()


def named_from_one(X):
    return Moments.from_rows(X, names=[f"x{j + 1}" for j in range(X.shape[1])])


def test_a_graph_that_breaks_it_is_a_bug():
    known = Knowledge(required=[("a", "b")], roots=["c"]).over(("a", "b", "c"))
    verify(Dag.from_edges(["a", "b", "c"], [("a", "b"), ("c", "b")]), known)
    for arrows, lines in ([], []), ([("b", "a")], []), ([], [("a", "b")]), ([("a", "b"), ("b", "c")], []):
        with pytest.raises(BrokenKnowledgeError, match="bug in Ordag"):
            verify(Cpdag.from_edges(["a", "b", "c"], arrows, lines), known)


def test_of_many_faults_a_bug_names_five():
    names = [f"x{k}" for k in range(8)]
    known = Knowledge(required=[("x0", name) for name in names[1:]]).over(tuple(names))
    with pytest.raises(BrokenKnowledgeError, match=r"x0 → x1 .*x0 → x5 is required, and missing\.$"):
        verify(Dag.empty(names), known)


def test_arrows_that_follow_from_knowledge_are_counted_among_its_own():
    chain = Dag.from_edges(["a", "b", "c", "d"], [("a", "b"), ("b", "c")])
    known = Knowledge(required=[("a", "b")]).over(chain.nodes)
    assert np.argwhere(decided(chain, known)).tolist() == [[0, 1], [1, 2]]
    collider = Dag.from_edges(["a", "b", "c", "d"], [("a", "b"), ("c", "b"), ("b", "d")])
    assert np.argwhere(decided(collider, known)).tolist() == [[0, 1]]
    fit = learn("marks", "pc", alpha=0.05, knowledge={"required": "vectors -> mechanics"})
    assert fit.details["restricted_by_knowledge"]
    assert ["vectors", "mechanics"] in fit.details["knowledge_arrows"]
