"""Fifty changes a second at fifty variables: no error, and memory that stays within bounds.

This is the short form; `python -m benchmarks workbench` has the half minute.
"""

from __future__ import annotations

from benchmarks.workbench import RATE, loaded

SECONDS = 8
FILLED = 96 * 2**20
"""Bytes at most by which the tables of other columns and units that are kept become more meanwhile."""


def test_fifty_changes_a_second(capsys):
    found = loaded(SECONDS)
    with capsys.disabled():
        print(f"\n{found.sentence}")
    assert found.errors == []
    assert len(found.took) == SECONDS * RATE
    assert found.memory[-1] < found.memory[0] + FILLED
