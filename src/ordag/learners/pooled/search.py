"""Moments in, the graph of lowest pooled score that moves of single variables in an order come to out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ordag.arrays import Mask
from ordag.bits import packed_columns
from ordag.data.moments import Moments
from ordag.errors import OrdagError, OrdagWarning, SettingError
from ordag.graph.acyclic import topological_order
from ordag.graph.partly_directed import extension
from ordag.knowledge.masks import Constraints
from ordag.learners.ges import ges_search
from ordag.learners.ges.settings import GesSettings
from ordag.learners.pooled.all_graphs import MOST_VARIABLES
from ordag.learners.pooled.descent import WORTHWHILE, Descent, Optimum
from ordag.learners.pooled.leaps import leapt
from ordag.learners.pooled.score import PooledScore
from ordag.learners.pooled.variances import LogVariances, log_variances
from ordag.linalg import triangle
from ordag.order.ordering import Ordering
from ordag.order.sparse import sparse_forward
from ordag.parents import select

Progress = Callable[[str, float], None]

KICKS, KICKED_VARIABLES = 3, 160
"""Fruitless kicks that end the search, where the starts did not come to the same graph anyway: more with few variables, so that
kicks times variables are as many."""

EQUAL, ALIKE, APART = 0.1, 0.3, 10.0
"""Log error variances of many variables with a standard deviation below the first along an order are no coincidence: it stands
alone. Below the second they decide against a graph in which it is more than the third times as large, whatever the scores."""

DENSE = 1 / 3
"""A graph with more than this share of all pairs joined is not kicked and makes no leaps, for the same reason."""

MANY_ROWS = 10
"""Rows per variable below which the sparse order is a start as well, and leaps are tried."""

MANY = 10
"""Variables from which that holds."""


@dataclass(frozen=True)
class PooledResult:
    """The best graph and how it was reached. Variables are numbered as in `moments`, which has them in the start order.

    starts: the score that each start came to. start: the one that the best graph goes back to. kicks: how many were tried.
    optima: the graphs that the starts came to, the best of all first. free: the class that takes no notice of error variances.
    """

    moments: Moments
    score: PooledScore
    variances: LogVariances
    known: Constraints | None
    starts: dict[str, float]
    start: str
    kicks: int
    optima: tuple[Optimum, ...]
    free: FreeClass
    unfinished: bool = False

    @property
    def best(self) -> Optimum:
        return self.optima[0]

    @property
    def spread(self) -> float:
        """By what factor the error variances differ."""
        return self.score.ratio(self.best.v)

    def details(self) -> dict[str, Any]:
        """What there is to tell beside the graph and its score, in plain values."""
        return {
            "start": self.start,
            "start_scores": self.starts,
            "kicks": self.kicks,
            "spread": self.spread,
            "edge_price": self.score.local(self.best.v, self.best.edges).price,
        }


def pooled_search(
    ordering: Ordering,
    *,
    groups: Sequence[Sequence[int]] | None = None,
    spread: float,
    kicks: int | None = None,
    seed: Any = 0,
    known: Constraints | None = None,
    progress: Progress | None = None,
    free: FreeClass | None = None,
    hasty: bool = False,
) -> PooledResult:
    """Look for the graph of lowest pooled score (`PooledScore`) over orders of the variables.

    From the order by conditional variance, with parents by the same edge prior, from a member of the class that GES finds
    and, with fewer than ten rows per variable, from the sparse order, variables are moved to better places until the score
    stays. Where these come to different graphs, the best is kicked: some variables are moved to random places, and the
    search goes on from there. With fewer than ten rows per variable leaps follow (`leapt`). Where many variables that share
    a unit have equal error variances along the first order, it stands alone; where these are alike, it is preferred to a
    graph in which they are not. A dense graph that stands alone is that of the start as it is. With up to five variables
    all graphs are looked at (docs/pooled.md has the reasons). All of it works in the order by conditional variance, so that
    it does not depend on how the columns stand.

    ordering: the variables by conditional variance; its moments are what is searched. Without a factor, that is with too few rows
        for regressions on all variables, it is a start itself, parents are few, and edges have the price of the extended BIC
        at the least.
    groups: columns that share a unit, all of them if not given. spread: scale of the prior on the spread of the log error
        variances within a group.
    kicks: fruitless ones that end the search; if not given 3 (8 with 20 variables), without a factor so many in all, or 0 where
        both starts come to the same graph, the first stands alone, or more than a third of the pairs of ten variables or more
        are joined.
    seed: of the kicks.
    known: arrows that must and that may not be, and who comes before whom.
    progress: called with the name of what is searched from and the lowest score so far.
    free: the class that GES finds in the same columns in other units, which is the same; it is looked for if not given.
    hasty: end with what is found from the first start.
    """
    moments, known, groups = _by_position(ordering, known, groups)
    scarce = ordering.factor is None
    score = PooledScore(moments.n, moments.p, groups, spread, extended=scarce)
    W = None if scarce else ordering.W
    variances = log_variances(moments, W)
    search = Descent(variances, score, known)
    found: dict[str, Optimum] = {}
    sure = False
    free = FreeClass(moments, known, extended=scarce, same_as=free)
    for name, adjacency in _starts(ordering, moments, known, free):
        order, parents = topological_order(adjacency), packed_columns(adjacency)
        found[name] = search.descend(order, parents)
        if progress is not None:
            progress(name, min(one.score for one in found.values()))
        sure = _equality_would_tell(score) and score.spread(found[name].v) < EQUAL
        if sure and adjacency.sum() > DENSE * score.pairs:
            found[name] = search.scored(order, parents)
        if sure or hasty:
            break
    few = moments.p <= MOST_VARIABLES
    better = search.best_of_all_graphs(min(one.score for one in found.values())) if few else None
    if better is not None:
        found["all graphs"] = better
    start = _preferred(found, score) or min(found, key=lambda name: found[name].score)
    best = found[start]
    random = np.random.default_rng(seed)
    agreed = few or (len(found) > 1 and len({one.parents for one in found.values()}) == 1)
    dense = moments.p >= MANY and best.edges > DENSE * score.pairs
    limit = kicks if kicks is not None else 0 if agreed or sure or dense else max(KICKS, KICKED_VARIABLES // moments.p)
    leaps = moments.n < MANY_ROWS * moments.p and not (few or dense)
    unfinished = hasty and (leaps or limit > 0 or not sure)
    if unfinished:
        limit, leaps = 0, False
    tried = fruitless = 0
    while fruitless < limit and moments.p > 2 and (tried < limit or kicks is not None or not scarce):
        again = search.descend(search.kicked(best.order, random), best.parents)
        tried += 1
        fruitless += 1
        if again.score < best.score - WORTHWHILE:
            best, fruitless = again, 0
        if progress is not None:
            progress("kicks", best.score)
    if leaps:
        best = leapt(search, best)
        best = replace(best, order=_least_variance_first(search, best.parents))
    others = tuple(one for one in found.values() if one.parents != best.parents)
    if unfinished:  # nobody goes on from here: without the sets that were kept for that
        variances = log_variances(moments, W)
    return PooledResult(
        moments,
        score,
        variances,
        known,
        {name: one.score for name, one in found.items()},
        start,
        tried,
        (best, *others),
        free,
        unfinished=unfinished,
    )


def _least_variance_first(search: Descent, parents: Sequence[int]) -> tuple[int, ...]:
    """An order of the graph that takes the variable of the least variance of its own where the arrows leave a choice."""
    needed = [own | first for own, first in zip(parents, search.first, strict=True)]
    own = [search.variances.log_variance(j, 0) for j in range(len(parents))]
    order: list[int] = []
    seen = 0
    waiting = sorted(range(len(parents)), key=lambda j: own[j])
    while waiting:
        j = next(j for j in waiting if not needed[j] & ~seen)
        waiting.remove(j)
        order.append(j)
        seen |= 1 << j
    return tuple(order)


def _equality_would_tell(score: PooledScore) -> bool:
    """Whether equal error variances would be no coincidence: there are many, and all of them are compared."""
    return score.p >= MANY and any(len(group) == score.p for group in score.groups)


def _preferred(found: dict[str, Optimum], score: PooledScore) -> str | None:
    """The first start, where its error variances are alike and those of the others are of another order of magnitude."""
    first, *others = found
    spread = score.spread(found[first].v)
    if not _equality_would_tell(score) or spread >= ALIKE:
        return None
    return first if all(score.spread(found[name].v) > APART * spread for name in others) else None


def _by_position(
    ordering: Ordering, known: Constraints | None, groups: Sequence[Sequence[int]] | None
) -> tuple[Moments, Constraints | None, Sequence[Sequence[int]] | None]:
    """The same with the columns in the order by conditional variance."""
    given, order = ordering.moments, ordering.order
    names = tuple(given.names[j] for j in order)
    R = triangle(given.R[:, order]) if ordering.factor is None else np.asfortranarray(ordering.L.T)
    moments = Moments(given.n, given.mean[order], names, R=R, squared=given.squared)
    if groups is not None:
        place = np.argsort(order)
        groups = [[int(place[j]) for j in group] for group in groups]
    if known is not None:
        at = np.ix_(order, order)
        known = Constraints(names, known.allowed[at], known.required[at], known.before[at], known.record)
    return moments, known, groups


class FreeClass:
    """The equivalence class that GES finds in these moments, worked out when first asked for.

    same_as: that of the same columns in other units, in whatever sequence: its score does not depend on units.
    """

    def __init__(
        self,
        moments: Moments,
        known: Constraints | None,
        *,
        extended: bool = False,
        same_as: FreeClass | None = None,
    ) -> None:
        self._moments, self._known, self._same_as = moments, known, same_as
        price = 1.0 + 2.0 * math.log(moments.p) / math.log(moments.n) if extended else 1.0
        self._settings = GesSettings(penalty=price)

    @cached_property
    def adjacency(self) -> Mask | None:
        """That of the CPDAG; None where there are too few digits or rows for GES."""
        if self._same_as is not None:
            found = self._same_as.adjacency
            place = {name: j for j, name in enumerate(self._same_as._moments.names)}
            at = [place[name] for name in self._moments.names]
            return None if found is None else found[np.ix_(at, at)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OrdagWarning)
                return ges_search(self._moments, self._settings, known=self._known).graph.adjacency
        except SettingError:
            raise
        except OrdagError:
            return None


def _starts(
    ordering: Ordering, moments: Moments, known: Constraints | None, free: FreeClass
) -> Iterator[tuple[str, Mask]]:
    """The graphs to begin with, by name, over the positions of the order."""
    if ordering.support is None:
        along = replace(ordering, order=np.arange(moments.p), moments=moments)
        allowed, required = (None, None) if known is None else (known.allowed, known.required)
        yield "cvs", select(along, rule="adaptive", allowed=allowed, required=required).parents.T
    if moments.n < MANY_ROWS * moments.p:
        adjacency = np.zeros((moments.p, moments.p), dtype=bool)
        if ordering.support is None:
            found = sparse_forward(moments.covariance(), moments.n, None if known is None else known.before)
            for j, support in zip(found.order, found.support, strict=True):
                adjacency[support, j] = True
        else:
            place = np.argsort(ordering.order)
            for j, support in enumerate(ordering.support):
                adjacency[place[support], j] = True
        yield "sparse", adjacency if known is None else adjacency & known.allowed | known.required
    if free.adjacency is not None:
        dag, left = extension(free.adjacency)
        if not left.any():
            yield "ges", dag
