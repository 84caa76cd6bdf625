"""Estimates of effects after adjustment, and what probabilities say of a set."""

from __future__ import annotations

import numpy as np
import pytest

import ordag
from ordag import Cpdag, Dag
from ordag.errors import ColumnError, GraphError, SettingError
from ordag.show.decisions import _kinds_of_sets
from tests.oracles.decisions import residuals

DAG = Dag.from_edges(["u", "a", "b", "m"], [("u", "a"), ("u", "b"), ("a", "m"), ("m", "b")])


def rows(n, seed):
    random = np.random.default_rng(seed)
    u, e, f, g = random.standard_normal((4, n))
    a = u + e
    m = 0.5 * a + f
    return {"u": u, "a": a, "b": 2 * m + u + g, "m": m}


def test_the_estimate_is_that_of_the_regression():
    data = rows(60, 1)
    found = ordag.adjust(DAG, "a", "b", data)
    assert found.sets == (("u",),)
    X = np.column_stack(list(data.values()))
    Z = np.column_stack([np.ones(60), X[:, [0, 1]]])
    b = np.linalg.lstsq(Z, X[:, 2], rcond=None)[0]
    rest = residuals(X, 2, [0, 1])
    s2 = rest @ rest / (60 - 3)
    assert found.estimates[0].effect == pytest.approx(b[2])
    assert found.estimates[0].std_error == pytest.approx(np.sqrt(s2 * np.linalg.inv(Z.T @ Z)[2, 2]))
    assert "Never hold fixed: m" in " ".join(found.notes)


def test_the_interval_covers():
    hits = [ordag.adjust(DAG, "a", "b", rows(20, seed)).estimates[0] for seed in range(300)]
    assert np.mean([one.low < 1.0 < one.high for one in hits]) == pytest.approx(0.95, abs=0.035)


def test_a_class_gives_one_effect_for_each_set_of_parents():
    chain = Cpdag.from_edges(["a", "b", "c"], [], [("a", "b"), ("b", "c")])
    random = np.random.default_rng(3)
    b = random.standard_normal(200)
    data = {"a": b + random.standard_normal(200), "b": b, "c": 2 * b + random.standard_normal(200)}
    found = ordag.adjust(chain, "a", "c", data)
    assert found.sets == ((), ("b",))
    assert [one.given for one in found.estimates] == [(), ("b",)]
    assert abs(found.estimates[1].effect) < 0.4 < found.estimates[0].effect
    assert ordag.adjust(chain, "b", "a", data).estimates[1].effect == 0.0  # a may be a parent of b
    assert "2 possible values" in found.sentence


def test_probabilities_say_how_often_a_set_is_valid():
    fit = ordag.learn(rows(400, 2), draws=40, units="commensurable")
    found = fit.adjust("m", "b")
    assert all(0.0 <= one.valid <= 1.0 for one in found.estimates)
    assert 0.0 <= found.paths <= 1.0
    assert found.to_dict()["path_probability"] == found.paths


def test_no_path_is_said():
    found = ordag.adjust(DAG, "b", "a")
    assert found.sentence == "In this graph no directed path leads from b to a: the effect is zero."
    assert found.estimates == ()
    told = ordag.adjust(DAG, "b", "a", rows(60, 1))
    assert told.estimates == ()
    assert told.sensitivity is None
    with pytest.raises(SettingError, match="the effect is zero"):
        told.plot()


def test_what_is_not_measured_is_not_held_fixed():
    data = rows(60, 1)
    del data["u"]
    with pytest.raises(ColumnError, match="Name what is not measured with unmeasured"):
        ordag.adjust(DAG, "a", "b", data)
    found = ordag.adjust(DAG, "a", "b", data, unmeasured=["u"])
    assert found.estimates == ()
    assert found.to_dict()["possible_parents"] == []
    assert "No set of measured variables gives the effect of a on b" in found.sentence
    assert "Not measured: u." in found.notes
    other = ordag.adjust("v -> a; u -> v; u -> b; w -> b; a -> b", "a", "b", unmeasured=["u", "w"])
    assert other.sets == (("v",),)
    assert other.rule.optimal is None
    assert other.sentence == "To estimate the effect of a on b, hold v fixed."
    assert _kinds_of_sets(other) == ["minimal"]
    text = 'dag { "u" [unobserved]; w [latent, pos="1,2"]; v -> a; u -> v; u -> b; w -> b; a -> b }'
    assert ordag.adjust(text, "a", "b", unmeasured=["u"]).to_dict() == other.to_dict()


def test_unknown_names():
    with pytest.raises(GraphError, match="has no node"):
        ordag.adjust(DAG, "a", "zz").sets  # noqa: B018


def test_an_estimate_is_drawn_under_hidden_common_causes():
    graph = "dag { algebra -> vectors; algebra -> mechanics; vectors -> mechanics }"
    found = ordag.adjust(graph, "vectors", "mechanics", "marks")
    assert found.to_dict()["sensitivity"]["robustness"] == found.estimates[0].robustness
    ax = found.plot()
    assert "effect of vectors on mechanics" in ax.get_title(loc="left")
    assert any("algebra" in one.get_text() for one in ax.texts)
    with pytest.raises(SettingError, match="give data"):
        ordag.adjust(graph, "vectors", "mechanics").plot()


def test_a_class_without_a_valid_set_says_nothing_of_what_to_leave_alone():
    """Its possible parents may be what a path leads through."""
    found = ordag.adjust("pdag { a -- b; b -- c; a -- c }", "a", "c")
    assert found.rule.optimal is None
    assert found.notes == []


def test_estimates_that_contradict_each_other_are_said_to():
    random = np.random.default_rng(4)
    z, w = random.standard_normal((2, 200))
    a = z + w + random.standard_normal(200)
    data = {"z": z, "w": w, "a": a, "b": a + z + random.standard_normal(200)}
    said = "The estimates contradict each other, so the graph does not hold in these rows: see ordag test."
    assert said not in ordag.adjust("z -> a -> b; z -> b; w -> a", "a", "b", data).notes
    assert said in ordag.adjust("z -> w -> a -> b; z -> b", "a", "b", data).notes  # w alone does not do


def test_sets_that_are_seldom_valid_are_said_to_be_unsure():
    known = {"required": [["algebra", "vectors"], ["vectors", "mechanics"]]}
    sure, unsure = (ordag.learn("marks", knowledge=one, draws=30) for one in (known, None))
    said = "No set is valid in most of the graphs drawn for resamples"
    assert not any(said in note for note in sure.adjust("algebra", "mechanics").notes)
    found = unsure.adjust("statistics", "algebra")
    assert any(said in note for note in found.notes) == (max([one.valid for one in found.estimates], default=1.0) < 0.5)


def test_a_hidden_cause_too_strong_for_the_picture_is_named_below_it():
    random = np.random.default_rng(3)
    z = random.standard_normal(80)
    x = 3.0 * z + random.standard_normal(80)
    data = {"z": z, "x": x, "y": 0.5 * x + 4.0 * z + 0.3 * random.standard_normal(80)}
    ax = ordag.adjust("z -> x -> y; z -> y", "x", "y", data).plot()
    said = [one.get_text() for one in ax.get_legend().get_texts()]
    assert "beyond the picture: as strong as z" in said
    assert not any("as strong as" in text and "beyond" not in text for text in said)
    assert ax.get_title(loc="left").endswith("held fixed: z")
