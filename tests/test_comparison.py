"""Methods side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ordag
from ordag import compare, learn, simulate
from ordag.errors import SettingError
from ordag.graph import to_cpdag
from ordag.learners.methods import METHODS

DRAWN = simulate("heterogeneous", 8, 800, 2)


@pytest.mark.slow
def test_every_method_gives_what_learn_gives_and_its_distances():
    comparison = compare(DRAWN.X, truth=DRAWN.sem, seed=4)
    assert [outcome.method for outcome in comparison.outcomes] == ["pooled", "cvs", "pc", "ges", "gds"]
    for outcome in comparison.outcomes:
        alone = learn(DRAWN.X, method=outcome.method, **({"seed": 4} if outcome.method in ("pooled", "gds") else {}))
        assert outcome.fit.graph == alone.graph
        assert outcome.hamming == ordag.hamming(alone.graph, DRAWN.dag)
        members = to_cpdag(alone.graph) if isinstance(alone.graph, ordag.Dag) else alone.graph
        assert outcome.class_hamming == ordag.hamming(members, to_cpdag(DRAWN.dag))
        assert outcome.seconds > 0
    assert comparison["cvs"].method == "cvs"
    with pytest.raises(KeyError):
        comparison["lingam"]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_fit_of_a_comparison_is_that_of_learn_in_every_key(method):
    assert compare("marks", [method])[method].to_dict() == learn("marks", method).to_dict()


def test_bic_is_that_of_regressions():
    comparison = compare(DRAWN.X, ["cvs"], truth=DRAWN.dag)
    Z = DRAWN.X - DRAWN.X.mean(axis=0)
    total, graph = 0.0, comparison["cvs"].graph
    for j in range(8):
        parents = np.flatnonzero(graph.adjacency[:, j])
        residual = Z[:, j] - Z[:, parents] @ np.linalg.lstsq(Z[:, parents], Z[:, j], rcond=None)[0]
        total += 800 * np.log(residual @ residual / 800) + np.log(800) * len(parents)
    assert comparison.outcomes[0].bic == pytest.approx(total)


@pytest.mark.slow
def test_tables_agreement_and_json():
    comparison = compare("marks", alpha=0.05, settings={"gds": {"seed": 1}})
    assert list(comparison.table["method"]) == ["pooled", "cvs", "pc", "ges", "gds"]
    assert "hamming" not in comparison.table
    assert comparison.agreement.to_numpy().tolist() == [[5] * 5, *([[5] + [6] * 4] * 4)]
    marks = comparison.edges.set_index(["first", "second"])
    assert marks.loc[("analysis", "statistics")].tolist() == ["", "→", "—", "—", "→"]
    document = json.loads(comparison.to_json())
    assert document["truth"] is None
    assert set(document["fits"]) == {"pooled", "cvs", "pc", "ges", "gds"}
    assert document["fits"]["pc"]["settings"]["alpha"] == 0.05
    assert "cvs" in repr(comparison)


def test_what_one_method_refuses_is_part_of_the_answer():
    X = simulate("homogeneous", 120, 1000, 0).X
    comparison = compare(X, ["cvs"])
    assert comparison.outcomes[0].fit is None
    assert "digit" in comparison.outcomes[0].problem
    assert "–" in repr(comparison)


def test_settings_are_checked():
    with pytest.raises(SettingError, match="choose among pooled, cvs, pc, ges, gds"):
        compare("marks", ["cvs", "lingam"])
    with pytest.raises(SettingError, match="alhpa is a setting of none"):
        compare("marks", alhpa=0.1)
    with pytest.raises(SettingError, match="not compared"):
        compare("marks", ["cvs"], settings={"pc": {"alpha": 0.1}})
    with pytest.raises(SettingError, match="between 0 and 1"):
        compare("marks", alpha=3)
