"""Every kind of picture of every fit: on axes or refused with what to do, the same bytes for the same fit, and names as text."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from budgets import THOROUGH, crossed, thorough
from looks import ACTING, KINDS, NAMES, fit_of, wide_fit
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import AxLine
from matplotlib.text import Text
from scipy.stats import chi2

import ordag
from ordag.common.words import shown
from ordag.errors import ColumnError, OutputError, SettingError
from ordag.picture.scene import BLUE, GREY, PAPER, SMALL, VERMILION, Curve, labels
from ordag.show.charts import Chart
from ordag.show.plots import CHARTS, ENDINGS, _paint_curve, picture, plot
from ordag.show.plots import KINDS as EVERY_PLOT
from ordag.show.plots import SCENES as EVERY_SCENE
from ordag.show.plots.axes import _lanes, _limits
from ordag.show.plots.diagnostics import draw
from ordag.show.plots.graph import MOST_FAR, graph, neighbourhood, strokes
from ordag.show.plots.matrix import matrix, shade
from ordag.show.view import View

mpl.use("agg")
SPACE = "{http://www.w3.org/2000/svg}"
IN_TIME = ("unrolled", "summary")
PLOTS, SCENES = ([look for look in looks if look not in IN_TIME] for looks in (EVERY_PLOT, EVERY_SCENE))
REFUSED = {
    ("order", "class"),
    ("order", "scored class"),
    ("diagnostics", "class"),
    ("diagnostics", "scored class"),
    ("robustness", "class"),
    ("robustness", "scored class"),
}


def texts(ax):
    return [one for one in ax.get_figure().findobj(Text) if one.get_visible() and one.get_text()]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "look"), crossed(KINDS, [None, *PLOTS]))
def test_every_kind_of_every_fit(look, kind):
    fit = fit_of(kind)
    if (look, kind) in REFUSED or (look == "support" and fit.support is None):
        with pytest.raises(SettingError, match=r"learn with|needs resamples|orient_by_order"):
            fit.plot(look)
        return
    ax = fit.plot(look)
    assert isinstance(ax, Axes)
    ax.get_figure().draw_without_rendering()
    assert all(one.get_fontsize() >= 0.75 * SMALL - 1e-9 for one in texts(ax))
    assert not any(one.get_parse_math() for one in texts(ax) if any(name in one.get_text() for name in NAMES))
    assert not ACTING.search(" ".join(one.get_text() for one in texts(ax)))


@pytest.mark.parametrize("look", SCENES)
def test_the_axes_that_are_given_are_drawn_on(look):
    figure = Figure(figsize=(4, 3))
    first, second = figure.subplots(1, 2)
    assert fit_of("cvs").plot(look, ax=second) is second
    assert second.patches or second.collections
    assert not first.patches


@pytest.mark.slow
@pytest.mark.parametrize("look", CHARTS)
def test_charts_too(look):
    ax = Figure(figsize=(6, 4)).subplots()
    assert fit_of("bootstrap").plot(look, ax=ax) is ax


def test_without_a_kind_the_options_or_the_size_choose():
    fit = fit_of("cvs")
    assert b"Causal graph" in picture(fit, "a.svg")
    assert b"Matrix of" in picture(fit, "a.svg", show="p_value")
    assert b"Neighbourhood of" in picture(fit, "a.svg", variable=NAMES[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("look", "ending"),
    [
        ("graph", ".svg"),
        ("graph", ".png"),
        ("matrix", ".pdf"),
        ("order", ".svg"),
        *(thorough(look, ending) for look in PLOTS[1:] for ending in ENDINGS),
    ],
)
def test_the_same_fit_gives_the_same_file(look, ending):
    fit = fit_of("bootstrap")
    one, other = (picture(fit, f"a{ending}", look) for _ in range(2))
    assert one == other
    start = {".svg": (b"<svg", b"<?xml"), ".pdf": (b"%PDF",), ".png": (b"\x89PNG",)}[ending]
    assert one.startswith(start)
    assert ending == ".png" or not re.search(rb"20\d\d-\d\d-\d\d|CreationDate", one)


@pytest.mark.slow
@pytest.mark.parametrize("look", PLOTS)
def test_names_in_svg_are_text(look):
    text = picture(fit_of("bootstrap"), "a.svg", look).decode()
    root = ET.fromstring(text)
    tags = {child.tag.removeprefix(SPACE) for child in root.iter()}
    assert not tags & {"script", "a", "b", "foreignObject", "image"}
    written = {"".join(one.itertext()).strip() for one in root.iter(f"{SPACE}text")}
    if look in SCENES:
        assert any("<b>bold</b>" in one for one in written)
    assert not ACTING.search(text)


@pytest.mark.thorough
def test_names_that_look_like_formulas_are_drawn_as_they_are():
    names = ["$x_1$", "$\\frac{", "a_b^c", "100 %", "\N{GRINNING FACE} smile", "עברית"]
    sem = ordag.LinearSEM(np.eye(6, k=1), names=names)
    fit = ordag.learn(pd.DataFrame(sem.sample(200, seed=1), columns=names), "cvs", bootstrap=3, seed=1)
    for look in PLOTS if THOROUGH else ("graph", "matrix", "order"):
        assert picture(fit, "a.svg" if look in CHARTS else "a.pdf", look)
    assert picture(fit, "a.png", "graph")
    drawn = {one.get_text() for one in texts(fit.plot("order"))}
    assert {"$x_1$", "$\\frac{", "a_b^c"} <= drawn


def test_arrows_have_the_colours_and_widths_of_their_weights():
    view = View(fit_of("cvs"))
    curves = {(s.source, s.target): c for s, c in zip(strokes(view), graph(view).curves, strict=False)}
    sem = fit_of("cvs").sem
    spread = np.sqrt(np.diag(fit_of("cvs").moments.covariance()))
    for (i, j), curve in curves.items():
        effect = sem.B[i, j] * spread[i] / spread[j]
        assert curve.colour == (VERMILION if effect < 0 else BLUE)
        assert curve.hollow == (effect < 0)
        assert curve.thickness == pytest.approx(1.3 + 3.2 * min(1.0, abs(effect)))
    assert {VERMILION, BLUE} <= {curve.colour for curve in curves.values()}


def test_both_painters_draw_the_same_scene():
    fit = fit_of("pooled")
    scene = graph(View(fit))
    root = ET.fromstring(picture(fit, "a.svg", "graph"))
    ax = fit.plot("graph")
    heads = [curve for curve in scene.curves if curve.head]
    boxes = [one for one in ax.patches if type(one).__name__ == "FancyBboxPatch"]
    assert len(boxes) == len(scene.boxes) == len([one for one in root.iter(f"{SPACE}rect") if one.get("rx")])
    assert len([one for one in ax.patches if type(one).__name__ == "Polygon"]) == len(heads)
    assert len(list(root.iter(f"{SPACE}polygon"))) == len(heads)
    assert sorted(one.get_text() for one in ax.texts) == sorted(word.text for word in scene.words)
    wide, high = ax.get_figure().get_size_inches()
    assert (wide * 96, high * 96) == pytest.approx((scene.width, scene.height))
    sizes = {one.get_text(): one.get_fontsize() for one in ax.texts}
    assert all(sizes[word.text] == pytest.approx(0.75 * word.size) for word in scene.words)


def test_weights_are_written_on_the_arrows_if_asked_for_and_on_no_box():
    view = View(fit_of("cvs"))
    plain, scene = graph(view), graph(view, numbers=True)
    written = {word.text for word in scene.words} - {word.text for word in plain.words}
    assert written == {f"{weight:.2g}" for weight in fit_of("cvs").edges["weight"]}
    papers = [box for box in scene.boxes if not box.radius]
    assert len(papers) == fit_of("cvs").graph.edge_count
    for k, one in enumerate(papers):
        for other in [*papers[:k], *(box for box in scene.boxes if box.radius)]:
            left, top = max(one.x, other.x), max(one.y, other.y)
            right, low = min(one.x + one.width, other.x + other.width), min(one.y + one.height, other.y + other.height)
            assert right <= left or low <= top


def cells(scene):
    return {box.title: box for box in scene.boxes if box.title}


def test_cells_of_the_matrix_have_the_signs_and_places_of_the_weights():
    fit = fit_of("cvs")
    view = View(fit)
    scene = matrix(view)
    found = cells(scene)
    assert len(found) == fit.graph.edge_count
    place = {shown(name): k for k, name in enumerate(fit.order)}
    corner = min(x for x, _ in scene.areas[0].points), min(y for _, y in scene.areas[0].points)
    for title, box in found.items():
        a, b = re.fullmatch(r"(.*?) → (.*?), weight .*", title).groups()
        row, column = (box.y - corner[1]) // 34.0, (box.x - corner[0]) // 34.0
        assert (row, column) == (place[a], place[b])
        assert row < column
        weight = fit.sem.B[[shown(n) for n in fit.names].index(a), [shown(n) for n in fit.names].index(b)]
        red, _, blue = (int(box.fill[k : k + 2], 16) for k in (1, 3, 5))
        assert (red > blue) == (weight < 0)


def test_no_weight_is_too_small_to_see():
    shades = [shade(value) for value in (1e-9, -1e-9, 0.01, 5.0, -5.0)]
    assert PAPER not in shades
    assert shades[3:] == [BLUE.lower(), VERMILION.lower()]
    assert shade(0.0, "support") == PAPER


@pytest.mark.slow
@pytest.mark.parametrize(("p", "least"), [(5, 30.0), (25, 30.0), (60, 15.0), (300, 3.0), (1000, 2.0)])
def test_cells_are_never_too_small(p, least):
    view = View(ordag.learn(np.random.default_rng(0).standard_normal((p + 200, p)), "cvs", correction="bonferroni"))
    scene = matrix(view)
    left, right = min(x for x, _ in scene.areas[0].points), max(x for x, _ in scene.areas[0].points)
    assert (right - left) / p >= least
    down = sorted({word.y for word in scene.words if word.anchor == "end" and not word.turned and word.title})
    assert min(np.diff(down), default=99.0) >= SMALL


def test_p_values_of_pairs_that_are_not_joined_are_in_the_matrix_too():
    fit = fit_of("cvs")
    scene = matrix(View(fit), show="p_value")
    assert len(cells(scene)) == 15
    assert sum(box.thickness > 0 for box in cells(scene).values()) == fit.graph.edge_count


@pytest.mark.parametrize(
    ("kind", "show"), [("cvs", "support"), ("cvs", "probability"), ("class", "weight"), ("class", "probability")]
)
def test_what_a_fit_does_not_have_is_said(kind, show):
    with pytest.raises(SettingError, match=f"show='{show}'"):
        fit_of(kind).plot("matrix", show=show)


def test_the_neighbourhood_has_what_acts_and_is_acted_on_nearest():
    names = [f"v{k}" for k in range(7)]
    sem = ordag.LinearSEM.from_edges(names, dict.fromkeys(list(itertools.pairwise(names))[:5], 1.0))
    fit = ordag.learn(pd.DataFrame(sem.sample(2000, seed=1), columns=names), "cvs", correction="bonferroni")
    scene = neighbourhood(View(fit), variable="v2")
    boxes = {box.title: box for box in scene.boxes}
    assert set(boxes) == {"v0", "v1", "v2", "v3", "v4", "v5"}
    heights = [boxes[f"v{k}"].y for k in range(6)]
    assert heights == sorted(heights)
    assert boxes["v2"].thickness > boxes["v1"].thickness
    assert [word.text for word in scene.words if word.bold] == ["v2"]
    assert boxes["v0"].fill == boxes["v4"].fill == PAPER != boxes["v1"].fill
    assert "1 cause, 1 effect; further away 1 above, 2 below" in [word.text for word in scene.words]


def test_of_the_edges_farther_off_those_on_the_way_are_drawn():
    names = list("abcde")
    edges = {("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "d"): 1.0, ("d", "e"): 1.0, ("a", "e"): 1.0, ("b", "d"): 1.0}
    fit = ordag.learn(pd.DataFrame(ordag.LinearSEM.from_edges(names, edges).sample(5000, seed=1), columns=names), "cvs")
    assert set(fit.graph.directed) == set(edges)
    drawn = list(neighbourhood(View(fit), variable="c", legend=False).curves)
    faded = sorted(curve.title.split(",")[0] for curve in drawn if curve.colour == GREY)
    assert faded == ["a → b", "d → e"]
    assert sorted(curve.title.split(",")[0] for curve in drawn if curve.colour != GREY) == ["b → c", "c → d"]


def test_of_many_far_ones_the_nearest_are_drawn_and_the_others_counted():
    scene = neighbourhood(View(wide_fit()), variable="v25")
    assert len(scene.boxes) == 3 + MOST_FAR
    assert any("not drawn" in word.text for word in scene.words)


def test_large_graphs_are_refused_where_nobody_could_read_them():
    fit = ordag.learn(np.random.default_rng(0).standard_normal((700, 310)), "cvs", correction="bonferroni")
    with pytest.raises(SettingError, match=r"up to 300 variables.*'matrix'"):
        fit.plot("graph")
    assert picture(fit, "a.svg")
    assert picture(fit, "a.svg", "matrix")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda fit: fit.plot("grap"), "kind='grap'"),
        (lambda fit: fit.plot("graph", legnd=False), r"legnd=False: kind='graph' has the options legend.*'legend'"),
        (lambda fit: fit.plot("graph", variable="x"), "kind='graph' has the options"),
        (lambda fit: fit.plot(nonsense=1), "a plot has the options"),
        (lambda fit: fit.plot("matrix", show="weights"), "show='weights'"),
        (lambda fit: fit.plot("support", most=0), "most=0"),
        (lambda fit: fit.plot("diagnostics", diagnosis=3), "diagnosis=3"),
    ],
)
def test_wrong_words_are_refused(call, says):
    with pytest.raises(SettingError, match=says):
        call(fit_of("bootstrap"))


def test_an_unknown_variable_is_answered_with_those_there_are():
    with pytest.raises(ColumnError, match=r"variable='v050' is not among the variables\. Did you mean 'v05'"):
        wide_fit().plot(variable="v050")
    with pytest.raises(OutputError, match=r"a\.jpg has none of the endings of a picture"):
        picture(fit_of("cvs"), "a.jpg")


@pytest.mark.slow
def test_the_order_has_the_variances_and_the_ties():
    fit = fit_of("cvs")
    ax = fit.plot("order")
    lines = {line.get_label(): line for line in ax.lines}
    found = np.asarray(lines["chosen: variance given all earlier variables"].get_xdata(), dtype=float)
    np.testing.assert_allclose(found, fit.steps["variance"])
    shown_names = [one.get_text() for one in ax.get_yticklabels()]
    assert len(shown_names) == len(fit.names)
    assert any("tied at this step" in label for label in lines) == any(map(len, fit.steps["tied"]))
    assert len(fit.plot("order", ties=False).lines) == 2
    few = fit.plot("order", most=3)
    assert [one.get_text() for one in few.get_yticklabels()] == shown_names[:3]
    assert few.get_legend().get_title().get_text() == "order, causes first (3 of 6 variables)"


def test_without_steps_the_order_has_error_variances_with_their_intervals():
    fit = fit_of("searched")
    ax = fit.plot("order")
    names = [one.get_text() for one in ax.get_yticklabels()]
    lines = {line.get_label(): line for line in ax.lines}
    omega = dict(zip(labels(fit.names).values(), fit.sem.omega, strict=True))
    np.testing.assert_allclose(lines["variance given its parents"].get_xdata(), [omega[name] for name in names])
    intervals = {tuple(path.vertices[:, 0]) for path in ax.collections[0].get_paths()}
    df = dict(zip(labels(fit.names).values(), fit.n - 1 - fit.graph.adjacency.sum(axis=0), strict=True))
    wanted = [[omega[n] * df[n] / chi2.ppf(q, df[n]) for q in (0.975, 0.025)] for n in names]
    np.testing.assert_allclose(sorted(intervals), sorted(map(tuple, wanted)), rtol=1e-6)
    assert names.index("<b>bold</b>") < names.index(labels(NAMES)[NAMES[2]])


@pytest.mark.slow
def test_support_has_a_bar_for_every_learned_arrow():
    fit = fit_of("bootstrap")
    ax = fit.plot("support")
    bars, intervals = ax.child_axes
    labels = [one.get_text() for one in bars.get_yticklabels()]
    assert len(labels) >= fit.graph.edge_count
    learned = next(one for one in bars.containers if one.get_label() == "with this arrow, learned")
    np.testing.assert_allclose(sorted(bar.get_width() for bar in learned), sorted(fit.edges["support"]))
    assert len(intervals.collections) == len(labels)
    few = fit.plot("support", most=2)
    assert len(few.child_axes[0].get_yticklabels()) == 2


@pytest.mark.thorough
def test_bootstraps_and_diagnoses_draw_themselves():
    found = ordag.bootstrap("marks", 10, method="cvs", seed=1)
    assert [len(ax.child_axes) for ax in (found.plot(), found.plot("support", most=1))] == [2, 2]
    assert len(found.plot("matrix", show="support").texts) > 5
    ax = Figure().subplots()
    assert ordag.check("marks", method="cvs", draws=2).plot(ax) is ax
    assert len(ax.child_axes) >= 10


@pytest.mark.thorough
@pytest.mark.system
def test_plotting_needs_no_screen_and_learning_no_matplotlib(tmp_path):
    code = (
        "import sys, ordag; fit = ordag.learn('marks', 'cvs'); fit._repr_html_(); fit.save('a.svg');"
        "assert 'matplotlib' not in sys.modules; fit.plot('matrix'); assert 'matplotlib.pyplot' not in sys.modules;"
        "from matplotlib import pyplot; ax = fit.plot(); assert pyplot.gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600, cwd=tmp_path)


def test_plot_is_the_function_behind_the_method():
    assert isinstance(plot(fit_of("cvs")), Axes)


@pytest.mark.parametrize("together", [1, 40, 2**18])
def test_the_likeliest_pairs_that_are_not_joined(together, monkeypatch):
    """A few variables at a time they are those of a sort of all p-values."""
    fit = ordag.learn(ordag.simulate("erdos-renyi", 12, 100, seed=2).X, "cvs", alpha=0.05)
    order, skeleton = fit.ordering.order, fit.graph.skeleton
    pairs = [(m, j) for m in range(12) for j in range(m) if not skeleton[order[m], order[j]]]
    ranked = sorted(pairs, key=lambda pair: fit.selection.p_values[pair])
    monkeypatch.setattr("ordag.parents.tests.CACHE_NUMBERS", together)
    for most in (3, 20, 1000):
        found = View(fit, most).pairs
        absent = [(i, j) for i, j, kind in zip(found.source, found.target, found.kind, strict=True) if kind == "absent"]
        assert absent == [(order[j], order[m]) for m, j in ranked[:most]]


@pytest.mark.parametrize(
    ("variables", "edges", "look"),
    [
        (5, 12, "graph"),
        (5, 13, "matrix"),
        (60, 150, "graph"),
        (60, 151, "matrix"),
        (61, 0, "neighbourhood"),
        (61, 999, "neighbourhood"),
    ],
)
def test_dense_graphs_are_first_shown_as_matrices_and_large_ones_by_variable(variables, edges, look):
    fit = SimpleNamespace(whole_graph=SimpleNamespace(edge_count=edges))
    assert View.first_look.fget(SimpleNamespace(names=range(variables), fit=fit)) == look


@pytest.mark.parametrize(("least", "greatest"), [(1.0, 5.0), (1.0, 100.0), (1e-9, 1e-7), (0.0, 30.0)])
def test_the_axis_of_variances_reaches_a_little_beyond_them(least, greatest):
    ax = Figure().subplots()
    start, end = _limits(ax, np.array([least, greatest / 2]), np.array([np.nan, greatest]), [None, None])
    assert start <= least < greatest < end < 2 * greatest
    assert (ax.get_xscale() == "log") == (start > 0) == (greatest > 20 * least > 0)


@pytest.mark.parametrize("thickness", [1.0, 2.0, 4.0])
def test_dashes_are_as_long_as_in_svg_whatever_the_width_of_the_line(thickness):
    ax = Figure().subplots()
    _paint_curve(Curve([(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 3.0)], BLUE, thickness, dashed=True), ax, 1.0)
    start, lengths = ax.patches[0].get_linestyle()
    assert (start, *(thickness * one for one in lengths)) == pytest.approx((0.0, 6.0 + thickness, 3.0 + thickness))


def test_ties_are_drawn_between_two_or_more_those_with_an_edge_first():
    columns = {
        "node": list("abcdef"),
        "tied": [["a", "c"], ["b"], ["b", "d", "x"], ["y", "e"], ["e", "f"]],
        "tie_matters": [False, True, True, True, False],
    }
    lanes, left_out = _lanes(columns)
    assert lanes == [(0, 2, [1, 3], True), (1, 0, [0, 2], False), (0, 4, [4, 5], False)]
    assert left_out == 0


def test_a_line_to_compare_points_with_has_its_slope_and_its_intercept():
    ax = Figure().subplots()
    draw(Chart("points", "", "x", "y", y=[1.0, 2.0, 4.0], x=[0.0, 1.0, 2.0], slope=1.5, intercept=0.75), ax)
    line = next(one for one in ax.lines if isinstance(one, AxLine))
    assert (line.get_xy1(), line.get_slope()) == ((0.0, 0.75), 1.5)


def test_a_class_has_no_order_to_draw():
    with pytest.raises(SettingError, match=r"pc finds a class of graphs, which has no order.*orient_by_order='class'"):
        ordag.learn("marks", "pc").plot("order")


@pytest.mark.parametrize("look", IN_TIME)
def test_series_are_drawn(look):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2)).cumsum(axis=0)
    X[1:, 1] += X[:-1, 0]
    fit = ordag.learn(pd.DataFrame(X, columns=["a", "b"]), lags=2, draws=0)
    ax = Figure(figsize=(4, 3)).subplots()
    assert fit.plot(look, ax=ax) is ax
    words = [one.get_text() for one in texts(ax)]
    assert {"a", "b"} <= set(words)
    assert ("now" in words and words.count("a") == 3) if look == "unrolled" else any("own past" in one for one in words)
    svg = picture(fit, "a.svg", look).decode()
    assert ("over 3 times" if look == "unrolled" else "Summary graph of 2 variables") in svg
    assert picture(fit, "a.svg") == picture(fit, "a.svg", "unrolled")
    with pytest.raises(SettingError, match="draw rows in time, and this fit is of rows at one time"):
        fit_of("cvs").plot(look)
