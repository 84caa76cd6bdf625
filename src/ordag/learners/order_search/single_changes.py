"""Improve a graph by adding, dropping or turning a single arrow, under the score itself rather than the sum that bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ordag.bits import members, packed_columns, union, unpacked_columns
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search.engine import WORTHWHILE, Optimum, Score
from ordag.learners.pooled.variances import LogVariances

SLACK = 2.0
"""A change that raises the sum by more than this is not tried: the score lies below the sum, but not by so much."""

Change = dict[int, tuple[int, float]]
"""The new parents and log variance of one variable or two."""


def best_single_change(
    best: Optimum, score: Score, variances: LogVariances, known: Constraints | None
) -> Optimum | None:
    """Return the graph of the lowest score that differs in one arrow, or None where none is better."""
    lowest, found = best.score - WORTHWHILE, None
    for change in _single_changes(best, score, variances, known):
        v = best.v.copy()
        parents = list(best.parents)
        for j, (mask, value) in change.items():
            parents[j], v[j] = mask, value
        total = score.total(v, sum(mask.bit_count() for mask in parents))
        if total < lowest:
            lowest, found = total, replace(best, score=total, parents=tuple(parents), v=v)
    if found is None:
        return None
    first = [0] * len(found.parents) if known is None else packed_columns(known.before)
    return replace(found, order=order_of(found.parents, first))


def order_of(parents: tuple[int, ...], first: list[int]) -> tuple[int, ...]:
    """The topological order that takes the variable of the lowest number where there is a choice; `first` must come before each."""
    needed = [own | before for own, before in zip(parents, first, strict=True)]
    return tuple(topological_order(unpacked_columns(needed, len(needed))))


def _single_changes(
    best: Optimum, score: Score, variances: LogVariances, known: Constraints | None
) -> Iterator[Change]:
    p, parents = len(best.parents), best.parents
    everyone = (1 << p) - 1
    allowed = [everyone & ~(1 << j) for j in range(p)] if known is None else packed_columns(known.allowed)
    required = [0] * p if known is None else packed_columns(known.required)
    first = [0] * p if known is None else packed_columns(known.before)
    after = [0] * p
    for j, mask in enumerate(parents):
        for i in members(mask | first[j]):
            after[i] |= 1 << j
    descendants = [0] * p
    for j in reversed(best.order):
        descendants[j] = after[j] | union(descendants, after[j])
    local = score.local(best.v, best.edges)
    cheaper = replace(local, price=local.price - SLACK)
    for j, own in enumerate(parents):
        now = local.term(j, float(best.v[j]))
        if own.bit_count() < variances.most:
            ranked, values = variances.candidates(j, own, cheaper.worthwhile(j, float(best.v[j])))
            for w, value in zip(ranked, values, strict=True):
                if allowed[j] & ~own & ~descendants[j] & ~(1 << j) & 1 << w:
                    yield {j: (own | 1 << w, value)}
        if not own:
            continue
        nodes, values_without = variances.log_dropping(j, own)
        for i, value in zip(nodes.tolist(), values_without.tolist(), strict=True):
            if required[j] >> i & 1:
                continue
            without, rise = own & ~(1 << i), local.term(j, value) - now
            if rise - local.price < SLACK:
                yield {j: (without, value)}
            others = after[i] & ~(1 << j)
            if first[j] >> i & 1 or (others | union(descendants, others)) >> j & 1 or not allowed[i] >> j & 1:
                continue
            if parents[i].bit_count() < variances.most:
                with_j = variances.log_variance(i, parents[i] | 1 << j)
                if rise + local.term(i, with_j) - local.term(i, float(best.v[i])) < SLACK:
                    yield {j: (without, value), i: (parents[i] | 1 << j, with_j)}
