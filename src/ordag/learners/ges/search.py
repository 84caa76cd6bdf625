"""Greedy equivalence search (GES): the equivalence class of the best score (Chickering 2002)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

from ordag.common.bits import members
from ordag.common.checks import as_list, short
from ordag.common.settings import flag, setting, whole
from ordag.common.words import shown
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.errors import OrdagWarning, SettingError
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints
from ordag.learners.found import Found
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.operators import OPERATORS, Constrained, Move, Operator, Phase
from ordag.learners.ges.scores import Scores
from ordag.learners.orient import directed
from ordag.learners.penalties import SearchResult, search_with_penalty
from ordag.learners.settings import MethodSettings, Penalty, penalty_of_edges, way_to_direct

EQUAL_PER_ROW = 1e-9
"""Scores per row that differ by less are equal: the difference may be rounding."""

MANY_CLIQUES = 2**18
"""Sets of neighbours of one variable that take long enough for a warning."""


def _phases(name: str, value: Any) -> tuple[Phase, ...]:
    wanted = f"{name}={short(value)}: name one or more of {', '.join(OPERATORS)}."
    phases = as_list(value, wanted)
    if not phases or not all(isinstance(phase, str) and phase in OPERATORS for phase in phases):
        raise SettingError(wanted)
    return tuple(phases)


@dataclass(frozen=True)
class GesSettings(MethodSettings):
    """Greedy equivalence search (Chickering): the class by score. A Cpdag, or a Dag with `orient_by_order`."""

    name: ClassVar = "ges"
    about: ClassVar = "finds the equivalence class by score"
    seconds: ClassVar = 1.3e-5

    penalty: Penalty = penalty_of_edges("it must be a positive number; 1 is BIC", none=False)
    _: KW_ONLY
    phases: Sequence[Phase] = setting(
        ("forward", "backward", "turning"), _phases, "the phases of the search, in their order", plain=list
    )
    iterate: bool = flag(True, "go through the phases again until none finds anything better")
    max_degree: int | None = whole(
        1, "it must be a whole number from 1 on, or None for no limit", "the most edges at one variable"
    )
    orient_by_order: str | None = way_to_direct()


class GesStep(NamedTuple):
    """One step of the search: the edge between `source` and `target` was inserted (forward), deleted (backward) or turned."""

    phase: Phase
    source: str
    target: str
    gain: float
    score: float


@dataclass(frozen=True, kw_only=True)
class GesResult(SearchResult):
    """The result of GES; higher scores are better.

    graph: the class, or with knowledge the part of one that satisfies it.
    score, score_empty: Σ_j −n/2 (1 + log(RSS_j/n)) − penalty · log(n)/2 · (1 + |parents|) of it, and of no edges.
    steps: the number of steps of each phase, in the order of the phases.
    local_scores: the number of scores of a variable and a set of parents that were computed.
    uncertainty: how far rounding may have moved the score.
    """

    graph: Cpdag
    steps: tuple[tuple[Phase, int], ...]
    local_scores: int
    uncertainty: float

    def details(self) -> dict[str, Any]:
        """Return the rest of the result as plain values, for JSON."""
        return {"score_empty": self.score_empty, "steps": [list(step) for step in self.steps], **self.price}


def ges(table: Table, settings: GesSettings, known: Constraints | None = None) -> Found:
    """Learn an equivalence class by GES, and direct it along an order if `orient_by_order` is set."""

    def search(factor: float, _: GesResult | None) -> GesResult:
        return ges_search(
            table.moments,
            replace(settings, penalty=factor),
            progress=lambda step: table.announce(f"GES: {step.phase} phase, score {step.score:.6g}"),
            known=known,
        )

    result = search_with_penalty(search, settings.penalty, table.moments, known, variances=table.moments.p, sign=-1.0)
    return Found(
        method_settings=settings,
        moments=table.moments,
        score=result.score,
        result=result,
        **directed(result.graph, table, settings.orient_by_order, known),
    )


def ges_search(
    moments: Moments,
    settings: GesSettings | None = None,
    *,
    progress: Callable[[GesStep], None] | None = None,
    known: Constraints | None = None,
    **given: Any,
) -> GesResult:
    """Search equivalence classes greedily (Chickering 2002), with the turning phase of Hauser & Bühlmann (2012).

    From the class without edges, each phase makes the best move of its kind as long as one improves the score:
    "forward" inserts an edge, "backward" deletes one, "turning" reverses one in a DAG of the class.

    settings: or each setting as a keyword (`given`); the penalty is a number. max_degree also bounds the work: all cliques among
        the undirected neighbours of a variable are tried.
    progress: called after every step.
    known: the search starts from the class of the required arrows, and makes only moves to classes with a DAG that satisfies
        all knowledge. The result is the part of a class that does: a class of which further edges are directed.
    """
    settings = settings or GesSettings(**given)
    assert not isinstance(settings.penalty, str), "see `search_with_penalty`"
    scores = Scores(moments, settings.penalty)
    graph = essential([0] * moments.p)
    score_empty = score = scores.total(graph)
    constrained = None if known is None else Constrained(known)
    if constrained is not None:
        graph = constrained.start()
        score = scores.total(graph)
    least = EQUAL_PER_ROW * moments.n
    kinds = {
        phase: Candidates(OPERATORS[phase], scores, least, settings.max_degree, constrained)
        for phase in settings.phases
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
    """The moves of one kind that would improve the score, one list for every target, best first.

    A list depends on the surroundings of its target alone, and stays valid until those change. Only moves that could be
    the best are checked against the rest of the graph.
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
        """Mark the lists that a move of an edge of the `pair`, with new edges at the nodes `changed`, may have changed."""
        self._stale |= pair | self.operator.touched(graph, changed, pair)

    def best(self, graph: Essential) -> Move | None:
        """Return the allowed move with the largest gain, or None.

        Gains that differ by no more than `least` are equal; then the target with fewest parents comes first, and further
        ties are broken by the order of the columns: target, source, clique.
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
        """Return whether the rest of the graph, the limit on the degree and knowledge allow the move."""
        if self.max_degree is not None and not graph.adjacent[move.target] >> move.source & 1:
            degrees = [graph.adjacent[node].bit_count() for node in (move.source, move.target)]
            if max(degrees) >= self.max_degree:
                return False
        return self.operator.allowed(graph, move) and (
            self.constrained is None or self.constrained.allows(graph, move, self.operator)
        )


def _climb(graph: Essential, candidates: Candidates) -> Iterator[tuple[Move, Essential]]:
    """Make the best move until there is none, or until it returns to a class that the phase has visited.

    The latter happens only where rounding lets two moves that undo each other both seem to improve the score.
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
    """Warn if one of the nodes will take long, and return whether it did."""
    for node in members(changed):
        count = graph.clique_count(node)
        if count > MANY_CLIQUES:
            warnings.warn(
                f"Among the {graph.neighbours[node].bit_count()} undirected neighbours of {shown(names[node])} there are "
                f"{count} sets to try, which may take long: allow fewer edges with max_degree, or raise the penalty.",
                OrdagWarning,
                stacklevel=3,
            )
            return True
    return False
