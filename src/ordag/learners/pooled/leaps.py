"""Leaps: orders that no move of a single variable leads to, where a better graph may be near.

Among few rows an order goes wrong as a whole: somewhere a variable is taken before its parent, and what follows from it comes
before a long row of others (docs/pooled.md, "Leaps"). The score tells, but to mend it many variables have to move at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from ordag.bits import members
from ordag.learners.pooled.descent import HOPELESS, WORTHWHILE, Descent, Optimum, Order

TRIES = 10
"""Leaps that are searched on from, the most promising first, before an optimum stands."""

SLACK = 20.0
"""A leap that raises the sum by more than this is not worth a search."""


def leapt(search: Descent, best: Optimum) -> Optimum:
    """The optimum that leaps lead to, each to a lower score."""
    while True:
        found = (search.descend(order, best.parents) for order in promising(search, best))
        better = next((one for one in found if one.score < best.score - WORTHWHILE), None)
        if better is None:
            return best
        best = better


def promising(search: Descent, best: Optimum) -> list[list[int]]:
    """The orders that change the sum least, or lower it most, with runs of variables moved and arrows turned."""
    needed = [own | first for own, first in zip(best.parents, search.first, strict=True)]
    search.begin(best)
    position = Order(search.trees, in_runs(best.order, needed, best.parents))
    leaps = sorted([*_moved_runs(position), *_turned_arrows(position)], key=lambda leap: leap[0])
    return [order for change, order in leaps[:TRIES] if change < SLACK]


def in_runs(order: Sequence[int], needed: Sequence[int], parents: Sequence[int]) -> list[int]:
    """The same graph's order in which, as far as can be, a child follows its parent; `needed` must come before each.

    Where no child of the last variable can follow, the one that comes first in the given order does.
    """
    waiting_for = [mask.bit_count() for mask in needed]
    followers: list[list[int]] = [[] for _ in order]
    place = {j: at for at, j in enumerate(order)}
    for j in order:
        for k in members(needed[j]):
            followers[k].append(j)
    ready = [at for at, j in enumerate(order) if not needed[j]]
    kept: list[int] = []
    taken = [False] * len(order)
    while len(kept) < len(order):
        last = kept[-1] if kept else -1
        children = followers[last] if kept else []
        j = next((k for k in children if not taken[k] and not waiting_for[k] and parents[k] >> last & 1), -1)
        while j < 0 or taken[j]:
            j = order[heappop(ready)]
        taken[j] = True
        kept.append(j)
        for k in followers[j]:
            waiting_for[k] -= 1
            if not waiting_for[k]:
                heappush(ready, place[k])
    return kept


def _moved_runs(position: Order) -> Iterator[tuple[float, list[int]]]:
    """Every run, in which each variable is a child of the one before, at every other place between two runs."""
    order, parents = position.order, position.parents
    starts = [0, *(t for t in range(1, len(order)) if not parents[order[t]] >> order[t - 1] & 1), len(order)]
    runs = [order[a:b] for a, b in pairwise(starts)]
    for at, run in enumerate(runs):
        for others in (range(at - 1, -1, -1), range(at + 1, len(runs))):
            for change, place in _look(position, run, runs, others):
                left = runs[:at] + runs[at + 1 :]
                left.insert(place, run)
                yield change, [j for one in left for j in one]


def _look(
    position: Order, run: Sequence[int], runs: Sequence[Sequence[int]], others: range
) -> Iterator[tuple[float, int]]:
    """How the sum changes when a run passes one run after another, and its place among them; as `Order.improve` for one variable."""
    find, found, before = position.trees.find, position.found, position.before
    left = others.step < 0
    bits = sum(1 << x for x in run)
    matters, passed, theirs = 0, 0, 0.0
    for x in run:
        matters |= found[x].picked if left else found[x].rivals
    for place in others:
        affected = False
        for y in runs[place]:
            passed |= 1 << y
            if (found[y].rivals if left else found[y].picked) & bits:
                theirs += find(y, before[y] ^ bits).cost - found[y].cost
                affected = True
        if theirs > SLACK + HOPELESS:
            return
        if not affected and not matters & passed:
            continue
        own = sum(
            find(x, before[x] ^ passed).cost - found[x].cost
            for x in run
            if (found[x].picked if left else found[x].rivals) & passed
        )
        yield theirs + own, place


def _turned_arrows(position: Order) -> Iterator[tuple[float, list[int]]]:
    """Every arrow the other way round, unless there is another path: its head comes first, with what leads to it."""
    order, parents, found, find = position.order, position.parents, position.found, position.trees.find
    ancestors, descendants = [0] * len(order), [0] * len(order)
    for j in order:
        ancestors[j] = parents[j]
        for k in members(parents[j]):
            ancestors[j] |= ancestors[k]
        for k in members(ancestors[j]):
            descendants[k] |= 1 << j
    for at, tail in enumerate(order):
        for head in members(descendants[tail]):
            if descendants[tail] & ancestors[head]:
                continue
            before = position.before[tail] | ancestors[head] & ~(1 << tail)
            change = find(head, before).cost - found[head].cost
            change += find(tail, before | 1 << head).cost - found[tail].cost
            if change < SLACK:
                first = [j for j in order[at:] if before >> j & 1]
                rest = [j for j in order[at:] if not before >> j & 1 and j not in (tail, head)]
                yield change, [*order[:at], *first, head, tail, *rest]
