"""Partly directed graphs: Meek's rules, the CPDAG of a DAG, a DAG that extends one, and the parents that its class allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordag.common.arrays import Mask
from ordag.common.bits import members, packed
from ordag.graph.acyclic import topological_order
from ordag.graph.checks import checked_adjacency
from ordag.graph.links import Links

NoCollider: TypeAlias = Callable[[Sequence[int] | NDArray[np.intp], int], Mask]
"""From middle nodes and an end to the other ends of the triples that are no colliders; see `apply_rules`."""


def meek(adjacency: ArrayLike) -> Mask:
    """Direct every undirected edge for which the directed ones leave one direction (Meek 1995, rules R1 to R4).

    Entry [i, j] alone is i → j, both ways is i — j; returns a new array.

    - R1: a → b — c with a, c not joined gives b → c, for b ← c would be a new collider.
    - R2: a → b → c with a — c gives a → c, for a ← c would be a cycle.
    - R3: a — b, a — c → b, a — d → b with c, d not joined gives a → b.
    - R4: a — b, a — d → c → b with a, c joined and b, d not joined gives a → b.

    The rules work in rounds: each round uses every edge directed in the round before once, so the cost is O(p²) per
    edge at most and the answer does not depend on the order of the nodes. Where the rules imply both directions of an
    edge, no DAG agrees with the input, and the edge stays undirected; the rules then start over on the result, until
    no edge is implied in one direction only.
    """
    current = checked_adjacency(adjacency)
    apart = ~(current | current.T)
    np.fill_diagonal(apart, False)
    while True:
        before = current
        arrows, lines = before & ~before.T, before & before.T
        both_ways = apply_rules(arrows, lines, lambda middles, end: apart[end])
        current = arrows | lines
        if not both_ways or np.array_equal(current, before):
            return current


def apply_rules(
    arrows: Mask, lines: Mask, no_collider: NoCollider, *, fourth: bool = True, set_aside: bool = False
) -> set[tuple[int, int]]:
    """Apply Meek's rules in place; return the edges that they imply in both directions, each as two pairs.

    R1, R3 and R4 argue from a triple that is no collider and whose ends are not joined: `no_collider(middles, end)` has
    a row for each of the middle nodes (or one for all), True at the other ends of such triples. R4 is left out unless
    `fourth`. An edge implied in both directions stays undirected, and with `set_aside` takes no further part.
    """
    joined = arrows | arrows.T | lines if fourth else np.zeros_like(lines)
    # An arrow between nodes without undirected edges cannot set off a rule.
    open_nodes: Mask = np.any(lines, axis=1)
    fresh = [(x, y) for x, y in np.argwhere(arrows & np.logical_or.outer(open_nodes, open_nodes)).tolist()]
    both_ways: set[tuple[int, int]] = set()
    while fresh:
        implied = {edge for x, y in fresh for edge in _implied(x, y, arrows, lines, joined, no_collider)}
        both_ways |= {(x, y) for x, y in implied if (y, x) in implied}
        fresh = list(implied - both_ways)
        for x, y in fresh:
            arrows[x, y] = True
            lines[x, y] = lines[y, x] = False
        if set_aside:
            for x, y in implied & both_ways:
                lines[x, y] = joined[x, y] = False
    return both_ways


def _implied(
    x: int, y: int, arrows: Mask, lines: Mask, joined: Mask, no_collider: NoCollider
) -> Iterator[tuple[int, int]]:
    """Yield every direction of an undirected edge that a rule implies with x → y as one of its arrows."""
    if lines[y].any():
        # x → y as R1's a → b; then as R2's b → c, as R3's c → b, as R4's c → b
        yield from ((y, node) for node in np.flatnonzero(lines[y] & no_collider([y], x)).tolist())
        into = lines[y] & arrows[:, x]
        third = np.flatnonzero(lines[y] & lines[x])
        into[third] |= (lines[third] & arrows[:, y] & no_collider(third, x)).any(axis=1)
        fourth = np.flatnonzero(lines[y] & joined[x])
        into[fourth] |= (lines[fourth] & arrows[:, x] & no_collider(fourth, y)).any(axis=1)
        yield from ((node, y) for node in np.flatnonzero(into).tolist())
    if lines[x].any():
        # x → y as R2's a → b, as R4's d → c
        yield from ((x, node) for node in np.flatnonzero(lines[x] & arrows[y]).tolist())
        tails = np.flatnonzero(lines[x] & joined[y])
        for i, head in np.argwhere(lines[tails] & arrows[y] & no_collider(tails, x)).tolist():
            yield int(tails[i]), head


def completed(adjacency: Mask) -> Mask:
    """Return the CPDAG of a DAG; see `class_links`."""
    return class_links(Links.of(adjacency)).mask


def compelled_parents(parents: Sequence[int], order: Sequence[int]) -> list[int]:
    r"""Return the compelled parents of every node of a DAG, as bitmasks like its parents (Chickering 1995, Label-Edges).

    Take the nodes y in a topological order, and let x be the last of y's parents $P_y$ in it, with compelled parents
    $C_x$. If $C_x \not\subseteq P_y$ or $P_y \not\subseteq P_x \cup \{x\}$, every arrow into y is compelled;
    otherwise those from $C_x$ are.
    """
    position = {node: k for k, node in enumerate(order)}
    compelled = [0] * len(parents)
    for y in order:
        if parents[y]:
            x = max(members(parents[y]), key=position.__getitem__)
            new_collider = compelled[x] & ~parents[y] or parents[y] & ~(parents[x] | 1 << x)
            compelled[y] = parents[y] if new_collider else compelled[x]
    return compelled


def class_links(dag: Links) -> Links:
    """Return the CPDAG of a DAG, a reversible edge both ways. No p × p array is made."""
    parents = [packed(dag.turned.row(node)) for node in range(dag.p)]
    compelled = compelled_parents(parents, topological_order(dag))
    ends = zip(dag.source.tolist(), dag.target.tolist(), strict=True)
    reversible = np.array([not compelled[j] >> i & 1 for i, j in ends], dtype=bool)
    return Links.between(dag.p, np.r_[dag.source, dag.target[reversible]], np.r_[dag.target, dag.source[reversible]])


def extension(adjacency: Mask) -> tuple[Mask, Mask]:
    """Return a DAG with the same skeleton, arrows and colliders (Dor & Tarsi 1992), and the mask of nodes left over.

    Repeatedly remove a node that can come last: it has no arrow out, and each of its undirected neighbours is joined
    to all its other neighbours; its undirected edges become arrows into it. A node that can come last still can after
    others are removed, so each is tested again only when a neighbour goes. Of the nodes that can, the one listed last
    goes first. The DAG exists exactly if no node is left over.
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
