"""Fixtures for the tests of several methods."""

from __future__ import annotations

import pytest
from compiling import as_it_stands

from ordag.learners.order_search import kernel as compiled_kernel
from ordag.learners.pooled import changed_fit


@pytest.fixture(scope="module")
def plain():
    """The kernel as it stands, not compiled."""
    return as_it_stands(compiled_kernel)


@pytest.fixture(scope="module")
def plain_changed_fit():
    """The sums over environments as they stand, not compiled."""
    return as_it_stands(changed_fit)
