"""The parents that variables may have together in the graphs of a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ordag.common.arrays import Mask
from ordag.graph.partly_directed import meek

ParentSets = tuple[tuple[int, ...], ...]
"""The parents of each of several variables."""


def possible_parents(adjacency: Mask, nodes: Sequence[int]) -> Iterator[ParentSets]:
    """Yield every choice of parents that these nodes have together in a DAG of a class, each once.

    The class is a CPDAG, or one in which knowledge directs more edges. Edges at the nodes are directed one at a time, each closed under
    Meek's rules, after which every edge that is left can have either direction (Meek 1995; Perković, Kalisch & Maathuis 2017).
    """
    closed = meek(adjacency)
    lines = closed & closed.T
    for node in nodes:
        for other in np.flatnonzero(lines[node])[:1].tolist():
            for i, j in ((node, other), (other, node)):
                turned = closed.copy()
                turned[j, i] = False
                yield from possible_parents(turned, nodes)
            return
    yield tuple(tuple(np.flatnonzero(closed[:, node]).tolist()) for node in nodes)
