"""Test every step of an ordering against all its candidates (docs/numerics.md, "Steps")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordag.common.arrays import Array, Mask
from ordag.graph.links import Links
from ordag.learners.found import Found
from ordag.order.ordering import Ordering

TIED = 0.05
"""The level at which a candidate counts as told apart from the chosen one."""


LISTED_UP_TO, LISTED = 300, 20
"""Variables up to which all that are tied are listed, and how many of a tie group are beyond: with p variables there can be p² of them."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of an ordering, by position. Where a step has a single candidate, its entries are nan and -1.

    `tied[m]` are the positions of the tie group of step m, the chosen one among them, or the first of them and `more[m]` the count of
    those not listed; `matters[m]` tells that the group has an edge of the graph in it, so that another choice could have given another
    graph.
    """

    names: tuple[str, ...]
    margin: Array
    runner_up: NDArray[np.intp]
    p_value: Array
    tied: tuple[NDArray[np.intp], ...]
    more: NDArray[np.intp]
    matters: Mask

    def group(self, step: int) -> tuple[str, ...]:
        """Return the names of a step's tie group, the chosen one first; empty where nothing is tied with it."""
        others = [self.names[b] for b in self.tied[step].tolist() if b != step]
        return (self.names[step], *others) if others else ()

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What a table of the steps shows: runner_up, runner_up_p_value, tied (names), tie_matters; of many variables also tied_more."""
        columns: dict[str, Any] = {
            "runner_up": [self.names[b] if b >= 0 else None for b in self.runner_up.tolist()],
            "runner_up_p_value": self.p_value,
            "tied": [list(self.group(step)) for step in range(len(self.names))],
        }
        if len(self.names) > LISTED_UP_TO:
            columns["tied_more"] = self.more
        return columns | {"tie_matters": self.matters.tolist()}


def step_evidence(ordering: Ordering, joined: Links, alpha: float, before: Mask | None = None) -> Steps:
    """Return every step against all its candidates; `joined` are the columns that the graph joins."""
    p = len(ordering.order)
    listed = p if p <= LISTED_UP_TO else LISTED
    runner_up, p_value = np.full(p, -1), np.full(p, np.nan)
    tied: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * p
    more, matters = np.zeros(p, dtype=np.intp), np.zeros(p, dtype=bool)
    within = _Within(joined.renamed(np.argsort(ordering.order)))
    for found in ordering.candidates(before):
        several = np.flatnonzero(found.rivals.any(axis=1))
        steps = found.first + several
        runner_up[steps] = found.nearest[several]
        p_value[steps] = found.p_values(several, runner_up[steps])
        groups = found.tied(alpha)
        rows = np.arange(len(groups))
        groups[rows, rows + found.first - found.start] = True
        sizes = np.count_nonzero(groups, axis=1)
        matters[found.first + rows] = within.joined(groups, found.start)
        more[found.first + rows] = np.maximum(sizes - listed, 0)
        for row, group in enumerate(groups):
            members = np.flatnonzero(group) + found.start
            chosen = found.first + row
            if len(members) > listed:
                members = np.append(members[members != chosen][: listed - 1], chosen)
            tied[chosen] = np.sort(members)
    names = tuple(ordering.moments.names[j] for j in ordering.order)
    return Steps(names, ordering.margins, runner_up, p_value, tuple(tied), more, matters)


class _Within:
    """Whether members of a group are joined: pair by pair, or all at once where many pairs are."""

    def __init__(self, links: Links) -> None:
        self.p = links.p
        self.matrix = links.mask.astype(np.float32) if 16 * len(links) > links.p**2 else None
        self.low, self.high = np.minimum(links.source, links.target), np.maximum(links.source, links.target)

    def joined(self, groups: Mask, start: int) -> Mask:
        """For groups of the positions from `start` on, one per row."""
        stop = start + groups.shape[1]
        if self.matrix is not None:
            group = groups.astype(np.float32)
            return np.asarray(np.einsum("ij,ij->i", group @ self.matrix[start:stop, start:stop], group) > 0)
        inside = (self.low >= start) & (self.high < stop)
        members = np.ascontiguousarray(groups.T)
        return np.asarray((members[self.low[inside] - start] & members[self.high[inside] - start]).any(axis=0))


def step_columns(found: Found) -> dict[str, Any]:
    """One entry per step: node, variance, margin; by least squares also runner_up, runner_up_p_value, tied (names), tie_matters."""
    ordering = found.ordering
    if ordering is None:
        return {"node": [], "variance": [], "margin": []}
    columns = {"node": list(found.order or ()), "variance": ordering.variances, "margin": ordering.margins}
    if ordering.factor is None or ordering.parent_sets is not None:
        return columns  # the rule compared other variances than those given all before
    before = None if found.known is None else found.known.before
    return columns | step_evidence(ordering, found.graph.links, TIED, before).columns
