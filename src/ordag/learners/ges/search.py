"""Moments in, the class of highest score that a greedy search comes to out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ordag.bits import members
from ordag.data.moments import Moments
from ordag.errors import OrdagWarning
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints
from ordag.learners.ges.constrained import Constrained
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.operators import OPERATORS, Move, Operator, Phase
from ordag.learners.ges.scores import Scores
from ordag.learners.ges.settings import GesSettings
from ordag.words import shown

EQUAL = 1e-9
"""Scores per row that differ by less are equal: what separates them may be rounding."""

MANY = 2**18
"""Sets of neighbours of one variable that take long enough to say so."""


class GesStep(NamedTuple):
    """One step of the search: the edge between `source` and `target` came (forward), went (backward) or turned."""

    phase: Phase
    source: str
    target: str
    gain: float
    score: float


@dataclass(frozen=True)
class GesResult:
    """Where the search ended.

    graph: the class, or with knowledge the part of one that keeps to it.
    score, score_empty: Σ_j −n/2 (1 + log(RSS_j/n)) − penalty · log(n)/2 · (1 + |parents|) of it, and of no edges.
    steps: how many steps each phase took, in the order in which the phases came.
    local_scores: how many scores of a variable and a set of parents were computed.
    uncertainty: by how much rounding may have moved the score.
    """

    graph: Cpdag
    score: float
    score_empty: float
    steps: tuple[tuple[Phase, int], ...]
    local_scores: int
    uncertainty: float

    def details(self) -> dict[str, Any]:
        """What there is to tell beside the graph and its score, in plain values."""
        return {"score_empty": self.score_empty, "steps": [list(step) for step in self.steps]}


def ges_search(
    moments: Moments,
    settings: GesSettings | None = None,
    *,
    progress: Callable[[GesStep], None] | None = None,
    known: Constraints | None = None,
    **given: Any,
) -> GesResult:
    """Greedy equivalence search (Chickering 2002), with the turning phase of Hauser & Bühlmann (2012).

    From the class without edges, each phase makes the best move of its kind as long as one improves the score:
    "forward" inserts an edge, "backward" deletes one, "turning" reverses one in a DAG of the class.

    settings: or `given` one by one; the penalty is a number. max_degree also bounds the work: of the neighbours that a
        variable is joined to by undirected edges, all sets are tried that are joined among themselves.
    progress: called after every step.
    known: arrows that must and that may not be there. The search starts from the class of the former, and makes only
        moves to classes with a DAG that keeps to all of it. The result is then the part of a class that does: a class
        of which further edges are directed.
    """
    settings = settings or GesSettings(**given)
    assert not isinstance(settings.penalty, str), "see `priced_ges`"
    operators = {phase: OPERATORS[phase] for phase in settings.phases}
    scores = Scores(moments, settings.penalty)
    graph = essential([0] * moments.p)
    score_empty = score = scores.total(graph)
    constrained = None if known is None else Constrained(known)
    if constrained is not None:
        graph = constrained.start()
        score = scores.total(graph)
    least = EQUAL * moments.n
    kinds = {
        phase: Candidates(operator, scores, least, settings.max_degree, constrained)
        for phase, operator in operators.items()
    }
    steps: list[tuple[Phase, int]] = []
    warned = False
    while True:
        before = score
        for phase in settings.phases:
            count = 0
            for move, new in _climb(graph, kinds[phase]):
                scores.check_resolved(new, move.target)
                count += 1
                score += move.gain
                changed, pair = new.changed(since=graph), 1 << move.source | 1 << move.target
                for candidates in kinds.values():
                    candidates.outdate(new, changed, pair)
                warned = warned or _warn_of_many(new, changed, moments.names)
                graph = new
                if progress is not None:
                    progress(GesStep(phase, moments.names[move.source], moments.names[move.target], move.gain, score))
            steps.append((phase, count))
        score = scores.total(graph)
        if not settings.iterate or score <= before + least:
            break
    return GesResult(
        graph=Cpdag(moments.names, graph.adjacency() if constrained is None else constrained.restricted(graph)),
        score=score,
        score_empty=score_empty,
        steps=tuple(steps),
        local_scores=scores.evaluated,
        uncertainty=scores.uncertainty(graph),
    )


class Candidates:
    """The moves of one kind that would gain something, a list for every target, best first.

    A list rests on its target's surroundings alone, so it stays good until those change. Whether the rest of the
    graph allows a move is asked only of those that could be the best.
    """

    def __init__(
        self,
        operator: Operator,
        scores: Scores,
        least: float,
        max_degree: int | None = None,
        constrained: Constrained | None = None,
    ) -> None:
        self.operator = operator
        self.scores = scores
        self.least = least
        self.max_degree = max_degree
        self.constrained = constrained
        self._lists: list[list[Move]] = [[] for _ in range(scores.p)]
        self._stale = (1 << scores.p) - 1

    def outdate(self, graph: Essential, changed: int, pair: int) -> None:
        """Take note that the edges at the nodes `changed` are new, and that an edge of the `pair` was the cause."""
        self._stale |= pair | self.operator.touched(graph, changed, pair)

    def best(self, graph: Essential) -> Move | None:
        """The allowed move with the largest gain, or None.

        Gains that differ by no more than `least` are equal, and then the target with fewest parents comes first; what
        is left of ties goes by the columns' order: target, source, clique.
        """
        for target in members(self._stale):
            candidates = self.operator.candidates(graph, self.scores, target, self.least)
            self._lists[target] = sorted(candidates, reverse=True)
        self._stale = 0
        found: list[Move] = []
        threshold = self.least
        for moves in sorted((moves for moves in self._lists if moves), key=lambda moves: -moves[0].gain):
            if moves[0].gain < threshold:
                break
            for move in moves:
                if move.gain < threshold:
                    break
                if self._passes(graph, move):
                    found.append(move)
                    threshold = max(threshold, move.gain - self.least)
        best = [move for move in found if move.gain >= threshold]

        def rank(move: Move) -> tuple[int, int, int, int]:
            parents = graph.parents[move.target] | move.clique
            return parents.bit_count(), move.target, move.source, move.clique

        return min(best, key=rank, default=None)

    def _passes(self, graph: Essential, move: Move) -> bool:
        """Whether the rest of the graph, the limit on the degree and what is known let the move pass."""
        if self.max_degree is not None and not graph.adjacent[move.target] >> move.source & 1:
            degrees = [graph.adjacent[node].bit_count() for node in (move.source, move.target)]
            if max(degrees) >= self.max_degree:
                return False
        return self.operator.allowed(graph, move) and (
            self.constrained is None or self.constrained.allows(graph, move, self.operator)
        )


def _climb(graph: Essential, candidates: Candidates) -> Iterator[tuple[Move, Essential]]:
    """Make the best move until there is none, or until it leads back to where the phase has been.

    The second can happen only where rounding lets both of two moves that undo each other seem to gain something.
    """
    visited = {(graph.parents, graph.neighbours)}
    while (move := candidates.best(graph)) is not None:
        graph = essential(candidates.operator.applied(graph, move), graph.order)
        here = (graph.parents, graph.neighbours)
        if here in visited:
            return
        visited.add(here)
        yield move, graph


def _warn_of_many(graph: Essential, changed: int, names: Sequence[str]) -> bool:
    """Say so if one of the nodes will take long, and tell whether it was said."""
    for node in members(changed):
        count = graph.clique_count(node)
        if count > MANY:
            warnings.warn(
                f"Among the {graph.neighbours[node].bit_count()} undirected neighbours of {shown(names[node])} there are "
                f"{count} sets to try: this may take long. Allow fewer edges with max_degree, or raise the penalty.",
                OrdagWarning,
                stacklevel=3,
            )
            return True
    return False
