"""What one resampled table costs, all of learning included: many in step, and one after the other."""

from __future__ import annotations

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.search import STRONG, WEAK, Design, drawn
from benchmarks.timing import best, duration, table
from ordag.errors import OrdagWarning
from ordag.learners.cvs import CvsSettings
from ordag.learners.pooled.posterior import children
from ordag.learners.pooled.resampled import Resampled
from ordag.learners.pooled.result import PooledResult
from ordag.resampling.replicates import Job, Keep
from ordag.resampling.resamplers import Resampler, RowResampler, WishartResampler

SIZES = (5, 10, 20, 50, 100, 150)
ROWS, TOGETHER, ALONE = 1000, 200, 20
SEARCHED = (
    Design(20, 2, 400, WEAK, "raw", 20),
    Design(20, 8, 400, STRONG, "standardised"),
    Design(50, 3, 1000, STRONG, "raw", 20),
    Design(50, 3, 1000, WEAK, "standardised"),
    Design(50, 8, 1000, STRONG, "raw"),
    Design(50, 20, 1000, STRONG, "standardised"),
    Design(100, 4, 500, WEAK, "raw", 20),
)
TABLES, RESAMPLES = 4, 32


def costs(p: int) -> list[object]:
    """A line of the table: seconds for each replicate, by what is drawn and kept."""
    drawn = ordag.simulate("erdos-renyi", p, ROWS, seed=1, degree=2)
    base = ordag.Moments.from_rows(drawn.X)

    def each(resampler: Resampler, keep: Keep, alone: bool = False) -> float:
        job = Job(resampler, np.random.SeedSequence(1), CvsSettings(alpha=0.01), keep)
        if alone:
            return best(lambda: [job._one(number) for number in range(ALONE)]) / ALONE
        return best(lambda: job.run(range(TOGETHER))) / TOGETHER

    wishart, rows = WishartResampler(base), RowResampler.of(drawn.X, base)
    together, alone = each(wishart, "graph"), each(wishart, "graph", alone=True)
    others = [each(rows, "graph"), each(rows, "effects")]
    return [p, duration(together), duration(alone), f"{alone / together:.1f}", *map(duration, others)]


def searched(design: Design) -> list[object]:
    """A line of the second table: CPU time of a resample of the pooled search, on average and in the slowest table."""
    times, edges = [], []
    for number in range(TABLES):
        X, _ = drawn(design, number)
        fit = ordag.learn(X, method="pooled", draws=0)
        assert fit.posterior is not None
        assert isinstance(fit.result, PooledResult)
        resampled, seeds = (
            Resampled(fit.result, X[:, fit.posterior.order]),
            children(np.random.SeedSequence(1), RESAMPLES),
        )
        resampled.run(seeds[:4])
        start = time.process_time()
        resampled.run(seeds)
        times.append((time.process_time() - start) / RESAMPLES)
        edges.append(fit.graph.edge_count)
    return [design.name, round(np.mean(edges)), duration(float(np.mean(times))), duration(max(times))]


def run() -> str:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdagWarning)
        lines = [costs(p) for p in SIZES]
        more = [searched(design) for design in SEARCHED]
    head = ["p", "Wishart, in step", "one by one", "ratio", "rows, in step", "rows, with effects"]
    return f"""## Replicates

One resampled table of {ROWS:,} rows, drawn and learned from by cvs (level 1%), on one thread: {TOGETHER} in step and {ALONE} one after
the other. A forecast draws Wishart samples and keeps their graphs; the bootstrap draws rows and keeps weights and total effects
too, which takes a regression for every variable.

{table(head, lines)}

One resample for the probabilities of the pooled search: rows drawn, the graph searched for again from two graphs, the chain over graphs.
CPU time of two threads, over {TABLES} tables with {RESAMPLES} resamples each.

{table(["tables", "edges", "CPU time", "in the slowest table"], more)}"""
