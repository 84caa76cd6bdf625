"""How do errors and times grow with the number of variables, up to where `auto` changes its method and beyond?"""

from __future__ import annotations

import resource
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.search import STRONG, Design, drawn
from benchmarks.timing import table
from ordag.errors import OrdagWarning
from ordag.learners.methods import POOLED_UP_TO
from ordag.learners.pooled.search import MOST_RESTARTED

KINDS = {"equal": ("raw", 1.0), "× 20": ("raw", 20.0), "standardised": ("standardised", 1.0)}
SIZES = {20: 5, 50: 5, 100: 3, 200: 3, 500: 2, 1000: 1, 2000: 1, 5000: 1, 10_000: 1, 11_000: 1}
"""Variables, and tables of each kind."""


def measure(p: int, kind: str, tables: int) -> tuple[str, float, float]:
    """The method that `auto` chose, wrong entries over true edges, and CPU seconds of all threads: means over the tables."""
    units, spread = KINDS[kind]
    wrong, seconds, method = [], [], ""
    for number in range(tables):
        X, truth = drawn(Design(p, 3, max(500, 2 * p), STRONG, units, spread), number)
        moments = ordag.Moments.from_rows(X)
        del X
        start = time.process_time()
        fit = ordag.learn(moments, draws=0) if p <= POOLED_UP_TO else ordag.learn(moments)
        seconds.append(time.process_time() - start)
        wrong.append(int((fit.graph.adjacency != truth).sum()) / truth.sum())
        method = fit.method
    return method, float(np.mean(wrong)), float(np.mean(seconds))


def gigabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run() -> str:
    lines = []
    with threadpool_limits(2), warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        measure(20, "equal", 1)  # loads the compiled code
        for p, tables in SIZES.items():
            cells, method = [], ""
            for kind in KINDS:
                method, wrong, seconds = measure(p, kind, tables)
                cells += [f"{wrong:.3f}", f"{seconds:.2g}"]
            lines.append([f"{p:,}", str(tables), method, *cells, f"{gigabytes():.1f}"])
            print(" | ".join(lines[-1]), flush=True)
    return section(lines)


def section(lines: list[list[str]]) -> str:
    """The text, from one line for every size."""
    head = ["p", "tables", "method", *(said for kind in KINDS for said in (f"{kind}: wrong / edges", "s")), "GB"]
    return f"""## From 20 to thousands of variables

Erdős–Rényi graphs of degree 3, weights 0.5–2 of random sign, 2p rows and 500 at the least. Wrong entries of the adjacency over the
number of true edges, and CPU time of `learn` from the moments (all threads together; `draws=0`), with the method that `auto` chooses.
GB: the most memory that the process had, with the table that the moments were made from. Beyond {MOST_RESTARTED:,} variables the search
makes no restarts. Beyond {POOLED_UP_TO:,} `auto` takes cvs, which orders by variance: that is right where error variances are equal, worse
where they are not, and refused where the columns have been standardised.

{table(head, lines)}"""
