"""Exact search over few variables: all graphs, their probabilities, and the best graph over all sets of parents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum
from ordag.learners.pooled.problem import Problem
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import LogVariances

MOST_VARIABLES = 5
"""Variables up to which all graphs are enumerated: five have 29,281, six 3.8 million."""


def best_of_all_graphs(problem: Problem) -> Optimum:
    """Return the graph of the lowest score."""
    known = problem.known
    every = AllGraphs(problem.score.p, *(() if known is None else (known.allowed, known.required)))
    for k in every.totals(problem.score, problem.variances).argsort(kind="stable"):
        parents = every.graphs[k].tolist()
        if len(problem.topological(parents)) == problem.score.p:  # no cycle with what knowledge puts first
            return problem.fitted(parents)
    raise AssertionError("knowledge was checked to allow a graph")


def variances_of_all_sets(problem: Problem) -> Array:
    """Return the log variance of every variable with every set of parents, as a bitmask; infinite for sets that it cannot have."""
    p = problem.score.p
    allowed, required, _ = problem.masks
    v = np.full((p, 2**p), np.inf)
    for j in range(p):
        for mask in range(2**p):
            if not (mask & ~allowed[j] or required[j] & ~mask or mask.bit_count() > problem.variances.most):
                v[j, mask] = problem.variances.log_variance(j, mask)
    return v


def descend_over_sets(problem: Problem, v: Array, start: Optimum) -> Optimum:
    """Return a graph whose bound no graph lowers and no change of one arrow improves. v: those of all sets of parents."""
    best, possible = problem.fitted(start.parents, start.order), v < np.inf
    while True:
        local = problem.score.local(best.v, best.edges)
        terms = np.stack([local.terms(j, row) for j, row in enumerate(np.where(possible, v, 0.0))])
        costs = np.where(possible, terms, np.inf)
        found = problem.fitted(best_graph(costs, problem.score.edge_priors, problem.masks[2]))
        if found.score > best.score - LEAST_GAIN:
            changed = problem.best_single_change(best)
            if changed is None:
                return best
            found = changed
        best = found


@cache
def all_graphs(p: int) -> NDArray[np.int64]:
    """Return all DAGs over p variables, one row each with the parents of every variable as bitmasks."""
    sets = np.arange(2**p)
    choices = [sets[(sets >> j & 1) == 0] for j in range(p)]
    parents = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, p)
    removed = np.zeros(len(parents), dtype=np.int64)
    for _ in range(p):  # a graph is acyclic if all its variables can be removed, parents first
        for j in range(p):
            removed |= np.where(parents[:, j] & ~removed == 0, 1 << j, 0)
    graphs = np.asarray(parents[removed == 2**p - 1])
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
        """Return the score of every graph."""
        v = np.empty(self.graphs.shape)
        for j, sets in enumerate(self._sets):
            lookup = np.full(2**self.p, np.nan)
            lookup[sets] = [variances.log_variance(j, mask) for mask in sets]
            v[:, j] = lookup[self.graphs[:, j]]
        return score.totals(v, self._edges)

    def weights(self, score: PooledScore, variances: LogVariances) -> Array:
        """Return the posterior probability of every graph: exp(−score) over the sum over all."""
        totals = self.totals(score, variances)
        weight = np.exp(totals.min() - totals)
        return np.asarray(weight / weight.sum())

    def arrows(self, weights: Array) -> Array:
        """Return the probability of i → j at [i, j]: the sum over the graphs that have it."""
        return (weights @ self._arrows).reshape(self.p, self.p).T

    @cached_property
    def _arrows(self) -> Array:
        """Whether each graph has i → j, at j · p + i."""
        nodes = np.arange(self.p)
        return (self.graphs[:, :, None] >> nodes & 1).reshape(len(self.graphs), -1).astype(np.float64)


def best_graph(costs: Array, prices: Array, first: Sequence[int]) -> tuple[int, ...]:
    r"""Return the parents of every variable, as bitmasks, in the DAG of the lowest $\sum_j$ costs[j, parents] + prices[edges].

    The lowest sum over every set of variables is computed for every number of edges, smaller sets first: one variable of the set is
    the last, with parents among the others (Silander & Myllymäki 2006).

    costs: of every variable with every set of parents, as a bitmask; infinite for sets that it cannot have. prices: of every number
    of edges. first: the variables that must come before each.
    """
    p, sets = costs.shape
    size = np.array([mask.bit_count() for mask in range(sets)])
    nodes = np.arange(sets)
    # own[j, before, m]: the lowest cost of j with m parents within a set
    own = np.full((p, sets, p + 1), np.inf)
    own[:, nodes, size] = costs
    for k in range(p):
        having = nodes[nodes >> k & 1 == 1]
        own[:, having] = np.minimum(own[:, having], own[:, having ^ 1 << k])
    for j, needed in enumerate(first):
        own[j, nodes & needed != needed] = np.inf
    # sums[nodes, k]: the lowest sum over a set of variables with k edges among them
    sums = np.full((sets, len(prices)), np.inf)
    sums[0, 0] = 0.0
    for of_size in range(1, p + 1):
        for j in range(p):
            having = nodes[(size == of_size) & (nodes >> j & 1 == 1)]
            before, best = having ^ 1 << j, sums[having]
            for m in range(of_size):
                rest = sums[before, : len(prices) - m] + own[j, before, m, None]
                best[:, m:] = np.minimum(best[:, m:], rest)
            sums[having] = best
    parents = [0] * p
    left, edges = sets - 1, int((sums[-1] + prices).argmin())
    while left:  # back from the last variable: which one, with how many parents, and which
        others = [left ^ 1 << j for j in range(p) if left >> j & 1]
        last = [
            (sums[before, edges - m] + own[(left ^ before).bit_length() - 1, before, m], before, m)
            for before in others
            for m in range(min(len(others) - 1, edges) + 1)
        ]
        _, before, m = min(last)
        j = (left ^ before).bit_length() - 1
        left, edges = before, edges - m
        possible = nodes[(nodes & ~left == 0) & (size == m)]
        parents[j] = int(possible[costs[j, possible].argmin()])
    return tuple(parents)
