"""The search over orders where equations may differ between environments: on from a graph, the bound taken anew at every better one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.problem import Problem

MOST_ALONE = 3
"""Environments whose rows alone give a start: within one of them no equation differs."""

RESTARTS, MOST_RESTARTS_IN_VAIN = 10, 3
"""Restarts in a row under one bound, and bounds without improvement after which the search stops."""


def descend_with_changes(problem: Problem, changed: Changed, start: Optimum) -> Optimum:
    """Return a graph whose bound no move of a variable lowers, and that no change of one arrow improves."""
    best = start
    while True:
        found = _descended(problem, changed.bound(best.parents), best)
        if found.score > best.score - LEAST_GAIN:
            found = best
            while (better := problem.best_single_change(found)) is not None:
                found = better
            if found is best:
                return best
        best = found


def starts_with_changes(problem: Problem, changed: Changed, first: Optimum) -> Iterator[tuple[str, Optimum]]:
    """Yield the graphs that the rows of each of the largest environments alone give."""
    for name, given in changed.alone(MOST_ALONE):
        yield name, _descended(problem, given, first)


def restart_with_changes(
    problem: Problem,
    changed: Changed,
    best: Optimum,
    kicks: int | None,
    seed: Any,
    progress: Callable[[str], None],
) -> tuple[Optimum, int]:
    """Search on with some variables at random positions, and take the bound anew where that finds a better graph."""
    in_vain, tried, wanted = 0, 0, RESTARTS if kicks is None else kicks
    for part in seed.spawn(MOST_RESTARTS_IN_VAIN * 10):
        search = OrderSearch(known=_masks(problem), **changed.bound(best.parents))
        found, done = search.restart(problem.score, best, wanted, part)
        tried += done
        found = descend_with_changes(problem, changed, problem.fitted(found.parents, found.order))
        in_vain += 1
        if found.score < best.score - LEAST_GAIN:
            best, in_vain = found, 0
        progress(f"pooled: restarts, score {best.score:.6g}")
        if in_vain >= MOST_RESTARTS_IN_VAIN:
            break
    return best, tried


def _descended(problem: Problem, given: dict[str, Any], start: Optimum) -> Optimum:
    [[found]] = OrderSearch(known=_masks(problem), **given).descend(((problem.score,), start))
    return problem.fitted(found.parents, found.order)


def _masks(problem: Problem) -> Any:
    known = problem.known
    return None if known is None else (known.allowed, known.required, known.before)
