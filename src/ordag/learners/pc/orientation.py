"""The colliders of a skeleton, and the directions that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Mask
from ordag.errors import SettingError
from ordag.graph.partly_directed import NoCollider, apply_rules
from ordag.knowledge.masks import Constraints
from ordag.learners.pc.independence import Indices, Tester
from ordag.learners.pc.skeleton import Skeleton, count_sets, neighbours_besides, tests_of_pairs

MOST_SETS = 10**9
"""Sets that the majority and conservative rules test at most."""


@dataclass(frozen=True)
class Triples:
    """The unshielded triples a — b — c with a before c: a and b are joined, b and c are, a and c are not."""

    a: Indices
    b: Indices
    c: Indices
    collider: Mask
    ambiguous: Mask


def by_separating_set(skeleton: Skeleton) -> Triples:
    """Call a triple a collider if b is not in the set that separated a and c (Spirtes, Glymour & Scheines).

    It is ambiguous if knowledge keeps a and c apart and no set does.
    """
    a, b, c = _unshielded(skeleton.adjacency)
    separating = skeleton.separating
    triples = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    ambiguous = np.array([(one, other) not in separating for one, _, other in triples], dtype=bool)
    without = [between not in separating.get((one, other), ()) for one, between, other in triples]
    return Triples(a, b, c, np.array(without, dtype=bool) & ~ambiguous, ambiguous)


def by_vote(skeleton: Skeleton, tester: Tester, *, unanimous: bool, limit: int) -> Triples:
    """Decide by all sets of neighbours of a, and all sets of neighbours of c, that separate a and c.

    Majority (Colombo & Maathuis 2014): collider if b is in fewer than half of them, no collider if in more than half,
    ambiguous if in exactly half; a set of neighbours of both counts twice, as in the authors' pcalg. Unanimous
    (the conservative rule of Ramsey, Zhang & Spirtes 2006): collider if b is in none, no collider if in all, ambiguous
    otherwise. Also ambiguous if no set separates: the one that did has lost some of its nodes as neighbours.
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
    """Count for every pair the sets that separate it, and those of them that hold each node; common ones count twice."""
    votes = np.zeros(len(i), np.intp)
    holding = np.zeros((len(i), len(adjacency)), np.intp)
    waiting = np.ones(len(i), dtype=bool)
    others = [neighbours_besides(adjacency, *ends) for ends in ((i, j), (j, i))]
    largest = min(limit, max(int(count.max(initial=0)) for count in others))
    planned = [sum(count_sets(count, k) for count in others) for k in range(largest + 1)]
    if sum(planned) > MOST_SETS:
        raise SettingError(
            f"This rule would test {sum(planned):.1e} sets, because there are nodes with {max(map(np.max, others))} "
            "neighbours: limit the size of the sets with max_level, or choose colliders='largest'."
        )
    for k in range(largest + 1):
        tester.plan(planned[k])
        for rows, far, S, p_values in tests_of_pairs(tester, adjacency, i, j, k, waiting):
            block, column = np.nonzero(p_values > tester.alpha)
            separating = S[block, column]
            weight = np.asarray(1 + adjacency[far[block, None], separating].all(axis=1))
            np.add.at(votes, rows[block], weight)
            np.add.at(holding, (rows[block, None], separating), weight[:, None])
    return votes, holding


def _unshielded(adjacency: Mask) -> tuple[Indices, Indices, Indices]:
    found = [np.empty((0, 3), np.intp)]
    for b in range(len(adjacency)):
        around = np.flatnonzero(adjacency[b])
        one, other = np.nonzero(np.triu(~adjacency[np.ix_(around, around)], 1))
        found.append(np.column_stack([around[one], np.full(len(one), b), around[other]]))
    triples = np.concatenate(found)
    return triples[:, 0], triples[:, 1], triples[:, 2]


@dataclass(frozen=True)
class Orientation:
    """`adjacency` as in `Cpdag`; `contested` (symmetric) marks edges that colliders direct both ways,
    `contested_by_rules` (symmetric) those that Meek's rules do; `denied` marks triples that became colliders although the tests
    exclude it, `refused` those that did not, because knowledge directs one of their edges otherwise."""

    adjacency: Mask
    contested: Mask
    contested_by_rules: Mask
    denied: Mask
    refused: Mask


def orient(skeleton: Mask, triples: Triples, *, overwrite: bool, known: Constraints | None = None) -> Orientation:
    """Direct the edges with one permitted direction, then those of all colliders that remain possible, then those that follow.

    A contested edge stays undirected and takes no part in the rules; with `overwrite` it points at the later column
    instead, which is where it ends if colliders are directed one by one in the order of their middle nodes. Meek's rules
    start from the triples known to be no colliders; R4 is needed with background knowledge only.
    """
    refused = np.zeros_like(triples.collider)
    claimed = np.zeros_like(skeleton)
    if known is not None:
        against = ~known.allowed
        refused = triples.collider & (against[triples.a, triples.b] | against[triples.c, triples.b])
        claimed = skeleton & known.fixed
        triples = replace(triples, collider=triples.collider & ~refused, ambiguous=triples.ambiguous | refused)
    for end in (triples.a, triples.c):
        claimed[end[triples.collider], triples.b[triples.collider]] = True
    contested = claimed & claimed.T
    arrows = claimed & ~(np.tril(contested) if overwrite else contested)
    lines = skeleton & ~claimed & ~claimed.T
    no_collider = _no_collider(triples, len(skeleton))
    both_ways = np.zeros_like(skeleton)
    for i, j in apply_rules(arrows, lines, no_collider, fourth=known is not None, set_aside=True):
        both_ways[i, j] = True
    undirected = lines | both_ways if overwrite else lines | both_ways | contested
    into = arrows[triples.a, triples.b] & arrows[triples.c, triples.b]
    denied = into & ~triples.collider & ~triples.ambiguous
    return Orientation(arrows | undirected, contested, both_ways, denied, refused)


def _no_collider(triples: Triples, p: int) -> NoCollider:
    """Return the triples known to be no colliders, in the form that Meek's rules take."""
    ends: dict[tuple[int, int], list[int]] = {}
    known = ~triples.collider & ~triples.ambiguous
    for a, b, c in zip(triples.a[known].tolist(), triples.b[known].tolist(), triples.c[known].tolist(), strict=True):
        ends.setdefault((b, a), []).append(c)
        ends.setdefault((b, c), []).append(a)

    def rows(middles: Sequence[int] | NDArray[np.intp], end: int) -> Mask:
        mask = np.zeros((len(middles), p), dtype=bool)
        for row, middle in zip(mask, middles, strict=True):
            row[ends.get((int(middle), end), [])] = True
        return mask

    return rows
