"""What a page says on how to make it again gives exactly the same answer: as Python code, and on the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from budgets import THOROUGH

import ordag
from ordag.bootstrapping import bootstrap
from ordag.common.words import harmless
from ordag.data.datasets import DATASETS
from ordag.show.provenance import KNOWLEDGE_FILE, Origin, command_line, provenance, python_call

MARKS = ["mechanics", "vectors", "algebra", "analysis", "statistics"]
ODD = ["a,b", " c ", 'd"e', "f=g", "-h"]

STATES = {
    "auto": {},
    "columns": {"columns": ["statistics", "algebra", "vectors"]},
    "transform": {"transform": {"algebra": 0.1, "vectors": "log", "analysis": "standardise", "statistics": -1 / 3}},
    "cvs": {"method": "cvs", "alpha": 0.05, "correction": "bh", "columns": MARKS[::-1], "transform": {"algebra": 100}},
    "split": {"method": "cvs", "alpha": 0.2, "split": True},
    "adaptive": {"method": "cvs", "parents": "adaptive", "direction": "backward"},
    "groups": {"groups": [["algebra", "analysis"], ["vectors", "mechanics"]], "kicks": 2, "seed": 7},
    "drawn": {"method": "gds", "seed": None},
    "generator": {"seed": np.random.default_rng(4)},
    "pc": {"method": "pc", "alpha": 0.1, "colliders": "majority", "orient_by_order": "class"},
    "ges": {"method": "ges", "penalty": "ebic", "max_degree": 2, "min_effect": 0.2},
    "knowledge": {
        "method": "cvs",
        "knowledge": {"tiers": [["vectors"], ["algebra", "analysis"]], "required": [["vectors", "mechanics"]]},
        "transform": {"vectors": "log"},
    },
    "bootstrap": {"bootstrap": 5, "workers": 1, "columns": MARKS[:4], "transform": {"algebra": 3}},
    "seeded": {"bootstrap": 5, "workers": 1, "seed": 11, "method": "gds"},
    "forecast": {"method": "cvs", "forecast": 3},
}


OFTEN = ("columns", "cvs", "split", "drawn", "pc", "ges", "knowledge", "seeded", "forecast")
"""Those of every change: one for each method and each thing to type. The others run with `make thorough`."""


def numbers(answer: dict) -> dict:
    """All that must be the same, to the last digit."""
    kept = ("settings", "rows", "nodes", "order", "steps", "edges", "undirected", "warnings", "error_variances")
    return {name: answer[name] for name in (*kept, "transform", "bootstrap", "probabilities") if name in answer}


def known_in(folder: Path, fit: ordag.Fit, origin: Origin) -> Path:
    told = provenance(fit, origin)["knowledge"]
    if told is not None:
        (folder / KNOWLEDGE_FILE).write_text(told, encoding="utf-8")
    return folder


REPLAY = """
import contextlib, io, json, os, shlex, sys
from ordag.cli import main
from ordag.assess import forecast

forecast.MOST_TABLES = 4  # of the verdict, which is not compared
for folder, code, command in json.load(sys.stdin):
    os.chdir(folder)
    space, out = {}, io.StringIO()
    exec(code, space)
    sys.argv = shlex.split(command)
    with contextlib.redirect_stdout(out):
        main()
    print(json.dumps([space["fit"].to_json(), out.getvalue()]))
