"""Servers of the workbench, each a process of its own as a person would start it, and pages of them in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import cache

import httpx
import pytest
from asking import TOKEN
from chromium import browser, watched  # noqa: F401

from ordag.explore.desk import Desk
from ordag.explore.serve import listen, server
from ordag.explore.tables import Tables

PATIENCE = 180_000
"""Milliseconds to wait for what must come: a busy machine is slow, and nothing here is about time."""


@pytest.fixture(scope="session")
def desk():
    """A desk without a table, for tables of up to a megabyte."""
    one = Desk(Tables(2**20))
    yield one
    one.close()


@pytest.fixture(scope="session")
def address(desk):
    """Where a server in this process answers."""
    with listen("127.0.0.1", 0) as listening:
        answering = server(desk, TOKEN, listening)
        thread = threading.Thread(target=answering.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        answering.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def client(address):
    """Somebody who comes by the printed address."""
    with httpx.Client(base_url=f"{address}/{TOKEN}/", timeout=120) as one:
        yield one


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
