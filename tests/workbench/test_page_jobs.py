"""Work in the background: resamples, checks, other methods; how far they are, that they can be stopped, and when they are old."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from asking import TOKEN
from budgets import thorough
from chromium import PATIENCE
from hands import action, answered, arrows, choose_arrow, method
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system


def part(page, name):
    return page.get_by_role("form", name=name)


def begin(page, name):
    part(page, name).locator("button[type=submit]").click()


def supports(page):
    """The column of support in the list of arrows, by arrow."""
    titles = page.locator("#arrows-body thead th").all_text_contents()
    if "support" not in titles:
        return None
    at = titles.index("support")
    rows = page.locator("#arrows-body tbody tr:not(.space)").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    return {(row[0], row[2]): row[at] for row in rows}


def support_in_file(page):
    """The column of support in the table of arrows that can be taken away."""
    form = page.get_by_role("form", name="Export")
    form.get_by_label("Format").select_option(".csv")
    with page.expect_download() as got:
        form.get_by_role("button").click()
    return pd.read_csv(got.value.path()).dropna().set_index(["source", "target"])["support"].to_dict()


@pytest.mark.thorough
def test_resamples_give_support_until_something_changes(bench):
    page = bench("marks")
    method(page, "cvs")
    assert supports(page) is None
    page.get_by_label("How many resamples").fill("30")
    begin(page, "Resamples")
    page.get_by_text("the support of 30 resamples (seed 0)").wait_for()
    found = ordag.bootstrap("marks", method="cvs", replicates=30, seed=0)
    expected = {(row.source, row.target): row.support for row in found.edges.itertuples()}
    shown = supports(page)
    assert set(shown) == arrows(page)
    for pair, text in shown.items():
        percent = text.replace(" ", " ").removesuffix(" %").removeprefix("> ").removeprefix("< ")
        assert float(percent) == pytest.approx(100 * expected[pair], abs=1.01)
    page.locator("#again-body pre").filter(has_text="--bootstrap 30").wait_for(state="attached")
    assert support_in_file(page) == pytest.approx({pair: expected[pair] for pair in shown})
    choose_arrow(page, "algebra", "vectors")
    assert "of the resamples have it" in page.locator("#card").inner_text()
    answered(page, action(page, "reverse").click)
    assert supports(page) is None
    assert "of an earlier state" in part(page, "Resamples").text_content()
    answered(page, page.locator("#undo").click)
    assert supports(page) == shown
    assert "of an earlier state" not in part(page, "Resamples").text_content()


def test_checks_have_findings_with_pictures(bench):
    page = bench("marks")
    method(page, "cvs")
    begin(page, "Checks")
    page.locator("#checks-body .finding").first.wait_for()
    found = ordag.check("marks", method="cvs")
    page.locator("#checks-body details").evaluate_all("all => all.forEach(one => { one.open = true })")
    titles = page.locator("#checks-body .finding h3, #scales-body .finding h3").all_text_contents()
    assert len(titles) == len(found.findings)
    assert page.locator("#checks-body .finding svg").count() >= 5
    assert page.locator("#scales").is_visible()
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "reverse").click)
    assert "of an earlier state" in part(page, "Checks").text_content()
    assert "stale" in page.locator("#checks-body").get_attribute("class")


def test_methods_side_by_side(bench):
    page = bench("marks")
    form = part(page, "Methods side by side")
    for box in form.get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("value") in ("pc", "ges"))
    begin(page, "Methods side by side")
    page.locator("#methods-body table").first.wait_for()
    heads = page.locator("#methods-body table").first.locator("tbody th").all_text_contents()
    assert heads == ["this graph (pooled)", "pc", "ges"]
    for box in form.get_by_role("checkbox").all():
        box.set_checked(False)
    begin(page, "Methods side by side")
    form.locator(".old").wait_for()
    assert form.locator(".old").text_content()


@pytest.mark.thorough
def test_work_says_how_far_it_is_and_can_be_stopped(bench):
    page = bench("marks")
    page.get_by_label("How many resamples").fill("100000")
    begin(page, "Resamples")
    begin(page, "Checks")
    form = part(page, "Resamples")
    bar = form.locator("progress")
    bar.wait_for()
    form.locator("progress[value]").wait_for()
    assert form.locator(".told").inner_text()
    assert form.locator("button[type=submit]").is_disabled()
    form.get_by_role("button", name="stop").click()
    bar.wait_for(state="hidden")
    page.locator("#live").get_by_text("Resamples: stopped.").wait_for(state="attached")
    assert form.locator("button[type=submit]").is_enabled()
    assert supports(page) is None
    part(page, "Checks").get_by_role("button", name="stop").or_(
        page.locator("#checks-body .finding").first
    ).first.wait_for()


@pytest.mark.thorough
def test_two_tabs_do_not_disturb_each_other(bench):
    one, other = bench("marks"), bench("marks")
    choose_arrow(one, "algebra", "vectors")
    answered(one, action(one, "reverse").click)
    assert ("vectors", "algebra") in arrows(one)
    begin(other, "Checks")
    other.locator("#checks-body .finding").first.wait_for()
    assert ("algebra", "vectors") in arrows(other)
    assert one.locator("#checks-body .finding").count() == 0


@pytest.mark.thorough
def test_what_cannot_be_done_is_said(bench, tmp_path):
    path = tmp_path / "few.csv"
    rows = np.random.default_rng(0).standard_normal((12, 3))
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(path, index=False)
    page = bench(path)
    page.get_by_label("How many resamples").evaluate("one => { one.removeAttribute('min') }")
    page.get_by_label("How many resamples").fill("1")
    begin(page, "Resamples")
    part(page, "Resamples").locator(".old").wait_for()
    assert "replicates=1" in part(page, "Resamples").locator(".old").inner_text()


def busy(workbench):
    """The processes of a server that work on something."""
    return {one.process for pool in (workbench._answers, workbench._jobs) for one in pool._processes - set(pool._idle)}


def eventually(done):
    """Wait for something, with a deadline that only a fault can reach."""
    end = time.monotonic() + PATIENCE / 1000
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(("work", "data"), [thorough("job", "marks"), ("change", "sachs")])
def test_a_closed_tab_ends_its_work(watched, workbench, address, work, data):
    page, other = (watched().open(f"{address}/{TOKEN}/", "#welcome .drop") for _ in range(2))
    for one in (page, other):
        one.locator(f"[data-table={data}]").click()
        one.locator("#again-body code").first.wait_for()
        expect(one.locator("#forecast")).to_have_text("")
    if work == "job":
        page.get_by_label("How many resamples").fill("100000")
        begin(page, "Resamples")
        part(page, "Resamples").locator("progress[value]").wait_for()
    else:
        method(page, "gds")
        page.locator("#settings-body details summary").click()
        page.locator("#set-kicks").fill("100000000")
        page.locator("#set-kicks").press("Tab")
        page.locator("#told").get_by_role("button", name="stop").wait_for()
    eventually(lambda: len(busy(workbench)) == 1)
    (process,) = busy(workbench)
    page.close()
    eventually(lambda: not process.is_alive() and not busy(workbench))
    method(other, "cvs")
    assert arrows(other) == {*ordag.learn(data, "cvs").graph.directed}
