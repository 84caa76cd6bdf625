"""What is known beforehand, said in the page: by the card, by tiers, by the form, from a file; and what contradicts itself."""

from __future__ import annotations

import pandas as pd
import pytest
from browser.pages import HOSTILE, sparse
from hands import action, answered, arrows, choose_arrow, choose_variable, method

import ordag
from ordag.common.words import shown

pytestmark = pytest.mark.system


def learned(method="auto", **knowledge):
    fit = ordag.learn("marks", method, knowledge=knowledge)
    return {tuple(map(shown, edge)) for edge in fit.graph.directed}


def by_cvs(**knowledge):
    return learned("cvs", **knowledge)


@pytest.fixture
def page(bench):
    """The marks learned by cvs, which is quick."""
    opened = bench("marks")
    method(opened, "cvs")
    return opened


def test_an_arrow_is_turned_round_and_back_forbidden_and_allowed_again(page):
    before = arrows(page)
    assert before == by_cvs()
    choose_arrow(page, "algebra", "vectors")
    assert answered(page, action(page, "reverse").click)
    assert arrows(page) == by_cvs(required=[("vectors", "algebra")])
    assert ("vectors", "algebra") in arrows(page)
    assert "vectors → algebra" in page.locator("#knowledge-body .said").inner_text()
    assert "knowledge" in page.locator("#arrows-body tbody tr").filter(has_text="vectors").first.text_content()
    by_knowledge = page.locator("#arrows-body tbody tr").filter(has_text="knowledge").count()
    page.get_by_role("tab", name="graph").click()
    assert page.locator("svg.graph .edge .known").count() == by_knowledge > 0
    assert action(page, "require").get_attribute("aria-pressed") == "true"
    answered(page, page.locator("#undo").click)
    assert arrows(page) == before
    assert page.locator("#knowledge-body .said li").count() == 0
    answered(page, page.locator("#redo").click)
    assert ("vectors", "algebra") in arrows(page)
    answered(page, page.locator("#undo").click)
    choose_arrow(page, "algebra", "analysis")
    answered(page, action(page, "forbid both ways").click)
    both = [("algebra", "analysis"), ("analysis", "algebra")]
    assert arrows(page) == by_cvs(forbidden=both)
    assert not set(both) & arrows(page)
    assert "is forbidden" in page.locator("#card").inner_text()
    assert page.locator("#told").inner_text().startswith("a")  # a name keeps its own letter
    answered(page, action(page, "forbid both ways").click)
    assert arrows(page) == by_cvs()


@pytest.mark.thorough
def test_a_pair_that_is_not_joined_can_be_required(bench):
    page = bench("marks")
    page.get_by_role("tab", name="matrix").click()
    canvas = page.locator("#drawing canvas")
    canvas.focus()
    place = page.evaluate("document.querySelector('#drawing canvas').getAttribute('aria-label')")
    assert "Arrow keys" in place
    joined = arrows(page)
    names = ["mechanics", "vectors", "algebra", "analysis", "statistics"]
    free = next((a, b) for a in names for b in names if a < b and not {(a, b), (b, a)} & joined)
    choose_by_cell(page, *free)
    answered(page, page.locator("#card .actions button").first.click)
    assert set(arrows(page)) & {free, free[::-1]}


def choose_by_cell(page, a, b):
    """Walk through the cells of the matrix with the keyboard until the two are read out."""
    for _ in range(5):
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
    for _ in range(5):
        for _ in range(5):
            said = page.locator("#drawing .readout").inner_text()
            if a in said and b in said:
                page.keyboard.press("Enter")
                page.locator("#card h3").filter(has_text=a).wait_for()
                return
            page.keyboard.press("ArrowRight")
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"no cell for {a} and {b}")


@pytest.mark.thorough
def test_a_variable_is_made_a_root_and_left_out(bench):
    page = bench("marks")
    choose_variable(page, "statistics")
    answered(page, action(page, "root").click)
    assert arrows(page) == learned(roots=["statistics"])
    assert not [pair for pair in arrows(page) if pair[1] == "statistics"]
    answered(page, action(page, "leave this column out").click)
    assert not [pair for pair in arrows(page) if "statistics" in pair]
    assert "left out" in page.locator("#knowledge-body .said").inner_text()
    answered(page, page.locator("#undo").click)
    assert arrows(page) == learned(roots=["statistics"])


