"""Greedy search over DAGs with the Gaussian likelihood of equal error variances (GDS, Peters & Bühlmann 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.bits import packed_columns
from ordag.data.moments import Moments
from ordag.data.table_checks import check_moments
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints
from ordag.learners.gds.position import TIE, Position
from ordag.learners.gds.settings import GdsSettings
from ordag.learners.regressions import Regressions
from ordag.order.least_squares import forward
from ordag.words import shown

Progress = Callable[[int, float], None]

EXCHANGES = 3
"""Edges that a kick turns round."""

AFTER_KICK = 5
"""Neighbours, in multiples of p, that the random search checks for each move after a kick."""

UNAFFORDABLE = 100.0
"""A price above the exponential of this is one that no edge is worth: float64 holds no sum of squares that falls so far."""

WORTHWHILE = 1e-6
"""A score that is lower by less than this is no reason to go on."""

DIGITS = 9
"""Of variances, when columns are put in the order in which chance and ties fall on them: the others may be rounding."""


@dataclass(frozen=True)
class GdsResult:
    """The best graph of a greedy search, and how it was reached; a lower score is a better one.

    `restarts` has the score at the end of each restart, before any kick. `checked` counts the neighbours that a search
    fitting them one by one would have looked at.
    """

    graph: Dag
    score: float
    score_empty: float
    restarts: tuple[float, ...]
    moves: int
    checked: int
    kicks: int

    def details(self) -> dict[str, Any]:
        """What there is to tell beside the graph and its score, in plain values."""
        return {
            "score_empty": self.score_empty,
            "restarts": list(self.restarts),
            "moves": self.moves,
            "checked": self.checked,
            "kicks": self.kicks,
        }


def gds_score(moments: Moments, graph: Dag, *, penalty: float = 1.0) -> float:
    """The score of a graph whose nodes are the variables of the moments; see `gds_search`."""
    adjacency = graph.reorder(moments.names).adjacency
    regressions = Regressions(moments.R, moments.n)
    total = sum(regressions.rss(j, parents) for j, parents in enumerate(packed_columns(adjacency)))
    return _score(total, graph.edge_count, moments.n, moments.p, penalty)


def gds_search(
    moments: Moments,
    settings: GdsSettings | None = None,
    *,
    progress: Progress | None = None,
    known: Constraints | None = None,
    **given: Any,
) -> GdsResult:
    r"""Look for the DAG with the lowest score, one edge at a time (Peters & Bühlmann 2014, Biometrika 101, 219).

    With $\hat\sigma^2 = \sum_j \mathrm{RSS}_j / (np - 1)$ the common error variance, the score is

        $\frac{np}{2} \log(2\pi\hat\sigma^2) + \frac{n(np-1)}{2(n-1)}
         + \lambda \frac{\log n}{2} (|E| + 1)$,

    which is BIC with a divisor np − 1 for the variance and n − 1 for the covariance matrix, as in the authors' own
    programme; the second term is the same for all graphs. Neighbours are the DAGs with one edge more, one less, or one
    turned round.

    The random search goes through the neighbours in a random order (`target_order`) and moves to the best of those it
    has seen as soon as there are k of them and one is an improvement. Here the outcome of every move is kept in a table,
    and where a walk along the order would have stopped is read off it. The best of the restarts is then kicked: three of
    its edges are turned round, with the parents of their ends joined, and the search goes on from there with k = 5p; a
    better result is kept. `kicks` fruitless ones in a row are the end. Kicks are not part of the published search
    (docs/gds.md).

    Chance falls on columns by their variances, and ties are broken by them, so that columns in another order give the same graph.

    settings: or `given` one by one; the penalty λ is a number, 1 for BIC. `restarts` has k for each restart, (p, 2p, 3p, 5p, 300)
        if not given. strategy="steepest" moves to the best of all neighbours, and has no restarts. `kicks` are 2p but at least 20
        if not given, none for "steepest".
    progress: called after every move with the number of moves made and the lowest score so far.
    known: arrows that must and that may not be there. Every search starts with the former, and no move, nor a kick,
        takes one of them away or makes one of the latter.
    """
    check_moments(moments.n, moments.mean, moments.spread, moments.names)
    n, p = moments.n, moments.p
    settings = settings or GdsSettings(**given)
    penalty, random = settings.penalty, settings.strategy == "random"
    assert not isinstance(penalty, str), "see `priced_gds`"
    rounds = (settings.restarts or (p, 2 * p, 3 * p, 5 * p, 300)) if random else (None,)
    usual = max(20, 2 * p) if random else 0
    kicks = usual if settings.kicks is None else settings.kicks
    forward(moments)  # refuses data of which float64 leaves nothing but rounding
    names = moments.names
    moments, known = _arranged(moments, known)
    begin = _starting_graph(settings.start, moments.names, known)
    regressions = Regressions(moments.R, n)
    search = _Search(n, p, penalty, np.random.default_rng(settings.seed), progress)
    price = math.exp(min(penalty * math.log(n) / (n * p), UNAFFORDABLE))
    ends = [search.descend(Position(regressions, begin, price, known), k) for k in rounds]
    scores = [search.score(end) for end in ends]
    best, lowest = next(
        (end, score) for end, score in zip(ends, scores, strict=True) if score <= min(scores) + WORTHWHILE
    )
    made = fruitless = 0
    while fruitless < kicks:
        trial = best.copy()
        search.kick(trial)
        search.descend(trial, AFTER_KICK * p if random else None)
        score = search.score(trial)
        made += 1
        fruitless += 1
        if score < lowest - WORTHWHILE:
            best, lowest, fruitless = trial, score, 0
    return GdsResult(
        graph=Dag(moments.names, best.adjacency).reorder(names),
        score=lowest,
        score_empty=_score(float((moments.R**2).sum()), 0, n, p, penalty),
        restarts=tuple(scores),
        moves=search.moves,
        checked=search.checked,
        kicks=made,
    )


class _Search:
    """What the restarts and the kicks share: the source of chance, the counts, and whom to tell."""

    def __init__(self, n: int, p: int, penalty: float, random: np.random.Generator, progress: Progress | None) -> None:
        self.n, self.p, self.penalty = n, p, penalty
        self.random = random
        self.progress = progress
        self.moves = 0
        self.checked = 0
        self.lowest = math.inf

    def score(self, position: Position) -> float:
        return _score(position.total, position.edge_count, self.n, self.p, self.penalty)

    def descend(self, position: Position, k: int | None) -> Position:
        """Move until no neighbour is better: to the best of the first k and more, or of all of them for None."""
        while (choice := self._choose(position, k)) is not None:
            if position.move(*choice):
                self.moves += 1
                if self.progress is not None:
                    self.lowest = min(self.lowest, self.score(position))
                    self.progress(self.moves, self.lowest)
        return position

    def _choose(self, position: Position, k: int | None) -> tuple[int, int] | None:
        """The next move, or None where none is an improvement.

        The walk goes through the targets in their order, and for each of them through the sources in the same order, to the k-th
        neighbour or the first improvement, whichever is later. Of the neighbours on the way only improvements can be the best.
        """
        p = self.p
        order = np.arange(p) if k is None else target_order(position.rss, self.random)
        outcomes = position.outcomes()
        better = (outcomes < position.bar).ravel().nonzero()[0]
        passed = position.room[order].cumsum()
        if not len(better):
            self.checked += int(passed[-1])
            return None
        rank = order.argsort()
        targets, sources = np.divmod(better, p)
        places = rank[targets] * p + rank[sources]
        best = places.argmin()
        row, column = divmod(int(places[best]), p)
        seen = int(passed[row])
        if k is not None and seen >= k:
            seen -= int(np.count_nonzero(np.isfinite(outcomes[order[row], order[column + 1 :]])))
        if k is None or seen < k:
            seen = int(passed[-1]) if k is None else min(k, int(passed[-1]))
            row = int(passed.searchsorted(seen))
            last = np.isfinite(outcomes[order[row], order]).nonzero()[0][seen - passed[row] - 1]
            on_way = (places <= row * p + last).nonzero()[0]
            if len(on_way) > 1:
                after = outcomes.ravel()[better[on_way]]
                lowest = on_way[after <= after.min() * (1 + TIE)]
                best = lowest[places[lowest].argmin()]
        self.checked += seen
        return int(sources[best]), int(targets[best])

    def kick(self, position: Position) -> None:
        """Exchange the ends of a few edges drawn at random, each among those that can be turned round."""
        for _ in range(EXCHANGES):
            edges = position.turnable()
            if edges:
                position.exchange(*edges[self.random.integers(len(edges))])


def target_order(rss: Array, random: np.random.Generator) -> NDArray[np.intp]:
    """The nodes in a random order, drawn one after the other with weights that grow with their residual variance.

    The weight is what the variance exceeds the smallest by, plus the smallest such excess that is not zero, so that no
    node has none. To sort exponential times over the weights is to draw without replacement in proportion to them.
    """
    excess = rss - rss.min()
    excess[excess <= TIE * rss] = 0.0
    gap = excess.min(where=excess > 0.0, initial=math.inf)
    times: Array = random.standard_exponential(len(rss)) / (excess + (gap if math.isfinite(gap) else 1.0))
    return times.argsort()


def _score(total: float, edges: int, n: int, p: int, penalty: float) -> float:
    rows = n * p
    fit = rows / 2 * math.log(2 * math.pi * total / (rows - 1)) + n * (rows - 1) / (2 * (n - 1))
    return fit + penalty * math.log(n) / 2 * (edges + 1)


def _arranged(moments: Moments, known: Constraints | None) -> tuple[Moments, Constraints | None]:
    """The same with the columns by their variances, and by their names where these are the same."""
    size = [float(f"{variance:.{DIGITS}g}") for variance in moments.variances.tolist()]
    order = sorted(range(moments.p), key=lambda j: (size[j], moments.names[j]))
    names = tuple(moments.names[j] for j in order)
    if known is not None:
        masks = {name: getattr(known, name)[np.ix_(order, order)] for name in ("allowed", "required", "before")}
        known = replace(known, names=names, **masks)
    return moments.select(names), known


def _starting_graph(start: Dag | None, names: tuple[str, ...], known: Constraints | None) -> Mask:
    """The adjacency of the start, with the arrows that must be there."""
    adjacency = (Dag.empty(names) if start is None else start.reorder(names)).adjacency
    if known is None:
        return adjacency
    for i, j in np.argwhere(adjacency & ~known.allowed).tolist():
        raise SettingError(f"start has {shown(names[i])} → {shown(names[j])}, which the knowledge rules out.")
    return Dag(names, adjacency | known.required).adjacency
