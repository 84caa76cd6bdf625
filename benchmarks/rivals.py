"""PC, GES and GDS: how fast, beside causal-learn on the same rows?

causal-learn is no dependency: `make peers` brings it into an environment of its own. Without it the table has Ordag's
times alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmarks.accuracy.calls import PEERS_PYTHON
from benchmarks.timing import duration, table

DESIGNS = [
    ("dense p = 20", "homogeneous", 20, {}),
    ("dense p = 50", "homogeneous", 50, {}),
    ("sparse p = 100, degree 4", "erdos-renyi", 100, {"degree": 4}),
]
METHODS: dict[str, dict[str, object]] = {
    "pc": {},
    "ges": {},
    "gds, as published": {"seed": 0, "kicks": 0},
    "gds": {"seed": 0},
}
PATIENCE = 150.0

CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import ordag
package, method, design, p, options, settings = sys.argv[1:]
X = ordag.simulate(design, int(p), 1000, seed=1, **json.loads(options)).X
if package == "ordag":
    call = lambda: ordag.learn(X, method=method, **json.loads(settings))
    call()
elif method == "pc":
    from causallearn.search.ConstraintBased.PC import pc
    call = lambda: pc(X, alpha=0.01, show_progress=False)
else:
    from causallearn.search.ScoreBased.GES import ges
    call = lambda: ges(X)
times = []
while sum(times) < 1.0:
    start = time.process_time()
    call()
    times.append(time.process_time() - start)
print(json.dumps(min(times)))
"""


def cpu_seconds(package: str, method: str, design: str, p: int, options: object, settings: object) -> float | None:
    """The best of a second's worth of calls on one thread, in a process of its own; None where none ended in time."""
    words = [package, method.split(",")[0], design, str(p), json.dumps(options), json.dumps(settings)]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    try:
        result = subprocess.run(
            [sys.executable if package == "ordag" else str(PEERS_PYTHON), "-c", CHILD, *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
            env={**os.environ, **single},
        )
    except subprocess.TimeoutExpired:
        return None
    seconds: float = json.loads(result.stdout.strip().splitlines()[-1])
    return seconds


def run() -> str:
    rival = PEERS_PYTHON.exists()
    rows = []
    for title, design, p, options in DESIGNS:
        for method, settings in METHODS.items():
            if method.startswith("gds") and design != "homogeneous":
                continue
            own = cpu_seconds("ordag", method, design, p, options, settings)
            assert own is not None, "Ordag's methods end in time"
            beside = ["", ""]
            if rival and not method.startswith("gds"):
                other = cpu_seconds("causal-learn", method, design, p, options, {})
                beside = (
                    [f"over {PATIENCE:.0f} s", f"over {PATIENCE / own:,.0f} ×"]
                    if other is None
                    else [duration(other), f"{other / own:,.0f} ×"]
                )
            rows.append([title, method, duration(own), *beside])
    return f"""## PC, GES and GDS

CPU time on one thread, n = 1000, the paper's dense design and a sparse Erdős–Rényi one, each method in a process of its own.
causal-learn runs on the same rows in the same run, and is stopped after {PATIENCE:.0f} s. GDS is measured as published, with its
five restarts, and with the kicks that are Ordag's default.

{table(["design", "method", "Ordag", "causal-learn", "ratio"], rows)}"""
