"""What a person does in a page of the workbench, and what they see."""

from __future__ import annotations

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
