"""A Dag and sets of its nodes in, whether they are d-separated out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ordag.arrays import Mask
from ordag.errors import GraphError
from ordag.graph.dag import Dag
from ordag.graph.links import Links
from ordag.words import listed


def d_separated(dag: Dag, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
    """Whether every path between `a` and `b` is blocked by `given`; each is a name or a set of names.

    A path is blocked at a node of `given` that is no collider on it, and at a collider that is neither in
    `given` nor an ancestor of it. A walk over the nodes that keeps apart having come along an arrow and
    against one finds all that open paths reach (Shachter 1998).
    """
    start, end, block = (_places(dag, names) for names in (a, b, given))
    for first, second in ((start, end), (start, block), (end, block)):
        if (first & second).any():
            both = [dag.nodes[node] for node in np.flatnonzero(first & second)]
            raise GraphError(f"the sets a, b and given may not share nodes; shared: {listed(both)}")
    return not (_open_from(dag.links, start, block) & end).any()


def _open_from(links: Links, start: Mask, block: Mask) -> Mask:
    up, down = start.copy(), np.zeros_like(start)
    new_up, new_down = up, down
    while new_up.any() or new_down.any():
        # `up`: reached against an arrow, from a child (or the start); `down`: reached along one, from a parent.
        # A walk that comes down to a node of `block` turns back up, and so passes the colliders above it.
        to_parents = (new_up & ~block) | (new_down & block)
        to_children = (new_up | new_down) & ~block
        new_up, new_down = np.zeros_like(up), np.zeros_like(down)
        new_up[links.source[to_parents[links.target]]] = True
        new_down[links.target[to_children[links.source]]] = True
        new_up &= ~up
        new_down &= ~down
        up = up | new_up
        down = down | new_down
    return up | down


def _places(dag: Dag, names: str | Iterable[str]) -> Mask:
    chosen = np.zeros(len(dag.nodes), dtype=bool)
    for name in (names,) if isinstance(names, str) else names:
        chosen[dag.index(name)] = True
    return chosen
