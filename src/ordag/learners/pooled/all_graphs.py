"""All graphs over few variables: the best of them, and the probability of every arrow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import LogVariances

MOST_VARIABLES = 5
"""Variables up to which all graphs are looked at: five have 29,281, six 3.8 million."""


@cache
def all_graphs(p: int) -> NDArray[np.int64]:
    """All DAGs over p variables, one row each with the parents of every variable as bitmasks."""
    sets = np.arange(2**p)
    choices = [sets[(sets >> j & 1) == 0] for j in range(p)]
    parents = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, p)
    gone = np.zeros(len(parents), dtype=np.int64)
    for _ in range(p):  # a graph is acyclic if all its variables go, each of them after its parents
        for j in range(p):
            gone |= np.where(parents[:, j] & ~gone == 0, 1 << j, 0)
    graphs = np.asarray(parents[gone == 2**p - 1])
    graphs.flags.writeable = False
    return graphs


class _Scored(NamedTuple):
    """All graphs that knowledge allows, and their scores."""

    graphs: NDArray[np.int64]
    totals: Array


def _scored(score: PooledScore, variances: LogVariances, allowed: Mask | None, required: Mask | None) -> _Scored:
    p = score.p
    graphs = all_graphs(p)
    bits = 1 << np.arange(p)
    if allowed is not None and required is not None:
        within, at_least = bits @ allowed, bits @ required
        graphs = graphs[((graphs & ~within == 0) & (at_least & ~graphs == 0)).all(axis=1)]
    v = np.empty(graphs.shape)
    for j in range(p):
        lookup = np.full(2**p, np.nan)
        for mask in np.unique(graphs[:, j]).tolist():
            lookup[mask] = variances.log_variance(j, mask)
        v[:, j] = lookup[graphs[:, j]]
    size = np.array([mask.bit_count() for mask in range(2**p)])
    return _Scored(graphs, score.totals(v, size[graphs].sum(axis=1)))


def graphs_by_score(
    score: PooledScore, variances: LogVariances, allowed: Mask | None = None, required: Mask | None = None
) -> Iterator[tuple[int, ...]]:
    """All graphs from the lowest score on: the parents of every variable as bitmasks."""
    graphs, totals = _scored(score, variances, allowed, required)
    for k in totals.argsort(kind="stable"):
        yield tuple(graphs[k].tolist())


def exact_probabilities(
    score: PooledScore, variances: LogVariances, allowed: Mask | None = None, required: Mask | None = None
) -> Array:
    """The posterior probability of i → j at [i, j]: exp(−score) summed over the graphs that have it, over the sum over all."""
    graphs, totals = _scored(score, variances, allowed, required)
    weight = np.exp(totals.min() - totals)
    weight /= weight.sum()
    nodes = range(score.p)
    return np.array([[float(weight[(graphs[:, j] >> i & 1) == 1].sum()) for j in nodes] for i in nodes])
