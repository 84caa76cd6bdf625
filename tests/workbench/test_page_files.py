"""Files of the workbench: the whole state saved and opened again, exports, and what to type for the same answer."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest
from browser.pages import HOSTILE, sparse
from hands import action, answered, arrows, choose_arrow, choose_variable

import ordag
from ordag.common.words import shown
from ordag.data.datasets import DATASETS

pytestmark = pytest.mark.system


def saved(page):
    with page.expect_download() as got:
        page.get_by_role("button", name="save", exact=True).click()
    return got.value


def load(page, path, wait="#bench[aria-busy=false]"):
    page.locator("#files input[type=file]").first.set_input_files(path)
    page.locator(wait).first.wait_for()


def changed(page):
    """The marks with one arrow turned, a column left out, and the matrix to look at."""
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "reverse").click)
    choose_variable(page, "mechanics")
    answered(page, action(page, "leave this column out").click)
    page.get_by_role("tab", name="matrix").click()
    return arrows(page)


@pytest.mark.thorough
def test_a_saved_state_opens_again_in_another_tab(bench, tmp_path):
    page = bench("marks")
    found = changed(page)
    got = saved(page)
    assert got.suggested_filename == "marks.ordag.json"
    state = json.loads(got.path().read_text())
    assert state["knowledge"]["required"] == [["vectors", "algebra"]]
    assert "mechanics" not in state["columns"]
    assert state["view"]["look"] == "matrix"
    path = tmp_path / "marks.ordag.json"
    got.save_as(path)
    other = bench()
    load(other, path, "#arrows-body tbody tr")
    assert arrows(other) == found
    assert other.get_by_role("tab", name="matrix").get_attribute("aria-selected") == "true"
    assert saved(other).path().read_text() == path.read_text()


@pytest.mark.thorough
def test_the_table_of_a_saved_state_is_asked_for(bench, tmp_path):
    marks = tmp_path / "grades.csv"
    marks.write_bytes(DATASETS["marks"].path.read_bytes())
    page = bench(marks)
    found = changed(page)
    path = tmp_path / "grades.ordag.json"
    saved(page).save_as(path)
    other = bench()
    load(other, path, "#files-told:not([hidden])")
    said = other.locator("#files-told").inner_text()
    assert "grades.csv" in said
    assert "88 rows" in said
    assert "mechanics" in said
    other.locator("#files input[type=file]").nth(1).set_input_files(marks)
    other.locator("#arrows-body tbody tr").first.wait_for()
    assert arrows(other) == found
    assert other.locator("#files-told").is_hidden()


@pytest.mark.thorough
def test_without_a_table_a_state_asks_for_its_own_even_if_it_says_little_about_it(bench, tmp_path):
    path = tmp_path / "little.ordag.json"
    path.write_text('{"format": "ordag-workbench", "version": 1, "data": {"names": ["a", "b"]}}')
    page = bench()
    load(page, path, "#files-told:not([hidden])")
    assert "about the table without a name" in page.locator("#files-told").inner_text()


@pytest.mark.thorough
def test_another_table_can_take_a_state_with_its_columns(bench, tmp_path):
    first, second, third = (tmp_path / name for name in ("first.csv", "second.csv", "third.csv"))
    data = DATASETS["marks"].path.read_text().splitlines(keepends=True)
    first.write_text("".join(data[:61]))
    second.write_text("".join(data))
    third.write_text("a,b\n2,2\n1,1\n3,5\n4,4\n5,7\n6,5\n7,9\n8,7\n9,8\n10,12\n")
    page = bench(first)
    changed(page)
    path = tmp_path / "first.ordag.json"
    saved(page).save_as(path)
    other = bench("marks")
    load(other, path, "#files-told:not([hidden])")
    other.locator("#files input[type=file]").nth(1).set_input_files(third)
    other.get_by_text("It lacks 5 columns").wait_for()
    load(other, path, "#files-told:not([hidden])")
    other.locator("#files input[type=file]").nth(1).set_input_files(second)
    other.get_by_role("button", name="use the state with it anyway").click()
    other.locator("#files-told[hidden]").wait_for(state="attached")
    assert not [pair for pair in arrows(other) if "mechanics" in pair]
    assert ("vectors", "algebra") in arrows(other)


NO_STATES = [
    ("no json", "not JSON"),
    ('{"a": 1}', "not a saved workbench"),
    ("[" * 5000 + "]" * 5000, "not a saved workbench"),
    ('{"format": "ordag-workbench", "version": 9, "data": {"names": []}}', "later version"),
    (
        '{"format": "ordag-workbench", "version": 1, "data": {"names": ["<img src=x onerror=alert(1)>"], "name": "<b>x", "rows": 3}}',
        "<img src=x…",
    ),
    (
        '{"format": "ordag-workbench", "version": 1, "data": {"names": ["a"], "builtin": "../etc/passwd"}}',
        "passwd",
    ),
    (
        '{"format": "ordag-workbench", "version": 1, "data": {"names": ["a"], "builtin": "marks"}, "method": "magic"}',
        "magic",
    ),
]
"""Files that are none of the workbench's, and what is said of each."""


