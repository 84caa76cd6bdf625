"""One browser for all tests of pages, and pages that remember what should not happen in them.

The conftest of all tests has both: there can be one browser in a process.
"""

from __future__ import annotations

import os
import re
import shutil

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

EXPECTED = re.compile("responded with a status of 4(04|13|22)|net::ERR_ABORTED")
"""What browsers write down themselves when a server refuses something in words, or when nobody waits for an answer any more."""

PATIENCE = 120_000
"""Milliseconds: no test is about time, and the machine may have other things to do."""


def program():
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser():
    """Chromium, by playwright; without them these tests are skipped, but fail in CI or with ORDAG_BROWSER=required."""
    wanted = os.environ.get("ORDAG_BROWSER", "required" if os.environ.get("CI") else "")
    if wanted == "none":
        pytest.skip("ORDAG_BROWSER=none: no browser is wanted.")
    refuse = pytest.fail if wanted == "required" else pytest.skip
    if program() is None:
        refuse(
            "There is no Chromium on this machine: pages are tested in one. Install it (Debian: apt-get install chromium-headless-shell)."
        )
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        refuse("playwright is not installed: pip install 'ordag[test]' brings it.")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Watched:
    """A page that remembers what should not happen: messages, errors, requests for anything but itself and what is below it."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: self._told(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.address = ""

    def _told(self, words):
        if not EXPECTED.search(words):
            self.troubles.append(f"console: {words}")

    def _asked(self, url):
        below = self.address.startswith("http") and url.startswith((self.address, "blob:"))
        if url.split("#")[0] != self.address and not below and not url.startswith("data:"):
            self.troubles.append(f"request: {url}")

    def open(self, address, wait="#again-body code"):
        self.address = address
        self.page.goto(address)
        self.page.locator(wait).first.wait_for()
        return self.page


@pytest.fixture
def watched(browser):
    """Open pages with options of the browser; afterwards nothing must have gone wrong in any of them."""
    made = []

    def new(**options):
        made.append(Watched(browser, **options))
        return made[-1]

    yield new
    for one in made:
        one.context.close()
    assert [trouble for one in made for trouble in one.troubles] == []
