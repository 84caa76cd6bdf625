r"""Graphs drawn from the posterior exp(−score), for the probability of every arrow where there are many variables.

A Markov chain over DAGs with three kinds of steps, each accepted by the rule of Metropolis and Hastings (`chain`):

- *toggle*: a variable j gains or loses one parent, drawn with weights $e^{-\Delta/2}$ for the change Δ of a sum over variables
  near the score (a locally balanced proposal, Zanella 2020). What j may gain does not depend on its parents, so the way back has
  the same candidates.
- *turn*: an arrow is turned round. For a covered one that changes the pooling alone.
- *swap*: a parent of j is replaced by another variable.

Arrows are counted over all steps. Orders are not sampled: each graph would count as often as it has orders, an empty one p! times.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from ordag.arrays import Array, Integers
from ordag.bits import members
from ordag.learners.order_search.engine import OrderSearch
from ordag.learners.pooled.score import Local, PooledScore, PoolingTable


class Sampler:
    """What the chains over one table share: what the search has of it, the score, and terms near it for the proposals."""

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
    """A graph on its way, as the kernel has it, with the sums that its score is made of."""

    def __init__(self, sampler: Sampler, parents: Sequence[int]) -> None:
        kernel, search, score, p = sampler.kernel, sampler.search, sampler.score, sampler.score.p
        self.sampler, self.p = sampler, p
        self.I = np.zeros((kernel.LAST + 1, p), dtype=np.int64)
        self.I[kernel.GROUP] = sampler.group_of
        self.P = np.zeros((p + 1, search.most + 1), dtype=np.int64)
        self.V, self.Q = np.zeros((p + 2, p)), np.zeros((p + 1, p))
        self.E = np.zeros((score.pairs + 1, 2), dtype=np.int64)
        self.F = np.full((p, p), -1, dtype=np.int64)
        self.since, self.counts = np.zeros((p, p), dtype=np.int64), np.zeros((p, p))
        self.W, self.root = search.room(), search.root_twice()
        edges = 0
        for j, mask in enumerate(parents):
            own = members(mask)
            self.I[kernel.COUNT, j] = len(own)
            self.P[j, : len(own)] = own
            for i in own:
                self.E[edges], self.F[i, j] = (i, j), edges
                edges += 1
            given = (search.C, self.root, search.may, sampler.terms, self.W, self.V, self.Q)
            self.V[p, j] = kernel.weigh(*given, j, self.P[j], len(own), j, j)
        self.I[kernel.LAST, kernel.EDGES] = edges
        self.S = np.zeros((len(score.groups), 4))
        for number, group in enumerate(score.groups):
            centre = self.V[p, group].mean()
            away = self.V[p, group] - centre
            self.S[number] = len(group), centre, away.sum(), (away**2).sum()

    def go(self, lots: Array, stop: Integers) -> None:
        """Make one step for every row of `lots`."""
        sampler, search = self.sampler, self.sampler.search
        tables = (self.S, sampler.pooling, sampler.axis, sampler.prior)
        state = (self.I, self.P, self.V, self.Q, self.E, self.F)
        given = (search.C, self.root, search.may, sampler.terms, self.W)
        sampler.kernel.walk(*given, *state, *tables, self.since, self.counts, lots, stop)

    @property
    def time(self) -> int:
        return int(self.I[self.sampler.kernel.LAST, self.sampler.kernel.TIME])

    def start_counting(self) -> None:
        """Count from here on."""
        self.counts[:] = 0.0
        self.since[:] = self.time

    def shares(self, length: int) -> Array:
        """The share of the steps since `start_counting` that each arrow was there."""
        return (self.counts + np.where(self.F >= 0, self.time - self.since, 0)) / max(length, 1)
