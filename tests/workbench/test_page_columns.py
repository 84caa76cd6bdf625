"""Columns in and out and their units in the page, with the count of arrows that turn; names in hundreds; the hint for a first visit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from browser.pages import table
from hands import answered, arrows, column, method, rescale
from playwright.sync_api import expect

import ordag
from ordag.data.datasets import load

pytestmark = pytest.mark.system


def learned(frame, **settings):
    return set(ordag.learn(frame, **settings).graph.directed)


@pytest.mark.thorough
def test_units_give_what_the_table_in_these_units_gives(bench):
    page, frame = bench("marks"), pd.read_csv(load("marks").path)
    method(page, "cvs")
    own = arrows(page)
    rescale(page, "algebra", "×10")
    rescale(page, "algebra", "×10")
    assert column(page, "algebra").locator(".unit").inner_text().startswith("× 100")
    now = learned(frame.assign(algebra=100 * frame.algebra), method="cvs")
    assert arrows(page) == now
    turned = [(a, b) for a, b in now if (b, a) in own]
    box = page.locator(".scales")
    assert f"{len(turned)} arrows reversed" in box.inner_text()
    assert "puts the variable that varies least, given the others, first" in box.inner_text()
    assert box.locator(".chip").count() == len(turned)
    box.locator(".chip").first.click()
    assert page.locator("#card h3").inner_text() == box.locator(".chip").first.inner_text()
    box.locator("summary").click()
    assert "squared units" in box.locator("details").inner_text()
    rescale(page, "algebra", "log")
    assert arrows(page) == learned(frame.assign(algebra=np.log(frame.algebra)), method="cvs")
    field = column(page, "vectors").get_by_label("Factor of vectors")
    answered(page, lambda: (field.fill("0.5"), field.press("Tab")))
    assert arrows(page) == learned(frame.assign(algebra=np.log(frame.algebra), vectors=frame.vectors / 2), method="cvs")
    answered(page, page.get_by_role("button", name="standardise all").click)
    assert arrows(page) == learned((frame - frame.mean()) / frame.std(), method="cvs")
    answered(page, page.get_by_role("button", name="original units").click)
    assert arrows(page) == own
    assert box.inner_text() == ""


@pytest.mark.thorough
def test_why_an_arrow_has_turned_is_in_sight(bench):
    page = bench("marks", viewport={"width": 1280, "height": 940})
    rescale(page, "algebra", "×100")
    expect(page.locator(".scales p").first).to_be_in_viewport(ratio=1)
    field = column(page, "algebra").get_by_label("Factor of algebra")
    answered(page, lambda: (field.fill("-1"), field.press("Tab")))
    assert column(page, "algebra").locator(".unit").inner_text().startswith("× −1")


@pytest.mark.thorough
def test_a_column_with_values_below_zero_has_no_logarithm(bench):
    page = bench("marks")
    line = column(page, "mechanics")
    assert pd.read_csv(load("marks").path).mechanics.min() <= 0
    assert line.get_by_role("button", name="log").is_disabled()
    assert "not positive" in line.inner_text()
    line = column(page, "algebra")
    assert line.get_by_role("button", name="log").is_enabled()
    field = line.get_by_label("Factor of algebra")
    assert not answered(page, lambda: (field.fill("0"), field.press("Tab")))
    expect(page.locator("#refused")).to_be_visible()
    assert field.input_value() == "1"


@pytest.mark.thorough
def test_many_columns_are_searched_and_left_out(bench, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "thirty.parquet"
    frame = table(30, 400)
    frame.to_parquet(path, index=False)
    page = bench(path)
    assert page.locator("#columns .column").count() == 30
    page.get_by_label("Filter columns").fill("v01")
    assert page.locator("#columns .column").count() == 10
    answered(page, page.locator("#columns .column label", has_text="v013").click)
    assert "29 of 30 columns in use" in page.locator("#columns").inner_text()
    assert arrows(page) == learned(frame.drop(columns="v013"))
    assert page.locator("svg.graph .node").count() == 29
    answered(page, page.get_by_role("button", name="use all", exact=True).click)
    assert page.locator("svg.graph .node").count() == 30
    assert arrows(page) == learned(frame)


@pytest.mark.thorough
def test_two_columns_are_the_least(bench):
    page = bench("marks")
    for name in ("mechanics", "vectors", "algebra"):
        assert answered(page, page.locator("#columns .column label", has_text=name).click)
    left = page.locator("#columns .column label", has_text="analysis")
    answered(page, left.click)
    assert page.locator("#columns .column input[type=checkbox]").nth(3).is_checked()
    expect(page.locator("#refused")).to_be_visible()


def test_the_hint_leads_to_a_unit_and_does_not_come_back(bench):
    page = bench("marks")
    hint = page.locator("#hint")
    assert "give “algebra” another unit" in hint.inner_text()
    hint.get_by_role("button", name="show me where").click()
    assert page.evaluate("document.activeElement.closest('.column').innerText").startswith("algebra")
    hint.get_by_role("button", name="Close the hint").click()
    page.reload()
    page.locator("#again-body code").wait_for()
    expect(hint).to_be_hidden()


@pytest.mark.thorough
def test_there_is_no_hint_where_nothing_could_turn(bench, tmp_path):
    path = tmp_path / "alone.csv"
    rows = np.random.default_rng(1).standard_normal((300, 3))
    np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="")
    page = bench(path)
    assert not arrows(page)
    expect(page.locator("#hint")).to_be_hidden()
