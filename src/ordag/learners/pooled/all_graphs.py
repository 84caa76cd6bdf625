"""All graphs over few variables: the best of them, and the probability of every arrow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property

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


class AllGraphs:
    """The graphs over p variables that knowledge allows."""

    def __init__(self, p: int, allowed: Mask | None = None, required: Mask | None = None) -> None:
        self.p, self.graphs = p, all_graphs(p)
        if allowed is not None and required is not None:
            bits = 1 << np.arange(p)
            within, at_least = bits @ allowed, bits @ required
            self.graphs = self.graphs[((self.graphs & ~within == 0) & (at_least & ~self.graphs == 0)).all(axis=1)]
        self._sets = [np.unique(self.graphs[:, j]).tolist() for j in range(p)]
        size = np.array([mask.bit_count() for mask in range(2**p)])
        self._edges = size[self.graphs].sum(axis=1)

    def totals(self, score: PooledScore, variances: LogVariances) -> Array:
        """The score of every graph."""
        v = np.empty(self.graphs.shape)
        for j, sets in enumerate(self._sets):
            lookup = np.full(2**self.p, np.nan)
            lookup[sets] = [variances.log_variance(j, mask) for mask in sets]
            v[:, j] = lookup[self.graphs[:, j]]
        return score.totals(v, self._edges)

    def weights(self, score: PooledScore, variances: LogVariances) -> Array:
        """The posterior probability of every graph: exp(−score) over the sum over all."""
        totals = self.totals(score, variances)
        weight = np.exp(totals.min() - totals)
        return np.asarray(weight / weight.sum())

    def arrows(self, weights: Array) -> Array:
        """The probability of i → j at [i, j]: the sum over the graphs that have it."""
        return (weights @ self._arrows).reshape(self.p, self.p).T

    @cached_property
    def _arrows(self) -> Array:
        """Whether each graph has i → j, at j · p + i."""
        nodes = np.arange(self.p)
        return (self.graphs[:, :, None] >> nodes & 1).reshape(len(self.graphs), -1).astype(np.float64)


def graphs_by_score(
    score: PooledScore, variances: LogVariances, allowed: Mask | None = None, required: Mask | None = None
) -> Iterator[tuple[int, ...]]:
    """All graphs from the lowest score on: the parents of every variable as bitmasks."""
    every = AllGraphs(score.p, allowed, required)
    for k in every.totals(score, variances).argsort(kind="stable"):
        yield tuple(every.graphs[k].tolist())


def exact_probabilities(
    score: PooledScore, variances: LogVariances, allowed: Mask | None = None, required: Mask | None = None
) -> Array:
    """The posterior probability of i → j at [i, j]."""
    every = AllGraphs(score.p, allowed, required)
    return every.arrows(every.weights(score, variances))