def test_a_file_that_is_no_state_is_refused_in_words(bench, tmp_path):
    page = bench("marks")
    before = arrows(page)
    path = tmp_path / "strange.json"
    for text, said in NO_STATES:
        path.write_text(text)
        load(page, path, "#files-told:not([hidden])")
        assert said in page.locator("#files-told").inner_text()
        assert page.locator("#files-told img, #files-told b").count() == 0
        assert arrows(page) == before
        page.locator("#files-told").get_by_role("button", name="Close").click()
        assert page.locator("#files-told").is_hidden()


def exported(page, form):
    page.locator("#files summary").click()
    with page.expect_download() as got:
        page.locator(f'#files [data-form="{form}"]').click()
    assert not page.locator("#files details").evaluate("one => one.open")
    return got.value


@pytest.mark.thorough
def test_exports_have_the_graph_that_is_shown(bench):
    page = bench("marks")
    choose_arrow(page, "algebra", "vectors")
    answered(page, action(page, "reverse").click)
    found = arrows(page)
    got = exported(page, ".gml")
    assert got.suggested_filename == "marks.gml"
    assert set(ordag.Dag.parse(got.path().read_text(), "gml").directed) == found
    got = exported(page, "knowledge")
    assert ordag.Knowledge.from_text(got.path().read_text()).required == (("vectors", "algebra"),)
    got = exported(page, "report")
    assert got.suggested_filename.endswith(".html")
    assert "<!DOCTYPE html>" in got.path().read_text()


@pytest.mark.thorough
def test_every_form_comes_out(bench):
    page = bench("marks")
    page.locator("#files summary").click()
    forms = page.locator("#files [data-form]").evaluate_all("all => all.map(one => one.dataset.form)")
    page.keyboard.press("Escape")
    assert {".dot", ".json", "python", "command", "report", "knowledge"} <= set(forms)
    for form in forms:
        assert exported(page, form).path().stat().st_size > 0 or form == "knowledge"


@pytest.mark.thorough
def test_the_python_code_gives_exactly_this_answer(bench, tmp_path, monkeypatch):
    page = bench("marks", permissions=["clipboard-read", "clipboard-write"])
    found = changed(page)
    code = exported(page, "python").path().read_text()
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "again.py", "exec"), names)
    assert {tuple(map(shown, edge)) for edge in names["fit"].graph.directed} == found
    page.locator("#again-body button").nth(1).click()
    page.locator("#live").get_by_text("copied").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()").strip() == code.strip()


def test_the_command_line_gives_exactly_this_answer(bench, run, tmp_path):
    page = bench("marks")
    found = changed(page)
    known = exported(page, "knowledge")
    known.save_as(tmp_path / known.suggested_filename)
    words = shlex.split(exported(page, "command").path().read_text())
    assert words[:2] == ["ordag", "learn"]
    assert known.suggested_filename in words
    status, out, err = run(*words[1:], "--no-check", "--json")
    assert status == 0, err
    assert {(edge["source"], edge["target"]) for edge in json.loads(out)["edges"]} == found


@pytest.mark.thorough
def test_names_that_are_hard_to_write_survive_saving(bench, tmp_path):
    path = tmp_path / "hard.csv"
    pd.DataFrame(sparse(8, 500, 4.0, 5), columns=[*HOSTILE[1:], HOSTILE[0]]).to_csv(path, index=False)
    page = bench(path)
    choose_variable(page, "alert")
    answered(page, action(page, "root").click)
    found = arrows(page)
    file = tmp_path / "hard.ordag.json"
    saved(page).save_as(file)
    answered(page, page.locator("#undo").click)
    with page.expect_response(lambda response: response.url.endswith("api/answer")):
        load(page, file)
    page.locator("#bench[aria-busy=false]").wait_for()
    assert arrows(page) == found
