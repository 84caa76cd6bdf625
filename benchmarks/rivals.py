"""PC, GES and GDS: how fast, beside causal-learn on the same rows?

causal-learn is no dependency: `pip install "ordag[bench]"` brings it. Without it the table has Ordag's times alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.util import find_spec

from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import duration, table

DESIGNS = [
    ("dense p = 20", "homogeneous", 20, {}),
    ("dense p = 50", "homogeneous", 50, {}),
    ("sparse p = 100, degree 4", "erdos-renyi", 100, {"degree": 4}),
]
PATIENCE = 150.0

CHILD = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from threadpoolctl import threadpool_limits
from causallearn.search.ConstraintBased.PC import pc
from causallearn.search.ScoreBased.GES import ges
import ordag
method, design, p, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
X = ordag.simulate(design, p, 1000, seed=1, **options).X
with threadpool_limits(1):
    start = time.process_time()
    if method == "pc":
        pc(X, alpha=0.01, show_progress=False)
    else:
        ges(X)
    print(json.dumps(time.process_time() - start))
"""


def theirs(method: str, design: str, p: int, options: dict[str, float]) -> float | None:
    """CPU seconds of causal-learn in a process of its own; None where it has not ended in time."""
    words = [sys.executable, "-c", CHILD, method, design, str(p), json.dumps(options)]
    try:
        result = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    seconds: float = json.loads(result.stdout.strip().splitlines()[-1])
    return seconds


def ours(method: str, X: object) -> float:
    """CPU seconds, the best of three."""
    settings = {"gds": {"seed": 0, "kicks": 0}, "gds with kicks": {"seed": 0}}.get(method, {})
    times = []
    for _ in range(3):
        start = time.process_time()
        ordag.learn(X, method=method.split()[0], **settings)
        times.append(time.process_time() - start)
    return min(times)


def run() -> str:
    rival = find_spec("causallearn") is not None
    rows = []
    with threadpool_limits(1):
        for title, design, p, options in DESIGNS:
            X = ordag.simulate(design, p, 1000, seed=1, **options).X
            for method in ("pc", "ges", "gds", "gds with kicks"):
                if method.startswith("gds") and design != "homogeneous":
                    continue
                own = ours(method, X)
                other = theirs(method, design, p, options) if rival and not method.startswith("gds") else None
                if method.startswith("gds") or not rival:
                    beside = ["", ""]
                elif other is None:
                    beside = [f"over {PATIENCE:.0f} s", f"over {PATIENCE / own:,.0f} ×"]
                else:
                    beside = [duration(other), f"{other / own:,.0f} ×"]
                rows.append([title, method, duration(own), *beside])
    return f"""## PC, GES and GDS

CPU time on one thread, n = 1000, the paper's dense design and a sparse Erdős–Rényi one. causal-learn runs on the same rows in the
same run, and is stopped after {PATIENCE:.0f} s. GDS is the published search with its five restarts, and with the kicks that are
Ordag's default.

{table(["design", "method", "Ordag", "causal-learn", "ratio"], rows)}"""
