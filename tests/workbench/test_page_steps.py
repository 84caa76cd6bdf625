"""Steps that are taken while an answer is on its way: changes, undo, redo and openings wait for each other, and none is lost."""

from __future__ import annotations

import json

import pytest
from asking import state
from hands import answered, arrows, column, method, setting
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system

NAMES = ["mechanics", "vectors", "algebra", "analysis", "statistics"]


def learned(method, **settings):
    graph = ordag.learn("marks", method, **settings).graph
    return {*graph.directed, *graph.undirected}


def is_question(request):
    return request.url.endswith("api/answer")


def only(page, is_wanted):
    """From now on the page has answers about wanted states alone, and waits for ever for all others."""
    page.route(
        "**/api/answer",
        lambda route: route.continue_() if is_wanted(route.request.post_data_json["state"]) else None,
    )


def asking(page, act):
    """Do something, and wait until the page asks."""
    with page.expect_request(is_question):
        act()


def all_answers(page):
    page.unroute_all(behavior="ignoreErrors")


def undo(page):
    page.locator("svg.graph .node").first.focus()
    page.keyboard.press("Control+z")


def leave_out(page, name):
    page.locator("#columns .column label", has_text=name).click()


def chosen(page):
    return page.locator("[role=radio][aria-checked=true]").inner_text()


def without(name):
    return [one for one in NAMES if one != name]


def test_a_change_during_an_undo_follows_it(bench):
    page = bench("marks")
    method(page, "cvs")
    method(page, "pc")
    only(page, lambda S: S["method"] == "cvs" and S["columns"] == without("vectors"))
    asking(page, lambda: undo(page))
    leave_out(page, "vectors")
    expect(page.locator("#told")).to_contain_text("Undone: method pc; vectors left out.")
    assert arrows(page) == learned("cvs", columns=without("vectors"))
    assert page.locator("#redo").is_disabled()
    all_answers(page)
    answered(page, page.locator("#undo").click)
    assert arrows(page) == learned("cvs")
    answered(page, page.locator("#undo").click)
    assert chosen(page) == "auto"
    assert page.locator("#undo").is_disabled()


@pytest.mark.thorough
def test_as_many_steps_are_undone_as_were_asked_for(bench):
    page = bench("marks")
    start = arrows(page)
    for name in ("cvs", "pc", "ges"):
        method(page, name)
    only(page, lambda S: S["method"] == "auto")
    for _ in range(4):  # one more than there are
        undo(page)
    assert page.locator("#undo").is_disabled()
    assert page.locator("#redo").get_attribute("title").startswith("redo: method cvs")
    expect(page.locator("#told")).to_contain_text("undone: method cvs.")
    assert chosen(page) == "auto"
    assert arrows(page) == start
    all_answers(page)
    for name in ("cvs", "pc", "ges"):
        answered(page, page.locator("#redo").click)
        assert chosen(page) == name


def test_undo_takes_back_what_is_not_answered_yet_and_no_more(bench):
    page = bench("marks")
    method(page, "cvs")
    only(page, lambda S: False)
    asking(page, page.get_by_role("radio", name="pc", exact=True).click)
    expect(page.locator("#told")).to_contain_text("working …")
    assert page.locator("#undo").get_attribute("title").startswith("undo: method pc")
    undo(page)
    page.locator("#bench[aria-busy=false]").wait_for()
    expect(page.locator("#told")).to_contain_text("Method cvs.")
    assert chosen(page) == "cvs"
    assert arrows(page) == learned("cvs")
    assert page.locator("#undo").get_attribute("title").startswith("undo: method cvs")
    all_answers(page)
    answered(page, page.locator("#redo").click)
    assert arrows(page) == learned("pc")


def test_a_change_that_is_refused_takes_no_other_with_it(bench):
    page = bench("marks")
    method(page, "cvs")
    page.route("**/api/answer", lambda route: None, times=1)  # so that the change waits when the next one comes
    asking(page, lambda: (page.locator("#set-alpha-number").fill("2"), page.locator("#set-alpha-number").press("Tab")))
    leave_out(page, "vectors")
    expect(page.locator("#told")).to_contain_text("vectors left out.")
    expect(page.locator("#refused")).to_contain_text("alpha=2")
    assert arrows(page) == learned("cvs", columns=without("vectors"))
    assert page.locator("#set-alpha-number").input_value() == "0.01"
    assert setting(page, "alpha", 0.1)
    expect(page.locator("#refused")).to_be_hidden()


@pytest.fixture
def saved(tmp_path):
    """A saved state of the marks."""
    path = tmp_path / "marks.ordag.json"
    data = {"id": "", "name": "marks", "names": NAMES, "rows": 88, "digest": None, "builtin": "marks"}
    path.write_text(json.dumps(state(data, method="ges")))
    return path


def open_saved(page, path):
    page.get_by_label("A saved workbench").set_input_files(path)


@pytest.mark.thorough
def test_a_change_during_an_opening_follows_it(bench, saved):
    page = bench("marks")
    method(page, "cvs")
    only(page, lambda S: S["method"] == "ges" and S["columns"] == without("vectors"))
    asking(page, lambda: open_saved(page, saved))
    leave_out(page, "vectors")
    expect(page.locator("#live")).to_have_text("The saved state is open.")
    assert chosen(page) == "ges"
    assert arrows(page) == learned("ges", columns=without("vectors"))
    all_answers(page)
    answered(page, page.locator("#undo").click)
    assert arrows(page) == learned("ges")
    assert page.locator("#undo").is_disabled()


@pytest.mark.thorough
def test_an_opening_that_is_given_up_is_not_said_to_be_there(bench, saved):
    page = bench("marks")
    method(page, "cvs")
    only(page, lambda S: False)
    asking(page, lambda: open_saved(page, saved))
    page.locator("#told").get_by_role("button", name="stop").click()
    expect(page.locator("#told")).to_contain_text("Method cvs.")
    assert page.locator("#live").inner_text() == ""
    assert chosen(page) == "cvs"
    all_answers(page)
    answered(page, page.locator("#undo").click)
    assert chosen(page) == "auto"


@pytest.mark.thorough
def test_presses_of_a_unit_in_a_row_add_up(bench):
    page = bench("marks")
    tenfold = column(page, "mechanics").get_by_role("button", name="×10", exact=True)
    only(page, lambda wanted: wanted["transform"].get("mechanics") == 100)
    answered(page, lambda: [tenfold.click(), tenfold.click()])
    expect(column(page, "mechanics").locator(".factor")).to_have_value("100")
    all_answers(page)
