"""A workbench without a table: built-in tables, files that are chosen or dropped, files that cannot be read, and another table later."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from browser.pages import sparse
from hands import arrows, method, rescale, stopped
from playwright.sync_api import expect

import ordag

pytestmark = pytest.mark.system

DROP = """([name, text]) => {
    const given = new DataTransfer();
    given.items.add(new File([text], name));
    for (const kind of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: given, bubbles: true, cancelable: true }));
}"""


def rows(seed=5):
    return pd.DataFrame(sparse(5, 200, 2.0, seed), columns=list("abcde"))


def opened(page):
    page.locator("#again-body code").wait_for()
    return arrows(page)


def test_a_built_in_table_then_a_file_then_another_that_is_dropped(bench, tmp_path):
    page = bench()
    assert "stays on this computer" in page.locator("#welcome").inner_text()
    page.get_by_role("button", name="dark colours").click()
    page.locator(".offer", has_text="marks").click()
    assert opened(page) == set(ordag.learn("marks").graph.directed)
    expect(page.locator("#table")).to_have_text("marks")
    page.evaluate(DROP, ["new.csv", rows().to_csv(index=False)])
    expect(page.locator("#table")).to_have_text("new.csv")
    found = set(ordag.learn(rows()).graph.directed)
    assert arrows(page) == found
    assert page.locator("#columns .column").count() == 5
    assert page.locator("#undo").is_disabled()
    page.evaluate(DROP, ["bad.csv", "a,b\nx,y\n"])
    expect(page.locator("#welcome .warning")).to_be_visible()
    page.get_by_role("button", name="back to the graph").click()
    expect(page.locator("#bench")).to_be_visible()
    assert arrows(page) == found


def test_the_first_graph_need_not_be_waited_for(watched, serving):
    one = watched()
    one.page.route("**/api/answer", lambda route: None)
    page = one.open(serving("marks"), "#waiting button")
    page.locator("#waiting").get_by_role("button", name="stop").click()
    expect(page.locator("#welcome .drop")).to_be_visible()
    expect(page.locator("#waiting")).to_be_hidden()
    page.unroute_all(behavior="ignoreErrors")
    page.locator(".offer", has_text="marks").click()
    assert opened(page) == set(ordag.learn("marks").graph.directed)


@pytest.mark.thorough
def test_a_table_that_comes_with_the_frame_of_the_one_before_has_its_own_list(watched, serving):
    one = watched()
    one.page.clock.install()
    page = one.open(serving("marks"))
    method(page, "cvs")
    stopped(page)
    page.get_by_role("radio", name="pc", exact=True).click()
    expect(page.locator("#told")).to_contain_text("Method pc.")  # and the list of arrows waits for the next frame
    page.evaluate(DROP, ["new.csv", rows().to_csv(index=False)])
    expect(page.locator("#table")).to_have_text("new.csv")
    page.clock.run_for(1000)
    assert arrows(page) == set(ordag.learn(rows()).graph.directed)
    method(page, "cvs")
    rescale(page, "c", "×100")
    now = set(ordag.learn(rows(), "cvs", transform={"c": 100}).graph.directed)
    assert arrows(page) == now != set(ordag.learn(rows(), "cvs").graph.directed)


def reloaded(page):
    page.reload()
    return opened(page)


@pytest.mark.thorough
def test_a_reload_brings_back_what_was_chosen(bench):
    page, other = bench("marks"), bench("marks")
    method(page, "cvs")
    rescale(page, "algebra", "×100")
    page.keyboard.press("m")
    found = arrows(page)
    assert reloaded(page) == found
    expect(page.locator("#told")).to_contain_text("choices from before the reload are back")
    expect(page.get_by_role("radio", name="cvs")).to_be_checked()
    assert page.get_by_role("tab", name="matrix").get_attribute("aria-selected") == "true"
    assert page.locator("#undo").is_disabled()
    page.goto("about:blank")
    page.go_back()
    assert opened(page) == found
    assert reloaded(other) == set(ordag.learn("marks").graph.directed)
    expect(other.locator("#told")).to_have_text("")


@pytest.mark.thorough
def test_a_reload_brings_back_a_table_that_was_dropped(bench):
    page = bench()
    page.evaluate(DROP, ["new.csv", rows().to_csv(index=False)])
    opened(page)
    method(page, "cvs")
    assert reloaded(page) == set(ordag.learn(rows(), "cvs").graph.directed)
    expect(page.locator("#table")).to_have_text("new.csv")


@pytest.mark.thorough
def test_without_storage_a_reload_begins_anew(watched, serving):
    one = watched()
    one.page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    page = one.open(serving("marks"))
    method(page, "cvs")
    assert reloaded(page) == set(ordag.learn("marks").graph.directed)
    expect(page.get_by_role("radio", name="auto")).to_be_checked()


def test_files_are_chosen_and_what_cannot_be_read_is_said_in_place(bench, tmp_path):
    page = bench()
    for name, body, words in (("empty.csv", b"", "empty"), ("page.parquet", b"no parquet", "page.parquet")):
        (tmp_path / name).write_bytes(body)
        page.set_input_files("#file", tmp_path / name)
        expect(page.locator("#welcome .warning")).to_contain_text(words)
    for name, write in (("t.parquet", pd.DataFrame.to_parquet), ("t.feather", pd.DataFrame.to_feather)):
        write(rows(7), tmp_path / name)
    page.set_input_files("#file", tmp_path / "t.feather")
    assert opened(page) == set(ordag.learn(rows(7)).graph.directed)


@pytest.mark.thorough
def test_files_beyond_the_limit_are_not_sent(watched, serving, tmp_path):
    one = watched()
    one.page.route("**/api/start", of_a_megabyte)
    page = one.open(serving(), "#welcome .drop")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    (tmp_path / "large.csv").write_bytes(b"a,b\n" + b"1,2\n" * 300_000)
    page.set_input_files("#file", tmp_path / "large.csv")
    expect(page.locator("#welcome .warning")).to_contain_text("--most-mb")
    assert not [url for url in asked if url.endswith("api/data")]


def untidy(rows):
    """The table as another program may write it: with a column with an infinite value, and a value missing."""
    return rows.assign(who=np.where(rows.index == 2, np.inf, rows["a"] ** 2), b=rows["b"].where(rows.index != 3))


def test_a_table_that_was_refused_is_read_as_the_page_offers(bench):
    page = bench()
    page.evaluate(DROP, ["untidy.csv", untidy(rows()).to_csv(index=False)])
    expect(page.locator("#welcome .warning")).to_contain_text("Infinite values in who (1 row)")
    page.get_by_role("button", name="go on without who").click()
    assert opened(page) == set(ordag.learn(untidy(rows()), columns=list("abcde")).graph.directed)
    assert "--drop who" in page.locator("#again-body").text_content()


@pytest.mark.thorough
def test_so_is_the_table_of_the_command_line(bench, watched, serving, tmp_path):
    path = tmp_path / "untidy.csv"
    untidy(rows()).to_csv(path, index=False)
    page = watched().open(serving(path), "#welcome .drop")
    page.get_by_role("button", name="go on without who").click()
    found = opened(page)
    page.reload()
    assert opened(page) == found


@pytest.mark.thorough
def test_a_file_that_takes_long_does_not_replace_a_later_one(bench):
    page = bench()
    held = []
    page.route("**/api/data", lambda route: held.append(route) if not held else route.continue_())
    with page.expect_request("**/api/data"):
        page.evaluate(DROP, ["old.csv", rows(1).to_csv(index=False)])
    with page.expect_response(lambda response: response.url.endswith("api/answer")):
        page.evaluate(DROP, ["new.csv", rows(2).to_csv(index=False)])
    expect(page.locator("#table")).to_have_text("new.csv")
    assert held[0].request.failure is not None  # given up


def of_a_megabyte(route):
    """What a server that takes files of up to a megabyte says at first."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "most_bytes": 2**20})
