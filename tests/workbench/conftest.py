"""A workbench and servers of the workbench in this process, and pages of them in a browser."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import cache

import pytest
from asking import TOKEN, answering, caller

from ordag.workbench.tables import Tables
from ordag.workbench.workbench import Workbench

PATIENCE = 180_000
"""Milliseconds to wait for what must come: a busy machine is slow, and nothing here is about time."""


@pytest.fixture(scope="session")
def workbench():
    """A workbench without a table, for tables of up to a megabyte."""
    with closing(Workbench(Tables(2**20))) as one:
        yield one


@pytest.fixture(scope="session")
def address(workbench):
    """Where a server of that workbench answers."""
    with answering(workbench) as found:
        yield found


@pytest.fixture(scope="session")
def client(address):
    """Somebody who comes by the printed address."""
    with caller(f"{address}/{TOKEN}/") as one:
        yield one


@pytest.fixture(scope="session")
def serving():
    """From the data that `ordag explore` is given, or none, to the address of a page; all servers end with the tests."""
    with ExitStack() as open_yet:

        @cache
        def address(data=None, **reading):
            tables = Tables(2**28)
            if data is not None:
                tables.start_with(str(data), getattr(data, "name", data), reading)
            workbench = open_yet.enter_context(closing(Workbench(tables)))
            return f"{open_yet.enter_context(answering(workbench))}/{TOKEN}/"

        yield address


@pytest.fixture
def bench(watched, serving):
    """Open the workbench on some data (none: the page to begin with), and wait until it is there."""

    def opened(*data, reading=None, **options):
        one = watched(**{"viewport": {"width": 1280, "height": 800}, **options})
        one.page.set_default_timeout(PATIENCE)
        return one.open(serving(*data, **(reading or {})), "#again-body code" if data else "#welcome .drop")

    return opened
