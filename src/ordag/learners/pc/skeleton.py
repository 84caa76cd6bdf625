"""Tests of conditional independence in, the skeleton and what separates the pairs that it does not join out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.knowledge.masks import Constraints
from ordag.learners.pc.subsets import count_sets, inside, neighbour_sets, neighbours_besides
from ordag.learners.pc.tester import Tester

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Skeleton:
    """Who is joined; for every pair (i, j) with i < j that is not, a set that separates it (but none for pairs that are
    known to be apart and that no set separates).

    `p_values` holds for a pair that is not joined the p-value of the test that separated it, for one that is the
    largest met. `level` is the size of the largest sets conditioned on.
    """

    adjacency: Mask
    separating: dict[tuple[int, int], tuple[int, ...]]
    p_values: Array
    level: int


def find_skeleton(tester: Tester, p: int, *, first: bool, limit: int, known: Constraints | None = None) -> Skeleton:
    """PC-stable (Colombo & Maathuis 2014, Algorithm 4.1): remove a pair that some set of neighbours separates.

    At level k the sets are those of k neighbours of either node, and neighbours are those of the start of the level,
    so that the skeleton does not depend on the order of the columns. Of several sets that separate a pair at one
    level, the one with the largest p-value is kept, or with `first` the first one, in lexicographic order, the sets
    of the earlier node's neighbours before those of the later's.

    Pairs that are `known` to be joined stay, whatever the tests say. Those known not to be are never neighbours; they
    are tested all the same until a set separates them, for that set tells colliders from other triples.
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
    level = 0
    for k in range(limit + 1):
        i, j = np.nonzero(np.triu(adjacency) | apart_already)
        if adjacency.sum(axis=1).max(initial=0) <= k:
            break
        level = k
        best, sets = _level(tester, adjacency, i, j, k, first)
        p_values[i, j] = p_values[j, i] = np.maximum(p_values[i, j], best)
        apart = (best > tester.alpha) & ~joined_anyway[i, j]
        for a, b, S in zip(i[apart].tolist(), j[apart].tolist(), sets[apart].tolist(), strict=True):
            separating[a, b] = tuple(S)
        adjacency[i[apart], j[apart]] = adjacency[j[apart], i[apart]] = False
        apart_already[i[apart], j[apart]] = False
    return Skeleton(adjacency, separating, p_values, level)


def _level(tester: Tester, adjacency: Mask, i: Indices, j: Indices, k: int, first: bool) -> tuple[Array, Indices]:
    """For every pair, the p-value and the set that count: the largest, or the first above the level of the test."""
    best = np.full(len(i), -1.0)
    sets = np.zeros((len(i), k), np.intp)
    waiting = np.ones(len(i), dtype=bool)
    sides = ((i, j), (j, i))[: k + 1]  # the empty set is the same from either side
    tester.plan(sum(count_sets(neighbours_besides(adjacency, near, far), k) for near, far in sides))
    for near, far in sides:
        for rows, S in neighbour_sets(adjacency, near, far, k, waiting):
            skip = inside(adjacency, far[rows], S) if near is j else None
            p_values = tester(near[rows], far[rows], S, skip)
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
