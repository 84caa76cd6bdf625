"""Fixtures for the tests of several methods."""

from __future__ import annotations

import importlib.util

import pytest

from ordag.learners.order_search import kernel as compiled_kernel


@pytest.fixture(scope="module")
def plain():
    """The kernel as it stands, not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAG_COMPILED", "0")
        spec = importlib.util.spec_from_file_location("plain_kernel", compiled_kernel.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module
