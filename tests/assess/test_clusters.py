"""Relations within clusters beside those between their means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

import ordag
from ordag.assess.clusters import Correlation
from ordag.data.table import Table


def clustered(seed=0, *, between=-2.0, clusters=20, each=15):
    random = np.random.default_rng(seed)
    subject = np.repeat(np.arange(clusters), each)
    level = random.standard_normal(clusters)[subject]
    a = 3.0 * level + random.standard_normal(clusters * each)
    b = a + (3.0 * between - 3.0) * level + random.standard_normal(clusters * each)
    return {"a": a, "b": b, "s": [f"s{k}" for k in subject]}


def test_correlations_are_those_of_deviations_and_of_means():
    table = clustered()
    moments = Table(table, cluster="s").moments
    s = np.array(table["s"])
    means = np.array([[table[name][s == one].mean() for name in "ab"] for one in sorted(set(s))])
    expected = pearsonr(*means.T)
    found = Correlation.of(moments.between(), np.array([0]), np.array([1]))
    assert found.r[0] == pytest.approx(expected.statistic)
    assert found.p_value[0] == pytest.approx(expected.pvalue)
    left = [table[name] - np.array([table[name][s == one].mean() for one in s]) for name in "ab"]
    assert Correlation.of(moments, np.array([0]), np.array([1])).r[0] == pytest.approx(pearsonr(*left).statistic)


def test_opposite_relations_are_told_and_equal_ones_are_fine():
    found = ordag.learn(clustered(), cluster="s").check(draws=3)["clusters"]
    assert found.level == "look"
    assert "a and b correlate 0." in found.sentence
    assert "-0." in found.sentence
    assert ordag.learn(clustered(between=2.0), cluster="s").check(draws=3)["clusters"].level == "fine"
    few = ordag.learn(clustered(clusters=4, each=40), cluster="s").check(draws=3)["clusters"]
    assert few.level == "unchecked"
    with pytest.raises(KeyError):
        _ = ordag.learn({name: clustered()[name] for name in "ab"}).check(draws=3)["clusters"]
