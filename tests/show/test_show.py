"""Files are written whole, pictures are well-formed, and names stay text."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from html import escape, unescape

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordag import Dag, learn, simulate
from ordag.errors import OutputError
from ordag.show.drawing import draw, svg
from ordag.show.files import write_whole
from ordag.show.layout import layered
from ordag.show.page import page
from ordag.show.text import percent, probability
from ordag.words import shown


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "f.txt"
    path.write_text("mine")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device.*unchanged"):
        write_whole(path, "theirs")
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["f.txt"]


def test_a_protected_file_is_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "f.txt"
    path.write_text("mine")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="write-protected"):
        write_whole(path, "theirs")
    assert path.read_text() == "mine"


def test_writing_keeps_the_mode_and_follows_links(tmp_path):
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    write_whole(link, "new – ä")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new – ä"
    assert real.stat().st_mode & 0o777 == 0o640


names = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=7, unique=True)


@given(names, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_pictures_are_well_formed_for_any_names(names, seed):
    rng = np.random.default_rng(seed)
    dag = Dag(names, np.triu(rng.random((len(names), len(names))) < 0.5, 1))
    root = ET.fromstring(svg(dag))
    space = "{http://www.w3.org/2000/svg}"
    assert {child.tag for child in root.iter()} <= {
        space + t for t in ("svg", "g", "path", "polygon", "rect", "text", "title")
    }
    assert len(root.findall(f".//{space}rect")) == len(names)
    assert len(root.findall(f".//{space}polygon")) == dag.edge_count


def test_a_page_isolates_names_and_hides_no_control():
    odd = ["\u0639\u0645\u0631", "\u05d2\u05d9\u05dc", "<i>a\u202eb\x1b[31m\ufffe"]
    X = np.random.default_rng(0).standard_normal((80, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    data = {name: X[:, j] for j, name in enumerate(odd)}
    for settings_ in ({}, {"alpha": 0.05}, {"method": "pc"}):
        fit = learn(data, **settings_)
        text = page(fit)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]", text)
        tables = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
        assert "<i>a" not in tables
        for a, b in fit.graph.directed:
            written = [f"<bdi>{escape(shown(name))}</bdi>" for name in (a, b)]
            assert f"<td class='name'>{' → '.join(written)}</td>" in tables
        for a, b in fit.graph.undirected:
            assert f"<bdi>{escape(shown(a))}</bdi> — <bdi>{escape(shown(b))}</bdi>" in tables
        ET.fromstring(draw(fit))


def test_layers_go_from_causes_to_effects():
    sem = simulate("homogeneous", 12, 10, 0).sem
    layout = layered(sem.dag)
    for a, b in sem.dag.directed:
        assert layout.places[sem.dag.index(a)][1] < layout.places[sem.dag.index(b)][1]
    assert len(set(layout.places)) == 12


def test_large_graphs_are_described_but_not_drawn(tmp_path):
    fit = learn(np.random.default_rng(0).standard_normal((300, 80)), correction="bonferroni")
    assert "not drawn" in fit._repr_html_()
    assert "80 variables" in repr(fit)
    from ordag.show.export import save

    with pytest.raises(OutputError, match=r"\.dot"):
        save(fit, tmp_path / "g.svg")


def test_numbers_read_well():
    assert [percent(x) for x in (0.004, 0.531, 2.5, float("nan"))] == ["0.4 %", "53.1 %", "3.5 ×", ""]
    assert [probability(x) for x in (1e-300, 0.0123, None)] == ["< 1e-16", "0.012", ""]


def test_the_table_of_arrows_says_which_regressions_its_numbers_are_from(run):
    """The weight is given the other parents, the p-value of cvs given all earlier variables: .548/.178 beside p = .034."""
    words = "weight and s.e.: given the target's other parents; p edge: given all earlier variables"
    _, out, _ = run("learn", "marks", "--method", "cvs", "--alpha", "0.05")
    assert words in " ".join(out.split())
    fit = learn("marks", method="cvs", alpha=0.05)
    assert words in unescape(fit._repr_html_())
    for other in ("gds", "pooled"):
        assert "p edge: given" not in run("learn", "marks", "--method", other)[1]
    out = run("learn", "marks", "--method", "pc", "--alpha", "0.05", "--orient-by-order")[1]
    assert "p edge: the largest of all tests of the pair" in " ".join(out.split())
