"""Many changes at fifty variables, as soon as they are answered: no error, and memory that stays within bounds.

`python -m benchmarks workbench` has fifty changes a second for half a minute.
"""

from __future__ import annotations

import math

import pytest
from budgets import tries

from benchmarks.workbench import loaded

pytestmark = pytest.mark.system

CHANGES = len(tries(20, 100))
FILLED = 96 * 2**20
"""Bytes at most by which the tables of other columns and units that are kept become more meanwhile."""


@pytest.mark.thorough
def test_many_changes_at_once():
    found = loaded(CHANGES, math.inf)
    assert found.errors == []
    assert len(found.took) == CHANGES
    assert found.memory[-1] < found.memory[0] + FILLED
