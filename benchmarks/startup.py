"""How long does it take to get going?"""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.timing import duration, table

COMMANDS = {
    "`import ordag`": ["-c", "import ordag"],
    "`import ordag; ordag.learn`": ["-c", "import ordag; ordag.learn"],
    "`ordag learn marks --json`": ["-m", "ordag", "learn", "marks", "--json"],
    "`ordag learn marks`": ["-m", "ordag", "learn", "marks"],
    "Python alone": ["-c", "pass"],
}


def cpu_seconds(words: list[str]) -> float:
    """User and system time of the process, the best of five."""
    times = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def run() -> str:
    rows = [[name, duration(cpu_seconds(words))] for name, words in COMMANDS.items()]
    return f"""## Getting going

CPU time of a whole process. Public names are imported on first use, so the first of them brings SciPy along.

{table(["command", "CPU time"], rows)}"""
