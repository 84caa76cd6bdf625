"""A replicate's data depend on its address alone."""

import hashlib

import numpy as np
import pytest

from ordag.paper.experiment import Task
from ordag.paper.simulations import CHANGES, DESIGNS, METHODS, measure, replicate_of, seed


def task(design="homogeneous", p=5, n=30, replicate=0, method="cvs", experiment="figure2"):
    return Task(experiment, design, p, n, replicate, method)


def test_the_seed_is_the_digest_of_the_address():
    digest = hashlib.sha256(b"homogeneous|20|100|7|data").hexdigest()
    assert seed("homogeneous", 20, 100, 7).entropy == int(digest[:32], 16)
    others = [("heterogeneous", 20, 100, 7), ("homogeneous", 2, 100, 7), ("homogeneous", 20, 10, 7)]
    entropies = {seed(*address).entropy for address in [*others, ("homogeneous", 20, 100, 8)]}
    assert len(entropies) == 4
    assert seed("homogeneous", 20, 100, 7).entropy not in entropies
    assert seed("homogeneous", 20, 100, 7, "gds").entropy != int(digest[:32], 16)


def test_every_method_and_experiment_sees_the_same_data():
    first = replicate_of(task())
    for other in (task(method="ges"), task(experiment="beyond")):
        assert np.array_equal(replicate_of(other).X, first.X)
        assert replicate_of(other).truth == first.truth
    for other in (task(replicate=1), task(n=31), task(design="heterogeneous")):
        assert not np.array_equal(replicate_of(other).X[:30], first.X)


@pytest.mark.parametrize("design", DESIGNS)
def test_designs(design):
    drawn = replicate_of(task(design, p=3 if design == "nonfaithful" else 12))
    assert drawn.X.shape == (30, len(drawn.truth.nodes))
    assert np.isfinite(drawn.X).all()


def test_a_change_of_scale_is_of_the_same_rows():
    plain = replicate_of(task("heterogeneous"))
    standardised, rescaled = (replicate_of(task(f"heterogeneous/{change}")) for change in ("standardised", "rescaled"))
    assert np.allclose(standardised.X.std(axis=0), 1)
    assert np.allclose(np.corrcoef(standardised.X.T), np.corrcoef(plain.X.T))
    factors = rescaled.X / plain.X
    assert np.allclose(factors, factors[0])
    assert ((factors > 0.1) & (factors < 10)).all()
    assert len(np.unique(factors[0])) == 5
    assert standardised.truth == rescaled.truth == plain.truth


def test_variances_taken_for_deviations():
    wide = task("heterogeneous/variances as deviations", p=1, n=20000)
    plain = replicate_of(task("heterogeneous", p=1, n=20000)).X.var()
    assert replicate_of(wide).X.var() == pytest.approx(plain**2, rel=0.1)
    assert set(CHANGES) == {"standardised", "rescaled", "variances as deviations"}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_gives_the_same_row_each_time(method):
    (row,) = measure(task(method=method, n=200))
    assert [row] == measure(task(method=method, n=200))
    assert row["problem"] == ""
    assert 0 <= row["dag_distance"] <= 20
    assert 0 <= row["class_distance"] <= 20


def test_what_a_method_refuses_is_a_result():
    (row,) = measure(task(method="ges", p=30, n=10))
    assert row["problem"] == "TooFewRowsError"
    assert row["dag_distance"] is None
    assert row["true_edges"] > 0
