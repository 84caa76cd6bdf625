"""Fixtures for the tests of several methods."""

from __future__ import annotations

import importlib.util

import pytest

from ordag.learners.order_search import kernel as compiled_kernel
from ordag.learners.pooled import changed_fit


def as_it_stands(module):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDAG_COMPILED", "0")
        spec = importlib.util.spec_from_file_location("plain", module.__file__)
        plain = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plain)
    return plain


@pytest.fixture(scope="module")
def plain():
    """The kernel as it stands, not compiled."""
    return as_it_stands(compiled_kernel)


@pytest.fixture(scope="module")
def plain_changed_fit():
    """The sums over environments as they stand, not compiled."""
    return as_it_stands(changed_fit)
