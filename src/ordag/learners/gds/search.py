"""Greedy DAG search (GDS) with the Gaussian likelihood of equal error variances (Peters & Bühlmann 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.common.bits import packed_columns
from ordag.common.checks import Seed, as_list, is_whole, short
from ordag.common.settings import choice, seed, setting
from ordag.common.words import shown
from ordag.data.moments import Moments
from ordag.data.table import Table
from ordag.data.table_checks import check_moments
from ordag.errors import SettingError
from ordag.graph.dag import Dag
from ordag.knowledge.masks import Constraints
from ordag.learners.found import Found
from ordag.learners.gds.position import TIE, Position
from ordag.learners.penalties import SearchResult, search_with_penalty
from ordag.learners.regressions import Regressions
from ordag.learners.settings import MethodSettings, Penalty, kicks, penalty_of_edges
from ordag.order.least_squares import forward

Progress = Callable[[int, float], None]

EDGES_PER_KICK = 3
"""Edges that a kick turns round."""

NEIGHBOURS_AFTER_KICK = 5
"""Neighbours, in multiples of p, that the random search checks for each move after a kick."""

MOST_LOG_PRICE = 100.0
"""Logarithm of the largest price: no edge is worth it, as no sum of squares in float64 falls so far."""

LEAST_GAIN = 1e-6
"""A score that is lower by less than this is no improvement."""

VARIANCE_DIGITS = 9
"""Significant digits of the variances that the columns are sorted by: the others may be rounding."""


def _start(name: str, value: Any) -> Dag | None:
    if value is not None and not isinstance(value, Dag):
        raise SettingError(f"{name}={short(value)}: give a Dag, or None for the empty one.")
    return value


def _restarts(name: str, value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    wanted = f"{name}={short(value)}: give for each restart how many neighbours to check, from 1 on."
    counts = as_list(value, wanted)
    if not counts or not all(is_whole(one, 1) for one in counts):
        raise SettingError(wanted)
    return tuple(int(one) for one in counts)


@dataclass(frozen=True)
class GdsSettings(MethodSettings):
    """Greedy DAG search with equal error variances (Peters & Bühlmann): a Dag; lower scores are better."""

    name: ClassVar = "gds"
    about: ClassVar = "searches DAGs with equal error variances"
    seconds: ClassVar = 1e-4

    penalty: Penalty = penalty_of_edges("the factor of the BIC penalty is a number from 0 on", none=True)
    _: KW_ONLY
    start: Dag | None = setting(
        None,
        _start,
        "the graph to begin with, the empty one if not given",
        plain=lambda value: None if value is None else [list(edge) for edge in value.directed],
    )
    restarts: Sequence[int] | None = setting(
        None,
        _restarts,
        "for each restart how many neighbours to check",
        plain=lambda value: None if value is None else list(value),
    )
    strategy: str = choice(
        "random", ("random", "steepest"), "the published random search with restarts, or steepest descent"
    )
    kicks: int | None = kicks("stop after this many kicks in a row without improvement; 0 gives the published search")
    seed: Seed = seed("seed of the random numbers; default 0")

    is_slow: ClassVar = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restarts is not None and self.strategy == "steepest":
            raise SettingError('restarts belong to strategy="random": the steepest descent has one run only.')


@dataclass(frozen=True, kw_only=True)
class GdsResult(SearchResult):
    """The best graph of a greedy search; lower scores are better.

    restarts: the score at the end of each restart, before any kick. moves, kicks: how many were made. checked: the neighbours
    that a search fitting them one by one would have fitted.
    """

    graph: Dag
    restarts: tuple[float, ...]
    moves: int
    checked: int
    kicks: int

    def details(self) -> dict[str, Any]:
        """Return the rest of the result as plain values, for JSON."""
        return {
            "score_empty": self.score_empty,
            "restarts": list(self.restarts),
            "moves": self.moves,
            "checked": self.checked,
            "kicks": self.kicks,
            **self.price,
        }


def gds(table: Table, settings: GdsSettings, known: Constraints | None = None) -> Found:
    """Learn a DAG by GDS.

    Under a named penalty each search but the first goes on from the graph found before, with other random numbers.
    """
    random = np.random.default_rng(settings.seed)

    def search(factor: float, before: GdsResult | None) -> GdsResult:
        start, seed = (settings.start, settings.seed) if before is None else (before.graph, random)
        return gds_search(
            table.moments,
            replace(settings, penalty=factor, start=start, seed=seed),
            progress=lambda moves, score: table.announce(f"GDS: {moves:,} moves, score {score:.6g}"),
            known=known,
        )

    result = search_with_penalty(search, settings.penalty, table.moments, known, variances=1, sign=1.0)
    return Found(method_settings=settings, moments=table.moments, graph=result.graph, score=result.score, result=result)


def gds_score(moments: Moments, graph: Dag, *, penalty: float = 1.0) -> float:
    """Return the score of a graph whose nodes are the variables of the moments; see `gds_search`."""
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
    r"""Search for the DAG of the lowest score, one edge at a time (Peters & Bühlmann 2014, Biometrika 101, 219).

    With $\hat\sigma^2 = \sum_j \mathrm{RSS}_j / (np - 1)$ the common error variance, the score is

        $\frac{np}{2} \log(2\pi\hat\sigma^2) + \frac{n(np-1)}{2(n-1)}
         + \lambda \frac{\log n}{2} (|E| + 1)$,

    which is BIC with a divisor np − 1 for the variance and n − 1 for the covariance matrix, as in the authors' own
    programme; the second term is the same for all graphs. Neighbours are the DAGs with one edge more, one less, or one
    turned round.

    The random search visits the neighbours in a random order (`target_order`) and moves to the best of those visited
    as soon as there are k of them and one is an improvement. Here the outcome of every move is kept in a table, from
    which the end of the walk is read. The best graph of the restarts is then perturbed (a kick): three of
    its edges are turned round, with the parents of their ends joined, and the search goes on from there with k = 5p; a
    better result is kept. The search ends after `kicks` of them in a row without improvement. Kicks are not part of the
    published search (docs/gds.md).

    Columns are sorted by their variances for random choices and ties, so the graph does not depend on the order of the columns.

    settings: or each setting as a keyword (`given`); the penalty λ is a number, 1 for BIC. `restarts` has k for each restart,
        (p, 2p, 3p, 5p, 300) if not settings. strategy="steepest" moves to the best of all neighbours, without restarts. `kicks` is
        2p but at least 20 if not given, 0 for "steepest".
    progress: called after every move with the number of moves made and the lowest score so far.
    known: every search starts with the required arrows, and no move or kick removes one of them or adds a forbidden one.
    """
    check_moments(moments.n, moments.mean, moments.spread, moments.names)
    n, p = moments.n, moments.p
    settings = settings or GdsSettings(**given)
    penalty, random = settings.penalty, settings.strategy == "random"
    assert not isinstance(penalty, str), "see `search_with_penalty`"
    rounds = (settings.restarts or (p, 2 * p, 3 * p, 5 * p, 300)) if random else (None,)
    usual = max(20, 2 * p) if random else 0
    most_in_vain = usual if settings.kicks is None else settings.kicks
    forward(moments)  # raises where float64 leaves nothing but rounding
    names = moments.names
    moments, known = _arranged(moments, known)
    begin = _starting_graph(settings.start, moments.names, known)
    regressions = Regressions(moments.R, n)
    search = _Search(n, p, penalty, np.random.default_rng(settings.seed), progress)
    price = math.exp(min(penalty * math.log(n) / (n * p), MOST_LOG_PRICE))
    ends = [search.descend(Position(regressions, begin, price, known), k) for k in rounds]
    scores = [search.score(end) for end in ends]
    best, lowest = next(
        (end, score) for end, score in zip(ends, scores, strict=True) if score <= min(scores) + LEAST_GAIN
    )
    made = in_vain = 0
    while in_vain < most_in_vain:
        trial = best.copy()
        search.kick(trial)
        search.descend(trial, NEIGHBOURS_AFTER_KICK * p if random else None)
        score = search.score(trial)
        made += 1
        in_vain += 1
        if score < lowest - LEAST_GAIN:
            best, lowest, in_vain = trial, score, 0
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
    """What the restarts and the kicks share: the random numbers, the counts and the progress."""

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
        """Return the next move, or None where none is an improvement.

        The walk visits the targets in their order, and for each of them the sources in the same order, to the k-th
        neighbour or the first improvement, whichever is later. Of the neighbours on the way only improvements can be the best.
        """
        p = self.p
        order = np.arange(p) if k is None else target_order(position.rss, self.random)
        outcomes = position.outcomes()
        better = (outcomes < position.bar).ravel().nonzero()[0]
        passed = position.permitted[order].cumsum()
        if not len(better):
            self.checked += int(passed[-1])
            return None
        rank = order.argsort()
        targets, sources = np.divmod(better, p)
        ranks = rank[targets] * p + rank[sources]
        best = ranks.argmin()
        row, column = divmod(int(ranks[best]), p)
        seen = int(passed[row])
        if k is not None and seen >= k:
            seen -= int(np.count_nonzero(np.isfinite(outcomes[order[row], order[column + 1 :]])))
        if k is None or seen < k:
            seen = int(passed[-1]) if k is None else min(k, int(passed[-1]))
            row = int(passed.searchsorted(seen))
            last = np.isfinite(outcomes[order[row], order]).nonzero()[0][seen - passed[row] - 1]
            on_way = (ranks <= row * p + last).nonzero()[0]
            if len(on_way) > 1:
                after = outcomes.ravel()[better[on_way]]
                lowest = on_way[after <= after.min() * (1 + TIE)]
                best = lowest[ranks[lowest].argmin()]
        self.checked += seen
        return int(sources[best]), int(targets[best])

    def kick(self, position: Position) -> None:
        """Exchange the ends of a few edges, drawn at random from those that can be turned round."""
        for _ in range(EDGES_PER_KICK):
            edges = position.turnable()
            if edges:
                position.exchange(*edges[self.random.integers(len(edges))])


def target_order(rss: Array, random: np.random.Generator) -> NDArray[np.intp]:
    """Return the nodes in a random order, drawn one after the other with weights that grow with their residual variance.

    The weight is the excess of the variance over the smallest, plus the smallest positive excess, so that no weight is
    zero. Sorting exponential times over the weights is drawing without replacement in proportion to them.
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
    """Sort the columns by their variances, and by their names where these are the same."""
    size = [float(f"{variance:.{VARIANCE_DIGITS}g}") for variance in moments.variances.tolist()]
    order = sorted(range(moments.p), key=lambda j: (size[j], moments.names[j]))
    names = tuple(moments.names[j] for j in order)
    return moments.select(names), None if known is None else known.ordered(np.array(order))


def _starting_graph(start: Dag | None, names: tuple[str, ...], known: Constraints | None) -> Mask:
    """Return the adjacency of the start, with the required arrows."""
    adjacency = (Dag.empty(names) if start is None else start.reorder(names)).adjacency
    if known is None:
        return adjacency
    for i, j in np.argwhere(adjacency & ~known.allowed).tolist():
        raise SettingError(f"start has {shown(names[i])} → {shown(names[j])}, which the knowledge rules out.")
    return Dag(names, adjacency | known.required).adjacency