def test_a_contradiction_is_said_and_not_applied(page):
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "reverse").click)
    before = arrows(page)
    page.select_option("#knowledge-body select", "roots")
    page.fill("#known-first", "algebra")
    page.keyboard.press("Enter")
    assert not answered(page, page.locator("#knowledge-body").get_by_role("button", name="add").click)
    said = page.locator("#knowledge-body [role=alert]")
    said.wait_for()
    assert "vectors → algebra is required, but algebra is a root" in said.inner_text()
    assert page.locator("#refused").is_hidden()  # once is enough
    assert arrows(page) == before
    assert page.locator("#knowledge-body .said li").count() == 1
    answered(page, page.locator("#undo").click)
    assert page.locator("#knowledge-body [role=alert]").count() == 0 or not said.is_visible()


@pytest.mark.thorough
def test_the_form_adds_with_the_keyboard_alone(bench):
    page = bench("marks")
    page.locator("#knowledge-body select").focus()
    page.keyboard.press("Tab")
    page.keyboard.type("stat")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("alg")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    answered(page, lambda: page.keyboard.press("Enter"))
    assert arrows(page) == learned(required=[("statistics", "algebra")])
    answered(page, page.get_by_role("button", name="Remove: required statistics → algebra").click)
    assert arrows(page) == learned()


@pytest.mark.thorough
def test_enter_in_a_field_chooses_and_adds_nothing(bench):
    page = bench("marks")
    form = page.locator("#knowledge-body form")
    complaint = page.locator("#knowledge-body [role=alert]")
    page.locator("#known-first").focus()
    page.keyboard.type("alg")
    page.keyboard.press("Enter")
    assert page.input_value("#known-first") == "algebra"
    assert complaint.is_hidden()
    form.get_by_role("button", name="add").click()
    assert "Choose both variables" in complaint.inner_text()
    page.locator("#known-second").focus()
    page.keyboard.type("alg")
    page.keyboard.press("Enter")
    assert not answered(page, form.get_by_role("button", name="add").click)
    complaint.wait_for()
    page.locator("#known-first").focus()
    page.keyboard.type("mech")
    page.keyboard.press("Enter")
    assert page.input_value("#known-first") == "mechanics"
    assert page.locator("#knowledge-body .said li").count() == 0
    answered(page, lambda: page.keyboard.press("Enter"))  # nothing is left to choose: the form is sent
    assert arrows(page) == learned(required=[("mechanics", "algebra")])


@pytest.mark.thorough
def test_the_focus_stays_where_something_was_pressed(bench):
    page = bench("marks")
    choose_variable(page, "statistics")
    action(page, "root").focus()
    answered(page, lambda: page.keyboard.press("Enter"))
    page.locator("#card .actions button:focus", has_text="root").wait_for()
    choose_arrow(page, "algebra", "vectors")
    action(page, "require").focus()
    answered(page, lambda: page.keyboard.press("Enter"))
    page.locator("#card .actions button:focus", has_text="require").wait_for()
    page.get_by_role("button", name="Remove: required algebra → vectors").focus()
    answered(page, lambda: page.keyboard.press("Enter"))
    page.locator("[aria-label='Remove: root statistics']:focus").wait_for()
    answered(page, lambda: page.keyboard.press("Enter"))
    page.locator("#knowledge-body form select:focus").wait_for()


def chip(page, name):
    return page.locator(f'#knowledge-body .tiers [data-name="{name}"]')


def test_variables_are_dragged_into_tiers(page):
    answered(page, lambda: chip(page, "analysis").drag_to(page.locator(".tier.new")))
    assert page.locator(".tier[data-zone='tier 0']").inner_text().split() == ["1", "analysis"]
    chip(page, "statistics").hover()
    page.mouse.down()
    page.mouse.move(*middle(page.locator(".tier[data-zone='tier 0']")))
    page.locator(".ghost").wait_for()
    page.locator(".gap[data-zone='gap 1']").wait_for()
    page.mouse.move(*middle(page.locator(".gap[data-zone='gap 1']")))
    answered(page, page.mouse.up)
    assert page.locator(".ghost").count() == 0
    assert page.locator(".tier[data-zone='tier 1']").inner_text().split() == ["2", "statistics"]
    assert arrows(page) == by_cvs(tiers=[["analysis"], ["statistics"]])
    assert page.locator("#told").inner_text().startswith("statistics to a new tier.")


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.thorough
def test_a_variable_is_dragged_from_the_graph_into_a_tier(bench):
    page = bench("marks")
    page.get_by_role("tab", name="graph").click()
    node = page.locator("svg.graph .node[aria-label='statistics']")
    place = node.get_attribute("transform")
    page.locator(".tier.new").scroll_into_view_if_needed()
    node.hover()
    page.mouse.down()
    page.mouse.move(*middle(page.locator(".tier.new")), steps=5)
    answered(page, page.mouse.up)
    assert arrows(page) == learned(tiers=[["statistics"]])
    assert page.locator("svg.graph .node[aria-label='statistics']").get_attribute("transform") == place


