"""Methods in processes of their own: an answer, a failure and a call without end."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import ordag
from benchmarks.accuracy.calls import Worker

pytestmark = [pytest.mark.system, pytest.mark.thorough]


def test_a_worker_answers_again_after_a_failure():
    X = ordag.simulate("erdos-renyi", 5, 200, seed=1).X
    with Worker(sys.executable, "ordag", {"method": "cvs"}) as worker:
        assert worker(np.full((6, 2), np.nan)).status.startswith("MissingValuesError")
        answer = worker(X)
    assert answer.status == "ok"
    assert np.array_equal(answer.matrix, ordag.learn(X).graph.adjacency)


def test_a_call_over_its_limit_is_stopped_and_the_next_one_answered():
    X = ordag.simulate("homogeneous", 20, 200, seed=1).X
    with Worker(sys.executable, "ordag", {"method": "gds", "seed": 0, "kicks": 10**9}, limit=1) as worker:
        assert worker(X).status == "timeout"
    with Worker(sys.executable, "ordag", {"method": "gds", "seed": 0}) as worker:
        assert worker(X).status == "ok"
