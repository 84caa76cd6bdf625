"""How do time and memory grow with the number of variables?"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from benchmarks.timing import duration, table

SIZES = [250, 500, 1000, 2000, 4000]

CHILD = """
import json, re, resource, sys, time
from pathlib import Path
import numpy as np
from threadpoolctl import threadpool_limits
import ordag
def peak():
    try:  # a child's ru_maxrss starts at its parent's
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
p, threads = int(sys.argv[1]), int(sys.argv[2])
X = np.random.default_rng(0).standard_normal((2 * p, p))
with threadpool_limits(threads):
    ordag.learn(X[: 40, :10], "cvs")
    np.linalg.cholesky(np.ones((300, 300)) @ np.ones((300, 300)) + np.eye(300))  # BLAS takes its buffers
    before = peak()
    times = []
    for _ in range(5 if p <= 1000 else 2):
        start = time.perf_counter()
        fit = ordag.learn(X, "cvs")
        times.append(time.perf_counter() - start)
        del fit
    after = peak()
print(json.dumps({"seconds": min(times), "matrices": (after - before) / (8 * p * p)}))
"""


def measure(p: int, threads: int) -> dict[str, float]:
    result = subprocess.run(
        [sys.executable, "-c", CHILD, str(p), str(threads)], capture_output=True, text=True, check=True
    )
    measured: dict[str, float] = json.loads(result.stdout)
    return measured


def run() -> str:
    rows, slopes = [], []
    for threads in (1, 2):
        results = [measure(p, threads) for p in SIZES]
        seconds = [r["seconds"] for r in results]
        slopes.append(float(np.polyfit(np.log(SIZES[1:]), np.log(seconds[1:]), 1)[0]))
        for p, r in zip(SIZES, results, strict=True):
            rows.append([threads, p, duration(r["seconds"]), f"{r['matrices']:.1f}"])
    return f"""## Growth

`ordag.learn(X, "cvs")` on p well-conditioned variables, n = 2p, each size in a process of its own. Memory is the peak beyond the input, in
p × p matrices of float64; below p = 1000 a megabyte or two that does not grow with p counts in.

{table(["threads", "p", "time", "memory, p × p matrices"], rows)}

Fitted over p = 500 to 4000, the time grows as p to the power {slopes[0]:.2f} on one thread and {slopes[1]:.2f} on two."""
