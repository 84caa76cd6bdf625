"""The factor that would turn an arrow is the ratio of error variances in the model with the arrow turned."""

from __future__ import annotations

import numpy as np
import pytest

import ordag
from ordag.assess.scale import turning_factors
from ordag.data.moments import Moments
from ordag.model import LinearSEM


def test_two_variables_have_one_twin():
    sem = LinearSEM.from_edges(["a", "b"], {("a", "b"): 0.7}, omega=[1.0, 1.5])
    fit = ordag.learn(Moments.from_covariance(sem.covariance(), 10_000, names=sem.names), "cvs")
    S = sem.covariance()
    twin = S[1, 1] / (S[0, 0] - S[0, 1] ** 2 / S[1, 1])
    assert turning_factors(fit).factor == pytest.approx([twin])


def test_given_everything_before_the_source():
    fit = ordag.learn(ordag.simulate("erdos-renyi", 7, 300, seed=2, degree=3).X, "cvs")
    order, S = fit.ordering.order, fit.moments.covariance()
    place = np.argsort(order)
    found = turning_factors(fit)
    for a, b, factor, margin in zip(*found, strict=True):
        before, pair = order[: place[a]], [a, b]
        left = S[np.ix_(pair, pair)]
        if len(before):
            left = left - S[np.ix_(pair, before)] @ np.linalg.solve(S[np.ix_(before, before)], S[np.ix_(before, pair)])
        assert factor == pytest.approx(left[1, 1] / (left[0, 0] - left[0, 1] ** 2 / left[1, 1]))
        assert margin == pytest.approx(left[1, 1] / left[0, 0])
    assert len(found.factor) == fit.graph.edge_count


def test_none_without_an_order_or_an_arrow():
    assert turning_factors(ordag.learn("marks", "ges")) is None
    assert turning_factors(ordag.learn(np.random.default_rng(3).standard_normal((6, 4)), "cvs")) is None
