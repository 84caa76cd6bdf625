"""Settings, columns and places on a page of the workbench, beside what `hands` has."""

from __future__ import annotations

import re

from hands import answered


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
