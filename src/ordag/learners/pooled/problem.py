"""`Problem`: the pooled score of graphs over the variables of one table, and the best change of a single arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ordag.common.bits import members, packed_columns, union, unpacked_columns
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import LogVariances

MOST_RISE = 2.0
"""A change that raises the sum over variables by more than this is not tried: the score lies below the sum, but not by so much."""

Change = dict[int, tuple[int, float]]
"""The new parents and log variance of one variable or two."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A score of graphs, the log variances of a table, and the knowledge that the graphs satisfy."""

    score: PooledScore
    variances: LogVariances
    known: Constraints | None

    def fitted(self, parents: Sequence[int], order: Sequence[int] | None = None) -> Optimum:
        """Return a graph, as bitmasks of parents, with its score along an order; along `topological` if none is given."""
        v = np.array([self.variances.log_variance(j, mask) for j, mask in enumerate(parents)])
        edges = sum(mask.bit_count() for mask in parents)
        order = self.topological(parents) if order is None else tuple(order)
        return Optimum(self.score.total(v, edges), order, tuple(parents), v)

    def topological(self, parents: Sequence[int]) -> tuple[int, ...]:
        """Return the topological order that satisfies knowledge and takes the variable of the lowest number where there is a choice."""
        needed = [mask | first for mask, first in zip(parents, self.masks[2], strict=True)]
        return tuple(topological_order(unpacked_columns(needed, len(needed))))

    def best_single_change(self, best: Optimum, *, turns_alone: bool = False) -> Optimum | None:
        """Return the graph of the lowest score that differs in one arrow, or None where none is better.

        turns_alone: only arrows in the other direction are tried.
        """
        changes = self._improving(best, turns_alone)
        return None if not changes else self._changed(best, min(changes, key=lambda one: one[0])[1])

    def single_changes(self, best: Optimum) -> Optimum | None:
        """Return a graph with many single changes at once, of different variables and without a cycle; None where none is better.

        The change that lowers the score of the graph alone by most comes first. Each must lower the score beside those before it.
        """
        now, touched, first = best, set[int](), self.masks[2]
        children = [set[int]() for _ in best.parents]
        for j, mask in enumerate(best.parents):
            for i in members(mask | first[j]):
                children[i].add(j)
        for _, change in sorted(self._improving(best, False), key=lambda one: one[0]):
            if touched & change.keys():
                continue
            added = [(i, j) for j, (mask, _) in change.items() for i in members(mask & ~best.parents[j])]
            gone = [(i, j) for j, (mask, _) in change.items() for i in members(best.parents[j] & ~mask & ~first[j])]
            for i, j in gone:
                children[i].discard(j)
            better = None if any(_leads(children, j, i) for i, j in added) else self._changed(now, change, best.order)
            if better is None or better.score > now.score - LEAST_GAIN:
                for i, j in gone:
                    children[i].add(j)
                continue
            for i, j in added:
                children[i].add(j)
            touched |= change.keys()
            now = better
        return None if now is best else replace(now, order=self.topological(now.parents))

    def _changed(self, best: Optimum, change: Change, order: tuple[int, ...] | None = None) -> Optimum:
        """Return the graph with a change, under this order; in topological order if none is given."""
        parents, v = list(best.parents), best.v.copy()
        for j, (mask, value) in change.items():
            parents[j], v[j] = mask, value
        edges = sum(mask.bit_count() for mask in parents)
        return Optimum(self.score.total(v, edges), order or self.topological(parents), tuple(parents), v)

    def _improving(self, best: Optimum, turns_alone: bool) -> list[tuple[float, Change]]:
        """Return the single changes that lower the score, each with the score that it gives."""
        found, edges, v = [], best.edges, best.v.copy()
        for change in self._single_changes(best, turns_alone):
            now = edges
            for j, (mask, value) in change.items():
                v[j] = value
                now += mask.bit_count() - best.parents[j].bit_count()
            total = self.score.total(v, now)
            if total < best.score - LEAST_GAIN:
                found.append((total, change))
            for j in change:
                v[j] = best.v[j]
        return found

    @cached_property
    def masks(self) -> tuple[list[int], list[int], list[int]]:
        """The possible parents, the required parents, and the variables that must come first, of every variable."""
        return masks_of(self.known, self.score.p)

    def _single_changes(self, best: Optimum, turns_alone: bool) -> Iterator[Change]:
        """Yield the additions, removals and reversals of one arrow that may lower the score."""
        variances, p, parents = self.variances, len(best.parents), best.parents
        allowed, required, first = self.masks
        after = [0] * p
        for j, mask in enumerate(parents):
            for i in members(mask | first[j]):
                after[i] |= 1 << j
        descendants = [0] * p
        for j in reversed(best.order):
            descendants[j] = after[j] | union(descendants, after[j])
        local = self.score.local(best.v, best.edges)
        cheaper = replace(local, price=local.price - MOST_RISE)
        for j, mask in enumerate(parents):
            now = local.term(j, float(best.v[j]))
            if mask.bit_count() < variances.most and not turns_alone:
                ranked, values = variances.candidates(j, mask, cheaper.worthwhile(j, float(best.v[j])))
                for w, value in zip(ranked, values, strict=True):
                    if allowed[j] & ~mask & ~descendants[j] & ~(1 << j) & 1 << w:
                        yield {j: (mask | 1 << w, value)}
            if not mask:
                continue
            nodes, values_without = variances.log_dropping(j, mask)
            for i, value in zip(nodes.tolist(), values_without.tolist(), strict=True):
                if required[j] >> i & 1:
                    continue
                without, rise = mask & ~(1 << i), local.term(j, value) - now
                if rise - local.price < MOST_RISE and not turns_alone:
                    yield {j: (without, value)}
                others = after[i] & ~(1 << j)
                if first[j] >> i & 1 or (others | union(descendants, others)) >> j & 1 or not allowed[i] >> j & 1:
                    continue
                if parents[i].bit_count() < variances.most:
                    with_j = variances.log_variance(i, parents[i] | 1 << j)
                    if rise + local.term(i, with_j) - local.term(i, float(best.v[i])) < MOST_RISE:
                        yield {j: (without, value), i: (parents[i] | 1 << j, with_j)}


def _leads(children: Sequence[set[int]], start: int, end: int) -> bool:
    """Return whether a path leads from one variable to another."""
    seen, waiting = {start}, [start]
    while waiting:
        for k in children[waiting.pop()]:
            if k == end:
                return True
            if k not in seen:
                seen.add(k)
                waiting.append(k)
    return False


def masks_of(known: Constraints | None, p: int) -> tuple[list[int], list[int], list[int]]:
    """Return the possible parents, the required parents, and the variables that must come first, of each of p variables."""
    if known is None:
        return [(1 << p) - 1 & ~(1 << j) for j in range(p)], [0] * p, [0] * p
    return packed_columns(known.allowed), packed_columns(known.required), packed_columns(known.before)
