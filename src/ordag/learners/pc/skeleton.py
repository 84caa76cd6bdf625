"""The skeleton of PC, and the sets that separate the pairs that it does not join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.knowledge.masks import Constraints
from ordag.learners.pc.independence import Indices, Tester

NUMBERS_PER_BLOCK = 2**18
"""Entries of the correlation matrices of one block, so that they stay in the processor's cache."""


@dataclass(frozen=True)
class Skeleton:
    """The joined pairs; for every other pair (i, j) with i < j, a set that separates it (none where knowledge keeps the pair
    apart and no set does).

    `p_values` holds for a pair that is not joined the p-value of the test that separated it, for one that is joined the
    largest of its tests. `largest` is the size of the largest conditioning sets.
    """

    adjacency: Mask
    separating: dict[tuple[int, int], tuple[int, ...]]
    p_values: Array
    largest: int


def find_skeleton(tester: Tester, p: int, *, first: bool, limit: int, known: Constraints | None = None) -> Skeleton:
    """Remove every pair that some set of neighbours separates: PC-stable (Colombo & Maathuis 2014, Algorithm 4.1).

    Sets of k neighbours of either node are tested for k = 0, 1, …, and neighbours are those before the first set of
    this size, so that the skeleton does not depend on the order of the columns. Of several sets of one size that
    separate a pair, the one with the largest p-value is kept, or with `first` the first one, in lexicographic order,
    the sets of the earlier node's neighbours before those of the later's.

    Pairs that knowledge requires stay whatever the tests find. Pairs that it forbids are never neighbours, but are tested until a
    set separates them, because that set distinguishes colliders from other triples.
    """
    adjacency = ~np.eye(p, dtype=bool)
    apart_already = np.zeros_like(adjacency)
    joined_anyway = np.zeros_like(adjacency)
    if known is not None:
        adjacency &= ~known.barred
        apart_already = np.triu(known.barred, 1)
        joined_anyway = known.required | known.required.T
    p_values = np.eye(p)
    separating: dict[tuple[int, int], tuple[int, ...]] = {}
    largest = 0
    for k in range(limit + 1):
        i, j = np.nonzero(np.triu(adjacency) | apart_already)
        if adjacency.sum(axis=1).max(initial=0) <= k:
            break
        largest = k
        best, sets = _best_sets(tester, adjacency, i, j, k, first)
        p_values[i, j] = p_values[j, i] = np.maximum(p_values[i, j], best)
        apart = (best > tester.alpha) & ~joined_anyway[i, j]
        for a, b, S in zip(i[apart].tolist(), j[apart].tolist(), sets[apart].tolist(), strict=True):
            separating[a, b] = tuple(S)
        adjacency[i[apart], j[apart]] = adjacency[j[apart], i[apart]] = False
        apart_already[i[apart], j[apart]] = False
    p_values.flags.writeable = False
    return Skeleton(adjacency, separating, p_values, largest)


def _best_sets(tester: Tester, adjacency: Mask, i: Indices, j: Indices, k: int, first: bool) -> tuple[Array, Indices]:
    """Return for every pair the decisive p-value and its set: the largest, or the first above the level of the test."""
    best = np.full(len(i), -1.0)
    sets = np.zeros((len(i), k), np.intp)
    waiting = np.ones(len(i), dtype=bool)
    sides = ((i, j), (j, i))[: k + 1]
    tester.plan(sum(count_sets(neighbours_besides(adjacency, near, far), k) for near, far in sides))
    for rows, _, S, p_values in tests_of_pairs(tester, adjacency, i, j, k, waiting):
        chosen = p_values.argmax(axis=1)
        if first:
            separates = p_values > tester.alpha
            waiting[rows] = ~separates.any(axis=1)
            chosen = np.where(waiting[rows], chosen, separates.argmax(axis=1))
        at = np.arange(len(rows))
        better = p_values[at, chosen] > best[rows]
        best[rows[better]] = p_values[at, chosen][better]
        sets[rows[better]] = S[at, chosen][better]
    return best, sets


def tests_of_pairs(
    tester: Tester, adjacency: Mask, i: Indices, j: Indices, size: int, waiting: Mask
) -> Iterator[tuple[Indices, Indices, Indices, Array]]:
    """Test i[m] and j[m] given every set of `size` neighbours of either, in blocks (rows, far, S, p-values).

    A block has pairs m = rows[b] and sets S[b, c] of neighbours of the end that is not far[b]. A set of neighbours of both
    has its p-value in the first block that holds it and −1 in the other; the empty set comes once.
    """
    for near, far in ((i, j), (j, i))[: size + 1]:
        for rows, S in _neighbour_sets(adjacency, near, far, size, waiting):
            end = far[rows]
            met = np.asarray(adjacency[end[:, None, None], S].all(axis=2)) if near is j else None
            yield rows, end, S, tester(near[rows], end, S, met)


def _neighbour_sets(
    adjacency: Mask, near: Indices, far: Indices, size: int, waiting: Mask
) -> Iterator[tuple[Indices, Indices]]:
    """Yield all sets of `size` neighbours of near[m] other than far[m], for every m, in blocks (rows, S).

    S[b, c] is the c-th set for the pair m = rows[b]; the sets of a pair come in lexicographic order. A pair whose
    entry in `waiting` the caller has cleared gets no further blocks.
    """
    budget = max(1, NUMBERS_PER_BLOCK // (size + 2) ** 2)
    others = neighbours_besides(adjacency, near, far)
    for count in np.unique(others[others >= size]).tolist():
        group = np.flatnonzero(others == count)
        # Many pairs with few sets at a time, so that a pair can leave early.
        width = max(1, min(budget // min(comb(count, size), 64), 16 * NUMBERS_PER_BLOCK // len(adjacency)))
        for start in range(0, len(group), width):
            rows = group[start : start + width]
            table = _neighbours(adjacency, near[rows], far[rows], count if size else 0)
            for chosen in _combinations(count, size, max(1, budget // len(rows))):
                open_ = waiting[rows]
                rows, table = rows[open_], table[open_]
                if not len(rows):
                    break
                yield rows, table[:, chosen]


def neighbours_besides(adjacency: Mask, near: Indices, far: Indices) -> Indices:
    """Count the neighbours of near[m] other than far[m]."""
    return np.asarray(adjacency.sum(axis=1, dtype=np.intp)[near] - adjacency[near, far])


def count_sets(others: Indices, size: int) -> int:
    """Count the sets of this size over all pairs, from the number of neighbours of each."""
    counts, times = np.unique(others, return_counts=True)
    return sum(comb(count, size) * time for count, time in zip(counts.tolist(), times.tolist(), strict=True))


def _neighbours(adjacency: Mask, near: Indices, far: Indices, count: int) -> Indices:
    if count == 0:
        return np.empty((len(near), 0), np.intp)
    mask = adjacency[near]
    mask[np.arange(len(far)), far] = False
    return np.nonzero(mask)[1].reshape(len(near), count)


def _combinations(count: int, size: int, width: int) -> Iterator[Indices]:
    every = combinations(range(count), size)
    while block := list(islice(every, width)):
        yield np.array(block, dtype=np.intp).reshape(len(block), size)
