"""What results show of themselves in a notebook: well-formed, static, with the facts, and every name as text."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from looks import ACTING, NAMES, fit_of, rows
from test_fragment import Document

import ordag
from ordag.common.markup import MOST_ROWS, card, isolated, sentence, table
from ordag.common.words import shown


@cache
def shown_things():
    fit = fit_of("bootstrap")
    small = {"methods": ["cvs", "pc"]}
    return {
        "Fit": fit,
        "Comparison": ordag.compare(rows(), **small),
        "Bootstrap": ordag.bootstrap(rows(), 20, method="cvs", seed=1),
        "Diagnosis": ordag.check(rows(), method="cvs", draws=2),
        "Effects": ordag.effects(fit),
        "Moments": fit.moments,
        "LinearSEM": fit.sem,
        "Dag": fit.graph,
        "Cpdag": fit_of("class").graph,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["Fit", "Comparison", "Bootstrap", "Diagnosis", "Effects", "Moments", "LinearSEM", "Dag", "Cpdag"]
)
def test_everything_shows_itself(kind):
    thing = shown_things()[kind]
    assert type(thing).__name__ == kind
    text = thing._repr_html_()
    document = Document(text)
    assert not ACTING.search(text)
    assert not {"src", "href", "srcset"} & dict(document.attributes).keys()
    assert not [name for name, _ in document.attributes if name.startswith("on")]
    assert ("<svg" in text) == (kind in ("Fit", "LinearSEM", "Dag", "Cpdag"))
    assert bool(document.tables) == (kind not in ("Dag", "Cpdag"))
    assert set(document.isolated) <= {*map(shown, NAMES), "cvs", "pc"}


def test_the_tables_hold_the_numbers():
    things = shown_things()
    fit = things["Fit"]
    head, *lines = Document(things["Moments"]._repr_html_()).tables[0]
    assert head == ["column", "mean", "standard deviation"]
    S = fit.moments.covariance()
    np.testing.assert_allclose([float(line[2]) for line in lines], np.sqrt(np.diag(S)), rtol=1e-3)
    weights, variances = Document(things["LinearSEM"]._repr_html_()).tables
    arrows = {
        f"{shown(a)} → {shown(b)}": fit.sem.B[fit.names.index(a), fit.names.index(b)] for a, b in fit.graph.directed
    }
    assert {line[0]: float(line[1]) for line in weights[1:]} == pytest.approx(arrows, rel=1e-3)
    np.testing.assert_allclose(sorted(float(line[1]) for line in variances[1:]), sorted(fit.sem.omega), rtol=1e-3)
    effects = Document(things["Effects"]._repr_html_()).tables[0]
    pairs = things["Effects"].table
    assert [line[0] for line in effects[1:]] == [
        f"{shown(a)} → {shown(b)}" for a, b in zip(pairs.source, pairs.target, strict=True)
    ]
    head, *lines = Document(things["Bootstrap"]._repr_html_()).tables[0]
    learned = [line[0] for line in lines if line[head.index("learned")] == "yes"]
    assert sorted(learned) == sorted(f"{shown(a)} → {shown(b)}" for a, b in things["Bootstrap"].fit.graph.directed)
    methods = Document(things["Comparison"]._repr_html_()).tables[0]
    assert [line[0] for line in methods] == ["method", "cvs", "pc"]
    findings = [line[0] for found in Document(things["Diagnosis"]._repr_html_()).tables for line in found[1:]]
    assert sorted(findings) == sorted(finding.title for finding in things["Diagnosis"].findings)


def test_models_beyond_float64_and_large_ones_still_show_themselves():
    huge = ordag.LinearSEM(1e200 * np.eye(3, k=1))
    assert "<svg" in huge._repr_html_()
    many = ordag.LinearSEM(np.eye(200, k=1))
    assert "<svg" not in many._repr_html_()
    assert f"… and {199 - MOST_ROWS} more: see .B." in Document(many._repr_html_()).paragraphs
    assert "200 nodes" in many.dag._repr_html_()


def test_names_are_escaped_cut_and_whole_under_the_pointer():
    long = "<i>" + "x" * 300
    text = isolated(long)
    assert "<i>" not in text
    document = Document(card("title", f"<p>{text}</p>"))
    assert len(document.isolated[0]) == 40
    assert dict(document.attributes)["title"] == long
    assert "&lt;b&gt;" in sentence("<b>", "note")
    assert sentence("") == table(["a"], []) == ""


@pytest.mark.thorough
@pytest.mark.system
def test_a_notebook_shows_every_picture():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib", "3.9")  # before, IPython does not show the first picture of pyplot's own either
    calls = [
        "import ordag; fit = ordag.learn('marks', 'cvs')",
        "fit.plot()",
        "ax = fit.plot('order')",
        "fit.plot('matrix');",
        "fit",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(call) for call in calls])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client
        nbclient.NotebookClient(notebook, timeout=600).execute()
    shown_as = [{kind for output in cell.outputs for kind in output.get("data", {})} for cell in notebook.cells]
    assert ["image/png" in kinds for kinds in shown_as] == [False, True, True, True, False]
    assert "text/html" in shown_as[-1]
