"""What does everything around the kernel cost: the model, the tables, the verdict, the files, and the estimator?"""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median

from benchmarks.timing import duration, table

WIDE, ROWS = 8000, 10_000
SIZES = [(50, 1000), (500, 2000), (2000, 4000)]
EXPORTS = ("csv", "dot", "graphml", "gml", "lavaan", "dagitty", "adjacency.csv", "json", "html")

CHILD = """
import json, sys, tempfile, time
from pathlib import Path
import networkx, pandas
from threadpoolctl import threadpool_limits
import ordag
p, n, exports = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split()
def clock(work):
    start = time.process_time()
    work()
    return time.process_time() - start
with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
    ordag.learn("marks", "cvs").save(f"{folder}/first.html")
    drawn = ordag.simulate("er4", p, n, seed=1)
    fits = []
    times = {"learn": clock(lambda: fits.append(ordag.learn(drawn.X, "cvs", correction="bonferroni")))}
    fit = fits[0]
    times["fit.sem"] = clock(lambda: fit.sem)
    times["fit.edges"] = clock(lambda: fit.edges)
    times["fit.steps"] = clock(lambda: fit.steps)
    times["fit.verdict"] = clock(lambda: fit.verdict)
    times["fit.to_json()"] = clock(fit.to_json)
    times["str(fit)"] = clock(lambda: str(fit))
    for ending in exports:
        times[f".{ending}"] = clock(lambda: fit.save(Path(folder) / f"x.{ending}"))
print(json.dumps({"times": times, "edges": fit.graph.edge_count}))
"""

ESTIMATOR = """
import json, sys, time
from threadpoolctl import threadpool_limits
import ordag
p, n = int(sys.argv[1]), int(sys.argv[2])
X = ordag.simulate("er4", p, n, seed=1).X
def clock(work):
    start = time.process_time()
    work()
    return time.process_time() - start
works = {
    "learn": lambda: ordag.learn(X, "cvs", correction="bonferroni"),
    "fit": lambda: ordag.CVS(correction="bonferroni").fit(X),
    "weights": lambda: ordag.CVS(correction="bonferroni").fit(X).weights_,
}
with threadpool_limits(1):
    for work in works.values():
        work()
    rounds = [{name: clock(work) for name, work in works.items()} for _ in range(40 if p < 200 else 12 if p < 1000 else 5)]
print(json.dumps(rounds))
"""


def child(program: str, *given: object) -> object:
    """What a process of its own prints, read as JSON."""
    command = [sys.executable, "-c", program, *map(str, given)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run() -> str:
    measured = child(CHILD, WIDE, ROWS, " ".join(EXPORTS))
    assert isinstance(measured, dict)
    times: dict[str, float] = measured["times"]
    learn = times["learn"]
    around = sum(times.values()) - learn
    rows = [[name, duration(seconds), f"{seconds / learn:.3f}"] for name, seconds in times.items()]
    estimators = []
    for p, n in SIZES:
        rounds = child(ESTIMATOR, p, n)
        assert isinstance(rounds, list)
        best = min(one["learn"] for one in rounds)
        ratios = [median(one[name] / one["learn"] for one in rounds) for name in ("fit", "weights")]
        estimators.append([p, n, duration(best), *(f"{ratio:.2f}" for ratio in ratios)])
    return f"""## Around the kernel

The design er4 with p = {WIDE:,}, n = {ROWS:,} and {measured["edges"]:,} edges found, with `method="cvs", correction="bonferroni"`:
processor time of one thread, each part once, in this order; what a part needs of those above it is there already.

{table(["part", "time", "over learn"], rows)}

All of it together takes {around / learn:.2f} times as long as `learn`.

`CVS().fit(X)` beside `ordag.learn(X, "cvs")` on the same rows, in turns; ratios are medians. What an estimator gives beyond the graph
and the order (`adjacency_`, `weights_`, `error_variances_`) is worked out when it is asked for; the last column asks for the weights.

{table(["p", "n", "ordag.learn", "CVS().fit", "and .weights_"], estimators)}"""
