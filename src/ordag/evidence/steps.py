"""How clear was every step of an ordering? Each is tested against all its candidates (docs/numerics.md, "Steps")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.arrays import Array, Mask
from ordag.learners.found import Found
from ordag.order.ordering import Ordering

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
    p = len(ordering.order)
    tied, runner_up, p_value = np.eye(p, dtype=bool), np.full(p, -1), np.full(p, np.nan)
    for some in ordering.candidates(before):
        nearest = some.nearest
        runner_up[some.steps] = np.where(some.alone, -1, nearest)
        p_value[some.steps] = some.p_values(nearest)
        tied[some.steps, some.first : some.first + some.rivals.shape[1]] |= some.tied(alpha)
    return Steps(
        names=tuple(ordering.moments.names[j] for j in ordering.order),
        margin=ordering.margins,
        runner_up=runner_up,
        p_value=p_value,
        tied=tied,
        matters=_joined_within(tied, skeleton[np.ix_(ordering.order, ordering.order)]),
    )


def _joined_within(groups: Mask, joined: Mask) -> Mask:
    """Whether two members of a group are joined, for every row of `groups`: pair by pair, or all at once where many are joined."""
    a, b = np.nonzero(np.triu(joined))
    p = len(joined)
    if 16 * len(a) > p * p:
        group = groups.astype(np.float32)
        return np.asarray(np.einsum("ij,ij->i", group @ joined.astype(np.float32), group) > 0)
    members = np.ascontiguousarray(groups.T)
    found = np.zeros(p, dtype=bool)
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        found |= members[i] & members[j]
    return found


def step_columns(found: Found) -> dict[str, Any]:
    """One entry per step: node, variance, margin; by least squares also runner_up, runner_up_p_value, tied (names), tie_matters."""
    if found.ordering is None:
        return {"node": [], "variance": [], "margin": []}
    ordering = found.ordering
    columns = {"node": list(found.order or ()), "variance": ordering.variances, "margin": ordering.margins}
    if ordering.factor is None or ordering.support is not None:
        return columns  # the rule compared other variances than those given all before
    before = None if found.known is None else found.known.before
    return columns | step_evidence(ordering, found.graph.skeleton, TIED, before).columns
