"""Fifty changes a second for half a minute, at fifty variables: no error, and memory that stays within bounds."""

from __future__ import annotations

from benchmarks.workbench import RATE, SECONDS, loaded


def test_fifty_changes_a_second(capsys):
    found = loaded()
    with capsys.disabled():
        print(f"\n{found.sentence}")
    assert found.errors == []
    assert len(found.took) == SECONDS * RATE
    assert found.memory[-1] < found.memory[0] + 64 * 2**20
