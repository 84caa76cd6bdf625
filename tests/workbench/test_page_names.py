"""Columns with names that every object of JavaScript has for something else: a page that keeps things by name must not find those."""

from __future__ import annotations

import json

import pytest
from browser.pages import INHERITED, inherited
from hands import action, answered, arrows, choose_arrow, choose_variable, column, method, rescale
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system


def learned(frame, method="cvs", **more):
    return set(ordag.learn(frame, method, **more).graph.directed)


@pytest.mark.thorough
def test_names_that_every_object_has_are_names_of_columns(bench, tmp_path):
    path, frame = tmp_path / "inherited.csv", inherited()
    frame.to_csv(path, index=False)
    page = bench(path)
    assert arrows(page) == learned(frame, "auto")
    method(page, "cvs")
    assert page.locator("#columns .unit").all_inner_texts() == ["original unit"] * len(INHERITED)

    for name in INHERITED:
        assert rescale(page, name, "×10")
        assert column(page, name).locator(".unit").inner_text() == "× 10"
    assert arrows(page) == learned(10 * frame)
    reset = column(page, "__proto__").get_by_role("button", name="reset")
    assert answered(page, reset.click)
    smaller = (10 * frame).assign(__proto__=frame["__proto__"])
    assert arrows(page) == learned(smaller)
    assert answered(page, page.locator("#undo").click)
    assert arrows(page) == learned(10 * frame)

    choose_arrow(page, "toString", "__proto__")
    assert answered(page, action(page, "require").click)
    choose_variable(page, "constructor")
    assert answered(page, action(page, "root").click)
    known = {"required": [("toString", "__proto__")], "roots": ["constructor"]}
    assert arrows(page) == learned(10 * frame, knowledge=known)
    assert "toString → __proto__" in page.locator("#knowledge-body .said").inner_text()

    page.fill("#what-if-cause", "constructor")
    page.keyboard.press("Enter")
    page.locator("#whatif-body").get_by_role("button", name="show").click()
    changed = page.locator("svg.graph .node.numbered").evaluate_all(
        "nodes => nodes.map(one => one.getAttribute('aria-label'))"
    )
    assert {"constructor", "toString", "__proto__"} <= {one.split(",")[0] for one in changed}
    for field, name in (("#effect-from", "toString"), ("#effect-to", "valueOf")):
        page.fill(field, name)
        page.keyboard.press("Enter")
    expect(page.locator("#whatif-body .total")).to_contain_text("toString → __proto__ → hasOwnProperty → valueOf")

    with page.expect_download() as saved:
        page.get_by_role("button", name="save", exact=True).click()
    state = json.loads(saved.value.path().read_text())
    assert state["transform"] == dict.fromkeys(INHERITED, 10)
    page.reload()
    page.locator("#again-body code").wait_for()
    assert arrows(page) == learned(10 * frame, knowledge=known)
    assert answered(page, page.get_by_role("button", name="standardise all").click)
    assert page.locator("#columns .unit").all_inner_texts() == ["standardised"] * len(INHERITED)
    assert "native code" not in page.locator("body").inner_text()
