"""What R's pcalg and bnlearn found on the same data."""

import json
from pathlib import Path

import numpy as np
import pytest
from ges_cases import moments
from oracles import ges as oracles

from ordag.data.datasets import load
from ordag.graph import Cpdag, extend
from ordag.learners.ges import ges_search

STORED = Path(__file__).parents[1] / "reference"
NAMES = ["het_p5_n1000", "het_p10_n200", "het_p20_n1000", "hom_p5_n200", "hom_p10_n1000", "hom_p20_n200", "marks"]


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    """Name, rows and our answer."""
    X = table(request.param)
    return request.param, X, ges_search(moments(X))


def table(name):
    path = load("marks").path if name == "marks" else STORED / "data" / f"{name}.csv"
    return np.loadtxt(path, delimiter=",", skiprows=1)


def stored(name, method):
    return json.loads((STORED / "ges" / f"{name}__{method}.json").read_text(encoding="utf-8"))


def pairs(adjacency):
    return frozenset((i, j) for i, j in np.argwhere(adjacency).tolist())


def test_the_same_class_and_score_as_pcalg(case):
    name, _, result = case
    expected = stored(name, "pcalg_ges")
    assert result.score == pytest.approx(expected["score"], rel=1e-9)
    assert result.graph == Cpdag(result.graph.nodes, expected["adjacency"])


def test_the_score_is_that_of_a_dag_of_the_class(case):
    _, X, result = case
    assert result.score == pytest.approx(oracles.score(X, pairs(extend(result.graph).adjacency)), rel=1e-12)
    assert result.score_empty == pytest.approx(oracles.score(X, frozenset()), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "marks"])
def test_the_true_graphs_score_is_pcalgs(name):
    truth = np.array(json.loads((STORED / "data" / f"{name}.truth.json").read_text(encoding="utf-8"))["B"]).T != 0
    score = oracles.score(table(name), pairs(truth))
    assert score == pytest.approx(stored(name, "pcalg_ges")["score_of_true_dag"], rel=1e-9)


def test_against_hill_climbing(case):
    """Classes are climbed at least as high as DAGs, but for one data set, where both end far below the true graph."""
    name, X, result = case
    climbed = oracles.score(X, pairs(stored(name, "bnlearn_hc")["adjacency"]))
    if name == "het_p10_n200":
        assert result.score == pytest.approx(climbed - 9.885, abs=1e-3)
    else:
        assert result.score >= climbed - 1e-6
