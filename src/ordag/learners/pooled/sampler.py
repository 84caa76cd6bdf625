r"""A Markov chain over DAGs with the posterior exp(−score), for the probability of every arrow where there are many variables.

It has three kinds of steps, each accepted by the rule of Metropolis and Hastings (`chain`):

- *toggle*: a variable j gains or loses one parent, drawn with weights $e^{-\Delta/2}$ for the change Δ of a sum over variables
  near the score (a locally balanced proposal, Zanella 2020). The candidates of j do not depend on its parents, so the reverse step has
  the same ones.
- *turn*: an arrow is turned round. For a covered arrow only the pooling changes.
- *swap*: a parent of j is replaced by another variable.

Arrows are counted over all steps. Orders are not sampled: each graph would count as often as it has orders, an empty one p! times.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from ordag.common.arrays import Array, Integers
from ordag.common.bits import members
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled.score import Local, PooledScore, PoolingTable


class Sampler:
    """The arrays that the chains over one table share: those of the search, the score, and terms near it for the proposals."""

    def __init__(self, search: OrderSearch, score: PooledScore, near: Local) -> None:
        self.search, self.score = search, score
        self.kernel = import_module("ordag.learners.pooled.chain")
        self.terms = search.terms_of(near)
        self.pooling = np.array([score.pooling_table(len(g)).values for g in score.groups]).reshape(
            -1, PoolingTable.points
        )
        self.axis = np.array([PoolingTable.start, PoolingTable.fineness])
        self.prior = score.edge_priors
        self.group_of = np.full(score.p, -1)
        for number, group in enumerate(score.groups):
            self.group_of[group] = number


class Walk:
    """A chain: its present graph as the arrays of the kernel, with the sums of its score."""

    def __init__(self, sampler: Sampler, parents: Sequence[int]) -> None:
        kernel, search, score, p = sampler.kernel, sampler.search, sampler.score, sampler.score.p
        self.sampler, self.p = sampler, p
        self.I = np.zeros((kernel.LAST + 1, max(p, kernel.FREE + 1)), dtype=np.int64)
        self.I[kernel.GROUP, :p] = sampler.group_of
        self.I[kernel.LAST, kernel.FREE] = search.free
        self.P = np.zeros((p + 2, search.most + 1), dtype=np.int64)
        self.D = np.zeros((p, p), dtype=np.int64)
        self.V, self.Q = np.zeros((p + 2, p)), np.zeros((p + 1, p))
        self.E = np.zeros((score.pairs + 1, 2), dtype=np.int64)
        self.F = np.full((p, p), -1, dtype=np.int64)
        self.since, self.counts = np.zeros((p, p), dtype=np.int64), np.zeros((p, p))
        self.W, self.root = search.room()
        edges = 0
        for j, mask in enumerate(parents):
            own = members(mask)
            self.I[kernel.COUNT, j] = len(own)
            self.P[[j, p], : len(own)] = own
            for i in own:
                self.E[edges], self.F[i, j] = (i, j), edges
                self.D[i, self.I[kernel.CHILDREN, i]] = j
                self.I[kernel.CHILDREN, i] += 1
                edges += 1
            given = (search.C, self.root, search.may, sampler.terms, self.W, self.V, self.Q)
            self.V[p, j] = kernel.weigh(*given, j, self.P, len(own), j, j)
        self.I[kernel.LAST, kernel.EDGES] = edges
        self.S = np.zeros((len(score.groups), 4))
        for number, group in enumerate(score.groups):
            centre = self.V[p, group].mean()
            away = self.V[p, group] - centre
            self.S[number] = len(group), centre, away.sum(), (away**2).sum()

    def go(self, uniforms: Array, stop: Integers) -> None:
        """Make one step for every row of `uniforms`."""
        sampler, search = self.sampler, self.sampler.search
        tables = (self.S, sampler.pooling, sampler.axis, sampler.prior)
        state = (self.I, self.P, self.D, self.V, self.Q, self.E, self.F)
        given = (search.C, self.root, search.may, sampler.terms, self.W)
        sampler.kernel.walk(*given, *state, *tables, self.since, self.counts, uniforms, stop)

    @property
    def v(self) -> Array:
        """The log variances in the present graph."""
        return np.asarray(self.V[self.p])

    @property
    def time(self) -> int:
        return int(self.I[self.sampler.kernel.LAST, self.sampler.kernel.TIME])

    def start_counting(self) -> None:
        """Count from here on."""
        self.counts[:] = 0.0
        self.since[:] = self.time

    def shares(self, length: int) -> Array:
        """Return the share of the steps since `start_counting` in which each arrow was there."""
        return (self.counts + np.where(self.F >= 0, self.time - self.since, 0)) / max(length, 1)
