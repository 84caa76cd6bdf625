"""The pooled search: the starts, the search over orders, and the choice among the optima."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordag.common.arrays import Array
from ordag.common.bits import packed_columns
from ordag.common.linalg import lengths, triangle
from ordag.data.environments import Environments
from ordag.data.equations import Equations
from ordag.data.labels import RowLabels
from ordag.data.moments import Moments
from ordag.data.table_checks import least_squares_rows
from ordag.graph.acyclic import topological_order
from ordag.knowledge.masks import Constraints
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch
from ordag.learners.pooled.changed_search import descend_with_changes, restart_with_changes, starts_with_changes
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.exact import MOST_VARIABLES, best_of_all_graphs, descend_over_sets, variances_of_all_sets
from ordag.learners.pooled.problem import Problem
from ordag.learners.pooled.result import PooledResult
from ordag.learners.pooled.score import Local, PooledScore
from ordag.learners.pooled.variances import LogVariances, log_variances, own_log_variances
from ordag.order.cholesky import factorise
from ordag.order.ordering import Ordering
from ordag.order.sparse import sparse_forward
from ordag.parents import select

FEWEST_IN_VAIN, MOST_IN_VAIN, MOST_RESTARTED = 20, 100, 5000
"""Restarts in a row without improvement after which the search stops: the first, and one more for every variable, to the second. Variables
beyond which none are made unless asked for: they take twice the memory."""

ALIKE, UNLIKE, APART = 0.3, 10.0, 1.5
"""Log error variances of many variables with a standard deviation below the first along the order by conditional variance are no
coincidence if that of the variables' own variances is more than the second times as large. They decide against a graph in which it is
more than the third times as large, whatever the scores."""

LEAST_VARIABLES_ALIKE = 10
"""Variables from which on equal error variances are no coincidence."""

MOST_SINGLE_CHANGES = 5
"""Searches at most from graphs with single arrows changed."""

MOST_ONE_BY_ONE = 256
"""Variables up to which single arrows are changed one at a time, each the best of all."""

OTHER_PRICE, MOST_AT_OTHER_PRICE = 0.1, 20
"""A factor on the price of an edge at which the search goes on from the best graph, and variables up to which: a graph with many more
edges may have a lower score that single steps do not reach. It must be lower by log(N + 1), N pairs: all numbers of edges are
equally likely, so the complete graph alone has as much of the prior as all the graphs around another one together."""

ROWS_FOR_SPARSE, MOST_FOR_SPARSE = 2, 200
"""Rows per variable below which the sparse order is a start as well, and variables up to which: beyond it takes longer than the search."""

MOST_ELIMINATED = 100
"""Variables up to which the first start has parents by backward elimination; beyond, by tests, which take no time."""

EVEN, ODD = 1, 2
"""Halves of the chains of restarts, by their number: where the graphs that they end in differ, so may those of another seed."""

FEWEST_CHAINS, MOST_CHAINS, WORK_OF_CHAINS = 6, 8, 2**29
"""Chains of restarts where there are to be resamples, all but the first from random orders, which keep to knowledge. There are more where
not all of them end in graphs of one score; none begins after so many multiplications, roughly, which is half a second."""

MOST_FOR_ALL_SETS = 8
"""Variables up to which all sets of parents are enumerated: a tenth of a second, without the compiled search."""


def pooled_search(
    ordering: Ordering,
    *,
    groups: Sequence[Sequence[int]] | None = None,
    spread: float,
    kicks: int | None = None,
    seed: Any = 0,
    known: Constraints | None = None,
    equations: Equations | None = None,
    environments: Environments | None = None,
    labels: RowLabels | None = None,
    pairs: int | None = None,
    several: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> PooledResult:
    """Search for the graph of the lowest pooled score (`PooledScore`) over orders of the variables.

    Variables are moved to better positions until the score stays: from the order by conditional variance with parents by the same
    edge prior, from the order by conditional variance of the standardised columns, at first under a score without error variances,
    and, with fewer than two rows per variable, from the sparse order. Restarts move some variables of the best graph to random
    positions and search on from there. Then single arrows are added, removed and turned as long as that lowers the score. Where
    the error variances of many variables are alike along the first order, its graph is preferred to one in which they are not. With up
    to five variables all graphs are enumerated, with up to eight all sets of parents. All of it works in the order by conditional
    variance, so that it does not depend on the order of the columns (docs/pooled.md).

    ordering: the variables by conditional variance, with the moments to search. Without a factor, that is with too few rows
        for regressions on all variables, it is a start itself, parents are few, and the price of an edge is at least that of the
        extended BIC.
    groups: columns that share a unit, all of them if not given. spread: scale of the prior on the spread of the log error
        variances within a group.
    kicks: restarts in a row without improvement that end the search; if not given, 20 and one for every variable, 100 at the most, and
        none beyond 5,000 variables.
    seed: of the restarts.
    equations: the moments that the equation of each variable is fitted to, if not those of the ordering for all.
    environments: those between which equations may differ, instead.
    labels: what the rows are that resamples draw from.
    pairs: of variables that can be joined, where knowledge leaves few: the edge prior is over these.
    several: run several chains of restarts, so that resamples can begin with all good graphs of the table.
    """
    moments, known, groups = _by_position(ordering, known, groups)
    scarce = ordering.factor is None
    variances: LogVariances
    each: int | list[int] = moments.n
    few, changed = least_squares_rows(moments.p), None
    if environments is not None:
        environments = environments.ordered(ordering.order)
        variances = changed = Changed(environments, few)
        each = changed.each
    elif equations is not None:
        equations = equations.ordered(ordering.order)
        variances, each = own_log_variances(equations, few), equations.each
    else:
        variances = log_variances(moments, None if scarce else ordering.W)
    scarce = scarce or variances.most < moments.p
    problem, free_problem = (
        Problem(PooledScore(each, moments.p, some, spread, extended=scarce, pairs=pairs), variances, known)
        for some in (groups, [])
    )

    def result(
        found: dict[str, Optimum],
        start: str,
        best: Optimum,
        free: Optimum,
        tried: int = 0,
        warning: str | None = None,
        ends: Sequence[tuple[Optimum, int]] = (),
    ) -> PooledResult:
        best = replace(best, order=problem.topological(best.parents))
        # one descent often ends far above the class of the best graph, even under its own score
        free = min(free, free_problem.fitted(best.parents, best.order), key=lambda one: one.score)
        optima = (best, *(one for one in found.values() if not one_score((best, one))))
        scores = {name: one.score for name, one in found.items()}
        shared = equations if changed is None else changed.equations(best.parents)
        given = problem.score, variances, known, moments, scores, start, tried, optima, free, warning, shared, labels
        return PooledResult(*given, environments, _distinct(ends))

    if moments.p <= MOST_VARIABLES:
        best, free = best_of_all_graphs(problem), best_of_all_graphs(free_problem)
        return result({"all graphs": best}, "all graphs", best, free)
    starts = dict(_starts(ordering, moments, problem))
    first = next(iter(starts))
    if moments.p <= MOST_FOR_ALL_SETS:
        v = variances_of_all_sets(problem)
        free = descend_over_sets(free_problem, v, starts[first])
        found = {name: descend_over_sets(problem, v, one) for name, one in (starts | {"free": free}).items()}
        start = min(found, key=lambda name: found[name].score)
        return result(found, start, found[start], free)
    search = OrderSearch.of(variances, known)
    if search.compiles:
        progress("compiling the search: once, for about ten seconds")
    along = starts[first] if scarce else _correlation_start(moments, free_problem)
    striking = _striking(problem, starts[first])
    score = problem.score
    *reached, (free, from_free) = search.descend(
        *(((score,), start) for start in starts.values()),
        ((free_problem.score, score), along),
        effort=0.25 if striking else 1.0,
    )
    found = {name: one for name, [one] in zip(starts, reached, strict=True)} | {"free": from_free}
    found = {name: problem.fitted(one.parents, one.order) for name, one in found.items()}
    if changed is not None:
        found |= starts_with_changes(problem, changed, starts[first])
        found = {name: descend_with_changes(problem, changed, one) for name, one in found.items()}
    start = min(found, key=lambda name: found[name].score)
    best, tried = found[start], 0
    progress(f"pooled: from {start}, score {best.score:.6g}")

    def overruled() -> bool:
        return striking and score.spread(best.v) > APART * score.spread(starts[first].v)

    if kicks is None and moments.p > MOST_RESTARTED:
        kicks = 0
    ends: list[tuple[Optimum, int]] = []

    def restarted(begin: Optimum, seed: Any) -> tuple[Optimum, int]:
        in_vain = min(FEWEST_IN_VAIN + moments.p, MOST_IN_VAIN) if kicks is None else kicks
        lowest, tried = search.restart(
            score, begin, in_vain, seed, progress=lambda lowest: progress(f"pooled: restarts, score {lowest:.6g}")
        )
        return _polished(problem.fitted(lowest.parents, lowest.order), search, problem), tried

    if changed is not None:
        if kicks != 0:
            best, tried = restart_with_changes(problem, changed, best, kicks, seed, progress)
    elif not overruled() and kicks != 0:
        until = search.work + WORK_OF_CHAINS
        best, tried = restarted(best, seed)
        ends, random = [(best, EVEN)], np.random.default_rng(_child(seed, 0))
        before = np.zeros((moments.p,) * 2, dtype=bool) if known is None else known.before
        while (
            several
            and len(ends) < (FEWEST_CHAINS if one_score(end for end, _ in ends) else MOST_CHAINS)
            and search.work < until
        ):
            some = random.permutation(moments.p)
            order = some[list(topological_order(before[np.ix_(some, some)]))].tolist()
            [[begin]] = search.descend(((score,), problem.fitted(problem.masks[1], order)))
            end, more = restarted(problem.fitted(begin.parents, begin.order), _child(seed, len(ends)))
            if end.score < best.score - LEAST_GAIN:
                start, best = "restarts", end
            tried += more
            ends.append((end, (EVEN, ODD)[len(ends) % 2]))
    elif not overruled():
        best = _polished(best, search, problem)
    if changed is None and overruled():
        start, best, ends = first, starts[first], []
    return result(found, start, best, free, tried, search.warning, ends)


def one_score(graphs: Iterable[Optimum]) -> bool:
    """Return whether all graphs have the same score."""
    scores = [one.score for one in graphs]
    return max(scores) < min(scores) + LEAST_GAIN


def _distinct(ends: Sequence[tuple[Optimum, int]]) -> tuple[tuple[Optimum, int], ...]:
    """Return one graph of every score, the best first, with all chains that ended in it."""
    distinct: list[tuple[Optimum, int]] = []
    for one, own in sorted(ends, key=lambda end: end[0].score):
        if distinct and one.score < distinct[-1][0].score + LEAST_GAIN:
            distinct[-1] = distinct[-1][0], distinct[-1][1] | own
        else:
            distinct.append((one, own))
    return tuple(distinct)


def _child(seed: Any, number: int) -> np.random.SeedSequence:
    """Return the seed of one more chain of restarts."""
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))


def _polished(best: Optimum, search: OrderSearch, problem: Problem) -> Optimum:
    """Search on at another price of edges, then change single arrows and search on from there, as long as that lowers the score."""
    score = problem.score
    if score.p <= MOST_AT_OTHER_PRICE:
        [[_, other]] = search.descend(((AtOtherPrice(score, OTHER_PRICE), score), best))
        if other.score < best.score - math.log(score.pairs + 1):
            best = problem.fitted(other.parents, other.order)
    change = problem.best_single_change if score.p <= MOST_ONE_BY_ONE else problem.single_changes
    for _ in range(MOST_SINGLE_CHANGES):
        changed = best
        while (better := change(changed)) is not None:
            changed = better
        if changed is best:
            break
        [[found]] = search.descend(((score,), changed))
        found = problem.fitted(found.parents, found.order)
        best = found if found.score < changed.score else changed
    return best


@dataclass(frozen=True)
class AtOtherPrice:
    """A score with another price of edges during the search."""

    score: PooledScore
    factor: float

    def total(self, v: Array, edges: int) -> float:
        return self.score.total(v, edges)

    def local(self, v: Array, edges: int) -> Local:
        local = self.score.local(v, edges)
        return replace(local, price=self.factor * local.price)


def _striking(problem: Problem, first: Optimum) -> bool:
    """Return whether the error variances of many variables are alike in a graph although the variables' own variances are not."""
    score = problem.score
    if score.p < LEAST_VARIABLES_ALIKE or not any(len(group) == score.p for group in score.groups):
        return False
    spread = score.spread(first.v)
    own = np.array([problem.variances.log_variance(j, 0) for j in range(score.p)])
    return spread < ALIKE and score.spread(own) > UNLIKE * spread


