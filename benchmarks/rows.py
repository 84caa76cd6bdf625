"""Commands on files of millions of rows: time on the clock, processor time and memory of whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.timing import duration, table

ROWS, COLUMNS, SEED = 4_000_000, 50, 1
DESIGNS = ("er2", "er4")
COMMANDS = {"moments": ["--out", "table.moments"], "learn": [], "check": []}


class Cost(NamedTuple):
    seconds: float
    cpu_seconds: float
    peak: float
    """Bytes."""


def cost(words: list[str], folder: str) -> Cost:
    """What `ordag` with these words takes, run in the folder."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "ordag", *words], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"ordag {' '.join(words)} ended with {process.returncode}.")
    return Cost(seconds, used.ru_utime + used.ru_stime, 1024.0 * used.ru_maxrss)


def measured(design: str) -> list[list[str]]:
    """A line of the table for every command, the better of two runs."""
    with TemporaryDirectory() as folder:
        shape = ["-p", str(COLUMNS), "-n", str(ROWS), "--seed", str(SEED)]
        rows = {"simulate": cost(["simulate", design, *shape, "--out", "table.parquet"], folder)}
        for command, more in COMMANDS.items():
            runs = []
            for _ in range(2):
                Path(folder, "table.moments").unlink(missing_ok=True)
                runs.append(cost([command, "table.parquet", *more], folder))
            rows[command] = min(runs)
    return [
        [f"`ordag {command}` · {design}", duration(one.seconds), duration(one.cpu_seconds), f"{one.peak / 1e9:.2f} GB"]
        for command, one in rows.items()
    ]


def run() -> str:
    lines = [line for design in DESIGNS for line in measured(design)]
    return f"""## Millions of rows

{ROWS:,} rows of {COLUMNS} columns, {8e-9 * ROWS * COLUMNS:.1f} GB of numbers, in a Parquet file made by
`ordag simulate er2 -p {COLUMNS} -n {ROWS} --seed {SEED} --out table.parquet`, and the same with er4, which has about twice as many arrows.
Whole processes with {os.cpu_count()} cores and their usual threads, the file in the cache of the system; the better of two runs.
`ordag check` learns the graph, and again in other units.

{table(["command · design", "time", "CPU time", "memory"], lines)}"""
