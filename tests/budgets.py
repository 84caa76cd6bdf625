"""How much of a test runs for every change, and how much with `make thorough`."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def thorough(*values):
    """Values of a parametrised test that run with `make thorough` only."""
    return pytest.param(*values, marks=pytest.mark.thorough)


def tries(few, many):
    """So many seeds for a change; so many with `make thorough`."""
    return range(many if THOROUGH else few)


def crossed(first, second):
    """All pairs of two lists of settings: each value at least once for every change, the other pairs with `make thorough`."""
    first, second = list(first), list(second)
    longer = max(len(first), len(second))
    diagonal = {(k % len(first), k % len(second)) for k in range(longer)}
    return [(a, b) if (i, j) in diagonal else thorough(a, b) for i, a in enumerate(first) for j, b in enumerate(second)]


whole_methods = settings(max_examples=max(1, settings.default.max_examples // 5))
"""Fewer random cases for properties in which every case learns a graph."""
