"""A skeleton in, its unshielded triples out, each a collider, no collider, or ambiguous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Mask
from ordag.errors import SettingError
from ordag.learners.pc.skeleton import Skeleton
from ordag.learners.pc.subsets import count_sets, inside, neighbour_sets, neighbours_besides
from ordag.learners.pc.tester import Tester

Indices = NDArray[np.intp]

MOST_SETS = 10**9
"""More sets than this are not gone through for the majority and conservative rules."""


@dataclass(frozen=True)
class Triples:
    """The unshielded triples a — b — c, a before c: joined are a with b and b with c, but not a with c."""

    a: Indices
    b: Indices
    c: Indices
    collider: Mask
    ambiguous: Mask


def by_separating_set(skeleton: Skeleton) -> Triples:
    """Collider exactly if the set that separated a and c is without b (Spirtes, Glymour & Scheines).

    Ambiguous if knowledge keeps a and c apart and no set does.
    """
    a, b, c = _unshielded(skeleton.adjacency)
    separating = skeleton.separating
    triples = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    ambiguous = np.array([(one, other) not in separating for one, _, other in triples], dtype=bool)
    without = [between not in separating.get((one, other), ()) for one, between, other in triples]
    return Triples(a, b, c, np.array(without, dtype=bool) & ~ambiguous, ambiguous)


def by_vote(skeleton: Skeleton, tester: Tester, *, unanimous: bool, limit: int) -> Triples:
    """Decide by all the sets of a's neighbours, and all the sets of c's, that separate a and c.

    Majority (Colombo & Maathuis 2014): collider if b is in fewer than half of them, no collider if in more than half,
    ambiguous if in exactly half; a set of neighbours of both counts for either, as in the authors' pcalg. Unanimous
    (the conservative rule of Ramsey, Zhang & Spirtes 2006): collider if b is in none, no collider if in all, ambiguous
    otherwise. Ambiguous too if no set separates: the one that did has lost some of its nodes as neighbours.
    """
    adjacency = skeleton.adjacency
    a, b, c = _unshielded(adjacency)
    pairs, pair = np.unique(np.stack([a, c]), axis=1, return_inverse=True)
    votes, holding = _votes(adjacency, pairs[0], pairs[1], tester, limit)
    every = votes[pair.ravel()]
    with_b = holding[pair.ravel(), b]
    if unanimous:
        collider, neither = with_b == 0, (with_b > 0) & (with_b < every)
    else:
        collider, neither = 2 * with_b < every, 2 * with_b == every
    ambiguous = neither | (every == 0)
    return Triples(a, b, c, collider & ~ambiguous, ambiguous)


def _votes(adjacency: Mask, i: Indices, j: Indices, tester: Tester, limit: int) -> tuple[Indices, Indices]:
    """For every pair, how many sets separate it, and how many of those hold each node; common ones count twice."""
    votes = np.zeros(len(i), np.intp)
    holding = np.zeros((len(i), len(adjacency)), np.intp)
    waiting = np.ones(len(i), dtype=bool)
    others = [neighbours_besides(adjacency, *ends) for ends in ((i, j), (j, i))]
    largest = min(limit, max(int(count.max(initial=0)) for count in others))
    planned = [sum(count_sets(count, k) for count in others) for k in range(largest + 1)]
    if sum(planned) > MOST_SETS:
        raise SettingError(
            f"This rule would go through {sum(planned):.1e} sets, for there are nodes with {max(map(np.max, others))} "
            "neighbours: limit the size of the sets with max_level, or choose colliders='largest'."
        )
    for k in range(largest + 1):
        tester.plan(planned[k])
        for near, far in ((i, j), (j, i))[: k + 1]:
            for rows, S in neighbour_sets(adjacency, near, far, k, waiting):
                common = inside(adjacency, far[rows], S)
                p_values = tester(near[rows], far[rows], S, common if near is j else None)
                block, column = np.nonzero(p_values > tester.alpha)
                weight = 1 + common[block, column]
                np.add.at(votes, rows[block], weight)
                np.add.at(holding, (rows[block, None], S[block, column]), weight[:, None])
    return votes, holding


def _unshielded(adjacency: Mask) -> tuple[Indices, Indices, Indices]:
    found = [np.empty((0, 3), np.intp)]
    for b in range(len(adjacency)):
        around = np.flatnonzero(adjacency[b])
        one, other = np.nonzero(np.triu(~adjacency[np.ix_(around, around)], 1))
        found.append(np.column_stack([around[one], np.full(len(one), b), around[other]]))
    triples = np.concatenate(found)
    return triples[:, 0], triples[:, 1], triples[:, 2]
