"""`Environments`: the moments of the rows of each environment, where some equations may be others in some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import lengths, triangle
from ordag.data.covariates import Condition
from ordag.data.equations import FEWEST_ROWS, LEFT_OUT, Equations, in_order, is_untouched, targets_of, together
from ordag.data.moments import Moments

FORBIDDEN, SHARED, VARIANCE, OWN = -1, 0, 1, 2
"""What the equation of a variable is in an environment: left out, the shared one, that with another error variance, or another."""

SPARE = 5
"""Rows beyond those that its weights take that an equation of one environment alone must have."""

CONSTANT = 1e-12
"""The share of its largest spread below which a variable never changes in an environment."""


@dataclass(frozen=True, eq=False)
class Environments:
    """The moments of the rows of each condition, about their own means, where equations may differ between conditions.

    free: the conditions in which any equation may be another: environments, and experiments on something that is no variable.
    left_out: [c, j] where the rows of condition c tell nothing of j's equation: an experiment is known to have acted on j, or j never
    changes there.
    """

    each: tuple[Moments, ...]
    labels: tuple[str, ...]
    free: Mask
    left_out: Mask
    reason: str = "environment"

    @classmethod
    def of(cls, moments: Moments) -> Environments | None:
        """Return the environments of moments with conditions; None where no equation differs but by experiments on known variables."""
        free = np.array([_is_environment(one, moments.names) for one in moments.conditions], dtype=bool)
        if not free.any() or len(free) < 2:
            return None
        left_out = np.zeros((len(free), moments.p), dtype=bool)
        for c, one in enumerate(moments.conditions):
            left_out[c, list(targets_of(one, moments.names))] = True
        rows = np.array([one.root.n for one in moments.conditions])
        left_out[:, rows @ ~left_out < FEWEST_ROWS] = False
        each = tuple(
            together(moments, [c + 1 if c == at else LEFT_OUT for c in range(len(free))]) for at in range(len(free))
        )
        spread = np.stack([lengths(one.R) for one in each])
        left_out |= (spread <= CONSTANT * spread.max(axis=0)) & (np.array([one.n for one in each]) > 1)[:, None]
        reason = "environment" if all(one.kind == "environment" for one in moments.conditions) else "experiment"
        return cls(each, tuple(one.label for one in moments.conditions), free, left_out, reason)

    @property
    def p(self) -> int:
        return self.each[0].p

    @property
    def degrees(self) -> Array:
        """The rows of each condition, less one for its mean."""
        return np.array([max(one.n - 1, 0) for one in self.each], dtype=np.float64)

    @property
    def rows(self) -> list[int]:
        """What the rows count for that tell something of each variable's equation."""
        return [int(one) + 1 for one in self.degrees @ ~self.left_out]

    @cached_property
    def has_root(self) -> list[bool]:
        """Whether the scatter of each condition is nonsingular."""
        return [
            bool((np.abs(one.R.diagonal()) > 1e-10 * np.maximum(lengths(one.R), 1e-300)).all()) for one in self.each
        ]

    def ordered(self, order: Sequence[int] | Indices) -> Environments:
        """Return the same with the variables in another order."""
        order = [int(j) for j in order]
        return replace(self, each=tuple(in_order(one, order) for one in self.each), left_out=self.left_out[:, order])

    def equations(self, weights: Array) -> Equations:
        """Return the equations that conditions share.

        weights: for every condition and variable, the ratio of the variable's error variance where its equation is shared to that there;
        zero where another equation holds.
        """
        patterns, every = [tuple(one) for one in weights.T.tolist()], []
        every = list(dict.fromkeys(patterns))
        distinct = tuple(self._weighted(np.array(pattern)) for pattern in every)
        which = tuple(every.index(pattern) for pattern in patterns)
        groups = np.array(
            [[c + 1 if weight > 0.0 else LEFT_OUT for c, weight in enumerate(pattern)] for pattern in every]
        )
        changed = weights != 1.0
        changed[:, (~changed).sum(axis=0) < 2] = True  # one environment alone shares its equation with no other
        targets = tuple(tuple(np.flatnonzero(one).tolist()) for one in changed | self.left_out)
        return Equations(distinct, which, groups, targets, (), self.labels, self.reason)

    def sharing(self, which: Sequence[int]) -> Moments:
        """Return the moments of the rows of some conditions, each about its own mean."""
        return self._weighted(np.where(np.isin(np.arange(len(self.each)), which), 1.0, 0.0))

    def _weighted(self, weights: Array) -> Moments:
        used = [(one, weight) for one, weight in zip(self.each, weights.tolist(), strict=True) if weight > 0.0]
        R = triangle(np.concatenate([np.sqrt(weight) * one.R for one, weight in used]))
        n, rows = sum(max(one.n - 1, 0) for one, _ in used) + 1, sum(one.rows for one, _ in used)
        mean = np.average([one.mean for one, _ in used], axis=0, weights=[max(one.rows, 1) for one, _ in used])
        return Moments(n, mean, self.each[0].names, R=R, rows=rows)


def _is_environment(condition: Condition, names: Sequence[str]) -> bool:
    """Return whether a condition is an environment: not untouched, nor an experiment on a known variable."""
    return condition.kind == "environment" or not (is_untouched(condition.label) or targets_of(condition, names))
