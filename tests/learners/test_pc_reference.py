"""PC against the R packages pcalg and bnlearn, on six random data sets and the exam marks."""

import json
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from oracles import pc as oracles

from ordag import Moments
from ordag.data.datasets import load
from ordag.graph import Cpdag
from ordag.learners.pc import pc_search

REFERENCE = Path(__file__).parents[1] / "reference"
NAMES = ("het_p10_n200", "het_p20_n1000", "het_p5_n1000", "hom_p10_n1000", "hom_p20_n200", "hom_p5_n200")
CONTRADICTIONS = {"het_p10_n200": 1, "het_p20_n1000": 1, "hom_p10_n1000": 5, "hom_p20_n200": 4}
"""How many edges the colliders of pcalg's default rule want directed both ways."""


def stored(name):
    document = json.loads((REFERENCE / "pc" / f"{name}.json").read_text())
    return document, np.array(document["adjacency"], dtype=bool)


def moments(name):
    return Moments.scan(REFERENCE / "data" / f"{name}.csv")


@pytest.mark.parametrize("name", NAMES)
def test_pcalg_with_its_defaults(name):
    document, adjacency = stored(f"{name}__pcalg_pc_a0.01")
    result = pc_search(moments(name), alpha=0.01, colliders="first")
    assert np.array_equal(result.graph.adjacency, adjacency)
    assert result.graph.valid == document["valid_cpdag"]
    assert len(result.conflicts) == CONTRADICTIONS.get(name, 0)
    assert result.valid == (name not in CONTRADICTIONS)
    for nodes in (*result.conflicts, *result.denied):
        assert any(all(node in text for node in nodes) for text in result.warnings)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", ["largest", "majority", "conservative"])
def test_the_skeleton_is_the_same_under_all_rules(name, rule):
    for program, test in (("pcalg_pc", "fisher-z"), ("bnlearn_pcstable", "t")):
        _, adjacency = stored(f"{name}__{program}_a0.01")
        result = pc_search(moments(name), test=test, colliders=rule)
        assert np.array_equal(result.graph.skeleton, adjacency | adjacency.T)


@pytest.mark.parametrize("name", NAMES)
def test_bnlearn_differs_only_where_colliders_contradict_each_other(name):
    """It directs colliders in the order of their p-values and leaves out those that no longer fit."""
    _, adjacency = stored(f"{name}__bnlearn_pcstable_a0.01")
    result = pc_search(moments(name), test="t", colliders="first")
    if not result.conflicts:
        assert np.array_equal(result.graph.adjacency, adjacency)
    place = result.graph.index
    around = {i: set(np.flatnonzero(row).tolist()) for i, row in enumerate(result.graph.skeleton)}
    separating = {tuple(sorted(map(place, pair))): set(map(place, S)) for pair, S in result.separating_sets.items()}
    colliders, _ = oracles.by_set(around, separating)
    assert np.array_equal(oracles.strongest_first(around, colliders, result.p_values), adjacency)


def marks(pattern):
    return sorted(path.stem for path in (REFERENCE / "pc").glob(f"marks__{pattern}*.json"))


@pytest.mark.parametrize("name", marks("pcalg") + marks("bnlearn"))
def test_the_marks(name):
    document, adjacency = stored(name)
    rule = "majority" if "majrule" in name else "conservative" if "conservative" in name else "first"
    result = pc_search(
        Moments.scan(load("marks").path),
        alpha=float(name.rsplit("_a", 1)[1]),
        test="t" if "_cor_" in name else "fisher-z",
        colliders=rule,
    )
    assert result.graph == Cpdag(result.graph.nodes, adjacency)
    assert result.valid
    assert not result.warnings
    # With the votes, the set and p-value kept are those of the largest; "original" depends on the order of removal.
    if "pMax" in document and rule == "first" and "original" not in name:
        assert np.allclose(result.p_values, document["pMax"], rtol=1e-9)


@pytest.mark.thorough
def test_the_arrows_between_the_marks_owe_to_the_order_of_the_columns():
    """At 5%, which set first separates mechanics from analysis depends on which is tried first: four answers."""
    moments = Moments.scan(load("marks").path)
    answers = {"first": Counter(), "largest": Counter()}
    for names in permutations(moments.names):
        for rule, counts in answers.items():
            graph = pc_search(moments.select(names), alpha=0.05, colliders=rule).graph
            counts[graph.reorder(moments.names)] += 1
    assert sorted(answers["first"].values()) == [20, 20, 40, 40]
    assert list(answers["largest"].values()) == [120]
    assert all(graph.directed == () for graph in answers["largest"])
