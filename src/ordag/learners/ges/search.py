"""Moments in, the class of highest score that a greedy search comes to out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ordag.checks import as_list, as_number, is_flag, is_whole, short
from ordag.data.moments import Moments
from ordag.errors import OrdagWarning, SettingError
from ordag.graph.cpdag import Cpdag
from ordag.knowledge.masks import Constraints
from ordag.learners.ges import delete, insert, turn
from ordag.learners.ges.candidates import Candidates
from ordag.learners.ges.essential import Essential, essential
from ordag.learners.ges.keeping import Keeping
from ordag.learners.ges.moves import Move, Operator
from ordag.learners.ges.precision import check_resolved, score_uncertainty
from ordag.learners.ges.scores import Scores
from ordag.learners.regressions import members
from ordag.words import shown

Phase = Literal["forward", "backward", "turning"]

OPERATORS: dict[Phase, Operator] = {"forward": insert, "backward": delete, "turning": turn}

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
    *,
    penalty: float = 1.0,
    phases: Sequence[Phase] = ("forward", "backward", "turning"),
    iterate: bool = True,
    max_degree: int | None = None,
    progress: Callable[[GesStep], None] | None = None,
    known: Constraints | None = None,
) -> GesResult:
    """Greedy equivalence search (Chickering 2002), with the turning phase of Hauser & Bühlmann (2012).

    From the class without edges, each phase makes the best move of its kind as long as one improves the score:
    "forward" inserts an edge, "backward" deletes one, "turning" reverses one in a DAG of the class.

    penalty: in units of BIC's log(n)/2 for each edge.
    phases: which, and in which order.
    iterate: whether to go through the phases again until none of them finds anything better.
    max_degree: how many edges a variable may have; no limit by default. It also bounds the work: of the neighbours
        that a variable is joined to by undirected edges, all sets are tried that are joined among themselves.
    progress: called after every step.
    known: arrows that must and that may not be there. The search starts from the class of the former, and makes only
        moves to classes with a DAG that keeps to all of it. The result is then the part of a class that does: a class
        of which further edges are directed.
    """
    operators = _checked(penalty, phases, iterate, max_degree)
    scores = Scores(moments, penalty)
    graph = essential([0] * moments.p)
    score_empty = score = _total(scores, graph)
    keeping = None if known is None else Keeping(known)
    if keeping is not None:
        graph = keeping.start()
        score = _total(scores, graph)
    least = EQUAL * moments.n
    kinds = {phase: Candidates(operator, scores, least, max_degree, keeping) for phase, operator in operators.items()}
    steps: list[tuple[Phase, int]] = []
    warned = False
    while True:
        before = score
        for phase in phases:
            count = 0
            for move, new in _climb(graph, kinds[phase]):
                check_resolved(moments, scores, new, move.target)
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
        score = _total(scores, graph)
        if not iterate or score <= before + least:
            break
    return GesResult(
        graph=Cpdag(moments.names, graph.adjacency() if keeping is None else keeping.restricted(graph)),
        score=score,
        score_empty=score_empty,
        steps=tuple(steps),
        local_scores=scores.evaluated,
        uncertainty=score_uncertainty(moments, scores, graph),
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


def _total(scores: Scores, graph: Essential) -> float:
    return math.fsum(scores.local(node, parents) for node, parents in enumerate(graph.dag))


def _checked(penalty: float, phases: Sequence[Phase], iterate: bool, max_degree: int | None) -> dict[Phase, Operator]:
    """The operators of the phases, if the settings are possible."""
    if not 0 < as_number(penalty) < math.inf:
        raise SettingError(f"penalty={short(penalty)}: it must be a positive number; 1 is BIC.")
    named = f"phases={short(phases)}: name one or more of {', '.join(OPERATORS)}."
    listed = as_list(phases, named)
    if not listed or not all(isinstance(phase, str) and phase in OPERATORS for phase in listed):
        raise SettingError(named)
    if not is_flag(iterate):
        raise SettingError(f"iterate={short(iterate)}: say True or False.")
    if max_degree is not None and not is_whole(max_degree, 1):
        raise SettingError(
            f"max_degree={short(max_degree)}: it must be a whole number from 1 on, or None for no limit."
        )
    return {phase: OPERATORS[phase] for phase in phases}
