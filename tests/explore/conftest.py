"""Servers of the workbench, each a process of its own as a person would start it, and pages of them in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest
from chromium import browser, watched  # noqa: F401

PATIENCE = 180_000
"""Milliseconds to wait for what must come: a busy machine is slow, and nothing here is about time."""


@pytest.fixture(scope="session")
def serving():
    """From the words after `ordag explore` to the address of a page; all servers end with the tests."""
    started = []

    @cache
    def address(*words):
        one = subprocess.Popen(
            [sys.executable, "-m", "ordag", "explore", *map(str, words), "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        started.append(one)
        found = one.stdout.readline().strip()
        assert found.startswith("http://127.0.0.1:")
        return found

    yield address
    for one in started:
        one.terminate()
    for one in started:
        one.stdout.close()
        one.wait(timeout=30)


@pytest.fixture
def bench(watched, serving):  # noqa: F811
    """Open the workbench on some data (none: the page to begin with), and wait until it is there."""

    def opened(*words, **options):
        one = watched(**{"viewport": {"width": 1280, "height": 800}, **options})
        one.page.set_default_timeout(PATIENCE)
        return one.open(serving(*words), "#again-body code" if words else "#welcome .drop")

    return opened
