"""The search over orders where equations may differ between environments: on from a graph, the bound taken anew at every better one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ordag.common.bits import members
from ordag.learners.order_search.engine import LEAST_GAIN, Optimum, OrderSearch
from ordag.learners.pooled.environments import Changed
from ordag.learners.pooled.problem import Problem

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
    problem: Problem,
    changed: Changed,
    best: Optimum,
    kicks: int | None,
    seed: Any,
    progress: Callable[[str], None],
) -> tuple[Optimum, int]:
    """Search on from the best graph with its arrows along an order in which a few variables are elsewhere, again and again."""
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
    """Return the graph with a few variables at other positions of its order, and arrows turned where they would point back.

    None where it is the same, or knowledge rules it out.
    """
    order, p = list(best.order), len(best.order)
    for _ in range(1 + int(random.integers(MOST_MOVED))):
        order.insert(int(random.integers(p)), order.pop(int(random.integers(p))))
    place = np.argsort(order)
    allowed, required, _ = problem.masks
    parents = [0] * p
    for j, mask in enumerate(best.parents):
        for i in members(mask):
            turned = place[i] > place[j] and allowed[i] >> j & 1 and not required[j] >> i & 1
            source, target = (j, i) if turned else (i, j)
            parents[target] |= 1 << source
    few = all(mask.bit_count() <= problem.variances.most for mask in parents)
    if tuple(parents) == best.parents or not few or len(problem.topological(parents)) < p:
        return None
    return problem.fitted(parents)


def _descended(problem: Problem, given: dict[str, Any], start: Optimum) -> Optimum:
    [[found]] = OrderSearch(known=_masks(problem), **given).descend(((problem.score,), start))
    return problem.fitted(found.parents, found.order)


def _masks(problem: Problem) -> Any:
    known = problem.known
    return None if known is None else (known.allowed, known.required, known.before)
