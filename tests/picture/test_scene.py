"""A scene has a box per variable and an arrow per edge, looks that say what they stand for, and letters of a readable size."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordag.common.words import harmless, shown
from ordag.picture.scene import (
    BLUE,
    INK,
    MARGIN,
    MAX_NAME_LETTERS,
    SAMPLE,
    SMALL,
    VERMILION,
    Stroke,
    _point,
    box_width,
    graph_scene,
    labels,
    place,
    stroke_curve,
    stroke_samples,
    text_width,
    with_legend,
)
from ordag.picture.svg import MOST_DRAWN, graph_svg, svg

SPACE = "{http://www.w3.org/2000/svg}"
DOWN = [(0.0, 0.0), (0.0, 20.0), (0.0, 40.0), (0.0, 60.0)]

names = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=7, unique=True)


def scene_of(nodes, adjacency, **looks):
    strokes = [Stroke(i, j, **looks) for i, j in np.argwhere(adjacency).tolist()]
    return graph_scene(nodes, place(nodes, adjacency), strokes)


@pytest.mark.slow
@given(names, st.integers(0, 2**32 - 1))
def test_pictures_are_well_formed_for_any_names(nodes, seed):
    adjacency = np.triu(np.random.default_rng(seed).random((len(nodes), len(nodes))) < 0.5, 1)
    scene = scene_of(nodes, adjacency)
    text = svg(scene)
    assert all(harmless(line) == line for line in text.split("\n"))
    root = ET.fromstring(text)
    allowed = {SPACE + tag for tag in ("svg", "g", "path", "polygon", "rect", "text", "title")}
    assert {child.tag for child in root.iter()} <= allowed
    boxes = [rect for rect in root.iter(f"{SPACE}rect") if rect.get("rx")]
    assert [rect.find(f"{SPACE}title").text for rect in boxes] == [shown(name) for name in nodes]
    written = [word.text for word in scene.words[: len(nodes)]]
    assert written == [labels(nodes)[name] for name in nodes]
    assert all(len(word) <= MAX_NAME_LETTERS for word in written)
    count = int(adjacency.sum())
    assert len(root.findall(f".//{SPACE}path")) == len(root.findall(f".//{SPACE}polygon")) == count
    assert all(float(word.get("font-size")) >= SMALL for word in root.iter(f"{SPACE}text"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["algebra", "WWWWWWWWMMMMMMMMMM", "iiiiiiiiiillllllll", "Σ_{ij}$x^2$", "血圧の測定値", "x" * 300, ""]
)
def test_a_name_fits_its_box_in_a_font_that_runs_wide(name):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    short = labels([name])[name]
    drawn = TextPath((0, 0), short, size=13.0, prop=FontProperties(family="DejaVu Sans")).get_extents().width
    assert box_width(short) >= drawn + 8.0
    assert text_width(short) <= 2.2 * drawn + 30.0


def test_the_middle_of_a_long_name_is_left_out():
    names = ["temperature_of_the_reactor_inlet", "short"]
    assert list(labels(names).values()) == ["temperatu…or_inlet", "short"]


def test_names_that_differ_in_the_middle_only_keep_what_differs():
    names = [f"the average income in region number {j} of the country, before taxes" for j in (1, 2, 13, 14)]
    assert list(labels(names).values()) == [
        "the aver…1…e taxes", "the aver…2…e taxes", "the ave…13…e taxes", "the ave…14…e taxes"
    ]  # fmt: skip


def test_what_raises_and_what_lowers_differ_in_colour_and_in_shape():
    up, down = stroke_curve(Stroke(0, 1, effect=0.5), DOWN), stroke_curve(Stroke(0, 1, effect=-0.5), DOWN)
    assert (up.colour, up.hollow) == (BLUE, False)
    assert (down.colour, down.hollow) == (VERMILION, True)
    assert up.thickness == down.thickness
    unknown = stroke_curve(Stroke(0, 1), DOWN)
    assert (unknown.colour, unknown.hollow) == (INK, False)


def test_width_grows_with_the_effect_and_opacity_with_the_strength():
    widths = [stroke_curve(Stroke(0, 1, effect=effect), DOWN).thickness for effect in (0.0, 0.2, -0.6, 1.0, 3.0)]
    assert widths == sorted(widths)
    assert widths[-1] == widths[-2]
    pale, half, full = (stroke_curve(Stroke(0, 1, strength=one), DOWN).opacity for one in (0.0, 0.5, 1.0))
    assert 0.2 < pale < half < full == 1.0


def test_arrows_of_hidden_causes_are_dotted_and_said_so():
    hidden, tied = Stroke(0, 1, tied=True, hidden=True), Stroke(0, 1, tied=True)
    dotted, dashed = stroke_curve(hidden, DOWN), stroke_curve(tied, DOWN)
    assert dotted.dashes[0] < dashed.dashes[0]
    assert stroke_curve(Stroke(0, 1), DOWN).dashes is None
    words = {"hidden": "a hidden common cause could explain it", "tied": "direction near a tie"}
    said = {name: [word for _, word in stroke_samples(some)] for name, some in (("hidden", [hidden]), ("tied", [tied]))}
    assert words["hidden"] in said["hidden"]
    assert words["tied"] not in said["hidden"]
    assert words["tied"] in said["tied"]


def test_near_ties_are_dashed_and_lines_have_no_head():
    assert stroke_curve(Stroke(0, 1, tied=True), DOWN).dashed
    assert not stroke_curve(Stroke(0, 1), DOWN).dashed
    line = stroke_curve(Stroke(0, 1, directed=False, tied=True), DOWN)
    assert (list(line.head), line.dashed) == ([], False)
    assert line.points[-1] == DOWN[-1]


def test_a_head_ends_where_the_curve_was_to_end_and_points_the_same_way():
    for points, above in ((DOWN, True), (DOWN[::-1], False)):
        curve = stroke_curve(Stroke(0, 1, effect=0.5), points)
        tip, *corners = curve.head
        assert tip == points[-1]
        assert all((corner[1] < tip[1]) is above for corner in corners)
        assert abs(curve.points[-1][1] - tip[1]) < abs(corners[0][1] - tip[1])


@pytest.mark.parametrize(
    ("looks", "said", "unsaid"),
    [
        ({"effect": 0.5}, ["raises"], ["lowers", "near a tie", "paler", "no direction"]),
        ({"effect": -0.5, "tied": True}, ["lowers", "near a tie"], ["raises", "paler"]),
        ({"strength": 0.2}, ["paler"], ["raises", "lowers"]),
        ({"directed": False}, ["no direction"], ["raises", "near a tie"]),
    ],
)
def test_the_legend_says_what_occurs_and_nothing_else(looks, said, unsaid):
    scene = scene_of(["a", "b"], np.array([[0, 1], [0, 0]], dtype=bool), **looks)
    text = " ".join(word.text for word in scene.words)
    assert all(word in text for word in said)
    assert not any(word in text for word in unsaid)
    for word in scene.words:
        assert 0 <= word.y <= scene.height
        assert word.anchor != "start" or word.x + text_width(word.text, word.size) <= scene.width


SEVERAL = [
    Stroke(0, 1, effect=0.9),
    Stroke(0, 1, effect=-0.2, tied=True),
    Stroke(0, 1, strength=0.1),
    Stroke(1, 0, faded=True),
]


def test_the_legend_speaks_of_widths_where_there_are_two():
    def says(*effects):
        return "wider" in " ".join(words for _, words in stroke_samples([Stroke(0, 1, effect=e) for e in effects]))

    assert says(0.2, 0.9)
    assert says(0.2, -0.9, math.nan)
    assert not says(0.5, -0.5)
    assert not says(1.0, 1.7)  # wider than that they are not drawn
    assert not says(math.nan)


def test_the_legend_stands_below_in_lines_that_fit():
    """Each sample ends before its words begin, on their line, and no words run into the next sample."""
    empty = graph_scene(["a"], place(["a"], np.zeros((1, 1), dtype=bool)), [])
    samples = stroke_samples(SEVERAL)
    scene = with_legend(empty, samples)
    entries = [word for word in scene.words if word.anchor == "start"]
    assert [word.text for word in entries] == [words for _, words in samples]
    assert scene.width <= max(420.0, *(2 * MARGIN + SAMPLE + 8 + text_width(words, SMALL) for _, words in samples))
    assert len({word.y for word in entries}) > 1
    for curve, word, following in zip(scene.curves, entries, [*entries[1:], None], strict=True):
        along, up = zip(*curve.points, *curve.head, strict=True)
        assert (min(along), max(along)) == pytest.approx((word.x - SAMPLE - 8, word.x - 8), abs=1e-9)
        assert empty.height < min(up) < word.y + 1e-9 < max(up) + 2e-9 < scene.height
        end = word.x + text_width(word.text, SMALL)
        assert following is None or following.y > word.y or following.x - SAMPLE - 8 > end
    (alone,) = (word for word in with_legend(empty, samples[:1]).words if word.anchor == "start")
    assert alone.x == MARGIN + SAMPLE + 8


def test_a_head_is_as_broad_to_the_left_as_to_the_right():
    for effect in (0.1, 0.9):
        tip, left, right = stroke_curve(Stroke(0, 1, effect=effect), DOWN).head
        assert left[0] < tip[0] < right[0]
        assert left[0] + right[0] == pytest.approx(2 * tip[0])


def test_a_number_stands_on_its_edge():
    """Also on the second piece of an edge that passes a layer."""
    straight = [(3.0, 10.0 * k) for k in range(7)]
    for share in (0.2, 0.5, 0.7, 0.8):
        assert _point(straight, share) == pytest.approx((3.0, 60.0 * share))


def test_a_graph_without_edges_needs_no_legend():
    scene = scene_of(["a", "b"], np.zeros((2, 2), dtype=bool))
    assert [word.text for word in scene.words] == ["a", "b"]


def test_graphs_that_nobody_asked_for_are_drawn_up_to_a_size():
    assert graph_svg([f"v{k}" for k in range(MOST_DRAWN + 1)], lambda: np.eye(MOST_DRAWN + 1, k=1, dtype=bool)) is None
    root = ET.fromstring(graph_svg(["a", "b", "c"], lambda: np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)))
    assert len(root.findall(f".//{SPACE}polygon")) == 1 + 0  # a — b has no head; a → c has one
    assert math.isclose(float(root.get("width")), float(root.get("viewBox").split()[2]))
