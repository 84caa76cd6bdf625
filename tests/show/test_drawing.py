"""Pictures show the graph: a box per variable, an arrow per edge that ends at its box, causes above effects."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks import ACTING, KINDS, NAMES, fit_of, wide_fit
from oracles.model import covariance
from ordag.show.drawing import HALF_HEIGHT, MOST_NODES, draw, svg
from ordag.show.layout import layered

from ordag import Dag, learn
from ordag.graph import to_cpdag
from ordag.words import shown

SPACE = "{http://www.w3.org/2000/svg}"


def random_dag(names, seed, density=0.5):
    rng = np.random.default_rng(seed)
    return Dag(names, np.triu(rng.random((len(names), len(names))) < density, 1))


def boxes(root):
    """Left, top, right and bottom of every box, by the title of the variable."""
    found = {}
    for group in root.iter(f"{SPACE}g"):
        rect = group.find(f"{SPACE}rect")
        if rect is not None:
            x, y, width, height = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
            found[group.find(f"{SPACE}title").text] = (x, y, x + width, y + height)
    return found


def points(text):
    return [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+),(-?[\d.]+)", text)]


def on_the_edge(box, point, slack=0.2):
    (left, top, right, bottom), (x, y) = box, point
    inside = left - slack <= x <= right + slack and top - slack <= y <= bottom + slack
    return inside and min(abs(x - left), abs(x - right), abs(y - top), abs(y - bottom)) <= slack


names = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=7, unique=True)


@given(names, st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_pictures_are_well_formed_for_any_names(names, seed):
    dag = random_dag(names, seed)
    text = svg(dag)
    assert not ACTING.search(text)
    root = ET.fromstring(text)
    assert {child.tag for child in root.iter()} <= {
        SPACE + t for t in ("svg", "g", "path", "polygon", "rect", "text", "title")
    }
    assert [title.text for title in root.iter(f"{SPACE}title")] == [shown(name) for name in names]
    assert all(len(text.text) <= 18 for text in root.iter(f"{SPACE}text"))
    assert len(root.findall(f".//{SPACE}polygon")) == len(root.findall(f".//{SPACE}path")) == dag.edge_count


@pytest.mark.parametrize("seed", range(8))
def test_arrows_lead_from_box_to_box_and_boxes_stand_apart(seed):
    dag = random_dag([f"variable {k}" * (k % 3 + 1) for k in range(9)], seed, 0.3)
    root = ET.fromstring(svg(dag))
    placed = boxes(root)
    width, height = map(float, root.get("viewBox").split()[2:])
    assert all(
        0 <= left < right <= width and 0 <= top < bottom <= height for left, top, right, bottom in placed.values()
    )
    for a, one in placed.items():
        for b, other in placed.items():
            assert a == b or one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
    heads = [points(polygon.get("points"))[0] for polygon in root.iter(f"{SPACE}polygon")]
    paths = [points(path.get("d")) for path in root.iter(f"{SPACE}path")]
    ends = [(path[0], path[-1]) for path in paths]
    assert sorted(heads) == sorted(end for _, end in ends)
    for a, b in dag.directed:
        assert placed[a][1] < placed[b][1]
        assert any(on_the_edge(placed[a], start) and on_the_edge(placed[b], end) for start, end in ends)


def test_edges_without_direction_have_no_head():
    dag = Dag(["a", "b", "c", "d"], np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool))
    chain = Dag(["a", "b", "c"], np.eye(3, k=1, dtype=bool))
    for graph, heads, lines in ((to_cpdag(dag), 2, 2), (to_cpdag(chain), 0, 2)):
        root = ET.fromstring(svg(graph))
        assert len(list(root.iter(f"{SPACE}polygon"))) == heads
        assert len(list(root.iter(f"{SPACE}path"))) == lines


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_is_drawn_with_its_weights(kind):
    fit = fit_of(kind)
    root = ET.fromstring(draw(fit))
    assert set(boxes(root)) == {shown(name) for name in fit.names}
    titles = {path.find(f"{SPACE}title"): float(path.get("stroke-width")) for path in root.iter(f"{SPACE}path")}
    if fit.sem is None:
        assert set(titles) == {None}
        return
    spread = np.sqrt(np.diag(covariance(fit.sem.B, fit.sem.omega)))
    found = {title.text: thickness for title, thickness in titles.items()}
    wanted = {}
    for i, j in zip(*np.nonzero(fit.sem.B), strict=True):
        effect = abs(fit.sem.B[i, j]) * spread[i] / spread[j]
        wanted[f"{shown(fit.names[i])} → {shown(fit.names[j])}: {fit.sem.B[i, j]:.3g}"] = 1 + 2.5 * min(1, effect)
    assert found == pytest.approx(wanted, abs=0.006)


def test_graphs_that_nobody_could_read_are_not_drawn():
    fit = learn(np.random.default_rng(0).standard_normal((200, MOST_NODES + 1)), "cvs", correction="bonferroni")
    assert draw(fit) is None
    assert draw(wide_fit()) is not None


def test_a_graph_without_edges_is_its_boxes():
    root = ET.fromstring(svg(Dag(["a"], np.zeros((1, 1), dtype=bool))))
    assert len(boxes(root)) == 1
    assert not list(root.iter(f"{SPACE}path"))
    placed = boxes(ET.fromstring(svg(Dag(["a", "b", "c"], np.zeros((3, 3), dtype=bool)))))
    assert {bottom - top for _, top, _, bottom in placed.values()} == {2 * HALF_HEIGHT}
    assert len({top for _, top, _, _ in placed.values()}) == 1


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_layers_go_from_causes_to_effects_by_the_longest_way(p, seed):
    dag = random_dag([f"v{k}" for k in range(p)], seed, 0.3)
    layout = layered(dag, down=10.0)
    depth = [0] * p
    for j in range(p):
        depth[j] = max((depth[i] + 1 for i in np.flatnonzero(dag.adjacency[:, j])), default=0)
    assert [y for _, y in layout.places] == [10.0 * (level + 0.5) for level in depth]
    assert len(set(layout.places)) == p
    assert all(0 < x < layout.width and 0 < y < layout.height for x, y in layout.places)
    assert set(layout.routes) == {(dag.index(a), dag.index(b)) for a, b in dag.directed}
    for (a, b), route in layout.routes.items():
        assert (route[0], route[-1]) == (layout.places[a], layout.places[b])
        assert [y for _, y in route] == [10.0 * (level + 0.5) for level in range(depth[a], depth[b] + 1)]
        assert not set(route[1:-1]) & set(layout.places)


def test_edges_do_not_cross_where_they_need_not():
    nodes = ["a", "b", "c", "x", "y", "z"]
    adjacency = np.zeros((6, 6), dtype=bool)
    for a, b in ("az", "by", "cx"):
        adjacency[nodes.index(a), nodes.index(b)] = True
    layout = layered(Dag(nodes, adjacency))
    across = dict(zip(nodes, (x for x, _ in layout.places), strict=True))
    pairs = sorted((across[a], across[b]) for a, b in ("az", "by", "cx"))
    assert [b for _, b in pairs] == sorted(b for _, b in pairs)


def test_a_class_is_laid_out_along_the_order_where_there_is_one():
    cpdag = to_cpdag(Dag(["a", "b", "c"], np.eye(3, k=1, dtype=bool)))
    for order in (("a", "b", "c"), ("c", "b", "a")):
        layout = layered(cpdag, order)
        heights = [layout.places[cpdag.index(name)][1] for name in order]
        assert heights == sorted(set(heights))


def test_hostile_names_are_on_the_boxes():
    root = ET.fromstring(draw(fit_of("cvs")))
    texts = [text.text for text in root.iter(f"{SPACE}text")]
    assert texts == [name if len(name) <= 18 else f"{name[:17]}…" for name in map(shown, NAMES)]
