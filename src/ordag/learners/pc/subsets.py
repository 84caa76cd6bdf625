"""A skeleton and pairs of nodes in, the sets to condition on out, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Mask

Indices = NDArray[np.intp]

BLOCK = 2**18
"""How many entries the correlation matrices of one block may have together: they should stay in the cache."""


def neighbour_sets(
    adjacency: Mask, near: Indices, far: Indices, size: int, waiting: Mask
) -> Iterator[tuple[Indices, Indices]]:
    """All sets of `size` neighbours of near[m] other than far[m], for every m, in blocks (rows, S).

    S[b, c] is the c-th set for the pair m = rows[b]; the sets of a pair come in lexicographic order. A pair whose
    entry in `waiting` the caller has cleared gets no further blocks.
    """
    budget = max(1, BLOCK // (size + 2) ** 2)
    others = neighbours_besides(adjacency, near, far)
    for count in np.unique(others[others >= size]).tolist():
        group = np.flatnonzero(others == count)
        # Many pairs with few sets at a time, so that a pair can leave early.
        width = max(1, min(budget // min(comb(count, size), 64), 16 * BLOCK // len(adjacency)))
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
    """How many neighbours near[m] has other than far[m]."""
    return np.asarray(adjacency.sum(axis=1, dtype=np.intp)[near] - adjacency[near, far])


def count_sets(others: Indices, size: int) -> int:
    """How many sets of this size there are in all, of so many neighbours each."""
    counts, times = np.unique(others, return_counts=True)
    return sum(comb(count, size) * time for count, time in zip(counts.tolist(), times.tolist(), strict=True))


def inside(adjacency: Mask, nodes: Indices, S: Indices) -> Mask:
    """Whether all of S[b, c] are neighbours of nodes[b]."""
    return np.asarray(adjacency[nodes[:, None, None], S].all(axis=2))


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
