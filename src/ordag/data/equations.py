"""`Equations`: the moments that the equation of each variable is fitted to, where they are not the same for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ordag.common.arrays import Array, Indices, Mask
from ordag.common.linalg import triangle
from ordag.data.moments import Moments


@dataclass(frozen=True, eq=False)
class Equations:
    """The moments that the equation of each variable is fitted to: those of the rows that tell something of it.

    distinct: moments of all variables. which: for every variable, the place of its own moments among these.

    The others describe the sample of rows that a `Profile` keeps, for resamples; without them it is not looked at. design: the columns
    that are held fixed, an intercept or indicators among them. held: [k, c] whether column c is held fixed in the k-th moments. counts:
    [k, i] whether row i counts there. strata: the part of the table that each row is from; as many rows are drawn from each as it has.
    """

    distinct: tuple[Moments, ...]
    which: tuple[int, ...]
    design: Array | None = None
    held: Mask | None = None
    counts: Mask | None = None
    strata: Indices | None = None

    def of(self, j: int) -> Moments:
        """Return the moments of the equation of variable j."""
        return self.distinct[self.which[j]]

    @property
    def each(self) -> list[int]:
        """What the rows of each variable's equation count for."""
        return [self.distinct[k].n for k in self.which]

    def ordered(self, order: Sequence[int] | Indices) -> Equations:
        """Return the same with the variables in another order."""
        order = [int(j) for j in order]
        moments = tuple(
            Moments(one.n, one.mean[order], [one.names[j] for j in order], R=triangle(one.R[:, order]), rows=one.rows)
            for one in self.distinct
        )
        return replace(self, distinct=moments, which=tuple(self.which[j] for j in order))

    def targets(self) -> list[Indices]:
        """Return the variables that each of the moments is for."""
        which = np.array(self.which)
        return [np.flatnonzero(which == k) for k in range(len(self.distinct))]
