"""Turn: an edge the other way round (Hauser & Bühlmann 2012)."""

from __future__ import annotations

from collections.abc import Iterator

from ordag.bits import members
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.moves import Move, beside
from ordag.learners.ges.scores import Scores


def candidates(graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
    """Turn(X, Y, K) for Y = target: a DAG of the class with Y → X has X → Y instead.

    K is the clique of Y's neighbours that point at Y in that DAG.
    """
    yield from _arrows(graph, scores, target, least)
    yield from _lines(graph, scores, target, least)


def _arrows(graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
    r"""For Y → X (Proposition 34): K contains all neighbours of Y that are adjacent to X, and the gain is
    $s(Y, K \cup Pa_Y \cup \{X\}) - s(Y, K \cup Pa_Y) + s(X, Pa_X \setminus \{Y\}) - s(X, Pa_X)$.
    """
    parents, neighbours, adjacent = graph.parents[target], graph.neighbours[target], graph.adjacent
    sources: dict[int, list[int]] = {}
    for source in members(graph.children[target]):
        sources.setdefault(neighbours & adjacent[source], []).append(source)
    for common, group in sources.items():
        released = [scores.dropping(source, graph.parents[source])[target] for source in group]
        for clique in graph.cliques(common, neighbours):
            gains = scores.adding(target, parents | clique)
            for source, release in zip(group, released, strict=True):
                if gains[source] + release > least:
                    yield Move(gains[source] + release, source, target, clique)


def _lines(graph: Essential, scores: Scores, target: int, least: float) -> Iterator[Move]:
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
            if gain > least and _separates(graph, neighbours & ~(1 << source), clique, shared):
                yield Move(gain, source, target, clique)


def _separates(graph: Essential, nodes: int, clique: int, shared: int) -> bool:
    """Whether every path of lines within `nodes` from clique ∖ shared to shared ∖ clique passes clique ∩ shared."""
    return not graph.lined(clique & ~shared, nodes & ~(clique & shared)) & shared & ~clique


def allowed(graph: Essential, move: Move) -> bool:
    """For Y → X: every other path from Y to X along i → j and i — j has a node in K or among X's neighbours."""
    source, target = 1 << move.source, 1 << move.target
    if graph.neighbours[move.target] & source:
        return True
    avoiding = move.clique | graph.neighbours[move.source] | target
    start = (graph.children[move.target] | graph.neighbours[move.target]) & ~(avoiding | source)
    return not graph.leads(start, source, avoiding)


def applied(graph: Essential, move: Move) -> list[int]:
    """K → Y and Y → its other neighbours, X before all its own neighbours outside K; then X → Y for Y → X."""
    if graph.neighbours[move.target] >> move.source & 1:
        dag = graph.member([*members(move.clique), move.target, move.source])
    else:
        dag = graph.member([*members(move.clique), move.target], graph.member([move.source]))
    dag[move.source] &= ~(1 << move.target)
    dag[move.target] |= 1 << move.source
    return dag


def touched(graph: Essential, changed: int, pair: int) -> int:
    """As for an insertion; the parents and neighbours of X count as well."""
    near = sum(1 << node for node, adjacent in enumerate(graph.adjacent) if adjacent & changed)
    return changed | near | beside(graph, pair)
