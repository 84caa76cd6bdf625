"""What do parents by the edge prior cost beside tests?"""

from __future__ import annotations

from functools import partial

from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import best, duration, table

SIZES = [(100, 500), (500, 2000), (1000, 3000), (2000, 5000)]
RULES = ("test", "adaptive")


def run() -> str:
    rows = []
    with threadpool_limits(limits=1):
        for p, n in SIZES:
            drawn = ordag.simulate("erdos-renyi", p, n, seed=3, degree=4)
            moments = ordag.Moments.from_rows(drawn.X)
            fits = [ordag.learn(moments, method="cvs", parents=rule) for rule in RULES]
            test, adaptive = (best(partial(ordag.learn, moments, method="cvs", parents=rule)) for rule in RULES)
            wrong = [f"{ordag.hamming(fit.graph, drawn.dag):,}" for fit in fits]
            rows.append([f"{p:,}", f"{n:,}", duration(test), duration(adaptive), f"{adaptive / test:.1f}", *wrong])
    heads = ["p", "n", "tests at 1 %", "adaptive", "ratio", "wrong, tests", "wrong, adaptive"]
    return f"""## Parents by tests and by the edge prior

`ordag.learn(moments, method="cvs", parents=…)` on one thread: sparse Erdős–Rényi graphs of degree 4, ordering and parents
together. Wrong are entries of the adjacency.

{table(heads, rows)}"""
