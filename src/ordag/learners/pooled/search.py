"""Find the graph of the lowest pooled score: the starts, the search over orders, and which optimum stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ordag.arrays import Array, Mask
from ordag.bits import packed_columns
from ordag.data.moments import Moments
from ordag.graph.cpdag import to_cpdag
from ordag.graph.dag import Dag
from ordag.graph.partly_directed import meek
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search.engine import WORTHWHILE, Optimum, OrderSearch, Score
from ordag.learners.order_search.exact import best_graph
from ordag.learners.order_search.single_changes import best_single_change, order_of
from ordag.learners.pooled.all_graphs import MOST_VARIABLES, graphs_by_score
from ordag.learners.pooled.hidden_search import HiddenModel, HiddenSearch
from ordag.learners.pooled.score import Local, PooledScore
from ordag.learners.pooled.variances import LogVariances, log_variances
from ordag.linalg import lengths, triangle
from ordag.order.cholesky import factorise
from ordag.order.ordering import Ordering
from ordag.order.sparse import sparse_forward
from ordag.parents import select

KICKS = 100
"""Kicks in a row without success that end the search."""

ALIKE, UNLIKE, APART = 0.3, 10.0, 1.5
"""Log error variances of many variables with a standard deviation below the first along the order by conditional variance are no
coincidence if that of the variables' own variances is more than the second times as large. They decide against a graph in which it is
more than the third times as large, whatever the scores."""

POLISHED = 5
"""Searches from graphs with single arrows changed."""

OTHER_PRICES, FEW = (0.1, 0.4, 0.6, 0.8, 1.25, 1.6, 2.5), 20
"""Factors on the price of an edge under which the best graph is searched on from, and variables up to which: a graph with many more
edges, or fewer, may have a lower score though no step by step leads to it."""

FEW_ROWS, SLOW = 2, 200
"""Rows per variable below which the sparse order is a start as well, and variables up to which: beyond it takes longer than the search."""

ELIMINATED = 100
"""Variables up to which the first start has parents by backward elimination; beyond, by tests, which take no time."""

ALL_SETS = 8
"""Variables up to which all sets of parents are looked at: a tenth of a second, without the compiled search."""

MANY = 10
"""Variables from which equal error variances are no coincidence."""


LEAST_HIDDEN, MOST_HIDDEN = 4, 60
"""Variables between which hidden causes are looked for: one of three leaves no trace, and beyond it would take long."""


@dataclass(frozen=True)
class PooledResult:
    """The best graph and how it was reached. Variables are numbered as in `moments`, which has them in the start order.

    starts: the score that each start came to. start: the one that the best graph goes back to. kicks: how many were tried.
    optima: the graphs that the starts came to, the best of all first. free: the best graph where error variances say nothing.
    warning: what to warn of.
    """

    moments: Moments
    score: PooledScore
    variances: LogVariances
    known: Constraints | None
    starts: dict[str, float]
    start: str
    kicks: int
    optima: tuple[Optimum, ...]
    free: Optimum
    warning: str | None = None

    @property
    def best(self) -> Optimum:
        return self.optima[0]

    @property
    def spread(self) -> float:
        """By what factor the error variances differ."""
        return self.score.ratio(self.best.v)

    def scored(self, dag: Mask) -> Optimum:
        """Return a graph over the positions with its score and an order of it."""
        parents = packed_columns(dag)
        return _scored(self.score, self.variances, _in_order(tuple(parents), self.known), parents)

    @cached_property
    def with_hidden(self) -> list[HiddenModel] | None:
        """The best graph, and what one hidden cause after the other makes of it; None where that is not looked for."""
        given = self.variances.correlations()
        if not LEAST_HIDDEN <= self.score.p <= MOST_HIDDEN or "root" in given or given["most"] < self.score.p:
            return None
        search = HiddenSearch(given["C"], given["scale"], self.score, self.known)
        return search.models(self.best) if search.is_compiled else None

    def compelled(self, dag: Mask) -> Mask:
        """Return the arrows that all graphs share which are equivalent to this one and keep to knowledge."""
        adjacency = to_cpdag(Dag.known_acyclic(self.moments.names, dag)).adjacency
        if self.known is not None:
            lines = adjacency & adjacency.T
            barred = lines & (~self.known.allowed | self.known.required.T | self.known.before.T)
            adjacency = meek(adjacency & ~barred)
        return adjacency & ~adjacency.T

    def details(self) -> dict[str, Any]:
        """What there is to tell beside the graph and its score, in plain values."""
        return {
            "start": self.start,
            "start_scores": self.starts,
            "best_score": self.best.score,
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
    tell: Callable[[str], None] | None = None,
) -> PooledResult:
    """Look for the graph of lowest pooled score (`PooledScore`) over orders of the variables.

    Variables are moved to better places until the score stays, from the order by conditional variance with parents by the same edge
    prior, from the order by conditional variance of the standardised columns, first under a score to which error variances say nothing,
    and, with fewer than two rows per variable, from the sparse order. The best graph is kicked: some variables are moved to random
    places, and the search goes on from there. Then single arrows are added, dropped and turned as long as that lowers the score. Where
    the error variances of many variables are alike along the first order, its graph is preferred to one in which they are not. With up
    to five variables all graphs are looked at, with up to eight all sets of parents. All of it works in the order by conditional
    variance, so that it does not depend on how the columns stand (docs/pooled.md).

    ordering: the variables by conditional variance; its moments are what is searched. Without a factor, that is with too few rows
        for regressions on all variables, it is a start itself, parents are few, and edges have the price of the extended BIC
        at the least.
    groups: columns that share a unit, all of them if not given. spread: scale of the prior on the spread of the log error
        variances within a group.
    kicks: those in a row without success that end the search; 100 if not given, and up to 400 where they cost little.
    seed: of the kicks.
    known: arrows that must and that may not be, and who comes before whom.
    tell: called with a few words on how far things are.
    """
    moments, known, groups = _by_position(ordering, known, groups)
    scarce = ordering.factor is None
    score = PooledScore(moments.n, moments.p, groups, spread, extended=scarce)
    free_score = PooledScore(moments.n, moments.p, [], spread, extended=scarce)
    variances = log_variances(moments, None if scarce else ordering.W)
    given = (moments, score, variances, known)
    if moments.p <= MOST_VARIABLES:
        best, free = (_best_of_all(one, variances, known) for one in (score, free_score))
        return PooledResult(*given, {"all graphs": best.score}, "all graphs", 0, (best,), free)
    starts = dict(_starts(ordering, moments, variances, score, known))
    if moments.p <= ALL_SETS:
        return _by_all_sets(moments, score, free_score, variances, known, starts)
    search = OrderSearch.of(variances, known)
    if tell is not None and search.compiles:
        tell("compiling the search: once, for about ten seconds")
    first = next(iter(starts))
    along = starts[first] if scarce else _correlation_start(moments, variances, known, free_score)
    striking = _striking(score, variances, starts[first])
    *each, (free, from_free) = search.descend(
        *(((score,), start) for start in starts.values()),
        ((free_score, score), along),
        effort=0.25 if striking else 1.0,
    )
    found = {name: one for name, [one] in zip(starts, each, strict=True)} | {"free": from_free}
    found = {name: _scored(score, variances, one.order, one.parents) for name, one in found.items()}
    start = min(found, key=lambda name: found[name].score)
    best, tried = found[start], 0
    if tell is not None:
        tell(f"pooled: from {start}, score {best.score:.6g}")

    def overruled() -> bool:
        return striking and score.spread(best.v) > APART * score.spread(starts[first].v)

    if not overruled():
        if kicks != 0:
            said = None if tell is None else lambda lowest: tell(f"pooled: restarts, score {lowest:.6g}")
            fruitless = KICKS if kicks is None else kicks
            best, tried = search.kicked(score, best, fruitless, seed, more=kicks is None, tell=said)
            best = _scored(score, variances, best.order, best.parents)
        best = _polished(best, search, *given[1:])
    if overruled():
        start, best = first, starts[first]
    best = replace(best, order=_in_order(best.parents, known))
    others = tuple(one for one in found.values() if one.parents != best.parents)
    return PooledResult(
        *given, {name: one.score for name, one in found.items()}, start, tried, (best, *others), free, search.warning
    )


def _polished(
    best: Optimum, search: OrderSearch, score: PooledScore, variances: LogVariances, known: Constraints | None
) -> Optimum:
    """Search on where edges have other prices, then change single arrows and search on from there, as long as that lowers the score."""
    if score.p <= FEW:
        scores: list[Sequence[Score]] = [(AtOtherPrice(score, factor), score) for factor in OTHER_PRICES]
        others = search.descend(*((one, best) for one in scores))
        best = min(best, *(one[-1] for one in others), key=lambda one: one.score)
        best = _scored(score, variances, best.order, best.parents)
    for _ in range(POLISHED):
        changed = best
        while (better := best_single_change(changed, score, variances, known)) is not None:
            changed = better
        if changed is best:
            break
        [[found]] = search.descend(((score,), changed))
        found = _scored(score, variances, found.order, found.parents)
        best = found if found.score < changed.score else changed
    return best


@dataclass(frozen=True)
class AtOtherPrice:
    """A score whose edges cost more or less while it is searched."""

    score: PooledScore
    factor: float

    def total(self, v: Array, edges: int) -> float:
        return self.score.total(v, edges)

    def local(self, v: Array, edges: int) -> Local:
        local = self.score.local(v, edges)
        return replace(local, price=self.factor * local.price)


def _in_order(parents: tuple[int, ...], known: Constraints | None) -> tuple[int, ...]:
    return order_of(parents, [0] * len(parents) if known is None else packed_columns(known.before))


def _best_of_all(score: PooledScore, variances: LogVariances, known: Constraints | None) -> Optimum:
    """The best of all graphs over few variables."""
    masks = (None, None) if known is None else (known.allowed, known.required)
    p = score.p
    for parents in graphs_by_score(score, variances, *masks):
        order = _in_order(parents, known)
        if len(order) == p:  # arrows and knowledge of who comes first make no cycle
            return _scored(score, variances, order, parents)
    raise AssertionError("knowledge was checked to allow a graph")


def _by_all_sets(
    moments: Moments,
    score: PooledScore,
    free_score: PooledScore,
    variances: LogVariances,
    known: Constraints | None,
    starts: dict[str, Optimum],
) -> PooledResult:
    """Find graphs whose sum over variables no graph lowers, from each start and from the best one where error variances say nothing."""
    p, sets = score.p, range(2**score.p)
    within = [sets[-1] & ~(1 << j) for j in range(p)] if known is None else packed_columns(known.allowed)
    required, first = ([0] * p, [0] * p) if known is None else map(packed_columns, (known.required, known.before))
    v = np.full((p, len(sets)), np.inf)
    for j in range(p):
        for mask in sets:
            if not (mask & ~within[j] or required[j] & ~mask or mask.bit_count() > variances.most):
                v[j, mask] = variances.log_variance(j, mask)

    def descended(score: PooledScore, start: Optimum) -> Optimum:
        best = _scored(score, variances, start.order, start.parents)
        while True:
            local = score.local(best.v, best.edges)
            terms = np.stack([local.terms(j, own) for j, own in enumerate(np.where(v < np.inf, v, 0.0))])
            parents = best_graph(np.where(v < np.inf, terms, np.inf), score.edge_priors, first)
            found = _scored(score, variances, _in_order(parents, known), parents)
            if found.score > best.score - WORTHWHILE:
                changed = best_single_change(best, score, variances, known)
                if changed is None:
                    return best
                found = changed
            best = found

    free = descended(free_score, next(iter(starts.values())))
    found = {name: descended(score, start) for name, start in (starts | {"free": free}).items()}
    start = min(found, key=lambda name: found[name].score)
    best = replace(found[start], order=_in_order(found[start].parents, known))
    others = tuple(one for one in found.values() if one.parents != best.parents)
    return PooledResult(
        moments,
        score,
        variances,
        known,
        {name: one.score for name, one in found.items()},
        start,
        0,
        (best, *others),
        free,
    )


def _scored(score: PooledScore, variances: LogVariances, order: Sequence[int], parents: Sequence[int]) -> Optimum:
    """A graph as it is."""
    v = np.array([variances.log_variance(j, mask) for j, mask in enumerate(parents)])
    return Optimum(score.total(v, sum(mask.bit_count() for mask in parents)), tuple(order), tuple(parents), v)


def _striking(score: PooledScore, variances: LogVariances, first: Optimum) -> bool:
    """Whether the error variances of many variables are alike in a graph although the variables' own variances are not."""
    if score.p < MANY or not any(len(group) == score.p for group in score.groups):
        return False
    spread = score.spread(first.v)
    own = np.array([variances.log_variance(j, 0) for j in range(score.p)])
    return spread < ALIKE and score.spread(own) > UNLIKE * spread


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


