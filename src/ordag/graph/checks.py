"""Checks of node names, edges and adjacency matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ordag.common.arrays import Mask
from ordag.common.checks import as_list, short
from ordag.common.words import counted, listed, shown
from ordag.errors import GraphError


def checked_nodes(nodes: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple of distinct plain strings that a file can hold."""
    if isinstance(nodes, str):
        raise GraphError(f"nodes is the single text {nodes!r}; give a sequence of names")
    nodes = as_list(nodes, f"nodes is {short(nodes)}; give a sequence of names", GraphError)
    for position, name in enumerate(nodes):
        if not isinstance(name, str):
            raise GraphError(f"node {position} is {short(name)}, not a string; give every node a name")
    names = tuple(str(name) for name in nodes)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise GraphError(f"node names have to differ; repeated: {listed(repeated)}")
    broken = [name for name in names if any("\ud800" <= letter <= "\udfff" for letter in name)]
    if broken:
        raise GraphError(f"half a surrogate pair is not text; rename {listed(map(ascii, broken))}")
    return names


def checked_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of names as tuples."""
    ends = []
    for pair in as_list(pairs, f"edges is {short(pairs)}; give a list of (source, target)", GraphError):
        both = as_list(pair, f"{short(pair)} is no edge; give its source and its target", GraphError)
        if len(both) != 2 or not all(isinstance(name, str) for name in both):
            raise GraphError(f"{short(pair)} is no edge; give its source and its target")
        ends.append((both[0], both[1]))
    return ends


def checked_adjacency(adjacency: ArrayLike, nodes: Sequence[str] | None = None) -> Mask:
    """Return a new square mask with an empty diagonal, True where the entry is not zero."""
    try:
        entries = np.asarray(adjacency)
    except ValueError:
        raise GraphError("the rows of the adjacency matrix differ in length") from None
    if entries.dtype.kind == "O":
        try:
            entries = entries.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise GraphError("the adjacency matrix holds something that is not a number") from None
    if entries.dtype.kind not in "biuf":
        raise GraphError(f"the adjacency matrix holds {entries.dtype}, not numbers or truth values")
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise GraphError(f"an adjacency matrix is square; this one has shape {entries.shape}")
    if nodes is not None and len(nodes) != len(entries):
        raise GraphError(f"{counted(len(nodes), 'node name')} for an adjacency matrix of shape {entries.shape}")
    missing = np.argwhere(np.isnan(entries))
    if len(missing):
        row, column = missing[0]
        raise GraphError(f"the adjacency matrix is NaN at row {row}, column {column}; use 0 for no edge")
    mask: Mask = entries != 0
    loops = np.flatnonzero(np.diagonal(mask))
    if len(loops):
        first = f"node {loops[0]}" if nodes is None else shown(nodes[loops[0]])
        raise GraphError(loop(first))
    return mask


def loop(node: str) -> str:
    """Say what is wrong with an edge from a node to itself."""
    return f"{node} has an edge to itself; the diagonal has to be zero"


def read_only(mask: Mask) -> Mask:
    """Make the array read-only, and return it."""
    mask.flags.writeable = False
    return mask