"""
"""In another process: what the lines of Python give, and what the command prints."""


def replayed(*asked: tuple[ordag.Fit, Origin, Path]) -> None:
    """Make all of them again, and compare."""
    tasks = []
    for fit, origin, folder in asked:
        code, command = python_call(fit, origin), command_line(fit, origin)
        assert code.endswith('\nfit.report("report.html")')
        assert command.endswith(" --report report.html")
        tasks.append(
            [str(known_in(folder, fit, origin)), code.rsplit("\n", 1)[0], f"{command.rsplit(' --report', 1)[0]} --json"]
        )
    done = subprocess.run(
        [sys.executable, "-c", REPLAY], input=json.dumps(tasks), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(asked)
    for line, (fit, _, _), task in zip(lines, asked, tasks, strict=True):
        wanted = numbers(json.loads(fit.to_json()))
        for told in json.loads(line):
            assert numbers(json.loads(told)) == wanted, task


@pytest.mark.thorough
@pytest.mark.system
def test_both_give_the_same_answer(tmp_path):
    asked = []
    for name in STATES if THOROUGH else OFTEN:
        given = STATES[name]
        (tmp_path / name).mkdir()
        origin = Origin("marks", {"columns": given["columns"]} if "columns" in given else {})
        asked.append((ordag.learn("marks", **given), origin, tmp_path / name))
    replayed(*asked)


@pytest.mark.thorough
@pytest.mark.system
def test_odd_names_missing_values_and_layouts_too(tmp_path):
    rows = np.exp(ordag.simulate("homogeneous", 5, 60, seed=3).X / 9)
    rows[7, 1] = np.nan
    pd.DataFrame(rows, columns=ODD).to_parquet(tmp_path / "marks")
    chosen = {"columns": ODD[:4], "missing": "drop"}
    transform = {"f=g": "log", "a,b": 1e-3, " c ": "standardise"}
    named = ordag.learn(tmp_path / "marks", "cvs", transform=transform, **chosen)
    pd.DataFrame(rows).to_csv(tmp_path / "-b.txt", sep="\t", decimal=",", index=False, header=False, encoding="utf-16")
    reading = {"separator": "\t", "decimal": ",", "header": False, "encoding": "utf-16", "missing": "drop"}
    plain = ordag.learn(tmp_path / "-b.txt", "cvs", **reading)
    replayed((named, Origin(Path("marks"), chosen), tmp_path), (plain, Origin("-b.txt", reading), tmp_path))


@pytest.mark.slow
def test_a_bootstrap_whose_seed_was_drawn_can_be_had_again():
    result = bootstrap("marks", 2, method="gds", workers=1, level=0.9)
    fit = replace(result.fit, support=result)
    code = python_call(fit, Origin("marks"))
    assert f"seed={result.entropy}, bootstrap=2, level=0.9" in code
    command, _, rest = command_line(fit, Origin("marks")).partition("  # ")
    assert f" --bootstrap 2 --seed {result.entropy} " in command
    assert rest == "no option for level: use the Python code"
    space = {}
    exec(code.rsplit("\n", 1)[0], space)
    assert numbers(json.loads(space["fit"].to_json())) == numbers(json.loads(fit.to_json()))


def test_what_cannot_be_written_is_said():
    X = ordag.simulate("homogeneous", 3, 50, seed=1).X

    def own(r, n, k):
        from ordag.parents.tests import named_test

        return named_test("fisher-z")(r, n, k)

    fit = ordag.learn(X, "cvs", test=own)
    assert "test = …  # an object of your own: own" in python_call(fit, Origin())
    assert command_line(fit, Origin()).endswith("  # no option for test: use the Python code")
    start = ordag.Dag.from_edges(["X1", "X2", "X3"], [("X3", "X1")])
    begun = ordag.learn(X, "gds", start=start, restarts=[2, 3])
    code = python_call(begun, Origin("rows.csv"))
    assert "start=ordag.Dag.from_edges(['X1', 'X2', 'X3'], [('X3', 'X1')])" in code
    assert "restarts=[2, 3]" in code
    assert command_line(begun, Origin("rows.csv")).endswith("# no option for start, restarts: use the Python code")


def test_a_built_in_table_is_named_and_a_file_of_that_name_is_a_path():
    fit = ordag.learn("marks", "cvs")
    assert "ordag.learn('marks', " in python_call(fit, Origin("marks"))
    assert "ordag.learn('./marks', " in python_call(fit, Origin(Path("marks")))
    assert command_line(fit, Origin(Path("marks"))).startswith("ordag learn ./marks ")
    assert set(DATASETS) >= {"marks"}


@pytest.mark.slow
def test_changed_columns_are_in_every_form_of_the_answer(run, tmp_path):
    fit = ordag.learn("marks", transform={"algebra": 100, "vectors": "log", "analysis": "standardise", "statistics": 1})
    assert fit.transform == {"algebra": 100.0, "vectors": "log", "analysis": "standardise"}
    assert fit.to_dict()["transform"] == fit.transform
    said = "learned from algebra times 100, the logarithm of vectors and analysis in standard deviations"
    assert said in repr(fit)
    assert ["transform", json.dumps(fit.transform)] in provenance(fit, Origin())["settings"]
    words = [f"--transform={name}={change}" for name, change in fit.transform.items()]
    status, out, _ = run("learn", "marks", *words)
    assert (status, said in " ".join(out.split())) == (0, True)
    assert "transform" not in ordag.learn("marks", "cvs").to_dict()


@pytest.mark.system
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_names_that_no_page_can_show_are_typed_with_escapes():
    names = ["line\nend", "tab\tand 'marks' \\n", "turned\u202eround", "wide\u00a0space", "odd\U000e0001", "plain name"]
    fit = ordag.learn(pd.DataFrame(np.random.default_rng(0).normal(size=(50, 6)), columns=names), "cvs")
    typed = command_line(fit, Origin("t.csv", {"columns": names}))
    assert harmless(typed) == typed
    words = typed.replace("ordag", r"printf '%s\0'", 1)
    printed = subprocess.run(["bash", "-c", words], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    given = printed.decode().split("\0")
    assert given[given.index("--columns") + 1] == ",".join(names)
