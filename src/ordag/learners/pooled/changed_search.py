"""The search over orders where equations may differ between environments: on from a graph, the bound taken anew at every better one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.problem import Problem
from ordag.learners.pooled.score import Local

MOST_ALONE = 3
"""Environments whose rows alone give a start: within one of them no equation differs."""

RESTARTS, FEWEST_RESTARTS, VARIABLES = 20, 5, 10
"""Restarts in a row without improvement after which the search stops, at least, and variables from which on they are fewer, because each
takes longer."""

MOST_MOVED = 3
"""Variables at most that a restart moves."""


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
    problem: Problem, changed: Changed, best: Optimum, kicks: int | None, seed: Any, progress: Callable[[str], None]
) -> tuple[Optimum, int]:
    """Search on from the best graph along an order in which a few variables are elsewhere, again and again."""
    random, in_vain, tried = np.random.default_rng(seed), 0, 0
    if kicks is None:
        kicks = max(FEWEST_RESTARTS, RESTARTS * VARIABLES // max(problem.score.p, VARIABLES))
    while in_vain < kicks:
        tried, in_vain = tried + 1, in_vain + 1
        moved = _moved(problem, best, random)
        if moved is None:
            continue
        found = descend_with_changes(problem, changed, moved)
        if found.score < best.score - LEAST_GAIN:
            best, in_vain = found, 0
            progress(f"pooled: restarts, score {best.score:.6g}")
    return best, tried


def _moved(problem: Problem, best: Optimum, random: np.random.Generator) -> Optimum | None:
    """Return the graph along its order with a few variables at other positions; None where that is ruled out.

    Parents are grown from those that still come before, then shrunk.
    """
    order, p = list(best.order), len(best.order)
    for _ in range(1 + int(random.integers(MOST_MOVED))):
        order.insert(int(random.integers(p)), order.pop(int(random.integers(p))))
    allowed, required, first = problem.masks
    local, parents, before = problem.score.local(best.v, best.edges), [0] * p, 0
    for j in order:
        if (required[j] | first[j]) & ~before:
            return None
        parents[j] = _along(problem, local, j, before & allowed[j], best.parents[j] & before)
        before |= 1 << j
    return None if tuple(parents) == best.parents else problem.fitted(parents)


def _along(problem: Problem, local: Local, j: int, possible: int, parents: int) -> int:
    """Return parents of j among the possible ones: added, then dropped, one at a time, as long as that lowers its term."""
    variances, required = problem.variances, problem.masks[1][j]
    parents |= required
    while parents.bit_count() < variances.most:
        v = variances.log_variance(j, parents)
        ranked, values = variances.candidates(j, parents, local.worthwhile(j, v))
        added = next((w for w, _ in zip(ranked, values, strict=True) if possible >> w & 1), None)
        if added is None:
            break
        parents |= 1 << added
    while parents & ~required:
        now = local.term(j, variances.log_variance(j, parents))
        nodes, without = variances.log_dropping(j, parents)
        terms = [
            np.inf if required >> int(i) & 1 else local.term(j, v)
            for i, v in zip(nodes.tolist(), without.tolist(), strict=True)
        ]
        least = int(np.argmin(terms))
        if terms[least] - now >= local.price:
            break
        parents &= ~(1 << int(nodes[least]))
    return parents


def _descended(problem: Problem, given: dict[str, Any], start: Optimum) -> Optimum:
    [[found]] = OrderSearch(known=_masks(problem), **given).descend(((problem.score,), start))
    return problem.fitted(found.parents, found.order)


def _masks(problem: Problem) -> Any:
    known = problem.known
    return None if known is None else (known.allowed, known.required, known.before)
