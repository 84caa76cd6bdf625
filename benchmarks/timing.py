"""The stopwatch, and how its readings are written down."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import scipy


def best(function: Callable[[], Any], seconds: float = 1.0, least: int = 3) -> float:
    """The shortest of as many calls as fit into `seconds`, and at least a few."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def duration(seconds: float) -> str:
    """A time as a person would write it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; every column but the first is aligned to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def machine() -> str:
    """When and on what it was measured."""
    try:
        info = Path("/proc/cpuinfo").read_text()
        cpu = re.findall(r"model name\s*:\s*(.*)", info)
        processor = f"{len(cpu)} × {cpu[0]}"
    except (OSError, IndexError):
        processor = platform.processor() or platform.machine()
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    return f"Measured {date.today().isoformat()} on {processor}; {versions}."
