"""What one resampled table costs, all of learning included: many in step, and one after the other."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import ordag
from benchmarks.timing import best, duration, table
from ordag.learners.cvs import CvsSettings
from ordag.resampling.replicates import Job, Keep
from ordag.resampling.resamplers import Resampler, RowResampler, WishartResampler

SIZES = (5, 10, 20, 50, 100, 150)
ROWS, TOGETHER, ALONE = 1000, 200, 20


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


def run() -> str:
    with threadpool_limits(1):
        lines = [costs(p) for p in SIZES]
    head = ["p", "Wishart, in step", "one by one", "ratio", "rows, in step", "rows, with effects"]
    return f"""## Replicates

One resampled table of {ROWS:,} rows, drawn and learned from by cvs (level 1%), on one thread: {TOGETHER} in step and {ALONE} one after
the other. A forecast draws Wishart samples and keeps their graphs; the bootstrap draws rows and keeps weights and total effects
too, which takes a regression for every variable.

{table(head, lines)}"""