def _starts(
    ordering: Ordering, moments: Moments, variances: LogVariances, score: PooledScore, known: Constraints | None
) -> Iterator[tuple[str, Optimum]]:
    """The graphs to begin with, by name, over the positions of the order."""
    p = moments.p
    allowed, required = (None, None) if known is None else (known.allowed, known.required)
    if ordering.parent_sets is None:
        along = replace(ordering, order=np.arange(p), moments=moments)
        rule, correction = ("adaptive", "none") if p <= ELIMINATED else ("test", "bh")
        chosen = select(along, rule=rule, correction=correction, allowed=allowed, required=required)
        yield "cvs", _scored(score, variances, range(p), packed_columns(chosen.parents.T))
    if ordering.parent_sets is not None or (moments.n < FEW_ROWS * p and p <= SLOW):
        adjacency = np.zeros((p, p), dtype=bool)
        if ordering.parent_sets is None:
            found = sparse_forward(moments.covariance(), moments.n, None if known is None else known.before)
            order = np.asarray(found.order)
            for j, support in zip(order, found.parent_sets, strict=True):
                adjacency[support, j] = True
        else:
            order, place = np.arange(p), np.argsort(ordering.order)
            for j, support in enumerate(ordering.parent_sets):
                adjacency[place[support], j] = True
        if allowed is not None and required is not None:
            adjacency = adjacency & allowed | required
        yield "sparse", _scored(score, variances, order.tolist(), packed_columns(adjacency))


def _correlation_start(
    moments: Moments, variances: LogVariances, known: Constraints | None, score: PooledScore
) -> Optimum:
    """Least remaining variance first among the standardised columns, from one of the two that are most correlated on."""
    p = moments.p
    columns = moments.R / lengths(moments.R)
    C = np.abs(columns.T @ columns)
    np.fill_diagonal(C, 0.0)
    columns[:, int(C.max(axis=0).argmax())] /= 2.0
    order = factorise(columns, None if known is None else known.before)[0].order
    parents = [0] * p if known is None else packed_columns(known.required)
    return _scored(score, variances, order.tolist(), parents)
