"""Distances between two graphs: Hamming and structural Hamming."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.words import counted
from ordag.errors import GraphError
from ordag.graph.checks import checked_adjacency
from ordag.graph.graph import Graph, check_same_names
from ordag.graph.links import Links

GraphLike: TypeAlias = Graph | ArrayLike


def hamming(a: GraphLike, b: GraphLike) -> int:
    """Count missing and extra directed edges, the distance of Park & Kim: Σ_ij [A_ij ≠ B_ij].

    A reversed edge counts 2, an undirected edge is two entries. Graphs are aligned by the names of their
    nodes; an array (nonzero at [i, j] for i → j) is taken in the order of its rows.
    """
    A, B = _aligned(a, b)
    return len(A) + len(B) - 2 * int(A.has(B.source, B.target).sum())


def shd(a: GraphLike, b: GraphLike) -> int:
    """Count the pairs whose edge differs, the structural Hamming distance: Σ_{i<j} [(A_ij, A_ji) ≠ (B_ij, B_ji)].

    A missing, an extra, a reversed edge, and one that has a direction in one graph only, each count 1. Arguments are
    as for `hamming`.
    """
    A, B = _aligned(a, b)
    only = [one.where(~other.has(one.source, one.target)) for one, other in ((A, B), (B, A))]
    source = np.concatenate([links.source for links in only])
    target = np.concatenate([links.target for links in only])
    return len(np.unique(np.minimum(source, target) * A.p + np.maximum(source, target)))


def _aligned(a: GraphLike, b: GraphLike) -> tuple[Links, Links]:
    if isinstance(a, Graph) and isinstance(b, Graph):
        if a.nodes != b.nodes:
            check_same_names(a.nodes, b.nodes)
            return a.links, b.links.renamed(np.array([a.index(name) for name in b.nodes], dtype=np.intp))
        return a.links, b.links
    A, B = (one.links if isinstance(one, Graph) else Links.of(checked_adjacency(one)) for one in (a, b))
    if A.p != B.p:
        raise GraphError(f"the graphs have {A.p} and {counted(B.p, 'node')}; a distance needs the same nodes")
    return A, B
