"""The commands of decisions give what the calls of the same names give."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module

import click
import numpy as np
import pandas as pd
import pytest

import ordag
from ordag.graph import Dag, write_text


@pytest.fixture
def files(tmp_path):
    """Two tables, b.csv with a shifted z; a graph; and a saved fit of the first."""
    for name, seed, shift in (("a", 1, 0.0), ("b", 2, 3.0)):
        x, y, z = np.random.default_rng(seed).standard_normal((3, 150))
        y += x
        pd.DataFrame({"x": x, "y": y, "z": 0.8 * y + z + shift}).to_csv(tmp_path / f"{name}.csv", index=False)
    chain = Dag(["x", "y", "z"], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    (tmp_path / "g.graphml").write_text(write_text(chain, "graphml"))
    ordag.learn(tmp_path / "a.csv", "cvs").save(tmp_path / "a.ordag")
    return tmp_path


def said(run, *words):
    """The JSON of a command, which without --json says the same sentence below the names of what it is about."""
    status, text, _ = run(*words)
    assert status == 0
    assert text.startswith("Ordag · ")
    assert all(table in text.splitlines()[0] for table in {"a.csv", "b.csv"} & set(words))
    plainly, (status, text, _) = text, run(*words, "--json")
    assert status == 0
    answer = json.loads(text)
    assert answer["sentence"].split()[0] in plainly
    return answer


def plain(answer):
    return json.loads(answer.to_json())


def test_test(run, files):
    found = said(run, "test", "g.graphml", "a.csv")
    assert found == plain(ordag.test(files / "g.graphml", files / "a.csv"))
    assert said(run, "test", "a.ordag", "a.csv", "--split", "--seed", "3") == plain(
        ordag.test(files / "a.ordag", files / "a.csv", split=True, seed=3)
    )


def test_adjust(run, files):
    words = ["adjust", "g.graphml", "--from", "x", "--to", "z"]
    assert said(run, *words) == plain(ordag.adjust(files / "g.graphml", "x", "z"))
    words.insert(2, "a.csv")
    assert said(run, *words) == plain(ordag.adjust(files / "g.graphml", "x", "z", files / "a.csv"))
    graph = "u -> x; u -> y; y -> z; x -> z"
    found = said(run, "adjust", graph, "a.csv", "--from", "x", "--to", "z", "--unmeasured", "u, y")
    assert found == plain(ordag.adjust(graph, "x", "z", files / "a.csv", unmeasured=["u", "y"]))
    assert found["sentence"].startswith("No set of measured variables")


def test_changes(run, files):
    found = said(run, "changes", "a.csv", "b.csv", "--graph", "g.graphml", "--target", "z")
    assert found == plain(ordag.changes(files / "a.csv", files / "b.csv", files / "g.graphml", target="z"))


def test_explain(run, files):
    fit = ordag.learn(files / "a.csv", "cvs")
    found = said(run, "explain", "a.csv", "--rows", "17, 23", "--target", "z", "--method", "cvs")
    assert found == plain(ordag.explain(fit, [17, 23], target="z"))
    found = said(run, "explain", "b.csv", "--fit", "a.ordag", "--worst", "4")
    assert found == plain(ordag.explain(fit, data=files / "b.csv", worst=4))
    assert found != plain(ordag.explain(fit, worst=4))
    assert "--rows 1,x: give numbers" in run("explain", "a.csv", "--rows", "1,x")[2]
    assert "--fit takes a saved fit" in run("explain", "a.csv", "--fit", "g.graphml")[2]


def test_intervene(run, files):
    fit = ordag.load(files / "a.ordag")
    found = said(run, "intervene", "a.ordag", "--set", "x=2", "--rule", "y=1.5 - 2*x + x")
    assert found == plain(ordag.intervene(fit, {"x": 2.0}, {}, {"y": {"": 1.5, "x": -1.0}}))
    found = said(run, "intervene", "a.csv", "--method", "cvs", "--shift", "y=-1e1")
    assert found == plain(ordag.intervene(ordag.learn(files / "a.csv", "cvs"), {}, {"y": -10.0}))
    for words in (["--set", "x"], ["--set", "=2"], ["--shift", "x=a"], ["--rule", "y"], ["--rule", "y=+"]):
        said_of = run("intervene", "no such file", *words)[2]  # before anything is read
        assert f"{words[0]} {words[1]}: write the variable, =, and" in said_of
    assert "with --set, --shift or --rule" in run("intervene", "no such file")[2]


def test_the_next_command_keeps_what_was_typed_of_the_table(run, files, monkeypatch):
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)

    def last_line(*words):
        return click.unstyle(run(*words)[2].splitlines()[-1])

    (files / "known.txt").write_text("tiers: x | y | z")
    ask = ["--from", "x", "--to", "z"]
    typed = ["--knowledge", "known.txt", "--columns=x,y,z", "--method", "pooled", "--level", "0.9", "--draws", "32"]
    said = last_line("effect", "a.csv", *ask, *typed)
    kept = "--knowledge known.txt --columns=x,y,z --method pooled --draws 32"
    assert said == f"Next: the effect under hidden causes: ordag effect a.csv --from x --to z --plot doubt.png {kept}"
    said = last_line("effect", "a.csv", *ask, *typed, "--plot", "p.png")
    assert said.endswith("intervene a.csv --shift x=1 --knowledge known.txt --columns=x,y,z --method pooled")
    said = last_line("explain", "a.csv", "--fit", "a.ordag", "--target", "z", "--columns", "x,y,z")
    assert re.fullmatch(r"Next: .*: ordag effect a\.ordag --from [xy] --to z", said)


@pytest.mark.slow
def test_every_command_ends_with_the_next_one(run, files, monkeypatch):
    """What comes next is a command that runs."""
    said = []
    for name in ("adjust", "changes", "effect", "explain", "intervene", "test"):
        module = import_module(f"ordag.cli.{name}")
        monkeypatch.setattr(module, "say_next", lambda words, *command: said.append(command))
    for words in (
        ["test", "g.graphml", "a.csv"],
        ["adjust", "g.graphml", "a.csv", "--from", "x", "--to", "z"],
        ["adjust", "g.graphml", "a.csv", "--from", "x", "--to", "z", "--plot", "p.png"],
        ["adjust", "u -> x; u -> z; x -> z", "a.csv", "--from", "x", "--to", "z", "--unmeasured", "u"],
        ["changes", "a.csv", "b.csv", "--graph", "g.graphml"],
        ["changes", "a.csv", "b.csv", "--graph", "g.graphml", "--target", "z"],
        ["explain", "a.csv", "--method", "cvs"],
        ["explain", "a.csv", "--method", "cvs", "--target", "z"],
        ["explain", "b.csv", "--fit", "a.ordag", "--target", "z"],
        ["adjust", "a.ordag", "--from", "x", "--to", "z", "--plot", "p.png"],
        ["adjust", "g.graphml", "--from", "z", "--to", "x"],
        ["adjust", "g.graphml", "a.csv", "--from", "z", "--to", "x"],
        ["intervene", "a.ordag", "--shift", "x=1"],
        ["effect", "a.ordag", "--from", "x", "--to", "z", "--interval", "given-graph"],
        ["effect", "a.ordag", "--from", "x", "--to", "z", "--interval", "given-graph", "--plot", "p.png"],
        ["effect", "a.ordag", "--from", "x,y", "--to", "z"],
    ):
        said.clear()
        assert run(*words)[0] == 0
        assert len(said) == 1, words
        assert said[0][0] in ("adjust", "changes", "effect", "explain", "intervene", "test")
        if words[0] in ("intervene", "effect"):
            assert run(*said[0], *(["--interval", "given-graph"] if said[0][0] == "effect" else []))[0] == 0
