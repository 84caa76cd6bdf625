"""A partly directed adjacency in; what follows from its arrows, a DAG that agrees with it and that DAG's class out."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import ArrayLike

from ordag.arrays import Mask
from ordag.graph.checks import checked_adjacency


def meek(adjacency: ArrayLike) -> Mask:
    """Direct every undirected edge that the directed ones leave one way to go (Meek 1995, rules R1 to R4).

    Entry [i, j] alone is i → j, both ways is i — j; a new array comes back.

    - R1: a → b — c with a, c not joined gives b → c, for b ← c would be a new collider.
    - R2: a → b → c with a — c gives a → c, for a ← c would be a cycle.
    - R3: a — b, a — c → b, a — d → b with c, d not joined gives a → b.
    - R4: a — b, a — d → c → b with a, c joined and b, d not joined gives a → b.

    The rules work in rounds: all edges directed in one round are looked at together in the next, each once, so
    the cost is O(p²) an edge at most and the answer does not depend on the order of the nodes. Where the rules
    ask for both directions of an edge at once, no DAG agrees with the input, and the edge is left undirected;
    the rules then start over on what came out, until no edge is asked for in one direction only.
    """
    current = checked_adjacency(adjacency)
    torn = True
    while torn:
        before = current
        current, torn = _directed_further(before)
        torn = torn and not np.array_equal(current, before)
    return current


def _directed_further(adjacency: Mask) -> tuple[Mask, bool]:
    """What the rules give, and whether they asked for both directions of some edge."""
    joined = adjacency | adjacency.T
    arrows: Mask = adjacency & ~adjacency.T
    lines: Mask = adjacency & adjacency.T
    apart = ~joined
    np.fill_diagonal(apart, False)
    # An arrow between nodes without undirected edges cannot set off a rule.
    open_nodes: Mask = np.any(lines, axis=1)
    fresh = [(x, y) for x, y in np.argwhere(arrows & np.logical_or.outer(open_nodes, open_nodes)).tolist()]
    torn: set[tuple[int, int]] = set()
    while fresh:
        asked = {edge for arrow in fresh for edge in _asked(arrow, arrows, lines, joined, apart)}
        torn |= {(x, y) for x, y in asked if (y, x) in asked}
        fresh = list(asked - torn)
        for x, y in fresh:
            arrows[x, y] = True
            lines[x, y] = lines[y, x] = False
    return arrows | lines, bool(torn)


def _asked(arrow: tuple[int, int], arrows: Mask, lines: Mask, joined: Mask, apart: Mask) -> Iterator[tuple[int, int]]:
    """Every direction of an undirected edge that a rule gives with x → y as one of its arrows."""
    x, y = arrow
    if lines[y].any():
        # x → y as R1's a → b; then as R2's b → c, as R3's c → b, as R4's c → b
        yield from ((y, node) for node in np.flatnonzero(lines[y] & apart[x]).tolist())
        third = lines[x] & lines[arrows[:, y] & apart[x]].any(axis=0)
        fourth = joined[x] & lines[arrows[:, x] & apart[y]].any(axis=0)
        into = lines[y] & (arrows[:, x] | third | fourth)
        yield from ((node, y) for node in np.flatnonzero(into).tolist())
    if lines[x].any():
        # x → y as R2's a → b, as R4's d → c
        yield from ((x, node) for node in np.flatnonzero(lines[x] & arrows[y]).tolist())
        tails = np.flatnonzero(lines[x] & joined[y])
        heads = np.flatnonzero(arrows[y] & apart[x])
        for i, j in np.argwhere(lines[np.ix_(tails, heads)]).tolist():
            yield int(tails[i]), int(heads[j])


def colliders(adjacency: Mask) -> Mask:
    """The arrows a → b of a DAG for which there is a c → b with a and c not joined."""
    joined = adjacency | adjacency.T
    found = np.zeros_like(adjacency)
    for node in np.flatnonzero(adjacency.sum(axis=0) > 1):
        parents = np.flatnonzero(adjacency[:, node])
        # A parent is joined to all others but itself where no collider is.
        found[parents, node] = joined[np.ix_(parents, parents)].sum(axis=1) < len(parents) - 1
    return found


def completed(adjacency: Mask) -> Mask:
    """The CPDAG of a DAG: skeleton, colliders, and what follows (Verma & Pearl 1990; Meek 1995)."""
    fixed = colliders(adjacency)
    return meek((adjacency | adjacency.T) & ~fixed.T)


def extension(adjacency: Mask) -> tuple[Mask, Mask]:
    """A DAG with the same skeleton, arrows and colliders (Dor & Tarsi 1992), and the nodes that were left over.

    Over and over a node is taken away that can come last: it has no arrow out, and each of its undirected
    neighbours is joined to all its other neighbours; its undirected edges become arrows into it. A node that
    can come last can still when others are gone, so each is tested anew only when a neighbour goes. Of the
    nodes that can, the one listed last goes first. The DAG exists exactly if no node is left over.
    """
    p = len(adjacency)
    arrows: Mask = adjacency & ~adjacency.T
    lines: Mask = adjacency & adjacency.T
    joined: Mask = adjacency | adjacency.T
    left = np.ones(p, dtype=bool)
    dag = arrows.copy()
    waiting = np.ones(p, dtype=bool)
    ready: list[int] = []

    def test(nodes: list[int]) -> None:
        for node in nodes:
            if waiting[node] and _can_be_last(node, arrows, lines, joined, left):
                waiting[node] = False
                heappush(ready, -node)

    test(list(range(p)))
    while ready:
        node = -heappop(ready)
        dag[lines[node] & left, node] = True
        left[node] = False
        test(np.flatnonzero(joined[node] & left).tolist())
    return dag, left


def _can_be_last(node: int, arrows: Mask, lines: Mask, joined: Mask, left: Mask) -> bool:
    if (arrows[node] & left).any():
        return False
    undirected = np.flatnonzero(lines[node] & left)
    around = np.flatnonzero(joined[node] & left)
    return bool((joined[np.ix_(undirected, around)].sum(axis=1) == len(around) - 1).all())
