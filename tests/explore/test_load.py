"""Fifty changes a second for half a minute, at fifty variables: no error, and no memory that grows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

SECONDS, RATE, TABS = 30, 50, 4


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    B = np.triu(rng.uniform(0.3, 0.9, (50, 50)) * (rng.random((50, 50)) < 0.06), 1)
    X = rng.normal(size=(1000, 50)) @ np.linalg.inv(np.eye(50) - B)
    path = tmp_path / "fifty.csv"
    np.savetxt(path, X, delimiter=",", header=",".join(f"v{j}" for j in range(50)), comments="")
    return path


def test_fifty_changes_a_second(table, capsys):
    from load import run

    process = subprocess.Popen(
        [sys.executable, "-m", "ordag", "explore", str(table), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        found = run(process.stdout.readline().strip(), process.pid, seconds=SECONDS, rate=RATE, tabs=TABS)
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    with capsys.disabled():
        print(f"\n{found.sentence}")
    assert found.errors == []
    assert found.count == SECONDS * RATE
    assert found.memory[-1] < found.memory[0] + 64 * 2**20
    assert err.strip() == "ordag: stopped"
