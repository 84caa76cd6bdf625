"""Scores of rows against regressions without the row, and their sizes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kstest, norm
from scipy.stats import t as student

import ordag
from ordag.decisions import row_scores
from ordag.errors import ColumnError, SettingError
from tests.oracles.decisions import without_row

NAMES = ["x", "y", "z"]


def rows(n, seed):
    random = np.random.default_rng(seed)
    x = random.standard_normal(n)
    y = 0.8 * x + random.standard_normal(n)
    return np.column_stack([x, y, y - x + random.standard_normal(n)])


def fit_of(X):
    return ordag.learn(dict(zip(NAMES, X.T, strict=True)), "cvs")


def test_the_scores_of_learned_rows_are_those_of_regressions_without_the_row():
    X = rows(30, 1)
    fit = fit_of(X)
    found = ordag.explain(fit, range(1, 31))
    for j in range(3):
        given = [NAMES.index(name) for name in fit.graph.parents(NAMES[j])]
        for row in (0, 7, 29):
            t, df = without_row(X, row, j, given)
            assert found.scores[row, j] == pytest.approx(norm.ppf(student.cdf(t, df)), abs=1e-8)


def test_scores_and_p_values_are_uniform_for_new_rows_of_a_small_table():
    p_values = []
    for seed in range(100):
        fit = fit_of(rows(40, seed))
        p_values += ordag.explain(fit, dict(zip(NAMES, rows(4, 1000 + seed).T, strict=True))).p_values[:1].tolist()
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_contributions_add_up_to_the_deviation_of_the_target():
    X = rows(200, 3)
    fit = fit_of(X)
    found = ordag.explain(fit, [5, 17], target="z")
    np.testing.assert_allclose(found.contributions.sum(axis=1), X[[4, 16], 2] - X[:, 2].mean(), atol=1e-10)


def test_a_shock_is_found_where_it_came_in():
    X = rows(300, 4)
    shock = X[:1].copy()
    shock[0, 1] += 9.0
    shock[0, 2] += 9.0  # passed on to z
    found = ordag.explain(fit_of(X), dict(zip(NAMES, shock.T, strict=True)), target="z")
    assert np.argmax(np.abs(found.scores[0])) == 1
    assert np.argmax(np.abs(found.contributions[0])) == 1
    assert "from y" in found.line(0)
    assert found.sentence.startswith("1 of 1 row is too odd")


def test_the_worst_rows_come_from_all_blocks(monkeypatch, tmp_path):
    X = rows(250, 6)
    X[[3, 111, 240]] += [[0, 20, 0]]
    path = tmp_path / "rows.csv"
    path.write_text("x,y,z\n" + "\n".join(",".join(map(str, row)) for row in X.tolist()))
    fit = fit_of(rows(400, 7))
    monkeypatch.setattr(row_scores, "BLOCK_ROWS", 50)
    found = ordag.explain(fit, data=path, worst=3)
    assert sorted(found.rows.tolist()) == [4, 112, 241]
    assert found.scored == 250
    named = ordag.explain(fit, [112], data=path)
    np.testing.assert_allclose(named.values, X[[111]])


@pytest.mark.parametrize("missing", ["em", "drop"])
def test_rows_are_numbered_as_in_the_table_where_some_have_holes(missing):
    X = rows(60, 8)
    X[:12, 2] = np.nan
    X[40, 1] += 30.0
    columns = dict(zip(NAMES, X.T, strict=True))
    fit = ordag.learn(columns, "cvs", missing=missing)
    if missing == "drop":  # which rows there were is not known any more
        with pytest.raises(SettingError, match="does not keep all rows"):
            ordag.explain(fit, worst=1)
    for found in [
        ordag.explain(fit, worst=1, data=columns),
        *([ordag.explain(fit, worst=1)] if missing == "em" else []),
    ]:
        assert found.rows.tolist() == [41]
    assert ordag.explain(fit, [2], data=columns).line(0) == "has missing values"


def test_what_is_told_of_rows_is_in_the_answer():
    fit = fit_of(rows(200, 3))
    found = ordag.explain(fit, [5, 17], target="z")
    told = found.to_dict()
    assert [row["row"] for row in told["rows"]] == [5, 17]
    assert [row["p_value"] for row in told["rows"]] == found.p_values.tolist()
    assert [row["sentence"] for row in told["rows"]] == [found.line(0), found.line(1)]
    assert (told["nodes"], told["target"], told["scored"]) == (NAMES, "z", found.scored)
    assert json.loads(found.to_json()) == json.loads(json.dumps(told))
    assert fit.explain([5, 17], target="z").to_dict() == told


def test_bad_rows():
    fit = fit_of(rows(30, 1))
    with pytest.raises(SettingError, match="There is no row 31: the table has 30 rows"):
        ordag.explain(fit, [31])
    with pytest.raises(SettingError, match="There is no row 0: the first is row 1"):
        ordag.explain(fit, [0, 3])
    with pytest.raises(ColumnError, match="target"):
        ordag.explain(fit, target="w")
    with pytest.raises(SettingError, match="only moments"):
        ordag.explain(fit, data=fit.moments)
    with pytest.raises(SettingError, match="worst"):
        ordag.explain(fit, worst=0)


def experiments(n, seed):
    """Rows of x → y → z, untouched and with y set to noise, and what was done to each."""
    random = np.random.default_rng(seed)
    x, e, f = random.standard_normal((3, 2 * n))
    done = np.repeat(["", "y"], n)
    y = np.where(done == "y", 4.0 + 2.0 * e, 0.8 * x + e)
    return {"x": x, "y": y, "z": 1.5 * y + f, "done": done}


def test_a_variable_is_not_judged_where_it_was_acted_on_and_nothing_passes_through_it():
    table = experiments(30, 1)
    fit = ordag.learn(
        table, experiment="done", knowledge={"tiers": "x | y | z", "required": [["x", "y"], ["y", "z"]]}, draws=0
    )
    arrows = set(fit.graph.directed)
    assert arrows == {("x", "y"), ("y", "z")}
    found = ordag.explain(fit, range(1, 61), target="z")
    assert (np.isnan(found.scores) == ((table["done"] == "y")[:, None] & [False, True, False])).all()
    X = np.column_stack([table[name] for name in NAMES])
    acted = (table["done"] == "y").astype(float)
    for row in (0, 17, 40):  # z against the regression on y and the condition, of all other rows
        t, df = without_row(np.column_stack([X, acted]), row, 2, [1, 3])
        assert found.scores[row, 2] == pytest.approx(norm.ppf(student.cdf(t, df)), abs=1e-8)
    t, df = without_row(X[:30], 5, 1, [0])
    assert found.scores[5, 1] == pytest.approx(norm.ppf(student.cdf(t, df)), abs=1e-8)
    means = np.array([X[:30].mean(axis=0), X[30:].mean(axis=0)])[np.repeat([0, 1], 30)]
    np.testing.assert_allclose(found.values, X)
    np.testing.assert_allclose(found.contributions.sum(axis=1), X[:, 2] - means[:, 2], atol=1e-9)
    assert (found.contributions[30:, 0] == 0.0).all()
    assert (found.contributions[:30, 0] != 0.0).all()
    judged = ordag.explain(fit, data=table, experiment="done", worst=60)
    np.testing.assert_allclose(judged.errors[np.argsort(judged.rows)], found.errors, atol=1e-9)
    assert found.line(40).endswith("; y was acted on and is not judged")
    assert "acted on" not in found.line(0)


def test_p_values_of_rows_of_experiments_are_uniform():
    p_values = []
    for seed in range(20):
        fit = ordag.learn(
            experiments(100, seed), "pooled", experiment="done", knowledge={"tiers": "x | y | z"}, draws=0
        )
        p_values += ordag.explain(fit, experiments(10, 50 + seed), experiment="done").p_values.tolist()
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_other_rows_of_experiments_say_what_was_done():
    fit = ordag.learn(experiments(30, 1), experiment="done", draws=0)
    one = {"x": [0.0], "y": [9.0], "z": [13.5]}
    assert ordag.explain(fit, one).line(0).startswith("y is ")  # as an untouched row
    assert (
        ordag.explain(fit, {**one, "done": ["y"]}).line(0).endswith("; y was acted on and is not judged")
    )  # by that column of the fit
    for settings in ({}, {"experiment": "done"}):
        with pytest.raises(ColumnError, match="no rows of z: its conditions are"):
            ordag.explain(fit, {**one, "done": ["z"]}, **settings)
    table = experiments(30, 2)
    table["done"] = np.repeat(["x", "y"], 30)
    with pytest.raises(SettingError, match="name the column that says which"):
        ordag.explain(ordag.learn(table, experiment="done", draws=0), one)


def test_all_odd_rows_are_counted_and_named_ones_alone_are_told():
    X = rows(200, 8)
    X[:15, 1] += 12.0
    found = ordag.explain(fit_of(rows(200, 9)), data=dict(zip(NAMES, X.T, strict=True)), worst=3)
    assert len(found.rows) == 3
    assert found.odd == 15
    assert found.sentence.startswith("15 of 200 rows are too odd")
    named = ordag.explain(fit_of(rows(200, 9)), [4], data=dict(zip(NAMES, X.T, strict=True)))
    assert named.sentence.startswith("Row 4 (p")
    assert named.to_dict()["odd"] is None


def test_no_odd_row_and_rows_with_missing_values_are_said_in_words():
    X = rows(40, 2)
    fit = fit_of(X)
    tame = ordag.explain(fit, dict(zip(NAMES, X.mean(axis=0)[:, None], strict=True)))
    assert tame.sentence.startswith("No row of 1 is too odd for this model, after correction. Row 1 (")
    hole = ordag.explain(fit, dict(zip(NAMES, [[np.nan], [0.0], [0.0]], strict=True)))
    assert hole.sentence == "Rows with missing values are not explained, and these all have some."
