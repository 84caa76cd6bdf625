"""Reports on disk to open in a browser."""

from __future__ import annotations

from functools import cache

import pytest
from pages import OPTIONS, fit_of


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


@pytest.fixture
def opened(watched, reports):
    """Open the report of a fit."""
    return lambda name, **options: watched(**options).open(reports(name))
