"""The method and its settings in the page: every one of them gives what `learn` gives, and the graph follows a slider that is dragged."""

from __future__ import annotations

import pandas as pd
import pytest
from browser.pages import table
from hands import answered, arrows, method, setting
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system


def learned(method, data="marks", **settings):
    graph = ordag.learn(data, method, **settings).graph
    return {*graph.directed, *graph.undirected}


def test_every_method_and_setting_gives_what_learn_gives(bench):
    page = bench("marks")
    assert "chose pooled" in page.locator(".about").inner_text()
    setting(page, "units", "commensurable")
    assert arrows(page) == learned("auto", units="commensurable")
    method(page, "pc")
    assert arrows(page) == learned("pc")
    assert page.locator("#set-units").count() == 0
    setting(page, "alpha", 0.2)
    assert arrows(page) == learned("pc", alpha=0.2)
    setting(page, "orient_by_order", "class")
    assert arrows(page) == learned("pc", alpha=0.2, orient_by_order="class")
    method(page, "cvs")
    assert arrows(page) == learned("cvs", alpha=0.2)
    kept = {"alpha": 0.2, "test": "t", "direction": "backward", "correction": "bh"}
    for name in ("test", "direction", "correction"):
        setting(page, name, kept[name])
    assert arrows(page) == learned("cvs", **kept)
    setting(page, "parents", "bic")
    assert "parents='bic'" in page.locator("#refused").inner_text()
    assert page.locator("#set-parents").input_value() == "test"
    assert arrows(page) == learned("cvs", **kept)
    answered(page, page.get_by_role("button", name="reset to defaults").click)
    assert arrows(page) == learned("cvs")
    expect(page.locator("#refused")).to_be_hidden()
    assert page.locator("#usual").is_disabled()
    for name, penalty in (("ges", "ebic"), ("gds", "2")):
        method(page, name)
        setting(page, "penalty", penalty)
        assert arrows(page) == learned(name, penalty=2.0 if penalty == "2" else penalty)


@pytest.mark.thorough
def test_the_verdict_names_the_controls_of_the_page(bench, tmp_path):
    drawn = ordag.simulate("erdos-renyi", 5, 100, seed=7, degree=2, weights=(0.2, 0.5))
    pd.DataFrame(drawn.X, columns=list("abcde")).to_csv(tmp_path / "weak.csv", index=False)
    page = bench(tmp_path / "weak.csv")
    verdict = page.locator("#verdict-body")
    expect(verdict).to_contain_text("say so with units set to “can be compared” under Method")
    assert page.locator("#set-units option[value=commensurable]").inner_text() == "can be compared"
    script = """async (sentence) => {
      const { verdictInPageWords } = await import(document.baseURI + 'browser/settings.js');
      return verdictInPageWords({ found: [], aside: "", warnings: [], verdict: { sentence, help: "" } }).verdict.sentence;
    }"""
    for said, shown in {
        "Learn with cluster='x' (--cluster x).": "Learn with “ordag explore … --cluster x”.",
        "With time='d' and lags=1 (--time d --lags 1).": "With “ordag explore … --time d --lags 1”.",
        "They may agree, with kicks=500 (--kicks 500).": "They may agree, with kicks set to 500 under Method.",
        "Ask for more resamples with draws=… (--draws).": "Ask for more resamples with more draws under Method.",
        "Add it with knowledge (--knowledge), or try.": "Add it under “What you know”, or try.",
    }.items():
        assert page.evaluate(script, said) == shown
    method(page, "cvs")
    said = page.locator("#settings-body .about")
    expect(said).to_contain_text("as published with level 0.01")
    assert "--" not in verdict.inner_text() + said.inner_text() + page.locator("#sentences").inner_text()


@pytest.mark.thorough
def test_help_is_behind_a_question_mark_and_methods_are_walked_by_keys(bench):
    page = bench("marks")
    page.get_by_role("button", name="What is least effect?").focus()
    expect(page.locator("#set-min_effect-help")).to_be_visible()
    assert "standardised effect" in page.locator("#set-min_effect-help").inner_text()
    page.get_by_role("radio", name="pooled").focus()
    answered(page, lambda: page.keyboard.press("ArrowRight"))
    assert page.evaluate("document.activeElement.dataset.method") == "cvs"
    assert arrows(page) == learned("cvs")


