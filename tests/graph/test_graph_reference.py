"""Against values from R; see tests/reference/graph/README.md."""

import json
from pathlib import Path

import numpy as np
import pytest

from ordag.graph import Cpdag, Dag, hamming, to_cpdag

REFERENCE = Path(__file__).parent.parent / "reference" / "graph"
CLASSES = json.loads((REFERENCE / "classes.json").read_text())
VALIDITY = json.loads((REFERENCE / "validity.json").read_text())


def named(case):
    return case["name"]


@pytest.mark.parametrize("case", CLASSES, ids=named)
def test_classes(case):
    nodes = [f"X{i}" for i in range(1, len(case["dag"]) + 1)]
    dag = Dag(nodes, case["dag"])
    assert np.array_equal(to_cpdag(dag).adjacency, np.array(case["cpdag"]) == 1)
    assert hamming(dag, to_cpdag(dag)) == case["hamming"]


@pytest.mark.parametrize("case", VALIDITY, ids=named)
def test_validity(case):
    nodes = [f"X{i}" for i in range(1, len(case["graph"]) + 1)]
    assert Cpdag(nodes, case["graph"]).valid == case["valid"]
