"""The document of the columns: roles, histograms, holes, remarks and what to do, of fits from rows, moments and files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.data.table import Table
from ordag.show.columns import columns_of, holes_map
from ordag.show.document import document

pytestmark = pytest.mark.filterwarnings("ignore::ordag.errors.ColumnWarning")

RANDOM = np.random.default_rng(2)
N = 60


def frame():
    holes = RANDOM.normal(size=N)
    holes[:6] = np.nan
    more = RANDOM.normal(size=N)
    more[3:9] = np.nan
    income = np.exp(2.0 * RANDOM.normal(size=N))
    age = RANDOM.integers(20, 70, N).astype(float)
    age[10:14] = -99
    return pd.DataFrame(
        {
            "row": np.arange(N),
            "town": ["Ulm", "Bonn", "Ulm"] * (N // 3),
            "year": np.arange(1950, 1950 + N),
            "x": holes,
            "y": more,
            "income": income,
            "age": age,
            "sex": RANDOM.integers(0, 2, N),
            "race": RANDOM.integers(1, 4, N),
            "twice": 2.0 * income,
        }
    )


DATA = frame()


def entries(fit):
    return {one["name"]: one for one in columns_of(fit.columns, fit.moments, fit.profile)}


def test_every_column_has_its_role_values_holes_and_what_to_do():
    found = entries(ordag.learn(DATA, "cvs"))
    assert list(found) == list(DATA.columns)
    assert {name: one["role"] for name, one in found.items()} == {
        **dict.fromkeys(("x", "y", "income", "age", "sex", "race"), "variable"),
        "row": "id",
        "town": "category",
        "year": "time",
        "twice": "derived",
    }
    assert (found["x"]["missing"], found["y"]["missing"], found["age"]["missing"], found["town"]["missing"]) == (
        6,
        6,
        0,
        0,
    )
    assert found["x"]["rows"] == found["row"]["rows"] == N
    assert found["town"]["levels"] == [["Ulm", 40], ["Bonn", 20]]
    assert found["town"]["typed"] == ["--adjust town holds it fixed, --cause town puts it into the graph"]
    assert found["year"]["typed"] == ["--role year=variable uses it anyway"]
    assert found["year"]["actions"] == [{"words": "use it anyway", "role": "variable"}]
    assert found["age"]["remark"] == "-99 in 4 rows: a missing value?"
    assert found["age"]["actions"] == [{"words": "read -99 as missing", "na": "-99"}]
    assert found["income"]["actions"] == [{"words": "take its logarithm", "unit": "log"}]
    assert found["sex"]["remark"] == "two values"
    assert found["race"]["typed"] == ["--category race"]
    assert found["twice"]["reason"] == "= 2 × income"
    assert (found["twice"]["word"], found["x"]["word"]) == ("follows from others", "in the graph")


def test_histograms_count_the_rows_between_the_extremes():
    found = entries(ordag.learn(DATA, "cvs"))
    for name in ("x", "income", "year", "row"):
        values = DATA[name].dropna()
        assert sum(found[name]["counts"]) == len(values)
        assert np.isclose(found[name]["least"], values.min(), rtol=1e-3)
        assert np.isclose(found[name]["most"], values.max(), rtol=1e-3)
        counts = np.histogram(values, len(found[name]["counts"]))[0]
        assert found[name]["counts"] == counts.tolist()


def test_of_moments_the_names_are_all_that_is_known():
    fit = ordag.learn(ordag.Moments.from_rows(DATA[["income", "age", "sex"]].to_numpy()), "cvs")
    found = columns_of(fit.columns, fit.moments, fit.profile)
    assert [(one["role"], one["counts"], one["missing"]) for one in found] == [("variable", [], 0)] * 3


def test_covariates_and_dropped_columns_are_said():
    found = entries(ordag.learn(DATA, "cvs", adjust=["town"], drop=["twice"]))
    assert [found[name]["word"] for name in ("town", "twice")] == ["held fixed", "left out"]
    assert found["town"]["levels"][0] == ["Ulm", 40]
    assert 40 < sum(found["income"]["counts"]) <= N


def test_the_map_of_the_holes_has_every_row_once():
    fit = ordag.learn(DATA, "cvs")
    found = holes_map(fit.moments.holes)
    assert found["names"] == ["x", "y"]
    assert found["patterns"] == [[[0], 3], [[1], 3], [[0, 1], 3]] or sorted(found["patterns"]) == [
        [[0], 3],
        [[0, 1], 3],
        [[1], 3],
    ]
    assert found["complete"] + sum(rows for _, rows in found["patterns"]) + found["more_rows"] + found["empty"] == N
    assert holes_map(None) is None
    assert holes_map(ordag.learn("marks", "cvs").moments.holes) is None


def test_the_report_has_both_and_the_workbench_neither_in_every_answer():
    fit = ordag.learn(DATA, "cvs")
    whole = document(fit)["data"]
    assert [one["name"] for one in whole["columns"]] == list(DATA.columns)
    assert whole["holes"]["missing"] == [6, 6]
    json.dumps(whole, allow_nan=False)
    brief = document(fit, histograms=False)["data"]
    assert brief["columns"] is brief["holes"] is None


def test_names_and_levels_are_shown_safely():
    data = pd.DataFrame(
        {"a\x1b[31m": RANDOM.normal(size=N), "b": RANDOM.normal(size=N), "c": ["\x1b]0;x", "plain"] * (N // 2)}
    )
    found = columns_of(*(lambda fit: (fit.columns, fit.moments, fit.profile))(ordag.learn(data, "cvs")))
    assert found[0]["shown"] == "'a\\x1b[31m'"
    assert found[2]["levels"][0][0] in ("\\x1b]0;x", "plain")


def test_wide_tables_have_no_histograms():
    table = Table(RANDOM.normal(size=(450, 410)))
    found = columns_of(table.columns, table.moments, table.profile)
    assert len(found) == 410
    assert not any(one["counts"] for one in found)


def test_an_empty_cell_of_an_experiment_is_no_missing_value():
    target = np.where(np.arange(N) < 20, "", np.where(np.arange(N) < 40, "a", "b"))
    fit = ordag.learn(
        {**dict(zip("abc", RANDOM.normal(size=(3, N)), strict=True)), "target": target}, experiment="target", draws=0
    )
    told = {one["name"]: one["missing"] for one in columns_of(fit.columns, fit.moments, fit.profile)}
    assert told == {"a": 0, "b": 0, "c": 0, "target": 0}
