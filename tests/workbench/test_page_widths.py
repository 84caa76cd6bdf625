"""The workbench on screens of every width: the graph is in sight, and so is what a tap on it brings."""

from __future__ import annotations

import pytest
from budgets import thorough
from playwright.sync_api import expect

pytestmark = pytest.mark.system


def box(page, selector):
    return page.locator(selector).first.bounding_box()


@pytest.mark.parametrize("width", [1440, thorough(1280), thorough(1200), thorough(1024), 960, thorough(700), 400])
def test_the_graph_has_room_at_every_width_and_a_tap_brings_the_card(bench, width):
    page = bench("marks", viewport={"width": width, "height": 800})
    if width == 400:  # on a telephone, the whole of a small graph
        assert page.locator("svg.graph .node").count() == 5
        for node in page.locator("svg.graph .node").all():
            expect(node).to_be_in_viewport(ratio=1)
    if width in (1280, 700):
        check_verdict_unfolds(page)
    if width in (1024, 400):
        expect(page.locator("#card h3")).not_to_be_in_viewport()
    page.locator("svg.graph .node[aria-label=vectors]").click()
    expect(page.locator("#card h3")).to_have_text("vectors")
    expect(page.locator("#card h3")).to_be_in_viewport()
    if width == 1280:  # beside the graph there is no need to scroll
        assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="Close the hint").click()
    assert box(page, "#drawing")["height"] >= 400
    buttons = page.locator("#picture .toolbar button")
    assert all(one.bounding_box()["height"] < 45 for one in buttons.all())  # one line each
    right = box(page, "#picture")["x"] + box(page, "#picture")["width"]
    assert all(one.bounding_box()["x"] + one.bounding_box()["width"] <= right for one in buttons.all())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def check_verdict_unfolds(page):
    """A verdict that is cut off can be unfolded, and folded again."""
    more = page.get_by_role("button", name="more", exact=True)
    expect(more).to_be_in_viewport(ratio=1)
    last = "document.querySelector('#opening').scrollHeight <= document.querySelector('#opening').clientHeight"
    assert not page.evaluate(last)
    more.click()
    assert page.evaluate(last)
    assert page.locator("#opening").evaluate("one => getComputedStyle(one).maskImage") == "none"
    page.get_by_role("button", name="less", exact=True).click()
    assert not page.evaluate(last)
