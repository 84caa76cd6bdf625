"""The consensus graph of the probabilities of arrows."""

from __future__ import annotations

import numpy as np

from ordag.common.arrays import Array, Mask
from ordag.graph.acyclic import transitive_closure

LIKELY, JOINED = 0.5, 0.8
"""The probability of an arrow above which the graph has it, and that of an edge from which on the pair is joined."""


def consensus(arrows: Array, before: Mask | None = None) -> Mask:
    """Return the DAG of the most probable arrows: [i, j] of `arrows` is the probability of i → j.

    A pair is joined if one of its arrows, or an edge of either direction, is probable enough; it then has its more probable arrow. Arrows
    are added by decreasing probability unless they make a cycle with those added and with `before`, the partial order of knowledge.
    So the graph has nearly the fewest expected wrong entries, and no arrow whose reverse is more probable.
    """
    p = len(arrows)
    graph = np.zeros((p, p), dtype=bool)
    reaches = np.eye(p, dtype=bool) if before is None else transitive_closure(before) | np.eye(p, dtype=bool)
    more = (arrows > arrows.T) | ((arrows == arrows.T) & ~np.tri(p, dtype=bool))
    i, j = np.nonzero(more & ((arrows > LIKELY) | (arrows + arrows.T >= JOINED)))
    for k in np.argsort(-arrows[i, j], kind="stable"):
        a, b = i[k], j[k]
        if not reaches[b, a]:
            graph[a, b] = True
            reaches |= np.outer(reaches[:, a], reaches[b])
    return graph
