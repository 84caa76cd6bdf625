"""What if a variable were higher, total effects with their paths, and the intervals on the card."""

from __future__ import annotations

import math
import re

import pytest
from hands import action, answered, arrows, choose_arrow, choose_variable

import ordag

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def fit():
    return ordag.learn("marks")


def read(text):
    return float(text.replace("−", "-"))


def numbers(page):
    """What stands on the variables of the graph."""
    found = page.locator("svg.graph .node.numbered").evaluate_all(
        "nodes => nodes.map(node => [node.getAttribute('aria-label').split(',')[0], node.querySelector('.change text').textContent])"
    )
    return {name: read(text) for name, text in found}


def pick(page, field, name):
    page.fill(field, name)
    page.keyboard.press("Enter")


def test_a_change_runs_through_the_graph_of_now(bench, fit):
    page = bench("marks")
    page.get_by_role("tab", name="graph").click()
    pick(page, "#what-if-cause", "algebra")
    page.get_by_label("By how much").fill("-2")
    page.locator("#whatif-body").get_by_role("button", name="show").click()
    total = fit.sem.total_effects()[fit.names.index("algebra")]
    expected = {name: -2.0 * size for name, size in zip(fit.names, total, strict=True) if size}
    expected["algebra"] = -2.0
    assert numbers(page) == pytest.approx(expected, rel=6e-3)
    assert set(page.locator("svg.graph .change").evaluate_all("all => all.map(one => one.classList[1])")) == {"minus"}
    rows = page.locator("#whatif-body .changes tbody tr").all_inner_texts()
    assert len(rows) == len(expected) - 1
    assert "2 lower" in page.locator("#whatif-body .changes").inner_text()
    page.locator("#whatif-body").get_by_role("button", name="stop").click()
    assert numbers(page) == {}
    assert page.locator("#whatif-body .changes").inner_text() == ""
    page.get_by_label("By how much").fill("1")
    page.get_by_label("In which unit").select_option("deviations")
    page.locator("#whatif-body").get_by_role("button", name="show").click()
    spread = fit.moments.spread[fit.names.index("algebra")] / math.sqrt(fit.n - 1)
    assert numbers(page)["algebra"] == pytest.approx(spread, rel=6e-3)
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "reverse").click)
    assert "vectors" not in numbers(page)
    choose_variable(page, "algebra")
    answered(page, action(page, "leave this column out").click)
    assert numbers(page) == {}


@pytest.mark.thorough
def test_the_change_arrives_layer_by_layer(bench):
    page = bench("marks", reduced_motion="no-preference")
    page.get_by_role("tab", name="graph").click()
    choose_variable(page, "algebra")
    page.evaluate(
        """() => {
            window.seen = [];
            const count = () => document.querySelectorAll("svg.graph .node.numbered").length;
            new MutationObserver(() => seen.at(-1) === count() || seen.push(count())).observe(
                document.querySelector("svg.graph .nodes"), { subtree: true, childList: true });
        }"""
    )
    action(page, "what if …").click()
    reached = {name for pair in arrows(page) for name in pair}
    page.locator("svg.graph .node.numbered").nth(len(reached) - 1).wait_for()
    seen = page.evaluate("window.seen")
    assert seen == sorted(set(seen))
    assert len(seen) >= 3
    assert seen[0] == 1


def test_a_total_effect_has_its_interval_and_its_paths(bench, fit):
    page = bench("marks")
    page.get_by_role("tab", name="graph").click()
    pick(page, "#effect-from", "algebra")
    pick(page, "#effect-to", "mechanics")
    page.locator("#whatif-body .total b").wait_for()
    effect = ordag.effects(fit).of("algebra", "mechanics")
    said = page.locator("#whatif-body .total p").first.inner_text()
    found = [read(one) for one in re.findall(r"[−+]?[\d.]+", said)]
    assert found == pytest.approx([effect.estimate, effect.low, effect.high], rel=6e-3)
    paths = page.locator("#whatif-body .paths button")
    B, index = fit.sem.B, fit.names.index
    through = B[index("algebra"), index("vectors")] * B[index("vectors"), index("mechanics")]
    products = page.locator("#whatif-body .paths li").all_inner_texts()
    listed = {text.rsplit(" ", 1)[0]: read(text.rsplit(" ", 1)[1]) for text in products}
    assert listed == pytest.approx(
        {
            "algebra → mechanics": B[index("algebra"), index("mechanics")],
            "algebra → vectors → mechanics": through,
        },
        rel=6e-3,
    )
    longer = paths.filter(has_text="vectors")
    longer.hover()
    bright = page.locator("svg.graph .edge.bright").count()
    assert bright == 2
    assert set(page.locator("svg.graph .node.bright").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")) == {
        "algebra", "vectors", "mechanics",
    }  # fmt: skip
    page.mouse.move(5, 5)
    page.locator("svg.graph.calm").wait_for()
    longer.focus()
    assert page.locator("svg.graph .edge.bright").count() == 2
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "forbid both ways").click)
    page.locator("#whatif-body .paths button").filter(has_text="vectors").wait_for(state="detached")


@pytest.mark.thorough
def test_what_is_missing_is_asked_for_and_what_is_not_there_is_said(bench):
    page = bench("marks")
    show = page.locator("#whatif-body").get_by_role("button", name="show")
    show.click()
    assert "Choose the variable" in page.locator("#whatif-body [role=alert]").inner_text()
    pick(page, "#what-if-cause", "algebra")
    page.get_by_label("By how much").fill("0")
    show.click()
    assert "other than 0" in page.locator("#whatif-body [role=alert]").inner_text()
    page.get_by_label("By how much").fill("1")
    pick(page, "#effect-from", "mechanics")
    pick(page, "#effect-to", "algebra")
    page.get_by_text("No directed path leads from mechanics to algebra").wait_for()
    pick(page, "#effect-to", "mechanics")
    page.get_by_text("Choose two different variables.").wait_for()
    answered(page, lambda: page.locator("#settings-body").get_by_text("pc", exact=True).first.click())
    show.click()
    assert "leaves directions open" in page.locator("#whatif-body [role=alert]").inner_text()  # of a class


@pytest.mark.thorough
def test_the_card_of_a_variable_has_intervals(bench, fit):
    page = bench("marks")
    choose_variable(page, "algebra")
    page.locator("#card .effects td").filter(has_text=" to ").first.wait_for()
    rows = page.locator("#card .effects tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    effects = ordag.effects(fit, interval="given-graph")
    assert len(rows) == 4
    for name, total, interval in rows:
        effect = effects.of("algebra", name)
        found = [read(total), *(read(end) for end in interval.split(" to "))]
        assert found == pytest.approx([effect.estimate, effect.low, effect.high], rel=6e-3)
