r"""The Poisson bootstrap: the moments of all bootstrap samples of a file in one pass.

Drawing n of n rows with replacement gives each row a Binomial(n, 1/n) number of copies, which for many rows is a Poisson
number with mean 1, independent of the other rows' (Chamandy et al. 2012). So each row, when it comes by, is given its weight
in every replicate, and all weighted sums $\sum w\,(1, y)^\top (1, y)$ of a group of replicates are one matrix product: weights
(replicates × rows) times products of columns (rows × pairs of columns).

**Reproducible.** Weights belong to blocks of BLOCK_ROWS rows, counted from the first usable row of the table, and to groups of
GROUP_REPLICATES replicates; each (group, block) has a random stream of its own. So the result does not depend on how the rows come in
batches or lie in parts, on the number of workers, or on how many replicates fit in memory at once.

**Memory** is 8 · replicates · (p + 1)(p + 2)/2 bytes, up to MOST_SUM_BYTES; beyond that the replicates are shared out among several
passes over the file, at least GROUP_REPLICATES of them a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array
from ordag.data.moments import Moments
from ordag.data.reading import Missing
from ordag.data.scatter import chunk_rows
from ordag.data.sources import DaskSource, Source
from ordag.data.sources.source import regroup
from ordag.data.table_checks import RowCheck
from ordag.resampling.resamplers import GramResampler, child, whiten

BLOCK_ROWS = 256
GROUP_REPLICATES = 32
MOST_SUM_BYTES, MOST_CLUSTER_BYTES = (
    2**30,
    2**27,
)  # bytes of sums at a time; those of a cluster travel between its machines
AT_ONCE = 2**22  # products of columns formed at a time: 32 MB


def passes(replicates: int, p: int, memory: int = MOST_SUM_BYTES) -> list[range]:
    """Divide the replicates into passes over the table: whole groups, as many as fit in memory."""
    each = 8 * (p + 1) * (p + 2) // 2
    groups = max(1, memory // (each * GROUP_REPLICATES))
    step = groups * GROUP_REPLICATES
    return [range(start, min(start + step, replicates)) for start in range(0, replicates, step)]


def poisson_sums(
    source: Source,
    base: Moments,
    replicates: range,
    root: np.random.SeedSequence,
    *,
    missing: Missing,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
    batch: int | None = None,
    starts: Sequence[int] = (0,),
) -> GramResampler:
    """Make one pass over the table for these replicates, which start at the beginning of a group.

    `starts` are the usable rows before each part of a table that lies in parts: these add up where they lie.
    """
    work = partial(_weighted_sums, base=base, replicates=replicates, root=root, missing=missing)
    if isinstance(source, DaskSource):
        sums = source.merged(work, starts, _added)  # rows were judged, all parts together, when the base was made
    else:
        sums = work(source, 0, workers=workers, progress=progress, batch=batch, judge=True)
    return GramResampler(base, sums, replicates.start)


def _added(parts: Sequence[Array]) -> Array:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _weighted_sums(
    source: Source,
    first: int,
    base: Moments,
    replicates: range,
    root: np.random.SeedSequence,
    missing: Missing,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
    batch: int | None = None,
    judge: bool = False,
) -> Array:
    """Return the weighted sums of these rows; the first usable one has the number `first` in the whole table."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    p = base.p
    pairs = np.triu_indices(p + 1)
    sums = np.zeros((len(replicates), len(pairs[0])))
    groups = range(replicates.start // GROUP_REPLICATES, math.ceil(replicates.stop / GROUP_REPLICATES))
    check = RowCheck(source.names, missing)
    part = max(1, AT_ONCE // len(pairs[0]))
    begun = first % BLOCK_ROWS

    def add(group: int, block: int, products: Array, start: int) -> None:
        own = sums[group * GROUP_REPLICATES - replicates.start :][:GROUP_REPLICATES]
        weights = poisson_weights(root, group, block)[: len(own), start : start + len(products)]
        own += weights @ products

    def rows() -> Iterator[Array]:
        for rows in source.batches(batch or chunk_rows(p)):
            yield check.admit(rows)
            if progress is not None:
                progress(check.rows)

    # One thread for each product, whatever the number of workers: the same digits, and no two pools in each other's way.
    with threadpool_limits(limits=1), ThreadPoolExecutor(workers) as threads:
        for block, X in enumerate(regroup(rows(), BLOCK_ROWS, begun), first // BLOCK_ROWS):
            Y = np.concatenate([np.ones((len(X), 1)), whiten(X, base.mean, base.R)], axis=1)
            for start in range(0, len(Y), part):
                products = Y[start : start + part, pairs[0]] * Y[start : start + part, pairs[1]]
                list(threads.map(lambda group, b=block, z=products, s=begun + start: add(group, b, z, s), groups))
            begun = 0
    if judge:
        check.verdict()
    return sums


def poisson_weights(root: np.random.SeedSequence, group: int, block: int) -> Array:
    """Return the weights of BLOCK_ROWS rows in GROUP_REPLICATES replicates, (GROUP_REPLICATES, BLOCK_ROWS)."""
    words = np.random.Generator(np.random.Philox(child(root, group, block))).bytes(2 * GROUP_REPLICATES * BLOCK_ROWS)
    return np.asarray(QUANTILES[np.frombuffer(words, dtype="<u2")].reshape(GROUP_REPLICATES, BLOCK_ROWS))


def _quantiles() -> NDArray[np.float64]:
    """Poisson(1) by the inverse of its distribution function at 2¹⁶ equally likely points: the mean is 1, the variance 1 − 3·10⁻⁵.

    Sixteen random bits per weight are several times faster than a generator of Poisson numbers.
    """
    probability = np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)])
    points = (np.arange(2**16) + 0.5) / 2**16
    return np.searchsorted(np.cumsum(probability), points).astype(np.float64)


QUANTILES = _quantiles()
