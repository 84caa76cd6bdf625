"""Moves between equivalence classes: insert and delete (Chickering 2002), turn (Hauser & Bühlmann 2012), and knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ordag.common.arrays import Mask
from ordag.common.bits import members, packed_columns, union
from ordag.knowledge.masks import Constraints, restricted
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.scores import Scores

Phase = Literal["forward", "backward", "turning"]


class Move(NamedTuple):
    """A step from one class to another: the arrow `source` → `target` is inserted, deleted or made by a turn.

    `clique` is the set of neighbours of the target that point at it in the DAG that is changed.
    """

    gain: float
    source: int
    target: int
    clique: int


class Operator:
    """A kind of move. The source of a move is X, its target Y and its clique K."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        """Yield the moves with this target that gain more than `least`, as far as the surroundings of the target show."""
        raise NotImplementedError

    def allowed(self, graph: Essential, move: Move) -> bool:
        """Return whether the rest of the graph allows a candidate."""
        return True

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """Return the parents of every node in a DAG of the class that the move leads to."""
        raise NotImplementedError

    def touched(self, graph: Essential, changed: int, pair: int) -> int:
        """Return the targets whose candidates may change with the parents or neighbours of the nodes `changed`.

        `pair` are the two nodes whose edge was changed; they count in any case. The candidates of Y depend on its parents and
        neighbours, and on the nodes adjacent to those.
        """
        return changed | union(graph.neighbours, pair)


class Insert(Operator):
    """Insert X → Y where the two are not adjacent."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        r"""With $N$ the neighbours of Y that are adjacent to X, T is a set of other neighbours of Y, and $K = N \cup T$ must
        be a clique (Theorem 15); the gain is $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y)$ (Corollary 16). One
        regression of Y serves all X with the same K.
        """
        parents, neighbours = graph.parents[target], graph.neighbours[target]
        apart = ~(graph.adjacent[target] | 1 << target) & ((1 << scores.p) - 1)
        for common, sources in _by_common_neighbours(graph, target, apart).items():
            for clique in graph.cliques(common, neighbours):
                gains = scores.adding(target, parents | clique)
                for source in sources:
                    if gains[source] > least:
                        yield Move(gains[source], source, target, clique)

    def allowed(self, graph: Essential, move: Move) -> bool:
        """Return whether every path from Y to X along i → j and i — j has a node in K (Theorem 15)."""
        if not graph.neighbours[move.target] & ~move.clique:
            return not graph.below[move.target] >> move.source & 1
        return not graph.reached_around(move.target, move.clique) >> move.source & 1

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """Direct K → Y and Y → its other neighbours; then add X → Y."""
        dag = graph.member([*members(move.clique), move.target])
        dag[move.target] |= 1 << move.source
        return dag


class Delete(Operator):
    """Delete X → Y or X — Y."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        r"""With $N$ the neighbours of Y that are adjacent to X, H is a part of N such that $K = N \setminus H$ is a clique
        (Theorem 17); the gain is $s(Y, K \cup Pa_Y \setminus \{X\}) - s(Y, K \cup Pa_Y \cup \{X\})$ (Corollary 18).
        A parent of Y is adjacent to all its neighbours, and X — Y makes K ∪ {X} a clique: so one regression of Y on its
        parents and a clique of its neighbours serves every X that is among the two.
        """
        parents, neighbours = graph.parents[target], graph.neighbours[target]
        for clique in graph.cliques(0, neighbours):
            gains = scores.dropping(target, parents | clique)
            for source in members(parents | clique):
                if gains[source] > least:
                    yield Move(gains[source], source, target, clique & ~(1 << source))

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """Direct K → Y, then X → Y, and Y → its other neighbours; then remove X → Y."""
        undirected = [move.source] if graph.neighbours[move.target] >> move.source & 1 else []
        dag = graph.member([*members(move.clique), *undirected, move.target])
        dag[move.target] &= ~(1 << move.source)
        return dag


class Turn(Operator):
    """Turn an edge round: a DAG of the class with Y → X has X → Y instead."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        yield from self._arrows(graph, scores, target, least)
        yield from self._lines(graph, scores, target, least)

    def _arrows(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        r"""For Y → X (Proposition 34): K contains all neighbours of Y that are adjacent to X, and the gain is
        $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y) + s(X, Pa_X \setminus \{Y\}) - s(X, Pa_X)$.
        """
        parents, neighbours = graph.parents[target], graph.neighbours[target]
        for common, sources in _by_common_neighbours(graph, target, graph.children[target]).items():
            released = [scores.dropping(source, graph.parents[source])[target] for source in sources]
            for clique in graph.cliques(common, neighbours):
                gains = scores.adding(target, parents | clique)
                for source, release in zip(sources, released, strict=True):
                    if gains[source] + release > least:
                        yield Move(gains[source] + release, source, target, clique)

    def _lines(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        r"""For X — Y (Proposition 31): with $N$ the neighbours that X and Y share, K is not within N, $K \cap N$ separates
        $K \setminus N$ from $N \setminus K$ among the neighbours of Y, and with $Q = (K \cap N) \cup Pa_X$ the gain is
        $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y) + s(X, Q) - s(X, Q \cup \{Y\})$.
        """
        neighbours = graph.neighbours[target]
        for clique in graph.cliques(0, neighbours):
            own = graph.parents[target] | clique
            for source in members(neighbours & ~clique):
                shared = neighbours & graph.neighbours[source]
                if not clique & ~shared:
                    continue
                kept = graph.parents[source] | (clique & shared) | 1 << target
                gain = scores.adding(target, own)[source] + scores.dropping(source, kept)[target]
                if gain > least:
                    within = neighbours & ~(1 << source | clique & shared)
                    if not graph.along_lines(clique & ~shared, within) & shared & ~clique:
                        yield Move(gain, source, target, clique)

    def allowed(self, graph: Essential, move: Move) -> bool:
        """Return whether, for Y → X, every other path from Y to X along i → j and i — j has a node in K or among X's neighbours."""
        source, target = 1 << move.source, 1 << move.target
        if graph.neighbours[move.target] & source:
            return True
        avoiding = move.clique | graph.neighbours[move.source] | target
        start = (graph.children[move.target] | graph.neighbours[move.target]) & ~(avoiding | source)
        return not graph.has_path(start, source, avoiding)

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """Direct K → Y and Y → its other neighbours, with X before all its own neighbours outside K; then turn Y → X."""
        if graph.neighbours[move.target] >> move.source & 1:
            dag = graph.member([*members(move.clique), move.target, move.source])
        else:
            dag = graph.member([*members(move.clique), move.target], graph.member([move.source]))
        dag[move.source] &= ~(1 << move.target)
        dag[move.target] |= 1 << move.source
        return dag

    def touched(self, graph: Essential, changed: int, pair: int) -> int:
        """Add the nodes adjacent to X."""
        return super().touched(graph, changed, pair) | union(graph.adjacent, changed)


def _by_common_neighbours(graph: Essential, target: int, sources: int) -> dict[int, list[int]]:
    """Group the sources by the neighbours of the target that are adjacent to them."""
    groups: dict[int, list[int]] = {}
    for source in members(sources):
        groups.setdefault(graph.neighbours[target] & graph.adjacent[source], []).append(source)
    return groups


OPERATORS: dict[Phase, Operator] = {"forward": Insert(), "backward": Delete(), "turning": Turn()}


class Constrained:
    """Knowledge as bitmasks for every node: `into` has its possible parents, `out` its possible children,
    `joined` the nodes to which it must be joined."""

    def __init__(self, known: Constraints) -> None:
        self._known = known
        self.into = packed_columns(known.allowed)
        self.out = packed_columns(known.allowed.T)
        self.joined = packed_columns(known.required | known.required.T)

    def start(self) -> Essential:
        """Return the class of the required arrows alone."""
        return essential(packed_columns(self._known.required))

    def allows(self, graph: Essential, move: Move, operator: Operator) -> bool:
        """Return whether the class that the move leads to has a DAG that satisfies the knowledge."""
        source, target = 1 << move.source, move.target
        if not (self.into[target] | self.out[target]) & source:
            return False
        new = essential(operator.applied(graph, move), graph.order)
        if self.joined[target] & source & ~new.adjacent[target]:
            return False
        return self.has_member(new)

    def has_member(self, graph: Essential) -> bool:
        """Return whether a DAG of the class satisfies the knowledge.

        The arrows of the class must be permitted, and some of its lines have one permitted direction only. The lines of a
        connected part can be directed without a collider or a cycle if and only if its nodes can be removed one by one, each
        with neighbours that are all adjacent and to none of which it must point: it is the last of those left. A node
        that can be removed now can be removed later, so the order of removal does not matter.
        """
        stated = 0
        for node, (parents, neighbours) in enumerate(zip(graph.parents, graph.neighbours, strict=True)):
            if parents & ~self.into[node] or neighbours & ~(self.into[node] | self.out[node]):
                return False
            if neighbours & ~self.into[node]:
                stated |= 1 << node
        while stated:
            part = graph.along_lines(stated & -stated, -1)
            if not self._can_be_directed(graph, part):
                return False
            stated &= ~part
        return True

    def _can_be_directed(self, graph: Essential, part: int) -> bool:
        left = part
        waiting = part
        while waiting:
            lowest = waiting & -waiting
            waiting ^= lowest
            node = lowest.bit_length() - 1
            around = graph.neighbours[node] & left
            if around & ~self.into[node] or any(around & ~graph.adjacent[k] != 1 << k for k in members(around)):
                continue
            left ^= lowest
            waiting |= around
        return not left

    def restricted(self, graph: Essential) -> Mask:
        """Return the adjacency of the class with every direction that knowledge fixes, and those that follow."""
        return restricted(graph.adjacency(), self._known)
