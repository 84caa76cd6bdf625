"""Holes as Witte et al. make them, and PC on tables with holes."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pytest

import ordag
from benchmarks.pc_with_holes import by_pc, on_complete_rows, on_imputed
from benchmarks.witte import DESIGNS, MECHANISMS, holes


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_share_of_18_percent_is_missing(name: str, mechanism: str) -> None:
    design = DESIGNS[name]
    X = np.random.default_rng(1).normal(size=(1000, len(design.columns)))
    gone = holes(X, design, mechanism, np.random.default_rng(2))
    assert gone.mean() == pytest.approx(0.18, abs=2e-3)
    lost = [design.columns.index(one) for one in design.lost]
    if mechanism == "MNAR":
        assert (gone.any(axis=0) == np.isin(np.arange(len(design.columns)), lost)).all()
        assert X[gone[:, lost[0]], lost[0]].min() > X[~gone[:, lost[0]], lost[0]].max()
    if mechanism == "MAR":
        assert (gone.sum(axis=1) >= design.groups).mean() == pytest.approx(1.0, abs=0.01)


def test_pc_on_a_table_without_holes_is_pc() -> None:
    X = ordag.simulate("homogeneous", p=8, n=200, seed=3).X
    names = [f"X{k}" for k in range(1, 9)]
    known = ordag.learn(X, "pc", alpha=0.05, test="fisher-z", colliders="majority").graph
    copies = on_imputed([X, X + 1e-12 * np.random.default_rng(0).normal(size=X.shape)])
    for testing in (on_complete_rows(X), copies):
        assert ordag.hamming(by_pc(testing, names), known) == 0


def test_tests_take_the_rows_that_have_their_columns() -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(300, 4)) @ np.triu(np.ones((4, 4)))
    H = np.where(random.random(X.shape) < [0.0, 0.3, 0.3, 0.0], np.nan, X)
    (found,) = on_complete_rows(H)(np.array([0]), np.array([1]), np.array([[[3]]]))[0]
    rows = H[~np.isnan(H[:, 1])][:, [0, 1, 3]]
    P = np.linalg.inv(np.cov(rows.T))
    r = -P[0, 1] / np.sqrt(P[0, 0] * P[1, 1])
    z = np.sqrt(len(rows) - 4.0) * abs(np.arctanh(r))
    assert erfc(z / sqrt(2.0)) == pytest.approx(found, abs=1e-12)
