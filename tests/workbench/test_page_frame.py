"""The frame of the workbench: the verdict in sight, nothing that jumps, changes that are pointed at and said, undo and redo."""

from __future__ import annotations

from contextlib import closing

import pandas as pd
import pytest
from asking import TOKEN, answering
from browser.pages import HOSTILE, sparse, table
from budgets import thorough
from hands import answered, arrows, camera, column, drawn, method, places, rescale, setting, stopped
from playwright.sync_api import expect

import ordag
from ordag.common.words import shown
from ordag.data.datasets import load
from ordag.workbench.tables import Tables
from ordag.workbench.workbench import Workbench

pytestmark = pytest.mark.system


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Tables on disk, by name."""
    folder = tmp_path_factory.mktemp("tables")
    table(50, 500).to_csv(folder / "fifty.csv", index=False)
    pd.DataFrame(sparse(8, 500, 4.0, 5), columns=HOSTILE).to_parquet(folder / "hostile.parquet", index=False)
    return lambda name: folder / name


def learned(data="marks", method="auto", **settings):
    graph = ordag.learn(data, method, **settings).graph
    return {tuple(map(shown, edge)) for edge in [*graph.directed, *graph.undirected]}


def scaled(**factors):
    """The marks with some columns in other units."""
    frame = pd.read_csv(load("marks").path)
    return frame.assign(**{name: frame[name] * factor for name, factor in factors.items()})


@pytest.fixture
def with_clock(watched, serving):
    """Open the workbench, and stop the clock of its page."""

    def opened(*words):
        one = watched()
        one.page.clock.install()
        return stopped(one.open(serving(*words)))

    return opened


def test_three_columns_and_the_verdict_are_in_sight_and_keys_are_listed(bench):
    page = bench("marks")
    assert arrows(page) == learned()
    assert drawn(page) == len(learned())
    boxes = [page.locator(one).bounding_box() for one in (".side.left", "#picture", ".side.right")]
    assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes)
    assert all(box["y"] + box["height"] <= 801 for box in boxes)
    for one in ("#badge", "#short", "#verdict-body", "#sentences", "#drawing svg"):
        box = page.locator(one).bounding_box()
        assert box["y"] >= 0
        assert box["y"] < 800
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.mouse.wheel(0, 4000)
    expect(page.locator("#badge")).to_be_in_viewport()
    page.keyboard.press("?")
    listed = page.locator("#keys-body th").all_inner_texts()
    assert {"Ctrl+Z", "Ctrl+Shift+Z", "/"} <= set(listed)
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


@pytest.mark.parametrize("scheme", ["light", thorough("dark")])
def test_they_are_stacked_on_a_narrow_screen(bench, scheme):
    page = bench("marks", viewport={"width": 700, "height": 900}, color_scheme=scheme)
    tops = [node.bounding_box()["y"] for node in page.locator("#drawing svg .node").all()]
    assert (
        0 < min(tops) - page.locator("#drawing svg").bounding_box()["y"] < 60
    )  # causes stand at the top, not in the middle
    boxes = [page.locator(one).bounding_box() for one in ("#picture", "#card", ".side.left", "#whatif")]
    assert len({round(box["x"]) for box in boxes}) == 1
    assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.thorough
def test_another_unit_turns_arrows_and_nothing_jumps(with_clock):
    page = with_clock("marks")
    before = arrows(page), places(page), camera(page)
    page.locator("#arrows-body tbody tr").filter(has_text="analysis").first.click()
    assert page.locator("#card h3").inner_text() == "algebra → analysis"
    assert rescale(page, "algebra", "×10")
    now = learned(scaled(algebra=10))
    assert arrows(page) == now
    turned = {(a, b) for a, b in now if (b, a) in before[0]}
    assert turned
    assert (places(page), camera(page)) == before[1:]
    assert drawn(page, "turned") == len(turned)
    assert page.locator("svg.graph .edge.turned .sign").all_text_contents() == ["↻"] * len(turned)
    said = page.locator("#told").inner_text()
    assert f"{len(turned)} reversed" in said
    for a, b in turned:
        assert f"{b} → {a} is now {a} → {b}" in said
    assert page.locator("#arrows-body .changed.turned").count() == len(turned)
    assert page.locator("#card h3").inner_text() == "analysis → algebra"


@pytest.mark.thorough
def test_arrows_that_go_and_come_are_pointed_at_for_a_while(with_clock):
    page = with_clock("marks")
    method(page, "cvs")
    setting(page, "alpha", 0.3)
    more = learned(method="cvs", alpha=0.3)
    setting(page, "alpha", 0.0001)
    fewer = learned(method="cvs", alpha=0.0001)
    assert fewer < more
    assert arrows(page) == fewer
    assert drawn(page, "gone") == len(more - fewer)
    assert f"{len(more - fewer)} arrows gone" in page.locator("#told").inner_text()
    setting(page, "alpha", 0.3)
    assert drawn(page, "appeared") == len(more - fewer)
    assert page.locator("#arrows-body .changed.appeared").count() == len(more - fewer)
    assert f"{len(more - fewer)} arrows new" in page.locator("#told").inner_text()
    page.clock.run_for(8000)
    assert drawn(page, "appeared") == drawn(page, "gone") == 0
    assert page.locator("#arrows-body .changed").count() == 0
    assert "new" in page.locator("#told").inner_text()


@pytest.mark.thorough
def test_undo_and_redo_by_keys_and_buttons(bench):
    page = bench("marks")
    start, at = arrows(page), places(page)
    rescale(page, "algebra", "×100")
    turned = arrows(page)
    method(page, "ges")
    assert page.locator("#redo").is_disabled()
    page.locator("svg.graph .node").first.focus()
    answered(page, lambda: page.keyboard.press("Control+z"))
    assert arrows(page) == turned
    assert page.get_by_role("radio", name="auto").get_attribute("aria-checked") == "true"
    assert page.locator("#told").inner_text().startswith("Undone: method ges.")
    answered(page, page.locator("#undo").click)
    assert arrows(page) == start
    assert column(page, "algebra").locator(".unit").inner_text().startswith("original unit")
    assert page.locator("#undo").is_disabled()
    answered(page, lambda: page.keyboard.press("Control+Shift+Z"))
    assert arrows(page) == turned
    answered(page, page.locator("#redo").click)
    assert page.get_by_role("radio", name="ges").get_attribute("aria-checked") == "true"
    answered(page, page.locator("#undo").click)
    rescale(page, "vectors", "×10")
    assert page.locator("#redo").is_disabled()
    assert places(page) == at


@pytest.mark.thorough
def test_variables_that_leave_and_come_back_have_their_place(bench):
    page = bench("marks")
    at = places(page)
    check = page.locator("#columns .column label", has_text="vectors")
    answered(page, check.click)
    assert arrows(page) == learned(columns=["mechanics", "algebra", "analysis", "statistics"])
    assert places(page) == {name: place for name, place in at.items() if name != "vectors"}
    assert "left with the column" in page.locator("#told").inner_text()
    answered(page, check.click)
    assert places(page) == at


CROSSING = """() => {
    const boxes = [...document.querySelectorAll("svg.graph .node")].map(node => {
        const [x, y] = node.getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
        const wide = Number(node.querySelector("rect").getAttribute("width")) / 2;
        return { left: x - wide, right: x + wide, top: y - 16, bottom: y + 16 };
    });
    const within = ([x, y], box, more) =>
        x > box.left - more && x < box.right + more && y > box.top - more && y < box.bottom + more;
    return [...document.querySelectorAll("svg.graph .edge:not(.gone) path.line")].map(line => {
        const long = line.getTotalLength();
        const points = Array.from({ length: 61 }, (_, i) => line.getPointAtLength((long * i) / 60)).map(({ x, y }) => [x, y]);
        const others = boxes.filter(box => !within(points[0], box, 22) && !within(points[60], box, 22));
        return others.some(box => points.some(point => within(point, box, 0)));
    });
}"""
"""For every edge whether it runs through a box that is neither of its ends."""


@pytest.mark.thorough
def test_dragged_variables_stay_and_edges_pass_by_boxes(bench, tables):
    page = bench(tables("fifty.csv"))
    method(page, "cvs")
    node = page.locator("svg.graph .node").first
    name, corner = node.get_attribute("aria-label"), node.bounding_box()
    page.mouse.move(corner["x"] + 15, corner["y"] + 12)
    page.mouse.down()
    page.mouse.move(corner["x"] + 75, corner["y"] + 72, steps=4)
    page.mouse.up()
    at = places(page)
    setting(page, "alpha", 0.2)
    assert places(page) == at
    crossing = page.evaluate(CROSSING)
    assert len(crossing) == len(learned(tables("fifty.csv"), "cvs", alpha=0.2)) > 200
    assert sum(crossing) <= 0.05 * len(crossing)
    answered(page, page.locator("#tidy").click)
    assert places(page)[name] != at[name]


@pytest.mark.thorough
def test_tidying_up_lets_arrows_point_down_again(bench):
    page = bench("marks")
    method(page, "cvs")
    rescale(page, "algebra", "×100")
    assert page.locator("#tidy.wanted").count() == 1
    assert "arrows point upwards" in page.locator("#tidy").get_attribute("title")
    before = places(page)
    answered(page, page.locator("#tidy").click)
    assert places(page) != before
    expect(page.locator("#tidy.wanted")).to_have_count(0)
    height = {name: float(where.split()[-1].rstrip(")")) for name, where in places(page).items()}
    assert all(height[a] < height[b] for a, b in arrows(page))


@pytest.mark.thorough
def test_the_look_stays_and_the_matrix_follows(bench):
    page = bench("marks")
    page.keyboard.press("m")
    rescale(page, "algebra", "×100")
    assert page.locator("#drawing").get_attribute("data-look") == "matrix"
    page.locator("#drawing canvas").focus()
    page.keyboard.press("ArrowRight")
    order = ordag.learn(scaled(algebra=100)).order
    assert page.locator(".readout").inner_text().startswith(order[0])
    page.keyboard.press("n")
    page.keyboard.press("Control+z")
    expect(page.locator("#told")).to_contain_text("Undone")
    assert page.locator("#drawing").get_attribute("data-look") == "neighbourhood"


@pytest.mark.thorough
def test_the_filter_of_the_list_stays(bench):
    page = bench("marks")
    page.fill("#arrow-filter", "mech")
    page.get_by_role("button", name="weight", exact=True).click()
    rescale(page, "mechanics", "÷10")
    assert page.locator("#arrow-filter").input_value() == "mech"
    assert page.locator("#arrows-body th[aria-sort='descending']").inner_text().startswith("weight")
    assert all("mechanics" in pair for pair in arrows(page))


def test_names_are_text_whatever_they_say(bench, tables):
    page = bench(tables("hostile.parquet"))
    names = {shown(name) for name in HOSTILE}
    assert set(places(page)) == names
    labels = page.locator("#columns .column label bdi")
    assert {one.get_attribute("title") or one.inner_text() for one in labels.all()} == names
    assert rescale(page, "</script><b>", "×100")
    assert "</script><b>: × 100" in page.locator("#told").inner_text()
    assert page.locator("#bench script, #bench b b").count() == 0


@pytest.mark.thorough
def test_two_tabs_do_not_disturb_each_other(bench):
    first, second = bench("marks"), bench("marks")
    held = []
    first.route("**/api/answer", lambda route: held.append(route), times=1)
    with first.expect_request("**/api/answer"):
        first.get_by_role("radio", name="ges", exact=True).click()
    answer = held[0].fetch()  # the server has answered one tab, which does not know it yet, when the other asks
    rescale(second, "algebra", "×100")
    assert arrows(second) == learned(scaled(algebra=100))
    assert arrows(first) == learned()
    answered(first, lambda: held[0].fulfill(response=answer))
    assert arrows(first) == learned(method="ges")
    answered(second, second.locator("#undo").click)
    assert arrows(second) == learned()
    assert first.get_by_role("radio", name="ges").get_attribute("aria-checked") == "true"


def test_without_an_answer_there_is_a_sentence_and_another_try(watched, serving):
    one = watched()
    page = one.open(serving("marks"))
    page.route("**/api/answer", lambda route: route.abort("connectionrefused"))
    page.get_by_role("radio", name="cvs").click()
    expect(page.locator("#trouble")).to_contain_text("does not answer")
    assert arrows(page) == learned()
    page.unroute("**/api/answer")
    answered(page, page.locator("#trouble").get_by_role("button", name="try again").click)
    assert arrows(page) == learned(method="cvs")
    expect(page.locator("#trouble")).to_be_hidden()
    page.route("**/api/answer", lambda route: route.abort("connectionrefused"))
    page.get_by_role("radio", name="ges").click()
    page.locator("#trouble").get_by_role("button", name="cancel").click()
    assert page.get_by_role("radio", name="cvs").get_attribute("aria-checked") == "true"
    assert arrows(page) == learned(method="cvs")
    one.troubles = [trouble for trouble in one.troubles if "ERR_CONNECTION_REFUSED" not in trouble]


def come_back(page):
    """As if somebody came back to the page from another window."""
    page.evaluate("window.dispatchEvent(new Event('focus'))")


@pytest.mark.thorough
def test_a_server_that_answers_again_is_no_trouble_any_more(watched, serving):
    one = watched()
    page = one.open(serving("marks"))
    expect(page.locator("#forecast")).to_have_text("")
    page.route("**/browser/server.js", lambda route: route.abort("connectionrefused"))
    come_back(page)
    expect(page.locator("#trouble")).to_contain_text("does not answer")
    assert page.locator("#trouble").get_by_role("button").all_inner_texts() == ["try again"]
    page.unroute_all()
    come_back(page)
    expect(page.locator("#trouble")).to_be_hidden()
    method(page, "cvs")
    assert arrows(page) == learned(method="cvs")
    one.troubles = [trouble for trouble in one.troubles if "ERR_CONNECTION_REFUSED" not in trouble]


@pytest.mark.thorough
def test_a_server_that_has_ended_is_told_of(watched):
    one, tables = watched(), Tables(2**20)
    tables.start_with("marks", "marks", {})
    with closing(Workbench(tables)) as workbench, answering(workbench) as address:
        page = one.open(f"{address}/{TOKEN}/")
        expect(page.locator("#forecast")).to_have_text("")
    come_back(page)
    expect(page.locator("#trouble")).to_contain_text("ordag explore")
    page.get_by_role("radio", name="cvs").click()
    expect(page.locator("#trouble")).to_contain_text("cancel")
    one.troubles = [trouble for trouble in one.troubles if "ERR_CONNECTION_REFUSED" not in trouble]


@pytest.mark.thorough
def test_a_fault_in_one_part_is_reported_and_the_others_go_on(watched, serving):
    one = watched()
    one.context.route("**/browser/told.js", broken)
    page = one.open(serving("marks"))
    assert [trouble for trouble in one.troubles if "a fault" in trouble]
    method(page, "cvs")
    assert arrows(page) == learned(method="cvs")
    assert page.locator("#undo").is_enabled()
    one.troubles = [trouble for trouble in one.troubles if "a fault" not in trouble]


def broken(route):
    """The module that says what a change did, with a fault where it says so."""
    answer = route.fetch()
    text = answer.text()
    assert "function paint() {" in text
    route.fulfill(
        response=answer, body=text.replace("function paint() {", 'function paint() { throw new Error("a fault");', 1)
    )
