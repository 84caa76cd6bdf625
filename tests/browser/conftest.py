"""One browser for all tests of pages, and reports on disk to open in it."""

from __future__ import annotations

import os
import shutil
from functools import cache

import numpy as np
import pandas as pd
import pytest

import ordag

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

HOSTILE = [
    "<script>alert(1)</script>", "\"quotes\" & 'apostrophes'", "😀 👩‍👩‍👧", "\u202egnp.exe", "عمر الطفل", "x" * 300, "</script><b>",
    "two\nlines",
]  # fmt: skip


@cache
def sparse(p, n, degree=2.0, seed=1):
    """Rows of a sparse model with error variances of one."""
    random = np.random.default_rng(seed)
    B = np.triu(
        (random.random((p, p)) < degree / p) * random.uniform(0.4, 1.0, (p, p)) * random.choice([-1, 1], (p, p)), 1
    )
    X = random.standard_normal((n, p)) @ np.linalg.inv(np.eye(p) - B)
    return X[:, random.permutation(p)]


def table(p, n, **more):
    return pd.DataFrame(sparse(p, n, **more), columns=[f"v{j:03d}" for j in range(p)])


FITS = {
    "marks": lambda: ordag.learn("marks", "cvs", alpha=0.05),
    "pooled": lambda: ordag.learn("marks", bootstrap=20, seed=1, workers=1),
    "dense": lambda: ordag.learn(table(20, 2000, degree=16.0, seed=3), "cvs"),
    "large": lambda: ordag.learn(table(300, 1500), "cvs", correction="bh", alpha=0.05),
    "hostile": lambda: ordag.learn(pd.DataFrame(sparse(8, 500, 4.0, 5), columns=HOSTILE), "cvs", alpha=0.05),
    "class": lambda: ordag.learn("marks", "pc"),
    "empty": lambda: ordag.learn(np.random.default_rng(0).standard_normal((200, 6)), "cvs", correction="bonferroni"),
}
OPTIONS = {"marks": {"data": "marks", "compare": ("pc", "ges")}, "pooled": {"check": False}, "dense": {"check": False}}


@cache
def fit_of(name):
    return FITS[name]()


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


@pytest.fixture(scope="session")
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
