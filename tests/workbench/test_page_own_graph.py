"""A graph of the user's own in the page: typed, drawn or taken from a file, its broken claims in red, mended by a click."""

from __future__ import annotations

import pytest

import ordag

pytestmark = pytest.mark.system
TEXT = "algebra -> vectors -> mechanics; algebra -> analysis -> statistics"


def after_test(page, act):
    """Do something, and wait until the page shows the answer of the server."""
    with page.expect_response(lambda response: response.url.endswith("api/own")) as seen:
        act()
    assert seen.value.ok
    page.locator("#yours [aria-busy=false]").wait_for()
    page.locator("#yours .stop").wait_for()


def broken(page):
    return page.locator("svg.graph .own .broken").count()


def test_broken_claims_are_red_and_one_click_mends(bench):
    page = bench("marks")
    page.get_by_role("tab", name="graph").click()
    expected = ordag.test(TEXT, "marks", compare=False)
    page.fill("#yours textarea", TEXT)
    after_test(page, page.locator("#yours-test").click)
    assert broken(page) == expected.broken == 2
    assert page.locator("svg.graph .own .head").count() == 4
    assert expected.sentence in page.locator("#yours").inner_text()
    assert expected.claim(0) in page.locator("#yours .claims li").first.inner_text()
    page.locator("#yours .claims button").first.hover()
    assert page.locator("svg.graph .own .broken.bright").count() == 1
    after_test(page, page.locator("#yours .mend").click)
    assert broken(page) == 1
    assert '"algebra" -> "statistics"' in page.locator("#yours textarea").input_value()
    after_test(page, page.locator("#yours").get_by_role("button", name="back").click)
    assert broken(page) == 2
    page.locator("#yours .stop").click()
    assert page.locator("svg.graph .own *").count() == 0


def test_a_graph_is_drawn_loaded_and_begun_with_the_learned_one(bench, tmp_path):
    page = bench("marks")
    page.get_by_role("tab", name="graph").click()
    for field, name in (("#yours-from", "algebra"), ("#yours-to", "vectors")):
        page.fill(field, name)
        page.keyboard.press("Enter")
    after_test(page, page.locator("#yours").get_by_role("button", name="add the arrow").click)
    assert page.locator("svg.graph .own .head").count() == 1
    path = tmp_path / "mine.lavaan"
    path.write_text("vectors ~ algebra\nanalysis ~ algebra\n")
    after_test(page, lambda: page.locator("#yours input[type=file]").set_input_files(path))
    assert page.locator("svg.graph .own .head").count() == 2
    after_test(page, page.locator("#yours").get_by_role("button", name="begin with the learned one").click)
    assert page.locator("svg.graph .own .head").count() == ordag.learn("marks").graph.edge_count
    assert "as learned. BIC is the same." in page.locator("#yours").inner_text()
    page.fill("#yours textarea", "algebra -> physics")
    page.locator("#yours-test").click()
    page.locator("#yours .warning").filter(has_text="physics").wait_for()
