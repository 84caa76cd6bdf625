"""What a notebook shows is well-formed, holds the facts of the fit, asks for nothing from elsewhere, and takes every name as text."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from looks import ACTING, KINDS, fit_of, wide_fit

from ordag import learn
from ordag.common.words import shown
from ordag.show.report import fragment, report

EMPTY = {"meta", "polygon"}
KNOWN = {"html", "head", "body", "title", "meta", "style", "div", "p", "strong", "figure", "svg", "g", "path", "polygon", "rect",
         "text", "table", "thead", "tbody", "tr", "th", "td", "bdi"}  # fmt: skip


class Document(HTMLParser):
    """Tags that open and close in order; the text of table cells, and what is between <bdi> and </bdi>."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tables, self.isolated, self.paragraphs, self.attributes = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, tag
        self.attributes += attributes
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "bdi":
            self.isolated.append("")
        elif tag == "p":
            self.paragraphs.append("")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in KNOWN
        self.attributes += attributes

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        if "bdi" in self.open:
            self.isolated[-1] += data
        if "p" in self.open:
            self.paragraphs[-1] += data


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fragment_holds_the_facts_of_the_fit(kind):
    fit = fit_of(kind)
    document = Document(fragment(fit))
    tables = {table[0][0]: table for table in document.tables}
    head, *rows = tables.get(
        "arrow", [["arrow", *(["weight"] if "weight" in fit.edges else []), "direction", "support"]]
    )
    assert [row[0] for row in rows] == [
        f"{shown(a)} → {shown(b)}" for a, b in fit.edges[["source", "target"]].to_numpy()
    ]
    if "weight" in fit.edges:
        weights = [float(row[head.index("weight")]) for row in rows]
        np.testing.assert_allclose(weights, fit.edges["weight"], rtol=1e-3)
    assert [row[head.index("direction")] for row in rows] == fit.edges["reason"].tolist()
    if fit.support is not None:
        support = [float(row[head.index("support")].removesuffix(" %")) / 100 for row in rows]
        np.testing.assert_allclose(support, fit.edges["support"], atol=0.006)
        assert any(text.startswith("support: the share of") for text in document.paragraphs)
    lines = tables.get("without direction", [[]])[1:]
    assert [row[0] for row in lines] == [f"{shown(a)} — {shown(b)}" for a, b in fit.graph.undirected]
    steps = tables.get("order, causes first", [[]])[1:]
    if fit.order is not None:
        assert [row[0] for row in steps] == [f"{k}. {shown(name)}" for k, name in enumerate(fit.order, 1)]
    if fit.ordering is not None:
        np.testing.assert_allclose([float(row[1]) for row in steps], fit.steps["variance"], rtol=1e-3)
    assert any(fit.verdict.sentence[:40] in text for text in document.paragraphs)
    beside = "weight and s.e.: given the target's other parents; p edge: given all earlier variables"
    assert any(text.startswith(beside) for text in document.paragraphs) == (
        fit.selection is not None and kind != "no edges"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_text_and_stand_alone(kind):
    fit = fit_of(kind)
    text = fragment(fit)
    assert not ACTING.search(text)
    assert "<b>" not in text
    ends = [name for edge in (*fit.graph.directed, *fit.graph.undirected) for name in edge]
    assert sorted(Document(text).isolated) == sorted(map(shown, [*ends, *(fit.order or ())]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fragment_asks_for_nothing_and_runs_nothing(kind):
    attributes = dict(Document(fragment(fit_of(kind))).attributes)
    assert not {"src", "href", "srcset", "action", "data"} & set(attributes)
    assert not [name for name in attributes if name.startswith("on")]


def test_warnings_are_said_first():
    fit = fit_of("small")
    assert fit.warnings
    assert Document(fragment(fit)).paragraphs[1 : 1 + len(fit.warnings)] == list(fit.warnings)


def test_a_notebook_gets_the_fragment_and_a_file_the_report(tmp_path):
    fit = fit_of("cvs")
    assert fit._repr_html_() == fragment(fit)
    fit.report(tmp_path / "r.html", check=False)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report(fit, check=False)


@pytest.mark.slow
def test_long_tables_end_with_how_many_more_there_are():
    document = Document(fragment(wide_fit(), 3))
    assert [len(table) for table in document.tables] == [4, 4]
    assert f"… and {len(wide_fit().edges) - 3} more: see .edges." in document.paragraphs


def test_large_graphs_are_shown_by_a_neighbourhood():
    fit = learn(np.random.default_rng(0).standard_normal((300, 80)), "cvs", correction="bonferroni")
    text = fit._repr_html_()
    assert "Neighbourhood of" in text
    assert "One variable with its neighbours" in text
    assert len(Document(text).tables[-1]) == 31
    assert "80 variables" in repr(fit)
