"""Reports in a real browser, from disk: what they show is what the fit has, they react, and nothing is asked for from elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
from budgets import thorough
from pages import FITS, HOSTILE, INHERITED, KNOWN, fit_of, table

import ordag
from ordag.common.words import shown

pytestmark = pytest.mark.system


def edges_in_graph(page):
    return page.locator("svg.graph .edge:not(.gone)").count()


def shown_edges(page):
    """What the table of arrows lists, as pairs of whole names."""
    cells = page.locator("#arrows-body tbody tr:not(.space)").evaluate_all(
        "rows => rows.map(row => [0, 2].map(i => { const name = row.children[i].firstChild; return name.title || name.textContent }))"
    )
    return {tuple(pair) for pair in cells}


def set_level(page, level):
    page.fill("#level-field", str(level))
    page.keyboard.press("Tab")


@pytest.mark.parametrize(
    "name", [name if name in ("marks", "pooled", "hostile", "categories") else thorough(name) for name in FITS]
)
def test_every_report_opens_without_a_word(opened, name):
    page, fit = opened(name), fit_of(name)
    assert page.locator("#sentences p").count() >= 1
    assert page.locator("#verdict-body").inner_text().replace("\u00a0", " ").find(fit.verdict.sentence[:30]) >= 0
    assert page.locator("#short").inner_text().startswith(f"{fit.whole_graph.edge_count} ")
    for look in ("graph", "matrix", "neighbourhood"):
        page.get_by_role("tab", name=look).click()
        assert page.locator("#drawing > *").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if name in ("marks", "pooled", "class", "hostile", "inherited"):  # others have more than is drawn or listed at once
        page.get_by_role("tab", name="graph").click()
        assert edges_in_graph(page) == fit.whole_graph.edge_count
        edges = [*fit.whole_graph.directed, *fit.whole_graph.undirected]
        assert shown_edges(page) == {tuple(map(shown, edge)) for edge in edges}


def test_the_level_gives_what_learn_gives(opened):
    """Without learning again: the p-values in the page decide."""
    page = opened("marks")
    for correction, alpha in (("none", 0.3), ("none", 0.001), ("bh", 0.05), ("bonferroni", 0.2)):
        page.select_option("#correction", correction)
        set_level(page, alpha)
        again = ordag.learn("marks", "cvs", alpha=alpha, correction=correction)
        assert shown_edges(page) == set(again.graph.directed)
        assert edges_in_graph(page) == again.graph.edge_count
        expected = float(page.locator("#expected b").inner_text().replace("−", "-"))
        assert expected == pytest.approx(again.expected_false_edges, rel=0.06)


@pytest.mark.thorough
def test_knowledge_holds_at_every_level(opened):
    page = opened("knowledge")
    for correction, alpha in (("none", 0.4), ("bh", 0.1), ("bonferroni", 0.001)):
        page.select_option("#correction", correction)
        set_level(page, alpha)
        again = ordag.learn("marks", "cvs", alpha=alpha, correction=correction, knowledge=KNOWN)
        assert shown_edges(page) == set(again.graph.directed)


def test_a_large_graph_is_a_list_beside_the_neighbourhood_with_search_and_levels(opened):
    page = opened("large")
    assert page.locator("#drawing").get_attribute("data-look") == "neighbourhood"
    assert 10 < page.locator(".lines .line").count() < 80
    page.get_by_label("Filter variables").fill("v29")
    assert page.locator(".lines .line").count() == 10
    page.locator(".lines .line").nth(3).click()
    assert page.locator(".lines .line[aria-selected='true']").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("v123")
    assert page.locator("#matches li").all_inner_texts() == ["v123"]
    page.keyboard.press("Enter")
    assert page.locator("#card h3").inner_text() == "v123"
    assert page.locator(".near .node.chosen").get_attribute("aria-label") == "v123"
    outside = page.evaluate("""() => {
      const box = document.querySelector(".near .node.chosen rect").getBoundingClientRect();
      const ends = [...document.querySelectorAll(".near .edge path.line")].map((path) => {
        const at = [path.getPointAtLength(0), path.getPointAtLength(path.getTotalLength())];
        const here = at.map((point) => point.matrixTransform(path.getScreenCTM()));
        return here.sort((a, b) => Math.abs(a.y - box.y - box.height / 2) - Math.abs(b.y - box.y - box.height / 2))[0].x;
      });
      return ends.length ? ends.filter((x) => x < box.left || x > box.right).length : "none";
    }""")
    assert outside == 0
    rows = table(300, 1500)
    for correction, alpha in (("bh", 0.01), ("bonferroni", 0.05)):
        page.select_option("#correction", correction)
        set_level(page, alpha)
        again = ordag.learn(rows, "cvs", alpha=alpha, correction=correction)
        assert page.locator("#arrow-count").inner_text() == f"{again.graph.edge_count} edges"


def test_sliders_move_edges_and_come_back(opened):
    page = opened("marks")
    learned = edges_in_graph(page)
    slider = page.locator("#level")
    slider.focus()
    for _ in range(3):
        slider.press("PageDown")
    slider.press("Home")
    assert edges_in_graph(page) < learned
    assert "fewer than learned" in page.locator("#change").inner_text()
    assert "gone" in page.locator("#live").inner_text()
    slider.press("End")
    assert edges_in_graph(page) > learned
    assert "more than learned" in page.locator("#change").inner_text()
    page.click("#reset")
    assert edges_in_graph(page) == learned
    assert "as learned" in page.locator("#change").inner_text()


def test_probabilities_and_support_decide_where_there_are_some(opened):
    page, fit = opened("pooled"), fit_of("pooled")
    set_level(page, 0.97)
    likely = fit.probabilities.joined
    count = int((np.triu(likely) >= 0.97).sum())
    assert edges_in_graph(page) == count
    expected = float(page.locator("#expected b").inner_text())
    assert expected == pytest.approx(float((1.0 - np.triu(likely, 1)[np.triu(likely, 1) >= 0.97]).sum()), abs=0.005)
    page.click("#reset")
    page.locator("#support").evaluate("slider => { slider.value = 80; slider.dispatchEvent(new Event('input')) }")
    assert edges_in_graph(page) == int((fit.edges["support"] >= 0.8).sum())
    settings = page.locator("#again-body dl").inner_text()  # those that nobody gave are in words
    assert "default" in settings
    assert "null" not in settings
    page.click("#reset")
    page.locator("#arrows-body tbody tr").first.click()
    assert "95 % of the resamples, where a missing arrow counts as 0" in page.locator("#card").inner_text()


@pytest.mark.thorough
def test_what_was_only_searched_can_lose_edges_but_not_gain_any(opened):
    page, fit = opened("class"), fit_of("class")
    set_level(page, 0.002)
    pairs = fit.result.p_values[np.triu(fit.graph.skeleton)]
    assert edges_in_graph(page) == int((pairs <= 0.002).sum()) < fit.graph.edge_count
    assert "not known" in page.locator("#expected").inner_text()


def test_an_edge_tells_its_evidence_and_a_variable_its_causes_and_effects(opened):
    page, fit = opened("marks"), fit_of("marks")
    page.locator(".edge[data-pair='0'] .hit").hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    for words in ("algebra → vectors", "0.754", "p edge", "p direction", "error of variance"):
        assert words in tip.inner_text()
    page.mouse.move(5, 5)
    assert not tip.is_visible()
    page.locator(f".node[data-variable='{fit.names.index('algebra')}']").click()
    card = page.locator("#card")
    assert "Direct effects (4)" in card.inner_text()
    rows = dict(zip(
        card.locator(".effects th").all_inner_texts(), card.locator(".effects td:nth-child(2)").all_inner_texts(), strict=True
    ))  # fmt: skip
    effects = fit.sem.total_effects()
    source = fit.names.index("algebra")
    for name, text in rows.items():
        assert float(text.replace("−", "-")) == pytest.approx(effects[source, fit.names.index(name)], rel=0.01)
    assert set(rows) == set(fit.names) - {"algebra"}
    card.get_by_role("button", name="mechanics").first.click()
    assert card.locator("h3").inner_text() == "mechanics"
    assert "All causes, direct and indirect (2)" in card.inner_text()


def test_variables_are_dragged_and_stay_and_zooming_keeps_names_legible(opened):
    page = opened("marks")
    node = page.locator(".node").first
    before = node.bounding_box()
    page.mouse.move(before["x"] + 20, before["y"] + 10)
    page.mouse.down()
    page.mouse.move(before["x"] + 120, before["y"] + 40, steps=5)
    page.mouse.up()
    moved = node.bounding_box()
    assert moved["x"] - before["x"] == pytest.approx(100, abs=6)
    set_level(page, 0.3)
    page.get_by_role("tab", name="matrix").click()
    page.get_by_role("tab", name="graph").click()
    assert page.locator("svg.graph > g").count() == 1
    places = page.evaluate("[...document.querySelectorAll('.node')].map(node => node.getAttribute('transform'))")
    assert len(set(places)) == len(places)
    for _ in range(12):
        page.get_by_role("button", name="Zoom out").click()
    sizes = page.locator(".node text").evaluate_all(
        "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    )
    assert min(sizes) >= 11.9
    page.get_by_role("button", name="Fit the whole graph").click()
    box = page.locator("svg.graph").bounding_box()
    for node in page.locator(".node").all():
        one = node.bounding_box()
        assert box["x"] <= one["x"] <= box["x"] + box["width"]


@pytest.mark.thorough
def test_search_takes_the_very_name_before_longer_ones(opened):
    page = opened("numbered")
    for name in ("X1", "x2", "X3"):
        page.fill("#search-field", name)
        page.keyboard.press("Enter")
        assert page.locator("#card h3").inner_text() == name.upper()


@pytest.mark.thorough
def test_long_names_that_differ_in_the_middle_stay_apart(opened):
    page = opened("long")
    labels = page.locator("svg.graph .node text").all_text_contents()
    assert sorted(label.split("…")[1] for label in labels) == sorted(["1", "2", "3", "13", "14", "6"])
    assert all(len(label) <= 18 for label in labels)
    assert len(set(page.locator("#data-body tbody th .name").all_text_contents())) == 6


def test_a_dense_graph_opens_as_a_matrix_whose_cells_can_be_chosen(opened):
    page, fit = opened("dense"), fit_of("dense")
    assert page.locator("#drawing").get_attribute("data-look") == "matrix"
    canvas = page.locator("#drawing canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    first, second = fit.order[:2]
    assert page.locator(".readout").inner_text().startswith(first)
    assert second in page.locator(".readout").inner_text()
    page.keyboard.press("Enter")
    assert first in page.locator("#card h3").inner_text()


def test_arrow_keys_walk_along_edges_and_others_switch_views(opened):
    page, fit = opened("marks"), fit_of("marks")
    page.locator(".node[tabindex='0']").focus()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == fit.order[0]
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert (fit.order[0], below) in fit.graph.directed
    assert page.locator("#card h3").inner_text() == below
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == fit.order[0]
    page.keyboard.press("Escape")
    assert page.locator("#card h3").inner_text() == "Nothing selected"
    for key, look in (("m", "matrix"), ("n", "neighbourhood"), ("g", "graph")):
        page.keyboard.press(key)
        assert page.get_by_role("tab", name=look).get_attribute("aria-selected") == "true"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


@pytest.mark.thorough
def test_tabbing_follows_the_reading_order(opened):
    page = opened("marks")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("(document.activeElement.closest('section') || {}).id || ''"))
    order = page.evaluate("[...document.querySelectorAll('main section')].map(section => section.id)")
    places = [order.index(one) for one in seen if one in order]
    assert places == sorted(places)
    assert len(set(places)) >= 3


def test_arrows_sort_filter_and_are_copied(opened, watched, reports):
    page = watched(permissions=["clipboard-read", "clipboard-write"]).open(reports("marks"))
    fit = fit_of("marks")
    page.get_by_role("button", name="weight", exact=True).click()
    weights = [float(text) for text in page.locator("#arrows-body tbody td:nth-child(4)").all_inner_texts()]
    assert weights == sorted(weights, reverse=True)
    assert page.locator("#arrows-body th[aria-sort='descending']").inner_text().startswith("weight")
    page.fill("#arrow-filter", "mech")
    assert page.locator("#arrow-count").inner_text() == "2 of 6 edges"
    page.click("#copy")
    page.locator("#copy", has_text="copied").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].startswith("source,target,kind,weight,std_error")
    assert {tuple(line.split(",")[:2]) for line in lines[1:]} == {
        edge for edge in fit.graph.directed if edge[1] == "mechanics"
    }


def test_order_checks_scales_methods_data_and_how_to_make_it_again(opened):
    page, fit = opened("marks"), fit_of("marks")
    rows = page.locator("#order-body tbody tr")
    assert rows.count() == 5
    assert [rows.nth(k).locator("bdi").first.inner_text() for k in range(5)] == list(fit.order)
    assert "edges among them" in rows.nth(1).inner_text()
    assert page.locator("#order-body .runner").count() == 4
    assert page.locator("#checks-body .finding").count() + page.locator("#scales-body .finding").count() == 20
    assert page.locator("#scales-body .chart").count() == 3
    assert page.locator("#checks-body .chart svg").count() >= 5
    assert page.locator("#methods-body tbody").first.inner_text().startswith("this graph (cvs)")
    assert "88 rows of 5 variables" in page.locator("#data-body").inner_text()
    page.locator("#data-body summary").click()
    page.locator("#data-body .chart").first.wait_for()
    assert page.locator("#data-body .chart").count() == 5
    code = page.locator("#again-body pre").nth(1).inner_text()
    assert code.startswith("import ordag")
    space = {}
    exec(code.rsplit("\n", 1)[0], space)
    assert space["fit"].graph == fit_of("marks").graph


def test_names_are_text_whatever_they_hold(opened):
    page = opened("hostile")
    labels = set(page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))"))
    assert labels == {shown(name) for name in HOSTILE}
    assert page.locator("main script, main b b").count() == 0
    longest = page.locator(".node text").evaluate_all(
        "texts => Math.max(...texts.map(text => text.textContent.length))"
    )
    assert longest <= 24
    page.locator(f".node[aria-label='{'x' * 300}']").click()
    assert page.locator("#card h3 bdi").get_attribute("title") == "x" * 300


def test_names_that_every_object_has_are_names_of_columns(opened):
    page, fit = opened("inherited"), fit_of("inherited")
    for name in INHERITED:
        page.fill("#search-field", name)
        page.keyboard.press("Enter")
        assert page.locator("#card h3").inner_text() == name
        assert page.locator("svg.graph .node.chosen").get_attribute("aria-label") == name
    page.locator("#arrows-body tbody tr").first.click()
    assert page.locator("#card h3").inner_text() == " → ".join(fit.graph.directed[0])
    share = f"would have to explain {100 * fit.edges.robustness[0]:.0f} % of the residual variance of both"
    assert share in page.locator("#card").inner_text()
    assert set(page.locator("#data-body tbody th .name").all_text_contents()) == set(INHERITED)
    assert "native code" not in page.locator("body").inner_text()


def test_paper_has_everything_but_the_controls(opened):
    page = opened("marks")
    page.evaluate(
        "addEventListener('beforeprint', () => { window.folded = document.querySelectorAll('main details:not([open])').length })"
    )
    page.emulate_media(media="print")
    for part in ("#controls", "#card", "#theme", ".toolbar >> nth=0", "#legend .hint"):
        assert not page.locator(part).is_visible()
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.folded") == 0
    assert page.locator("main details[open]").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for part in (
        "#verdict-body",
        "svg.graph",
        "#arrows-body table",
        "#order-body table",
        "#data-body .overview table",
        "#data-body .rows:not(.overview) table",
        "#again-body pre >> nth=0",
    ):
        assert page.locator(part).is_visible()
    findings = page.locator("#checks-body .finding, #scales-body .finding")
    assert findings.count() == 20
    assert all(one.is_visible() for one in findings.all())
    assert page.locator("#data-body .chart").count() == 5
    assert page.locator("#data-body .chart").last.is_visible()


def test_long_tables_are_printed_whole(opened):
    page, fit = opened("large"), fit_of("large")
    assert page.locator("#order-body tbody tr").count() < len(fit.names)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for part in ("#order-body", "#data-body"):
        assert page.locator(f"{part} .rows:not(.overview) tbody tr").count() == len(fit.names)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#order-body tbody tr").count() < len(fit.names)


@pytest.mark.parametrize("width", [700, 900, 1440])
def test_the_bar_has_one_line_of_whole_parts(opened, width):
    """Beside the longest badge, too: a part is never broken, and nothing sticks out."""
    page = opened("marks", viewport={"width": width, "height": 700})
    bar = page.locator("header.bar").bounding_box()
    assert bar["height"] < 60
    parts = page.locator("#short span").evaluate_all("spans => spans.map(span => span.getClientRects().length)")
    assert len(parts) >= 4
    assert set(parts) == {1}
    page.locator("#badge").evaluate("badge => { badge.textContent = 'error rate unknown' }")
    assert page.locator("header.bar").bounding_box()["height"] < 60
    right = page.locator("#help").bounding_box()
    assert right["x"] + right["width"] <= width


@pytest.mark.parametrize(("width", "height"), [(900, 700), (900, 220), (360, 220)])
def test_the_tip_over_the_lowest_variable_is_whole(opened, width, height):
    page = opened("marks", viewport={"width": width, "height": height})
    page.locator("header.bar").evaluate(
        "bar => { bar.style.position = 'static' }"
    )  # leaves more of a low window to the graph
    lowest = page.locator("svg.graph .node").evaluate_all(
        "nodes => nodes.map(node => [node.getBoundingClientRect().bottom, node.dataset.variable]).sort((a, b) => b[0] - a[0])[0][1]"
    )
    tip, names = page.locator("#tip"), fit_of("marks").names
    into = page.locator(
        f"svg.graph .edge[data-pair='{[b for _, b in fit_of('marks').graph.directed].index(names[int(lowest)])}'] .hit"
    )
    for shape in (page.locator(f".node[data-variable='{lowest}']"), into):
        shape.evaluate("shape => shape.scrollIntoView({ block: 'end' })")
        box = shape.bounding_box()
        shape.dispatch_event(
            "pointerenter", {"clientX": box["x"] + box["width"] / 2, "clientY": box["y"] + box["height"] - 2}
        )
        found = tip.bounding_box()
        assert found["x"] >= 0
        assert found["y"] >= 0
        assert found["x"] + found["width"] <= width
        assert found["y"] + found["height"] <= height
        assert tip.evaluate("tip => tip.scrollHeight <= tip.clientHeight")


def contrast(page, selector):
    """Of text with what is behind it, by WCAG 2."""
    return page.locator(selector).first.evaluate("""node => {
      const parts = text => text.match(/[\\d.]+/g).map(Number)
      const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
      let behind = node
      while (behind && parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement
      const [a, b] = [parts(getComputedStyle(node).color), parts(getComputedStyle(behind || document.body).backgroundColor)].map(light)
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    }""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(opened, scheme):
    page = opened("marks", color_scheme=scheme)
    for selector in (
        "#sentences p",
        ".soft",
        ".badge",
        ".verdict",
        "nav a",
        ".state.warning",
        ".state.look",
        "th",
        ".chip",
        "#legend span",
    ):
        assert contrast(page, selector) >= 4.5, selector
    assert page.locator("#theme").inner_text() == ("dark" if scheme == "light" else "light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert contrast(page, "#sentences p") >= 4.5


@pytest.mark.parametrize("name", ["marks", thorough("hostile"), thorough("large")])
def test_a_phone_has_one_column_and_nothing_sticks_out(opened, name):
    page = opened(name, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    stage, card = page.locator(".stage").bounding_box(), page.locator("#card").bounding_box()
    assert card["y"] >= stage["y"] + stage["height"]
    page.mouse.wheel(0, 3000)
    assert page.locator("#badge").is_visible()
    sizes = page.evaluate("""[...document.querySelectorAll('body *')].filter(node => [...node.childNodes].some(child => child.nodeType === 3
      && child.textContent.trim()) && node.getClientRects().length && !node.closest('svg'))
      .map(node => parseFloat(getComputedStyle(node).fontSize))""")
    assert min(sizes) >= 12
    page.locator(".node[tabindex='0']").first.tap()
    assert page.locator("#card h3").inner_text() != "Nothing selected"


def test_the_scripts_run_as_modules_and_take_another_document(watched):
    """As a server would give them: from files, with a document that changes while places stay."""
    from ordag.show.document import document
    from ordag.show.report import module_names, source

    one = watched()
    plain = source("page.html").replace('<script type="module"><!--script--></script>', "")
    head = {"policy": "default-src 'self'", "title": "x", "said": "", "style": source("page.css"), "document": "{}"}
    for name, text in head.items():
        plain = plain.replace(f"<!--{name}-->", text)
    plain = plain.replace('<script type="application/json" id="document">{}</script>', "").replace(
        "content=\"default-src 'self'\"", 'content=""'
    )
    files = {f"{name}.js": source(f"{name}.js") for name in module_names()}

    def answer(route):
        name = route.request.url.rsplit("/", 1)[1]
        if name in files:
            route.fulfill(body=files[name], content_type="text/javascript")
        else:
            route.fulfill(body=plain, content_type="text/html")

    one.page.route("http://ordag.test/**", answer)
    one._asked = lambda url: None
    page = one.page
    page.goto("http://ordag.test/page")
    marks = json.loads(json.dumps(document(fit_of("marks"))))
    marks["pairs"]["reason"][marks["pairs"]["kind"].index("arrow")] = "hidden"
    pooled = json.loads(json.dumps(document(fit_of("pooled"))))
    page.evaluate(
        """async content => {
      const { showReport } = await import('/main.js')
      window.state = showReport(content)
      window.state.places.set('algebra', [40, 40])
    }""",
        marks,
    )
    page.locator("#again-body code").wait_for()
    assert edges_in_graph(page) == 6
    dotted = "paths => paths.filter(one => parseFloat(one.getAttribute('stroke-dasharray')) <= one.getAttribute('stroke-width')).length"
    assert page.locator("svg.graph .edge .line").evaluate_all(dotted) == 1
    assert "dotted: a hidden common cause could explain it" in page.locator("#legend").inner_text()
    page.evaluate("content => window.state.open(content)", pooled)
    page.locator("#support").wait_for()
    assert page.locator(".node[aria-label='algebra']").get_attribute("transform") == "translate(40 40)"
    set_level(page, 0.97)
    assert edges_in_graph(page) < 6


def test_a_category_is_drawn_dashed_and_its_card_has_the_means_of_its_groups(opened):
    page, fit = opened("categories"), fit_of("categories")
    dashed = page.locator("svg.graph .node.category")
    assert dashed.evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))") == ["<b>site", "sex"]
    assert "a category, which may be a cause and has none" in page.locator("#legend").inner_text()
    dashed.first.click()
    card = page.locator("#card")
    assert "a category of 3 groups" in card.inner_text()
    cells = card.locator("table.groups tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    [arrow] = [one for one in fit.cause_arrows if one.source == "<b>site"]
    assert [row[0] for row in cells] == list(arrow.levels)
    assert [int(row[1]) for row in cells] == list(arrow.rows)
    assert [float(row[2].replace("−", "-")) for row in cells] == pytest.approx(arrow.means, abs=0.006)
    card.get_by_role("button", name="evidence").first.click()
    assert f"F(2, {arrow.test.rows})" in card.inner_text()
    assert "a category has no causes" in card.inner_text()
    page.locator("svg.graph .node", has_text="b").last.click()
    for look in ("matrix", "neighbourhood", "graph"):
        page.get_by_role("tab", name=look).click()