@pytest.fixture(scope="module")
def fifty(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "fifty.csv"
    table(50, 500).to_csv(path, index=False)
    return path


@pytest.mark.thorough
def test_the_graph_follows_a_slider_at_fifty_variables(bench, fifty):
    """A drag is one step of the history. How long each change took is there for a benchmark, of the last one only."""
    page = bench(fifty)
    method(page, "cvs")
    slider = page.locator("#set-alpha")
    for place in (200, 400, 600, 800):
        answered(page, lambda place=place: slider.evaluate(
            "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input')) }", place
        ))  # fmt: skip
    slider.dispatch_event("change")
    level = float(page.locator("#set-alpha-number").input_value())
    assert arrows(page) == learned("cvs", fifty, alpha=level)
    measured = "performance.getEntriesByName('change').map(one => one.detail.words)"
    page.wait_for_function(f"{measured}.at(-1) === 'level {level}'")
    assert page.evaluate(measured) == [f"level {level}"]
    answered(page, page.locator("#undo").click)
    assert page.locator("#set-alpha-number").input_value() == "0.01"
    assert arrows(page) == learned("cvs", fifty)


def test_the_last_of_many_changes_wins(bench):
    page = bench("marks")
    method(page, "cvs")
    page.locator("#set-alpha").evaluate("""slider => {
        for (let place = 100; place <= 1000; place += 30) { slider.value = place; slider.dispatchEvent(new Event('input')) }
        slider.dispatchEvent(new Event('change'));
    }""")
    expect(page.locator("#told")).to_contain_text("Level 0.5.")
    assert arrows(page) == learned("cvs", alpha=0.5)
    answered(page, page.locator("#undo").click)
    assert arrows(page) == learned("cvs")


@pytest.fixture
def five(tmp_path):
    """A table of which no other test has had a forecast; with five columns only cvs needs one, and pooled none."""
    path = tmp_path / "five.csv"
    table(5, 300).to_csv(path, index=False)
    return path


def is_forecast(request):
    return request.url.endswith("api/verdict")


@pytest.mark.thorough
def test_the_forecast_comes_when_nothing_changes_and_a_change_ends_that_of_the_state_before(bench, five):
    """It would take time from the answer. Where the change is refused, the forecast is asked for again."""
    page = bench(five)
    page.route("**/api/verdict", lambda route: None)  # a forecast that takes for ever
    with page.expect_request(is_forecast):
        method(page, "cvs")
    expect(page.locator("#forecast")).to_have_text("estimating how often this is wrong …")
    with page.expect_event("requestfailed", is_forecast), page.expect_request(is_forecast):
        setting(page, "alpha", 0.2)
    with page.expect_event("requestfailed", is_forecast), page.expect_request(is_forecast):
        assert not setting(page, "alpha", 2)
    expect(page.locator("#forecast")).to_contain_text("estimating")
    assert arrows(page) == learned("cvs", five, alpha=0.2)
    page.unroute_all(behavior="ignoreErrors")
    setting(page, "alpha", 0.03)
    expect(page.locator("#forecast")).to_have_text("")
    assert "wrong" in page.locator("#badge").inner_text()


@pytest.fixture(scope="module")
def thirty(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "thirty.csv"
    table(30, 300).to_csv(path, index=False)
    return path


@pytest.mark.thorough
def test_a_search_that_takes_long_says_how_far_it_is_and_can_be_stopped(bench, thirty):
    """The page stays usable meanwhile, and a later change takes the place of the search."""
    page = bench(thirty)
    method(page, "gds")
    found = learned("gds", thirty)
    page.locator("#settings-body details summary").click()
    search_without_end(page)
    page.keyboard.press("m")
    assert page.locator("#drawing").get_attribute("data-look") == "matrix"
    assert arrows(page) == found
    with page.expect_event("requestfailed", lambda request: request.url.endswith("api/answer")):
        page.locator("#told button").click()
    page.locator("#bench[aria-busy=false]").wait_for()
    expect(page.locator("#set-kicks")).to_have_value("")
    assert arrows(page) == found
    search_without_end(page)
    method(page, "cvs")
    assert arrows(page) == learned("cvs", thirty)


def search_without_end(page):
    """Let GDS go on until it is stopped."""
    page.locator("#set-kicks").fill("100000000")
    page.locator("#set-kicks").press("Tab")
    expect(page.locator("#told")).to_contain_text("GDS: ")
    expect(page.locator("#told button")).to_have_text("stop")
