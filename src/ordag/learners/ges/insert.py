"""Insert: one more edge (Chickering 2002)."""

from __future__ import annotations

from collections.abc import Iterator

from ordag.bits import members
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.moves import Move, beside
from ordag.learners.ges.scores import Scores


def candidates(graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
    r"""Insert(X, Y, T) for Y = target and X not adjacent to it.

    With $N$ the neighbours of Y that are adjacent to X, T is a set of other neighbours of Y, and $K = N \cup T$ must be
    a clique (Theorem 15); the gain is $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y)$ (Corollary 16). One regression
    of Y serves all X for which a K will do.
    """
    parents, neighbours, adjacent = graph.parents[target], graph.neighbours[target], graph.adjacent
    sources: dict[int, list[int]] = {}
    for source in members(~(adjacent[target] | 1 << target) & ((1 << scores.p) - 1)):
        sources.setdefault(neighbours & adjacent[source], []).append(source)
    for common, group in sources.items():
        for clique in graph.cliques(common, neighbours):
            gains = scores.adding(target, parents | clique)
            for source in group:
                if gains[source] > least:
                    yield Move(gains[source], source, target, clique)


def allowed(graph: Essential, move: Move) -> bool:
    """Every path from Y to X along i → j and i — j has a node in K (Theorem 15)."""
    if not graph.neighbours[move.target] & ~move.clique:
        return not graph.below[move.target] >> move.source & 1
    return not graph.beyond(move.target, move.clique) >> move.source & 1


def applied(graph: Essential, move: Move) -> list[int]:
    """K → Y and Y → its other neighbours; then X → Y."""
    dag = graph.member([*members(move.clique), move.target])
    dag[move.target] |= 1 << move.source
    return dag


def touched(graph: Essential, changed: int, pair: int) -> int:
    """The candidates of Y rest on its parents and neighbours, and on who is adjacent to those neighbours."""
    return changed | beside(graph, pair)