def _by_position(
    ordering: Ordering, known: Constraints | None, groups: Sequence[Sequence[int]] | None
) -> tuple[Moments, Constraints | None, Sequence[Sequence[int]] | None]:
    """Put the columns, the knowledge and the groups into the order by conditional variance."""
    given, order = ordering.moments, ordering.order
    names = tuple(given.names[j] for j in order)
    R = triangle(given.R[:, order]) if ordering.factor is None else np.asfortranarray(ordering.L.T)
    moments = Moments(given.n, given.mean[order], names, R=R, squared=given.squared)
    if groups is not None:
        position = np.argsort(order)
        groups = [[int(position[j]) for j in group] for group in groups]
    if known is not None:
        known = known.ordered(order)
    return moments, known, groups


def _starts(ordering: Ordering, moments: Moments, problem: Problem) -> Iterator[tuple[str, Optimum]]:
    """Yield the graphs to start from, by name, over the positions of the order."""
    p, known = moments.p, problem.known
    allowed, required = (None, None) if known is None else (known.allowed, known.required)
    if ordering.parent_sets is None:
        along = replace(ordering, order=np.arange(p), moments=moments)
        rule, correction = ("adaptive", "none") if p <= MOST_ELIMINATED else ("test", "bh")
        chosen = select(along, rule=rule, correction=correction, allowed=allowed, required=required)
        yield "cvs", problem.fitted(packed_columns(chosen.parents.T), range(p))
    if ordering.parent_sets is not None or (moments.n < ROWS_FOR_SPARSE * p and p <= MOST_FOR_SPARSE):
        adjacency = np.zeros((p, p), dtype=bool)
        if ordering.parent_sets is None:
            found = sparse_forward(moments.covariance(), moments.n, None if known is None else known.before)
            order = np.asarray(found.order)
            for j, parents in zip(order, found.parent_sets, strict=True):
                adjacency[parents, j] = True
        else:
            order, position = np.arange(p), np.argsort(ordering.order)
            for j, parents in enumerate(ordering.parent_sets):
                adjacency[position[parents], j] = True
        if allowed is not None and required is not None:
            adjacency = adjacency & allowed | required
        yield "sparse", problem.fitted(packed_columns(adjacency), order.tolist())


def _correlation_start(moments: Moments, problem: Problem) -> Optimum:
    """Return the required arrows along the order of least remaining variance of the standardised columns.

    It begins with one of the two columns that are most correlated.
    """
    columns = moments.R / lengths(moments.R)
    C = np.abs(columns.T @ columns)
    np.fill_diagonal(C, 0.0)
    columns[:, int(C.max(axis=0).argmax())] /= 2.0
    order = factorise(columns, None if problem.known is None else problem.known.before)[0].order
    return problem.fitted(problem.masks[1], order.tolist())
