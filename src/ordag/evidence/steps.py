"""How clear was every step of an ordering? Each is tested against all its candidates (docs/trust.md, "Steps")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ordag.arrays import Array, Mask
from ordag.learners.found import Found
from ordag.order.ordering import Ordering, pitman_morgan

TIED = 0.05
"""The level at which a candidate counts as told apart from the chosen one."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of an ordering, by position. Where a step has a single candidate, its entries are nan and -1.

    `tied[m, b]` tells that position b is in the tie group of step m (the chosen one, m, always is); `matters[m]` that the
    group has an edge of the graph in it, so that another choice could have given another graph.
    """

    names: tuple[str, ...]
    margin: Array
    runner_up: NDArray[np.intp]
    p_value: Array
    tied: Mask
    matters: Mask

    def group(self, step: int) -> tuple[str, ...]:
        """The names of a step's tie group, the chosen one first; empty where nothing is tied with it."""
        others = [self.names[b] for b in np.flatnonzero(self.tied[step]) if b != step]
        return (self.names[step], *others) if others else ()

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What a table of the steps shows: runner_up, runner_up_p_value, tied (names), tie_matters."""
        return {
            "runner_up": [self.names[b] if b >= 0 else None for b in self.runner_up.tolist()],
            "runner_up_p_value": self.p_value,
            "tied": [list(self.group(step)) for step in range(len(self.names))],
            "tie_matters": [bool(flag) for flag in self.matters],
        }


def step_evidence(ordering: Ordering, skeleton: Mask, alpha: float, before: Mask | None = None) -> Steps:
    """Every step against all its candidates; `skeleton` is the symmetric mask of joined columns."""
    p, positions = len(ordering.order), np.arange(len(ordering.order))
    in_order = np.ix_(ordering.order, ordering.order)
    waits = np.zeros((p, p), dtype=bool) if before is None else before[in_order]
    if ordering.direction == "forward":
        values = np.cumsum(ordering.L[:, ::-1] ** 2, axis=1)[:, ::-1].T
        rest = np.roll(values, -1, axis=0)
        candidate = np.triu(~np.logical_or.accumulate(waits[::-1], axis=0)[::-1], 1)
        degrees = ordering.n - positions - 2.0
    else:
        values = np.cumsum(ordering.W**2, axis=0)
        rest = np.roll(values, 1, axis=0)
        candidate = np.tril(~np.logical_or.accumulate(waits, axis=1).T, -1)
        degrees = ordering.n - positions - 1.0
    chosen = values.diagonal()[:, None]
    rest = np.where(candidate, rest, 1.0)
    t = pitman_morgan(np.sqrt(chosen), np.sqrt(values), np.sqrt(rest), degrees[:, None])
    tests = np.zeros((p, p))
    tests[candidate] = 2.0 * stdtr(np.broadcast_to(degrees[:, None], (p, p))[candidate], -t[candidate])
    nearest = np.where(candidate, values, np.inf).argmin(axis=1)
    alone = ~candidate.any(axis=1)
    tied = tests > alpha
    np.fill_diagonal(tied, True)
    joined = skeleton[in_order].astype(np.float32)
    group = tied.astype(np.float32)
    return Steps(
        names=tuple(ordering.moments.names[j] for j in ordering.order),
        margin=ordering.margins,
        runner_up=np.where(alone, -1, nearest),
        p_value=np.where(alone, np.nan, tests[positions, nearest]),
        tied=tied,
        matters=np.einsum("ij,ij->i", group @ joined, group) > 0,
    )


def step_columns(found: Found) -> dict[str, Any]:
    """One entry per step: node, variance, margin, runner_up, runner_up_p_value, tied (names), tie_matters."""
    if found.ordering is None:
        return {"node": [], "variance": [], "margin": []}
    before = None if found.known is None else found.known.before
    steps = step_evidence(found.ordering, found.graph.skeleton, TIED, before)
    return {
        "node": list(steps.names),
        "variance": found.ordering.variances,
        "margin": found.ordering.margins,
        **steps.columns,
    }
