"""How do errors and times grow with the number of variables, up to where `auto` changes its method and beyond?"""

from __future__ import annotations

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.search import STRONG, Design, drawn
from benchmarks.timing import table
from ordag.errors import OrdagWarning

KINDS = {"equal": ("raw", 1.0), "× 20": ("raw", 20.0), "standardised": ("standardised", 1.0)}
SIZES = {20: 5, 50: 5, 100: 3, 200: 3, 500: 2, 1000: 1, 2000: 1, 5000: 1, 6000: 1}
"""Variables, and tables of each kind."""

ONCE = 5000
"""Variables from which one kind alone is measured: minutes and gigabytes each."""


def measure(p: int, kind: str, tables: int) -> tuple[str, float, float]:
    """The method that `auto` chose, wrong entries over true edges, and seconds, in the mean over the tables."""
    units, spread = KINDS[kind]
    wrong, seconds, method = [], [], ""
    for number in range(tables):
        X, truth = drawn(Design(p, 3, max(500, 2 * p), STRONG, units, spread), number)
        moments = ordag.Moments.from_rows(X)
        del X
        start = time.perf_counter()
        fit = ordag.learn(moments, draws=0) if p <= ONCE else ordag.learn(moments)
        seconds.append(time.perf_counter() - start)
        wrong.append(int((fit.graph.adjacency != truth).sum()) / truth.sum())
        method = fit.method
    return method, float(np.mean(wrong)), float(np.mean(seconds))


def run() -> str:
    rows = []
    with threadpool_limits(2), warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        for p, tables in SIZES.items():
            cells, method = [], ""
            for kind in KINDS:
                if p >= ONCE and kind != "× 20":
                    cells += ["–", "–"]
                    continue
                method, wrong, seconds = measure(p, kind, tables)
                cells += [f"{wrong:.3f}", f"{seconds:.2g}"]
            rows.append([f"{p:,}", str(tables), method, *cells])
            print(" | ".join(rows[-1]), flush=True)
    head = ["p", "tables", "method", *(said for kind in KINDS for said in (f"{kind}: wrong / edges", "s"))]
    return f"""## From 20 to thousands of variables

Erdős–Rényi graphs of degree 3, weights 0.5–2 of random sign, 2p rows and 500 at the least. Wrong entries of the adjacency over the
number of true edges, and seconds of `learn` from the moments, with the method that `auto` chooses. From {ONCE:,} variables on there is one
table of one kind.

{table(head, rows)}"""
