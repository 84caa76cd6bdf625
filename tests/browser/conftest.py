"""One browser for all tests of pages, and reports on disk to open in it."""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest
from pages import OPTIONS, fit_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """From the name of a fit to the address of its report."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def address(name):
        path = folder / f"{name}.html"
        fit_of(name).report(path, **OPTIONS.get(name, {}))
        return path.as_uri()

    return address


def program():
    return next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser():
    """Chromium, by playwright; without them these tests are skipped, or with ORDAG_BROWSER=required fail."""
    required = os.environ.get("ORDAG_BROWSER") == "required"
    refuse = pytest.fail if required else pytest.skip
    if program() is None:
        refuse(
            "There is no Chromium on this machine: pages are tested in one. Install it (Debian: apt-get install chromium)."
        )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        refuse("playwright is not installed: pip install 'ordag[test]' brings it.")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Watched:
    """A page that remembers what should not happen: messages, errors, requests for anything but itself."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.address = ""

    def _asked(self, url):
        if url.split("#")[0] != self.address and not url.startswith("data:"):
            self.troubles.append(f"request: {url}")

    def open(self, address):
        self.address = address
        self.page.goto(address)
        self.page.locator("#again-body code").wait_for()
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


@pytest.fixture
def opened(watched, reports):
    """Open the report of a fit."""
    return lambda name, **options: watched(**options).open(reports(name))