def test_tiers_by_the_keyboard_for_several_at_once_and_from_the_card(page):
    chip(page, "statistics").focus()
    answered(page, lambda: page.keyboard.press("ArrowUp"))
    page.locator("[data-name=statistics]:focus").wait_for()
    chip(page, "algebra").focus()
    answered(page, lambda: page.keyboard.press("ArrowUp"))
    page.locator("[data-name=algebra]:focus").wait_for()
    assert arrows(page) == by_cvs(tiers=[["algebra", "statistics"]])
    answered(page, lambda: page.keyboard.press("ArrowDown"))
    assert arrows(page) == by_cvs(tiers=[["statistics"], ["algebra"]])
    page.locator("[data-name=algebra]:focus").wait_for()
    answered(page, lambda: page.keyboard.press("Delete"))
    assert arrows(page) == by_cvs(tiers=[["statistics"]])
    answered(page, page.get_by_role("button", name="remove all").click)
    for name in ("mechanics", "vectors"):
        chip(page, name).focus()
        page.keyboard.press("Space")
    assert "2 variables selected" in page.locator(".moves").inner_text()
    answered(page, page.get_by_role("button", name="a first tier").click)
    assert arrows(page) == by_cvs(tiers=[["mechanics", "vectors"]])
    assert page.locator(".moves").is_hidden()
    page.locator("[data-name=mechanics]:focus").wait_for()
    answered(page, page.get_by_role("button", name="remove all").click)
    choose_variable(page, "vectors")
    answered(page, lambda: page.locator("#card select").select_option(label="a first tier"))
    assert arrows(page) == by_cvs(tiers=[["vectors"]])
    assert page.locator("#card select option:checked").inner_text() == "tier 1"


def test_knowledge_files_go_in_and_out(page, tmp_path):
    file = tmp_path / "known.txt"
    file.write_text("tiers: vectors | algebra\nforbidden: algebra -> analysis\n")
    known = {"tiers": [["vectors"], ["algebra"]], "forbidden": [("algebra", "analysis")]}
    answered(page, lambda: page.locator("#knowledge-body input[type=file]").set_input_files(file))
    assert arrows(page) == by_cvs(**known)
    with page.expect_download() as got:
        page.get_by_role("button", name="save as a file").click()
    saved = ordag.Knowledge.read(got.value.path())
    assert saved == ordag.Knowledge(**known)
    file.write_text("roots algebra\n")
    page.locator("#knowledge-body input[type=file]").set_input_files(file)
    page.locator("#knowledge-body [role=alert]").wait_for()
    assert "line 1" in page.locator("#knowledge-body [role=alert]").inner_text()
    assert arrows(page) == by_cvs(**known)
    answered(page, page.get_by_role("button", name="remove all").click)
    assert arrows(page) == by_cvs()


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "hostile <b>table.csv"
    pd.DataFrame(sparse(8, 500, 4.0, 5), columns=[*HOSTILE[1:], HOSTILE[0]]).to_csv(path, index=False)
    return path


@pytest.mark.thorough
def test_names_with_markup_are_names(bench, hostile):
    page = bench(hostile)
    name = HOSTILE[0]
    choose_variable(page, "alert")
    answered(page, action(page, "sink").click)
    assert page.locator("#knowledge-body .said li").all_inner_texts() == [f"sink\n{name}\n×"]
    page.locator("#knowledge-body .tiers .chip").first.wait_for()
    assert page.locator("#knowledge-body script, #card script, #knowledge-body b b").count() == 0
    fit = ordag.learn(hostile, knowledge={"sinks": [name]})
    assert arrows(page) == {tuple(map(shown, edge)) for edge in fit.graph.directed}
