"""A class in, the classes one edge away out: insert and delete (Chickering 2002), turn (Hauser & Bühlmann 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ordag.bits import members, union
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.scores import Scores

Phase = Literal["forward", "backward", "turning"]


class Move(NamedTuple):
    """A step from one class to another: the arrow `source` → `target` appears, or goes.

    `clique` is the set of those neighbours of the target that point at it in the DAG which is changed.
    """

    gain: float
    source: int
    target: int
    clique: int


class Operator:
    """A kind of move. In what follows a move's source is X, its target Y and its clique K."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        """The moves with this target that gain more than `least`, valid as far as the target's surroundings tell."""
        raise NotImplementedError

    def allowed(self, graph: Essential, move: Move) -> bool:
        """Whether the rest of the graph lets the candidate pass, too."""
        return True

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """The parents of every node in a DAG of the class that the move leads to."""
        raise NotImplementedError

    def touched(self, graph: Essential, changed: int, pair: int) -> int:
        """The targets whose candidates may be others now that parents or neighbours of the nodes `changed` are.

        `pair` are the two nodes between which an edge came, went or turned; they count in any case. The candidates of Y
        rest on its parents and neighbours, and on who is adjacent to those.
        """
        return changed | union(graph.neighbours, pair)


class Insert(Operator):
    """One more edge: X → Y where the two are not adjacent."""

    def candidates(self, graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
        r"""With $N$ the neighbours of Y that are adjacent to X, T is a set of other neighbours of Y, and $K = N \cup T$ must
        be a clique (Theorem 15); the gain is $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y)$ (Corollary 16). One
        regression of Y serves all X for which a K will do.
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
        """Every path from Y to X along i → j and i — j has a node in K (Theorem 15)."""
        if not graph.neighbours[move.target] & ~move.clique:
            return not graph.below[move.target] >> move.source & 1
        return not graph.reached_around(move.target, move.clique) >> move.source & 1

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """K → Y and Y → its other neighbours; then X → Y."""
        dag = graph.member([*members(move.clique), move.target])
        dag[move.target] |= 1 << move.source
        return dag


class Delete(Operator):
    """One edge fewer: X → Y or X — Y goes."""

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
        """K → Y and Y → its other neighbours, X → Y last among what comes in; then without X → Y."""
        undirected = [move.source] if graph.neighbours[move.target] >> move.source & 1 else []
        dag = graph.member([*members(move.clique), *undirected, move.target])
        dag[move.target] &= ~(1 << move.source)
        return dag


class Turn(Operator):
    """An edge the other way round: a DAG of the class with Y → X has X → Y instead."""

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
        """For Y → X: every other path from Y to X along i → j and i — j has a node in K or among X's neighbours."""
        source, target = 1 << move.source, 1 << move.target
        if graph.neighbours[move.target] & source:
            return True
        avoiding = move.clique | graph.neighbours[move.source] | target
        start = (graph.children[move.target] | graph.neighbours[move.target]) & ~(avoiding | source)
        return not graph.has_path(start, source, avoiding)

    def applied(self, graph: Essential, move: Move) -> list[int]:
        """K → Y and Y → its other neighbours, X before all its own neighbours outside K; then X → Y for Y → X."""
        if graph.neighbours[move.target] >> move.source & 1:
            dag = graph.member([*members(move.clique), move.target, move.source])
        else:
            dag = graph.member([*members(move.clique), move.target], graph.member([move.source]))
        dag[move.source] &= ~(1 << move.target)
        dag[move.target] |= 1 << move.source
        return dag

    def touched(self, graph: Essential, changed: int, pair: int) -> int:
        """The parents and neighbours of X count as well."""
        return super().touched(graph, changed, pair) | union(graph.adjacent, changed)


def _by_common_neighbours(graph: Essential, target: int, sources: int) -> dict[int, list[int]]:
    """The sources, by which neighbours of the target are adjacent to them."""
    groups: dict[int, list[int]] = {}
    for source in members(sources):
        groups.setdefault(graph.neighbours[target] & graph.adjacent[source], []).append(source)
    return groups


OPERATORS: dict[Phase, Operator] = {"forward": Insert(), "backward": Delete(), "turning": Turn()}
