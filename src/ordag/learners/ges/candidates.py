"""A graph in, the best move of one kind out; what a move leaves as it was is not looked at again."""

from __future__ import annotations

from ordag.bits import members
from ordag.learners.ges.essential import Essential
from ordag.learners.ges.keeping import Keeping
from ordag.learners.ges.moves import Move, Operator
from ordag.learners.ges.scores import Scores


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
        keeping: Keeping | None = None,
    ) -> None:
        self.operator = operator
        self.scores = scores
        self.least = least
        self.max_degree = max_degree
        self.keeping = keeping
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
        self._renew(graph)
        found: list[Move] = []
        threshold = self.least
        for moves in sorted((moves for moves in self._lists if moves), key=lambda moves: -moves[0].gain):
            if moves[0].gain < threshold:
                break
            for move in moves:
                if move.gain < threshold:
                    break
                if self._fits(graph, move) and self.operator.allowed(graph, move) and self._keeps(graph, move):
                    found.append(move)
                    threshold = max(threshold, move.gain - self.least)
        best = [move for move in found if move.gain >= threshold]

        def rank(move: Move) -> tuple[int, int, int, int]:
            parents = graph.parents[move.target] | move.clique
            return parents.bit_count(), move.target, move.source, move.clique

        return min(best, key=rank, default=None)

    def _renew(self, graph: Essential) -> None:
        for target in members(self._stale):
            moves = self.operator.candidates(graph, self.scores, target, self.least)
            self._lists[target] = sorted(moves, reverse=True)
        self._stale = 0

    def _keeps(self, graph: Essential, move: Move) -> bool:
        """Whether what is known lets the move pass."""
        return self.keeping is None or self.keeping.allows(graph, move, self.operator)

    def _fits(self, graph: Essential, move: Move) -> bool:
        """Whether no node gets more edges than it may have."""
        if self.max_degree is None or graph.adjacent[move.target] >> move.source & 1:
            return True
        return all(graph.adjacent[node].bit_count() < self.max_degree for node in (move.source, move.target))
