"""Adjustment: which variables to hold fixed to estimate the total effect of a on b, by the graph alone.

In a DAG, or in a CPDAG that is *amenable* (every possibly causal path from a to b begins with an arrow out of a), a set Z is valid if it
contains no *forbidden* variable (a, and descendants of variables on causal paths) and separates a from b once the first arrows of the
causal paths are taken out (Perković, Textor, Kalisch & Maathuis 2018). If any set is valid, so are the parents of the variables on causal
paths without the forbidden ones, and no other set gives a smaller asymptotic variance in linear models (Henckel, Perković & Maathuis 2022).
Sets of variables are Python ints (`common.bits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ordag.common.bits import members, packed, packed_columns, union
from ordag.errors import GraphError
from ordag.graph.cpdag import Cpdag, extend
from ordag.graph.dag import Dag

MOST_SETS = 50
"""Minimal sets that are listed."""

MOST_NEIGHBOURS = 16
"""Undirected edges of a variable up to which its possible sets of parents are listed."""


class Ties(NamedTuple):
    """The parents, children and undirected neighbours of every variable of a graph."""

    parents: list[int]
    children: list[int]
    lines: list[int]

    @classmethod
    def of(cls, graph: Dag | Cpdag) -> Ties:
        arrows, lines = graph.arrows.mask, graph.lines.mask
        return cls(packed_columns(arrows), packed_columns(arrows.T), packed_columns(lines))

    def without(self, a: int, children: int) -> Ties:
        """Return the ties without the arrows from a to these children."""
        parents, below = list(self.parents), list(self.children)
        below[a] &= ~children
        for child in members(children):
            parents[child] &= ~(1 << a)
        return Ties(parents, below, self.lines)


def closure(start: int, steps: Callable[[int], int], within: int = -1) -> int:
    """Return `start` and all that steps from it lead to, without leaving `within`."""
    found = fresh = start & within
    while fresh:
        reached = 0
        for node in members(fresh):
            reached |= steps(node)
        fresh = reached & within & ~found
        found |= fresh
    return found


def connected(ties: Ties, start: int, given: int) -> int:
    """Return the variables that are d-connected to those in `start`, given a set without them, in a DAG (Shachter 1998)."""
    parents, children, _ = ties
    above = closure(given, lambda node: parents[node])  # a collider is open if it or a descendant is given
    down, up, found = 0, 0, 0  # visited from a parent, from a child
    waiting = [(node, True) for node in members(start)]
    while waiting:
        node, from_child = waiting.pop()
        bit = 1 << node
        if (up if from_child else down) & bit:
            continue
        if from_child:
            up |= bit
        else:
            down |= bit
        if not given & bit:
            found |= bit
            waiting += [(child, False) for child in members(children[node])]
        if (from_child and not given & bit) or (not from_child and above & bit):
            waiting += [(parent, True) for parent in members(parents[node])]
    return found & ~start


class Instrument(NamedTuple):
    """A variable that moves the cause, and the effect only through it, once `given` are held fixed."""

    name: str
    given: tuple[str, ...]


@dataclass(frozen=True)
class Adjustment:
    """What a graph says of estimating the total effect of `source` on `target`; variables that are not measured cannot be held fixed."""

    graph: Dag | Cpdag
    source: str
    target: str
    unmeasured: tuple[str, ...] = ()

    @cached_property
    def _ends(self) -> tuple[int, int]:
        if self.source == self.target:
            raise GraphError(f"{self.source!r} is given as cause and as effect: name two variables.")
        for name in {self.source, self.target} & {*self.unmeasured}:
            raise GraphError(f"{name!r} is given as cause or effect, and as not measured.")
        return self.graph.index(self.source), self.graph.index(self.target)

    @cached_property
    def _hidden(self) -> int:
        return packed(map(self.graph.index, self.unmeasured))

    @cached_property
    def _ties(self) -> Ties:
        return Ties.of(self.graph)

    @cached_property
    def _dag(self) -> Ties:
        """The ties of a DAG of the class."""
        return self._ties if isinstance(self.graph, Dag) else Ties.of(extend(self.graph))

    def _after(self, node: int) -> int:
        return self._ties.children[node] | self._ties.lines[node]

    def _before(self, node: int) -> int:
        return self._ties.parents[node] | self._ties.lines[node]

    @cached_property
    def _causal(self) -> int:
        """The variables on possibly causal paths, without the cause; 0 if there is no such path."""
        a, b = self._ends
        others = ~(1 << a)
        return closure(self._after(a), self._after, others) & closure(1 << b, self._before, others)

    @property
    def has_path(self) -> bool:
        """Whether the cause may have an effect: a path of arrows and undirected edges leads from it to the target."""
        return bool(self._causal >> self._ends[1] & 1)

    @cached_property
    def reason(self) -> str | None:
        """Why no set of variables is valid in the whole class; None if one is."""
        a, _ = self._ends
        open_ends = self._ties.lines[a] & self._causal
        if self.has_path and open_ends:
            name = self.graph.nodes[members(open_ends)[0]]
            return f"the direction between {self.source} and {name} is open, and the effect depends on it"
        if self._minimal:
            return None
        back = self._dag.parents[a] >> self._ends[1] & 1
        if back or not self._hidden:
            return f"the arrow between them leads from {self.target} to {self.source}"
        return "a common cause is not measured, and nothing measured stands in for it"

    @cached_property
    def _forbidden(self) -> int:
        a, _ = self._ends
        return (closure(self._causal, self._after) | 1 << a) if self.has_path else 1 << a

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Variables on causal paths and what they lead to: holding one fixed takes away or distorts the effect."""
        a, b = self._ends
        return self._names(self._forbidden & ~(1 << a) & ~(1 << b) & ~self._hidden)

    @cached_property
    def _optimal(self) -> int:
        a, b = self._ends
        if not self.has_path:
            return self._dag.parents[a] & ~(1 << b)
        return union(self._ties.parents, self._causal) & ~self._forbidden

    @property
    def optimal(self) -> tuple[str, ...] | None:
        """The valid set whose estimate has the smallest asymptotic variance; None if no set is valid, or part of it is not measured."""
        return None if self.reason or self._optimal & self._hidden else self._names(self._optimal)

    @cached_property
    def _cut(self) -> Ties:
        """A DAG of the class without the first arrows of the causal paths."""
        a, b = self._ends
        others, dag = ~(1 << a), self._dag
        causal = closure(dag.children[a], dag.children.__getitem__, others)
        causal &= closure(1 << b, dag.parents.__getitem__, others)
        return dag.without(a, causal if causal >> b & 1 else 0)

    def is_valid(self, given: Sequence[str]) -> bool:
        """Return whether holding these variables fixed gives the effect, in every DAG of the class."""
        a, b = self._ends
        chosen = packed(self.graph.index(name) for name in given)
        if self.has_path and self._ties.lines[a] & self._causal:
            return False
        if chosen & (self._forbidden | self._hidden | 1 << a | 1 << b):
            return False
        return not connected(self._cut, 1 << a, chosen) >> b & 1

    @cached_property
    def minimal(self) -> tuple[tuple[str, ...], ...]:
        """Valid sets of which no variable can be left out, the smallest first; at most `MOST_SETS`."""
        if self.reason:
            return ()
        found = [self._names(one) for one in self._minimal]
        return tuple(sorted(found, key=lambda names: (len(names), [self.graph.index(name) for name in names])))

    @cached_property
    def _minimal(self) -> list[int]:
        a, b = self._ends
        parents = self._cut.parents
        above = closure(1 << a | 1 << b, parents.__getitem__)
        near = [0] * len(parents)
        for node in members(above):  # the moral graph of the ancestors
            family = parents[node] | 1 << node
            for one in members(family):
                near[one] |= family & ~(1 << one)
        for node in members(
            above & (self._forbidden | self._hidden) & ~(1 << a | 1 << b)
        ):  # cannot be held fixed: paths go through
            for one in members(near[node]):
                near[one] = (near[one] | near[node]) & ~(1 << node | 1 << one)
            near[node] = 0
        found: dict[int, None] = {}
        for one in separators(near, a, b):
            found[one] = None
            if len(found) == MOST_SETS:
                break
        return list(found)

    @property
    def needless(self) -> tuple[str, ...]:
        """Variables that may be held fixed but are in no minimal set and not in the optimal one."""
        if self.reason:
            return ()
        a, b = self._ends
        used = self._optimal | self._forbidden | self._hidden | 1 << a | 1 << b
        for one in self._minimal:
            used |= one
        return self._names(((1 << len(self.graph.nodes)) - 1) & ~used)

    @cached_property
    def instruments(self) -> tuple[Instrument, ...]:
        """Variables that give the effect where causes of both are not measured, each with what to hold fixed; of a DAG only."""
        if not isinstance(self.graph, Dag) or not self.has_path:
            return ()
        a, b = self._ends
        cut, found = self._cut, []
        below = closure(self._causal | 1 << a, cut.children.__getitem__) | self._forbidden | self._hidden
        for z in members(((1 << len(self.graph.nodes)) - 1) & ~below & ~(1 << b)):
            usable = ~(below | 1 << b | 1 << z)
            given = closure(1 << z | 1 << b, cut.parents.__getitem__) & usable
            apart = not connected(cut, 1 << z, given) >> b & 1
            for one in members(given) if apart else ():  # drop what is not needed
                if not connected(cut, 1 << z, given & ~(1 << one)) >> b & 1:
                    given &= ~(1 << one)
            if apart and connected(cut, 1 << z, given) >> a & 1:
                found.append(Instrument(self.graph.nodes[z], self._names(given)))
        return tuple(found)

    @cached_property
    def parent_sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of parents that the cause has in the DAGs of the class (IDA; Maathuis, Kalisch & Bühlmann 2009)."""
        a, _ = self._ends
        near, lines = self._ties, members(self._ties.lines[a])
        if len(lines) > MOST_NEIGHBOURS:
            raise GraphError(
                f"{self.source} has {len(lines)} edges without a direction: too many for a list of effects."
            )
        joined = [near.parents[j] | near.children[j] | near.lines[j] for j in range(len(near.parents))]
        found = []
        for choice in range(1 << len(lines)):
            chosen = packed(node for k, node in enumerate(lines) if choice >> k & 1)
            if all(not chosen & ~(joined[node] | 1 << node) for node in members(chosen)):  # else a new collider
                found.append(self._names(chosen | near.parents[a]))
        return tuple(found)

    def _names(self, nodes: int) -> tuple[str, ...]:
        return tuple(self.graph.nodes[node] for node in members(nodes))


def separators(near: Sequence[int], a: int, b: int) -> Iterator[int]:
    """Yield the minimal sets that separate a from b in an undirected graph, those near a first (Shen & Liang 1997).

    From one of them, S, with A the part of the graph that holds a, every x of S gives another: what separates b from A and x.
    """

    def beyond(part: int) -> int | None:
        """Return the minimal set between b and a connected part; None if they touch."""
        edge = union(near, part) & ~part
        if (part | edge) >> b & 1:
            return None
        rest = closure(1 << b, near.__getitem__, ~(part | edge))
        return union(near, rest) & ~rest

    first = beyond(1 << a)
    waiting = [] if first is None else [first]
    seen = set(waiting)
    while waiting:
        chosen = waiting.pop(0)
        yield chosen
        part = closure(1 << a, near.__getitem__, ~chosen)
        for x in members(chosen):
            other = beyond(part | 1 << x)
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
