"""The CPDAG of an equivalence class as bitmasks, which the operators of GES read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ordag.common.arrays import Mask
from ordag.common.bits import members, union, unpacked_columns
from ordag.graph.partly_directed import compelled_parents


@dataclass(frozen=True, slots=True, eq=False)
class Essential:
    """The CPDAG of a class, and one DAG of the class. Every set of nodes is an int, with bit k for node k.

    `parents`, `children` and `neighbours` are a node's i → j, j → i and i — j in the CPDAG, `adjacent` the union of the three,
    `below` the nodes at the end of its paths of arrows; `dag` are a node's parents in the DAG, `order` is a topological
    order of that DAG.
    """

    dag: tuple[int, ...]
    order: tuple[int, ...]
    parents: tuple[int, ...]
    children: tuple[int, ...]
    neighbours: tuple[int, ...]
    adjacent: tuple[int, ...]
    below: tuple[int, ...]
    _around: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def reached_around(self, node: int, neighbours: int) -> int:
        """Return the nodes at the end of a path from the node along i → j and i — j that avoids these neighbours.

        In a CPDAG, i → j — k implies i → k. So a path may take all its lines before its first arrow, and after that it
        never returns to the neighbours.
        """
        known = self._around.get((node, neighbours))
        if known is None:
            lines = self.along_lines(1 << node, ~neighbours)
            known = self._around[node, neighbours] = lines | union(self.below, lines)
        return known

    def along_lines(self, start: int, within: int) -> int:
        """Return the nodes of `start`, and those at the end of a path from it along i — j that stays within."""
        found = waiting = start
        while waiting:
            lowest = waiting & -waiting
            fresh = self.neighbours[lowest.bit_length() - 1] & within & ~found
            found |= fresh
            waiting = (waiting ^ lowest) | fresh
        return found

    def has_path(self, start: int, end: int, avoiding: int) -> bool:
        """Return whether a path along i → j and i — j outside `avoiding` leads from `start` to `end`."""
        found = waiting = start
        while waiting and not found & end:
            lowest = waiting & -waiting
            node = lowest.bit_length() - 1
            fresh = (self.children[node] | self.neighbours[node]) & ~(found | avoiding)
            found |= fresh
            waiting = (waiting ^ lowest) | fresh
        return bool(found & end)

    def cliques(self, containing: int, within: int) -> Iterator[int]:
        """Yield all cliques K with containing ⊆ K ⊆ within; none if `containing` is not a clique.

        A set that is not a clique has no superset that is one, so the search stops there.
        """
        common = within & ~containing
        for node in members(containing):
            if containing & ~self.adjacent[node] != 1 << node:
                return
            common &= self.adjacent[node]
        waiting = [(containing, common)]
        while waiting:
            clique, common = waiting.pop()
            yield clique
            while common:
                lowest = common & -common
                common ^= lowest
                waiting.append((clique | lowest, common & self.adjacent[lowest.bit_length() - 1]))

    def clique_count(self, node: int) -> int:
        """Count the cliques among the neighbours of a node, with the empty one.

        Directed as in the DAG, the lines make no collider, so every clique is a last node and some of its parents.
        """
        within = self.neighbours[node]
        return 1 + sum(1 << (self.dag[last] & within).bit_count() for last in members(within))

    def member(self, first: Sequence[int], dag: Sequence[int] | None = None) -> list[int]:
        """Return the parents in a DAG of the class in which `first` precede the other nodes of their undirected component.

        Maximum cardinality search (Tarjan & Yannakakis 1984): the next node is one with most neighbours already
        visited; directing every edge from earlier to later then makes no collider. It may begin with any clique,
        or with any nodes such that no node outside `first` has two neighbours in `first` that are not
        adjacent. Other components stay as they are in `dag` (the graph's own by default).
        """
        directed = list(self.dag if dag is None else dag)
        component = members(self.along_lines(1 << first[0], -1))
        passed = dict.fromkeys(component, 0)
        before = 0
        for place in range(len(component)):
            node = first[place] if place < len(first) else max(passed, key=passed.__getitem__)
            del passed[node]
            directed[node] = self.parents[node] | (self.neighbours[node] & before)
            before |= 1 << node
            for other in members(self.neighbours[node] & ~before):
                passed[other] += 1
        return directed

    def changed(self, since: Essential) -> int:
        """Return the nodes whose parents or neighbours differ from those in another graph."""
        return sum(
            1 << node
            for node, now in enumerate(zip(self.parents, self.neighbours, strict=True))
            if now != (since.parents[node], since.neighbours[node])
        )

    def adjacency(self) -> Mask:
        """Entry [i, j] alone for i → j, both ways for i — j."""
        into = [arrows | lines for arrows, lines in zip(self.parents, self.neighbours, strict=True)]
        return unpacked_columns(into, len(into))


def essential(dag: Sequence[int], order: Sequence[int] | None = None) -> Essential:
    """Return the class of the DAG with parents dag[j] of j, as bitmasks.

    `order` may be an order that was topological for a similar graph: it saves time.
    """
    p = len(dag)
    order = _topological(dag, range(p) if order is None else order)
    parents = compelled_parents(dag, order)
    children = [0] * p
    neighbours = [0] * p
    for y in order:
        for node in members(dag[y]):
            if parents[y] >> node & 1:
                children[node] |= 1 << y
            else:
                neighbours[node] |= 1 << y
                neighbours[y] |= 1 << node
    below = [0] * p
    for y in reversed(order):
        for node in members(parents[y]):
            below[node] |= below[y] | 1 << y
    adjacent = [into | out | lines for into, out, lines in zip(parents, children, neighbours, strict=True)]
    return Essential(
        dag=tuple(dag),
        order=tuple(order),
        parents=tuple(parents),
        children=tuple(children),
        neighbours=tuple(neighbours),
        adjacent=tuple(adjacent),
        below=tuple(below),
    )


def _topological(dag: Sequence[int], hint: Sequence[int]) -> list[int]:
    """Return the nodes with parents first, by repeated passes over those left, in the order of the hint."""
    order: list[int] = []
    before = 0
    left = list(hint)
    while left:
        late = []
        for node in left:
            if dag[node] & ~before:
                late.append(node)
            else:
                order.append(node)
                before |= 1 << node
        assert len(late) < len(left), "an operator made a cycle"
        left = late
    return order
