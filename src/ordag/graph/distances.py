"""Two graphs in, how far apart they are out."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.checks import checked_adjacency
from ordag.graph.graph import Graph, check_same_names
from ordag.words import counted

GraphLike: TypeAlias = Graph | ArrayLike


def hamming(a: GraphLike, b: GraphLike) -> int:
    """Missing plus extra directed edges, the distance of Park & Kim: Σ_ij [A_ij ≠ B_ij].

    A reversed edge counts 2, an undirected edge is two entries. Graphs are aligned by the names of their
    nodes; an array (not zero at [i, j] for i → j) is taken in the order in which it stands.
    """
    A, B = _aligned(a, b)
    return int((A != B).sum())


def shd(a: GraphLike, b: GraphLike) -> int:
    """The structural Hamming distance: pairs whose edge differs, Σ_{i<j} [(A_ij, A_ji) ≠ (B_ij, B_ji)].

    A missing, an extra, a reversed edge, and one that has a direction in one graph only, each count 1. What
    is accepted, and how it is aligned, is as for `hamming`.
    """
    A, B = _aligned(a, b)
    differs = A != B
    return int(np.triu(differs | differs.T).sum())


def _aligned(a: GraphLike, b: GraphLike) -> tuple[Mask, Mask]:
    if isinstance(a, Graph) and isinstance(b, Graph):
        check_same_names(a.nodes, b.nodes)
        index = [b.index(name) for name in a.nodes]
        return a.adjacency, b.adjacency[np.ix_(index, index)]
    A = a.adjacency if isinstance(a, Graph) else checked_adjacency(a)
    B = b.adjacency if isinstance(b, Graph) else checked_adjacency(b)
    if A.shape != B.shape:
        raise GraphError(f"the graphs have {len(A)} and {counted(len(B), 'node')}; a distance needs the same nodes")
    return A, B
