"""Files hold the fit as their endings say, and nothing is lost on the way back."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from looks import KINDS, NAMES, fit_of, rows

from ordag import Cpdag, Dag, Moments, learn
from ordag.errors import OrdagError, OutputError
from ordag.graph.formats import FORMATS, read_text
from ordag.show.export import check_ending, content, save
from ordag.show.report import report


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_edges_has_all_of_fit_edges_and_the_rest_of_the_graph(kind):
    fit = fit_of(kind)
    # numbers as text: what older versions of pandas make of them is not the nearest float
    table = pd.read_csv(io.StringIO(content(fit, "edges.csv")), keep_default_na=False, dtype=str)
    joined = {name for edge in (*fit.graph.directed, *fit.graph.undirected) for name in edge}
    arrows = table[
        table["target"].ne("")
        & table.get("undirected", pd.Series("false", table.index)).astype(str).str.lower().eq("false")
    ]
    assert arrows[["source", "target"]].to_numpy().tolist() == fit.edges[["source", "target"]].to_numpy().tolist()
    for key in fit.edges.columns.difference(["source", "target", "reason", "hidden_cause"]):
        found = [float(text) if text else np.nan for text in arrows[key]]
        np.testing.assert_array_equal(found, fit.edges[key].astype(float))
    for key in {"reason", "hidden_cause"} & set(fit.edges.columns):
        assert arrows[key].tolist() == fit.edges[key].astype(str).tolist()
    assert set(table.loc[table["target"].eq(""), "source"]) == set(fit.names) - joined
    back = read_text(content(fit, "edges.csv"), "csv")
    assert (set(back.directed), set(back.undirected)) == (set(fit.graph.directed), set(fit.graph.undirected))
    assert set(back.nodes) == set(fit.names)


@pytest.mark.parametrize("kind", ["cvs", "class", "no edges"])
@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("csv", "json", "lavaan", "dagitty")])
def test_graph_files_are_read_back_as_they_were(kind, format):
    """Of names that every format can hold; odd ones are for tests/graph."""
    plain = {name: f"v{k}" for k, name in enumerate(NAMES)}
    fit = learn(
        rows().rename(columns=plain), "pc" if kind == "class" else "cvs", alpha=1e-90 if kind == "no edges" else 0.01
    )
    assert kind != "no edges" or fit.graph.edge_count == 0
    for ending in FORMATS[format].endings:
        back = read_text(content(fit, f"g{ending}"), format)
        graph = (Cpdag if back.undirected else Dag).from_edges(
            fit.names, back.directed, *([back.undirected] if back.undirected else [])
        )
        np.testing.assert_array_equal(graph.adjacency, fit.graph.adjacency)
        if fit.weights is not None and back.weights:
            for (a, b), weight in back.weights.items():
                assert weight == pytest.approx(fit.weights[fit.names.index(a), fit.names.index(b)], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_json_is_the_whole_answer(kind):
    fit = fit_of(kind)
    text = content(fit, "a.json")
    document = json.loads(text)
    assert document == json.loads(fit.to_json())
    assert document["nodes"] == list(fit.names)
    assert [(edge["source"], edge["target"]) for edge in document["edges"]] == list(
        fit.edges[["source", "target"]].itertuples(index=False, name=None)
    )
    assert text.endswith("}\n")


@pytest.mark.slow
def test_pages_and_pictures_go_by_their_endings_whatever_their_case(tmp_path):
    fit = fit_of("cvs")
    assert content(fit, "a.HTML") == content(fit, tmp_path / "b.html") == report(fit)
    assert ET.fromstring(content(fit, "A.SVG")).tag.endswith("svg")
    where = save(fit, str(tmp_path / "out.json"))
    assert where.read_text(encoding="utf-8") == content(fit, "out.json")


@pytest.mark.parametrize("name", ["g.docx", "graph", "json", ".jpg", "g.json.txt"])
def test_other_endings_are_refused_with_those_there_are(name):
    with pytest.raises(OutputError, match=r"none of the endings.*\.json.*\.csv.*\.html.*\.svg.*\.dot.*\.graphml"):
        check_ending(name)
    with pytest.raises(OrdagError):
        content(fit_of("cvs"), name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["g.json", "G.CSV", "g.html", "g.svg", "g.pdf", "G.PNG", *(f"g{e}" for f in FORMATS.values() for e in f.endings)],
)
def test_every_ending_that_is_let_through_can_be_written(name):
    check_ending(name)
    plain = learn(rows().rename(columns={name: f"v{k}" for k, name in enumerate(NAMES)}), "cvs")
    assert content(plain, name)


def test_what_cannot_be_written_down_is_said():
    nameless = learn(Moments.from_rows(rows().to_numpy(), ["", *NAMES[1:]]), "cvs")
    with pytest.raises(OutputError, match="without a name"):
        content(nameless, "g.csv")


def test_saving_is_refused_with_all_endings_there_are(tmp_path):
    with pytest.raises(OutputError, match=r"\.html.*\.svg|\.svg.*\.html"):
        fit_of("cvs").save(tmp_path / "graph.xyz")
    assert not list(tmp_path.iterdir())
