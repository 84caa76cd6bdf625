"""Series on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from strategies.series import random_model, rows_of


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random = np.random.default_rng(4)
    X = rows_of(random_model(random, 3, 1)[0], 200, random)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        month=pd.period_range("2001-01", periods=200, freq="M").astype(str)
    )
    found = tmp_path_factory.mktemp("series") / "series.csv"
    table.sample(frac=1.0, random_state=1).to_csv(found, index=False)
    return str(found)


TIME = ("--time", "month", "--lags", "1")


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_learn(run, monkeypatch, path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, _ = run("learn", path, *TIME, "--draws", "16")
    assert status == 0
    assert "1 lag of a month" in out.replace("\n", " ").replace("  ", " ")
    assert "[-1]" in out
    assert max(map(len, out.splitlines())) <= columns


def test_the_json_has_lags(run, path):
    _, out, _ = run("learn", path, *TIME, "--draws", "0", "--json")
    said = json.loads(out)
    assert said["series"] == {
        "names": ["a", "b", "c"], "lags": 1, "time": "month", "step": "month", "cluster": None, "difference": 0, "season": None, "block": 6,
    }  # fmt: skip
    assert {edge["lag"] for edge in said["edges"]} == {0, 1}
    assert next(one for one in said["columns"] if one["column"] == "month")["reason"] == "orders the rows"


def test_effect_over_steps(run, path):
    status, out, _ = run("effect", path, *TIME, "--from", "a", "--to", "a", "--steps", "3", "--draws", "32", "--json")
    said = json.loads(out)
    assert status == 0
    assert said["steps"]["estimate"][0] == pytest.approx(1.0)
    assert said["unit"] == "month"
    status, _, err = run("effect", path, *TIME, "--from", "a", "--to", "b", "--steps", "3", "--interval", "bootstrap")
    assert status == 2
    assert "--steps: intervals over time are those of the resamples" in err
    status, _, err = run("effect", path, "--from", "a", "--to", "b", "--steps", "3")
    assert status == 2
    assert "learn with --lags 2" in err


def test_ahead(run, path):
    status, out, _ = run("ahead", path, *TIME, "--steps", "2", "--draws", "32", "--json")
    assert status == 0
    assert json.loads(out)["steps"]["step"] == [1, 1, 1, 2, 2, 2]
    status, out, _ = run("ahead", path, *TIME, "--steps", "2", "--draws", "32")
    assert status == 0
    assert "3 variables, 2 months ahead" in out


def test_ahead_of_a_saved_fit(run, path, tmp_path):
    saved = str(tmp_path / "a.ordag")
    run("learn", path, *TIME, "--draws", "32", "--out", saved)
    _, direct, _ = run("ahead", path, *TIME, "--steps", "2", "--draws", "32", "--json")
    status, again, _ = run("ahead", saved, "--steps", "2", "--json")
    assert status == 0
    assert json.loads(again) == json.loads(direct)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("learn", "--time", "month", "--lags", "500"), "--lags 500: 501 times in a row without a gap are needed"),
        (("learn", "--time", "a", "--cluster", "month", "--lags", "1"), "the longest stretch has 1"),
        (("learn", *TIME, "--method", "cvs"), "--method cvs takes an order of all columns by their variances"),
        (("learn", *TIME, "--bootstrap", "20"), "bootstrap takes a graph of variables at one time"),
        (("moments", *TIME, "--out", "x.moments"), "the parts of a series follow one another"),
        (("changes", *TIME), "equations with earlier values are not compared between tables"),
    ],
)
def test_what_cannot_be_is_said(run, path, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    paths = (path, path) if words[0] == "changes" else (path,)
    status, _, err = run(words[0], *paths, *words[1:])
    assert status == 2
    assert told in err.replace("\n", " ")


@pytest.mark.parametrize("kind", ["unrolled", "summary"])
def test_pictures(run, path, tmp_path, kind):
    picture = tmp_path / "a.svg"
    status, _, _ = run("learn", path, *TIME, "--draws", "0", "--plot", str(picture), "--plot-kind", kind)
    assert status == 0
    drawn = picture.read_text()
    assert drawn.count("<rect") >= 3
    assert "month earlier" in drawn or "own past" in drawn
