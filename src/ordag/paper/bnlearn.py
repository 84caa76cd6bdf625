"""What stands in for two functions of R's bnlearn, with which the authors' public code compares: `pc.stable`, and `rsmax2`,
which it calls GES. They are written after bnlearn's documentation and default settings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ordag.arrays import Mask
from ordag.data.moments import Moments
from ordag.graph.acyclic import find_cycle, reachable
from ordag.graph.cpdag import Cpdag
from ordag.graph.dag import Dag
from ordag.graph.meek import meek
from ordag.learners.pc import pc_search
from ordag.learners.pc.search import PcResult
from ordag.learners.regressions import Regressions
from ordag.parents.tests import student_t

WORTHWHILE = 1e-8
"""Scores that differ by less are equal: equivalent moves are, and then the first in the order of the columns is made."""


def pc_stable(moments: Moments, alpha: float) -> Cpdag:
    """The skeleton by exact t tests; then the colliders, by the p-value of their separating set, smallest first.

    A collider that contradicts an earlier one, or closes a cycle, is left out. Then come Meek's rules. Where no two
    colliders contradict each other, this is PC as everywhere.
    """
    found = pc_search(moments, alpha=alpha, test="t", colliders="first")
    graph = found.graph.skeleton.copy()
    for _, a, b, c in sorted(_colliders(found)):
        if graph[a, b] and graph[c, b]:
            trial = graph.copy()
            trial[b, a] = trial[b, c] = False
            if find_cycle(trial & ~trial.T) is None:
                graph = trial
    return Cpdag(moments.names, meek(graph))


def _colliders(found: PcResult) -> Iterator[tuple[float, int, int, int]]:
    """The triples a — b — c whose ends are separated by a set without b, with the p-value of that test."""
    skeleton, names = found.graph.skeleton, found.graph.nodes
    for b in range(len(names)):
        for a, c in combinations(np.flatnonzero(skeleton[b]).tolist(), 2):
            if not skeleton[a, c] and names[b] not in found.separating_sets[frozenset((names[a], names[c]))]:
                yield float(found.p_values[a, c]), a, b, c


def rsmax2(moments: Moments, alpha: float = 0.05) -> Dag:
    """Restricted maximisation: neighbours by tests, then the best BIC that hill climbing among them reaches.

    The neighbours are those of SI-HITON-PC (Aliferis et al. 2010) with exact t tests; the climb starts with no edges.
    """
    regressions = Regressions(moments.R, moments.n)
    near = [neighbours(regressions, j, alpha) for j in range(moments.p)]
    allowed = np.array([[i in near[j] and j in near[i] for j in range(moments.p)] for i in range(moments.p)])
    return Dag(moments.names, climb(regressions, allowed))


def neighbours(regressions: Regressions, target: int, alpha: float) -> list[int]:
    """Candidates by marginal association, the strongest first; each stays unless a set of those before separates it.

    In the end all are held against all sets of the others once more, and those that fall are dropped together.
    """

    def joined(other: int, sets: Sequence[int]) -> bool:
        subsets = (S for size in range(1, len(sets) + 1) for S in combinations(sets, size))
        return all(_p_value(regressions, target, other, S) <= alpha for S in subsets)

    marginal = {k: _p_value(regressions, target, k, ()) for k in range(regressions.p) if k != target}
    found: list[int] = []
    for other in sorted(marginal, key=lambda k: marginal[k]):
        if marginal[other] <= alpha and joined(other, found):
            found.append(other)
    return [other for other in found if joined(other, [k for k in found if k != other])]


def _p_value(regressions: Regressions, i: int, j: int, given: Sequence[int]) -> float:
    """Of the exact test of zero partial correlation, whose square is 1 − RSS(i | j, given) / RSS(i | given)."""
    base = sum(1 << k for k in given)
    left = regressions.rss(i, base | 1 << j) / regressions.rss(i, base)
    r = math.sqrt(min(max(1.0 - left, 0.0), 1.0))
    return float(student_t(np.array(r), regressions.n, np.array(len(given))))


def climb(regressions: Regressions, allowed: Mask) -> Mask:
    """Add, remove or turn round the one edge that gains most BIC, until none gains any."""
    graph = np.zeros_like(allowed)
    while True:
        best, change = WORTHWHILE, None
        for gain, moved in _moves(regressions, graph, allowed):
            if gain > best + (WORTHWHILE if change is not None else 0.0):
                best, change = gain, moved
        if change is None:
            return graph
        graph = change


def _moves(regressions: Regressions, graph: Mask, allowed: Mask) -> Iterator[tuple[float, Mask]]:
    """What each change to an acyclic graph gains: additions first, then removals, then reversals."""
    n = regressions.n

    def score(j: int, parents: Mask) -> float:
        rss = regressions.rss(j, sum(1 << int(k) for k in np.flatnonzero(parents)))
        return -n / 2 * math.log(rss) - math.log(n) / 2 * int(parents.sum())

    def changed(*edges: tuple[int, int]) -> tuple[float, Mask]:
        after = graph.copy()
        for i, j in edges:
            after[i, j] = not after[i, j]
        gain = sum(score(j, after[:, j]) - score(j, graph[:, j]) for j in {j for _, j in edges})
        return gain, after

    below = [reachable(graph, j) for j in range(len(graph))]
    for i, j in np.argwhere(allowed & ~graph & ~graph.T).tolist():
        if not below[j][i]:
            yield changed((i, j))
    edges = [(int(i), int(j)) for i, j in np.argwhere(graph)]
    yield from (changed((i, j)) for i, j in edges)
    for i, j in edges:
        # another way from i to j would become a cycle
        if not any(graph[i, k] and below[k][j] for k in range(len(graph)) if k != j):
            yield changed((i, j), (j, i))
