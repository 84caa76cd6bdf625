"""What a user does in a page of the workbench, and what the page shows."""

from __future__ import annotations

import re

SETTLED = "new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 50)))"
"""What stands below the graph comes in the frame after it, or soon after that."""


def arrows(page):
    """The arrows of the graph in the page, as pairs of whole names."""
    if not getattr(page, "stopped", False):
        page.evaluate(SETTLED)
    return {
        tuple(pair)
        for pair in page.locator("#arrows-body tbody tr:not(.space)").evaluate_all(
            "rows => rows.map(row => [0, 2].map(i => { const name = row.children[i].firstChild; return name.title || name.textContent }))"
        )
    }


def choose_arrow(page, source, target):
    """Select an arrow by its row in the list."""
    rows = page.locator("#arrows-body tbody tr").filter(has_text=source).filter(has_text=target)
    rows.first.click()
    page.locator("#card h3").filter(has_text=target).wait_for()


def choose_variable(page, name):
    page.fill("#search-field", name)
    page.keyboard.press("Enter")
    page.locator("#card h3").filter(has_text=name).wait_for()


def answered(page, act):
    """Do something, and wait until the page has the answer to it; where the clock of the page was `stopped`, let it tick so far."""
    with page.expect_response(lambda response: response.url.endswith("api/answer")) as seen:
        act()
    ok = seen.value.ok
    while getattr(page, "stopped", False) and page.locator("#bench[aria-busy=true]").count():
        page.clock.run_for(20)
    page.locator("#bench[aria-busy=false]").wait_for()
    return ok


def action(page, name):
    return page.locator("#card .actions").get_by_role("button", name=name, exact=True)


def places(page):
    """Where the boxes stand, by the names that they show."""
    read = "nodes => nodes.map(node => [node.getAttribute('aria-label'), node.getAttribute('transform')])"
    return dict(page.locator("svg.graph .node").evaluate_all(read))


def camera(page):
    return page.locator("svg.graph > g").get_attribute("transform")


def drawn(page, kind=""):
    """How many edges are drawn: all that are there, or those that are marked as new, turned, gone …"""
    return page.locator(f"svg.graph .edge.{kind}" if kind else "svg.graph .edge:not(.gone)").count()


def method(page, name):
    return answered(page, page.get_by_role("radio", name=name, exact=True).click)


def setting(page, name, value):
    """Set a setting by its field or list."""
    field = page.locator(f"#set-{name}-number" if name == "alpha" else f"#set-{name}")

    def act():
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(str(value))
            field.press("Tab")

    return answered(page, act)


def column(page, name):
    """The line of a column, with what changes its unit in sight."""
    line = page.locator("#columns .column").filter(
        has=page.locator("label", has_text=re.compile(f"^{re.escape(name)}$"))
    )
    unit = line.locator(".unit")
    if unit.get_attribute("aria-expanded") != "true":
        unit.click()
    return line


def rescale(page, name, words):
    """Press one of the buttons for the unit of a column."""
    return answered(page, column(page, name).get_by_role("button", name=words, exact=True).click)


def stopped(page):
    """Stop the clock of a page that was opened with one, so that marks stay until `page.clock.run_for`."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 2)
    page.stopped = True
    return page
