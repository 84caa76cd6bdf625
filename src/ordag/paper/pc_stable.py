"""PC with the rule for colliders of R's bnlearn (`pc.stable`), for comparisons as the authors' public code makes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ordag.data.moments import Moments
from ordag.graph.acyclic import find_cycle
from ordag.graph.cpdag import Cpdag
from ordag.graph.partly_directed import meek
from ordag.learners.pc import pc_search
from ordag.learners.pc.search import PcResult


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
