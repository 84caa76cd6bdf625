"""Delete: one edge fewer (Chickering 2002)."""

from __future__ import annotations

from collections.abc import Iterator

from ordag.bits import members
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.moves import Move, beside
from ordag.learners.ges.scores import Scores


def candidates(graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
    r"""Delete(X, Y, H) for Y = target and X → Y or X — Y.

    With $N$ the neighbours of Y that are adjacent to X, H is a part of N such that $K = N \setminus H$ is a clique
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


def allowed(graph: Essential, move: Move) -> bool:
    """Nothing else is asked of a deletion."""
    return True


def applied(graph: Essential, move: Move) -> list[int]:
    """K → Y and Y → its other neighbours, X → Y last among what comes in; then without X → Y."""
    undirected = [move.source] if graph.neighbours[move.target] >> move.source & 1 else []
    dag = graph.member([*members(move.clique), *undirected, move.target])
    dag[move.target] &= ~(1 << move.source)
    return dag


def touched(graph: Essential, changed: int, pair: int) -> int:
    """The candidates of Y rest on its parents and neighbours, and on which of those are adjacent."""
    return changed | beside(graph, pair)
